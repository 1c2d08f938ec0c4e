//! Programs that cargo builds: which one is debugged, what it gets from cargo, and the messages when there is none.

use crate::support::file_of;
use crate::support::project::{self, Project, console, launch, refused};
use dapple_dap::message::Raw;
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::{Value, json};

const MAIN: &str = "fn main() {
    let first = std::env::args().nth(1);
    let word = first.unwrap_or_default();
    println!(\"got {word}\"); // here
}
";

#[test]
fn what_cargo_run_would_run_is_built_and_debugged() {
    let project = Project::package("app", "", &[("src/main.rs", MAIN)]);
    let session = project::session(false);
    let mut arguments = project.cargo("run --quiet -- one");
    arguments["args"] = json!(["two"]);
    let asked = session.send::<LaunchRequest>(launch_arguments(&arguments));
    // The client sends its configuration during the build.
    session.wait_for::<InitializedEvent>();
    let line = project.line("src/main.rs", "// here");
    let early = &session.set_lines(&project.path("src/main.rs"), &[line])[0];
    session.configured();
    asked.expect("it is sent").wait().expect("it is built");
    let stopped = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(
        stopped.event.hit_breakpoint_ids,
        Some(vec![early.id.expect("an id")])
    );
    assert_eq!(file_of(&stopped.top), Some(project.path("src/main.rs")));
    assert_eq!(session.evaluate(&stopped.top, "word"), "\"one\"");
    let begun = session.wait_for::<ProgressStartEvent>();
    assert_eq!(begun.title, "cargo run --quiet");
    session.wait_for::<ProgressEndEvent>();
    assert!(console(&session).starts_with("cargo run --quiet\n"));
    session.disconnect();
}

#[test]
fn a_package_alone_is_enough_and_a_restart_builds_again() {
    // Overrides the profile that these tests are built with: it may omit debug information about variables.
    let manifest = "[profile.dev.package.alone]\ndebug = 2";
    let project = Project::package("alone", manifest, &[("src/main.rs", MAIN)]);
    let session = project::session(false);
    let configured = |arguments: Value| {
        launch(&session, &arguments);
        let line = project.line("src/main.rs", "// here");
        session.set_lines(&project.path("src/main.rs"), &[line]);
        session.configured();
        session.stopped(StoppedEventReason::Breakpoint)
    };
    let stopped = configured(json!({"program": project.folder(), "args": ["word"]}));
    assert_eq!(stopped.top.name, "alone::main");
    assert!(console(&session).contains("   Compiling alone"));
    project.write("src/main.rs", &MAIN.replace("got", "had"));
    session.ok::<RestartRequest>(Default::default());
    let stopped = session.stopped(StoppedEventReason::Breakpoint);
    session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    session.wait_for_output("had word\n");
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    let session = project::session(false);
    launch(&session, &json!({"cwd": project.folder()}));
    session.configured();
    session.wait_for_output("had \n");
    session.disconnect();
}

#[test]
fn where_several_are_meant_each_is_listed_with_what_chooses_it() {
    let project = Project::package(
        "both",
        "default-run = \"two\"",
        &[
            ("src/bin/one.rs", "fn main() { println!(\"one\") }"),
            ("src/bin/two.rs", "fn main() { println!(\"two\") }"),
        ],
    );
    let runs = |arguments: &Value| {
        let session = project::session(false);
        launch(&session, arguments);
        session.configured();
        assert_eq!(session.exit_code(), 0);
        session.output(OutputEventCategory::Stdout)
    };
    // `default-run` in the manifest decides.
    assert_eq!(runs(&project.cargo("run")), "two\n");
    assert_eq!(runs(&project.cargo("run --bin one")), "one\n");
    let mut arguments = project.cargo("build");
    arguments["cargo"]["filter"] = json!({"name": "one"});
    assert_eq!(runs(&arguments), "one\n");
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).expect("a manifest");
    project.write("Cargo.toml", &manifest.replace("default-run = \"two\"", ""));
    let sentence = refused(&project::session(false), &project.cargo("run"));
    assert_eq!(
        sentence,
        "cargo: 2 programs were built; say in `args`, or with `filter`, which one is meant:\
         \n  --bin one                or \"filter\": {\"name\": \"one\", \"kind\": \"bin\"}\
         \n  --bin two                or \"filter\": {\"name\": \"two\", \"kind\": \"bin\"}"
    );
    arguments["cargo"]["filter"] = json!({"kind": "example"});
    let sentence = refused(&project::session(false), &arguments);
    assert!(sentence.starts_with("cargo: `filter` chooses none of what was built:\n  --bin one"));
    let sentence = refused(&project::session(false), &project.cargo("run --bin three"));
    assert!(
        sentence.starts_with("`cargo run --bin three` failed: no bin target named `three`"),
        "{sentence}"
    );
}

const LIB: &str = "pub fn half(of: i32) -> i32 {
    of / 2
}

#[cfg(test)]
mod tests {
    #[test]
    fn halves() {
        let (given, expected) = (4, 2);
        assert_eq!(super::half(given), expected); // in lib
    }

    #[test]
    fn fails() {
        let given = 7;
        let expected = \"4\".parse().unwrap();
        assert_eq!(super::half(given), expected, \"rounded\"); // panics
    }
}
";

const IT: &str = "#[test]
fn works() {
    let word = \"seen\";
    println!(\"{word}\"); // in it
}
";

#[test]
fn a_test_is_found_by_its_name_and_a_panic_stops_in_it() {
    let files = [
        ("src/lib.rs", LIB),
        ("src/main.rs", "fn main() {}"),
        ("tests/it.rs", IT),
    ];
    let project = Project::package("tested", "", &files);
    let session = project::session(false);
    launch(&session, &project.cargo("test fails"));
    session.configured();
    let stopped = session.stopped(StoppedEventReason::Exception);
    let text = stopped.event.text.expect("what it is about");
    assert!(text.contains("rounded"), "{text}");
    let frames = session.stack(stopped.thread);
    let own = frames
        .iter()
        .find(|frame| file_of(frame) == Some(project.path("src/lib.rs")))
        .expect("the test's own frame");
    assert_eq!(own.name, "tested::tests::fails");
    assert_eq!(own.line, project.line("src/lib.rs", "// panics"));
    assert_eq!(session.evaluate(own, "given"), "7");
    assert!(
        console(&session).contains("of 3 programs, `tested` has tests for `fails`\n"),
        "{}",
        console(&session)
    );
    session.disconnect();
    // A test in another test program: its output is shown, and stepping works.
    let session = project::session(false);
    launch(&session, &project.cargo("test works"));
    let line = project.line("tests/it.rs", "// in it");
    session.set_lines(&project.path("tests/it.rs"), &[line]);
    session.configured();
    let stopped = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(stopped.top.line, line);
    session.ok::<NextRequest>(NextArguments::new(stopped.thread));
    let stopped = session.stopped(StoppedEventReason::Step);
    assert_eq!(stopped.top.line, line + 1);
    session.wait_for_output("seen\n");
    session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    // Both programs have tests, but neither has `nowhere`.
    let sentence = refused(&project::session(false), &project.cargo("test"));
    assert_eq!(
        sentence,
        "cargo: 2 programs have tests; say in `args`, or with `filter`, which one is meant:\
         \n  --lib                    or \"filter\": {\"name\": \"tested\", \"kind\": \"lib\"}\
         \n  --test it                or \"filter\": {\"name\": \"it\", \"kind\": \"test\"}"
    );
    let sentence = refused(&project::session(false), &project.cargo("test nowhere"));
    assert!(
        sentence.starts_with(
            "cargo: none of the 3 programs that were built has tests for `nowhere`:\n  --bin tested"
        ),
        "{sentence}"
    );
    let sentence = refused(&project::session(false), &project.cargo("test worcs"));
    assert!(sentence.ends_with("\ndid you mean `works`?"), "{sentence}");
    let mut arguments = project.cargo("test");
    arguments["cargo"]["filter"] = json!({"kind": "test"});
    arguments["args"] = json!(["--exact", "works"]);
    let session = project::session(false);
    launch(&session, &arguments);
    session.configured();
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_test_that_the_only_program_does_not_have_is_said_with_those_it_has() {
    let own = "fn main() { println!(\"own {:?}\", std::env::args().nth(1)); }";
    let manifest = "[[test]]\nname = \"own\"\npath = \"own.rs\"\nharness = false";
    let project = Project::package("single", "", &[("src/lib.rs", LIB), ("own.rs", own)]);
    for (args, sentence) in [
        (
            "test --lib nothere",
            "cargo: `single` has no tests for `nothere`; it has `tests::fails`, `tests::halves`",
        ),
        (
            "test --lib test::halvs",
            "cargo: `single` has no tests for `test::halvs`; did you mean `tests::halves`?",
        ),
        (
            "test --lib -- fail --exact",
            "cargo: `single` has no tests for `fail --exact`; did you mean `tests::fails`?",
        ),
    ] {
        let told = refused(&project::session(false), &project.cargo(args));
        assert_eq!(told, sentence);
    }
    project.write("src/lib.rs", "");
    let told = refused(
        &project::session(false),
        &project.cargo("test --lib nothere"),
    );
    assert_eq!(
        told,
        "cargo: `single` has no tests for `nothere`; it has none at all"
    );
    // A test program with its own harness isn't asked for its tests.
    let text = std::fs::read_to_string(project.path("Cargo.toml")).expect("a manifest");
    project.write("Cargo.toml", &format!("{text}{manifest}\n"));
    let session = project::session(false);
    launch(&session, &project.cargo("test --test own nothere"));
    session.configured();
    session.wait_for_output("own Some(\"nothere\")\n");
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_runner_is_told_of_and_not_used() {
    let runner = "[target.'cfg(unix)']\nrunner = \"/no/such/runner\"\n";
    let files = [("src/main.rs", MAIN), (".cargo/config.toml", runner)];
    let project = Project::package("runner", "", &files);
    let runs = |arguments: &Value| {
        let session = project::session(false);
        launch(&session, arguments);
        session.configured();
        session.wait_for_output("got x\n");
        let told = console(&session);
        session.disconnect();
        let warning = told.lines().find(|line| line.contains(" a runner "));
        warning.unwrap_or_default().to_owned()
    };
    let mut arguments = project.cargo("run x");
    assert_eq!(
        runs(&arguments),
        format!(
            "warning: cargo runs programs with a runner (`target.'cfg(unix)'.runner` in {}), which isn't used: the program itself is debugged",
            project.path(".cargo/config.toml")
        )
    );
    let target = "x86_64-unknown-linux-gnu".to_uppercase().replace('-', "_");
    let variable = format!("CARGO_TARGET_{target}_RUNNER");
    arguments["cargo"]["env"][&variable] = json!("/no/such/runner");
    assert!(runs(&arguments).contains(&format!("(`{variable}` in the environment)")));
    project.write(
        ".cargo/config.toml",
        "[target.'cfg(windows)']\nrunner = \"wine\"\n",
    );
    assert_eq!(runs(&project.cargo("run x")), "");
}

#[test]
fn members_of_a_workspace_are_told_apart() {
    let member = |name: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[[bin]]\nname = \"same\"\npath = \"main.rs\"\n"
        )
    };
    let (one, two) = (member("one"), member("two"));
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n",
        ),
        ("one/Cargo.toml", one.as_str()),
        ("two/Cargo.toml", two.as_str()),
        ("one/main.rs", "#[test]\nfn one() {}\nfn main() {}"),
        ("two/main.rs", "#[test]\nfn two() {}\nfn main() {}"),
    ];
    let project = Project::new("workspace", &files);
    let sentence = refused(&project::session(false), &project.cargo("test"));
    assert!(
        sentence.contains("\n  -p one --bin same ") && sentence.contains("\n  -p two --bin same "),
        "{sentence}"
    );
    let session = project::session(false);
    launch(&session, &project.cargo("test two"));
    session.configured();
    session.wait_for_output("test two ... ok");
    session.disconnect();
}

#[test]
fn what_does_not_compile_is_said_with_the_first_error() {
    let broken = "fn main() {\n    let unused = 1;\n    nothing();\n    none::at_all();\n}\n";
    let project = Project::package("broken", "", &[("src/main.rs", broken)]);
    let session = project::session(true);
    let sentence = refused(&session, &project.cargo("run"));
    let first = [
        "src/main.rs:3:5: cannot find function `nothing`",
        "src/main.rs:4:5: ",
    ];
    assert!(
        first
            .iter()
            .any(|first| sentence.starts_with(&format!("`cargo run` failed: {first}"))),
        "{sentence}"
    );
    let told = console(&session);
    assert!(told.contains("\x1b[") && told.contains("nothing"), "{told}");
    // No colours for a client that doesn't show them.
    let session = project::session(false);
    refused(&session, &project.cargo("run"));
    let told = console(&session);
    assert!(!told.contains('\x1b'), "{told}");
    assert!(
        told.contains("error[E0425]: cannot find function `nothing`"),
        "{told}"
    );
    assert!(told.contains("error: could not compile `broken`"), "{told}");
}

#[test]
fn little_debug_information_is_said_with_the_remedy() {
    let manifest = "[profile.dev]\ndebug = \"line-tables-only\"";
    let project = Project::package("lean", manifest, &[("src/main.rs", MAIN)]);
    let session = project::session(false);
    let mut arguments = project.cargo("run");
    arguments["cargo"]["env"]["CARGO_PROFILE_DEV_DEBUG"] = json!(null);
    launch(&session, &arguments);
    assert!(
        console(&session).ends_with("warning: `lean` was built with little debug information, so that local variables can't be shown; with `debug = \"full\"` under `[profile.dev]` in Cargo.toml it has all\n"),
        "{}",
        console(&session)
    );
    session.disconnect();
}

#[test]
fn what_can_not_be_built_is_said() {
    // A parent folder of the tests' own folder contains a package.
    let project = Project::new("nothing", &[("x", "")]);
    let mut nowhere = project.cargo("run");
    nowhere["cwd"] = json!("/");
    let mut elsewhere = project.cargo("run");
    elsewhere["cargo"]["cwd"] = json!("/nowhere/at/all");
    let mut without = project.cargo("run");
    without["cargo"]["env"] = json!({"PATH": "/nowhere", "HOME": "/nowhere", "CARGO_HOME": null});
    for (arguments, sentence) in [
        (nowhere, "cargo: could not find `Cargo.toml` in"),
        (elsewhere, "cargo: there is no folder /nowhere/at/all"),
        (
            without,
            "cargo: there is no `cargo` in PATH, nor in ~/.cargo/bin; install Rust",
        ),
        (
            project.cargo("check"),
            "launch: `cargo.args`: `cargo check` isn't one of",
        ),
        (
            json!({"cargo": "test --doc"}),
            "launch: `cargo`: documentation tests",
        ),
        (
            json!({"cargo": {"cwd": "x"}}),
            "launch: `cargo.args` is missing",
        ),
        (
            json!({"cargo": {"args": [], "filter": {"kind": "x"}}}),
            "launch: `cargo.filter.kind` must be",
        ),
        (
            json!({"cargo": "run", "program": "/bin/true"}),
            "launch: `cargo` says which program is debugged",
        ),
        (json!({"cwd": project.folder()}), "launch needs `program`"),
        (
            json!({"program": project.folder()}),
            "is a directory, not a program",
        ),
    ] {
        let told = refused(&project::session(false), &arguments);
        assert!(told.contains(sentence), "{arguments}: {told}");
    }
}

#[test]
fn a_library_is_no_program() {
    let project = Project::package("only", "", &[("src/lib.rs", "")]);
    let told = refused(&project::session(false), &project.cargo("build"));
    assert!(told.starts_with("cargo: it builds no program"), "{told}");
    let told = refused(
        &project::session(false),
        &json!({"program": project.folder()}),
    );
    assert!(told.starts_with("cargo: it builds no program"), "{told}");
}

/// CodeLLDB's configurations have `program` beside `cargo`.
#[test]
fn the_program_of_cargo_may_stand_in_program() {
    let project = Project::package("named", "", &[("src/main.rs", MAIN)]);
    let mut arguments = project.cargo("build --bin=named");
    arguments["program"] = json!("${cargo:program}");
    let session = project::session(false);
    launch(&session, &arguments);
    session.configured();
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    let mut arguments = launch_arguments(&project.cargo("run"));
    arguments.no_debug = Some(true);
    arguments
        .other
        .insert("args".into(), Raw::new(&["free"]).expect("JSON"));
    let session = project::session(false);
    session.ok::<LaunchRequest>(arguments);
    session.configured();
    session.wait_for_output("got free\n");
    session.disconnect();
}
