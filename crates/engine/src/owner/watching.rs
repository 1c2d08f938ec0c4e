//! Data breakpoints (watchpoints): resolves what to watch, and sets every thread's debug registers.
//!
//! A thread's debug registers can be set only while it is stopped, so each gets them when it is next resumed ([`Owner::watch_before_run`]),
//! and a new thread before its first instruction. If there is something new to watch while the process runs, all threads are stopped for
//! a moment. A watch on a local ends with its frame ([`super::frame_ends`]).

use super::Owner;
use super::last_write::SEARCHED;
use crate::breakpoints::data::{
    Access, DataBreakpoint, DataBreakpointState, DataPlace, DataRefusal, DataTarget, FrameOnStack,
    WatchedData,
};
use crate::breakpoints::options::Rules;
use crate::event::Event;
use crate::stops::Mode;
use crate::{Address, Error, ThreadId};
use dapple_arch::Machine;
use dapple_arch::Memory;
use dapple_arch::abi::RED_ZONE;
use dapple_arch::registers::Registers;
use dapple_arch::watch_slots::{SLOTS, Slot, Table, pieces};
use dapple_inspect::eval;
use dapple_inspect::frame::{Frame, PhysicalFrame};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_inspect::unwind;
use dapple_inspect::values::{Contents, NamedValue};
use dapple_symbols::functions::Language;
use dapple_symbols::location::{Place, Unavailable};
use std::sync::Arc;

/// The most frames that are searched for the one that has the data.
const MOST_FRAMES: usize = 1024;
/// How many bytes of untyped memory are watched by default; also the most that one debug register watches.
const WORD: u64 = 8;
/// The end of the user-space addresses.
const USER_END: u64 = 1 << 47;

/// The data breakpoints, and the debug registers that they share.
#[derive(Debug, Default)]
pub(super) struct Watches {
    pub(super) list: Vec<Watch>,
    pub(super) table: Table,
    /// What the step under way waits for: that the stack word with its return address is read.
    pub(super) of_step: Option<Slot>,
    /// The numbers that tell the states of the coroutines that the step under way is about.
    pub(super) of_states: Vec<Slot>,
}

/// A data breakpoint.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) id: i64,
    pub(super) wanted: DataBreakpoint,
    pub(super) found: Option<DataTarget>,
    refused: Option<DataRefusal>,
    pub(super) rules: Rules,
    pub(super) slots: Vec<Slot>,
    /// The watched bytes as last read.
    pub(super) last: Vec<u8>,
}

impl Watch {
    pub(super) fn name(&self) -> &str {
        match (&self.found, &self.wanted.data) {
            (Some(target), _) => &target.name,
            (None, WatchedData::Target(target)) => &target.name,
            (None, WatchedData::Static { name, .. }) => name,
        }
    }

    pub(super) fn state(&self) -> DataBreakpointState {
        DataBreakpointState {
            id: self.id,
            name: self.name().to_owned(),
            address: self.found.as_ref().map(|target| target.address),
            refused: self.refused.clone(),
        }
    }

    fn needs(&self) -> Vec<Slot> {
        let Some(target) = &self.found else {
            return Vec::new();
        };
        let reads = matches!(self.wanted.access, Access::Read | Access::ReadWrite);
        let roomy = self.wanted.access == Access::Change;
        pieces(target.address.0, target.length, reads, roomy)
    }
}

/// Whether a request names the same breakpoint as an earlier one.
fn same(one: &DataBreakpoint, other: &DataBreakpoint) -> bool {
    let data = match (&one.data, &other.data) {
        (WatchedData::Target(a), WatchedData::Target(b)) => {
            (&a.name, a.address, a.length, a.frame) == (&b.name, b.address, b.length, b.frame)
        }
        (
            WatchedData::Static {
                name,
                language,
                length,
            },
            WatchedData::Static {
                name: n,
                language: g,
                length: l,
            },
        ) => (name, language, length) == (n, g, l),
        _ => false,
    };
    data && one.access == other.access
}

impl Owner {
    pub(crate) fn data_target(
        &mut self,
        place: DataPlace,
        length: Option<u64>,
    ) -> Result<DataTarget, Error> {
        self.require_some_stopped()?;
        match place {
            DataPlace::Address(address) => self.raw_target(address, length.unwrap_or(WORD)),
            DataPlace::Static(name, language) => self.static_target(&name, language, length),
            DataPlace::Value(named) => self.value_target(named, self.current(), length),
            DataPlace::Expression(text, frame) => {
                let thread = self.thread_for(frame.map(|frame| frame.thread));
                let (named, _) = self.evaluate(&text, frame)?;
                let target = self.value_target(named, thread, length)?;
                Ok(DataTarget {
                    moves: frame.is_some_and(|frame| self.has_several_homes(&text, frame)),
                    ..target
                })
            }
        }
    }

    fn raw_target(&mut self, address: Address, length: u64) -> Result<DataTarget, Error> {
        let target = DataTarget {
            name: address.to_string(),
            address,
            length,
            value: None,
            type_name: String::new(),
            frame: None,
            moves: false,
            persistent: None,
        };
        self.checked(target)
    }

    /// The static variable that an expression names when it is evaluated without a frame.
    fn static_target(
        &self,
        name: &str,
        language: Language,
        length: Option<u64>,
    ) -> Result<DataTarget, Error> {
        let value = eval::evaluate(
            name,
            &no_frame(&self.modules().iter().next().cloned(), language),
            &self.reader(),
        )?;
        let target = self.target_of(value, length)?;
        if self.modules().at(target.address).is_none() {
            return Err(Error::Expression(format!(
                "`{name}` is not at one place as long as the program runs"
            )));
        }
        self.checked(DataTarget {
            persistent: Some(language),
            ..target
        })
    }

    fn value_target(
        &mut self,
        named: NamedValue,
        thread: ThreadId,
        length: Option<u64>,
    ) -> Result<DataTarget, Error> {
        let language = named.value.language;
        let has_expression = named.expression.is_some();
        let mut target = self.target_of(named, length)?;
        if self.modules().at(target.address).is_none() {
            target.frame = self.frame_around(target.address, thread);
        } else if has_expression {
            let again = self.static_target(&target.name, language, length);
            target.persistent = again
                .is_ok_and(|again| again.address == target.address && again.length == target.length)
                .then_some(language);
        }
        self.checked(target)
    }

    /// A value's place in memory, if that can be watched.
    fn target_of(&self, named: NamedValue, length: Option<u64>) -> Result<DataTarget, Error> {
        let name = named.expression.unwrap_or(named.name);
        let refuse = |why: String| Error::Expression(format!("`{name}` can't be watched: {why}"));
        let reader = self.reader();
        let value = reader.referred(named.value);
        let address = match &value.contents {
            Contents::Memory(address) => *address,
            Contents::Unavailable(reason) => {
                let reason = reader.reason(reason);
                let reason = reason.trim_matches(|c| c == '<' || c == '>');
                return Err(refuse(format!("it is {}", why_not_there(reason))));
            }
            Contents::Pieces(pieces, _) => {
                let places: Vec<&Place> = pieces.iter().map(|piece| &piece.place).collect();
                return Err(refuse(match places.as_slice() {
                    [Place::Memory(_)] => "it is a bit-field; watch what it is in".into(),
                    [Place::Register { register, .. }] => format!(
                        "it is in register {}, and only memory can be watched",
                        reader
                            .reason(&Unavailable::RegisterLost(*register))
                            .trim_start_matches("<register ")
                            .trim_end_matches(" was not saved>")
                    ),
                    [Place::Memory(_) | Place::Register { .. }, ..] => {
                        "it is in several places".into()
                    }
                    _ => "the compiler has put it nowhere".into(),
                }));
            }
            Contents::Bytes(_) | Contents::Number(_) | Contents::Made(_) => {
                return Err(refuse(
                    "it is computed, or a bit-field, and has no bytes of its own in memory".into(),
                ));
            }
        };
        let size = reader.size_of(&value);
        let rendered = reader.render(&value);
        let length = match (length, size) {
            (Some(length), _) | (None, Some(length)) => length,
            (None, None) => return Err(refuse("its size is not known; say how many bytes".into())),
        };
        Ok(DataTarget {
            address,
            length,
            type_name: rendered.type_name,
            value: (size == Some(length)).then_some(value),
            frame: None,
            moves: false,
            persistent: None,
            name,
        })
    }

    /// Refuses data that debug registers can't watch.
    fn checked(&self, target: DataTarget) -> Result<DataTarget, Error> {
        let DataTarget {
            name,
            address,
            length,
            ..
        } = &target;
        let refuse = |why: String| {
            Err(Error::Expression(format!(
                "`{name}` can't be watched: {why}"
            )))
        };
        let most = SLOTS as u64 * WORD;
        if *length == 0 {
            return refuse("it has no bytes".into());
        }
        if *length > most {
            return refuse(format!(
                "it has {length} bytes, and the processor can watch {most}; watch a part of it"
            ));
        }
        if address.0 >= USER_END - length {
            return refuse(format!("{address} is no address of a program"));
        }
        let mut bytes = vec![0; *length as usize];
        if self.memory().read(*address, &mut bytes).is_err() {
            return refuse(format!(
                "there are no {length} bytes of memory at {address}"
            ));
        }
        Ok(target)
    }

    /// The stack frame, of any thread, that contains `address`. Among threads with the same stack pointer, `thread` is preferred.
    fn frame_around(&mut self, address: Address, thread: ThreadId) -> Option<FrameOnStack> {
        let threads: Vec<ThreadId> = self
            .live_threads()
            .filter(|t| self.stays_stopped(*t))
            .collect();
        let mut below: Vec<(u64, ThreadId)> = Vec::new();
        for candidate in threads {
            let sp = self.registers(candidate)?.sp().wrapping_sub(RED_ZONE);
            if sp <= address.0 {
                below.push((sp, candidate));
            }
        }
        // If the address is on a stack, the stack is the one with the nearest stack pointer below the address.
        let (_, nearest) = below
            .into_iter()
            .max_by_key(|(sp, id)| (*sp, *id == thread))?;
        let registers = self.registers(nearest)?;
        let mut frame = unwind::innermost(registers.to_dwarf(), self.modules(), self.memory());
        for _ in 0..MOST_FRAMES {
            let caller = unwind::caller(&frame, self.modules(), self.memory())?;
            let cfa = frame.cfa?;
            if address < cfa {
                return Some(FrameOnStack {
                    thread: nearest,
                    cfa,
                    return_to: caller.pc,
                });
            }
            frame = caller;
        }
        None
    }

    pub(crate) fn set_data_breakpoints(
        &mut self,
        wanted: Vec<DataBreakpoint>,
    ) -> Vec<DataBreakpointState> {
        let mut old = std::mem::take(&mut self.watches.list);
        for wanted in wanted {
            let kept = old.iter().position(|watch| same(&watch.wanted, &wanted));
            let watch = match kept {
                Some(index) => {
                    let mut watch = old.swap_remove(index);
                    watch.rules.replace(wanted.options);
                    watch
                }
                None => self.new_watch(wanted),
            };
            self.watches.list.push(watch);
        }
        self.watch();
        if !self.watches.list.is_empty() {
            // A condition that is decided in the program may read what is watched.
            self.take_all_jumps_out();
        }
        self.watches.list.iter().map(Watch::state).collect()
    }

    fn new_watch(&mut self, wanted: DataBreakpoint) -> Watch {
        let mut watch = Watch {
            id: self.new_breakpoint_id(),
            found: None,
            refused: None,
            rules: Rules::new(wanted.options.clone()),
            slots: Vec::new(),
            last: Vec::new(),
            wanted,
        };
        match &watch.wanted.data {
            WatchedData::Static { .. } => self.find_static(&mut watch),
            WatchedData::Target(target) => {
                if target
                    .frame
                    .is_some_and(|frame| !self.frame_stands(&frame) || self.has_left(&frame))
                {
                    let name = &target.name;
                    watch.refused = Some(DataRefusal::Gone(format!(
                        "`{name}` is gone: its function has returned"
                    )));
                } else {
                    watch.found = Some(DataTarget::clone(target));
                }
            }
        }
        watch
    }

    /// Whether a frame still exists, as far as memory shows: its return address is unchanged.
    pub(super) fn frame_stands(&self, frame: &FrameOnStack) -> bool {
        if !self.is_live(frame.thread) {
            return false;
        }
        if self.process().machine().link().is_some() {
            return self.is_on_stack(frame);
        }
        self.memory().read_u64(frame.cfa.offset(-8)) == Ok(frame.return_to.0)
    }

    /// Whether a thread's stack has the frame, where no place in memory is known for its return address. While the thread runs, that isn't known
    /// either: then it counts as there.
    fn is_on_stack(&self, frame: &FrameOnStack) -> bool {
        let Ok(registers) = self.process().registers(frame.thread) else {
            return true;
        };
        let (modules, memory) = (self.modules(), self.memory());
        let first = unwind::innermost(registers.to_dwarf(), modules, memory);
        let mut frames =
            std::iter::successors(Some(first), |one| unwind::caller(one, modules, memory));
        frames.any(|one| one.cfa == Some(frame.cfa))
    }

    /// Whether the frame's thread is stopped and outside of the frame.
    fn has_left(&mut self, frame: &FrameOnStack) -> bool {
        self.stays_stopped(frame.thread)
            && self
                .registers(frame.thread)
                .is_none_or(|registers| self.is_left(frame.cfa, &registers))
    }

    fn find_static(&self, watch: &mut Watch) {
        let WatchedData::Static {
            name,
            language,
            length,
        } = &watch.wanted.data
        else {
            return;
        };
        match self.static_target(name, *language, *length) {
            Ok(target) => {
                let moved = watch.found.as_ref().map(|t| t.address) != Some(target.address);
                if moved {
                    watch.last.clear();
                }
                watch.found = Some(target);
                watch.refused = None;
            }
            Err(error) => {
                watch.found = None;
                watch.refused = Some(DataRefusal::Pending(error.to_string()));
            }
        }
    }

    /// Modules were loaded or unloaded: statics may be elsewhere.
    pub(super) fn find_watched_statics(&mut self) {
        if self.watches.list.is_empty() {
            return;
        }
        let mut list = std::mem::take(&mut self.watches.list);
        let before: Vec<DataBreakpointState> = list.iter().map(Watch::state).collect();
        for watch in &mut list {
            self.find_static(watch);
        }
        self.watches.list = list;
        self.watch();
        for (watch, before) in self.watches.list.iter().zip(before) {
            let now = watch.state();
            if now != before {
                self.tell(Event::DataBreakpointChanged(now));
            }
        }
    }

    /// The process runs another program (exec), which may have the watched statics, too, but no other watched data.
    pub(super) fn watch_new_program(&mut self) {
        if self.watches.list.is_empty() {
            return;
        }
        self.stop_watching(
            |watch| matches!(watch.wanted.data, WatchedData::Target(_)),
            "the program is another one",
        );
        for watch in &mut self.watches.list {
            // Even at the same address it is another variable, with another old value.
            watch.found = None;
        }
        self.find_watched_statics();
    }

    /// Stops watching the data that `gone` selects. Returns the ids and names.
    pub(super) fn stop_watching(
        &mut self,
        gone: impl Fn(&Watch) -> bool,
        why: &str,
    ) -> Vec<(i64, String)> {
        let list = std::mem::take(&mut self.watches.list);
        let (ended, kept): (Vec<Watch>, Vec<Watch>) =
            list.into_iter().partition(|w| w.found.is_some() && gone(w));
        self.watches.list = kept;
        if ended.is_empty() {
            return Vec::new();
        }
        // Threads that still have a freed debug register set need no stop: a hit of it belongs to no watch.
        let kept: Vec<Vec<Slot>> = self.watches.list.iter().map(|w| w.slots.clone()).collect();
        self.watches.table.assign(&kept);
        self.watch_frames();
        for watch in &ended {
            let refusal = format!("`{}` is gone: {why}", watch.name());
            self.tell(Event::DataBreakpointChanged(DataBreakpointState {
                address: None,
                refused: Some(DataRefusal::Gone(refusal)),
                ..watch.state()
            }));
        }
        ended.iter().map(|w| (w.id, w.name().to_owned())).collect()
    }

    /// Assigns the debug registers to the watches, and remaining ones to the step. Returns two lists, each with an entry for every watch
    /// and the step's last: the slots that are needed, and whether they were given (`Err`: how many registers were free).
    pub(super) fn share_slots(&mut self) -> (Vec<Vec<Slot>>, Vec<Result<(), usize>>) {
        let mut needs: Vec<Vec<Slot>> = self.watches.list.iter().map(Watch::needs).collect();
        needs.extend(self.watches.of_step.map(|slot| vec![slot]));
        needs.extend(self.watches.of_states.iter().map(|slot| vec![*slot]));
        let given = self.watches.table.assign(&needs);
        (needs, given)
    }

    /// Has the debug registers watch the data in the list and the step's stack word, and nothing else.
    pub(super) fn watch(&mut self) {
        let version = self.watches.table.version();
        let (needs, given) = self.share_slots();
        let of_step = self.watches.of_step;
        if of_step.is_some_and(|slot| self.watches.table.mask(&[slot]) == 0) {
            self.wait_at_sites();
        }
        if !self.has_stepping_thread() && !self.watches_states() {
            self.wait_at_entry();
        }
        let here = (self.is_stopped())
            .then(|| self.registers(self.current()))
            .flatten();
        let here: Vec<Address> = here.into_iter().map(|r| r.pc()).collect();
        let mut list = std::mem::take(&mut self.watches.list);
        for ((watch, needs), given) in list.iter_mut().zip(needs).zip(given) {
            let Some(target) = &watch.found else { continue };
            watch.rules.forget();
            watch.rules.check(&here, self.modules());
            if let Some(problem) = watch.rules.problem() {
                watch.slots = Vec::new();
                watch.refused = Some(DataRefusal::Failed(problem.to_owned()));
                continue;
            }
            match given {
                Ok(()) => {
                    watch.slots = needs;
                    watch.refused = None;
                    if watch.last.is_empty() {
                        watch.last = bytes_of(self.memory(), target);
                    }
                }
                Err(free) => {
                    let wants = match needs.len() {
                        1 => "one".to_owned(),
                        count => count.to_string(),
                    };
                    watch.slots = Vec::new();
                    watch.refused = Some(DataRefusal::Failed(format!(
                        "`{}` needs {wants} of the processor's {SLOTS} debug registers, and {free} {} free",
                        target.name,
                        if free == 1 { "is" } else { "are" }
                    )));
                }
            }
        }
        self.watches.list = list;
        self.watch_frames();
        if self.watches.table.version() == version {
            return;
        }
        match self.mode() {
            Mode::Running => self.stop_all(),
            Mode::Stopped => self.try_watching(),
            Mode::Stopping => {}
        }
    }

    /// Tries to set a thread's debug registers, so that the answer to the request can report if the system refuses.
    fn try_watching(&mut self) {
        let Some(thread) = self
            .live_threads()
            .find(|thread| self.stays_stopped(*thread))
        else {
            return;
        };
        let set = self.set_debug_registers(thread);
        if !self.dies_with_debugger() {
            // A stopped process that was attached to must have nothing of the debugger in it.
            self.unwatch(thread);
        }
        if let Err(error) = set {
            for watch in self.watches.list.iter_mut().filter(|w| w.found.is_some()) {
                watch.refused = Some(DataRefusal::Failed(format!(
                    "the system refuses to watch memory: {error}"
                )));
            }
        }
    }

    /// A thread is about to run: brings its debug registers up to date.
    pub(super) fn watch_before_run(&mut self, thread: ThreadId) {
        let version = self.version_of_watches();
        if self.is_vfork_child(thread) || self.control(thread).watched == version {
            return;
        }
        if let Err(error) = self.set_debug_registers(thread) {
            // Also fails if the thread has died.
            tracing::warn!(%thread, %error, "a thread's debug registers can't be set");
        }
    }

    /// Whether reads of data are watched.
    pub(super) fn watches_reads(&self) -> bool {
        let mut slots = self.watches.table.slots().iter().flatten();
        slots.any(|slot| slot.reads)
    }

    /// What a thread's debug registers are to be set from.
    fn version_of_watches(&self) -> u32 {
        match self.searched_data() {
            Some(_) => SEARCHED,
            None => self.watches.table.version(),
        }
    }

    /// What the debug registers of a thread that runs watch.
    pub(super) fn watched_now(&self) -> [Option<Slot>; SLOTS] {
        match self.searched_data() {
            Some(slots) => slots,
            None if self.is_quiet() => [None; SLOTS],
            None => *self.watches.table.slots(),
        }
    }

    pub(super) fn set_debug_registers(&mut self, thread: ThreadId) -> std::io::Result<()> {
        self.control(thread).watched = self.version_of_watches();
        let slots = self.watched_now();
        self.watch_calls_of_past();
        self.process().set_watch_slots(thread, &slots)
    }

    /// In the past, system calls that write watched data are noticed, too, which debug registers don't see. A search for a write has its own.
    fn watch_calls_of_past(&self) {
        if !self.is_in_past() || self.searched_data().is_some() {
            return;
        }
        let watched = self.watches.list.iter().filter(|_| !self.is_quiet());
        let found = watched.filter_map(|watch| watch.found.as_ref());
        if let Some(live) = self.history_live() {
            live.watch_calls(found.map(DataTarget::range).collect());
        }
    }

    /// Clears a thread's debug registers, as before a detach.
    pub(super) fn unwatch(&mut self, thread: ThreadId) {
        self.control(thread).watched = 0;
        // Also for a thread whose registers were never set here. If its creator had watches, a read of its control register gives the
        // creator's value, although nothing is watched in it.
        if self.watches.table.version() != 0 {
            let _ = self.process().set_watch_slots(thread, &[None; SLOTS]);
        }
    }

    /// Reads the watched bytes again: a change that was made while all threads were stopped is no access of theirs.
    pub(super) fn refresh_watched(&mut self) {
        let mut list = std::mem::take(&mut self.watches.list);
        for watch in &mut list {
            if let Some(target) = &watch.found {
                watch.last = bytes_of(self.memory(), target);
            }
        }
        self.watches.list = list;
    }

    /// Whether watched data has other bytes than at the last access.
    pub(super) fn watched_data_has_changed(&self) -> bool {
        let found = self.watches.list.iter();
        let mut found = found.filter_map(|watch| Some((watch.found.as_ref()?, &watch.last)));
        found.any(|(target, last)| bytes_of(self.memory(), target) != *last)
    }
}

/// The watched bytes; zeros for what can't be read.
pub(super) fn bytes_of(memory: &dyn Memory, target: &DataTarget) -> Vec<u8> {
    let mut bytes = vec![0; target.length as usize];
    let _ = memory.read(target.address, &mut bytes);
    bytes
}

fn why_not_there(reason: &str) -> String {
    match reason.strip_prefix("register ") {
        Some(_) => format!("lost, {reason}"),
        None => reason.to_owned(),
    }
}

/// A frame without variables, in which only globals are found.
fn no_frame(module: &Option<Arc<LoadedModule>>, language: Language) -> Frame {
    let nowhere = Address(0);
    let physical = PhysicalFrame {
        level: 0,
        pc: nowhere,
        lookup: nowhere,
        registers: Registers::of(
            { module.as_ref() }.map_or(Machine::default(), |it| it.module.machine()),
        ),
        cfa: None,
        module: module.clone(),
        signal_trampoline: false,
        vectors: None,
        unsaved: None,
    };
    Frame::detached(physical, language)
}
