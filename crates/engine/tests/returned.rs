//! Return values, shown after a step out of a function.

use crate::support;
use crate::support::{Debuggee, Fixture, fixture};
use dapple_engine::event::StopReason;
use dapple_engine::session::StepKind;

/// Runs to the marked line and steps out. Returns the name and text of the return value.
fn out_of(debuggee: &mut Debuggee<'_>, name: &str) -> Option<(String, String)> {
    debuggee.break_at(&[name]);
    let (thread, _) = debuggee.run_to_breakpoint();
    debuggee
        .session()
        .set_line_breakpoints(&debuggee.fixture.source, Vec::new())
        .unwrap();
    debuggee.session().step(thread, StepKind::Out).unwrap();
    let stops = debuggee.expect_stop();
    assert_eq!(stops[0].reason, StopReason::Step);
    let frame = debuggee.session().stack(thread, 0..1).unwrap().frames[0].id;
    let returned = debuggee.session().returned(frame).unwrap();
    returned.map(|(named, rendered)| (named.name, rendered.text))
}

fn check(fixture: &Fixture, table: &str) {
    let mut debuggee = fixture.launch();
    let mut wrong = String::new();
    for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (name, expected) = row.split_once('→').expect("a row has an arrow");
        let (name, expected) = (name.trim(), expected.trim());
        let text = match out_of(&mut debuggee, name) {
            Some((of, text)) => {
                assert_eq!(of.rsplit("::").next(), Some(&*format!("{name}()")));
                match text.split_once(' ') {
                    Some((address, what)) if address.starts_with("0x") => format!("POINTER {what}"),
                    _ => text,
                }
            }
            None => "nothing".to_owned(),
        };
        if text != expected {
            wrong.push_str(&format!("{name} → {text}   (expected: {expected})\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

const CPP: &str = "
    integer  → -7
    truth    → true
    byte     → 200 '\\xc8'
    real     → 2.5
    single   → 1.5
    extended → 3.25
    color    → Green
    text     → POINTER \"text\"
    wide     → 18446744073709551621
    small    → {a = 97 'a', b = 2, c = 3}
    pair     → {a = 1, b = 2}
    mixed    → {x = 0.5, n = 4}
    other    → {n = 4, x = 0.5}
    floats   → {x = 1.0, y = 2.0, z = 3.0}
    large    → {a = 1, b = 2, c = 3}
    bits     → {a = 5, b = 9}
    packed   → {a = 112 'p', b = 6}
    empty    → {}
    counted  → {n = 8}
    words    → \"some words\"
    nothing  → nothing
";

#[test]
fn in_cpp_by_the_classes_of_the_calling_convention() {
    check(&fixture("stepping/returns.cpp", &["-O0"]), CPP);
}

#[test]
fn in_optimised_cpp_too() {
    check(&fixture("stepping/returns.cpp", &["-O2"]), CPP);
}

const RUST: &str = "
    integer → -7
    wide    → 18446744073709551621
    real    → 2.5
    text    → \"text\"
    point   → Point { x: 1, y: 2 }
    mixed   → (0.5, 4)
    option  → Some(3)
    boxed   → Some(9)
    string  → \"some words\"
    three   → <Rust doesn't say how it returns such a value>
    nothing → nothing
";

#[test]
fn in_rust_where_it_is_sure() {
    check(&fixture("stepping/returns.rs", &["-Copt-level=0"]), RUST);
}

#[test]
fn in_optimised_rust_too() {
    // rustc has changed this function's calling convention, and says so in the debug information.
    let changed = "<the compiler has changed how this function returns>";
    let table = RUST.replace("\"text\"", changed);
    check(&fixture("stepping/returns.rs", &["-Copt-level=2"]), &table);
}

#[test]
fn in_programs_of_clang_which_says_how_classes_are_passed() {
    if let Some(clang) = support::clang() {
        let clang = clang.replace("clang", "clang++");
        let program = support::fixture_by(&clang, "stepping/returns.cpp", &["-O0"]);
        // clang describes the standard library's classes only as far as it must.
        let table: Vec<&str> = CPP.lines().filter(|row| !row.contains("words")).collect();
        check(&program, &table.join("\n"));
    }
}

#[test]
fn of_each_activation_its_own_and_nothing_after_a_throw_or_another_step() {
    let fixture = fixture("stepping/returns.cpp", &["-O0"]);
    let mut debuggee = fixture.launch();
    assert_eq!(out_of(&mut debuggee, "throws"), None);
    debuggee.break_at(&["recursive"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    for _ in 0..3 {
        debuggee.run_to_breakpoint();
    }
    let source = &debuggee.fixture.source;
    debuggee
        .session()
        .set_line_breakpoints(source, Vec::new())
        .unwrap();
    let mut values = Vec::new();
    for _ in 0..4 {
        debuggee.session().step(thread, StepKind::Out).unwrap();
        debuggee.expect_stop();
        let frames = debuggee.session().stack(thread, 0..2).unwrap().frames;
        let (_, rendered) = debuggee.session().returned(frames[0].id).unwrap().unwrap();
        values.push(rendered.text);
        if let Some(outer) = frames.get(1) {
            assert!(debuggee.session().returned(outer.id).unwrap().is_none());
        }
    }
    assert_eq!(values, ["1", "1", "2", "6"]);
    debuggee.session().step(thread, StepKind::Over).unwrap();
    debuggee.expect_stop();
    let frame = debuggee.session().stack(thread, 0..1).unwrap().frames[0].id;
    assert!(debuggee.session().returned(frame).unwrap().is_none());
}
