//! Packages among the fixtures, which need crates of others and are built by cargo.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

/// The folder of a package.
pub fn folder(package: &str) -> PathBuf {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let folder = PathBuf::from(fixtures).join(package);
    folder.canonicalize().expect("the package is there")
}

/// Builds the package, optimised or not, and returns the folder with its programs.
#[track_caller]
pub fn built(package: &str, optimised: bool) -> PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock();
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../fixtures/packages");
    let target = target.join(package);
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--locked", "--quiet"])
        .args(optimised.then_some("--release"))
        .current_dir(folder(package))
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS");
    let output = cargo.output().expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{package}: {errors}");
    let profile = if optimised { "release" } else { "debug" };
    let target = target.canonicalize().expect("cargo has made it");
    target.join(profile)
}
