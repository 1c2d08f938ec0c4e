//! Sessions with a core file: all can be looked at, and nothing can be done.

mod support;

use dapple_dap::types::*;
use serde_json::{Value, json};
use support::{Fixture, Session, core_of, file_of, named};

fn arguments(value: Value) -> AttachRequestArguments {
    serde_json::from_value(value).expect("an object")
}

#[test]
fn a_core_file_shows_stack_values_memory_and_code_and_why_it_ended() {
    let fixture = Fixture::new("faults.c");
    let core = core_of(&fixture, "read_null");
    let session = Session::new();
    session.ok::<AttachRequest>(arguments(json!({"coreFile": core})));
    session.wait_for::<InitializedEvent>();
    let set = session.set_lines(&fixture.path(), &[fixture.line("wild")]);
    assert!(!set[0].verified);
    let message = set[0].message.clone().unwrap_or_default();
    assert!(
        message.contains("a core file can only be looked at"),
        "{message}"
    );
    session.configured();
    let process = session.wait_for::<ProcessEvent>();
    assert_eq!(
        (process.name, process.system_process_id),
        (fixture.program(), None)
    );
    let stop = session.stopped_at(&fixture, "read_null", StoppedEventReason::Exception);
    assert_eq!(file_of(&stop.top), Some(fixture.path()));
    let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(stop.thread));
    assert_eq!(info.exception_id, "SIGSEGV");
    let description = info.description.unwrap_or_default();
    assert!(description.contains("a null pointer"), "{description}");
    assert_eq!(session.evaluate(&stop.top, "constant[1] + 40"), "42");
    let what = session.variable(&stop.top, "Arguments", "argc");
    assert_eq!(what.value, "2");
    let scope = session.scope(&stop.top, "Registers");
    let groups = session.ok::<VariablesRequest>(VariablesArguments::new(scope.variables_reference));
    let general = &groups.variables[0];
    let general =
        session.ok::<VariablesRequest>(VariablesArguments::new(general.variables_reference));
    let at = stop
        .top
        .instruction_pointer_reference
        .clone()
        .expect("an address");
    assert_eq!(named(&general.variables, "rip").value, at);
    let memory = session.ok::<ReadMemoryRequest>(ReadMemoryArguments::new(at.clone(), 16));
    assert!(
        memory.data.is_some_and(|data| !data.is_empty()),
        "code is read from the program"
    );
    let code = session.ok::<DisassembleRequest>(DisassembleArguments::new(at, 3));
    assert_eq!(code.instructions.len(), 3);
    assert!(
        code.instructions[0].instruction.starts_with("mov"),
        "{code:?}"
    );
    let modules = session
        .ok::<ModulesRequest>(ModulesArguments::new())
        .modules;
    assert!(modules.len() >= 3, "{modules:?}");
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    assert_eq!(threads.len(), 1);

    let refusals = [
        session.refused::<ContinueRequest>(ContinueArguments::new(stop.thread)),
        session.refused::<NextRequest>(NextArguments::new(stop.thread)),
        session.refused::<WriteMemoryRequest>(WriteMemoryArguments::new("0x1000", "AAAA")),
        session.refused::<SetExpressionRequest>(
            SetExpressionArguments::new("sink", "1").with_frame_id(stop.top.id),
        ),
        session.refused::<TerminateRequest>(TerminateArguments::new()),
    ];
    for refusal in refusals {
        assert_eq!(
            refusal.sentence,
            "this needs a live process; a core file can only be looked at"
        );
    }
    // The stop is still there to be looked at.
    assert_eq!(session.evaluate(&stop.top, "constant[1] + 40"), "42");
    session.disconnect();
}

#[test]
fn a_core_file_that_can_not_be_used_is_told_with_the_reason() {
    let fixture = Fixture::new("faults.c");
    let core = core_of(&fixture, "wild");
    for (given, part) in [
        (
            json!({"coreFile": "/nowhere/core"}),
            "/nowhere/core: No such file",
        ),
        (json!({"coreFile": fixture.binary}), "but no core file"),
        (
            json!({"coreFile": core, "program": "/bin/sh"}),
            "is another build than the one that ran",
        ),
        (
            json!({"coreFile": core, "pid": 1}),
            "give neither `pid` nor `waitFor`",
        ),
        (json!({"coreFile": 7}), "`coreFile` must be a string"),
    ] {
        let session = Session::new();
        let failure = session.refused::<AttachRequest>(arguments(given));
        assert!(failure.sentence.contains(part), "{}", failure.sentence);
        session.wait_for::<TerminatedEvent>();
        session.disconnect();
    }
}
