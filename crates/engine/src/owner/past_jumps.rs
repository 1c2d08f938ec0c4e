//! Finds the state in which a run of the past ends, or the present, inside of the copy that runs.
//!
//! Where that state's address is passed often, a stop for each pass would take most of the time. So the site there becomes a jump, as that of a
//! breakpoint with a condition does ([`super::jumps`]), to code that compares all registers and some memory
//! ([`dapple_arch::decision::Exact`]). Only a thread that is like the wanted one there traps, and is then compared as a whole.
//!
//! What of the memory is compared: at first, the stack around the stack pointer. If a thread traps that differs elsewhere, that place comes in
//! front, and stays among those that are compared.

use super::Owner;
use super::jumps::{MOST_ROOM, NoJump};
use super::pass_counts::word_in;
use super::same_memory::Differences;
use crate::breakpoints::trampolines::Trampoline;
use crate::{Address, ThreadId};
use dapple_arch::abi::RED_ZONE;
use dapple_arch::decision::{Exact, MOST_PIECES, MOST_WITH_PASSES, compile_exact};
use dapple_arch::instructions::{LONGEST, decode};
use dapple_arch::jump_site::{self, Code, Indirect, JumpSite};
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::signal_frame::without_last_exceptions;
use dapple_inspect::inspect::Inspect;
use dapple_target::process::Process;
use std::ops::Range;

/// The bytes of the stack that are compared.
const STACK: usize = 448;
/// How much of an arena is no code: it is written by the code, and a processor runs code slowly that is written near.
const WRITTEN: u64 = 4096;

/// A state to be found.
pub(super) struct Ahead {
    pub(super) registers: UserRegisters,
    /// What memory has. What is most likely to be different in other states comes first.
    pub(super) memory: Vec<(Address, Box<[u8]>)>,
}

impl Ahead {
    /// The state in which a process stands still. `differs`: where others have been different.
    pub(super) fn of(
        registers: UserRegisters,
        process: &dyn Process,
        differs: &Differences,
    ) -> Ahead {
        let read = |at: Address, count: usize| {
            let mut bytes = vec![0; count];
            let length = process.read_some(at, &mut bytes) & !3;
            bytes.truncate(length);
            bytes
        };
        let first = differs.iter().map(|at| Address(at.0 & !3));
        let first = first.map(|at| (at, read(at, 4).into_boxed_slice()));
        let stack = Address(registers.sp().wrapping_sub(RED_ZONE) & !3);
        let kept = without_last_exceptions(stack, &read(stack, STACK));
        let memory = first.chain(kept).collect();
        Ahead { registers, memory }
    }
}

/// The end of what a jump and the instructions that it replaces take.
fn covered_end(replaced: &JumpSite) -> Address {
    replaced.site.offset(replaced.covered().cast_signed())
}

impl Owner {
    /// A thread has passed the site of a state of the past that it isn't in.
    pub(super) fn passed_other_state(&mut self, at: Address) {
        if !self.is_awaited_at(at) {
            return;
        }
        if self.has_jump(at) {
            // The code there has compared too little.
            self.counted_by_hand(at);
            self.take_jump_out(at);
        }
        // The end of a turn stops the thread in each run: to count its passes is of no use.
        if self.turn_end_pc() != Some(at) {
            self.note_pass(at);
        }
        if self.dies_with_debugger() && self.is_often_passed(at) {
            self.trampolines_mut().wanted.push(at);
            self.stop_all();
        }
    }

    /// Whether a jump could replace the instruction at an address, a long one, where no thread is in its way. `thread`: any stopped one.
    pub(super) fn fits_jump(&self, thread: ThreadId, at: Address) -> bool {
        let replaced = self.replaced_in_past(thread, at);
        replaced
            .is_ok_and(|it| it.targets().is_none() && !self.has_site_within(at..covered_end(&it)))
    }

    /// As [`Owner::fits_jump`], in a run in which nothing is looked for.
    pub(super) fn will_fit_jump(&self, thread: ThreadId, at: Address) -> bool {
        let replaced = self.replaced_in_past(thread, at);
        replaced.is_ok_and(|it| !self.has_lasting_site_within(at..covered_end(&it)))
    }

    /// What a jump at an address would take behind its first byte. It is empty if none fits.
    pub(super) fn within_jump(&self, thread: ThreadId, at: Address) -> Range<Address> {
        let replaced = self.replaced_in_past(thread, at);
        let behind = at.offset(1);
        behind..replaced.map_or(behind, |replaced| covered_end(&replaced))
    }

    /// What a jump would replace at an address where an instruction begins.
    fn replaced_in_past(&self, thread: ThreadId, at: Address) -> Result<JumpSite, String> {
        if self.repeated_at(at).is_some() {
            // Code there would compare with the state in front of it ([`super::repeated_instructions`]).
            return Err("the instruction is repeated".into());
        }
        if let Ok((replaced, _)) = self.replaced_by_jump(thread, at) {
            return Ok(replaced);
        }
        // Nothing is known of the function, but into one instruction nobody jumps.
        let module = self.modules().at(at);
        module.ok_or("the code is in no file")?;
        let mut code = [0; LONGEST];
        let count = self.memory().read_some(at, &mut code);
        let instruction = decode(at, &code[..count]).ok_or("the code can't be read")?;
        let bytes = &code[..instruction.len()];
        let alone = [Code { start: at, bytes }];
        let replaced = jump_site::plan(at, &alone, Indirect::Unknown, &|_| false)
            .or_else(|_| jump_site::plan_short(at, &code[..count]));
        let replaced = replaced.map_err(|unfit| unfit.to_string())?;
        match replaced.ends_in_call() && self.process().has_shadow_stack(thread) {
            false => Ok(replaced),
            true => Err("a call would be replaced, and the processor checks returns".into()),
        }
    }

    /// Whether a state is waited for at an address.
    pub(super) fn is_awaited_at(&self, at: Address) -> bool {
        self.end_pc() == Some(at) || self.turn_end_pc() == Some(at)
    }

    /// The state that is waited for at an address. The end of a turn comes before that of the run.
    pub(super) fn awaited_at(&self, at: Address) -> Option<Ahead> {
        let next = self.turn_end_ahead().or_else(|| self.state_ahead());
        next.filter(|ahead| ahead.registers.pc() == at)
    }

    /// Puts a jump in at a site where only a state of the past is waited for.
    pub(super) fn make_past_jump(&mut self, at: Address) -> Result<(), NoJump> {
        let now = |reason: &str| NoJump::Now(reason.to_owned());
        // The code there reads memory that may be watched.
        if !self.is_quiet() && self.watches_reads() {
            return Err(now("reads of data are watched"));
        }
        let ahead = self.awaited_at(at);
        let passes = self.passes_for_code(at);
        if ahead.is_none() && passes.is_none() {
            return Err(now("nothing is waited for there"));
        }
        let thread = self.stopped_threads().into_iter().next();
        let thread = thread.ok_or_else(|| now("no thread is stopped"))?;
        let site = self.replaced_in_past(thread, at).map_err(NoJump::Ever)?;
        if self.has_site_within(at..covered_end(&site)) {
            return Err(now("there is another breakpoint right behind"));
        }
        let replaced = at..site.end();
        self.is_left_alone(replaced.clone()).map_err(NoJump::Now)?;
        let waiting = self.waiting_within(&replaced)?;
        let word = self.place_past_trampoline(thread, site, ahead.as_ref(), passes);
        let word = word.map_err(NoJump::Ever)?;
        if passes.is_some() {
            self.counted_by_code(word);
        }
        for thread in waiting {
            self.moves_into_code(thread, at);
        }
        Ok(())
    }

    /// The threads that wait for their turns right behind an instruction which a jump is about to replace, with others in `replaced`. They are
    /// stopped for the kernel alone: when they run, nobody moves them into the code, as is done with those that are stopped.
    fn waiting_within(&self, replaced: &Range<Address>) -> Result<Vec<ThreadId>, NoJump> {
        let stopped = self.stopped_threads();
        let within = |thread: &ThreadId| {
            let registers = self.process().registers(*thread);
            registers.is_ok_and(|it| it.pc() > replaced.start && it.pc() < replaced.end)
        };
        let waiting = self.live_threads().filter(|it| !stopped.contains(it));
        let waiting: Vec<_> = waiting.filter(within).collect();
        let may_move = |thread: &ThreadId| {
            { self.history_live() }.is_some_and(|live| live.waits_amid_code(*thread))
        };
        match waiting.iter().all(may_move) {
            true => Ok(waiting),
            false => Err(NoJump::Now(
                "a thread is right behind, in a system call or before a signal".to_owned(),
            )),
        }
    }

    /// Moves a thread that waits for its turn to where the instruction is now that it is at, one that the jump at a site has replaced.
    fn moves_into_code(&mut self, thread: ThreadId, site: Address) {
        let Ok(mut registers) = self.process().registers(thread) else {
            return;
        };
        let entry = self.trampoline_for(site);
        let entry = entry.and_then(|trampoline| trampoline.entry_of(registers.pc()));
        match entry {
            Some(entry) => {
                registers.set_pc(entry);
                // Fails only if the thread has died.
                let _ = self.process().set_registers(thread, &registers);
            }
            None => {
                self.counted_by_hand(site);
                self.take_jump_out(site);
            }
        }
    }

    /// Returns where passes are counted, if they are.
    fn place_past_trampoline(
        &mut self,
        thread: ThreadId,
        replaced: JumpSite,
        ahead: Option<&Ahead>,
        passes: Option<u64>,
    ) -> Result<Address, String> {
        let start = self.room_for_past(thread, &replaced)?;
        let arena = self
            .trampolines()
            .arena_at(start)
            .ok_or("it is in no arena")?;
        let kept = Address(arena.end.0 - WRITTEN);
        if let Some(left) = passes {
            let written = self.process().write(word_in(kept), &left.to_le_bytes());
            written.map_err(|error| error.to_string())?;
        }
        let most = match passes {
            Some(_) => MOST_WITH_PASSES,
            None => MOST_PIECES,
        };
        let memory = ahead.map(|ahead| self.compared_memory(ahead, passes.is_none(), most));
        let registers = ahead.map(|ahead| {
            let dwarf = ahead.registers.to_dwarf();
            std::array::from_fn(|number| dwarf.get(number as u16).unwrap_or_default())
        });
        let relocated = |at: Address| Some(replaced.relocated(at)?.bytes);
        let code = compile_exact(&Exact {
            counts: passes.is_some(),
            registers,
            memory: memory.as_deref().unwrap_or_default(),
            at: start,
            kept,
            go_on: &relocated,
        });
        let code = code.map_err(|refused| refused.to_string())?;
        if code.bytes.len() as u64 > MOST_ROOM {
            return Err("the code would be too long".into());
        }
        let trampoline = Trampoline::of(start, replaced, code);
        self.put_jump_in(trampoline.ok_or("the code there can't be moved")?)?;
        Ok(word_in(kept))
    }

    /// Where the code for a place can be.
    fn room_for_past(&mut self, thread: ThreadId, replaced: &JumpSite) -> Result<Address, String> {
        // One room more, so that the code doesn't come near what it writes.
        const ROOM: u64 = MOST_ROOM + WRITTEN;
        let targets = replaced.targets();
        let room = match &targets {
            None => self.trampolines().room(replaced.site, ROOM),
            Some(targets) => self.trampolines().room_within(targets, ROOM),
        };
        match (room, targets) {
            (Some(room), _) => Ok(room),
            (None, None) => self.map_arena(thread, replaced.site),
            (None, Some(targets)) => self.map_arena_within(thread, &targets),
        }
    }

    /// What memory is to be compared: what is different now comes first. `elsewhere`: also memory that may not be there at other times. `most`: so
    /// many pieces.
    fn compared_memory(&self, ahead: &Ahead, elsewhere: bool, most: usize) -> Vec<(Address, u32)> {
        let stack = Address(ahead.registers.sp().wrapping_sub(RED_ZONE) & !3);
        let is_there = |at: &Address| elsewhere || (stack..stack.offset(STACK as i64)).contains(at);
        let (mut differ, mut equal) = (Vec::new(), Vec::new());
        for (at, bytes) in ahead.memory.iter().filter(|(at, _)| is_there(at)) {
            let mut now = vec![0; bytes.len()];
            self.process().read_some(*at, &mut now);
            for (index, (wanted, now)) in (0..).zip(bytes.chunks_exact(4).zip(now.chunks(4))) {
                let word = u32::from_le_bytes(wanted.try_into().unwrap_or_default());
                let piece = (at.offset(4 * index), word);
                match wanted == now {
                    true => equal.push(piece),
                    false => differ.push(piece),
                }
            }
        }
        differ.extend(equal);
        differ.truncate(most);
        differ
    }
}
