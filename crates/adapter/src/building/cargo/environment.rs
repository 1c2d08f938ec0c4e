//! The environment that cargo gives to programs that it runs (The Cargo Book, "Environment variables"; `Compilation::target_process` in cargo).

use super::configuration::Variable;
use super::messages::folder;
use super::metadata::Package;
use cargo_metadata::{Artifact, BuildScript};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The variables for a program of a package.
pub fn variables(
    program: &Artifact,
    package: Option<&Package>,
    scripts: &[BuildScript],
    artifacts: &[Artifact],
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &str, value: OsString| variables.push((name.into(), value));
    for script in scripts
        .iter()
        .filter(|script| script.package_id == program.package_id)
    {
        for (name, value) in &script.env {
            set(name, value.into());
        }
        set("OUT_DIR", script.out_dir.as_os_str().into());
    }
    if program.target.is_test() || program.target.is_bench() {
        let siblings = artifacts.iter().filter(|artifact| {
            artifact.package_id == program.package_id
                && artifact.target.is_bin()
                && !artifact.profile.test
        });
        for (bin, path) in siblings.filter_map(|bin| Some((bin, bin.executable.as_ref()?))) {
            set(&format!("CARGO_BIN_EXE_{}", bin.target.name), path.into());
        }
    }
    set(
        "CARGO_MANIFEST_PATH",
        program.manifest_path.as_os_str().into(),
    );
    set("CARGO_MANIFEST_DIR", folder(program).into());
    let Some(package) = package else {
        return variables;
    };
    let (numbers, rest) = match package.version.find(['-', '+']) {
        Some(at) => package.version.split_at(at),
        None => (package.version.as_str(), ""),
    };
    let mut numbers = numbers.split('.');
    for part in ["MAJOR", "MINOR", "PATCH"] {
        let number = numbers.next().unwrap_or_default();
        set(&format!("CARGO_PKG_VERSION_{part}"), number.into());
    }
    let before = rest.strip_prefix('-').unwrap_or_default();
    let before = before.split('+').next().unwrap_or_default();
    set("CARGO_PKG_VERSION_PRE", before.into());
    set("CARGO_PKG_VERSION", package.version.as_str().into());
    set("CARGO_PKG_NAME", package.name.as_str().into());
    set("CARGO_PKG_AUTHORS", package.authors.join(":").into());
    for (name, value) in [
        ("DESCRIPTION", &package.description),
        ("HOMEPAGE", &package.homepage),
        ("REPOSITORY", &package.repository),
        ("LICENSE", &package.license),
        ("LICENSE_FILE", &package.license_file),
        ("RUST_VERSION", &package.rust_version),
        ("README", &package.readme),
    ] {
        let value = value.as_deref().unwrap_or_default();
        set(&format!("CARGO_PKG_{name}"), value.into());
    }
    variables
}

/// Whether a variable is set for a program, or in the debugger's environment.
pub fn has(variables: &[(OsString, OsString)], name: &OsStr) -> bool {
    variables.iter().any(|(known, _)| known == name) || std::env::var_os(name).is_some()
}

/// Adds the variables of cargo's configuration. They never override cargo's own variables, and others only with `force` (`apply_env_config` in
/// cargo).
pub fn add_configured(variables: &mut Vec<(OsString, OsString)>, configured: Vec<Variable>) {
    for Variable { name, value, force } in configured {
        // Cargo always sets `LD_LIBRARY_PATH`.
        let is_cargos =
            name == "LD_LIBRARY_PATH" || variables.iter().any(|(known, _)| *known == name);
        if !is_cargos && (force || std::env::var_os(&name).is_none()) {
            variables.push((name, value));
        }
    }
}

/// The library path of a program: the folders that build scripts name inside the profile's directory (such as `target/debug`), that directory,
/// its `deps`, and the toolchain's folder.
pub fn library_path(
    program: &Artifact,
    scripts: &[BuildScript],
    toolchain: Option<PathBuf>,
) -> Vec<PathBuf> {
    let Some(folder) = program
        .executable
        .as_deref()
        .and_then(|program| program.parent())
    else {
        return Vec::new();
    };
    let root = match folder.file_name() {
        Some("deps" | "examples") => folder.parent().unwrap_or(folder),
        _ => folder,
    };
    let mut native: Vec<PathBuf> = scripts
        .iter()
        .flat_map(|script| &script.linked_paths)
        .map(|path| match path.as_str().split_once('=') {
            Some(("native" | "crate" | "dependency" | "framework" | "all", path)) => path.into(),
            _ => path.into(),
        })
        .filter(|path: &PathBuf| path.starts_with(root))
        .collect();
    native.sort();
    native.dedup();
    native.push(root.into());
    native.push(root.join("deps").into());
    native.extend(toolchain);
    native
}
