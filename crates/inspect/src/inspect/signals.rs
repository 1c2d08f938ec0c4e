//! Explains the signal that a thread is about to receive, or that has terminated the process.

use super::Inspect;
use crate::exceptions::cpp::Space;
use crate::exceptions::thrown::Thrown;
use crate::exceptions::{BreakMode, Exception, given_up, panicked, sanitizer};
use crate::faults::{self, SignalContext};
use crate::frame::PhysicalFrame;
use crate::unwind;
use crate::{Address, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_target::signal_info::SignalInfo;
use dapple_target::signals;

/// How many frames are searched for the reason of an abort.
const ABORT_FRAMES: usize = 24;
/// The longest message of the C library that is read, in bytes.
const LONGEST_MESSAGE: usize = 2048;

/// What is known of a signal.
pub struct Explained {
    /// For faults, the address that was accessed.
    pub fault: Option<Address>,
    /// A sentence for the user.
    pub description: String,
    /// The exception or panic that the program aborts for.
    abort: Option<Exception>,
}

impl Explained {
    /// The signal as the exception that a thread has stopped for.
    pub fn exception(&self, info: SignalInfo, mode: BreakMode) -> Exception {
        let abort = self.abort.clone().unwrap_or_default();
        Exception {
            id: signals::name(info.number).into_owned(),
            description: self.description.clone(),
            mode,
            message: abort.message.or_else(|| Some(faults::facts(info))),
            thrown: abort.thrown.or(self.fault.map(Thrown::Fault)),
            ..abort
        }
    }
}

/// Explains a signal. `sender` is the name of the process that sent it.
pub fn explain(
    threads: &dyn Inspect,
    process: ThreadId,
    registers: Option<&UserRegisters>,
    info: SignalInfo,
    sender: Option<String>,
) -> Explained {
    let register = |wanted| registers.and_then(|registers| registers.get(wanted));
    let mut code = [0; 16];
    let length = registers.map_or(0, |registers| {
        threads.memory().read_some(registers.pc(), &mut code)
    });
    let is_fault = info.code > 0 && signals::is_fault(info.number);
    let mappings = match is_fault {
        true => threads.mappings(),
        false => Vec::new(),
    };
    let aborts = info.number == libc::SIGABRT && info.code <= 0 && info.sender == process.0;
    let (abort_message, abort) = match aborts {
        true => abort_message(threads, registers),
        false => (None, None),
    };
    let context = SignalContext {
        info,
        process: process.0,
        machine: threads.modules().machine(),
        pc: registers.map(|registers| registers.pc().0),
        sp: registers.map(UserRegisters::sp),
        register: &register,
        code: &code[..length],
        mappings: &mappings,
        abort_message,
        sender,
        trap_message: (info.number == libc::SIGILL && info.code > 0)
            .then(|| trap_message_at(threads, Address(info.address)))
            .flatten(),
    };
    let fault = faults::fault_address(&context).map(Address);
    Explained {
        fault,
        description: faults::describe(&context),
        abort,
    }
}

/// The reason of a trap instruction, from the name of the artificial inlined function that the compiler has put around it.
fn trap_message_at(threads: &dyn Inspect, at: Address) -> Option<String> {
    let module = threads.modules().at(at)?;
    let inlined = module.module.inlined_at(module.to_file(at));
    let mut messages = inlined.iter().rev();
    messages.find_map(|call| sanitizer::trap_message(&call.name))
}

/// Why the program aborts: the message that the C library keeps for core dumps (`__abort_msg`: failed assertions, corrupted heaps,
/// overwritten buffers), what was thrown, or the function that called `abort`. Also returns the exception or panic, if one is the reason.
fn abort_message(
    threads: &dyn Inspect,
    registers: Option<&UserRegisters>,
) -> (Option<String>, Option<Exception>) {
    let message = c_library_message(threads);
    let Some(registers) = registers.filter(|_| message.is_none()) else {
        return (message, None);
    };
    let (modules, memory) = (threads.modules(), threads.memory());
    let frames = unwind::frames(registers.to_dwarf(), modules, memory, ABORT_FRAMES);
    let space = Space { memory, modules };
    let thrown = given_up::at_abort(&frames, space);
    let thrown = thrown.or_else(|| panicked::at_abort(&frames, space));
    let by = match &thrown {
        Some(thrown) => Some(thrown.description.clone()),
        None => aborting_frame(&frames),
    };
    (by.map(|by| format!("the program aborts: {by}")), thrown)
}

fn c_library_message(threads: &dyn Inspect) -> Option<String> {
    // `struct abort_msg_s { unsigned int size; char msg[]; } *__abort_msg`: glibc's internal stdlib.h.
    let mut found = threads.modules().iter().filter_map(|module| {
        let symbol = module.module.symbol_named("__abort_msg")?;
        let message = threads
            .memory()
            .read_address(module.to_process(symbol.address));
        message.ok().filter(|message| *message != 0)
    });
    let message = Address(found.next()?).offset(4);
    let mut bytes = vec![0; LONGEST_MESSAGE];
    let count = threads.memory().read_some(message, &mut bytes);
    bytes.truncate(count);
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let text = String::from_utf8_lossy(&bytes[..end]);
    let text = text.trim().trim_matches('*').trim();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

/// The reason of an abort, if one of the frames belongs to a function of a runtime that is known to abort.
fn aborting_frame(frames: &[PhysicalFrame]) -> Option<String> {
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
    let names: Vec<String> = frames.iter().filter_map(|frame| frame.symbol()).collect();
    let is = |name: &String, wanted: &str| name == wanted || name.ends_with(wanted);
    let mut reasons = REASONS.iter();
    let (_, reason) = reasons.find(|(wanted, _)| names.iter().any(|name| is(name, wanted)))?;
    Some((*reason).to_owned())
}
