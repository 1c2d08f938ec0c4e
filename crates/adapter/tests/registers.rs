//! Registers in groups, with what is in their parts.

mod support;

use dapple_dap::types::*;
use serde_json::json;
use support::{Fixture, Session, named};

/// The variable at a path from the scope of registers on: `SSE/xmm3/f32`.
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
    // `xor` of a register with itself.
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

    // Pages, and what is behind the last one.
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
