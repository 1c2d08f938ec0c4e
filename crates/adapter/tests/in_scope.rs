//! A name without a path resolves by the rules of the frame's language. If nothing is in scope, the error offers other things of that name.

use crate::support::setting::evaluated;
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks the values of names at a stop, and the errors for names that are not in scope there.
#[track_caller]
fn check(session: &Session, frame: &StackFrame, known: &[(&str, &str)], unknown: &[(&str, &str)]) {
    for context in [
        EvaluateArgumentsContext::Repl,
        EvaluateArgumentsContext::Watch,
        EvaluateArgumentsContext::Hover,
    ] {
        for (name, value) in known {
            let is = evaluated(session, frame, name, context.clone());
            assert!(is.contains(value), "{name}: {is}");
        }
        for (name, offered) in unknown {
            let why = evaluated(session, frame, name, context.clone());
            let (head, rest) = why.split_once(" here").unwrap_or((&why, ""));
            assert!(head.ends_with(&format!("no variable `{name}`")), "{why}");
            assert_eq!(rest, *offered, "{name}");
        }
    }
}

/// A C library whose debug information is in a separate file, as in distributions' packages.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("in-scope-library");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("tables.c"), "int e[3] = {271, 8, 2};\n").expect("a source");
    let run = |tool: &str, arguments: &[&str]| {
        let mut command = Command::new(tool);
        let status = command.args(arguments).current_dir(&folder).status();
        assert!(status.is_ok_and(|status| status.success()), "{tool}");
    };
    run(
        "gcc",
        &["-g", "-shared", "-fPIC", "tables.c", "-o", "whole"],
    );
    run("objcopy", &["--only-keep-debug", "whole", "tables.debug"]);
    let link = "--add-gnu-debuglink=tables.debug";
    run("objcopy", &["--strip-debug", link, "whole", "libtables.so"]);
    folder.join("libtables.so")
}

#[test]
fn in_rust_methods_variants_and_names_of_c_libraries_need_their_paths() {
    let fixture = Fixture::new("in_scope.rs");
    let session = Session::new();
    session.launch(&fixture, json!({ "env": { "LD_PRELOAD": library() } }));
    session.set_lines(
        &fixture.path(),
        &["before", "after"].map(|mark| fixture.line(mark)),
    );
    session.configured();
    let stop = session.stopped_at(&fixture, "before", StoppedEventReason::Breakpoint);
    let method = "; `in_scope::Circle::area` is a function of that name";
    let theirs = "; `std::io::stdio::_print` is a function of that name";
    check(
        &session,
        &stop.top,
        &[
            // The local variable, not the function.
            ("corners", "5"),
            ("plane::corners", "in_scope::plane::corners"),
            ("CORNERS", "4"),
            ("Circle::area", "in_scope::Circle::area"),
            ("Colour::Red", "Red"),
            ("::e", "{271, 8, 2}"),
        ],
        &[
            ("area", method),
            ("Red", "; `in_scope::Colour::Red` is a variant of that name"),
            ("e", "; `::e` is a variable of that name in libtables.so"),
            ("_print", theirs),
            ("no_such_thing", ""),
        ],
    );
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
    check(&session, &stop.top, &[("area", "9")], &[]);
    session.disconnect();
}

#[test]
fn in_cpp_methods_of_others_and_functions_of_std_need_their_paths() {
    let fixture = Fixture::new("members.cpp");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    session.set_lines(
        &fixture.path(),
        &["member", "end"].map(|mark| fixture.line(mark)),
    );
    session.configured();
    let stop = session.stopped_at(&fixture, "member", StoppedEventReason::Breakpoint);
    let own = ("add", "Counter::add");
    let price = "; `shop::Price::get` is a function of that name";
    check(&session, &stop.top, &[own], &[("get", price)]);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    let counter = "; `Counter::add` is a function of that name";
    check(
        &session,
        &stop.top,
        &[("touched", "touched"), ("Counter::add", "Counter::add")],
        &[("add", counter), ("get", price)],
    );
    session.disconnect();
}
