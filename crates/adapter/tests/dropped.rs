//! Variables and functions that the linker has dropped: they have no value and no code, whatever address the debug information gives.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// Checks that dropped variables are in no list, and that reading or setting one fails with a reason. `kept` is a variable that is in the
/// program.
fn check(fixture: &Fixture, dropped: &[&str], kept: &str) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({}), &["main"]);
    let stop = session.stopped_at(fixture, "main", StoppedEventReason::Breakpoint);
    let statics = session.scope(&stop.top, "Statics").variables_reference;
    let statics = session.variables(statics);
    let listed: Vec<&str> = statics.iter().map(|one| one.name.as_str()).collect();
    assert!(listed.iter().any(|name| name.ends_with(kept)), "{listed:?}");
    for name in dropped {
        let last = name.rsplit("::").next().unwrap_or(name);
        assert!(!listed.iter().any(|one| one.ends_with(last)), "{listed:?}");
        assert_eq!(session.evaluate(&stop.top, name), "<dropped by the linker>");
        let sum = EvaluateArguments::new(format!("{name} + 1")).with_frame_id(stop.top.id);
        let sum = session.refused::<EvaluateRequest>(sum).to_string();
        assert!(sum.contains("dropped by the linker"), "{sum}");
        let set = SetExpressionArguments::new(*name, "7").with_frame_id(stop.top.id);
        let refused = session.refused::<SetExpressionRequest>(set).to_string();
        let of_other_type = refused.contains("it takes");
        assert!(
            refused.contains("dropped by the linker") || of_other_type,
            "{refused}"
        );
        let watch = DataBreakpointInfoArguments::new(*name).with_frame_id(stop.top.id);
        let info = session.ok::<DataBreakpointInfoRequest>(watch);
        assert!(info.data_id.is_none(), "{info:?}");
        assert!(
            info.description.contains("dropped by the linker"),
            "{info:?}"
        );
        let column = i64::try_from(name.len()).unwrap() + 1;
        let completions = CompletionsArguments::new(*name, column).with_frame_id(stop.top.id);
        let targets = session.ok::<CompletionsRequest>(completions).targets;
        assert!(
            targets.iter().all(|found| found.label != last),
            "{targets:?}"
        );
    }
    assert_eq!(session.evaluate(&stop.top, kept), "77");
    (session, stop)
}

/// Checks that breakpoints on a dropped line and on a dropped function aren't set anywhere.
fn check_code(fixture: &Fixture, session: Session, stop: &Stopped) {
    let line = session.set_lines(&fixture.path(), &[fixture.line("never")]);
    assert_ne!(
        line[0].line.filter(|_| line[0].verified),
        Some(fixture.line("never")),
        "{line:?}"
    );
    let wanted = SetFunctionBreakpointsArguments::new(vec![FunctionBreakpoint::new("never")]);
    let set = session.ok::<SetFunctionBreakpointsRequest>(wanted);
    assert!(!set.breakpoints[0].verified, "{set:?}");
    session.set_lines(&fixture.path(), &[]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn c_without_what_nothing_uses() {
    let sections = [
        "-ffunction-sections",
        "-fdata-sections",
        "-Wl,--gc-sections",
    ];
    let dropped = ["dropped", "table"];
    let linkings: [&[&str]; 4] = [
        &["-g"],
        &["-g", "-no-pie"],
        // The code is in one segment with the ELF header, so that 0 is an address in that segment.
        &["-g", "-Wl,-z,noseparate-code"],
        &["-g", "-gdwarf-4"],
    ];
    for linking in linkings {
        let fixture = Fixture::compiled_with("gcc", "dropped.c", &[linking, &sections].concat());
        let (session, stop) = check(&fixture, &dropped, "kept");
        check_code(&fixture, session, &stop);
    }
    let lld = ["-g", "-gsplit-dwarf"];
    let fixture = Fixture::compiled_with("gcc", "dropped.c", &[&lld[..], &sections].concat());
    let (session, stop) = check(&fixture, &dropped, "kept");
    check_code(&fixture, session, &stop);
}

#[test]
fn rust_without_what_nothing_uses() {
    let dropped = ["UNUSED", "CHANGED", "inside::UNUSED_TOO"];
    for flags in [&["-g"][..], &["-g", "-Clinker-features=-lld"]] {
        let fixture = Fixture::compiled_with("rustc", "dropped.rs", flags);
        let (session, stop) = check(&fixture, &dropped, "KEPT");
        check_code(&fixture, session, &stop);
    }
}
