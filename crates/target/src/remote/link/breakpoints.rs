//! The breakpoints that a stub inserts, and the threads that have run into them.

use super::Link;
use crate::ThreadId;
use dapple_gdb_remote::client::BreakpointKind;
use dapple_gdb_remote::error::Support;
use dapple_gdb_remote::thread_id::{Id, ThreadId as StubThread};
use std::io;

impl Link {
    /// The size of a breakpoint instruction in the protocol's words (gdb manual, "Z packets"). The code there is as the program has it: stubs
    /// don't show breakpoints.
    fn breakpoint_size(&mut self, address: u64) -> u64 {
        let mut code = [0; 4];
        let machine = self.layout.machine();
        if machine.instruction_alignment() > 1 {
            let count = self.read(address, &mut code);
            return machine.breakpoint_kind(&code[..count]);
        }
        machine.breakpoint_kind(&[])
    }

    /// Sends that a breakpoint is to be inserted.
    fn send_inserted(&mut self, address: u64) -> io::Result<Support> {
        let kind = BreakpointKind::Software;
        let size = self.breakpoint_size(address);
        let inserted = self.client.insert_breakpoint(kind, address, size);
        self.noted(inserted)
    }

    /// Sends that a breakpoint is to be removed: from the memory of the process whose thread is chosen.
    fn send_removed(&mut self, address: u64) -> io::Result<Support> {
        let kind = BreakpointKind::Software;
        let size = self.breakpoint_size(address);
        let removed = self.client.remove_breakpoint(kind, address, size);
        self.noted(removed)
    }

    /// Inserts a breakpoint.
    pub(in crate::remote) fn insert_breakpoint(&mut self, address: u64) -> io::Result<()> {
        self.require_rest()?;
        if self.breakpoints.contains(&address) {
            return Ok(());
        }
        if self.vforked.is_some() {
            // With the others, when the child has left the memory.
            self.breakpoints.insert(address);
            return Ok(());
        }
        if self.send_inserted(address)? == Support::NotSupported {
            return Err(io::Error::other("the stub can't insert breakpoints (Z0)"));
        }
        self.breakpoints.insert(address);
        Ok(())
    }

    /// Removes a breakpoint.
    pub(in crate::remote) fn remove_breakpoint(&mut self, address: u64) -> io::Result<()> {
        self.require_rest()?;
        if !self.breakpoints.remove(&address) || self.vforked.is_some() {
            return Ok(());
        }
        self.send_removed(address).map(drop)
    }

    /// Whether a breakpoint is inserted there.
    pub(in crate::remote) fn has_breakpoint(&self, address: u64) -> bool {
        self.breakpoints.contains(&address)
    }

    /// Takes all breakpoints out of memory, but knows them still.
    pub(super) fn lift_breakpoints(&mut self) {
        for address in self.breakpoints.clone() {
            let _ = self.send_removed(address);
        }
    }

    /// Puts all breakpoints back, once a vfork child has left the memory.
    pub(super) fn put_breakpoints_back(&mut self) {
        self.vforked = None;
        for address in self.breakpoints.clone() {
            let _ = self.send_inserted(address);
        }
    }

    /// Whether a thread is at an inserted breakpoint. If it is behind one, it is moved back.
    pub(super) fn is_at_breakpoint(&mut self, thread: ThreadId) -> bool {
        let Ok(mut registers) = self.general(thread) else {
            return false;
        };
        let pc = registers.pc();
        if self.breakpoints.contains(&pc.0) {
            return true;
        }
        let behind = self.layout.machine().behind_trap();
        let before = pc.offset(-behind.cast_signed());
        if self.breakpoints.contains(&before.0) {
            registers.set_pc(before);
            return self.set_general(thread, &registers).is_ok();
        }
        false
    }

    /// A stub that says that a thread is at a breakpoint has moved it back to the program's own trap instruction, too: the thread goes on behind
    /// it. `false`: there is none.
    pub(super) fn leaves_own_trap(&mut self, thread: ThreadId) -> bool {
        let Ok(mut registers) = self.general(thread) else {
            return false;
        };
        let pc = registers.pc();
        let mut code = [0; 4];
        let count = self.read(pc.0, &mut code);
        let Some(size) = self.layout.machine().trap_size(&code[..count]) else {
            return false;
        };
        registers.set_pc(pc.offset(size.cast_signed()));
        self.set_general(thread, &registers).is_ok()
    }

    /// Lets a forked child run without the breakpoints that it has got from its parent.
    pub(super) fn let_child_go(&mut self, child: StubThread, has_copy: bool) {
        if has_copy {
            let any = StubThread {
                thread: Id::Any,
                ..child
            };
            let chosen = self.client.choose_thread(any);
            if self.noted(chosen).is_ok() {
                self.lift_breakpoints();
            }
        }
        let detached = self.client.detach(child.process_number());
        let _ = self.noted(detached);
    }
}
