//! Breakpoints under ids that stay, with adapters of every kind: answers with and without ids, too many and too few, and events.

use std::sync::{Arc, Mutex};

use dapple_dap::client::breakpoints::{
    Arguments, BreakpointId, Breakpoints, Change, Entry, Problem, Update, Wanted,
};
use dapple_dap::testing::TestClient;
use dapple_dap::types::*;
use dapple_dap::{Client, Failure, Server};

fn all() -> Capabilities {
    Capabilities::new()
        .with_supports_function_breakpoints(true)
        .with_supports_data_breakpoints(true)
        .with_supports_instruction_breakpoints(true)
}

/// The one request to send.
fn update(breakpoints: &Breakpoints) -> Update {
    let mut updates = breakpoints.updates(&all());
    assert_eq!(updates.len(), 1, "{updates:?}");
    updates.remove(0)
}

/// The file and the lines of a request.
fn lines(update: &Update) -> (String, Vec<i64>) {
    let Arguments::Source(arguments) = update.arguments() else {
        panic!("not for a source: {update:?}");
    };
    let lines = arguments
        .breakpoints
        .as_ref()
        .expect("they are always there");
    let path = arguments.source.path.clone().expect("a path");
    (path, lines.iter().map(|asked| asked.line).collect())
}

fn verified(id: i64, line: i64) -> Breakpoint {
    Breakpoint::new(true).with_id(id).with_line(line)
}

fn event(reason: BreakpointEventReason, breakpoint: Breakpoint) -> BreakpointEventBody {
    BreakpointEventBody::new(reason, breakpoint)
}

/// Two breakpoints in a file, answered with the ids 71 and 72.
fn two() -> (Breakpoints, BreakpointId, BreakpointId) {
    let mut breakpoints = Breakpoints::new();
    let one = breakpoints.add(Wanted::line("/a.c", 3));
    let two = breakpoints.add(Wanted::line("/a.c", 9));
    let update = update(&breakpoints);
    assert_eq!(lines(&update), ("/a.c".to_owned(), vec![3, 9]));
    let changes = breakpoints.answered(&update, vec![verified(71, 3), verified(72, 10)]);
    assert_eq!(changes, [Change::Changed(one), Change::Changed(two)]);
    assert!(breakpoints.updates(&all()).is_empty());
    (breakpoints, one, two)
}

fn entry(breakpoints: &Breakpoints, id: BreakpointId) -> &Entry {
    breakpoints
        .get(id)
        .unwrap_or_else(|| panic!("{id} is gone"))
}

#[test]
fn an_id_stays_while_the_adapters_ids_change() {
    let (mut breakpoints, one, two) = two();
    assert_eq!(entry(&breakpoints, two).line(), Some(10));
    let three = breakpoints.add(Wanted::line("/a.c", 5));
    breakpoints.remove(one).expect("it was there");
    let request = update(&breakpoints);
    assert_eq!(lines(&request).1, [9, 5]);
    breakpoints.answered(&request, vec![verified(1, 10), verified(2, 5)]);
    let gone = event(
        BreakpointEventReason::Changed,
        Breakpoint::new(false).with_id(72),
    );
    assert_eq!(breakpoints.event(&gone), [], "72 is an id of before");
    let moved = event(BreakpointEventReason::Changed, verified(2, 6));
    assert_eq!(breakpoints.event(&moved), [Change::Changed(three)]);
    assert_eq!(breakpoints.event(&moved), [], "this is known");
    assert_eq!(entry(&breakpoints, three).line(), Some(6));
    // The place that is wanted is what is sent, wherever the adapter has moved it.
    breakpoints.resend(Wanted::line("/a.c", 1).set());
    assert_eq!(lines(&update(&breakpoints)).1, [9, 5]);
    // Numbers are not used again.
    assert_eq!(breakpoints.add(Wanted::line("/b.c", 1)), BreakpointId(4));
}

#[test]
fn only_sets_with_a_change_are_sent_and_an_empty_one_when_its_last_goes() {
    let (mut breakpoints, one, two) = two();
    let other = breakpoints.add(Wanted::line("/b.c", 1));
    assert_eq!(lines(&update(&breakpoints)), ("/b.c".to_owned(), vec![1]));
    breakpoints.remove(other);
    let request = update(&breakpoints);
    assert_eq!(lines(&request), ("/b.c".to_owned(), vec![]));
    breakpoints.answered(&request, vec![]);
    assert_eq!(breakpoints.take_problems(), []);

    breakpoints.put(one, Wanted::line("/a.c", 3));
    assert!(
        breakpoints.updates(&all()).is_empty(),
        "nothing is different"
    );
    let conditional = SourceBreakpoint::new(3).with_condition("n > 1");
    breakpoints.put(one, Wanted::in_file("/a.c", conditional));
    assert_eq!(lines(&update(&breakpoints)).1, [3, 9]);
    // To another file: both files have a change.
    breakpoints.put(two, Wanted::line("/c.c", 2));
    let updates = breakpoints.updates(&all());
    let sent: Vec<_> = updates.iter().map(lines).collect();
    assert_eq!(
        sent,
        [("/a.c".to_owned(), vec![3]), ("/c.c".to_owned(), vec![2])]
    );
    assert!(
        !entry(&breakpoints, two).is_verified(),
        "nothing is said of the new place"
    );
}

#[test]
fn a_change_while_the_answer_is_on_its_way_is_sent_afterwards() {
    let mut breakpoints = Breakpoints::new();
    let one = breakpoints.add(Wanted::line("/a.c", 3));
    let two = breakpoints.add(Wanted::line("/a.c", 9));
    let request = update(&breakpoints);
    breakpoints.remove(one);
    let three = breakpoints.add(Wanted::line("/a.c", 4));
    breakpoints.answered(&request, vec![verified(1, 3), verified(2, 9)]);
    assert_eq!(
        entry(&breakpoints, two)
            .answer
            .as_ref()
            .and_then(|it| it.id),
        Some(2)
    );
    assert!(!entry(&breakpoints, three).is_verified());
    assert_eq!(lines(&update(&breakpoints)).1, [9, 4]);
}

#[test]
fn functions_data_and_instructions_are_sent_to_adapters_that_have_them() {
    let mut breakpoints = Breakpoints::new();
    let main = breakpoints.add(Wanted::function("main"));
    breakpoints.add(Wanted::Data {
        breakpoint: DataBreakpoint::new("x"),
        persists: false,
    });
    breakpoints.add(Wanted::Instruction(
        InstructionBreakpoint::new("0x10").with_offset(4),
    ));
    assert!(breakpoints.updates(&Capabilities::new()).is_empty());
    let updates = breakpoints.updates(&all());
    let [function, data, instruction] = &updates[..] else {
        panic!("{updates:?}");
    };
    let Arguments::Function(functions) = function.arguments() else {
        panic!("{function:?}");
    };
    assert_eq!(functions.breakpoints[0].name, "main");
    let Arguments::Data(watched) = data.arguments() else {
        panic!("{data:?}");
    };
    assert_eq!(watched.breakpoints[0].data_id, "x");
    let Arguments::Instruction(instructions) = instruction.arguments() else {
        panic!("{instruction:?}");
    };
    assert_eq!(instructions.breakpoints[0].offset, Some(4));
    breakpoints.answered(function, vec![verified(5, 12)]);
    assert_eq!(breakpoints.updates(&all()).len(), 2);
    let stopped = StoppedEventBody::new(StoppedEventReason::FunctionBreakpoint);
    let stopped = stopped.with_hit_breakpoint_ids(vec![4, 5]);
    let hit: Vec<_> = breakpoints.hit(&stopped).map(|entry| entry.id).collect();
    assert_eq!(hit, [main]);
}

#[test]
fn answers_without_ids_go_by_order_and_events_without_ids_by_place() {
    let mut breakpoints = Breakpoints::new();
    let one = breakpoints.add(Wanted::line("/a.c", 3));
    breakpoints.add(Wanted::line("/b.c", 3));
    for update in breakpoints.updates(&all()) {
        let answer = vec![Breakpoint::new(false).with_message("not loaded yet")];
        breakpoints.answered(&update, answer);
    }
    assert_eq!(entry(&breakpoints, one).message(), Some("not loaded yet"));
    let place = Source::new().with_path("/a.c");
    let loaded = Breakpoint::new(true)
        .with_source(place.clone())
        .with_line(3);
    let loaded = event(BreakpointEventReason::Changed, loaded);
    assert_eq!(breakpoints.event(&loaded), [Change::Changed(one)]);
    assert!(entry(&breakpoints, one).is_verified());
    assert_eq!(entry(&breakpoints, one).message(), None);
    assert_eq!(breakpoints.take_problems(), []);

    let nowhere = Breakpoint::new(true).with_source(place).with_line(4);
    for unknown in [nowhere, Breakpoint::new(true)] {
        let unknown = event(BreakpointEventReason::Changed, unknown);
        assert_eq!(breakpoints.event(&unknown), []);
        let problems = breakpoints.take_problems();
        assert!(
            matches!(&problems[..], [Problem::Unidentified(_)]),
            "{problems:?}"
        );
    }
}

#[test]
fn answers_of_a_wrong_number_are_a_problem_and_go_by_line() {
    for count in [0, 1, 3] {
        let (mut breakpoints, one, two) = two();
        let three = breakpoints.add(Wanted::line("/a.c", 12));
        let request = update(&breakpoints);
        let mut answers = vec![verified(9, 12), verified(8, 3)];
        answers.truncate(count);
        answers.extend((2..count).flat_map(|id| [verified(id as i64, 77), verified(6, 78)]));
        let answered = answers.len();
        breakpoints.answered(&request, answers);
        let problems = breakpoints.take_problems();
        let [
            Problem::WrongCount {
                asked: 3,
                answered: told,
                ..
            },
        ] = &problems[..]
        else {
            panic!("{problems:?}");
        };
        assert_eq!(*told, answered);
        let text = problems[0].to_string();
        assert_eq!(
            text,
            format!("of 3 breakpoints for `/a.c`, {answered} were answered")
        );
        assert_eq!(entry(&breakpoints, three).is_verified(), count > 0);
        assert_eq!(entry(&breakpoints, one).is_verified(), count > 1);
        assert!(
            !entry(&breakpoints, two).is_verified(),
            "nothing is known of it"
        );
    }
    let mut breakpoints = Breakpoints::new();
    let main = breakpoints.add(Wanted::function("main"));
    let other = breakpoints.add(Wanted::function("other"));
    breakpoints.answered(&update(&breakpoints), vec![verified(1, 3)]);
    assert!(entry(&breakpoints, main).is_verified());
    assert!(!entry(&breakpoints, other).is_verified());
    assert_eq!(breakpoints.take_problems().len(), 1);
}

#[test]
fn what_the_adapter_removes_is_not_sent_again_unless_it_is_put_back() {
    let (mut breakpoints, one, two) = two();
    let removed = event(
        BreakpointEventReason::Removed,
        Breakpoint::new(false).with_id(71),
    );
    let changes = breakpoints.event(&removed);
    let [Change::Removed(entry)] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(entry.id, one);
    assert_eq!(breakpoints.event(&removed), []);
    assert!(breakpoints.updates(&all()).is_empty());
    breakpoints.put(one, entry.wanted.clone().expect("the user's"));
    assert_eq!(lines(&update(&breakpoints)).1, [9, 3]);
    assert_eq!(
        breakpoints.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [two, one]
    );
}

#[test]
fn what_the_adapter_sets_by_itself_gets_an_id_too() {
    let (mut breakpoints, ..) = two();
    let place = Source::new().with_path("/a.c");
    let own = event(
        BreakpointEventReason::New,
        verified(80, 20).with_source(place),
    );
    let changes = breakpoints.event(&own);
    let [Change::Added(id)] = changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(id, BreakpointId(3));
    assert_eq!(breakpoints.event(&own), [], "it is known");
    assert!(breakpoints.updates(&all()).is_empty());
    // A request replaces all breakpoints of the source, so this one has to be in it.
    breakpoints.add(Wanted::line("/a.c", 21));
    assert_eq!(lines(&update(&breakpoints)).1, [3, 9, 20, 21]);
    let nowhere = event(
        BreakpointEventReason::New,
        Breakpoint::new(true).with_id(81),
    );
    assert_eq!(
        breakpoints.event(&nowhere),
        [Change::Added(BreakpointId(5))]
    );
    assert_eq!(lines(&update(&breakpoints)).1, [3, 9, 20, 21]);
    let removed = breakpoints.remove(id).expect("it may be removed");
    assert!(removed.is_adapters);
}

/// Some adapters tell of a breakpoint as new before they answer the request for it.
#[test]
fn a_new_event_before_the_answer_is_the_same_breakpoint() {
    let mut breakpoints = Breakpoints::new();
    let one = breakpoints.add(Wanted::line("/a.c", 3));
    let request = update(&breakpoints);
    let early = event(BreakpointEventReason::New, verified(5, 3));
    assert_eq!(breakpoints.event(&early), [Change::Added(BreakpointId(2))]);
    let changes = breakpoints.answered(&request, vec![verified(5, 3)]);
    let [Change::Changed(id), Change::Removed(double)] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!((*id, double.id), (one, BreakpointId(2)));
    assert_eq!(breakpoints.iter().count(), 1);
}

#[test]
fn a_restart_keeps_the_ids_and_sends_all_again() {
    let (mut breakpoints, one, two) = two();
    let persistent = breakpoints.add(Wanted::Data {
        breakpoint: DataBreakpoint::new("global"),
        persists: true,
    });
    let local = breakpoints.add(Wanted::Data {
        breakpoint: DataBreakpoint::new("frame 1"),
        persists: false,
    });
    let by_reference = Source::new().with_name("eval").with_source_reference(7);
    let generated = breakpoints.add(Wanted::Source(
        Box::new(by_reference),
        SourceBreakpoint::new(1),
    ));
    breakpoints.event(&event(
        BreakpointEventReason::New,
        Breakpoint::new(true).with_id(80),
    ));
    breakpoints.put(one, Wanted::line("/a.c", 4));
    let late = breakpoints.updates(&all()).remove(0);
    let ended = breakpoints.restarted();
    let ended: Vec<_> = ended.iter().map(|entry| entry.id).collect();
    assert_eq!(ended, [local, generated, BreakpointId(6)]);
    assert!(breakpoints.iter().all(|entry| entry.answer.is_none()));
    let changes = breakpoints.answered(&late, vec![verified(1, 4), verified(2, 9)]);
    assert_eq!(changes, [], "an answer of the old session");

    let updates = breakpoints.updates(&all());
    assert_eq!(updates.len(), 2);
    assert_eq!(lines(&updates[0]).1, [4, 9]);
    breakpoints.answered(&updates[0], vec![verified(1, 4), verified(2, 9)]);
    assert!(entry(&breakpoints, two).is_verified());
    assert!(!entry(&breakpoints, persistent).is_verified());
}

/// An adapter that refuses the file `/bad.c` and functions, and counts its ids on with each request.
fn adapter(log: Arc<Mutex<Vec<String>>>) -> Server<i64> {
    Server::builder()
        .on::<SetBreakpointsRequest>(move |last: &mut i64, asked, context| {
            let path = asked.source.path.unwrap_or_default();
            log.lock().unwrap().push(path.clone());
            if path == "/bad.c" {
                return Err(Failure::new("this file is bad"));
            }
            let asked = asked.breakpoints.unwrap_or_default().into_iter();
            let answers: Vec<_> = asked
                .map(|asked| {
                    *last += 1;
                    Breakpoint::new(false).with_id(*last).with_line(asked.line)
                })
                .collect();
            for answer in &answers {
                let mut loaded = answer.clone();
                loaded.verified = true;
                let reason = BreakpointEventReason::Changed;
                context
                    .outbox()
                    .event::<BreakpointEvent>(event(reason, loaded));
            }
            Ok(SetBreakpointsResponse::new(answers))
        })
        .on::<SetFunctionBreakpointsRequest>(|_, _, _| Err(Failure::new("no functions")))
        .build()
}

#[test]
fn a_set_that_is_refused_stays_unsent_and_the_others_are_sent() {
    let log = Arc::<Mutex<Vec<String>>>::default();
    let (client, session) = TestClient::of(&adapter(log.clone()), 0);
    client.initialize();
    let mut breakpoints = Breakpoints::new();
    breakpoints.add(Wanted::line("/bad.c", 1));
    breakpoints.add(Wanted::function("main"));
    let good = breakpoints.add(Wanted::line("/good.c", 1));
    let client_: &Client = &client;
    let error = breakpoints.send(client_).expect_err("one is refused");
    assert_eq!(error.to_string(), "this file is bad");
    assert!(!entry(&breakpoints, good).is_verified());
    let loaded = client.wait_for::<BreakpointEvent>();
    assert_eq!(breakpoints.event(&loaded), [Change::Changed(good)]);
    assert!(entry(&breakpoints, good).is_verified());
    breakpoints.send(client_).expect_err("again");
    assert_eq!(*log.lock().unwrap(), ["/bad.c", "/good.c", "/bad.c"]);
    client.disconnect();
    session.join().expect("it ends");
}

#[test]
fn a_breakpoint_that_is_removed_while_its_set_is_sent_is_not_left_at_the_adapter() {
    let (mut breakpoints, one, _) = two();
    breakpoints.add(Wanted::line("/a.c", 5));
    let request = update(&breakpoints);
    assert_eq!(lines(&request).1, [3, 9, 5]);
    // The adapter removes it, then receives the request, and sets it again.
    let removed = event(BreakpointEventReason::Removed, verified(71, 3));
    let changes = breakpoints.event(&removed);
    assert!(
        matches!(&changes[..], [Change::Removed(entry)] if entry.id == one),
        "{changes:?}"
    );
    let answers = vec![verified(71, 3), verified(72, 10), verified(73, 5)];
    breakpoints.answered(&request, answers);
    let request = update(&breakpoints);
    assert_eq!(lines(&request).1, [9, 5]);
    breakpoints.answered(&request, vec![verified(72, 10), verified(73, 5)]);
    assert!(breakpoints.updates(&all()).is_empty());
}

#[test]
fn an_adapters_own_breakpoint_that_is_put_is_the_users() {
    let mut breakpoints = Breakpoints::new();
    let place = Source::new().with_path("/a.c");
    let set = verified(80, 3).with_source(place);
    breakpoints.event(&event(BreakpointEventReason::New, set));
    let id = BreakpointId(1);
    let wanted = entry(&breakpoints, id).wanted.clone().expect("its place");
    breakpoints.put(id, wanted);
    assert!(!entry(&breakpoints, id).is_adapters);
    assert!(breakpoints.updates(&all()).is_empty(), "it is set already");
    assert_eq!(breakpoints.restarted(), []);
    assert_eq!(lines(&update(&breakpoints)).1, [3]);
}
