//! Registers in groups, with their subregisters and lanes.

use crate::support::{Fixture, Session, named};
use dapple_dap::types::*;
use serde_json::json;

/// The variable at a path below the registers scope, such as `SSE/xmm3/f32`.
#[track_caller]
fn at(session: &Session, frame: &StackFrame, path: &str) -> Variable {
    let scope = session.scope(frame, "Registers");
    let mut reference = scope.variables_reference;
    let mut last = None;
    for name in path.split('/') {
        let variables = session.variables(reference);
        let variable = named(&variables, name).clone();
        reference = variable.variables_reference;
        last = Some(variable);
    }
    last.expect("a name")
}

#[track_caller]
fn value(session: &Session, frame: &StackFrame, path: &str) -> String {
    at(session, frame, path).value
}

#[test]
fn flags_are_named_and_vectors_have_lanes() {
    let fixture = Fixture::new("lanes.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let wanted = vec![FunctionBreakpoint::new("fill")];
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    session.ok::<SetFunctionBreakpointsRequest>(arguments);
    session.configured();
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let mut top = stop.top;
    for _ in 0..7 {
        let step = NextArguments::new(stop.thread);
        let step = step.with_granularity(SteppingGranularity::Instruction);
        session.ok::<NextRequest>(step);
        top = session.stopped(StoppedEventReason::Step).top;
    }
    let is = |path: &str| value(&session, &top, path);
    let names = |path: &str| -> Vec<String> {
        let reference = match path {
            "" => session.scope(&top, "Registers").variables_reference,
            path => at(&session, &top, path).variables_reference,
        };
        session
            .variables(reference)
            .into_iter()
            .map(|one| one.name)
            .collect()
    };
    let avx = std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains(" avx "));
    let groups = match avx {
        true => vec!["General", "Flags", "Segment", "SSE", "AVX", "x87"],
        false => vec!["General", "Flags", "Segment", "SSE", "x87"],
    };
    assert_eq!(names(""), groups);
    assert_eq!(names("General")[..4], ["rax", "rbx", "rcx", "rdx"]);

    let r10 = at(&session, &top, "General/r10");
    assert_eq!(
        (&*r10.value, r10.evaluate_name.as_deref()),
        ("0xffffffffffffffff", Some("$r10"))
    );
    let stack = at(&session, &top, "General/rsp");
    assert_eq!(stack.memory_reference.as_ref(), Some(&stack.value));
    // The flags after `xor` of a register with itself.
    let eflags = is("Flags/eflags");
    assert!(
        eflags.starts_with("0x") && eflags.contains("[PF ZF"),
        "{eflags}"
    );
    assert_eq!(
        (is("Flags/eflags/ZF"), is("Flags/eflags/CF")),
        ("1".into(), "0".into())
    );
    assert_eq!(is("Segment/cs"), "0x33");
    assert_ne!(is("Segment/fs_base"), "0x0");

    assert_eq!(is("SSE/xmm3"), "0x410000003e800000c00000003fc00000");
    assert_eq!(is("SSE/xmm3/f32"), "[1.5, -2.0, 0.25, 8.0]");
    assert_eq!(is("SSE/xmm3/f32/[1]"), "-2.0");
    assert_eq!(is("SSE/xmm4/i64"), "[1234605616436508552, 0]");
    assert_eq!(is("SSE/xmm4/u8/[0]"), "136");
    assert!(
        is("SSE/mxcsr").contains("IM DM ZM OM UM PM"),
        "{}",
        is("SSE/mxcsr")
    );
    if avx {
        let ymm = is("AVX/ymm3");
        assert!(
            ymm.len() == 66 && ymm.ends_with("410000003e800000c00000003fc00000"),
            "{ymm}"
        );
        assert_eq!(names("AVX/ymm3/f64").len(), 4);
    }
    assert_eq!(
        (is("x87/st0"), is("x87/st1")),
        ("3.141592653589793".into(), "1.0".into())
    );
    assert_eq!(is("x87/st2"), "<empty>");

    // The last page is shorter.
    let general = at(&session, &top, "General").variables_reference;
    let page = VariablesArguments::new(general)
        .with_start(15)
        .with_count(5);
    let page = session.ok::<VariablesRequest>(page).variables;
    let page: Vec<&str> = page.iter().map(|one| &*one.name).collect();
    assert_eq!(page, ["r15", "rip"]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let stale = session.refused::<VariablesRequest>(VariablesArguments::new(general));
    assert!(!stale.sentence.is_empty());
    session.disconnect();
}

#[test]
fn an_outer_frame_has_what_was_saved_and_says_what_is_lost() {
    let fixture = Fixture::new("lanes.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let wanted = vec![FunctionBreakpoint::new("fill")];
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    session.ok::<SetFunctionBreakpointsRequest>(arguments);
    session.configured();
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let stack = session.stack(stop.thread);
    let main = stack
        .iter()
        .find(|frame| frame.name == "main")
        .expect("main");
    let is = |path: &str| value(&session, main, path);
    let pc = main.instruction_pointer_reference.clone();
    assert_eq!(Some(is("General/rip")), pc);
    assert!(is("General/rbp").starts_with("0x"));
    for (path, name) in [
        ("General/rax", "rax"),
        ("Flags/eflags", "eflags"),
        ("SSE/xmm3", "xmm3"),
    ] {
        assert_eq!(is(path), format!("<register {name} was not saved>"));
    }
    session.disconnect();
}

/// Sets the register at a path. Returns its new value, or the error.
fn set(session: &Session, frame: &StackFrame, path: &str, value: &str) -> String {
    let (group, name) = path.rsplit_once('/').expect("a group");
    let container = at(session, frame, group).variables_reference;
    let arguments = SetVariableArguments::new(container, name, value);
    match session.request::<SetVariableRequest>(arguments) {
        Ok(answer) => answer.value,
        Err(error) => format!("error: {error}"),
    }
}

fn set_expression(session: &Session, frame: &StackFrame, place: &str, value: &str) -> String {
    let arguments = SetExpressionArguments::new(place, value).with_frame_id(frame.id);
    match session.request::<SetExpressionRequest>(arguments) {
        Ok(answer) => answer.value,
        Err(error) => format!("error: {error}"),
    }
}

/// The console's answer to an expression.
fn typed(session: &Session, frame: &StackFrame, text: &str) -> String {
    let arguments = EvaluateArguments::new(text)
        .with_frame_id(frame.id)
        .with_context(EvaluateArgumentsContext::Repl);
    match session.request::<EvaluateRequest>(arguments) {
        Ok(answer) => answer.result,
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn the_program_goes_by_what_its_registers_were_set_to() {
    let fixture = Fixture::new("set_registers.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let places = ["compared", "loaded", "loaded_wide", "pushed"];
    let wanted = places.map(FunctionBreakpoint::new).into();
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    session.ok::<SetFunctionBreakpointsRequest>(arguments);
    session.configured();
    let avx = std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains(" avx "));

    // The program has just compared 1 with 2.
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let top = &stop.top;
    assert_eq!(typed(&session, top, "$zf"), "0");
    assert_eq!(typed(&session, top, "$CF"), "1");
    assert_eq!(
        at(&session, top, "Flags/eflags/ZF")
            .evaluate_name
            .as_deref(),
        Some("$zf")
    );
    assert_eq!(set(&session, top, "Flags/eflags/ZF", "1"), "1");
    assert_eq!(typed(&session, top, "$sf = 0"), "0");
    let flags = typed(&session, top, "$eflags |= 1 << 11, x");
    assert!(flags.starts_with("0x") && flags.len() == 5, "{flags}");
    assert_eq!(set_expression(&session, top, "$df", "true"), "1");
    for (flag, value, why) in [
        ("$zf", "2", "`$zf` holds 0 or 1, not 2"),
        (
            "$tf",
            "1",
            "flag TF can't be set: it is not the program's own",
        ),
        (
            "$eflags",
            "0",
            "flag IF can't be set: it is not the program's own",
        ),
        (
            "$cs",
            "0",
            "`$cs` can't be set: the system keeps it for itself",
        ),
        (
            "$zg",
            "1",
            "there is no register `$zg`; did you mean `$zf`?",
        ),
    ] {
        let is = set_expression(&session, top, flag, value);
        assert!(is.ends_with(why), "{flag}: {is}");
    }
    session.resume(stop.thread);

    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let top = &stop.top;
    assert_eq!(typed(&session, top, "$xmm3.f32[1]"), "-2.0");
    assert_eq!(typed(&session, top, "$xmm3.v4_int32[1 - 1]"), "1069547520");
    assert_eq!(set(&session, top, "SSE/xmm3/f32/[1]", "12"), "12.0");
    assert_eq!(typed(&session, top, "$xmm3.f32[0] *= -3"), "-4.5");
    assert_eq!(
        set_expression(&session, top, "$xmm3.u64[1]", "0x3f8000003f000000"),
        "4575657222465388544"
    );
    assert_eq!(
        typed(&session, top, "$mxcsr = $mxcsr | 0x4000, x"),
        "0x5f80"
    );
    for (place, value, why) in [
        (
            "$xmm3.f32[4]",
            "1",
            "column 7: there is no such lane: `$xmm3` has the lanes `$xmm3.f32[0]` to `[3]`",
        ),
        (
            "$xmm3.f32",
            "1",
            "column 7: `$xmm3` has the lanes `$xmm3.f32[0]` to `[3]`",
        ),
        (
            "$xmm3.f33[0]",
            "1",
            "column 7: `$xmm3` has no lanes `f33`, but f32, f64, u8, i8, u16, i16, u32, i32, u64, i64: `$xmm3.f32[0]`",
        ),
        (
            "$xmm3.f32[0]",
            "&main",
            "`$xmm3.f32[0]` holds a floating-point number, not 0x",
        ),
        ("$xmm3.u8[0]", "256", "`$xmm3.u8[0]` holds 8 bits, not 256"),
        (
            "$ymm3",
            "1",
            "`$ymm3` is too wide for a number; it has lanes: `$ymm3.f32[0]`, `$ymm3.i64[3]`",
        ),
        ("$mxcsr", "0x10000", "register mxcsr takes 16 bits only"),
    ] {
        let is = set_expression(&session, top, place, value);
        assert!(is.contains(why), "{place}: {is}");
    }
    let whole = set(&session, top, "SSE/xmm3/f32", "1");
    assert!(
        whole.ends_with("`f32` can't be set as a whole; set what is in it"),
        "{whole}"
    );
    session.resume(stop.thread);

    if avx {
        let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
        let top = &stop.top;
        assert_eq!(set(&session, top, "AVX/ymm4/f32/[6]", "-7"), "-7.0");
        assert_eq!(typed(&session, top, "$ymm4.f64[0] = 0"), "0.0");
        assert_eq!(typed(&session, top, "$ymm4.v8_float[7] += 1"), "10.0");
        assert_eq!(
            value(&session, top, "AVX/ymm4/f32"),
            "[0.0, 0.0, 0.25, 8.0, 2.5, 6.0, -7.0, 10.0]"
        );
        session.resume(stop.thread);
    }

    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let top = &stop.top;
    assert_eq!(typed(&session, top, "$st1"), "1.0");
    assert_eq!(set(&session, top, "x87/st0", "2.5"), "2.5");
    assert_eq!(typed(&session, top, "$st1 = -0.125"), "-0.125");
    assert_eq!(typed(&session, top, "$fctrl |= 0x800, x"), "0xb7f");
    let empty = set_expression(&session, top, "$st2", "1");
    assert!(empty.ends_with("`$st2` is empty"), "{empty}");
    let frames = session.stack(stop.thread);
    for place in ["$zf", "$st0", "$xmm3.f32[0]", "$mxcsr"] {
        let lost = set_expression(&session, &frames[1], place, "1");
        assert!(lost.contains("in this frame"), "{place}: {lost}");
        let lost = typed(&session, &frames[1], place);
        assert!(
            lost.ends_with("was not saved in this frame"),
            "{place}: {lost}"
        );
    }
    session.resume(stop.thread);

    session.exit_code();
    let wide = match avx {
        true => "wide 0 0 0.25 8 2.5 6 -7 10\n",
        false => "",
    };
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        format!(
            "zero 1 carry 1 sign 0 overflow 1 backwards 1
low -4.5 12 0.5 1
rounded 3
{wide}top 2.5 next -0.125 rounded 3
"
        )
    );
    session.disconnect();
}
