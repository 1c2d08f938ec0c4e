//! Signals that are about to be delivered to the program: whether they stop it, and what they are about.

use super::Owner;
use crate::event::StopReason;
use crate::exceptions::thrown::Thrown;
use crate::exceptions::{BreakMode, Exception};
use crate::faults::{self, Scene, SignalInfo};
use crate::frame::{FrameId, PhysicalFrame};
use crate::memory::Memory;
use crate::signals::{self, SignalTable, When};
use crate::target::linux::input::Input;
use crate::target::linux::{process, ptrace};
use crate::unwind;
use crate::{Address, Error, Event, ThreadId};
use std::sync::Arc;

/// How many frames are looked at for who aborts.
const ABORT_FRAMES: usize = 24;
/// How many frames of a stack are told.
const MOST_FRAMES: usize = 200;
/// The longest message of the C library's that is read.
const LONGEST_MESSAGE: usize = 2048;

impl Owner {
    pub(crate) fn set_signals(&mut self, table: SignalTable) {
        self.signals = table;
    }

    /// A signal is about to be delivered that is not about breakpoints.
    pub(super) fn signalled(&mut self, thread: ThreadId, signal: i32) {
        self.leave_copy(thread);
        self.control(thread).signal = signal;
        if self.stops.is_guest(thread) {
            return self.release(thread);
        }
        let policy = self.signals.of(signal);
        let stops = match policy.stop {
            When::Never => false,
            When::Always => true,
            When::Fatal => self.is_fatal(thread, signal),
        };
        if policy.pass && !policy.print && !stops && signal != libc::SIGINT {
            return self.release(thread);
        }
        // Unanswered: it has died, which is told next.
        let Ok(info) = ptrace::signal_info(thread) else {
            return;
        };
        // In a terminal of its own, what is typed is meant for the program.
        let own_terminal = self.input.as_ref().is_some_and(Input::is_terminal);
        if !own_terminal && signals::is_keyboard_interrupt(signal, info.code) {
            self.control(thread).signal = 0;
            return self.report(thread, StopReason::Pause);
        }
        if !policy.pass {
            self.control(thread).signal = 0;
        }
        if !stops && !policy.print {
            return self.release(thread);
        }
        let (fault, mut description) = self.explain_signal(thread, info);
        if !policy.pass {
            description.push_str(" (kept from the program)");
        }
        if !stops {
            self.tell(Event::Signalled {
                thread,
                number: signal,
                description,
            });
            return self.release(thread);
        }
        self.control(thread).exception = Some(Arc::new(Exception {
            id: signals::name(signal).into_owned(),
            description: description.clone(),
            mode: match self.is_fatal(thread, signal) && policy.pass {
                true => BreakMode::Unhandled,
                false => BreakMode::Always,
            },
            message: Some(faults::facts(info)),
            thrown: fault.map(Thrown::Fault),
            ..Exception::default()
        }));
        self.report(
            thread,
            StopReason::Signal {
                number: signal,
                fault,
                description,
            },
        );
    }

    /// Whether the signal that a thread is about to get ends the program.
    fn is_fatal(&self, thread: ThreadId, signal: i32) -> bool {
        const HARMLESS: [i32; 8] = [
            libc::SIGCHLD,
            libc::SIGCONT,
            libc::SIGURG,
            libc::SIGWINCH,
            libc::SIGSTOP,
            libc::SIGTSTP,
            libc::SIGTTIN,
            libc::SIGTTOU,
        ];
        if HARMLESS.contains(&signal) || process::catches(self.process, signal) {
            return false;
        }
        // The kernel's own can't be ignored: the instruction would only fault again.
        !process::ignores(self.process, signal)
            || ptrace::signal_info(thread).is_ok_and(|info| info.code > 0)
    }

    fn explain_signal(&mut self, thread: ThreadId, info: SignalInfo) -> (Option<Address>, String) {
        let registers = self.registers(thread);
        let register = |wanted| registers.as_ref().and_then(|r| r.get(wanted));
        let mut code = [0; 16];
        let length = match registers {
            Some(registers) => self.memory.read_some(registers.pc(), &mut code),
            None => 0,
        };
        let is_fault = info.code > 0 && signals::is_fault(info.number);
        let mappings = match is_fault {
            true => process::mappings(self.process),
            false => Vec::new(),
        };
        let own = info.sender == self.process.0;
        let abort_message = match info.number == libc::SIGABRT && info.code <= 0 && own {
            true => self.abort_message(thread),
            false => None,
        };
        let sender = (info.code <= 0 && info.sender > 0 && !own)
            .then(|| process::thread_name(ThreadId(info.sender), ThreadId(info.sender)))
            .filter(|name| !name.is_empty());
        let scene = Scene {
            info,
            process: self.process.0,
            register: &register,
            code: &code[..length],
            mappings: &mappings,
            abort_message,
            sender,
        };
        let fault = faults::fault_address(&scene).map(Address);
        (fault, faults::describe(&scene))
    }

    /// What is known of why the program aborts: the message that the C library has for who finds the body (`__abort_msg`: failed
    /// assertions, corrupted heaps, overwritten buffers), or who has called `abort`.
    fn abort_message(&mut self, thread: ThreadId) -> Option<String> {
        let by = self.aborting_frame(thread);
        let text = self.c_library_message();
        match (text, by) {
            (Some(text), _) => Some(text),
            (None, Some(by)) => Some(format!("the program aborts: {by}")),
            (None, None) => None,
        }
    }

    fn c_library_message(&self) -> Option<String> {
        // `struct abort_msg_s { unsigned int size; char msg[]; } *__abort_msg`: glibc, stdlib.h of its own.
        let mut found = self.modules.iter().filter_map(|module| {
            let symbol = module.module.symbol_named("__abort_msg")?;
            let message = self.memory.read_u64(module.to_process(symbol.address));
            message.ok().filter(|message| *message != 0)
        });
        let message = Address(found.next()?).offset(4);
        let mut bytes = vec![0; LONGEST_MESSAGE];
        let count = self.memory.read_some(message, &mut bytes);
        bytes.truncate(count);
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let text = String::from_utf8_lossy(&bytes[..end]);
        let text = text.trim().trim_matches('*').trim();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!line.is_empty()).then_some(line)
    }

    /// Who has called `abort`, where it is somebody with a reason of his own.
    fn aborting_frame(&mut self, thread: ThreadId) -> Option<String> {
        const REASONS: [(&str, &str); 5] = [
            ("__cxa_pure_virtual", "a pure virtual function was called"),
            (
                "__cxa_deleted_virtual",
                "a deleted virtual function was called",
            ),
            (
                "__cxa_throw_bad_array_new_length",
                "an array's length is impossible",
            ),
            ("_ZSt9terminatev", "std::terminate was called"),
            ("rust_panic", "a panic that does not unwind"),
        ];
        let frames = self.physical_frames(thread, ABORT_FRAMES);
        let names: Vec<String> = frames.iter().filter_map(symbol_of).collect();
        let is = |name: &String, wanted: &str| name == wanted || name.ends_with(wanted);
        let mut reasons = REASONS.iter();
        let (_, reason) = reasons.find(|(wanted, _)| names.iter().any(|name| is(name, wanted)))?;
        Some((*reason).to_owned())
    }

    /// The innermost frames of a stopped thread.
    pub(super) fn physical_frames(&mut self, thread: ThreadId, most: usize) -> Vec<PhysicalFrame> {
        let Some(registers) = self.registers(thread) else {
            return Vec::new();
        };
        let first = unwind::innermost(registers.to_dwarf(), &self.modules, &self.memory);
        let next = |frame: &PhysicalFrame| unwind::caller(frame, &self.modules, &self.memory);
        std::iter::successors(Some(first), next)
            .take(most)
            .collect()
    }

    pub(crate) fn exception(&mut self, thread: ThreadId) -> Result<Option<Exception>, Error> {
        self.require_thread(thread)?;
        let Some(exception) = self.control(thread).exception.clone() else {
            return Ok(None);
        };
        let mut exception = Exception::clone(&exception);
        exception.stack_trace = Some(self.stack_text(thread)?);
        // Its types are most likely where the user's code is.
        let frames = self.stack(thread, 0..MOST_FRAMES)?.frames;
        let users = frames.iter().find(|frame| frame.is_users());
        if let Some(frame) = users.or(frames.first()).map(|frame| frame.id) {
            exception.expression = self.exception_expression(frame, 0);
            for (inner, cause) in exception.inner.iter_mut().zip(1..) {
                inner.expression = self.exception_expression(frame, cause);
            }
        }
        Ok(Some(exception))
    }

    /// An expression for what a frame's thread has stopped for, where that has a value.
    fn exception_expression(&mut self, frame: FrameId, cause: usize) -> Option<String> {
        let expression = match cause {
            0 => "$exception".to_owned(),
            cause => format!("$exception{cause}"),
        };
        self.evaluate(&expression, Some(frame)).ok()?;
        Some(expression)
    }

    /// A thread's stack as a text, a line for each frame.
    fn stack_text(&mut self, thread: ThreadId) -> Result<String, Error> {
        let stack = self.stack(thread, 0..MOST_FRAMES)?;
        let mut lines: Vec<String> = stack.frames.iter().map(frame_line).collect();
        if stack.total != Some(lines.len()) {
            lines.push("…".to_owned());
        }
        Ok(lines.join("\n"))
    }
}

fn frame_line(frame: &crate::frame::Frame) -> String {
    let name = match &frame.function {
        Some(name) => name.clone(),
        None => frame.physical.pc.to_string(),
    };
    match (&frame.position, &frame.physical.module) {
        (Some(at), _) => format!("{name} at {}:{}", at.file.display(), at.line),
        (None, Some(module)) => format!("{name} in {}", module.module.path().display()),
        (None, None) => name,
    }
}

/// The mangled name of the function that a frame is in.
pub(super) fn symbol_of(frame: &PhysicalFrame) -> Option<String> {
    let module = frame.module.as_ref()?;
    let symbol = module.module.symbol_at(module.to_file(frame.lookup))?;
    Some(symbol.name)
}
