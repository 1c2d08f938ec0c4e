//! Stops at sanitizers' reports, and keeps LeakSanitizer from searching for leaks.
//!
//! A report is put together from the pieces that the runtime passes to `__sanitizer_on_print`. Compilers don't inline that function, since
//! programs may replace it, so each piece passes its hook. The thread is stopped at the piece that completes the report: as a rule the
//! summary, or the only line of a failed check for undefined behaviour.
//!
//! To search for leaks, LeakSanitizer stops the program's threads by ptrace. That fails in a program that a debugger traces already, and
//! LeakSanitizer then ends the program with an error. So a thread that is about to search for leaks is made to return at once.

use super::super::Owner;
use super::Hook;
use crate::event::ExceptionKind;
use crate::{Address, Event, ThreadId};
use dapple_arch::InstructionSet;
use dapple_arch::Memory;
use dapple_arch::code::{Decoded, Instructions};
use dapple_inspect::exceptions::pattern::means_text;
use dapple_inspect::exceptions::sanitizer::{Report, Writing};
use dapple_inspect::exceptions::{BreakMode, Exception};
use dapple_inspect::frame::PhysicalFrame;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_symbols::module::Symbol;
use dapple_target::signals::When;

/// How many bytes are read at most of one piece of a report.
const LONGEST_PIECE: usize = 1 << 14;
/// How many innermost frames are searched at most for the runtime's functions.
const MOST_FRAMES: usize = 24;
/// How many bytes are searched at most of the function that calls the search for leaks.
const CALLER: usize = 64;

/// The hooks in a module's sanitizer runtime, if it has one.
pub(super) fn hooks_of(module: &LoadedModule, memory: &dyn Memory) -> Vec<(Hook, Address)> {
    const PRINTS: &str = "__sanitizer_on_print";
    const NAMES: [(Hook, &str); 4] = [
        (Hook::CheckFailed, "__ubsan_on_report"),
        (Hook::LeakCheck, "_ZN6__lsan11DoLeakCheckEv"),
        (Hook::LeakCheck, "_ZN6__lsan26DoRecoverableLeakCheckVoidEv"),
        (Hook::LeakCheck, "__lsan_do_recoverable_leak_check"),
    ];
    // A runtime exports this name, so that programs can replace the function: a module without the name has no runtime.
    if !module.module.has_dynamic_name(PRINTS) {
        return Vec::new();
    }
    let named = |name: &str| -> Vec<Symbol> {
        let mut symbols = module.module.functions_with(name);
        symbols.retain(|symbol| symbol.name.split('@').next() == Some(name));
        symbols
    };
    let prints = named(PRINTS);
    if prints.is_empty() {
        return Vec::new();
    }
    let place = |symbol: &Symbol| module.to_process(symbol.address);
    let mut hooks: Vec<(Hook, Address)> = prints
        .iter()
        .map(|symbol| (Hook::SanitizerWrites, place(symbol)))
        .collect();
    for (hook, name) in NAMES {
        hooks.extend(named(name).iter().map(|symbol| (hook, place(symbol))));
    }
    let calls = named("__lsan_do_leak_check");
    let looks = calls.iter().filter_map(|symbol| {
        let set = module.module.instruction_set(symbol.address);
        goes_to(set, place(symbol), symbol.size, memory)
    });
    hooks.extend(looks.map(|at| (Hook::LeakCheck, at)));
    hooks
}

/// The target of a short function's last call or jump out of itself. The target may have no symbol.
fn goes_to(set: InstructionSet, start: Address, size: u64, memory: &dyn Memory) -> Option<Address> {
    let mut code = [0; CALLER];
    let length = memory.read_some(start, &mut code);
    let size = usize::try_from(size).ok()?.min(length);
    let inside = start.0..start.0.saturating_add(size as u64);
    let leads_out = |instruction: Decoded| {
        let target = instruction.target()?;
        (target.0 != 0 && !inside.contains(&target.0)).then_some(target)
    };
    let instructions = Instructions::flows(set, &code[..size], start);
    instructions.filter_map(leads_out).last()
}

impl Owner {
    /// Adds a piece, which a runtime writes, to the report. Returns the reason to stop, if the piece completes the report and the filter
    /// wants a stop.
    pub(super) fn sanitizer_writes(
        &mut self,
        thread: ThreadId,
        text: Address,
    ) -> Option<(ExceptionKind, Exception)> {
        let mut piece = vec![0; LONGEST_PIECE];
        let length = self.memory().read_some(text, &mut piece);
        piece.truncate(length);
        let end = piece.iter().position(|byte| *byte == 0).unwrap_or(length);
        let piece = String::from_utf8_lossy(&piece[..end]).into_owned();
        let mut writing = std::mem::take(&mut self.exceptions.writing);
        let report = writing.add(&piece, || {
            let names = self.runtime_functions(thread);
            names
                .into_iter()
                .find(|name| name.starts_with("__ubsan_handle_"))
        });
        self.exceptions.writing = writing;
        self.reported(thread, report?)
    }

    /// The names of a thread's innermost functions, innermost first.
    fn runtime_functions(&mut self, thread: ThreadId) -> Vec<String> {
        let frames = self.physical_frames(thread, MOST_FRAMES);
        frames.iter().filter_map(PhysicalFrame::symbol).collect()
    }

    /// The reason to stop for a complete report. `None`: the filter doesn't want a stop, or the report is about a signal for which the
    /// thread was stopped already.
    fn reported(&mut self, thread: ThreadId, report: Report) -> Option<(ExceptionKind, Exception)> {
        let of_signal = report.signal();
        if of_signal.is_some_and(|signal| self.signals.of(signal).stop == When::Always) {
            return None;
        }
        let filter = self.exceptions.filters.sanitizers.clone()?;
        let texts = [&report.sanitizer, &report.kind, &report.text];
        let means = filter.selects(|pattern| texts.iter().any(|text| means_text(pattern, text)));
        let mut note = String::new();
        if !means || !self.holds(thread, Some(&filter), &mut note) {
            return None;
        }
        let mode = match self.ends_the_program(thread, &report) {
            true => BreakMode::Unhandled,
            false => BreakMode::Always,
        };
        let mut exception = report.exception(mode);
        exception.description.push_str(&note);
        Some((ExceptionKind::Report, exception))
    }

    /// Whether the runtime ends the program after a report, judging by the names of its functions.
    fn ends_the_program(&mut self, thread: ThreadId, report: &Report) -> bool {
        let names = self.runtime_functions(thread);
        let has = |end: &str| names.iter().any(|name| name.ends_with(end));
        match report.sanitizer.as_str() {
            "UndefinedBehaviorSanitizer" => has("_abort"),
            "ThreadSanitizer" => false,
            "MemorySanitizer" => has("_noreturn"),
            _ => !has("_noabort"),
        }
    }

    /// Makes a thread that is about to search for leaks return at once.
    pub(super) fn leave_out_leak_check(&mut self, thread: ThreadId) {
        let Some(mut registers) = self.registers(thread) else {
            return;
        };
        let Some((back, sp)) = self.returns_to(&registers) else {
            return;
        };
        registers.set_pc(back);
        registers.set_sp(sp);
        // Some of the functions have a result: 0 means that no leaks were found.
        registers.set(registers.machine().results()[0], 0);
        self.set_registers(thread, registers);
        if !std::mem::replace(&mut self.exceptions.told_of_leaks, true) {
            self.tell(Event::LeaksNotLookedFor);
        }
    }

    /// Reports which runtimes the program has, if nothing was reported yet or there are new ones. A runtime that was unloaded counts as
    /// there: it may come back.
    pub(in crate::owner) fn tell_runtimes(&mut self) {
        let hooks = self.exceptions.known.values().flatten();
        let mut now = self.exceptions.runtimes.unwrap_or_default();
        for (hook, _) in hooks {
            match hook {
                Hook::Catch => now.cpp = true,
                Hook::Panic => now.rust = true,
                Hook::SanitizerWrites => now.sanitizers = true,
                _ => {}
            }
        }
        if self.exceptions.runtimes.replace(now) != Some(now) {
            self.tell(Event::RuntimesKnown(now));
        }
    }

    /// Forgets what is known about the runtimes. Call after exec.
    pub(in crate::owner) fn forget_runtimes(&mut self) {
        self.exceptions.runtimes = None;
        self.exceptions.told_of_leaks = false;
        self.exceptions.writing = Writing::default();
    }
}
