//! Sessions with a core file: everything can be inspected, and nothing can be run or changed.

use crate::support::{Fixture, Session, core_of, file_of, named};
use dapple_adapter::{WriteCoreArguments, WriteCoreRequest};
use dapple_dap::types::*;
use serde_json::{Value, json};

fn arguments(value: Value) -> AttachRequestArguments {
    serde_json::from_value(value).expect("an object")
}

#[test]
fn a_core_file_shows_stack_values_memory_and_code_and_why_it_ended() {
    let fixture = Fixture::new("faults.c");
    let core = core_of(&fixture, "read_null");
    let session = Session::new();
    session.ok::<AttachRequest>(arguments(json!({"coreFile": core, "debuginfod": true})));
    session.wait_for_written(
        OutputEventCategory::Console,
        "warning: debuginfod servers are not asked for what a core file's modules lack\n",
    );
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
    let what = session.variable(&stop.top, "Locals", "argc");
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
    let code = session.ok::<DisassembleRequest>(DisassembleArguments::new(at.clone(), 3));
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

    let (thread, frame) = (stop.thread, stop.top.id);
    let arguments = session.scope(&stop.top, "Locals").variables_reference;
    let source = Source::new().with_path(fixture.path());
    let line = fixture.line("wild");
    let refusals = [
        session.refused::<ContinueRequest>(ContinueArguments::new(thread)),
        session.refused::<NextRequest>(NextArguments::new(thread)),
        session.refused::<StepInRequest>(StepInArguments::new(thread)),
        session.refused::<StepOutRequest>(StepOutArguments::new(thread)),
        session.refused::<StepInTargetsRequest>(StepInTargetsArguments::new(frame)),
        session.refused::<GotoTargetsRequest>(GotoTargetsArguments::new(source.clone(), line)),
        session.refused::<RestartFrameRequest>(RestartFrameArguments::new(frame)),
        session.refused::<TerminateThreadsRequest>(
            TerminateThreadsArguments::new().with_thread_ids(vec![thread]),
        ),
        session.refused::<SetVariableRequest>(SetVariableArguments::new(arguments, "argc", "3")),
        session.refused::<SetExpressionRequest>(
            SetExpressionArguments::new("sink", "1").with_frame_id(frame),
        ),
        session.refused::<EvaluateRequest>(
            EvaluateArguments::new("sink = 1")
                .with_frame_id(frame)
                .with_context(EvaluateArgumentsContext::Repl),
        ),
        session.refused::<WriteMemoryRequest>(WriteMemoryArguments::new("0x1000", "AAAA")),
        session.refused::<DataBreakpointInfoRequest>(
            DataBreakpointInfoArguments::new("sink").with_frame_id(frame),
        ),
        session.refused::<TerminateRequest>(TerminateArguments::new()),
    ];
    const NO_PROCESS: &str = "this needs a live process; a core file can only be looked at";
    let said: Vec<&str> = refusals.iter().map(|refusal| &*refusal.sentence).collect();
    assert_eq!(said, vec![NO_PROCESS; refusals.len()]);
    // `pause` succeeds, because a core file's threads are always stopped.
    session.ok::<PauseRequest>(PauseArguments::new(thread));
    // These requests give the reason in each breakpoint of the answer.
    let mut answers = session.set_lines(&fixture.path(), &[line]);
    let functions = vec![FunctionBreakpoint::new("main")];
    let functions = SetFunctionBreakpointsArguments::new(functions);
    answers.extend(
        session
            .ok::<SetFunctionBreakpointsRequest>(functions)
            .breakpoints,
    );
    let places = vec![InstructionBreakpoint::new(at.clone())];
    let places = SetInstructionBreakpointsArguments::new(places);
    answers.extend(
        session
            .ok::<SetInstructionBreakpointsRequest>(places)
            .breakpoints,
    );
    let said = answers
        .iter()
        .map(|answer| (answer.verified, answer.message.as_deref()));
    let said: Vec<_> = said.collect();
    assert_eq!(said, vec![(false, Some(NO_PROCESS)); 3]);
    let filters = SetExceptionBreakpointsArguments::new(vec!["cpp_throw".to_owned()]);
    session.ok::<SetExceptionBreakpointsRequest>(filters);
    // The stop can still be inspected.
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
            "attach: `coreFile` /nowhere/core: No such file",
        ),
        (
            json!({"coreFile": fixture.binary}),
            "this is an ELF file, but no core file",
        ),
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

#[test]
fn a_core_file_is_written_of_a_stopped_program_which_goes_on() {
    let fixture = Fixture::new("tour.c");
    let core = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("written-core-{}", std::process::id()));
    let _ = std::fs::remove_file(&core);
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    let write = |path: std::path::PathBuf| WriteCoreArguments { path };
    let relative = session.refused::<WriteCoreRequest>(write("core".into()));
    assert!(
        relative.sentence.contains("no absolute path"),
        "{relative:?}"
    );
    session.ok::<WriteCoreRequest>(write(core.clone()));
    let again = session.refused::<WriteCoreRequest>(write(core.clone()));
    assert!(again.sentence.contains("exists"), "{again:?}");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 3);
    session.disconnect();

    let session = Session::new();
    session.ok::<AttachRequest>(arguments(json!({"coreFile": core})));
    session.configured();
    let stop = session.stopped(StoppedEventReason::Pause);
    assert_eq!(stop.top.line, fixture.line("end"));
    assert_eq!(session.evaluate(&stop.top, "visits"), "3");
    let refused = session.refused::<WriteCoreRequest>(write(core.with_extension("again")));
    assert!(!refused.sentence.is_empty());
    session.disconnect();
    std::fs::remove_file(core).expect("it was written");
}
