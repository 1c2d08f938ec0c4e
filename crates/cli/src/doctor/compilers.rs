//! Checks the compilers: each compiles a small program, whose debug information is then read. Checks Cargo's settings, too.

use dapple_adapter::private_folder::PrivateFolder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use dapple_symbols::Module;

use super::Finding;
use crate::programs::on_path;
use crate::symbols::lookup;
use crate::symbols::report::{self, Answer};

/// The line of each program at which the session check stops.
pub const LINE: i64 = 3;

/// A program with debug information that a compiler has just produced. It is in a directory that is removed when this value is dropped.
pub struct Compiled {
    pub program: PathBuf,
    pub source: PathBuf,
    _folder: PrivateFolder,
}

struct Compiler {
    check: &'static str,
    /// The environment variable that overrides the command.
    variable: &'static str,
    command: &'static str,
    source: (&'static str, &'static str),
    remedy: &'static str,
}

const COMPILERS: [Compiler; 3] = [
    Compiler {
        check: "C",
        variable: "CC",
        command: "cc",
        source: (
            "trial.c",
            "int main(void) {\n    int answer = 41;\n    answer++;\n    return answer != 42;\n}\n",
        ),
        remedy: "to debug a .c file by its name, install gcc or clang (`sudo apt install gcc libc6-dev`), or name it in CC",
    },
    Compiler {
        check: "C++",
        variable: "CXX",
        command: "c++",
        source: (
            "trial.cpp",
            "int main() {\n    int answer = 41;\n    answer++;\n    return answer != 42;\n}\n",
        ),
        remedy: "to debug a .cpp file by its name, install g++ or clang++ (`sudo apt install g++`), or name it in CXX",
    },
    Compiler {
        check: "Rust",
        variable: "RUSTC",
        command: "rustc",
        source: (
            "trial.rs",
            "fn main() {\n    let mut answer = 41;\n    answer += 1;\n    std::process::exit(answer - 42);\n}\n",
        ),
        remedy: "to debug Rust, install it from https://rustup.rs, or name the compiler in RUSTC",
    },
];

/// Makes each compiler compile, and checks Cargo. Returns the first program whose debug information can be read, if there is one.
pub fn check(report: &mut dyn FnMut(Finding)) -> Option<Compiled> {
    let mut first = None;
    for compiler in &COMPILERS {
        let command = std::env::var(compiler.variable)
            .ok()
            .filter(|command| !command.is_empty())
            .unwrap_or_else(|| compiler.command.to_owned());
        let Some(version) = version(&command) else {
            let missing = format!("there is no `{command}` here");
            report(Finding::warning(compiler.check, missing).with_remedy(compiler.remedy));
            continue;
        };
        match compiled(compiler, &command) {
            Ok((program, debug_info)) => {
                report(Finding::ok(
                    compiler.check,
                    format!("{version} makes {debug_info}, which is read"),
                ));
                first.get_or_insert(program);
            }
            Err(error) => report(
                Finding::warning(compiler.check, format!("{version}: {error:#}")).with_remedy(
                    "what it says above is to be put right, or another compiler taken",
                ),
            ),
        }
    }
    cargo(report);
    first
}

/// The first line of a command's `--version` output; `None` if the command can't be run or fails.
fn version(command: &str) -> Option<String> {
    let output = Command::new(command)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Compiles the compiler's program and reads its debug information; returns the program and a short description of the debug information.
fn compiled(compiler: &Compiler, command: &str) -> anyhow::Result<(Compiled, String)> {
    let folder = PrivateFolder::new().context("no temporary folder")?;
    let (name, text) = compiler.source;
    let (source, program) = (folder.path().join(name), folder.path().join("trial"));
    fs::write(&source, text)?;
    let output = Command::new(command)
        .arg("-g")
        .args([&source, Path::new("-o"), &program])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().find(|line| line.contains("error"));
        let first = first
            .or(said.lines().next())
            .unwrap_or("no reason was given");
        bail!("it can't compile a small program: {}", first.trim());
    }
    let module = Module::open(&program).map_err(|error| anyhow::anyhow!("{error}"))?;
    let summary = report::summary(&module);
    if summary.debug_info != "dwarf" {
        bail!("`-g` gives no debug information");
    }
    let place = format!("{}:{LINE}", source.display());
    if !matches!(lookup::answer(&module, &place)?, Answer::Line { locations } if !locations.is_empty())
    {
        bail!("`-g` gives no table of lines");
    }
    if let Some(warning) = summary.warnings.first() {
        bail!("its debug information can't be read as a whole: {warning}");
    }
    let unit = summary
        .units
        .iter()
        .map(|unit| unit.version)
        .max()
        .unwrap_or_default();
    let split = summary
        .companions
        .iter()
        .any(|file| file.outcome == "found");
    let kind = match split {
        true => "DWARF {}, in files beside the program",
        false => "DWARF {}",
    };
    let kind = kind.replace("{}", &unit.to_string());
    Ok((
        Compiled {
            program,
            source,
            _folder: folder,
        },
        kind,
    ))
}

/// Checks Cargo, and whether the project in the current directory is built with debug information.
fn cargo(report: &mut dyn FnMut(Finding)) {
    if on_path("cargo").is_none() {
        report(
            Finding::warning("cargo", "there is no `cargo` here").with_remedy(
                "to debug a Cargo project by its folder, install it from https://rustup.rs",
            ),
        );
        return;
    }
    let version = version("cargo").unwrap_or_else(|| "cargo".to_owned());
    let Some((key, value, place)) = without_debug_info() else {
        report(Finding::ok("cargo", version));
        return;
    };
    report(
        Finding::warning(
            "cargo",
            format!("{version} builds this project without full debug information: {key} is {value} in {place}"),
        )
        .with_remedy("for variables to be seen, it has to be 2 (or \"full\", or not be set)"),
    );
}

/// The setting by which the project's development profile has less than full debug information: its key, its value, and where it is set.
/// `None` if there is no such setting, or no project here.
fn without_debug_info() -> Option<(&'static str, String, String)> {
    let (manifest, text) = project()?;
    let lacks = |value: &str| !matches!(value, "2" | "true" | "full");
    // The environment variable overrides the file.
    if let Ok(value) = std::env::var("CARGO_PROFILE_DEV_DEBUG") {
        let place = "the environment".to_owned();
        return lacks(&value).then_some(("CARGO_PROFILE_DEV_DEBUG", value, place));
    }
    let value = profile_value(&text, "debug")?;
    lacks(&value).then(|| ("debug", value, manifest.display().to_string()))
}

/// The manifest whose profiles apply to the current directory, with its text: that of the workspace or, without one, the nearest.
fn project() -> Option<(PathBuf, String)> {
    let here = std::env::current_dir().ok()?;
    let manifests = here.ancestors().filter_map(|folder| {
        let file = folder.join("Cargo.toml");
        let text = fs::read_to_string(&file).ok()?;
        Some((file, text))
    });
    let is_workspace = |text: &str| text.lines().any(|line| line.trim() == "[workspace]");
    let mut nearest = None;
    for (file, text) in manifests {
        if is_workspace(&text) {
            return Some((file, text));
        }
        nearest.get_or_insert((file, text));
    }
    nearest
}

/// The value of a key in the manifest's `[profile.dev]`, without quotes.
fn profile_value(manifest: &str, key: &str) -> Option<String> {
    let mut lines = manifest.lines().map(str::trim);
    lines.find(|line| *line == "[profile.dev]")?;
    lines
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| {
            let (name, value) = line.split_once('=')?;
            let value = value.split('#').next()?.trim().trim_matches(['"', '\'']);
            (name.trim() == key).then(|| value.to_owned())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_development_profile_is_found_among_others() {
        let manifest = "[package]\ndebug = 9\n[profile.release]\ndebug = 1\n\n[profile.dev]\nopt-level = 1\n\
                        debug = \"line-tables-only\" # small\n[profile.test]\ndebug = 0\n";
        assert_eq!(
            profile_value(manifest, "debug").as_deref(),
            Some("line-tables-only")
        );
        assert_eq!(profile_value(manifest, "strip"), None);
        assert_eq!(profile_value("[package]\n", "debug"), None);
    }
}
