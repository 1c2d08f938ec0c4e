//! Running backwards, as a table: `travel_table.tsv`. Its programs keep what they know themselves of the writes of one variable, each with its line and thread.
//!
//! Rows of one scenario that follow each other share a session; in the end, the program runs on from the present and has to end well. The columns:
//!
//! - the program: `c`, `cpp`, `rust` or `threads`, with `-O2` if it is optimised;
//! - the scenario, the program's argument;
//! - where the session runs to before: a mark, perhaps with `if` and a condition, `present`, or `.` for where the row before has ended;
//! - what is done there:
//!   - `who EXPRESSION` asks for all its writes, `last EXPRESSION` for the last one;
//!   - `back`, `back statement` and `back instruction` step back, as often as stops are expected;
//!   - `lines N` and `instructions N` step over as many, and back the same way;
//!   - `reverse` runs back, as often as stops are expected, to a `MARK`, perhaps with `if` and a condition; to `watch EXPRESSION`; or to what the filter `on FILTER` lets stop;
//!   - `refused` steps back;
//! - what must be seen: `known`, what the program knows (with what is said at the beginning: `call` or `beginning`); or marks with the values of expressions, in the
//!   order in which they are come to, with `<` between them.

use crate::support::fixture::{Linking, Optimization};
use crate::support::listed::crates;
use crate::support::{Fixture, Session, Stopped, file_of};
use dapple_adapter::{
    GoToMomentArguments, GoToMomentRequest, Moment, NamedMoment, RecordRequest, ShownWrite,
    WhoArguments, WhoRequest, WhoResponse,
};
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A row of the table.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    /// The number of its line, for whoever reads a failure.
    #[allow(dead_code, reason = "`Debug` shows it")]
    line: usize,
    program: &'a str,
    scenario: &'a str,
    from: &'a str,
    does: &'a str,
    sees: &'a str,
}

fn table() -> String {
    let path = crates().join("adapter/tests/travel_table.tsv");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rows(table: &str) -> Vec<Row<'_>> {
    let lines = table.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    let row = |(index, line)| {
        let cells: Vec<&str> = str::split(line, '\t').collect();
        let [program, scenario, from, does, sees] = cells[..] else {
            panic!("line {} has {} columns", index + 1, cells.len());
        };
        Row {
            line: index + 1,
            program,
            scenario,
            from,
            does,
            sees,
        }
    };
    lines.map(row).collect()
}

fn built(program: &str) -> Fixture {
    let (name, optimization) = match program.strip_suffix("-O2") {
        Some(name) => (name, Optimization::Full),
        None => (program, Optimization::None),
    };
    let source = match name {
        "c" => "travel_table.c",
        "threads" => "travel_table_threads.c",
        "cpp" => "travel_table.cpp",
        "rust" => "travel_table.rs",
        other => panic!("there is no program {other}"),
    };
    Fixture::built(source, optimization, Linking::Pie)
}

/// A write, as the program knows it or as the debugger says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    /// The mark of the line.
    mark: String,
    thread: i64,
    before: Option<String>,
    after: String,
}

/// A session of some rows.
struct Ride<'a> {
    session: Session,
    fixture: &'a Fixture,
    library: &'a Fixture,
    is_rust: bool,
    stop: Stopped,
}

const ENDS: [(&str, &str); 2] = [
    (
        "call",
        "nothing has written it since its function was called",
    ),
    (
        "beginning",
        "nothing has written it since the recording began",
    ),
];

impl<'a> Ride<'a> {
    /// Launches a program, and runs to a mark.
    fn begun(
        first: Row<'_>,
        fixture: &'a Fixture,
        library: &'a Fixture,
        recorded: Recorded,
    ) -> Ride<'a> {
        let session = Session::new();
        let arguments = [first.scenario.to_owned(), library.program()];
        let from_main = recorded == Recorded::FromMain;
        session.launch(
            fixture,
            json!({"record": !from_main, "stopAtEntry": from_main, "args": arguments}),
        );
        let at = breakpoint(fixture, library, first.from);
        session.set_source(fixture, vec![at]);
        session.ok::<SetExceptionBreakpointsRequest>(SetExceptionBreakpointsArguments::new(
            Vec::new(),
        ));
        session.configured();
        if from_main {
            let stop = session.stopped(StoppedEventReason::Entry);
            session.ok::<RecordRequest>(Empty);
            session.resume(stop.thread);
        }
        let stop = session.stopped(StoppedEventReason::Breakpoint);
        Ride {
            session,
            fixture,
            library,
            is_rust: first.program.starts_with("rust"),
            stop,
        }
    }

    /// The mark of a frame's line; `None`: it is in no source of the program.
    fn mark(&self, frame: &StackFrame) -> Option<String> {
        let file = file_of(frame)?;
        let all = [self.fixture, self.library].into_iter();
        let source = { all }.find(|fixture| fixture.path() == file)?;
        Some(source.mark_of(frame.line))
    }

    /// The innermost frame that is in the program's source.
    fn own_frame(&self) -> StackFrame {
        let stack = self.session.stack(self.stop.thread);
        let own = { stack.into_iter() }.find(|frame| self.mark(frame).is_some());
        own.expect("a frame of the program's own")
    }

    /// What the program knows of its writes, the last one first.
    fn known(&self, is_static: bool) -> Vec<Known> {
        let frame = self.own_frame();
        let value = |text: &str| {
            let text = match self.is_rust {
                true => text.to_uppercase(),
                false => text.to_owned(),
            };
            self.session.evaluate(&frame, &text)
        };
        let count: usize = value("writes").parse().expect("a number");
        assert!(count > 0, "the program has noted nothing");
        let member = |index: usize, member: &str| {
            let name = value_name(self.is_rust, index);
            self.session.evaluate(&frame, &format!("{name}.{member}"))
        };
        let number = |text: String| text.parse::<i64>().expect("a number");
        let all = (0..count).map(|index| Known {
            mark: self.fixture.mark_of(number(member(index, "line"))),
            thread: number(member(index, "thread")),
            before: match index {
                0 => is_static.then(|| "0".to_owned()),
                _ => Some(member(index - 1, "value")),
            },
            after: member(index, "value"),
        });
        let mut all: Vec<Known> = all.collect();
        all.reverse();
        all
    }

    fn who(&self, name: &str, before: Option<u32>) -> WhoResponse {
        self.session.ok::<WhoRequest>(WhoArguments {
            name: name.to_owned(),
            frame_id: Some(self.own_frame().id),
            before,
            ..WhoArguments::default()
        })
    }

    /// A write that the debugger has found.
    fn written(&self, write: &ShownWrite) -> Known {
        let own = write.stack.iter().find(|frame| {
            let path = { frame.source.as_ref() }.and_then(|source| source.path.clone());
            path == Some(self.fixture.path())
        });
        Known {
            mark: own.map_or_else(String::new, |frame| self.fixture.mark_of(frame.line)),
            thread: write.thread_id,
            before: write.before.clone(),
            after: write.after.clone(),
        }
    }

    /// All writes are those that the program knows, or those of the row.
    fn asks_for_all(&self, name: &str, sees: &str) {
        let (writes, end) = sees.rsplit_once(", ").expect("writes and the end");
        let mut found = Vec::new();
        let mut before = None;
        let said = loop {
            let answer = self.who(name, before);
            let Some(write) = answer.write else {
                break answer.text;
            };
            found.push(self.written(&write));
            assert!(found.len() <= 64, "{found:?}");
            before = write.bookmark;
            assert!(before.is_some(), "{found:?}");
        };
        match writes {
            "known" => assert_eq!(found, self.known(end == "beginning")),
            _ => assert_eq!(shown_all(&found), writes),
        }
        let end = ENDS.iter().find(|(word, _)| *word == end);
        assert_eq!(said, end.expect("a known end").1);
    }

    fn asks_for_last(&self, name: &str, sees: &str) {
        let write = self.who(name, None).write.expect("a write");
        let call = { write.system_call.as_ref() }.map(|call| format!(" by {call}"));
        let shown = shown_all(&[self.written(&write)]) + &call.unwrap_or_default();
        assert_eq!(shown, sees);
    }

    /// Checks where the stop is, and values there.
    fn sees(&self, expected: &str, at_top: bool) {
        let (mark, values) = match expected.split_once('(') {
            Some((mark, values)) => (mark, values.trim_end_matches(')')),
            None => (expected, ""),
        };
        let frame = match at_top {
            true => self.stop.top.clone(),
            false => self.own_frame(),
        };
        let at = self.mark(&frame);
        assert_eq!(
            at.as_deref(),
            Some(mark),
            "stopped in {} at line {}",
            frame.name,
            frame.line
        );
        for value in values.split("; ").filter(|value| !value.is_empty()) {
            let (expression, expected) = value.rsplit_once('=').expect("a value");
            let shown = self.session.evaluate(&frame, expression);
            assert_eq!(shown, expected, "{expression} at {mark}");
        }
    }

    fn steps_back(&mut self, granularity: Option<SteppingGranularity>) {
        let mut back = StepBackArguments::new(self.stop.thread);
        back.granularity = granularity;
        self.session.ok::<StepBackRequest>(back);
        self.stop = self.session.stopped(StoppedEventReason::Step);
    }

    fn steps_over(&mut self, granularity: SteppingGranularity) {
        let next = NextArguments::new(self.stop.thread).with_granularity(granularity);
        self.session.ok::<NextRequest>(next);
        self.stop = self.session.stopped(StoppedEventReason::Step);
    }

    /// Steps over so many, and back the same way.
    fn returns(&mut self, count: &str, granularity: &SteppingGranularity) {
        let place = |stop: &Stopped| match granularity {
            SteppingGranularity::Instruction => stop.top.instruction_pointer_reference.clone(),
            _ => Some(stop.top.line.to_string()),
        };
        let count: usize = count.parse().expect("a number");
        let mut path = vec![place(&self.stop)];
        for _ in 0..count {
            self.steps_over(granularity.clone());
            path.push(place(&self.stop));
        }
        path.pop();
        let mut back = Vec::new();
        for _ in 0..count {
            self.steps_back(Some(granularity.clone()));
            back.push(place(&self.stop));
        }
        back.reverse();
        assert_eq!(back, path);
    }

    fn reverses(&mut self, reason: StoppedEventReason) {
        let back = ReverseContinueArguments::new(self.stop.thread);
        self.session.ok::<ReverseContinueRequest>(back);
        self.stop = self.session.stopped(reason);
    }

    /// Runs back to breakpoints, one stop after the other.
    fn reverses_to(&mut self, place: &str, sees: &str) {
        let at = breakpoint(self.fixture, self.library, place);
        let library = Source::new().with_path(self.library.path());
        let is_library = self.is_in_library(place);
        match is_library {
            true => {
                let arguments = SetBreakpointsArguments::new(library.clone());
                let arguments = arguments.with_breakpoints(vec![at]);
                self.session.ok::<SetBreakpointsRequest>(arguments);
            }
            false => {
                self.session.set_source(self.fixture, vec![at]);
            }
        }
        for expected in sees.split(" < ") {
            if expected == "beginning" {
                self.reverses(StoppedEventReason::Entry);
                continue;
            }
            self.reverses(StoppedEventReason::Breakpoint);
            self.sees(expected, true);
        }
        if is_library {
            let none = SetBreakpointsArguments::new(library).with_breakpoints(Vec::new());
            self.session.ok::<SetBreakpointsRequest>(none);
        }
        self.session.set_source(self.fixture, vec![]);
    }

    fn is_in_library(&self, place: &str) -> bool {
        place.starts_with("fill_") && self.library.path() != self.fixture.path()
    }

    fn watch(&self, name: Option<&str>) {
        let watched = name.map(|name| {
            let frame = self.own_frame().id;
            let arguments = DataBreakpointInfoArguments::new(name).with_frame_id(frame);
            let info = self.session.ok::<DataBreakpointInfoRequest>(arguments);
            DataBreakpoint::new(info.data_id.expect("it can be watched"))
        });
        let arguments = SetDataBreakpointsArguments::new(watched.into_iter().collect());
        self.session.ok::<SetDataBreakpointsRequest>(arguments);
    }

    /// Runs back to the changes of data: those that the program knows, up to the beginning; or those of the row.
    fn reverses_to_changes(&mut self, name: &str, sees: &str) {
        self.watch(Some(name));
        let (writes, end) = sees.rsplit_once(", ").unwrap_or((sees, ""));
        if writes != "known" {
            for expected in sees.split(" < ") {
                if expected == "beginning" {
                    self.reverses(StoppedEventReason::Entry);
                    continue;
                }
                self.reverses(StoppedEventReason::DataBreakpoint);
                self.sees(expected, false);
            }
            return self.watch(None);
        }
        for write in self.known(end == "beginning") {
            self.reverses(StoppedEventReason::DataBreakpoint);
            let said = self.stop.event.description.clone().unwrap_or_default();
            let wanted = match &write.before {
                Some(before) => format!("from {before} to {}", write.after),
                // What was there before its function was called isn't known.
                None => format!(" to {}", write.after),
            };
            assert!(said.ends_with(&wanted), "{said} instead of {wanted}");
            assert_eq!(self.stop.thread, write.thread, "{said}");
            assert_eq!(self.changed_at(), write.mark, "{said}");
        }
        self.reverses(StoppedEventReason::Entry);
        self.watch(None);
    }

    /// The mark of the statement that has changed data.
    fn changed_at(&self) -> String {
        let by = self.stop.event.text.clone().unwrap_or_default();
        let (place, line) = by.rsplit_once(':').unwrap_or_default();
        let name = self.fixture.source.file_name().unwrap_or_default();
        match place.ends_with(&*name.to_string_lossy()) {
            true => self.fixture.mark_of(line.parse().expect("a line")),
            // A library's, which the program has called.
            false => {
                let stack = self.session.stack(self.stop.thread);
                let path = Some(self.fixture.path());
                let own = { stack.iter() }.find(|frame| file_of(frame) == path);
                own.map_or_else(String::new, |own| self.fixture.mark_of(own.line))
            }
        }
    }

    fn filter(&self, filters: &[&str]) {
        let filters = filters.iter().map(|filter| {
            let (id, condition) = filter.split_once(' ').unwrap_or((filter, ""));
            match condition {
                "" => ExceptionFilterOptions::new(id),
                _ => ExceptionFilterOptions::new(id).with_condition(condition),
            }
        });
        let arguments = SetExceptionBreakpointsArguments::new(Vec::new());
        let arguments = arguments.with_filter_options(filters.collect());
        self.session.ok::<SetExceptionBreakpointsRequest>(arguments);
    }

    fn reverses_on(&mut self, filter: &str, sees: &str) {
        self.filter(&[filter]);
        for expected in sees.split(" < ") {
            if expected == "beginning" {
                self.reverses(StoppedEventReason::Entry);
                continue;
            }
            self.reverses(StoppedEventReason::Exception);
            self.sees(expected, false);
        }
        self.filter(&[]);
    }

    /// Runs to where a row begins.
    fn goes_to(&mut self, from: &str) {
        match from {
            "." => {}
            "present" => {
                let to = Moment::Named(NamedMoment::Present);
                self.session
                    .ok::<GoToMomentRequest>(GoToMomentArguments { to });
                self.stop = self.session.stopped(StoppedEventReason::Goto);
            }
            _ => {
                let at = breakpoint(self.fixture, self.library, from);
                self.session.set_source(self.fixture, vec![at]);
                self.session.resume(self.stop.thread);
                self.stop = self.session.stopped(StoppedEventReason::Breakpoint);
            }
        }
        let mark = from.split(" if ").next().unwrap_or_default();
        if !matches!(mark, "." | "present") {
            self.sees(mark, true);
        }
        self.session.set_source(self.fixture, vec![]);
    }

    fn does(&mut self, row: Row<'_>) {
        let (what, rest) = row.does.split_once(' ').unwrap_or((row.does, ""));
        match (what, rest) {
            ("who", name) => self.asks_for_all(name, row.sees),
            ("last", name) => self.asks_for_last(name, row.sees),
            ("back", granularity) => {
                let granularity = match granularity {
                    "" => None,
                    "statement" => Some(SteppingGranularity::Statement),
                    "instruction" => Some(SteppingGranularity::Instruction),
                    other => panic!("there is no granularity {other}"),
                };
                for expected in row.sees.split(" < ") {
                    self.steps_back(granularity.clone());
                    self.sees(expected, true);
                }
            }
            ("lines", count) => self.returns(count, &SteppingGranularity::Line),
            ("instructions", count) => self.returns(count, &SteppingGranularity::Instruction),
            ("refused", "back") => {
                let back = StepBackArguments::new(self.stop.thread);
                let refusal = self.session.refused::<StepBackRequest>(back);
                assert!(refusal.sentence.contains(row.sees), "{refusal:?}");
            }
            ("refused", name) => {
                let refusal = self.session.refused::<WhoRequest>(WhoArguments {
                    name: name.to_owned(),
                    frame_id: Some(self.own_frame().id),
                    ..WhoArguments::default()
                });
                assert!(refusal.sentence.contains(row.sees), "{refusal:?}");
            }
            ("reverse", rest) => match rest.split_once(' ').unwrap_or((rest, "")) {
                ("watch", name) => self.reverses_to_changes(name, row.sees),
                ("on", filter) => self.reverses_on(filter, row.sees),
                _ => self.reverses_to(rest, row.sees),
            },
            other => panic!("nobody knows how to do {other:?}"),
        }
    }

    /// The program goes on from the present, and ends as it would have.
    fn ends(self) {
        self.session.resume(self.stop.thread);
        assert_eq!(self.session.exit_code(), 0);
    }
}

fn value_name(is_rust: bool, index: usize) -> String {
    match is_rust {
        true => format!("KNOWN[{index}]"),
        false => format!("known[{index}]"),
    }
}

fn shown_all(writes: &[Known]) -> String {
    let shown = writes.iter().map(|write| {
        let before = write.before.as_deref().unwrap_or("-");
        format!("{}: {before} → {}", write.mark, write.after)
    });
    shown.collect::<Vec<_>>().join(" < ")
}

/// A breakpoint at a mark, perhaps with a condition.
fn breakpoint(fixture: &Fixture, library: &Fixture, place: &str) -> SourceBreakpoint {
    let (mark, condition) = match place.split_once(" if ") {
        Some((mark, condition)) => (mark, Some(condition)),
        None => (place, None),
    };
    let of = match mark.starts_with("fill_") {
        true => library,
        false => fixture,
    };
    let breakpoint = of.breakpoint(mark);
    match condition {
        Some(condition) => breakpoint.with_condition(condition),
        None => breakpoint,
    }
}

/// From where on a program is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    All,
    FromMain,
}

/// Rides with all rows of some programs.
fn ride(programs: &[&str], recorded: Recorded) {
    let library = Fixture::library("travel_table_library.c");
    let table = table();
    let mut failed = Vec::new();
    for program in programs {
        let fixture = built(program);
        let all: Vec<Row<'_>> = { rows(&table).into_iter() }
            .filter(|row| row.program == *program)
            .collect();
        for rows in all.chunk_by(|one, other| one.scenario == other.scenario) {
            let mut at = rows[0];
            let done = catch_unwind(AssertUnwindSafe(|| {
                let mut ride = Ride::begun(rows[0], &fixture, &library, recorded);
                ride.session.set_source(&fixture, vec![]);
                ride.filter(&[]);
                for (index, row) in rows.iter().enumerate() {
                    at = *row;
                    if index > 0 {
                        ride.goes_to(row.from);
                    }
                    ride.does(*row);
                }
                ride.ends();
            }));
            if done.is_err() {
                failed.push(at);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// What programs do, and the scenarios in which they do it.
const COVERED: [(&str, &[(&str, &str)]); 22] = [
    (
        "loops",
        &[("c", "loops"), ("cpp", "loops"), ("rust", "loops")],
    ),
    (
        "recursion",
        &[
            ("c", "recursion"),
            ("cpp", "recursion"),
            ("rust", "recursion"),
        ],
    ),
    (
        "inlined code",
        &[
            ("c-O2", "inlined"),
            ("cpp-O2", "inlined"),
            ("rust-O2", "inlined"),
        ],
    ),
    ("exceptions", &[("cpp", "exception")]),
    ("panics", &[("rust", "panic")]),
    ("longjmp", &[("c", "jump"), ("cpp", "jump")]),
    (
        "signals with handlers",
        &[("c", "signal"), ("cpp", "signal"), ("rust", "signal")],
    ),
    (
        "fork",
        &[
            ("c", "fork"),
            ("cpp", "fork"),
            ("rust", "fork"),
            ("rust", "spawn"),
        ],
    ),
    ("exec", &[("c", "exec"), ("rust", "exec")]),
    ("mutexes", &[("threads", "mutex"), ("rust", "mutex")]),
    ("condition variables", &[("rust", "condition")]),
    ("spin locks", &[("threads", "spin"), ("rust", "spin")]),
    ("atomics", &[("threads", "atomic"), ("rust", "atomic")]),
    (
        "thread exits",
        &[("threads", "ends"), ("cpp", "ends"), ("rust", "ends")],
    ),
    (
        "timers",
        &[("c", "timer"), ("cpp", "timer"), ("rust", "timer")],
    ),
    ("pipes", &[("c", "pipe"), ("cpp", "pipe"), ("rust", "pipe")]),
    (
        "sockets on loopback",
        &[("c", "socket"), ("rust", "socket")],
    ),
    ("mmap", &[("c", "map"), ("rust", "map")]),
    ("files", &[("c", "file"), ("cpp", "file"), ("rust", "file")]),
    ("dlopen", &[("c", "library"), ("rust", "library")]),
    (
        "AVX2",
        &[("c", "vector"), ("cpp", "vector"), ("rust", "vector")],
    ),
    ("100 MB of heap", &[("c", "heap")]),
];

#[test]
fn the_table_has_all_that_programs_do() {
    let table = table();
    let rows = rows(&table);
    assert!(rows.len() >= 80, "there are only {} rows", rows.len());
    for (what, scenarios) in COVERED {
        for (program, scenario) in scenarios {
            let has = |row: &Row<'_>| row.program == *program && row.scenario == *scenario;
            assert!(rows.iter().any(has), "{what}: {program} {scenario}");
        }
    }
    let known = |row: &Row<'_>| {
        let mut all = COVERED.iter().flat_map(|(_, scenarios)| *scenarios);
        all.any(|(program, scenario)| row.program == *program && row.scenario == *scenario)
    };
    let unknown = rows.iter().find(|row| !known(row));
    assert!(unknown.is_none(), "{unknown:?}");
}

#[test]
fn c_runs_backwards() {
    ride(&["c"], Recorded::All);
}

#[test]
fn threads_run_backwards() {
    ride(&["threads"], Recorded::All);
}

#[test]
fn cpp_runs_backwards() {
    ride(&["cpp"], Recorded::All);
}

#[test]
fn rust_runs_backwards() {
    ride(&["rust"], Recorded::All);
}

#[test]
fn optimised_code_runs_backwards() {
    ride(&["c-O2", "cpp-O2", "rust-O2"], Recorded::All);
}

#[test]
fn c_that_is_recorded_from_main_on_runs_backwards() {
    ride(&["c", "threads"], Recorded::FromMain);
}

#[test]
fn cpp_and_rust_that_are_recorded_from_main_on_run_backwards() {
    ride(&["cpp", "rust"], Recorded::FromMain);
}
