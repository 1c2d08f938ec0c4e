//! Gets the only thread of a program behind a stub past a site, where no copy of the instruction can be made: nobody has to be stopped for that.

use super::Owner;
use crate::stops::{How, Mode};
use crate::{Address, ThreadId};
use dapple_arch::Machine;
use dapple_arch::code::{self, Flow};
use dapple_arch::instructions::decode;
use dapple_inspect::inspect::Inspect;
use dapple_target::process::Resume;
use dapple_target::wait_event::What;
use iced_x86::FlowControl;

/// The code of a signal that tells of the end of a single step (`TRAP_TRACE`, sigaction(2)).
const STEPPED: i32 = 2;

impl Owner {
    /// Whether the stub has one thread, as far as is known. What it has besides stands still while that one steps.
    pub(super) fn is_alone_behind_stub(&self, thread: ThreadId) -> bool {
        let mut others = self.live_threads().filter(|other| *other != thread);
        let waits = self.mode() != Mode::Running || self.has_vfork_children();
        self.process().moves_back() && others.next().is_none() && !waits
    }

    /// Steps the only thread past the site that it is at, with the breakpoint taken out, and lets it go on.
    pub(super) fn step_past(&mut self, thread: ThreadId, site: Address, how: How) {
        self.lift_site(site);
        self.write_back(thread);
        self.control(thread).registers = None;
        let stepped = self.process().resume(thread, Resume::Step, 0).ok();
        let event = stepped.and_then(|()| self.next_of(thread));
        self.put_site_back(site);
        let Some(event) = event else {
            return;
        };
        let is_step =
            event.what == What::Signal(libc::SIGTRAP) && { self.process().signal_info(thread) }
                .is_ok_and(|info| info.code == STEPPED);
        let has_left = self.leaves_by_a_step(site)
            || self
                .registers(thread)
                .is_some_and(|registers| registers.pc() != site);
        if !is_step || !has_left {
            self.control(thread).passed = Some(site);
            return self.handle_stop(event);
        }
        if let Some(reason) = self.hits(thread) {
            return self.report(thread, reason);
        }
        match how {
            How::Step => self.stepped(thread),
            _ => self.go(thread, how, 0),
        }
    }

    /// Whether a thread is elsewhere once it has executed the instruction at an address, whatever its registers are.
    fn leaves_by_a_step(&self, at: Address) -> bool {
        let (code, length) = self.code_at(at);
        let machine = self.process().machine();
        if machine != Machine::X86_64 {
            let decoded = code::decode(self.modules().instruction_set(at), &code[..length], at);
            return decoded.is_some_and(|it| it.flow == Flow::Next);
        }
        let instruction = decode(at, &code[..length]);
        instruction.is_some_and(|it| {
            let repeats = it.has_rep_prefix() || it.has_repne_prefix();
            it.flow_control() == FlowControl::Next && !repeats
        })
    }
}
