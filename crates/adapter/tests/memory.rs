//! Reading and writing memory byte by byte.

use crate::support::running::Running;
use crate::support::{Fixture, Session, Stopped, initialize_arguments};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use dapple_adapter::ServeOptions;
use dapple_dap::types::*;
use serde_json::json;

const PAGE: i64 = 4096;

/// A session whose client supports memory and invalidated events.
fn told() -> Session {
    let arguments = initialize_arguments()
        .with_supports_memory_event(true)
        .with_supports_invalidated_event(true);
    Session::serving(ServeOptions::default(), arguments)
}

fn started(session: Session, fixture: &Fixture, stops: &[&str]) -> (Session, Stopped) {
    session.launch(fixture, json!({}));
    session.set_breakpoints(fixture, stops);
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    (session, stop)
}

/// The memory reference of an expression's value.
#[track_caller]
fn reference(session: &Session, stop: &Stopped, expression: &str) -> String {
    let arguments = EvaluateArguments::new(expression).with_frame_id(stop.top.id);
    let answer = session.ok::<EvaluateRequest>(arguments);
    answer.memory_reference.expect("a memory reference")
}

fn number(reference: &str) -> u64 {
    u64::from_str_radix(reference.trim_start_matches("0x"), 16).expect("an address")
}

fn bytes(response: &ReadMemoryResponse) -> Vec<u8> {
    let data = response.data.as_deref().unwrap_or_default();
    BASE64.decode(data).expect("base64")
}

#[track_caller]
fn read(session: &Session, reference: &str, offset: i64, count: i64) -> ReadMemoryResponse {
    let arguments = ReadMemoryArguments::new(reference, count).with_offset(offset);
    session.ok::<ReadMemoryRequest>(arguments)
}

fn writing(reference: &str, offset: i64, bytes: &[u8]) -> WriteMemoryArguments {
    WriteMemoryArguments::new(reference, BASE64.encode(bytes)).with_offset(offset)
}

#[track_caller]
fn write(session: &Session, reference: &str, offset: i64, bytes: &[u8]) {
    let answer = session.ok::<WriteMemoryRequest>(writing(reference, offset, bytes));
    assert_eq!(answer.bytes_written, Some(bytes.len() as i64));
    assert_eq!(answer.offset, Some(offset));
}

/// Whether an event of this name has been received.
fn has_come(session: &Session, name: &str) -> bool {
    session
        .untaken_events()
        .iter()
        .any(|event| event.event == name)
}

#[test]
fn frames_are_asked_for_again_where_code_or_a_stack_was_written() {
    let fixture = Fixture::new("memory.c");
    let (session, stop) = started(told(), &fixture, &["begin"]);
    let pc = stop.top.instruction_pointer_reference.clone();
    let places = [
        (reference(&session, &stop, "number"), false),
        (reference(&session, &stop, "local"), true),
        (pc.expect("a reference"), true),
    ];
    for (at, moves_frames) in places {
        let same = bytes(&read(&session, &at, 0, 1));
        write(&session, &at, 0, &same);
        let told = session.wait_for::<InvalidatedEvent>();
        let expected = match moves_frames {
            true => vec![InvalidatedAreas::Stacks, InvalidatedAreas::Variables],
            false => vec![InvalidatedAreas::Variables],
        };
        assert_eq!(told.areas, Some(expected), "{at}");
    }
    session.disconnect();
}

#[test]
fn what_is_written_is_what_the_program_goes_on_with() {
    let fixture = Fixture::new("memory.c");
    let (session, stop) = started(told(), &fixture, &["begin", "print"]);
    assert_eq!(session.variable(&stop.top, "Locals", "local").value, "7");

    let at = reference(&session, &stop, "number");
    assert_eq!(bytes(&read(&session, &at, 0, 4)), [41, 0, 0, 0]);
    write(&session, &at, 0, &[99, 0, 0, 0]);
    let told = session.wait_for::<MemoryEvent>();
    assert_eq!(
        (number(&told.memory_reference), told.offset),
        (number(&at), 0)
    );
    assert_eq!(told.count, 4);
    let told = session.wait_for::<InvalidatedEvent>();
    assert_eq!(told.areas, Some(vec![InvalidatedAreas::Variables]));
    assert_eq!(session.evaluate(&stop.top, "number"), "99");

    // An array's reference is its address, and offsets may be negative.
    let text = reference(&session, &stop, "text");
    write(&session, &text, 3, b"XY");
    let end = format!("{:#x}", number(&text) + 16);
    assert_eq!(bytes(&read(&session, &end, -16, 6)), b"abcXYf");
    assert_eq!(session.evaluate(&stop.top, "text"), "\"abcXYfghijklmno\"");

    // Variables that were listed before the write are listed with the new value.
    let local = reference(&session, &stop, "local");
    write(&session, &local, 0, &[21, 0, 0, 0]);
    assert_eq!(session.variable(&stop.top, "Locals", "local").value, "21");

    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "print", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert_eq!(output, "100 abcXYfghijklmno constant 42\n5 5 1 2\n");
    session.disconnect();
}

#[test]
fn who_cannot_take_events_of_memory_gets_none() {
    let fixture = Fixture::new("memory.c");
    let (session, stop) = started(Session::new(), &fixture, &["begin"]);
    let at = reference(&session, &stop, "number");
    write(&session, &at, 0, &[9]);
    assert_eq!(session.evaluate(&stop.top, "number"), "9");
    assert!(!has_come(&session, "memory") && !has_come(&session, "invalidated"));
    session.disconnect();
}

#[test]
fn a_read_ends_where_memory_does_and_says_how_far_the_gap_goes() {
    let fixture = Fixture::new("memory.c");
    let (session, stop) = started(Session::new(), &fixture, &["begin"]);
    let pages = reference(&session, &stop, "pages");

    let short = read(&session, &pages, PAGE - 6, 10_000);
    assert_eq!(bytes(&short), [0, 0, 0, 0, 0, 1]);
    assert_eq!(short.unreadable_bytes, Some(PAGE));
    assert_eq!(number(&short.address), number(&pages) + 4090);

    // Nothing is readable: the count of unreadable bytes ends with the request, or where memory begins again.
    let none = read(&session, &pages, PAGE + 16, 100);
    assert_eq!(
        (none.data.as_deref(), none.unreadable_bytes),
        (None, Some(100))
    );
    let none = read(&session, &pages, PAGE + 16, PAGE);
    assert_eq!(
        (none.data.as_deref(), none.unreadable_bytes),
        (None, Some(PAGE - 16))
    );
    let behind = read(&session, &pages, 2 * PAGE, 1);
    assert_eq!((bytes(&behind), behind.unreadable_bytes), (vec![2], None));

    let nothing = read(&session, &pages, 0, 0);
    assert_eq!((bytes(&nothing), nothing.unreadable_bytes), (vec![], None));
    let null = read(&session, "0", 0, 8);
    assert_eq!(
        (null.data.as_deref(), null.unreadable_bytes),
        (None, Some(8))
    );
    let kernel = read(&session, "0xffffffff80000000", 0, 8);
    assert_eq!(
        (kernel.data.as_deref(), kernel.unreadable_bytes),
        (None, Some(8))
    );
    session.disconnect();
}

#[test]
fn a_write_that_cannot_be_whole_is_none_unless_a_part_will_do() {
    let fixture = Fixture::new("memory.c");
    let (session, stop) = started(Session::new(), &fixture, &["begin"]);
    let pages = reference(&session, &stop, "pages");
    let wanted = writing(&pages, PAGE - 2, &[8, 9, 10, 11]);
    let refusal = session.refused::<WriteMemoryRequest>(wanted.clone());
    let gap = format!("there is no memory at {:#x}", number(&pages) + 4096);
    assert_eq!(refusal.sentence, gap);
    assert_eq!(bytes(&read(&session, &pages, PAGE - 2, 2)), [0, 1]);

    let partial = session.ok::<WriteMemoryRequest>(wanted.with_allow_partial(true));
    assert_eq!(
        (partial.offset, partial.bytes_written),
        (Some(PAGE - 2), Some(2))
    );
    assert_eq!(bytes(&read(&session, &pages, PAGE - 2, 2)), [8, 9]);

    // Not a single byte can be written here.
    let wanted = writing(&pages, PAGE, &[1]).with_allow_partial(true);
    assert_eq!(session.refused::<WriteMemoryRequest>(wanted).sentence, gap);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert!(output.ends_with("\n5 5 9 2\n"), "{output}");
    session.disconnect();
}

#[test]
fn constants_stay_as_they_are() {
    let fixture = Fixture::new("memory.c");
    let (session, stop) = started(Session::new(), &fixture, &["begin"]);
    let constant = reference(&session, &stop, "constant");
    for partial in [false, true] {
        let wanted = writing(&constant, 0, b"C").with_allow_partial(partial);
        let refusal = session.refused::<WriteMemoryRequest>(wanted).sentence;
        assert!(refusal.contains("is read-only"), "{refusal}");
    }
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert!(output.contains(" constant "), "{output}");
    session.disconnect();
}

#[test]
fn code_is_written_over_under_the_breakpoint_that_is_in_it() {
    let fixture = Fixture::new("memory.c");
    let (session, stop) = started(Session::new(), &fixture, &["answer", "call"]);
    // Passes the breakpoint once, so that displaced stepping has prepared a copy of the old instruction.
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "answer", StoppedEventReason::Breakpoint);
    let at = stop.top.instruction_pointer_reference.clone();
    let at = at.expect("a reference");
    // The bytes of `mov eax, 5`.
    assert_eq!(bytes(&read(&session, &at, 0, 5)), [0xb8, 5, 0, 0, 0]);
    write(&session, &at, 0, &[0xb8, 8, 0, 0, 0]);
    assert_eq!(bytes(&read(&session, &at, 0, 5)), [0xb8, 8, 0, 0, 0]);

    // Removes a call from the line before stepping.
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "call", StoppedEventReason::Breakpoint);
    let at = stop.top.instruction_pointer_reference.clone();
    let at = at.expect("a reference");
    let code = bytes(&read(&session, &at, 0, 16));
    let call = code.iter().position(|byte| *byte == 0xe8).expect("a call");
    write(&session, &at, call as i64, &[0x90; 5]);
    let arguments = StepInArguments::new(stop.thread);
    session.ok::<StepInRequest>(arguments);
    let stop = session.stopped_at(&fixture, "increment", StoppedEventReason::Step);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert_eq!(output, "42 abcdefghijklmno constant 7\n5 8 1 2\n");
    session.disconnect();
}

#[test]
fn watched_data_has_the_value_that_was_written() {
    let fixture = Fixture::new("memory.c");
    let (session, stop) = started(Session::new(), &fixture, &["begin"]);
    let arguments = DataBreakpointInfoArguments::new("number").with_frame_id(stop.top.id);
    let info = session.ok::<DataBreakpointInfoRequest>(arguments);
    let id = info.data_id.expect("it can be watched");
    let wanted = vec![DataBreakpoint::new(id)];
    session.ok::<SetDataBreakpointsRequest>(SetDataBreakpointsArguments::new(wanted));
    let at = reference(&session, &stop, "number");
    write(&session, &at, 0, &[60]);
    session.resume(stop.thread);
    let hit = session.stopped(StoppedEventReason::DataBreakpoint);
    let said = hit.event.description.unwrap_or_default();
    assert_eq!(said, "`number` changed from 60 to 61");
    session.disconnect();
}

#[test]
fn what_is_no_place_in_memory_is_refused_with_a_reason() {
    let fixture = Fixture::new("memory.c");
    let session = Session::new();
    let early = ReadMemoryArguments::new("0x1000", 1);
    let refusal = session.refused::<ReadMemoryRequest>(early);
    assert_eq!(refusal.sentence, "no program is launched yet");
    let (session, stop) = started(Session::new(), &fixture, &["begin"]);
    let at = reference(&session, &stop, "number");
    for (arguments, part) in [
        (
            ReadMemoryArguments::new("number", 1),
            "`number` is no reference to memory",
        ),
        (
            ReadMemoryArguments::new("", 1),
            "`` is no reference to memory",
        ),
        (
            ReadMemoryArguments::new("0xfffffffffffffffff", 1),
            "is no reference",
        ),
        (
            ReadMemoryArguments::new("0x10", 1).with_offset(-17),
            "-17 bytes from 0x10 there can be no memory",
        ),
        (
            ReadMemoryArguments::new(&at, 1 << 40),
            "1099511627776 bytes can't be read",
        ),
    ] {
        let message = session.refused::<ReadMemoryRequest>(arguments).sentence;
        assert!(message.contains(part), "{message}");
    }
    for (reference, data, part) in [
        ("0x0", "AA==", "there is no memory at 0x0"),
        (&*at, "A", "the data is no base64"),
        (&*at, "!!!!", "the data is no base64"),
        (
            "0xffffffffffffffff",
            "AAAA",
            "there is no memory at 0xffffffffffffffff",
        ),
        ("elsewhere", "AA==", "`elsewhere` is no reference to memory"),
    ] {
        let arguments = WriteMemoryArguments::new(reference, data);
        let message = session.refused::<WriteMemoryRequest>(arguments).sentence;
        assert!(message.contains(part), "{message}");
    }
    // Base64 without padding is accepted, and an empty string writes no bytes.
    session.ok::<WriteMemoryRequest>(WriteMemoryArguments::new(&at, "Kg"));
    assert_eq!(session.evaluate(&stop.top, "number"), "42");
    let none = session.ok::<WriteMemoryRequest>(WriteMemoryArguments::new(&at, ""));
    assert_eq!(none.bytes_written, Some(0));
    session.disconnect();
}

#[test]
fn memory_is_read_while_the_program_runs_and_written_when_it_is_stopped() {
    let fixture = Fixture::new("flood.c");
    let session = Session::started(&fixture, json!({"args": ["count"]}), &[]);
    let modules = session
        .ok::<ModulesRequest>(ModulesArguments::new())
        .modules;
    let range = modules[0].address_range.clone().expect("a range");
    let (start, _) = range.split_once('-').expect("two addresses");
    assert_eq!(bytes(&read(&session, start, 0, 4)), b"\x7fELF");
    let refusal = session.refused::<WriteMemoryRequest>(writing(start, 0, &[1]));
    assert_eq!(refusal.message.as_deref(), Some("notStopped"));
    session.disconnect();
}

#[test]
fn what_was_written_into_a_process_stays_when_that_is_let_go() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    let attach = json!({"pid": running.pid()});
    let attach = serde_json::from_value(attach).expect("an object");
    session.ok::<AttachRequest>(attach);
    session.wait_for::<InitializedEvent>();
    session.set_breakpoints(&fixture, &["work"]);
    session.configured();
    running.tell("work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    let at = stop.top.instruction_pointer_reference.clone();
    let at = at.expect("a reference");
    // Replaces `mov eax, [worked]` with `mov eax, 41` and a `nop`, at the breakpoint itself.
    assert_eq!(bytes(&read(&session, &at, 0, 2)), [0x8b, 0x05]);
    write(&session, &at, 0, &[0xb8, 41, 0, 0, 0, 0x90]);
    session.resume(stop.thread);
    assert_eq!(running.line(), "worked 42");
    running.tell("work");
    session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    write(&session, &at, 1, &[42]);
    assert_eq!(bytes(&read(&session, &at, 0, 2)), [0xb8, 42]);
    session.disconnect();
    assert_eq!(running.line(), "worked 43");
    assert_eq!(running.ask("work"), "worked 43");
}
