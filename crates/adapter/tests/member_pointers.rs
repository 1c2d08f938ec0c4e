//! Pointers to members, references to functions and the names of integer types in C++, in programs of g++ and clang++.

use crate::support::{Fixture, Session};
use dapple_dap::client::ClientError;
use dapple_dap::types::*;
use serde_json::json;
use std::process::Command;

fn answer(session: &Session, frame: i64, expression: &str) -> String {
    let arguments = EvaluateArguments::new(expression).with_frame_id(frame);
    let arguments = arguments.with_context(EvaluateArgumentsContext::Repl);
    match session.request::<EvaluateRequest>(arguments) {
        Ok(answer) => answer.result,
        Err(ClientError::Failed(failure)) => format!("error: {failure}"),
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn check(compiler: &str, expected: &[(&str, &str)]) {
    let fixture = Fixture::compiled_with(compiler, "member_pointers.cpp", &["-g"]);
    let session = Session::started(&fixture, json!({}), &["here"]);
    let stop = session.stopped_at(&fixture, "here", StoppedEventReason::Breakpoint);
    for (expression, value) in expected {
        let answer = answer(&session, stop.top.id, expression);
        match value.strip_prefix("error: ") {
            Some(part) => assert!(
                answer.starts_with("error: ") && answer.contains(part),
                "{compiler}: {expression}: {answer}"
            ),
            None => assert_eq!(answer, *value, "{compiler}: {expression}"),
        }
    }
    session.disconnect();
}

/// g++, and clang++ if it is installed.
fn compilers() -> Vec<&'static str> {
    let runs = |compiler: &&str| Command::new(compiler).arg("--version").output().is_ok();
    let clang = ["clang++-22", "clang++"].into_iter().find(runs);
    ["g++"].into_iter().chain(clang).collect()
}

#[test]
fn members_are_had_through_pointers_to_members() {
    for compiler in compilers() {
        check(
            compiler,
            &[
                ("part.*number", "4"),
                ("to_part->*number", "4"),
                ("part_reference.*number", "4"),
                ("part.*number_reference", "4"),
                ("(*to_part).*number", "4"),
                ("2 * part.*number + 1", "9"),
                ("-(part.*number)", "-4"),
                ("(part.*row)[1]", "12"),
                ("whole.*inherited", "6"),
                ("whole.*number", "6"),
                ("to_base->*number", "6"),
                ("left.*deep", "77"),
                ("holder->*number", "4"),
                ("to_part->*number = 40", "40"),
                ("part.number", "40"),
                ("&(part.*number) == &part.number", "true"),
                // Calls.
                ("(part.*added)(10)", "50"),
                ("(to_part->*added)(part.*number)", "80"),
                ("(part.*scaled)(2)", "80"),
                ("(to_base->*scaled)(2)", "1002"),
                ("(whole.*scaled)(3)", "1003"),
                ("(whole.*added)(1)", "7"),
                // Null pointers.
                ("part.*nothing", "error: `nothing` is a null pointer"),
                (
                    "(part.*no_function)(1)",
                    "error: `no_function` is a null pointer",
                ),
                (
                    "part.*added",
                    "error: can be called only: `(part.*added)(…)`",
                ),
                (
                    "part.*pointer",
                    "error: `pointer` is no pointer to a member",
                ),
                (
                    "part.*deep",
                    "error: `deep` points to a member of `Base`, and `part` is a `Part`",
                ),
                ("sum.*number", "error: `sum` is no object of a class"),
                (
                    "(part.*number)(1)",
                    "error: `(part.*number)` is no function",
                ),
                ("part.*", "error: "),
            ],
        );
    }
}

#[test]
fn an_integers_words_stand_in_any_order() {
    for compiler in compilers() {
        check(
            compiler,
            &[
                ("(unsigned __int128)wide", "1267650600228229401496703205376"),
                ("(__int128 unsigned)wide >> 99", "2"),
                (
                    "(unsigned __int128)negative",
                    "340282366920938463463374607431768211451",
                ),
                ("(signed __int128)negative", "-5"),
                ("(__int128)negative", "-5"),
                ("*(unsigned __int128 *)&wide >> 100", "1"),
                ("*(__int128 unsigned *)&wide >> 100", "1"),
                ("sizeof(unsigned __int128)", "16"),
                ("(int unsigned)negative", "4294967291"),
                ("(int long unsigned)negative", "18446744073709551611"),
                ("(int short)65537", "1"),
            ],
        );
    }
}

#[test]
fn references_to_functions_lead_to_their_code() {
    for compiler in compilers() {
        let fixture = Fixture::compiled_with(compiler, "member_pointers.cpp", &["-g"]);
        let session = Session::started(&fixture, json!({}), &["here"]);
        let stop = session.stopped_at(&fixture, "here", StoppedEventReason::Breakpoint);
        let line = |reference: Option<i64>| {
            let reference = reference.expect("it leads to code");
            let found = session.ok::<LocationsRequest>(LocationsArguments::new(reference));
            assert_eq!(found.source.path, Some(fixture.path()));
            found.line
        };
        for name in ["reference", "moved", "pointer"] {
            let evaluated = EvaluateArguments::new(name).with_frame_id(stop.top.id);
            let value = session.ok::<EvaluateRequest>(evaluated);
            assert_eq!(
                line(value.value_location_reference),
                fixture.line("twice"),
                "{name}"
            );
            let variable = session.variable(&stop.top, "Locals", name);
            assert_eq!(
                line(variable.value_location_reference),
                fixture.line("twice"),
                "{name}"
            );
        }
        // A reference to data has no code location.
        let data = session.variable(&stop.top, "Locals", "part_reference");
        assert_eq!(data.value_location_reference, None);
        session.disconnect();
    }
}
