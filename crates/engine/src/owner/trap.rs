//! Decides why a thread has stopped with SIGTRAP, and gets threads past sites.
//!
//! A thread gets past a site by running a copy of the instruction elsewhere (displaced stepping), or the debugger emulates the
//! instruction. Either way the inserted byte stays for the other threads. An instruction that allows neither is stepped with the byte
//! taken out, while all other threads are stopped.

use super::Owner;
use crate::breakpoints::site::{PatchedMemory, Reason, Site};
use crate::event::{ExceptionKind, StopReason};
use crate::stops::How;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_arch::emulate::EmulatedMemory;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::exceptions::Exception;
use dapple_target::process::Resume;
use dapple_target::signal_info::SignalInfo;
use dapple_target::wait_event::What;
use std::sync::Arc;

/// The `si_code` of an executed `int3`.
const SI_KERNEL: i32 = 0x80;

/// The `si_code` by which a process that moves threads back to breakpoints tells of a trap instruction that is none of these (`TRAP_BRKPT`).
const OWN_TRAP: i32 = 1;

/// The cause of a SIGTRAP.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trap {
    /// The thread has run into this site, which may have been removed since.
    Site(Address),
    /// Anything else.
    Other(SignalInfo),
}

/// How a thread gets past a site.
pub(super) enum Past {
    /// The instruction was emulated.
    Done,
    /// The thread was moved to the copy of the instruction, and is past the site once it has run that.
    InCopy,
    /// Neither is possible, and nothing was changed: the byte must be out while the thread executes the instruction.
    OnlyAlone,
}

impl EmulatedMemory for PatchedMemory {
    fn word(&self, address: u64) -> Option<u64> {
        self.read_u64(Address(address)).ok()
    }

    fn push(&mut self, address: u64, value: u64) -> bool {
        self.write(Address(address), &value.to_le_bytes()).is_ok()
    }
}

impl Owner {
    /// Handles the stop of a thread that is about to get `signal`.
    pub(super) fn examine(&mut self, thread: ThreadId, signal: i32) {
        if signal == libc::SIGTRAP {
            self.trapped(thread);
        } else if let Some(site) = self.fault_in_decision(thread, signal) {
            self.hit(thread, site);
        } else {
            self.signalled(thread, signal);
        }
    }

    fn trapped(&mut self, thread: ThreadId) {
        let info = match self.trap(thread) {
            // The thread has died; its exit event follows.
            None => return,
            Some(Trap::Site(at)) if self.site(at).is_some() => return self.hit(thread, at),
            Some(Trap::Site(_)) => return self.release(thread),
            Some(Trap::Other(info)) => info,
        };
        if info.code > 0 && info.code != SI_KERNEL && self.accessed(thread) {
            return;
        }
        if info.code <= 0 {
            // Sent by a program.
            return match self.raises_again(thread) {
                true => self.go(thread, How::Continue, libc::SIGTRAP),
                false => self.signalled(thread, libc::SIGTRAP),
            };
        }
        let is_own = self.process().moves_back() && info.code == OWN_TRAP;
        if info.code != SI_KERNEL && !is_own && self.last_run(thread) == How::Step {
            self.one_step_done(thread);
        } else {
            self.own_trap(thread);
        }
    }

    /// The cause of a thread's SIGTRAP, which only this function decides: before the stop is taken from the kernel
    /// ([`Owner::next_event`]), or when the stop is handled. A thread that has run into a site is moved back to it. `None`: the thread
    /// has died.
    pub(super) fn trap(&mut self, thread: ThreadId) -> Option<Trap> {
        if let Some(known) = self.control(thread).trap.take() {
            return Some(known);
        }
        if let Some(at) = self.ran_into(thread) {
            return Some(Trap::Site(at));
        }
        let info = self.process().signal_info(thread).ok()?;
        if info.code != SI_KERNEL {
            return Some(Trap::Other(info));
        }
        let mut registers = self.registers(thread)?;
        if self.process().moves_back() {
            let at = registers.pc();
            if let Some(site) = self.site_asking(thread, at) {
                self.set_back(&mut registers, site);
                self.set_registers(thread, registers);
                return Some(Trap::Site(site));
            }
            return Some(Trap::Site(at));
        }
        let at = registers.pc().offset(-1);
        if let Some(site) = self.site_asking(thread, at) {
            self.set_back(&mut registers, site);
            self.set_registers(thread, registers);
            return Some(Trap::Site(site));
        }
        let is_own = || self.original_of(at).is_some() || self.traps_at(at);
        if self.site(at).is_none() && is_own() {
            return Some(Trap::Other(info));
        }
        self.set_back(&mut registers, at);
        self.set_registers(thread, registers);
        Some(Trap::Site(at))
    }

    /// Moves a thread back to the site that it has run into. In a process that must outlive the debugger, such that the handler of SIGTRAP
    /// doesn't do it again.
    pub(super) fn set_back(&self, registers: &mut UserRegisters, site: Address) {
        match self.dies_with_debugger() {
            true => registers.set_pc(site),
            false => registers.set_back(site),
        }
    }

    /// Whether a thread has run into a site; if so, it is moved back to the site.
    pub(super) fn ran_into_site(&mut self, thread: ThreadId) -> bool {
        matches!(self.trap(thread), Some(Trap::Site(_)))
    }

    /// The thread has trapped by the program's own trap instruction or trap flag.
    fn own_trap(&mut self, thread: ThreadId) {
        if self.is_vfork_child(thread) {
            self.traps_by_itself(thread);
            return self.go(thread, How::Continue, libc::SIGTRAP);
        }
        self.leave_copy(thread);
        if let Some(text) = self.process().finding(thread) {
            return self.report_finding(thread, text);
        }
        let at = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
        self.control(thread).exception = Some(Arc::new(Exception {
            id: "SIGTRAP".to_owned(),
            description: format!("the program executed a trap instruction of its own before {at}"),
            ..Exception::default()
        }));
        self.report(thread, StopReason::Trap);
    }

    /// A thread was stopped because of an error that whoever executes the program has found.
    fn report_finding(&mut self, thread: ThreadId, text: String) {
        let first = text.lines().next().unwrap_or_default().to_owned();
        let address = text.lines().map(str::trim);
        let address = { address }.find(|line| line.starts_with("Address "));
        let description = match address {
            Some(address) => format!("{first}: {address}"),
            None => first.clone(),
        };
        self.control(thread).exception = Some(Arc::new(Exception {
            id: first,
            description: description.clone(),
            type_name: Some("valgrind".to_owned()),
            message: Some(text),
            ..Exception::default()
        }));
        self.report(
            thread,
            StopReason::Exception {
                kind: ExceptionKind::Report,
                description,
                breakpoints: Vec::new(),
            },
        );
    }

    fn one_step_done(&mut self, thread: ThreadId) {
        self.leave_copy(thread);
        self.frames_ended(thread);
        self.stepped(thread);
    }

    /// A thread has run into the site at its instruction pointer.
    fn hit(&mut self, thread: ThreadId, at: Address) {
        if self.waits_for_room(thread, at) {
            return;
        }
        let sp = self.registers(thread).map(|r| r.sp()).unwrap_or_default();
        self.control(thread).passed = Some(at);
        if self.has_come_back(thread, at, sp) {
            return self.came_back(thread);
        }
        if self.is_vfork_child(thread) {
            return self.release(thread);
        }
        self.repeat_up_to_state(thread, at);
        let Some(site) = self.site(at) else {
            return;
        };
        if site.has(Reason::Turn) && self.comes_to_turn_end(thread, at) {
            // In its next turn, it comes here again.
            self.control(thread).passed = None;
            return self.release(thread);
        }
        self.note_stop_at(at);
        let Some(site) = self.site(at) else {
            return self.release(thread);
        };
        if (site.has(Reason::Travel) || site.has(Reason::Present))
            && self.passes_in_past(thread, at)
        {
            return;
        }
        let Some(site) = self.site(at) else {
            return self.release(thread);
        };
        let step = site.has(Reason::Step) || site.has(Reason::Hook);
        let frame_end = site.has(Reason::FrameEnd);
        self.handle_internal_sites(thread, at);
        let gone = frame_end.then(|| self.frames_ended(thread)).flatten();
        if self.is_calling_on(thread) {
            return self.met_in_call(thread, at);
        }
        if self.ignores_stops() {
            return self.release(thread);
        }
        let seen = self.is_seen(thread, at, sp);
        let reason = self.stop_reason_at(thread, at);
        if let Some(reason) = reason.filter(|reason| !(seen && reason.is_about_place())) {
            return self.report(thread, reason);
        }
        if step && self.began_made(thread, at) {
            return;
        }
        if step && self.entered_body(thread) {
            return self.release(thread);
        }
        let stepping = self.is_stepping(thread);
        if step && stepping {
            return self.stepped(thread);
        }
        let gone = gone.filter(|_| self.leads_to_users(thread));
        let left = || self.temporaries_left(thread);
        match gone.or_else(|| frame_end.then(left).flatten()) {
            Some(reason) => self.report(thread, reason),
            None => self.release(thread),
        }
    }

    /// A thread has come to `at`: does what a site there is for, apart from breakpoints and steps. It may follow the module list, frames
    /// that end, or IFUNC resolvers.
    pub(super) fn handle_internal_sites(&mut self, thread: ThreadId, at: Address) {
        let Some(site) = self.site(at) else {
            return;
        };
        let (loader, frame_left) = (site.has(Reason::Loader), site.has(Reason::FrameLeft));
        let (resolver, choice) = (site.has(Reason::Resolver), site.has(Reason::ResolverReturn));
        if loader {
            self.modules_changed();
            self.libraries_of_past_changed();
        }
        if frame_left {
            self.frames_left(thread);
        }
        if choice {
            self.resolver_returned(thread, at);
        }
        if resolver {
            self.resolver_called(thread, at);
        }
    }

    /// The reason to stop a thread at a site, if any. Breakpoints count the hit and write their log messages.
    pub(super) fn stop_reason_at(&mut self, thread: ThreadId, at: Address) -> Option<StopReason> {
        let users = self.site(at).map(Site::users).unwrap_or_default();
        let due = self.due(thread, at, &users);
        // Exceptions are checked even if a breakpoint stops the thread: the stop then reports the exception, with the breakpoint.
        match (due, self.exception_met(thread, at)) {
            (
                Some(StopReason::Breakpoint(ids)),
                Some(StopReason::Exception {
                    kind, description, ..
                }),
            ) => Some(StopReason::Exception {
                kind,
                description,
                breakpoints: ids,
            }),
            (due, met) => due.or(met),
        }
    }

    /// Whether there is a site at `at`, the thread's instruction pointer, that the thread has yet to run into.
    pub(super) fn is_unasked(&mut self, thread: ThreadId, at: Address) -> bool {
        self.site(at).is_some() && self.control(thread).passed != Some(at)
    }

    /// Gets a thread past the site at its instruction pointer.
    pub(super) fn get_past(
        &mut self,
        thread: ThreadId,
        site: Address,
        mut registers: UserRegisters,
    ) -> Past {
        // What replays has to execute what was recorded.
        if self.can_run_backwards() {
            return Past::OnlyAlone;
        }
        let entry = self.way_past(site);
        let entry = entry.or_else(|| Some(self.copy_at(site)?.start));
        if let Some(entry) = entry {
            registers.set_pc(entry);
            self.set_registers(thread, registers);
            return Past::InCopy;
        }
        let (code, length) = self.code_at(site);
        let code = &code[..length];
        let mut after = self.emulated_at(site, code, &registers);
        if after.is_none() && self.is_alone_behind_stub(thread) {
            // Its stop after a step costs a stub more than this: QEMU translates the program again behind each.
            after = self.emulated_load_at(site, code, &registers);
        }
        if let Some(after) = after {
            self.set_registers(thread, after);
            self.emulated(thread, registers, after);
            return Past::Done;
        }
        // One of a few instructions (far transfers, transactions, invalid ones that will fault), or there is no room for a copy near the
        // module.
        Past::OnlyAlone
    }

    /// While all threads are stopped: steps each of `threads` past its site with the byte taken out. Then resumes all threads, and reports
    /// accesses to watched data.
    pub(super) fn run_alone(&mut self, threads: &[ThreadId]) {
        let mut stepped = None;
        let mut accesses = Vec::new();
        for &thread in threads {
            let Some(registers) = self.registers(thread) else {
                continue;
            };
            let site = registers.pc();
            if self.control(thread).passed != Some(site) || self.site(site).is_none() {
                continue;
            }
            self.lift_site(site);
            self.write_back(thread);
            self.control(thread).registers = None;
            let status = self
                .process()
                .resume(thread, Resume::Step, 0)
                .ok()
                .and_then(|()| self.next_of(thread));
            self.put_site_back(site);
            let Some(event) = status else { continue };
            let done = event.what == What::Signal(libc::SIGTRAP)
                && self.registers(thread).is_some_and(|r| r.pc() != site);
            if done {
                self.control(thread).passed = None;
                accesses.extend(self.hits(thread).map(|reason| (thread, reason)));
                let stepping = self.is_single_stepping(thread);
                stepped = stepping.then_some(thread).or(stepped);
            } else {
                self.handle_stop(event);
            }
        }
        self.run_again();
        for thread in self.stopped_threads() {
            if stepped == Some(thread) {
                self.stepped(thread);
            } else {
                self.release(thread);
            }
        }
        for (thread, reason) in accesses {
            self.report(thread, reason);
        }
    }
}
