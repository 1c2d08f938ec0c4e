//! The example programs, built.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The command of an example. Built here, since cargo builds examples only for some selections of tests.
pub fn example(name: &str) -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--locked", "--package", "dapple-dap"])
            .arg("--examples")
            .args(cfg!(feature = "tokio").then_some("--features=tokio"))
            .status();
        assert!(built.is_ok_and(|status| status.success()), "cargo builds");
        let test = std::env::current_exe().expect("this test's path");
        let profile = test.ancestors().nth(2).expect("target/PROFILE/deps/TEST");
        profile.join("examples")
    });
    Command::new(folder.join(name))
}
