//! What a user of a part of the crate has to compile.

use std::process::Command;

/// The crates that a dependency on this crate with `features` alone brings, without this crate itself.
fn compiled(features: &str, depth: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", "dapple-dap", "--no-default-features"])
        .args(["--features", features, "--edges", "normal", "--offline"])
        .args(["--prefix", "none", "--format", "{p}", "--depth", depth])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).expect("crates' names");
    let names = tree
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next());
    let mut names: Vec<_> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn the_types_alone_need_serde_and_its_json() {
    assert_eq!(compiled("types", "1"), ["serde", "serde_json"]);
    let json = ["itoa", "memchr", "zmij"];
    let derive = [
        "proc-macro2",
        "quote",
        "serde_derive",
        "syn",
        "unicode-ident",
    ];
    for name in compiled("types", "99") {
        let known = ["serde", "serde_core", "serde_json"].contains(&name.as_str())
            || json.contains(&name.as_str())
            || derive.contains(&name.as_str());
        assert!(known, "the types need {name}");
    }
}

#[test]
fn the_codec_needs_no_threads_and_no_system() {
    let codec = compiled("codec", "1");
    let json = ["itoa", "serde", "serde_json", "serde_path_to_error"];
    let others = ["thiserror", "wide"];
    assert_eq!(codec, [&json[..], &others].concat());
}

#[test]
fn only_the_asynchronous_client_and_server_need_a_runtime() {
    for features in ["client", "server", "testing"] {
        assert!(!compiled(features, "99").contains(&"tokio".to_owned()));
    }
    assert!(compiled("tokio", "1").contains(&"tokio".to_owned()));
}
