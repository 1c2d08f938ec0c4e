//! `codegen`: generates the types from the protocol's definition, and from the adapter's table of arguments its JSON schema, its page and a
//! part of VS Code's manifest.

mod arguments;

use anyhow::{Context, Result, bail};
use dapple_schema::{Model, rust};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The definition file.
pub(crate) const DEFINITION: &str = "crates/schema/protocol.json";
/// The file generated from it.
pub(crate) const TYPES: &str = "crates/dap/src/types.rs";

/// The beginning of the generated types.
const PREAMBLE: &str = "\
//! The protocol's types, one item for each definition.
//!
//! Written by `cargo xtask codegen` from the definition file of the `schema` crate: change that file, not this one.
//! An `XRequest` or `XEvent` is a marker that implements [`Request`] or [`Event`]; an `XResponse` is the response's body.
//! [`AnyRequest`], [`AnyResponse`] and [`AnyEvent`] hold a message of whatever kind comes.

";

/// A file that is generated in whole or in part.
struct Generated {
    /// Its path from the project's root.
    path: &'static str,
    /// Its complete text.
    text: String,
    /// The file that it is generated from.
    from: &'static str,
}

/// All generated files.
fn generated(root: &Path) -> Result<Vec<Generated>> {
    let mut all = vec![Generated {
        path: TYPES,
        text: generate(root)?,
        from: DEFINITION,
    }];
    all.extend(arguments::generated(root)?);
    all.push(Generated {
        path: "docs/other-adapters.md",
        text: crate::terminals::generated(),
        from: "xtask/src/terminals/differences.rs",
    });
    Ok(all)
}

/// Writes the files that are out of date.
pub(crate) fn write(root: &Path) -> Result<ExitCode> {
    for Generated { path, text, .. } in generated(root)? {
        if fs::read_to_string(root.join(path)).ok().as_deref() == Some(&text) {
            println!("{path} is up to date");
            continue;
        }
        fs::write(root.join(path), &text).with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path} ({} lines)", text.lines().count());
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares the existing files with what `write` would generate.
pub(crate) fn check(root: &Path) -> Result<ExitCode> {
    match difference(root)? {
        None => {
            println!("what is generated is up to date");
            Ok(ExitCode::SUCCESS)
        }
        Some(difference) => {
            eprintln!("{difference}");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// A message about the first file that is out of date.
pub(crate) fn difference(root: &Path) -> Result<Option<String>> {
    for wanted in generated(root)? {
        let path = wanted.path;
        let found = match fs::read_to_string(root.join(path)) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        };
        if wanted.text == found {
            continue;
        }
        let same = wanted
            .text
            .lines()
            .zip(found.lines())
            .take_while(|(wanted, found)| wanted == found)
            .count();
        return Ok(Some(format!(
            "{path}:{}: not what {} generates: run `cargo xtask codegen`",
            same + 1,
            wanted.from
        )));
    }
    Ok(None)
}

fn generate(root: &Path) -> Result<String> {
    let path = root.join(DEFINITION);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let model = Model::parse(&text).with_context(|| format!("cannot read {DEFINITION}"))?;
    let options = rust::Options {
        preamble: Some(PREAMBLE.to_owned()),
    };
    rustfmt(root, &rust::generate(&model, &options)?)
}

/// Formats `source` with the project's settings.
fn rustfmt(root: &Path, source: &str) -> Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run rustfmt: install it with `rustup component add rustfmt`")?;
    let mut input = child.stdin.take().context("rustfmt has no input")?;
    let output = std::thread::scope(|scope| {
        // Written by a thread, because rustfmt may write before it has read everything.
        scope.spawn(move || input.write_all(source.as_bytes()));
        child.wait_with_output()
    })?;
    if !output.status.success() {
        bail!(
            "the generated code does not parse:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether rustfmt is installed; rustup installs a stand-in if the component is missing.
    fn rustfmt_is_there() -> bool {
        let version = Command::new("rustfmt").arg("--version").output();
        let there = version.is_ok_and(|output| output.status.success());
        if !there {
            eprintln!("skipped: rustfmt is not installed");
        }
        there
    }

    #[test]
    fn what_is_generated_is_what_its_sources_say() {
        if rustfmt_is_there() {
            let difference = difference(&crate::root()).expect("both files can be read");
            assert_eq!(difference, None);
        }
    }

    #[test]
    fn code_that_does_not_parse_is_an_error() {
        if rustfmt_is_there() {
            let root = crate::root();
            assert_eq!(
                rustfmt(&root, "fn a ( ) { }").expect("it parses"),
                "fn a() {}\n"
            );
            let error = rustfmt(&root, "fn a( {").expect_err("it does not parse");
            assert!(
                error
                    .to_string()
                    .starts_with("the generated code does not parse"),
                "{error}"
            );
        }
    }
}
