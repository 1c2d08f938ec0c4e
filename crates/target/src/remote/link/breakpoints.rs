//! The breakpoints that a stub inserts, and the threads that have run into them.

use super::super::conditions;
use super::Link;
use crate::ThreadId;
use dapple_arch::decision::Truth;
use dapple_gdb_remote::features::Feature;
use dapple_gdb_remote::thread_id::{Id, ThreadId as StubThread};
use std::io;

impl Link {
    /// Inserts a breakpoint without a condition.
    pub(in crate::remote) fn insert_breakpoint(&mut self, address: u64) -> io::Result<()> {
        self.require_rest()?;
        let present = self.breakpoints.get(&address).cloned();
        if present.or_else(|| self.removed.remove(&address)) == Some(Vec::new()) {
            self.breakpoints.insert(address, Vec::new());
            return Ok(());
        }
        if self.vforked.is_some() {
            // With the others, when the child has left the memory.
            self.breakpoints.insert(address, Vec::new());
            return Ok(());
        }
        self.send_all_removed();
        self.send_inserted(address, &[])?;
        self.breakpoints.insert(address, Vec::new());
        Ok(())
    }

    /// Removes a breakpoint. The stub is told before a thread runs, unless the breakpoint is inserted again meanwhile.
    pub(in crate::remote) fn remove_breakpoint(&mut self, address: u64) -> io::Result<()> {
        self.require_rest()?;
        let Some(condition) = self.breakpoints.remove(&address) else {
            return Ok(());
        };
        match self.vforked {
            None => {
                self.removed.insert(address, condition);
            }
            // It is out of memory already.
            Some(_) => self.insertion.forget(address),
        }
        Ok(())
    }

    /// Tells the stub which breakpoints were removed.
    pub(in crate::remote) fn send_all_removed(&mut self) {
        for address in std::mem::take(&mut self.removed).into_keys() {
            self.send_removed(address, true);
            self.insertion.forget(address);
        }
    }

    /// Whether a breakpoint is inserted there.
    pub(in crate::remote) fn has_breakpoint(&self, address: u64) -> bool {
        self.breakpoints.contains_key(&address)
    }

    /// Whether the stub evaluates conditions.
    pub(in crate::remote) fn decides_conditions(&self) -> bool {
        let features = self.client.features();
        features.has(Feature::ConditionalBreakpoints)
    }

    /// Whether the stub evaluates a condition there.
    pub(in crate::remote) fn has_condition(&self, address: u64) -> bool {
        let condition = self.breakpoints.get(&address);
        condition.is_some_and(|condition| !condition.is_empty())
    }

    /// Has the stub evaluate a condition at an inserted breakpoint. `None`: none any more.
    pub(in crate::remote) fn set_condition(
        &mut self,
        address: u64,
        condition: Option<&Truth>,
    ) -> Result<(), String> {
        self.require_rest().map_err(|error| error.to_string())?;
        let compiled = condition.map(|condition| self.compiled(address, condition));
        let code = compiled.transpose()?.unwrap_or_default();
        match self.breakpoints.get(&address) {
            None => return Err("no breakpoint is inserted there".to_owned()),
            Some(present) if *present == code => return Ok(()),
            Some(_) => {}
        }
        if self.vforked.is_none() {
            let sent = self.send_inserted(address, &code);
            sent.map_err(|error| format!("the stub refuses its condition: {error}"))?;
        }
        self.breakpoints.insert(address, code);
        Ok(())
    }

    fn compiled(&mut self, address: u64, condition: &Truth) -> Result<Vec<u8>, String> {
        /// How much of the code at the breakpoint is looked at for two words that differ, in bytes.
        const LOOKED_AT: usize = 256;
        if !self.decides_conditions() {
            return Err("the stub evaluates no conditions".to_owned());
        }
        let mut code = [0; LOOKED_AT];
        let count = self.read(address, &mut code);
        let probes = conditions::probes(&code[..count]);
        let probes = probes.map(|all| all.map(|offset| address + offset as u64));
        let register = |name: &str| self.layout.number(name);
        let code = conditions::compile(condition, register, probes)?;
        // Two digits a byte, and the rest of the packet.
        let room = self.client.features().packet_size() / 2;
        match code.len() + 32 <= room {
            true => Ok(code),
            false => Err("its condition is too long for the stub".to_owned()),
        }
    }

    /// Takes all breakpoints out of the memory of the process whose thread is chosen, but knows them still.
    pub(super) fn lift_breakpoints(&mut self) {
        let all = self.breakpoints.keys().chain(self.removed.keys());
        let all: Vec<u64> = all.copied().collect();
        for address in all {
            self.send_removed(address, false);
        }
    }

    /// Puts all breakpoints back, once a vfork child has left the memory.
    pub(super) fn put_breakpoints_back(&mut self) {
        self.vforked = None;
        self.insertion.set_lifted(false);
        for (address, condition) in self.breakpoints.clone() {
            let _ = self.send_inserted(address, &condition);
        }
    }

    /// Whether a thread is at an inserted breakpoint. If it is behind one, it is moved back.
    pub(super) fn is_at_breakpoint(&mut self, thread: ThreadId) -> bool {
        let Ok(mut registers) = self.general(thread) else {
            return false;
        };
        let pc = registers.pc();
        let has = |link: &Link, at: u64| link.has_breakpoint(at) || link.has_breakpoint_of_step(at);
        if has(self, pc.0) {
            return true;
        }
        let behind = self.layout.machine().behind_trap();
        let before = pc.offset(-behind.cast_signed());
        if has(self, before.0) {
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
        // The child's thread is gone, which the stub had chosen.
        let _ = self.choose(self.process);
    }
}
