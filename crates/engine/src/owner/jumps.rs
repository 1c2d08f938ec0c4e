//! Lets conditions of breakpoints run inside of the program.
//!
//! A breakpoint begins with an `int3`: each thread that comes there stops, and the condition is evaluated here. Once threads have passed it
//! often enough, all threads are stopped for a moment, and the `int3` becomes a jump to a trampoline
//! ([`crate::breakpoints::trampolines`]), if the condition can be compiled and the code there allows a jump. Only "false" is decided in the
//! program; where the condition is true or has no value, the thread traps, and everything goes on as it does at an `int3`.
//!
//! Nobody else sees trampolines: a thread that stops in one is moved to the site or a replaced instruction at once, and back when it goes on.

use super::Owner;
use super::attached::Lent;
use crate::breakpoints::log_ring::Writer;
use crate::breakpoints::options::BreakpointOptions;
use crate::breakpoints::trampolines::{
    ARENA, COUNTERS, Counting, Trampoline, WhereDecided, Within,
};
use crate::breakpoints::wanted::{Decided, Decisions};
use crate::stops::How;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_arch::decision::{
    self, NOT_COUNTED, Record, Recorded, Request, SWITCHED, Saved, Then, Truth, with_flags,
};
use dapple_arch::jump_site::{self, Code, Indirect, JumpSite, MOST_REPLACED};
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::registers::{extended, named};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_inspect::own_ids::has_own_id;
use dapple_target::memory_map::Purpose;
use dapple_target::process::{Process, Resume};
use dapple_target::wait_event::{WaitEvent, What};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The longest function that is searched for jumps into the replaced instructions, in bytes.
const LONGEST_FUNCTION: u64 = 1 << 20;
/// The most room that is kept for a trampoline before its size is known, in bytes.
const MOST_ROOM: u64 = 4096;
/// The most hits that may trap while an earlier one is awaited.
const MOST_ARRIVED: usize = 1000;
/// The most steps with which a thread is brought to the end of a trampoline.
const MOST_STEPS: usize = 200;

const NOT_OWN: &str =
    "its condition has `$thread`, and the program has a thread that the C library does not know";

/// The signals that the kernel raises for an instruction.
const FAULTS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// A hit of a thread that was counted in the program, before the thread was moved back to the site.
#[derive(Debug)]
pub(super) struct CountedHit {
    site: Address,
    sp: u64,
    number: u64,
}

/// What is to be decided in the program.
struct Wanted {
    /// Whether a thread has to be looked at.
    truth: Truth,
    /// If hits are to be counted: how many there were, and how many come before the next that has to be looked at.
    hits: Option<(u64, u64)>,
    /// If the program writes the message: its values, and what is known of the breakpoint.
    logs: Option<(Vec<Recorded>, Writer)>,
    /// The breakpoints, with their options.
    decides: Vec<(i64, BreakpointOptions)>,
    /// If a thread's id has to be known: how far from the thread pointer it has it.
    own_id: Option<u64>,
}

/// Why a site gets no jump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoJump {
    /// It may get one later.
    Now(String),
    /// It gets none as long as its breakpoints stay as they are.
    Ever(String),
}

impl Owner {
    pub(crate) fn set_decided(&mut self, decided: WhereDecided) {
        self.memory.trampolines.decided = decided;
        if decided == WhereDecided::AtStops {
            self.take_all_jumps_out();
        }
    }

    /// Notes that a thread has come to a site, and that none of the breakpoints there stops it. `sp`: the thread's stack pointer.
    pub(super) fn passed_site(&mut self, thread: ThreadId, at: Address, sp: u64) {
        if self.memory.trampolines.decided == WhereDecided::AtStops {
            return;
        }
        self.interruptions().is_at(thread, sp);
        if self.memory.passed(at) && !self.is_calling() {
            self.memory.trampolines.wanted.push(at);
            self.stop_all();
        }
    }

    /// Puts in the jumps that are wanted. Call while all threads are stopped and none is in a trampoline.
    pub(super) fn make_jumps(&mut self) {
        for at in std::mem::take(&mut self.memory.trampolines.wanted) {
            let made = self.make_jump(at);
            tracing::debug!(%at, ?made, "a jump");
            let kept = &mut self.memory.trampolines.refused;
            match made {
                Ok(()) => {
                    kept.remove(&at);
                }
                Err(NoJump::Ever(reason)) => {
                    kept.insert(at, reason);
                }
                Err(NoJump::Now(reason)) => {
                    kept.insert(at, reason);
                    self.memory.pass_again(at);
                }
            }
        }
    }

    fn make_jump(&mut self, at: Address) -> Result<(), NoJump> {
        let ever = |reason: &str| NoJump::Ever(reason.to_owned());
        let now = |reason: &str| NoJump::Now(reason.to_owned());
        let Some(site) = self.site(at) else {
            return Err(ever("the breakpoint is gone"));
        };
        let users = site.users();
        if !site.is_only_users() {
            return Err(now("a step needs the place at present"));
        }
        if !self.debuggee.of_launched && self.guardian().is_none() {
            return Err(ever(
                "the program must outlive the debugger, and there is no guardian for that",
            ));
        }
        if self.stops.has_vfork_children() {
            return Err(now("a child of `vfork` uses the memory"));
        }
        if !self.watches.list.is_empty() {
            return Err(now("data is watched"));
        }
        let stopped = self.stopped_threads();
        for thread in &stopped {
            // It has yet to come to the site. There, it must trap: the jump's decision would count its hit again.
            let control = self.control(*thread);
            let is_counted = control.counted.iter().any(|hit| hit.site == at);
            if is_counted || control.comes_back.iter().any(|noted| noted.0 == at) {
                return Err(now("a thread comes to it whose hit was counted already"));
            }
        }
        let here = |owner: &mut Owner, thread: &ThreadId| {
            owner.registers(*thread).is_some_and(|it| it.pc() == at)
        };
        let Some(thread) = stopped.iter().copied().find(|thread| here(self, thread)) else {
            return Err(now("no thread is there"));
        };
        // First what is found out fast: there may be a breakpoint on each line.
        let mut code = [0; MOST_REPLACED];
        let count = self.memory.read_some(at, &mut code);
        let length = jump_site::replaced_length(at, &code[..count]);
        let length = length.map_err(|unfit| NoJump::Ever(unfit.to_string()))?;
        self.is_free(at..at.offset(length.cast_signed()))
            .map_err(NoJump::Now)?;
        let wanted = self.wanted(thread, at, &users).map_err(NoJump::Ever)?;
        if let Some(distance) = wanted.own_id {
            self.have_own_ids(&stopped, distance)?;
        }
        let module = self.modules().at(at).cloned();
        let module = module.ok_or_else(|| ever("the code is in no file"))?;
        let code = self.function_around(&module, at).map_err(NoJump::Ever)?;
        let replaced = self.replaced_at(&module, at, &code).map_err(NoJump::Ever)?;
        if replaced.ends_in_call() && self.process().has_shadow_stack(thread) {
            return Err(ever(
                "a call would be replaced, and the processor checks returns",
            ));
        }
        let keeps_flags = !jump_site::flags_are_dead(at, &parts(&code));
        self.place_trampoline(thread, replaced, wanted, keeps_flags)
            .map_err(NoJump::Ever)
    }

    /// What is to be decided about a thread that comes to these breakpoints.
    fn wanted(&mut self, thread: ThreadId, at: Address, users: &[i64]) -> Result<Wanted, String> {
        self.take_counts_over();
        let registers = self.registers(thread).ok_or("the thread has ended")?;
        self.looking(thread, registers, |breakpoints, _, here| {
            let mut truth: Option<Truth> = None;
            let mut hits = None;
            let mut logs = None;
            let mut own_id = None;
            let mut decides = Vec::new();
            for id in users {
                let (next, place) = breakpoints.decision(*id, at, here)?;
                truth = Some(match truth {
                    Some(known) => Truth::Or(Box::new((known, next.truth))),
                    None => next.truth,
                });
                own_id = next.own_id.or(own_id);
                let rules = breakpoints.rules(*id).ok_or("the breakpoint is gone")?;
                let options = rules.asked().clone();
                hits = rules.hits().or(hits);
                if let Some(recording) = next.message {
                    let writer = Writer {
                        breakpoint: *id,
                        options: options.clone(),
                        position: place.position,
                        message: recording.message,
                    };
                    logs = Some((recording.values, writer));
                }
                decides.push((*id, options));
            }
            if users.len() > 1 && hits.is_some() {
                return Err("another breakpoint is there, and hits are counted".to_owned());
            }
            if users.len() > 1 && logs.is_some() {
                return Err("another breakpoint is there, and one writes a message".to_owned());
            }
            let truth = truth.ok_or("it has no condition")?;
            Ok(Wanted {
                truth,
                hits,
                logs,
                decides,
                own_id,
            })
        })
    }

    /// Tells the breakpoints how many hits were counted in the program.
    pub(super) fn take_counts_over(&mut self) {
        for counted in std::mem::take(&mut self.memory.trampolines.counted) {
            let rules = self.rules(counted.breakpoint);
            if let Some(rules) = rules.filter(|rules| rules.counts_as(&counted.options)) {
                rules.were_counted(counted.hits);
            }
        }
    }

    /// Before the breakpoints of a site count a hit of a thread. If the hit was counted in the program, returns its number. If not, hits are
    /// no longer counted there, so that only the breakpoints count.
    pub(super) fn counted_hit(&mut self, thread: ThreadId, at: Address) -> Option<u64> {
        let sp = self.registers(thread).map(|registers| registers.sp());
        let counted = &mut self.control(thread).counted;
        let is_here = |it: &CountedHit| it.site == at && Some(it.sp) == sp;
        let found = counted.iter().position(is_here);
        let hit = found.map(|index| counted.remove(index).number);
        if hit.is_none() {
            self.stop_counting_at(at);
        }
        self.take_counts_over();
        hit
    }

    /// Before a thread comes to a site whose hit was counted already: it must not be counted again.
    pub(super) fn stop_counting_at(&mut self, at: Address) {
        let trampoline = self.memory.trampoline_of(at);
        if trampoline.is_some_and(|trampoline| trampoline.counting.is_some()) {
            self.memory.take_jumps_out(at..at.offset(1));
        }
    }

    /// Before a thread runs whose hits don't count: a vfork child, or one that calls a function for the user.
    pub(super) fn stop_counting(&mut self) {
        let counts = |trampoline: &Trampoline| trampoline.counting.is_some();
        self.memory.take_stale_jumps_out(counts);
    }

    /// How it is decided whether the user's breakpoints act.
    pub(crate) fn decisions(&mut self) -> Decisions {
        self.take_counts_over();
        self.tell_logged();
        let deciding = self.deciding_breakpoints();
        let decided = deciding.into_iter().map(|(id, hits)| {
            let mut decided = Decided {
                id,
                in_program: 0,
                by_stops: Vec::new(),
                hits,
                skips: Some(0),
            };
            for at in self.memory.sites_of(id) {
                if let Some(trampoline) = self.memory.trampoline_of(at) {
                    decided.in_program += 1;
                    decided.hits = self.memory.counted_by(trampoline).unwrap_or(hits);
                } else if let Some(reason) = self.memory.trampolines.refused.get(&at)
                    && !decided.by_stops.contains(reason)
                {
                    decided.by_stops.push(reason.clone());
                }
            }
            let hits = self.rules(id).and_then(|it| it.hit_condition());
            let skips = hits.map_or(0, |it| it.skips_after(decided.hits));
            decided.skips = (skips < u64::MAX).then_some(skips);
            decided
        });
        Decisions {
            breakpoints: decided.collect(),
            memory: self.memory.trampolines.size(),
        }
    }

    /// Where a thread goes on that is at a site with a jump, and need not decide.
    pub(super) fn way_past(&self, site: Address) -> Option<Address> {
        let trampoline = self.memory.trampoline_of(site)?;
        { trampoline.entry_of(site) }.filter(|_| !self.memory.is_lost(site))
    }

    /// Puts an `int3` in place of each jump.
    pub(super) fn take_all_jumps_out(&mut self) {
        self.memory.take_jumps_out(Address(0)..Address(u64::MAX));
    }

    /// Lets the hits go on in the program that come before the next on which the breakpoint acts, after the hit with the number `hit`.
    pub(super) fn skip_hits_after(&mut self, at: Address, id: i64, hit: u64) {
        let hits = self.rules(id).and_then(|it| it.hit_condition());
        let skips = |hit: u64| hits.map_or(0, |it| it.skips_after(hit));
        let Some(trampoline) = self.memory.trampoline_of_mut(at) else {
            return;
        };
        let limit = trampoline.arrives(hit, skips);
        let words = trampoline.counting.map(|counting| counting.words);
        let is_stuck = trampoline.arrived.len() > MOST_ARRIVED;
        if let (Some(words), Some(limit)) = (words, limit) {
            self.memory.raise_limit(words, limit);
        }
        if is_stuck {
            // A thread has ended after it had counted its hit.
            self.stop_counting_at(at);
        }
    }

    /// The number of the hit of a thread that has run into the trap of a trampoline. `None`: it wasn't counted.
    fn number_of_hit(&self, trampoline: &Trampoline, sp: u64) -> Option<u64> {
        let counting = trampoline.counting?;
        let slot = Address(sp).offset(trampoline.code.number_slot?);
        let before = self.memory.read_u64(slot).ok()?;
        let is_counted = before != NOT_COUNTED && counting.taken.is_none_or(|taken| before < taken);
        is_counted.then(|| counting.base.saturating_add(before).saturating_add(1))
    }

    /// All code of the function around an address.
    fn function_around(
        &self,
        module: &Arc<LoadedModule>,
        at: Address,
    ) -> Result<Vec<(Address, Vec<u8>)>, String> {
        let lookup = module.to_file(at);
        let function = module.module.function_at(lookup);
        let function = function.ok_or("no debug information describes the function")?;
        let mut code = Vec::new();
        for range in &function.ranges {
            let size = range.end.0.saturating_sub(range.start.0);
            if size > LONGEST_FUNCTION {
                return Err("the function is too long to be searched for jumps".to_owned());
            }
            let start = module.to_process(range.start);
            let mut bytes = vec![0; size as usize];
            if self.memory.read_some(start, &mut bytes) < bytes.len() {
                return Err("the function's code can't be read".to_owned());
            }
            code.push((start, bytes));
        }
        Ok(code)
    }

    /// The instructions that a jump at `at` would replace.
    fn replaced_at(
        &self,
        module: &Arc<LoadedModule>,
        at: Address,
        code: &[(Address, Vec<u8>)],
    ) -> Result<JumpSite, String> {
        let lookup = module.to_file(at);
        let table = module.module.exception_table(lookup);
        let table = table.map_err(|error| error.to_string())?;
        let pads: Vec<Address> = { table.iter() }
            .flat_map(|table| &table.call_sites)
            .filter_map(|call| call.landing_pad.as_ref())
            .map(|pad| module.to_process(pad.address))
            .collect();
        let constants = |address: Address, buffer: &mut [u8]| {
            let start = module.to_file(address);
            let mut segments = module.module.segments().iter();
            let is_constant = segments.any(|segment| {
                let offset = start.0.wrapping_sub(segment.address.0);
                !segment.writable && offset < segment.size
            });
            let bytes = module.module.bytes_at(start, buffer.len());
            let is_read = is_constant && bytes.len() == buffer.len();
            if is_read {
                buffer.copy_from_slice(bytes);
            }
            is_read
        };
        let code = parts(code);
        let is_pad = |address: Address| pads.contains(&address);
        let tables = jump_site::jump_tables(&code, &constants, &is_pad);
        let indirect = match tables {
            Some(_) => Indirect::Known,
            None => Indirect::Unknown,
        };
        let targets = tables.unwrap_or_default();
        let is_entered = |address: Address| is_pad(address) || targets.contains(&address);
        jump_site::plan(at, &code, indirect, &is_entered).map_err(|unfit| unfit.to_string())
    }

    /// Checks that no thread is at a replaced instruction but the first, now or when a signal handler returns, and that no other site is there.
    fn is_free(&mut self, range: Range<Address>) -> Result<(), String> {
        self.find_earlier_interruptions();
        if self.memory.has_site_within(range.clone()) {
            return Err("there is another breakpoint right behind".to_owned());
        }
        let is_inside = |pc: Address| pc > range.start && pc < range.end;
        if self.interruptions().may_return_to(is_inside) {
            return Err("a signal handler may return right behind".to_owned());
        }
        for thread in self.stopped_threads() {
            let registers = self.registers(thread);
            if registers.is_some_and(|registers| is_inside(registers.pc())) {
                return Err("a thread is right behind".to_owned());
            }
        }
        Ok(())
    }

    fn place_trampoline(
        &mut self,
        thread: ThreadId,
        replaced: JumpSite,
        wanted: Wanted,
        keeps_flags: bool,
    ) -> Result<(), String> {
        let start = match self.memory.trampolines.room(replaced.site, MOST_ROOM) {
            Some(start) => start,
            None => self.map_arena(thread, replaced.site)?,
        };
        let counter = match wanted.hits {
            None => None,
            Some(_) => {
                let room = self.memory.trampolines.room_for_counter(start);
                Some(room.ok_or("there is no room for a counter")?)
            }
        };
        let (values, writer) = wanted.logs.unzip();
        let writer = { writer.map(|writer| self.add_writer(thread, writer)) }.transpose()?;
        let relocated = |at: Address| Some(replaced.relocated(at)?.bytes);
        // The guardian turns decisions off with a switch.
        let is_switched = self.guardian().is_some();
        let ahead = if is_switched { SWITCHED } else { 0 };
        let request = Request {
            truth: &wanted.truth,
            at: Address(start.0 + ahead),
            keeps_flags,
            then: match (counter, &values, writer) {
                (Some(counter), ..) => Then::Count(counter),
                (None, Some(values), Some((ring, id))) => Then::Record(Record { ring, id, values }),
                _ => Then::Ask,
            },
            go_on: &relocated,
        };
        let mut code = decision::compile(&request).map_err(|refused| refused.to_string())?;
        if is_switched {
            code = code.switched();
        }
        if code.bytes.len() as u64 > MOST_ROOM {
            return Err("its condition is too long".to_owned());
        }
        let behind = Address(start.0 + code.go_on);
        let relocated = replaced.relocated(behind);
        let relocated = relocated.ok_or("the code there can't be moved")?;
        let trampoline = Trampoline {
            start,
            site: replaced.site,
            replaced,
            code,
            is_switched,
            relocated,
            counting: counter.map(|words| Counting {
                words,
                base: wanted.hits.map_or(0, |(base, _)| base),
                limit: wanted.hits.map_or(0, |(_, limit)| limit),
                taken: None,
            }),
            arrived: BTreeSet::new(),
            writer: writer.map(|(_, id)| id),
            decides: wanted.decides,
            own_id: wanted.own_id,
        };
        self.memory
            .put_jump_in(trampoline)
            .map_err(|error| format!("the jump can't be written: {error}"))
    }

    /// Maps memory for an arena near `near`. Returns where trampolines may be in it.
    fn map_arena(&mut self, thread: ThreadId, near: Address) -> Result<Address, String> {
        if self.memory.trampolines.has_all_arenas() {
            return Err("the memory for deciding in the program is used up".to_owned());
        }
        let mapped = self.process().mappings();
        let mapped = mapped.iter().map(|mapping| mapping.start..mapping.end);
        let place = self.memory.trampolines.place_for_arena(near, mapped);
        let place = place.ok_or("there is no room for code near enough")?;
        let counters = place.offset(ARENA as i64);
        let mapped = self.calling_system(thread, |process, call| {
            process.map(thread, place, ARENA, Purpose::Code, call)?;
            process.map(thread, counters, COUNTERS, Purpose::Data, call)
        });
        mapped.map_err(|reason| format!("no memory can be mapped: {reason}"))?;
        self.memory.trampolines.add_arena(place);
        let room = self.memory.trampolines.room(near, MOST_ROOM);
        room.ok_or_else(|| "there is no room for code near enough".to_owned())
    }

    /// Makes a stopped thread call the system, by what `act` does with the process and the place of a `syscall` instruction.
    pub(super) fn calling_system<T>(
        &mut self,
        thread: ThreadId,
        act: impl FnOnce(&dyn Process, Option<Address>) -> Result<T, String>,
    ) -> Result<T, String> {
        let place = match self.guardian() {
            None => None,
            Some(_) => {
                let place = self.memory.place_for_calls();
                Some(place.ok_or("there is no room for a system call")?)
            }
        };
        self.write_back(thread);
        self.lend(thread, Lent::WithRegisters);
        let answer = act(self.process(), place);
        self.give_back();
        answer
    }

    /// The site of the trampoline whose trap a thread has run into, if the trap is at `trap`.
    pub(super) fn site_asking(&mut self, thread: ThreadId, trap: Address) -> Option<Address> {
        let trampoline = self.memory.trampolines.at(trap)?;
        if trampoline.place_of(trap) != Some(Within::Asking) {
            return None;
        }
        let sp = self.registers(thread)?.sp();
        let trampoline = self.memory.trampolines.at(trap)?;
        let (site, hit) = (trampoline.site, self.number_of_hit(trampoline, sp));
        let slot = trampoline.code.number_slot;
        if trampoline.writer.is_some() && self.found_ring_full(sp, slot) {
            self.control(thread).found_full = Some(site);
        }
        self.note_counted_hit(thread, site, sp, hit);
        Some(site)
    }

    /// Notes the number of a thread's hit, for when it comes to the site: its signal handlers may come to others first.
    fn note_counted_hit(&mut self, thread: ThreadId, site: Address, sp: u64, hit: Option<u64>) {
        let counted = &mut self.control(thread).counted;
        counted.retain(|it| (it.site, it.sp) != (site, sp));
        counted.extend(hit.map(|number| CountedHit { site, sp, number }));
    }

    /// Moves a thread that has stopped in a trampoline to the site or the replaced instruction that it counts as being at. Returns whether it
    /// was in one.
    pub(super) fn leave_trampoline(&mut self, thread: ThreadId) -> bool {
        if self.memory.trampolines.is_empty() {
            return false;
        }
        let Some(registers) = self.registers(thread) else {
            return false;
        };
        let Some((_, within)) = self.within_trampoline(registers.pc()) else {
            return false;
        };
        if within == Within::Counted {
            self.step_out_of_counting(thread);
        }
        let Some(registers) = self.registers(thread) else {
            return true;
        };
        if let Some((site, within)) = self.within_trampoline(registers.pc())
            && let Some(registers) = self.outside(thread, site, &within, registers)
        {
            if self.debuggee.of_launched || registers.pc() == site {
                self.set_registers(thread, registers);
            } else {
                // For the kernel, the thread stays in the trampoline: if the debugger is killed, it must not go on behind the jump's first byte.
                let control = self.control(thread);
                control.registers = Some(registers);
                control.unwritten = true;
            }
        }
        true
    }

    /// Lets a thread whose hit was counted go on to one of the ends of its trampoline. Its signals wait meanwhile.
    fn step_out_of_counting(&mut self, thread: ThreadId) {
        let Ok(mask) = self.process().signal_mask(thread) else {
            return;
        };
        let all_but_traps = !(1 << (libc::SIGTRAP - 1));
        self.lend(thread, Lent::WithSignals);
        let _ = self.process().set_signal_mask(thread, all_but_traps);
        let mut late = Vec::new();
        for _ in 0..MOST_STEPS {
            let registers = self.registers(thread);
            let within = registers.and_then(|it| self.within_trampoline(it.pc()));
            let is_counted = within.is_some_and(|(_, within)| within == Within::Counted);
            if !is_counted || !self.step_within(thread, &mut late) {
                break;
            }
        }
        let _ = self.process().set_signal_mask(thread, mask);
        self.give_back();
        for event in late {
            self.handle_stop(event);
        }
    }

    fn within_trampoline(&self, pc: Address) -> Option<(Address, Within)> {
        let trampoline = self.memory.trampolines.at(pc)?;
        Some((trampoline.site, trampoline.place_of(pc)?))
    }

    /// The registers with which a thread in the trampoline of `site` is shown. `None`: it has to go on by a step first.
    fn outside(
        &mut self,
        thread: ThreadId,
        site: Address,
        within: &Within,
        mut registers: UserRegisters,
    ) -> Option<UserRegisters> {
        match within {
            Within::Counted => return None,
            Within::Asking => {
                let hit = { self.memory.trampolines.at(registers.pc()) }
                    .and_then(|trampoline| self.number_of_hit(trampoline, registers.sp()));
                if hit.is_some() {
                    // It will come to the site again, and must not be counted again.
                    self.stop_counting_at(site);
                }
                self.note_counted_hit(thread, site, registers.sp(), hit);
                registers.set_pc(site);
            }
            Within::At(original, pushed) => {
                if *original == site {
                    self.control(thread).passed = Some(site);
                }
                registers.set_pc(*original);
                registers.set_sp(registers.sp().wrapping_add(*pushed));
            }
            Within::Deciding(saved) => {
                self.restore_saved(thread, saved, &mut registers);
                registers.set_pc(site);
            }
        }
        Some(registers)
    }

    /// Takes the values of registers from the frame of a trampoline. Those that aren't general registers are set at once.
    fn restore_saved(&self, thread: ThreadId, saved: &Saved, registers: &mut UserRegisters) {
        let slot = |offset: u64| Address(registers.sp().wrapping_add(offset));
        let mut before = *registers;
        for (number, offset) in &saved.general {
            if let Ok(value) = self.memory.read_u64(slot(*offset)) {
                before.set(*number, value);
            }
        }
        let mut flags = [0; 2];
        if let Some(offset) = saved.flags
            && self.memory.read(slot(offset), &mut flags).is_ok()
        {
            before.set_flags(with_flags(registers.flags(), flags));
        }
        before.set_sp(registers.sp().wrapping_add(saved.stack));
        if !saved.sse.is_empty() || saved.mxcsr.is_some() {
            self.restore_vectors(thread, saved, slot);
        }
        *registers = before;
    }

    fn restore_vectors(&self, thread: ThreadId, saved: &Saved, slot: impl Fn(u64) -> Address) {
        let Ok(mut state) = self.process().extended_state(thread) else {
            return;
        };
        for (number, offset) in &saved.sse {
            let mut bytes = [0; 16];
            if self.memory.read(slot(*offset), &mut bytes).is_ok() {
                let number = named::VECTORS.start + u16::from(*number);
                let _ = extended::set_bits(&mut state, number, u128::from_le_bytes(bytes));
            }
        }
        let mut bytes = [0; 4];
        if let Some(offset) = saved.mxcsr
            && self.memory.read(slot(offset), &mut bytes).is_ok()
        {
            let _ = extended::set_mxcsr(&mut state, u32::from_le_bytes(bytes));
        }
        let _ = self.process().set_extended_state(thread, &state);
    }

    /// Lets a thread go at most one instruction on. `false`: it has ended. `late`: gets events that have to be handled when the thread is where
    /// it is shown to be.
    fn step_within(&mut self, thread: ThreadId, late: &mut Vec<WaitEvent>) -> bool {
        self.write_back(thread);
        self.control(thread).registers = None;
        let stepped = self.process().resume(thread, Resume::Step, 0).ok();
        let event = stepped.and_then(|()| self.process().event_of(thread));
        let Some(event) = event else {
            return false;
        };
        match event.what {
            // An interrupt that was requested before the thread stopped for another reason.
            What::Signal(libc::SIGTRAP) | What::Interrupted { .. } => true,
            // SIGSTOP can't be blocked.
            What::Signal(_) | What::Group(_) => {
                late.push(event);
                true
            }
            _ => {
                self.handle_stop(event);
                false
            }
        }
    }

    /// Before a thread runs: if it counts as being at an instruction that a jump has replaced, moves it to where that instruction is now. A
    /// thread that is at the site has yet to come there: a single step must run into an `int3`, because it ends in front of a decision.
    pub(super) fn enter_trampoline(&mut self, thread: ThreadId, how: How) {
        if self.memory.trampolines.is_empty() {
            return;
        }
        let Some(mut registers) = self.registers(thread) else {
            return;
        };
        let Some(trampoline) = self.memory.trampoline_for(registers.pc()) else {
            return;
        };
        let site = trampoline.site;
        if self.memory.is_lost(site) {
            // The program has written something else there.
            return self.memory.forget(|address| address == site);
        }
        if site == registers.pc() {
            if how == How::Step {
                self.memory.take_jumps_out(site..site.offset(1));
            }
            return;
        }
        if let Some(entry) = trampoline.entry_of(registers.pc()) {
            registers.set_pc(entry);
            self.set_registers(thread, registers);
        }
    }

    /// Before a signal is delivered: its handler returns to where the thread is, so that a jump that has replaced this instruction is taken out.
    pub(super) fn will_be_interrupted(&mut self, thread: ThreadId) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let pc = registers.pc();
        let sp = registers.sp();
        self.interruptions().add(thread, pc, sp);
        let inner = self.memory.trampoline_for(pc);
        if inner.is_some_and(|trampoline| trampoline.site != pc) {
            self.memory.take_jumps_out(pc..pc.offset(1));
        }
    }

    /// Whether a thread's signal is a fault of a decision that it makes in a trampoline: it can't read what the condition reads. If so, the
    /// thread is moved back to the site, as if it had run into an `int3` there.
    pub(super) fn fault_in_decision(&mut self, thread: ThreadId, signal: i32) -> Option<Address> {
        if !FAULTS.contains(&signal) || self.memory.trampolines.is_empty() {
            return None;
        }
        let registers = self.registers(thread)?;
        let (site, within) = self.within_trampoline(registers.pc())?;
        let is_deciding = matches!(within, Within::Deciding(_));
        let info = self.process().signal_info(thread).ok()?;
        // Signals that processes send have a code that isn't positive (sigaction(2)).
        if !is_deciding || info.code <= 0 {
            return None;
        }
        let registers = self.outside(thread, site, &within, registers)?;
        self.set_registers(thread, registers);
        Some(site)
    }

    // Decisions that depend on the thread's id. A thread that the C library has made has its own id where such a decision reads it. One that
    // the program has made by `clone` alone may have another thread's thread pointer: then no such decision is made in the program any more.

    /// Checks that threads have their ids at a distance from their thread pointers.
    fn have_own_ids(&mut self, threads: &[ThreadId], distance: u64) -> Result<(), NoJump> {
        let all = threads
            .iter()
            .all(|thread| self.has_own_id(*thread, distance));
        all.then_some(())
            .ok_or_else(|| NoJump::Ever(NOT_OWN.to_owned()))
    }

    fn has_own_id(&mut self, thread: ThreadId, distance: u64) -> bool {
        let Some(registers) = self.registers(thread) else {
            // It has ended.
            return true;
        };
        has_own_id(thread, &registers.to_dwarf(), distance, &self.memory)
    }

    /// Notes that a thread has begun, which has yet to stop for the first time.
    pub(super) fn check_own_id_of(&mut self, thread: ThreadId) {
        let trampolines = &mut self.memory.trampolines;
        if trampolines.used().any(|one| one.own_id.is_some()) {
            trampolines.unchecked.insert(thread);
        }
    }

    /// Before a thread runs.
    pub(super) fn check_new_thread(&mut self, thread: ThreadId) {
        if !self.memory.trampolines.unchecked.remove(&thread) {
            return;
        }
        let used = self.memory.trampolines.used();
        let Some(distance) = used.filter_map(|one| one.own_id).next() else {
            return;
        };
        if !self.has_own_id(thread, distance) {
            (self.memory).take_stale_jumps_out(|trampoline| trampoline.own_id.is_some());
        }
    }
}

fn parts(code: &[(Address, Vec<u8>)]) -> Vec<Code<'_>> {
    { code.iter() }
        .map(|(start, bytes)| Code {
            start: *start,
            bytes,
        })
        .collect()
}
