//! A debug adapter for Brainfuck: breakpoints, steps, pauses, and the tape as variables.
//!
//! An editor starts it and talks to it over stdio, with `{"program": "hello.bf"}` as the arguments of `launch`. A step is one line.

use std::collections::BTreeSet;

use dapple_dap::types::*;
use dapple_dap::{Connection, Failure, Flow, Outbox, Server};

#[derive(Default)]
struct Machine {
    path: String,
    code: Vec<u8>,
    /// The next instruction.
    at: usize,
    tape: Vec<u8>,
    cell: usize,
    breakpoints: BTreeSet<i64>,
    runs: Option<Until>,
}

#[derive(Clone, Copy, PartialEq)]
enum Until {
    Breakpoint,
    NextLine,
}

impl Machine {
    fn line(&self, at: usize) -> i64 {
        1 + self.code[..at].iter().filter(|&&byte| byte == b'\n').count() as i64
    }

    /// The bracket that belongs to the one at `self.at`.
    fn partner(&self, step: isize) -> usize {
        let (mut at, mut depth) = (self.at, 0);
        loop {
            depth += i32::from(self.code[at] == b'[') - i32::from(self.code[at] == b']');
            if depth == 0 {
                return at;
            }
            at = at.wrapping_add_signed(step);
        }
    }

    /// Executes one instruction. `None` at the program's end.
    fn step(&mut self, outbox: &Outbox) -> Option<()> {
        match *self.code.get(self.at)? {
            b'>' => self.cell += 1,
            b'<' => self.cell = self.cell.saturating_sub(1),
            b'+' => self.tape[self.cell] = self.tape[self.cell].wrapping_add(1),
            b'-' => self.tape[self.cell] = self.tape[self.cell].wrapping_sub(1),
            b'.' => {
                let text = char::from(self.tape[self.cell]).to_string();
                let output = OutputEventBody::new(text).with_category(OutputEventCategory::Stdout);
                outbox.event::<OutputEvent>(output);
            }
            b'[' if self.tape[self.cell] == 0 => self.at = self.partner(1),
            b']' if self.tape[self.cell] != 0 => self.at = self.partner(-1),
            _ => {}
        }
        self.tape.resize(self.tape.len().max(self.cell + 1), 0);
        self.at += 1;
        Some(())
    }

    /// Runs up to the next line, and reports a stop or the program's end.
    fn run_line(&mut self, until: Until, outbox: &Outbox) {
        let line = self.line(self.at);
        while self.at < self.code.len() && self.line(self.at) == line {
            self.step(outbox);
        }
        let here = self.line(self.at);
        let reason = match until {
            _ if self.at == self.code.len() => {
                self.runs = None;
                outbox.event::<ExitedEvent>(ExitedEventBody::new(0));
                return outbox.event::<TerminatedEvent>(TerminatedEventBody::new());
            }
            _ if self.breakpoints.contains(&here) => StoppedEventReason::Breakpoint,
            Until::NextLine => StoppedEventReason::Step,
            Until::Breakpoint => return,
        };
        self.stop(reason, outbox);
    }

    fn stop(&mut self, reason: StoppedEventReason, outbox: &Outbox) {
        self.runs = None;
        outbox.event::<StoppedEvent>(StoppedEventBody::new(reason).with_thread_id(1));
    }
}
