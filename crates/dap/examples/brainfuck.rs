//! A debug adapter for Brainfuck: breakpoints, steps by line, pauses, and the tape as variables.
//!
//! An editor starts it and talks to it over stdio, with `{"program": "hello.bf"}` as the arguments of `launch`.

use std::collections::BTreeSet;

use dapple_dap::types::*;
use dapple_dap::{Connection, Context, Failure, Flow, Outbox, Server};

/// A step to the right of the last cell leads to the first.
const CELLS: usize = 30_000;

#[derive(Default)]
struct Machine {
    path: String,
    /// The instructions, each with its line and, for a bracket, the index of its partner.
    code: Vec<(u8, i64, usize)>,
    /// The index of the next instruction.
    at: usize,
    tape: Vec<u8>,
    cell: usize,
    breakpoints: BTreeSet<i64>,
    /// How the program runs at the moment. `None`: it is stopped.
    runs: Option<Run>,
}

#[derive(Clone, Copy, PartialEq)]
enum Run {
    On,
    ToNextLine,
}

impl Machine {
    fn load(path: &str) -> Result<Self, Failure> {
        let mut code: Vec<(u8, i64, usize)> = Vec::new();
        let mut open = Vec::new();
        for (line, text) in (1..).zip(std::fs::read_to_string(path)?.lines()) {
            for byte in text.bytes().filter(|byte| b"+-<>.[]".contains(byte)) {
                let (here, mut partner) = (code.len(), 0);
                if byte == b'[' {
                    open.push(here);
                } else if byte == b']' {
                    let no_partner = || Failure::new(format!("{path}:{line}: `]` without `[`"));
                    partner = open.pop().ok_or_else(no_partner)?;
                    code[partner] = (b'[', code[partner].1, here);
                }
                code.push((byte, line, partner));
            }
        }
        if !open.is_empty() || code.is_empty() {
            return Err(Failure::new(format!(
                "{path}: a `[` without `]`, or no code"
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            code,
            tape: vec![0],
            ..Self::default()
        })
    }

    fn line(&self) -> i64 {
        self.code[self.at.min(self.code.len() - 1)].1
    }

    /// Executes one instruction, and reports a stop or the program's end.
    fn step(&mut self, run: Run, outbox: &Outbox) {
        let (instruction, line, partner) = self.code[self.at];
        let cell = &mut self.tape[self.cell];
        match instruction {
            b'+' => *cell = cell.wrapping_add(1),
            b'-' => *cell = cell.wrapping_sub(1),
            b'>' => self.cell = (self.cell + 1) % CELLS,
            b'<' => self.cell = self.cell.saturating_sub(1),
            b'[' if *cell == 0 => self.at = partner,
            b']' if *cell != 0 => self.at = partner,
            b'.' => {
                let text = char::from(*cell).to_string();
                let output = OutputEventBody::new(text).with_category(OutputEventCategory::Stdout);
                outbox.event::<OutputEvent>(output);
            }
            _ => {}
        }
        self.tape.resize(self.tape.len().max(self.cell + 1), 0);
        self.at += 1;
        if self.at == self.code.len() {
            self.runs = None;
            outbox.event::<ExitedEvent>(ExitedEventBody::new(0));
            outbox.event::<TerminatedEvent>(TerminatedEventBody::new());
        } else if self.line() != line && self.breakpoints.contains(&self.line()) {
            self.stop(StoppedEventReason::Breakpoint, outbox);
        } else if self.line() != line && run == Run::ToNextLine {
            self.stop(StoppedEventReason::Step, outbox);
        }
    }

    fn stop(&mut self, reason: StoppedEventReason, outbox: &Outbox) {
        self.runs = None;
        outbox.event::<StoppedEvent>(StoppedEventBody::new(reason).with_thread_id(1));
    }
}

fn launch(
    machine: &mut Machine,
    arguments: LaunchRequestArguments,
    context: &mut Context,
) -> Result<Empty, Failure> {
    let program = arguments
        .other
        .get("program")
        .ok_or(Failure::new("`program` is missing"))?;
    *machine = Machine::load(&program.decode::<String>()?)?;
    context.outbox().event::<InitializedEvent>(Empty);
    Ok(Empty)
}

fn set_breakpoints(
    machine: &mut Machine,
    arguments: SetBreakpointsArguments,
) -> SetBreakpointsResponse {
    let asked: Vec<i64> = arguments
        .breakpoints
        .iter()
        .flatten()
        .map(|breakpoint| breakpoint.line)
        .collect();
    let has_code = |line: &i64| machine.code.iter().any(|(_, of, _)| of == line);
    let answer = asked.iter().map(|line| match has_code(line) {
        true => Breakpoint::new(true).with_line(*line),
        false => Breakpoint::new(false).with_message("no code on this line"),
    });
    let answer = SetBreakpointsResponse::new(answer.collect());
    machine.breakpoints = asked.into_iter().collect();
    answer
}

fn server() -> Server<Machine> {
    Server::builder()
        .on::<LaunchRequest>(launch)
        .on::<SetBreakpointsRequest>(|machine: &mut Machine, arguments, _| {
            Ok(set_breakpoints(machine, arguments))
        })
        .on::<ConfigurationDoneRequest>(|machine, _, context| {
            match machine.breakpoints.contains(&machine.line()) {
                true => machine.stop(StoppedEventReason::Breakpoint, context.outbox()),
                false => machine.runs = Some(Run::On),
            }
            Ok(Empty)
        })
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "program")])))
        .on::<StackTraceRequest>(|machine, _, _| {
            let source = Source::new().with_path(machine.path.clone());
            let frame = StackFrame::new(1, "program", machine.line(), 1).with_source(source);
            Ok(StackTraceResponse::new(vec![frame]))
        })
        .on::<ScopesRequest>(|_, _, _| Ok(ScopesResponse::new(vec![Scope::new("Tape", 1, false)])))
        .on::<VariablesRequest>(|machine, _, _| {
            let value = |at, cell: &u8| match at == machine.cell {
                true => format!("{cell} ←"),
                false => cell.to_string(),
            };
            let cells = machine.tape.iter().enumerate();
            let cells = cells.map(|(at, cell)| Variable::new(at.to_string(), value(at, cell), 0));
            Ok(VariablesResponse::new(cells.collect()))
        })
        .on::<ContinueRequest>(|machine, _, _| {
            machine.runs = Some(Run::On);
            Ok(ContinueResponse::new().with_all_threads_continued(true))
        })
        .on::<NextRequest>(|machine, _, _| {
            machine.runs = Some(Run::ToNextLine);
            Ok(Empty)
        })
        .on::<PauseRequest>(|machine, _, context| {
            if machine.runs.is_some() {
                machine.stop(StoppedEventReason::Pause, context.outbox());
            }
            Ok(Empty)
        })
        .build()
}

fn main() {
    let connection = Connection::stdio();
    let mut session = server().start(&connection);
    let (mut machine, outbox) = (Machine::default(), session.outbox());
    loop {
        // While the program runs, the session's messages are handled between its instructions.
        let incoming = match machine.runs {
            Some(run) => match connection.incoming.try_recv() {
                Ok(incoming) => incoming,
                Err(_) => {
                    machine.step(run, &outbox);
                    continue;
                }
            },
            None => match connection.incoming.recv() {
                Ok(incoming) => incoming,
                Err(_) => return,
            },
        };
        if session.handle(&mut machine, incoming) == Flow::Closed {
            return;
        }
    }
}
