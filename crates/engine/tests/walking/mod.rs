//! Tables of steps: one table for each program, one row for each step, checked in each build of the program.
//!
//! A row is `command → place, function, depth`. The place is the `// stop: NAME` marker at the line's end, or the line's number and text.
//! The depth is the number of frames with a source of the tests, including inlined calls: `main` alone is 1.
//! Commands: `run PLACE` starts the program again and runs to that line. `break PLACE` adds a breakpoint for the following rows. `skip
//! PATTERNS` sets the functions that steps don't enter. `statement` and `into statement` step to the next statement, which is named by its
//! source text. `targets` lists the remaining calls of the line, and `into NAME` steps into one of them. `instructions` steps by
//! instruction to another line.
//! Behind `else` is what is right as well in builds for other processors, whose compilers evaluate arguments in another order, or attribute the
//! code behind a call to another line.
//! A fault that the program handles is no stop. The expected places are those that a user would want, in every build of the program.

use crate::support::behind_qemu;
use crate::support::{Debuggee, Fixture, Outcome, fixture};
use dapple_engine::ThreadId;
use dapple_engine::event::{ExitStatus, StopReason};
use dapple_engine::session::stepping::{SkipList, StepTarget};
use dapple_engine::session::{LineBreakpoint, Pace, StepKind, StepOptions, StepUnit};
use dapple_engine::signals::SignalTable;
use std::fmt::Write;
use std::path::PathBuf;

/// The most instructions that are stepped to reach another line.
const MOST_INSTRUCTIONS: usize = 10_000;
/// The most frames of a stack that are read.
const DEEPEST: usize = 64;

/// A program that is being stepped by the rows of a table.
struct Walk<'a> {
    debuggee: Debuggee<'a>,
    thread: ThreadId,
    breakpoints: Vec<u32>,
    options: StepOptions,
}

impl<'a> Walk<'a> {
    fn begin(fixture: &'a Fixture, place: &str, options: StepOptions) -> (Walk<'a>, String) {
        let debuggee = fixture.launch();
        let thread = ThreadId(debuggee.session().process().pid);
        let breakpoints = vec![fixture.line(place)];
        let mut walk = Walk {
            debuggee,
            thread,
            breakpoints,
            options,
        };
        walk.arm();
        let mut signals = SignalTable::default();
        signals.faults_if_fatal();
        walk.debuggee.session().set_signals(signals).unwrap();
        walk.debuggee.resume();
        let outcome = walk.debuggee.wait();
        let reached = walk.describe(outcome);
        walk.breakpoints.clear();
        walk.arm();
        (walk, reached.replacen("breakpoint ", "", 1))
    }

    fn arm(&self) {
        let lines = self.breakpoints.iter().map(|&line| LineBreakpoint {
            line,
            ..LineBreakpoint::default()
        });
        let source = &self.debuggee.fixture.source;
        let session = self.debuggee.session();
        session
            .set_line_breakpoints(source, lines.collect())
            .unwrap();
    }

    fn step(&mut self, kind: StepKind) -> String {
        let session = self.debuggee.session();
        if let Err(error) = session.step_as(self.thread, kind, self.options) {
            return error.to_string();
        }
        let outcome = self.debuggee.wait();
        self.describe(outcome)
    }

    fn targets(&self) -> Vec<StepTarget> {
        let session = self.debuggee.session();
        let stack = session.stack(self.thread, 0..1).unwrap();
        session.step_targets(stack.frames[0].id).unwrap()
    }

    fn step_into(&mut self, name: &str) -> String {
        let mut targets = self
            .targets()
            .into_iter()
            .filter(|t| short(&t.name) == name);
        let Some(target) = targets.next() else {
            return format!("{name} is none of {}", listed(&self.targets()));
        };
        let options = self.options;
        self.options.target = Some(target.into);
        let reached = self.step(StepKind::Into);
        self.options = options;
        reached
    }

    fn skip(&mut self, patterns: &str) -> String {
        let list = SkipList::parse(patterns.split(' ')).unwrap();
        self.debuggee.session().set_skip(list).unwrap();
        String::new()
    }

    fn step_by_statement(&mut self, kind: StepKind) -> String {
        let options = self.options;
        self.options.unit = StepUnit::Statement;
        let reached = self.step(kind);
        self.options = options;
        format!("{reached}, {}", self.text_there())
    }

    /// The source text at the thread's position, up to a blank.
    fn text_there(&self) -> String {
        let stack = self.debuggee.session().stack(self.thread, 0..1);
        let place = stack
            .ok()
            .and_then(|stack| stack.frames.first()?.position.clone());
        let Some(place) = place else {
            return "nowhere".into();
        };
        let text = std::fs::read_to_string(&place.file).unwrap();
        let line = text.lines().nth(place.line as usize - 1).unwrap();
        let there = line.get(place.column as usize - 1..).unwrap_or_default();
        there.split(' ').next().unwrap_or_default().to_owned()
    }

    /// Steps by instruction to an instruction of another line.
    fn step_by_instruction(&mut self) -> String {
        let begun = self.line_there();
        for _ in 0..MOST_INSTRUCTIONS {
            let session = self.debuggee.session();
            let options = self.options;
            let stepped = session.step_as(self.thread, StepKind::Instruction, options);
            stepped.unwrap();
            let outcome = self.debuggee.wait();
            let is_step =
                matches!(&outcome, Outcome::Stopped(stops) if stops[0].reason == StopReason::Step);
            if !is_step || self.line_there() != begun {
                return self.describe(outcome);
            }
        }
        "the same line".into()
    }

    /// The line of the innermost frame that has one.
    fn line_there(&self) -> Option<(PathBuf, u32)> {
        let stack = self.debuggee.session().stack(self.thread, 0..DEEPEST);
        let frames = stack.ok()?.frames;
        let place = frames.iter().find_map(|frame| frame.position.as_ref())?;
        Some((place.file.to_path_buf(), place.line))
    }

    fn resume(&mut self) -> String {
        if let Err(error) = self.debuggee.session().resume() {
            return error.to_string();
        }
        let outcome = self.debuggee.wait();
        self.describe(outcome)
    }

    /// The place, function and depth of a stop, or how the program ended.
    fn describe(&mut self, outcome: Outcome) -> String {
        let stops = match outcome {
            Outcome::Stopped(stops) => stops,
            Outcome::Exited(ExitStatus::Code(code)) => return format!("exit {code}"),
            Outcome::Exited(ExitStatus::Signal(signal)) => return format!("killed by {signal}"),
        };
        let mut text = String::new();
        match &stops[0].reason {
            StopReason::Step => {}
            StopReason::Breakpoint(_) => text.push_str("breakpoint "),
            other => write!(text, "{other:?} ").unwrap(),
        }
        self.thread = stops[0].thread;
        let place = self.debuggee.place(self.thread);
        // A place in another file is shown by the file's name and the line.
        let place = place.rsplit('/').next().unwrap_or_default();
        let session = self.debuggee.session();
        let frames = session.stack(self.thread, 0..DEEPEST).unwrap().frames;
        let own = |file: &std::path::Path| {
            let text = file.to_string_lossy();
            text.contains("/fixtures/stepping/") || text.contains("/target/fixtures/")
        };
        let depth = frames
            .iter()
            .filter(|f| f.position.as_ref().is_some_and(|p| own(&p.file)))
            .count();
        let function = frames.first().and_then(|f| f.function.as_deref());
        let function = short(function.unwrap_or("?"));
        write!(text, "{place}, {function}, {depth}").unwrap();
        text
    }
}

fn listed(targets: &[StepTarget]) -> String {
    let names = targets.iter().map(|target| short(&target.name));
    names.collect::<Vec<_>>().join("; ")
}

/// A function's name without its parameters, type arguments and outer scopes.
fn short(name: &str) -> &str {
    let name = match name.strip_suffix("()") {
        Some(_) => name,
        None => &name[..name.find('(').unwrap_or(name.len())],
    };
    let arguments = name
        .find('<')
        .filter(|at| *at > 0 && !name[..*at].ends_with("::"));
    let name = &name[..arguments.unwrap_or(name.len())];
    match name.rsplit_once("::") {
        Some((outer, last)) if last.starts_with('{') => {
            &name[outer.rfind("::").map_or(0, |at| at + 2)..]
        }
        Some((_, last)) => last,
        None => name,
    }
}

/// Takes each step of the table in three ways: running over straight code, running to the exits of lines, and stopping at each instruction.
/// All must end alike.
pub fn check(fixture: &Fixture, table: &str) {
    for pace in [Pace::Usual, Pace::ToExits, Pace::EachInstruction] {
        let options = StepOptions {
            pace,
            ..StepOptions::default()
        };
        check_as(fixture, table, options);
    }
}

/// Takes each step of the table and compares. All differences are reported together.
pub fn check_as(fixture: &Fixture, table: &str, options: StepOptions) {
    let mut walk: Option<Walk<'_>> = None;
    let mut listing = String::new();
    let mut wrong = 0;
    for row in table.lines().map(str::trim) {
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        let (command, expected) = row.split_once('→').unwrap_or((row, ""));
        let command = command.trim();
        let got = match (command.split_once(' '), &mut walk) {
            (Some(("run", place)), _) => {
                let (begun, reached) = Walk::begin(fixture, place, options);
                walk = Some(begun);
                reached
            }
            (Some(("break", place)), Some(walk)) => {
                walk.breakpoints.push(fixture.line(place));
                walk.arm();
                String::new()
            }
            (Some(("skip", patterns)), Some(walk)) => walk.skip(patterns),
            (Some(("into", "statement")), Some(walk)) => walk.step_by_statement(StepKind::Into),
            (Some(("into", name)), Some(walk)) => walk.step_into(name),
            (None, Some(walk)) => match command {
                "statement" => walk.step_by_statement(StepKind::Over),
                "targets" => listed(&walk.targets()),
                "over" => walk.step(StepKind::Over),
                "into" => walk.step(StepKind::Into),
                "out" => walk.step(StepKind::Out),
                "instructions" => walk.step_by_instruction(),
                "continue" => walk.resume(),
                other => panic!("no such command: {other}"),
            },
            _ => panic!("what does this row say? {row}"),
        };
        let (expected, elsewhere) = match expected.split_once(" else ") {
            Some((expected, elsewhere)) => (expected.trim(), Some(elsewhere.trim())),
            None => (expected.trim(), None),
        };
        let elsewhere = elsewhere.filter(|_| behind_qemu::machine().is_some());
        if got == expected || Some(got.as_str()) == elsewhere {
            writeln!(listing, "  {command} → {got}").unwrap();
        } else {
            wrong += 1;
            writeln!(listing, "✗ {command} → {got}   (expected: {expected})").unwrap();
        }
    }
    assert!(
        wrong == 0,
        "{wrong} rows differ with {options:?}\n{listing}"
    );
}

/// A program in `fixtures/stepping`. `calls.c` is linked with the shared library `helper.c`.
pub fn program(name: &str, flags: &[&str]) -> Fixture {
    let name = format!("stepping/{name}");
    if !name.ends_with("calls.c") {
        return fixture(&name, flags);
    }
    let library = ["-shared", "-fPIC"];
    let library = fixture("stepping/helper.c", &[flags, &library].concat());
    let library = ["-Wl,--no-as-needed", library.binary.to_str().unwrap()];
    fixture(&name, &[flags, &library].concat())
}

/// Defines a test for each build of a program, all with the same table.
macro_rules! table {
    ($($name:ident: $program:literal $flags:expr;)+ $table:literal) => {$(
        #[test]
        fn $name() {
            $crate::walking::check(
                &$crate::walking::program($program, $flags),
                $table,
            );
        }
    )+};
}

pub(crate) use table;
