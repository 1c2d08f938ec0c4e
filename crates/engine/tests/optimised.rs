//! Variables of optimized programs, compared with the values that the programs themselves print.
//!
//! gcc describes all of them. clang omits more: a value may be missing, with a reason, but not wrong.

use crate::support::{Fixture, clang, fixture, fixture_by, listing};
use dapple_engine::frame::FrameId;
use dapple_engine::session::LineBreakpoint;
use dapple_engine::values::Rendered;
use dapple_engine::{Session, ThreadId};

/// The function to inspect, with its expressions and their values.
struct Expected {
    function: String,
    values: Vec<(String, String)>,
}

fn expected(line: &str) -> Option<Expected> {
    let (function, values) = line.split_once(": ")?;
    let pair = |text: &str| {
        let (name, value) = text.rsplit_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    Some(Expected {
        function: function.to_owned(),
        values: values.split(' ').map(pair).collect::<Option<_>>()?,
    })
}

/// The comparable part of a value: for a character, its number.
fn plain(text: &str) -> &str {
    match text.split_once(" '") {
        Some((number, _)) => number,
        None => text,
    }
}

/// The innermost frame of a function.
fn frame_of(session: &Session, thread: ThreadId, name: &str) -> FrameId {
    let frames = session.stack(thread, 0..6).unwrap().frames;
    let found = frames
        .iter()
        .find(|frame| frame.function.as_deref() == Some(name));
    let names = frames.iter().map(|frame| &frame.function);
    found
        .unwrap_or_else(|| panic!("{name} is not among {:?}", names.collect::<Vec<_>>()))
        .id
}

/// Runs the program. Returns the missing values as `function expression: reason`. Fails if a value is wrong.
fn missing(fixture: &Fixture) -> Vec<String> {
    let mut debuggee = fixture.launch();
    let line = LineBreakpoint {
        line: fixture.line("halt"),
        ..LineBreakpoint::default()
    };
    debuggee
        .session()
        .set_line_breakpoints(&fixture.source, vec![line])
        .unwrap();
    let (mut missing, mut wrong, mut read) = (Vec::new(), Vec::new(), 0);
    for _ in 0..9 {
        let (thread, _) = debuggee.run_to_breakpoint();
        let announced: Vec<Expected> = debuggee.stdout.lines().filter_map(expected).collect();
        let now = &announced[read];
        read += 1;
        let look = |session: &Session, _| -> Vec<Result<Rendered, String>> {
            let frame = frame_of(session, thread, &now.function);
            let values = now.values.iter().map(|(expression, _)| {
                let found = session.evaluate(expression, Some(frame));
                found
                    .map(|(_, rendered)| rendered)
                    .map_err(|error| error.to_string())
            });
            values.collect()
        };
        let shown = listing::live_and_post_mortem(debuggee.session(), thread, look);
        for ((expression, value), shown) in now.values.iter().zip(shown) {
            let what = format!("{} {expression}", now.function);
            match shown {
                Ok(rendered) if rendered.text.starts_with('<') => {
                    missing.push(format!("{what}: {}", rendered.text));
                }
                Ok(rendered) if plain(&rendered.text) == value => {}
                Ok(rendered) => wrong.push(format!("{what}: {}, not {value}", rendered.text)),
                Err(error) => missing.push(format!("{what}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    debuggee.resume();
    debuggee.expect_exit();
    missing
}

#[test]
fn nothing_is_missing_in_what_gcc_has_optimised() {
    for flags in [&["-O2", "-gdwarf-5"], &["-O2", "-gdwarf-4"]] {
        let missing = missing(&fixture("optimised.c", flags));
        assert!(missing.is_empty(), "{flags:?}: {missing:#?}");
    }
}

#[test]
fn nothing_is_wrong_in_what_clang_has_optimised() {
    let Some(clang) = clang() else {
        return println!("there is no clang here");
    };
    for flags in [
        &["-O2", "-gdwarf-5"],
        &["-O2", "-gdwarf-4"],
        &["-O1", "-gdwarf-5"],
    ] {
        let missing = missing(&fixture_by(&clang, "optimised.c", flags));
        assert!(missing.len() < 25, "{flags:?}: {missing:#?}");
    }
}

#[test]
fn a_function_that_was_jumped_to_does_not_have_the_arguments_of_the_one_that_was_called() {
    let fixture = fixture("tail_called.c", &["-O2"]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["cleared"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = frame_of(debuggee.session(), thread, "work");
    let locals = listing::locals(debuggee.session(), frame, 1);
    assert!(
        locals.contains("inside: int * = <optimized out>"),
        "{locals}"
    );
}
