//! Checks the unwinder against the processor: at each instruction of a program, the callers' registers are predicted, and when a frame has
//! returned, the actual registers must equal the prediction.
//!
//! A frame has returned when the stack pointer has the caller's value. So each prediction is stored under that stack pointer, for each
//! instruction and a few callers, and is checked when the stack pointer is reached. The unwinder isn't used to decide where a frame ends,
//! so an error can't hide itself: a predicted stack pointer that is too low is reached too early, and one that is too high belongs to an
//! outer frame, whose registers differ.

use crate::support::{Debuggee, Outcome, inline};
use dapple_engine::event::StopReason;
use dapple_engine::frame::{PhysicalFrame, SharedFrame};
use dapple_engine::registers::{NAMES, Registers};
use dapple_engine::session::StepKind;
use dapple_engine::{Address, ThreadId};
use std::collections::{BTreeMap, HashMap};

/// The callee-saved registers, the stack pointer and the return address (System V ABI for x86-64, §3.2.1): rbx, rbp, rsp, r12 to r15, rip.
const KEPT: [u16; 8] = [3, 6, 7, 12, 13, 14, 15, 16];

type Values = [Option<u64>; KEPT.len()];

/// The number of callers that are predicted at each instruction.
const CALLERS: usize = 3;

fn values(registers: &Registers) -> Values {
    KEPT.map(|register| registers.get(register))
}

fn describe(values: &Values) -> String {
    let one = |(&register, value): (&u16, &Option<u64>)| {
        let name = NAMES[usize::from(register)];
        value.map_or(format!("{name} unknown"), |value| {
            format!("{name} {value:#x}")
        })
    };
    let all: Vec<String> = KEPT.iter().zip(values).map(one).collect();
    all.join(", ")
}

/// The execution of one function.
struct Trace<'a, 'f> {
    debuggee: &'a mut Debuggee<'f>,
    thread: ThreadId,
    /// The address range of the program's code.
    program: (Address, Address),
    /// Predictions by stack pointer, each with an instruction that led to it.
    pending: BTreeMap<u64, HashMap<Values, String>>,
    /// The stack pointer after the function has returned.
    outermost: u64,
    /// The number of instructions with predictions.
    instructions: usize,
    differences: Vec<String>,
}

impl<'a, 'f> Trace<'a, 'f> {
    /// Runs to the function, and then through it instruction by instruction.
    fn of(debuggee: &'a mut Debuggee<'f>, function: &str) -> Trace<'a, 'f> {
        let module = dapple_symbols::Module::open(&debuggee.fixture.binary).unwrap();
        let found = module.functions_named(function);
        assert_eq!(found.len(), 1, "{found:?}");
        let symbol = found[0].linkage_name.as_deref().unwrap_or(function);
        let entry = debuggee.symbol(symbol);
        let thread = run_to(debuggee, entry);
        let program = debuggee.session().modules().unwrap()[0].range;
        let mut trace = Trace {
            debuggee,
            thread,
            program,
            pending: BTreeMap::new(),
            outermost: 0,
            instructions: 0,
            differences: Vec::new(),
        };
        let frames = trace.frames();
        trace.outermost = frames[0].registers.get(7).unwrap() + 8;
        while trace.step() {}
        trace
    }

    /// The innermost frame and its callers.
    fn frames(&self) -> Vec<SharedFrame> {
        let stack = self.debuggee.session().stack(self.thread, 0..24).unwrap();
        let mut frames: Vec<SharedFrame> = Vec::new();
        for frame in stack.frames {
            if frames
                .last()
                .is_none_or(|last| last.level != frame.physical.level)
            {
                frames.push(frame.physical);
            }
        }
        frames.truncate(1 + CALLERS);
        frames
    }

    /// Checks the frames that have returned, makes predictions, and executes an instruction. Returns `false` at the end.
    fn step(&mut self) -> bool {
        let frames = self.frames();
        let now = values(&frames[0].registers);
        let sp = frames[0].registers.get(7).unwrap();
        self.returned(sp, &now);
        if sp >= self.outermost {
            return false;
        }
        self.predict(&frames);
        if (self.program.0..self.program.1).contains(&frames[0].pc) {
            self.debuggee
                .session()
                .step(self.thread, StepKind::Instruction)
                .unwrap();
            match self.debuggee.wait() {
                Outcome::Stopped(stops) => assert_eq!(stops[0].reason, StopReason::Step),
                Outcome::Exited(status) => panic!("it ended: {status:?}"),
            }
            return true;
        }
        // In a library's function, only the first instruction and the return are checked.
        let back = frames.get(1).expect("a library's function has a caller").pc;
        run_to(self.debuggee, back);
        true
    }

    fn returned(&mut self, sp: u64, now: &Values) {
        while let Some(first) = self
            .pending
            .first_entry()
            .filter(|first| *first.key() <= sp)
        {
            for (predicted, place) in first.remove() {
                if predicted != *now {
                    self.differences.push(format!(
                        "{place}\n    predicted {}\n    there was {}",
                        describe(&predicted),
                        describe(now)
                    ));
                }
            }
        }
    }

    fn predict(&mut self, frames: &[SharedFrame]) {
        self.instructions += 1;
        let lowest = frames[0].registers.get(7).unwrap();
        let mut last = 0;
        for (level, caller) in frames.iter().enumerate().skip(1) {
            let place = || format!("caller {level} of {}", self.place(&frames[0]));
            let sp = caller.registers.get(7).unwrap_or_default();
            if sp <= lowest || sp > self.outermost {
                let predicted = describe(&values(&caller.registers));
                self.differences
                    .push(format!("{}: no such frame: {predicted}", place()));
                return;
            }
            let place = place();
            let here = self.pending.entry(sp).or_default();
            here.entry(values(&caller.registers)).or_insert(place);
            last = sp;
            if sp == self.outermost {
                return;
            }
        }
        if frames.len() <= CALLERS {
            let place = self.place(&frames[0]);
            self.differences
                .push(format!("{place}: the stack ends at {last:#x}"));
        }
    }

    fn place(&self, frame: &PhysicalFrame) -> String {
        let Some(module) = &frame.module else {
            return format!("{}", frame.pc);
        };
        let address = module.to_file(frame.pc);
        let name = module.module.symbol_at(address);
        let name = name.map_or_else(
            || module.module.section_at(address).unwrap_or("?").to_owned(),
            |symbol| format!("{}+{:#x}", symbol.name, address.0 - symbol.address.0),
        );
        format!("{name} ({:#x})", address.0)
    }
}

/// Resumes until the program is at `address`.
fn run_to(debuggee: &mut Debuggee<'_>, address: Address) -> ThreadId {
    let session = debuggee.session();
    let states = session.set_address_breakpoints(vec![address]).unwrap();
    assert_eq!(states[0].problem(), None);
    debuggee.resume();
    let stops = debuggee.expect_stop();
    assert!(
        matches!(stops[0].reason, StopReason::Breakpoint(_)),
        "{stops:?}"
    );
    let session = debuggee.session();
    session.set_address_breakpoints(Vec::new()).unwrap();
    stops[0].thread
}

/// Compiles the program with each set of flags, and checks each build.
fn follow(name: &str, text: &str, variants: &[&[&str]], least: usize) {
    let mut failures = Vec::new();
    for flags in variants {
        let fixture = inline(name, text, flags);
        let mut debuggee = fixture.launch();
        let trace = Trace::of(&mut debuggee, "start");
        let count = trace.instructions;
        println!("{name} {flags:?}: {count} instructions");
        if !trace.differences.is_empty() {
            let shown = trace.differences.len().min(6);
            failures.push(format!(
                "{name} {flags:?}: {} differences in {count} instructions:\n  {}",
                trace.differences.len(),
                trace.differences[..shown].join("\n  ")
            ));
        }
        assert!(
            count >= least,
            "{name} {flags:?}: only {count} instructions"
        );
        assert!(
            trace.pending.is_empty(),
            "{name} {flags:?}: frames that never returned: {:x?}",
            trace.pending
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn callers_registers_are_what_c_functions_return_to() {
    let variants: [&[&str]; 8] = [
        &["-O0"],
        &["-O0", "-fomit-frame-pointer", "-fcf-protection=none"],
        &["-O1"],
        &["-O2"],
        &["-O2", "-fcf-protection=full", "-fstack-protector-all"],
        &["-O2", "-fno-omit-frame-pointer", "-no-pie", "-Wl,-z,now"],
        &["-O3", "-gdwarf-4", "-Wl,--no-eh-frame-hdr"],
        &[
            "-O2",
            "-fcf-protection=full",
            "-Wl,-z,ibtplt,-z,lazy,--no-ld-generated-unwind-info",
        ],
    ];
    follow("work.c", include_str!("unwound/work.c"), &variants, 600);
}

#[test]
fn callers_registers_are_what_cpp_functions_return_to() {
    let variants: [&[&str]; 4] = [
        &["-O0"],
        &["-O0", "-fomit-frame-pointer"],
        &["-O2"],
        &["-Os", "-fcf-protection=full"],
    ];
    follow("work.cpp", include_str!("unwound/work.cpp"), &variants, 500);
}

#[test]
fn callers_registers_are_what_rust_functions_return_to() {
    let variants: [&[&str]; 3] = [
        &[],
        &["-Copt-level=2"],
        &["-Copt-level=2", "-Cforce-frame-pointers=yes"],
    ];
    follow("work.rs", include_str!("unwound/work.rs"), &variants, 500);
}
