//! Lets conditions of breakpoints run inside of the program.
//!
//! A breakpoint begins with an `int3`: each thread that comes there stops, and the condition is evaluated here. Once threads have passed it
//! often enough, all threads are stopped for a moment, and the `int3` becomes a jump to a trampoline
//! ([`crate::breakpoints::trampolines`]), if the condition can be compiled and the code there allows a jump. Only "false" is decided in the
//! program; where the condition is true or has no value, the thread traps, and everything goes on as it does at an `int3`. What becomes of
//! threads that stop in a trampoline: [`super::in_trampolines`]. Messages that the program writes: [`super::logging`].

use super::Owner;
use super::attached::Lent;
use crate::breakpoints::log_ring::Writer;
use crate::breakpoints::options::BreakpointOptions;
use crate::breakpoints::passes::{COUNTERS, Counters, Passes};
use crate::breakpoints::trampolines::{ARENA, Trampoline, Trampolines, WhereDecided};
use crate::breakpoints::wanted::{Decided, Decisions};
use crate::{Address, ThreadId};
use dapple_arch::Machine;
use dapple_arch::decision::{self, Record, Recorded, Request, SWITCHED, Then, Truth};
use dapple_arch::jump_site::{self, Code, Indirect, JumpSite, MOST_REPLACED};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_inspect::own_ids::has_own_id;
use dapple_target::linux::shared_words::SharedWords;
use dapple_target::process::Process;
use std::ops::Range;
use std::sync::Arc;

/// The longest function that is searched for jumps into the replaced instructions, in bytes.
const LONGEST_FUNCTION: u64 = 1 << 20;
/// The most room that is kept for a trampoline before its size is known, in bytes.
pub(super) const MOST_ROOM: u64 = 4096;
const NOT_OWN: &str =
    "its condition has `$thread`, and the program has a thread that the C library does not know";

/// What is to be decided in the program.
pub(super) struct Wanted {
    /// Whether a thread has to be looked at.
    pub(super) truth: Truth,
    /// If hits are to be counted: how many come before the next that has to be looked at.
    pub(super) skips: Option<u64>,
    /// If the program writes the message: its values, and what is known of the breakpoint.
    pub(super) logs: Option<(Vec<Recorded>, Writer)>,
    /// The breakpoints, with their options.
    pub(super) decides: Vec<(i64, BreakpointOptions)>,
    /// If a thread's id has to be known: how far from the thread pointer it has it.
    pub(super) own_id: Option<u64>,
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
            self.memory.take_conditions_out(|_| true);
            self.take_all_jumps_out();
        }
    }

    /// Notes that a thread has come to a site, and that none of the breakpoints there stops it. `sp`: the thread's stack pointer.
    pub(super) fn passed_site(&mut self, thread: ThreadId, at: Address, sp: u64) {
        if self.memory.trampolines.decided == WhereDecided::AtStops {
            return;
        }
        let machine = self.process().machine();
        if machine != Machine::X86_64 {
            let why = format!(
                "conditions are compiled for x86-64, not for {}",
                machine.name()
            );
            self.memory.trampolines.refused.entry(at).or_insert(why);
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
            let made = made.or_else(|refused| self.leave_to_stub(at, refused));
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
        if site.is_only_past(self.memory.is_quiet()) {
            return self.make_past_jump(at);
        }
        if !site.is_only_users() {
            return Err(now("a step needs the place at present"));
        }
        if !self.dies_with_debugger() && self.guardian().is_none() {
            return Err(ever(
                "the program must outlive the debugger, and there is no guardian for that",
            ));
        }
        if self.is_recorded() {
            return Err(ever("the program is recorded"));
        }
        if self.has_vfork_children() {
            return Err(now("a child of `vfork` uses the memory"));
        }
        if !self.watches.list.is_empty() {
            return Err(now("data is watched"));
        }
        let stopped = self.stopped_threads();
        for thread in &stopped {
            // It has yet to come to the site. There, it must trap: the jump's decision would count its hit again.
            let control = self.control(*thread);
            if control.comes_back.iter().any(|noted| noted.0 == at) {
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
        let end = self.end_of_jump(at).map_err(NoJump::Ever)?;
        self.is_free(at..end).map_err(NoJump::Now)?;
        let wanted = self.wanted(thread, at, &users).map_err(NoJump::Ever)?;
        if let Some(distance) = wanted.own_id {
            self.have_own_ids(&stopped, distance)?;
        }
        let (replaced, keeps_flags) = self.replaced_by_jump(thread, at).map_err(NoJump::Ever)?;
        self.place_trampoline(thread, replaced, wanted, keeps_flags)
            .map_err(NoJump::Ever)
    }

    /// The end of the instructions that a jump at an address would replace, if nothing but these matter.
    fn end_of_jump(&self, at: Address) -> Result<Address, String> {
        let mut code = [0; MOST_REPLACED];
        let count = self.memory.read_some(at, &mut code);
        let length = jump_site::replaced_length(at, &code[..count]);
        let length = length.map_err(|unfit| unfit.to_string())?;
        Ok(at.offset(length.cast_signed()))
    }

    /// What a jump at `at` would replace, and whether the status flags have to be kept there. `thread`: any stopped one.
    pub(super) fn replaced_by_jump(
        &self,
        thread: ThreadId,
        at: Address,
    ) -> Result<(JumpSite, bool), String> {
        let module = self.modules().at(at).cloned();
        let module = module.ok_or("the code is in no file")?;
        let code = self.function_around(&module, at)?;
        let replaced = self.replaced_at(&module, at, &code)?;
        if replaced.ends_in_call() && self.process().has_shadow_stack(thread) {
            return Err("a call would be replaced, and the processor checks returns".into());
        }
        let keeps_flags = !jump_site::flags_are_dead(at, &parts(&code));
        Ok((replaced, keeps_flags))
    }

    /// What is to be decided about a thread that comes to these breakpoints.
    pub(super) fn wanted(
        &mut self,
        thread: ThreadId,
        at: Address,
        users: &[i64],
    ) -> Result<Wanted, String> {
        self.take_counts_over();
        let registers = self.registers(thread).ok_or("the thread has ended")?;
        self.looking(thread, registers, |breakpoints, _, here| {
            let mut truth: Option<Truth> = None;
            let mut skips = None;
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
                skips = rules.skips().or(skips);
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
            if users.len() > 1 && skips.is_some() {
                return Err("another breakpoint is there, and hits are counted".to_owned());
            }
            if users.len() > 1 && logs.is_some() {
                return Err("another breakpoint is there, and one writes a message".to_owned());
            }
            let truth = truth.ok_or("it has no condition")?;
            Ok(Wanted {
                truth,
                skips,
                logs,
                decides,
                own_id,
            })
        })
    }

    /// Tells the breakpoints how many more hits were counted in the program, as far as that was noted.
    pub(super) fn take_counts_over(&mut self) {
        for counted in std::mem::take(&mut self.memory.trampolines.counted) {
            let rules = self.rules(counted.breakpoint);
            if let Some(rules) = rules.filter(|rules| rules.counts_as(&counted.options)) {
                rules.count_more(counted.hits);
            }
        }
    }

    /// Before a thread runs whose hits neither count nor are logged: a vfork child, or one that calls a function for the user.
    pub(super) fn stop_counting(&mut self) {
        let counts =
            |trampoline: &Trampoline| trampoline.passes.is_some() || trampoline.writer.is_some();
        self.memory.take_stale_jumps_out(counts);
    }

    /// How it is decided whether the user's breakpoints act.
    pub(crate) fn decisions(&mut self) -> Decisions {
        self.memory.trampolines.note_counted();
        self.take_counts_over();
        self.tell_logged();
        let deciding = self.deciding_breakpoints();
        let decided = deciding.into_iter().map(|(id, hits)| {
            let mut decided = Decided {
                id,
                in_program: 0,
                by_stub: 0,
                by_stops: Vec::new(),
                hits,
                skips: Some(0),
            };
            for at in self.memory.sites_of(id) {
                if self.memory.trampoline_of(at).is_some() {
                    decided.in_program += 1;
                } else if self.memory.is_decided_by_stub(at) {
                    decided.by_stub += 1;
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

    /// Puts an `int3` in place of the jump that replaces the instruction at an address.
    pub(super) fn take_jump_out(&mut self, at: Address) {
        self.memory.take_jumps_out(at..at.offset(1));
    }

    /// Puts an `int3` in place of each jump.
    pub(super) fn take_all_jumps_out(&mut self) {
        self.memory.take_jumps_out(Address(0)..Address(u64::MAX));
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
        self.is_left_alone(range.clone())?;
        for thread in self.stopped_threads() {
            let registers = self.registers(thread);
            if registers.is_some_and(|it| it.pc() > range.start && it.pc() < range.end) {
                return Err("a thread is right behind".to_owned());
            }
        }
        Ok(())
    }

    /// As [`Owner::is_free`], in a process in which stopped threads may be at replaced instructions: they go on where these are then
    /// ([`Owner::enter_trampoline`]).
    pub(super) fn is_left_alone(&mut self, range: Range<Address>) -> Result<(), String> {
        self.find_earlier_interruptions();
        if self.memory.has_site_within(range.clone()) {
            return Err("there is another breakpoint right behind".to_owned());
        }
        let is_inside = |pc: Address| pc > range.start && pc < range.end;
        if self.interruptions().may_return_to(is_inside) {
            self.forget_past_interruptions();
        }
        if self.interruptions().may_return_to(is_inside) {
            return Err("a signal handler may return right behind".to_owned());
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
        let counting = wanted.skips.zip(wanted.decides.first());
        let counting = counting.map(|(skips, (id, _))| self.passes(thread, *id, skips));
        let passes = counting.transpose()?;
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
            then: match (&passes, &values, writer) {
                (Some(passes), ..) => Then::Count(passes.counter),
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
        let trampoline = Trampoline::of(start, replaced, code);
        let trampoline = trampoline.ok_or("the code there can't be moved")?;
        self.put_jump_in(Trampoline {
            is_switched,
            passes,
            writer: writer.map(|(_, id)| id),
            decides: wanted.decides,
            own_id: wanted.own_id,
            ..trampoline
        })
    }

    /// By what the program counts the hits of a breakpoint: lets `count` go on, unless some may go on already.
    fn passes(&mut self, thread: ThreadId, id: i64, count: u64) -> Result<Arc<Passes>, String> {
        if let Some(passes) = self.memory.trampolines.passes_of(id) {
            return Ok(passes);
        }
        if self.memory.trampolines.counters.is_none() {
            let shared = self.calling_system(thread, |process, call| {
                process.share(thread, COUNTERS, call)
            });
            let (at, file) = shared.map_err(|why| format!("no memory can be shared: {why}"))?;
            let words = SharedWords::new(&file, COUNTERS as usize);
            let words = words.map_err(|why| format!("no memory can be shared: {why}"))?;
            self.memory.trampolines.counters = Some(Counters::new(at, words));
        }
        let counters = self.memory.trampolines.counters.as_mut();
        let passes = counters.and_then(Counters::free);
        let passes = passes.ok_or("there is no room for a counter")?;
        passes.give(count);
        Ok(passes)
    }

    /// Maps memory for an arena near `near`. Returns where trampolines may be in it.
    pub(super) fn map_arena(&mut self, thread: ThreadId, near: Address) -> Result<Address, String> {
        self.map_arena_at(thread, |trampolines, mapped| {
            trampolines.place_for_arena(near, mapped)
        })?;
        let room = self.memory.trampolines.room(near, MOST_ROOM);
        room.ok_or_else(|| "there is no room for code near enough".to_owned())
    }

    /// Maps memory for an arena that begins in `range`. Returns where.
    pub(super) fn map_arena_within(
        &mut self,
        thread: ThreadId,
        range: &Range<Address>,
    ) -> Result<Address, String> {
        self.map_arena_at(thread, |trampolines, mapped| {
            trampolines.place_within(range, mapped)
        })
    }

    fn map_arena_at(
        &mut self,
        thread: ThreadId,
        place: impl FnOnce(&Trampolines, Vec<Range<u64>>) -> Option<Address>,
    ) -> Result<Address, String> {
        if self.memory.trampolines.has_all_arenas() {
            return Err("the memory for deciding in the program is used up".to_owned());
        }
        let mapped = self.process().mappings();
        let mapped = mapped.iter().map(|mapping| mapping.start..mapping.end);
        // In the past, what the program is yet to map has to stay free, too.
        let mapped = mapped.chain(self.mapped_in_history()).collect();
        let place = place(&self.memory.trampolines, mapped);
        let place = place.ok_or("there is no room for code near enough")?;
        let mapped = self.calling_system(thread, |process, call| {
            process.map_code(thread, place, ARENA, call)
        });
        mapped.map_err(|reason| format!("no memory can be mapped: {reason}"))?;
        let is_writable = self.process().is_copy();
        self.memory.trampolines.add_arena(place, is_writable);
        Ok(place)
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
        if let Some(place) = place {
            self.lend(thread, Lent::ForCalls(place));
        }
        let answer = act(self.process(), place);
        self.give_back();
        answer
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
