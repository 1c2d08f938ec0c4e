//! A program gets the same arguments, folder and environment from the debugger as from `cargo run` and `cargo test`.

use crate::support::project::{self, Project, cargo_environment, launch};
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Writes its arguments, folder and environment variables, one a line.
const TELL: &str = "fn tell() {
    println!(\"\");
    for word in std::env::args().skip(1) { println!(\"word={word}\"); }
    println!(\"folder={}\", std::env::current_dir().unwrap().display());
    for (name, value) in std::env::vars() { println!(\"{name}={value:?}\"); }
    println!(\"END=\");
}
";

/// A build script that compiles a shared library and links the program with it.
const SCRIPT: &str = "use std::process::Command;
fn main() {
    let folder = std::env::var(\"OUT_DIR\").unwrap();
    let path = format!(\"{folder}/libnative.so\");
    std::fs::write(format!(\"{folder}/native.c\"), \"int native(void) { return 42; }\").unwrap();
    let made = Command::new(\"cc\").args([\"-shared\", \"-fPIC\", \"-o\", &path]).arg(format!(\"{folder}/native.c\")).status().unwrap();
    assert!(made.success());
    println!(\"cargo::rustc-link-search=native={folder}\");
    println!(\"cargo::rustc-link-lib=dylib=native\");
    println!(\"cargo::rustc-env=BUILT_BY=script\");
    println!(\"cargo::rerun-if-changed=build.rs\");
}
";

/// Calls the build script's library.
const ANSWER: &str = "unsafe extern \"C\" { fn native() -> i32; }
pub fn answer() -> i32 { unsafe { native() } }";

/// Environment variables that may differ, with the reason.
const DIFFERENT: &[&str] = &[
    // rustup sets these for the processes that it starts.
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTUP_TOOLCHAIN_SOURCE",
    "RUST_RECURSION_COUNT",
    "CARGO_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "PATH",
    // Set so that the output of a test is shown.
    "RUST_TEST_NOCAPTURE",
];

type Told = BTreeMap<String, String>;

/// The variables that the program has written, without those in `own`, which the test sets for cargo itself.
fn told(text: &str, own: &Value) -> Told {
    let is_compared = |name: &str| !DIFFERENT.contains(&name) && own.get(name).is_none();
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines
        .filter(|(name, _)| is_compared(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// A library path without the folder that rustup adds for the processes that it starts.
fn without_rustups(path: &str) -> String {
    let folders = path.trim_matches('"').split(':');
    let kept: Vec<&str> = folders
        .filter(|folder| !folder.ends_with("-linux-gnu/lib") || folder.contains("rustlib"))
        .collect();
    format!("{:?}", kept.join(":"))
}

/// The environment of the program when cargo runs it.
fn under_cargo(folder: &Path, args: &str, environment: &Value) -> Told {
    let mut command = Command::new("cargo");
    command.args(args.split(' ')).current_dir(folder);
    for (name, value) in environment.as_object().expect("an object") {
        match value.as_str() {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{output:?}");
    let mut told = told(&String::from_utf8_lossy(&output.stdout), environment);
    let path = told.get_mut("LD_LIBRARY_PATH").expect("cargo sets it");
    *path = without_rustups(path);
    told
}

/// The environment of the program in the debugger.
fn here(folder: &Path, args: &str, environment: &Value) -> Told {
    let session = project::session(false);
    let args: Vec<&str> = args.split(' ').collect();
    let arguments = json!({"cwd": folder, "cargo": {"args": args, "env": environment}});
    launch(&session, &arguments);
    session.configured();
    session.wait_for_output("END=");
    assert_eq!(session.exit_code(), 0);
    let mut told = told(&session.output(OutputEventCategory::Stdout), environment);
    session.disconnect();
    let path = told.get_mut("LD_LIBRARY_PATH").expect("it is set");
    *path = without_rustups(path);
    told
}

#[test]
fn the_program_gets_what_cargo_would_give_it() {
    let manifest = "authors = [\"A\", \"B\"]\ndescription = \"It tells.\"\nlicense = \"MIT\"\nrust-version = \"1.85\"\nhomepage = \"https://example.org\"";
    let bin = format!("{TELL}fn main() {{ assert_eq!(told::answer(), 42); tell() }}");
    let test = format!("{TELL}#[test]\nfn tells() {{ tell() }}");
    let unit = "#[test]\nfn unit() { crate::tell() }";
    let files = [
        ("src/main.rs", bin.as_str()),
        (
            "src/lib.rs",
            &format!("#![allow(dead_code)]\n{TELL}{unit}\n{ANSWER}"),
        ),
        ("tests/it.rs", test.as_str()),
        (
            "examples/shows.rs",
            &format!("{TELL}fn main() {{ tell() }}"),
        ),
        ("build.rs", SCRIPT),
        ("sub/empty", ""),
    ];
    let project = Project::package("told", manifest, &files);
    let sub = project.folder().join("sub");
    let environment = cargo_environment();
    for (args, word) in [
        ("run -q -- a b", "word=b"),
        ("run -q --example shows", "CARGO_PKG_AUTHORS=\"A:B\""),
        ("test -q --test it -- --nocapture --exact tells", "folder="),
        (
            "test -q --lib unit -- --nocapture",
            "CARGO_PKG_VERSION_PRE=\"beta.4\"",
        ),
    ] {
        let expected = under_cargo(&sub, args, &environment);
        let mut given = here(&sub, args, &environment);
        if args.starts_with("test") {
            // Cargo passes its own `--quiet` on to harnesses.
            assert_eq!(expected.get("word").map(String::as_str), Some("--quiet"));
            given.insert("word".to_owned(), "--quiet".to_owned());
        }
        let text: Vec<String> = given
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert!(
            text.iter().any(|line| line.starts_with(word)),
            "{word}: {text:#?}"
        );
        assert_eq!(given, expected, "{args}");
    }
}

#[test]
fn variables_of_cargos_configuration_are_the_programs() {
    let main = format!("{TELL}fn main() {{ tell() }}");
    let files = [
        ("src/main.rs", main.as_str()),
        (
            ".cargo/config.toml",
            "include = [\"more.toml\"]
            [env]
            UP = \"up\"
            BOTH = \"up\"
            PARTS = { value = \"up\", force = true }
            RELATIVE = { value = \"some/../place\", relative = true }
            HOME = \"not this\"
            PWD = { value = \"forced\", force = true }
            CARGO_PKG_NAME = { value = \"not this\", force = true }
            LD_LIBRARY_PATH = { value = \"not this\", force = true }",
        ),
        (
            ".cargo/more.toml",
            "env.INCLUDED = { value = \"x\", relative = true }\nenv.UP = \"included\"",
        ),
        (
            "sub/.cargo/config.toml",
            "env.BOTH = \"down\"\nenv.ASKED = \"down\"\nenv.PARTS = { value = \"down\", relative = true }",
        ),
        (
            "home/config.toml",
            "env.BOTH = \"home\"\nenv.ATHOME = \"home\"",
        ),
        (
            "asked.toml",
            "env.FILE = { value = \"x\", relative = true }",
        ),
    ];
    let project = Project::package("configured", "", &files);
    let mut environment = cargo_environment();
    environment["CARGO_HOME"] = json!(project.path("home"));
    let sub = project.folder().join("sub");
    // A `--config` behind the subcommand replaces those in front of the subcommand.
    let before = "--config env.ASKED='asked' run -q --config ../asked.toml";
    assert_eq!(
        here(&sub, before, &environment),
        under_cargo(&sub, before, &environment)
    );
    let args = "run -q --config env.ASKED='asked' --config ../asked.toml";
    let given = here(&sub, args, &environment);
    assert_eq!(given, under_cargo(&sub, args, &environment));
    let folder = project.folder().display();
    for (name, value) in [
        ("UP", "up".to_owned()),
        ("BOTH", "down".to_owned()),
        ("ASKED", "asked".to_owned()),
        ("PARTS", format!("{folder}/sub/down")),
        ("RELATIVE", format!("{folder}/some/../place")),
        ("PWD", "forced".to_owned()),
        ("INCLUDED", format!("{folder}/x")),
        ("FILE", format!("{folder}/sub/x")),
        ("ATHOME", "home".to_owned()),
        ("CARGO_PKG_NAME", "configured".to_owned()),
    ] {
        assert_eq!(given.get(name), Some(&format!("{value:?}")), "{name}");
    }
}
