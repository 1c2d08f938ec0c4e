//! Packages among the fixtures, which need crates of others and are built by cargo.

use super::fixture::{fixtures_folder, workspace};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The folder of a package.
pub fn folder(package: &str) -> PathBuf {
    workspace().join("fixtures").join(package)
}

/// Builds the package with its lock file, optimised or not, and returns the folder with its programs.
#[track_caller]
pub fn built(package: &str, optimised: bool) -> PathBuf {
    built_in(fixtures_folder().join(package), package, optimised, &[])
}

/// Builds the package, with names mangled as nightly compilers do.
#[track_caller]
pub fn built_with_v0_names(package: &str) -> PathBuf {
    let target = fixtures_folder().join(format!("{package}_v0"));
    let flags = ["-Csymbol-mangling-version=v0"];
    built_in(target, package, false, &flags)
}

#[track_caller]
fn built_in(target: PathBuf, package: &str, optimised: bool, flags: &[&str]) -> PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--locked", "--quiet"]);
    cargo.args(optimised.then_some("--release"));
    cargo
        .current_dir(folder(package))
        .env("CARGO_TARGET_DIR", &target);
    for inherited in ["RUSTFLAGS", "CARGO_INCREMENTAL", "CARGO_PROFILE_DEV_DEBUG"] {
        cargo.env_remove(inherited);
    }
    if !flags.is_empty() {
        cargo.env("RUSTFLAGS", flags.join(" "));
    }
    let output = cargo.output().expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{package} can't be built: {errors}"
    );
    let profile = if optimised { "release" } else { "debug" };
    target.join(profile)
}
