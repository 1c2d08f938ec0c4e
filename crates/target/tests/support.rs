//! What the tests share.

pub mod guarded;
#[path = "../../engine/tests/support/running.rs"]
#[allow(dead_code, reason = "tests of other crates use the rest")]
pub mod running;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// The programs that were compiled, by their names.
static COMPILED: LazyLock<Mutex<HashMap<String, PathBuf>>> = LazyLock::new(Mutex::default);

/// Compiles a C program of the fixtures, once.
pub fn compiled(name: &str) -> PathBuf {
    let mut all = COMPILED.lock().expect("no test has failed in here");
    let compile = || {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
        std::fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join(format!("{name}-{}", std::process::id()));
        let output = Command::new("cc")
            .args(["-g", "-O1", "-w", "-pthread"])
            .arg(root.join("fixtures").join(name).with_extension("c"))
            .arg("-o")
            .arg(&program)
            .args(["-lutil", "-lrt"])
            .output()
            .expect("the compiler runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        program
    };
    all.entry(name.to_owned()).or_insert_with(compile).clone()
}
