//! Setting variables: each change shows in the program's later output, and a refused change leaves the variable as it was.

use crate::support;
use crate::support::fixture::{Linking, Optimization};
use crate::support::setting::{
    check, check_later_output, evaluated, set, set_child, set_expression, typed,
};
use crate::support::{Fixture, Session, Stopped, named};
use dapple_dap::types::*;
use serde_json::json;

/// Stops in `inner`. Returns the caller's frame, too.
fn begin(fixture: &Fixture) -> (Session, Stopped, StackFrame) {
    begin_with(fixture, support::initialize_arguments())
}

fn begin_with(
    fixture: &Fixture,
    arguments: InitializeRequestArguments,
) -> (Session, Stopped, StackFrame) {
    let session = Session::serving(Default::default(), arguments);
    session.launch(fixture, json!({}));
    session.set_breakpoints(fixture, &["inner"]);
    session.configured();
    let stop = session.stopped_at(fixture, "inner", StoppedEventReason::Breakpoint);
    let frames = session
        .ok::<StackTraceRequest>(StackTraceArguments::new(stop.thread))
        .stack_frames;
    let main = frames.into_iter().nth(1).expect("main");
    (session, stop, main)
}

/// The output of `assigned.c` when nothing is set.
const C_OUTPUT: &str = "small 1 byte 2 little 3 number 4 large 5
huge 0 6 truth 0 letter a
real 1.5 twice 2.5 extended 3.5 colour 0
point 1 2 other 30 40 either 7
bits 1 2 3 0
numbers 1 2 3 4 at 0
text unchanged name abc 8
points 3 4 got 2
fixed 11 counter 1 own 2
";

#[test]
fn c_variables_take_values_of_their_types() {
    let fixture = Fixture::new("assigned.c");
    let (session, stop, main) = begin(&fixture);
    let values = [
        ("small", "-128", r"-128 '\x80'"),
        ("byte", "number + 251", r"255 '\xff'"),
        ("little", "-3000", "-3000"),
        ("number", "-1", "4294967295"),
        ("large", "0x7fffffffffffffff", "9223372036854775807"),
        ("huge", "0x100000000000000020", "295147905179352825888"),
        ("truth", "large", "true"),
        ("letter", "97 'a'", "97 'a'"),
        ("letter", "'Z'", "90 'Z'"),
        ("real", "0.25", "0.25"),
        ("twice", "numbers[2]", "3.0"),
        ("extended", "-1.5", "-1.5"),
        ("colour", "GREEN", "GREEN"),
        ("point", "other", "{x = 30, y = 40}"),
        ("pointer", "&numbers[2]", "0x… 3"),
        ("name", "\"longer\"", "\"longer\""),
        ("Statics/counter", "77", "77"),
        ("Statics/own", "-9", "-9"),
    ];
    check(&session, &main, set, &values);
    let children = [
        ("bits/low", "7", "7"),
        ("bits/middle", "-64", "-64"),
        ("bits/wide", "0xffffffffff", "1099511627775"),
        ("bits/flag", "1", "true"),
        ("numbers/[1]", "-5", "-5"),
        ("points[1]/y", "44", "44"),
        ("&points[1]/x", "33", "33"),
        ("pointer/*", "0x10", "16"),
    ];
    check(&session, &main, set_child, &children);
    check_later_output(
        session,
        &stop,
        "small -128 byte 255 little -3000 number 4294967295 large 9223372036854775807
huge 16 32 truth 1 letter Z
real 0.25 twice 3 extended -1.5 colour 5
point 30 40 other 30 40 either 7
bits 7 -64 1099511627775 1
numbers 1 -5 16 4 at 2
text unchanged name longer 8
points 33 44 got 2
fixed 11 counter 77 own -9
",
    );
}

#[test]
fn what_is_typed_may_be_an_assignment() {
    let fixture = Fixture::new("assigned.c");
    let (session, stop, main) = begin(&fixture);
    let lines = [
        ("little", "= 7", "7"),
        ("little", "+= 2 * 3", "13"),
        ("number", "<<= 4", "64"),
        ("number", "-= 65", "4294967295"),
        ("byte", "+= 255", r"1 '\x01'"),
        ("numbers[3]", "*= -1", "-4"),
        ("pointer", "+= 3", "0x… -4"),
        ("*pointer", "^= 1", "-3"),
        ("points[0].x", "++", "2"),
        ("-- points[1].y", "", "3"),
        ("bits.low", "|= 2", "3"),
        ("colour", "= BLUE", "BLUE"),
        ("name", "= \"1234567\"", "\"1234567\""),
        ("(&points[1])->x", "= little", "13"),
        ("little", "== 13", "true"),
    ];
    check(&session, &main, typed, &lines);
    let expressions = [
        ("either.real", "1", "1.0"),
        ("twice", "1.0 / 3", "0.3333333333333333"),
    ];
    check(&session, &main, set_expression, &expressions);
    for context in [
        EvaluateArgumentsContext::Watch,
        EvaluateArgumentsContext::Hover,
        EvaluateArgumentsContext::Clipboard,
    ] {
        assert_eq!(
            evaluated(&session, &main, "little = 99", context),
            "error: column 8: evaluating must not change the program: assignments are refused"
        );
    }
    check_later_output(
        session,
        &stop,
        "small 1 byte 1 little 13 number 4294967295 large 5
huge 0 6 truth 0 letter a
real 1.5 twice 0.333333 extended 3.5 colour 6
point 1 2 other 30 40 either 1065353216
bits 3 2 3 0
numbers 1 2 3 -3 at 3
text unchanged name 1234567 8
points 13 3 got 2
fixed 11 counter 1 own 2
",
    );
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason_and_changes_nothing() {
    let fixture = Fixture::new("assigned.c");
    let (session, stop, main) = begin(&fixture);
    let refused = [
        (
            "small",
            "128",
            "error: 128 does not fit a `signed char`, which holds -128 to 127",
        ),
        (
            "byte",
            "256",
            "error: 256 does not fit an `unsigned char`, which holds 0 to 255",
        ),
        (
            "number",
            "1 << 40",
            "error: column 6: a shift by 40 does not fit 32 bits",
        ),
        (
            "little",
            "1e10",
            "error: 10000000000.0 does not fit a `short`, which holds -32768 to 32767",
        ),
        ("little", "", "error: there is nothing to evaluate"),
        ("little", "1 / 0", "error: column 5: division by zero"),
        (
            "little",
            "nubmer",
            "error: no variable `nubmer` here; did you mean `number`?",
        ),
        (
            "little",
            "1 +",
            "error: column 4: the expression ends too early",
        ),
        (
            "little",
            "point",
            "error: `point` is no number, it is a `struct point`",
        ),
        (
            "point",
            "7",
            "error: it takes a `struct point`, and this is an `int`",
        ),
        (
            "point",
            "numbers",
            "error: it takes a `struct point`, and this is an `int [4]`",
        ),
        (
            "pointer",
            "&point",
            "error: it is an `int *`, the value a `struct point *`; cast it",
        ),
        (
            "pointer",
            "1.5",
            "error: an `int *` can't be made of a `double`",
        ),
        (
            "name",
            "\"much too long\"",
            "error: `name` has room for 8 bytes, and this text has 13",
        ),
        (
            "text",
            "\"other\"",
            "error: `text` is a `const char *`, which has no text of its own to be changed",
        ),
        (
            "number",
            "\"12\"",
            "error: `number` is an `unsigned int`, which is no text",
        ),
        ("nothing", "1", "error: there is no `nothing` in there"),
    ];
    let refused: Vec<_> = refused.into_iter().collect();
    for (place, value, expected) in refused {
        let is = set(&session, &main, place, value);
        assert!(is.starts_with(expected), "{place} = {value}: {is}");
    }
    let refused = [
        (
            "bits/low",
            "8",
            "error: 8 does not fit 3 bits, which holds 0 to 7",
        ),
        (
            "bits/middle",
            "64",
            "error: 64 does not fit 7 bits, which holds -64 to 63",
        ),
    ];
    check(&session, &main, set_child, &refused);
    let refused = [
        (
            "little + 1",
            "2",
            "error: `little + 1` is computed, it has no place in the program",
        ),
        (
            "$rip",
            "1",
            "error: register rip can be set in the innermost frame only",
        ),
        (
            "$rax",
            "1",
            "error: register rax can't be set in this frame: a call further in has not saved it",
        ),
        ("$nothing", "1", "error: there is no register `$nothing`"),
    ];
    for (place, value, expected) in refused {
        let is = set_expression(&session, &main, place, value);
        assert!(is.starts_with(expected), "{place} = {value}: {is}");
    }
    for (place, value) in [("text[0]", "'U'"), ("fixed", "12")] {
        let is = set_expression(&session, &main, place, value);
        let starts = is.starts_with("error: the memory at 0x… (/");
        let ends = is.ends_with(") is read-only: the program itself can't write there");
        assert!(starts && ends, "{place}: {is}");
    }
    check_later_output(session, &stop, C_OUTPUT);
}

#[test]
fn what_is_in_registers_is_set_wherever_it_is_kept() {
    let fixture = Fixture::built("assigned_registers.c", Optimization::Full, Linking::Pie);
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    let frames = session
        .ok::<StackTraceRequest>(StackTraceArguments::new(stop.thread))
        .stack_frames;
    // Variables in the thread's own register, in a register that `inner` doesn't change, and in a register that `middle` has saved.
    check(&session, &frames[0], set, &[("Locals/given", "7", "7")]);
    check(
        &session,
        &frames[1],
        set,
        &[("Locals/second", "100", "100")],
    );
    check(&session, &frames[2], set, &[("start", "-1", "-1")]);
    check(&session, &frames[2], typed, &[("start", "+= 43", "42")]);
    assert_eq!(
        session.variable(&frames[1], "Locals", "second").value,
        "100"
    );
    check_later_output(session, &stop, "7200 42 1\n");
}

#[test]
fn registers_are_set_by_name() {
    let fixture = Fixture::built("assigned_registers.c", Optimization::Full, Linking::Pie);
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    let at = &stop.top;
    check(&session, at, set, &[("Registers/General/rdi", "8", "0x8")]);
    check(&session, at, typed, &[("$rdi", "+= 1", "9")]);
    check(&session, at, set_expression, &[("$r11", "-1", "-1")]);
    assert_eq!(session.variable(at, "Locals", "given").value, "9");
    let is = set(&session, at, "Registers/General/rip", "0");
    assert_eq!(is, "error: there is no code at 0x0");
    check_later_output(session, &stop, "9030 5 1\n");
}

#[test]
fn clients_are_told_of_the_changes_that_they_can_see() {
    let fixture = Fixture::new("assigned.c");
    let mut arguments = support::initialize_arguments();
    arguments.supports_invalidated_event = Some(true);
    arguments.supports_memory_event = Some(true);
    let (session, _, main) = begin_with(&fixture, arguments);
    let place = EvaluateArguments::new("numbers").with_frame_id(main.id);
    let shown = session.ok::<EvaluateRequest>(place);
    let arguments = SetVariableArguments::new(shown.variables_reference, "[2]", "9");
    let answer = session.ok::<SetVariableRequest>(arguments);
    let invalidated = session.wait_for::<InvalidatedEvent>();
    assert_eq!(invalidated.areas, Some(vec![InvalidatedAreas::Variables]));
    let memory = session.wait_for::<MemoryEvent>();
    assert_eq!((memory.offset, memory.count), (0, 4));
    assert_eq!(Some(memory.memory_reference), answer.memory_reference);
    // Memory that was read before the change is read again.
    let locals = session.scope(&main, "Locals").variables_reference;
    let locals = session.ok::<VariablesRequest>(VariablesArguments::new(locals));
    assert_eq!(named(&locals.variables, "numbers").value, "{1, 2, 9, 4}");
    session.disconnect();
}

#[test]
fn cpp_variables_take_values_of_their_types() {
    let fixture = Fixture::new("assigned.cpp");
    let session = Session::started(&fixture, json!({}), &["method"]);
    let stop = session.stopped_at(&fixture, "method", StoppedEventReason::Breakpoint);
    let frames = session
        .ok::<StackTraceRequest>(StackTraceArguments::new(stop.thread))
        .stack_frames;
    let members = [
        ("over", "= 20", "20"),
        ("this->under", "= 10", "10"),
        ("touched", "= true", "true"),
        ("result", "+= 1000", "1013"),
    ];
    check(&session, &stop.top, typed, &members);
    let values = [
        ("colour", "Colour::Blue", "Blue"),
        ("reference", "33", "33"),
        ("shortly", "\"fifteen letters\"", "\"fifteen letters\""),
        ("lengthy", "\"brief\"", "\"brief\""),
        ("wide", "\"ß\"", "\"ß\""),
        ("unit", "u'ß'", "223 'ß'"),
        ("nowhere", "nullptr", "0x0"),
    ];
    check(&session, &frames[1], set, &values);
    let children = [("numbers/[2]", "-3", "-3")];
    check(&session, &frames[1], set_child, &children);
    let refused = [
        (
            "shortly",
            "\"sixteen letters!\"",
            "error: `shortly` has room for 15 bytes, and this text has 16",
        ),
        (
            "colour",
            "Colour::Bleu",
            "error: `Colour` has no `Bleu`; did you mean `Blue`?",
        ),
    ];
    check(&session, &frames[1], set, &refused);
    check_later_output(
        session,
        &stop,
        "colour 6 sum 1013 under 10 over 20 touched 1
plain 33 reference 33
shortly fifteen letters 15
lengthy brief 5
wide 1 df unit df
numbers 1 2 -3 nowhere 1
",
    );
}

#[test]
fn rust_variables_take_values_of_their_types() {
    let fixture = Fixture::new("assigned.rs");
    let (session, stop, main) = begin(&fixture);
    let values = [
        ("small", "-128", "-128"),
        ("byte", "0xff", "255"),
        ("number", "-3 * 5", "-15"),
        ("large", "18446744073709551615", "18446744073709551615"),
        (
            "huge",
            "-170141183460469231731687303715884105728",
            "-170141183460469231731687303715884105728",
        ),
        ("truth", "true", "true"),
        ("letter", "'ß'", "'ß'"),
        ("real", "0.25", "0.25"),
        ("twice", "real as f64 + 1.0", "1.25"),
        ("colour", "Colour::Blue", "Colour::Blue"),
        ("pair", "other", "Pair { left: 30, right: 40 }"),
        ("shape", "Shape::Point", "Shape::Point"),
        ("boxed", "None", "None"),
        ("maybe", "None", "None"),
        ("order", "Greater", "Greater"),
        ("text", "\"grüß\"", "\"grüß\""),
        (
            "roomy",
            "\"as long as there is room\"",
            "\"as long as there is room\"",
        ),
    ];
    check(&session, &main, set, &values);
    let children = [
        ("tuple/0", "11", "11"),
        ("array/[1]", "65535", "65535"),
        ("items/[2]", "-3", "-3"),
        ("behind/[0]", "9", "9"),
        ("cell/value", "70", "70"),
    ];
    check(&session, &main, set_child, &children);
    let lines = [
        ("tuple.1", "+= 0.5", "3.0"),
        ("pair.right", "-= 1", "39"),
        ("*left", "= 31", "31"),
        ("nonzero", "= 99", "99"),
        ("TOTAL", "= 5", "5"),
        (
            "other",
            "= Pair { left: 5, right: 6 }",
            "Pair { left: 5, right: 6 }",
        ),
    ];
    check(&session, &main, typed, &lines);
    check_later_output(
        session,
        &stop,
        "small -128 byte 255 number -15 large 18446744073709551615 huge -170141183460469231731687303715884105728
truth true letter ß real 0.25 twice 1.25 colour Blue
pair Pair { left: 31, right: 39 } other Pair { left: 5, right: 6 } shape Point
boxed None maybe None order Greater tuple (11, 3.0)
array [9, 65535, 3] text grüß roomy as long as there is room borrowed borrowed
cell 70 nonzero 99 items [1, 2, -3] got 4
total 5 [Green, Blue]
",
    );
}

#[test]
fn rust_refuses_what_its_types_do_not_take() {
    let fixture = Fixture::new("assigned.rs");
    let (session, stop, main) = begin(&fixture);
    let refused = [
        (
            "small",
            "128",
            "error: 128 does not fit an `i8`, which holds -128 to 127",
        ),
        (
            "byte",
            "-1",
            "error: -1 does not fit a `u8`, which holds 0 to 255",
        ),
        (
            "byte",
            "number",
            "error: it is a `u8`, the value an `i32`; write `as u8` behind it",
        ),
        (
            "real",
            "twice",
            "error: it is an `f32`, the value an `f64`; write `as f32` behind it",
        ),
        (
            "truth",
            "1",
            "error: a `bool` is `true` or `false`, not an `i32`",
        ),
        ("letter", "65", "error: a `char` can't be made of an `i32`"),
        (
            "colour",
            "Colour::Gren",
            "error: `Colour` has no `Gren`; did you mean `Green`?",
        ),
        (
            "colour",
            "1",
            "error: it takes a variant of `assigned::Colour`: `Red`, `Green`, `Blue`",
        ),
        (
            "shape",
            "Shape::Circle",
            "error: `Circle` has fields, which have to be written, too: `Circle(…)`, `Circle { … }`",
        ),
        (
            "shape",
            "Shape::Pont",
            "error: `assigned::Shape` has no variant `Pont`; did you mean `Point`?",
        ),
        (
            "maybe",
            "7",
            "error: it takes an `Option<u32>`, and this is an `i32`",
        ),
        ("nonzero", "0", "error: `nonzero` can't be zero"),
        (
            "text",
            "\"seven b\"",
            "error: `text` has room for 6 bytes, and this text has 7",
        ),
        (
            "borrowed",
            "\"other\"",
            "error: `borrowed` is a `&str`, which has no text of its own to be changed",
        ),
        ("left", "0 as *const i32", "error: "),
    ];
    for (place, value, expected) in refused {
        let is = set(&session, &main, place, value);
        assert!(is.starts_with(expected), "{place} = {value}: {is}");
    }
    check_later_output(
        session,
        &stop,
        "small 1 byte 2 number 3 large 4 huge 5
truth false letter a real 1.5 twice 2.5 colour Red
pair Pair { left: 1, right: 2 } other Pair { left: 30, right: 40 } shape Circle(1.0)
boxed Some(1) maybe Some(2) order Less tuple (1, 2.5)
array [1, 2, 3] text a text roomy short borrowed borrowed
cell 7 nonzero 9 items [1, 2, 3] got 4
total 1 [Green, Blue]
",
    );
}
