//! Checks the workspace's layers: which crate may depend on which, according to the manifests.

use super::{Finding, Rule};

/// Each crate's permitted dependencies on other crates of the workspace, as in ARCHITECTURE.md.
const MAY_USE: [(&str, &[&str]); 15] = [
    ("schema", &[]),
    ("dap", &[]),
    ("dap/fuzz", &["dap"]),
    ("arch", &[]),
    ("gdb-remote", &[]),
    ("gdb-remote/fuzz", &["gdb-remote"]),
    ("symbols", &["arch"]),
    ("symbols/fuzz", &["symbols"]),
    ("target", &["arch", "gdb-remote"]),
    ("inspect", &["arch", "symbols", "target"]),
    ("engine", &["arch", "symbols", "target", "inspect"]),
    ("adapter", &["dap", "engine"]),
    ("check", &["schema", "dap"]),
    ("trace", &["schema", "dap"]),
    (
        "cli",
        &[
            "schema", "dap", "check", "trace", "symbols", "engine", "adapter",
        ],
    ),
];

const RULE: Rule = Rule {
    name: "layers",
    remedy: "move what is needed to the crate that may have it, or change the table in ARCHITECTURE.md and in xtask",
};

/// Checks `crates/NAME/Cargo.toml`. Tests of every crate may use `schema`, to validate messages.
pub(super) fn check(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let Some(name) = path
        .strip_prefix("crates/")
        .and_then(|rest| rest.strip_suffix("/Cargo.toml"))
    else {
        return;
    };
    let Some((_, may_use)) = MAY_USE.iter().find(|(crate_name, _)| *crate_name == name) else {
        findings.push(Finding::new(
            path,
            0,
            RULE,
            format!("the crate `{name}` is not in the table of layers"),
        ));
        return;
    };
    for (line, section, used) in dependencies(text) {
        let allowed =
            may_use.contains(&used.as_str()) || (section == "dev-dependencies" && used == "schema");
        if !allowed {
            findings.push(Finding::new(
                path,
                line,
                RULE,
                format!("`{name}` must not depend on `{used}` ({section})"),
            ));
        }
    }
}

/// The line, section and name of each dependency on a crate of this workspace.
fn dependencies(text: &str) -> Vec<(usize, &'static str, String)> {
    let mut found = Vec::new();
    let mut section = None;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = ["dev-dependencies", "build-dependencies", "dependencies"]
                .into_iter()
                .find(|kind| header.split('.').any(|part| part == *kind));
            if let (Some(kind), Some((_, name))) = (section, header.rsplit_once('.')) {
                found.extend(
                    name.strip_prefix("dapple-")
                        .map(|name| (i, kind, name.to_owned())),
                );
            }
        } else if let (Some(kind), Some(rest)) = (section, line.strip_prefix("dapple-")) {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '-')
                .collect();
            found.push((i, kind, name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        check(path, text, &mut findings);
        findings
            .iter()
            .map(|finding| format!("{}: {}", finding.line, finding.what))
            .collect()
    }

    #[test]
    fn a_dependency_against_the_layers_is_found_in_every_notation() {
        let text = "[package]\nname = \"dapple-dap\"\n[dependencies]\ndapple-engine.workspace = true\n\
            [dev-dependencies]\ndapple-schema = { workspace = true }\ndapple-cli.workspace = true\n\
            [target.'cfg(unix)'.dependencies]\ndapple-symbols.workspace = true\n[dependencies.dapple-adapter]\n";
        assert_eq!(
            findings("crates/dap/Cargo.toml", text),
            [
                "4: `dap` must not depend on `engine` (dependencies)",
                "7: `dap` must not depend on `cli` (dev-dependencies)",
                "9: `dap` must not depend on `symbols` (dependencies)",
                "10: `dap` must not depend on `adapter` (dependencies)",
            ]
        );
        assert_eq!(
            findings(
                "crates/engine/Cargo.toml",
                "[dependencies]\ndapple-symbols.workspace = true"
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_found() {
        assert_eq!(
            findings("crates/new/Cargo.toml", ""),
            ["1: the crate `new` is not in the table of layers"]
        );
    }
}
