//! Sets the user's breakpoints: inserts their bytes into the program's code, and takes them out.
//!
//! Lines and functions resolve to code, by the debug information. But an address was given by a person, and a byte in data or in the middle
//! of an instruction would break the program, so such an address is checked first. When modules are loaded or unloaded, all breakpoints are
//! resolved again, and refused ones are tried again. At each stop and before the program runs on, refused breakpoints are tried again, and
//! so are breakpoints on addresses whose byte is no longer in memory.

use super::Owner;
use crate::breakpoints::model::Arm;
use crate::breakpoints::options::BreakpointOptions;
use crate::breakpoints::refusal::Refusal;
use crate::breakpoints::site::Reason;
use crate::breakpoints::wanted::{
    BreakpointState, FunctionBreakpoint, InstructionBreakpoint, LineBreakpoint,
};
use crate::{Address, Event, ThreadId};
use dapple_arch::code::decode;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use std::path::Path;

/// How many bytes before an address the known instruction start may be from which instructions are decoded up to the address.
const FARTHEST: u64 = 1 << 16;

impl Owner {
    pub(crate) fn set_line_breakpoints(
        &mut self,
        file: &Path,
        wanted: &[LineBreakpoint],
    ) -> Vec<BreakpointState> {
        let ids = self.breakpoints.set_lines(file, wanted, &self.modules);
        self.arm_and_answer(&ids)
    }

    pub(crate) fn set_function_breakpoints(
        &mut self,
        wanted: &[FunctionBreakpoint],
    ) -> Vec<BreakpointState> {
        let ids = self.breakpoints.set_functions(wanted, &self.modules);
        if self.breakpoints.wants_indexes() {
            self.make_indexes();
        }
        self.arm_and_answer(&ids)
    }

    fn arm_and_answer(&mut self, ids: &[i64]) -> Vec<BreakpointState> {
        // The command's answer describes the breakpoints that the command sets. Events report changes of other breakpoints.
        for changed in self.arm_quietly() {
            if !ids.contains(&changed.id) {
                self.tell(Event::BreakpointChanged(changed));
            }
        }
        let state = |id: &i64| self.breakpoints.state(*id);
        ids.iter().filter_map(state).collect()
    }

    pub(crate) fn set_address_breakpoints(
        &mut self,
        wanted: &[InstructionBreakpoint],
    ) -> Vec<BreakpointState> {
        // What a pointer to a function has may say more than the address of the code.
        let machine = self.process().machine();
        let mut wanted = wanted.to_vec();
        for one in &mut wanted {
            one.address = machine.code_address(one.address.0);
        }
        let ids = self.breakpoints.set_addresses(&wanted);
        self.arm_and_answer(&ids)
    }

    /// An id for a data breakpoint, which [`Model`](crate::breakpoints::model::Model) doesn't have. No other breakpoint has the id.
    pub(super) fn new_breakpoint_id(&mut self) -> i64 {
        self.breakpoints.new_id()
    }

    /// Resolves the breakpoints on functions that waited for a module's index. Call when the index is ready.
    pub(super) fn complete_functions(&mut self, loaded: &LoadedModule) {
        if self.breakpoints.complete(loaded) {
            self.arm();
        }
    }

    /// Limits to `child` the breakpoints that were limited to the thread `maker`. Call when the debugger follows `child`, which `maker` has
    /// forked.
    pub(super) fn breakpoints_follow(&mut self, maker: ThreadId, child: ThreadId) {
        self.breakpoints.thread_became(maker, child);
    }

    /// Inserts missing breakpoint bytes, takes out those that no breakpoint needs any more, and reports the breakpoints that have changed.
    /// Does the same for the sites at exception hooks and resolvers.
    pub(super) fn arm(&mut self) {
        for changed in self.arm_quietly() {
            self.tell(Event::BreakpointChanged(changed));
        }
    }

    /// Takes out the jumps whose breakpoints have changed. `is_stale` says of a site whether they have.
    pub(super) fn take_stale_jumps_out(&mut self) {
        let breakpoints = &self.breakpoints;
        let is_stale =
            |(id, options): &(i64, BreakpointOptions)| breakpoints.options(*id) != Some(options);
        self.memory
            .take_stale_jumps_out(|trampoline| trampoline.decides.iter().any(is_stale));
        self.memory.take_conditions_out(is_stale);
    }

    /// As [`Owner::arm`], but returns the changed breakpoints instead of reporting them.
    pub(super) fn arm_quietly(&mut self) -> Vec<BreakpointState> {
        self.arm_exceptions();
        self.insert_resolver_sites();
        self.memory.forget_lost_users();
        self.take_stale_jumps_out();
        let wanted = self.breakpoints.wanted(&self.modules);
        self.memory
            .remove_users(|address, id| wanted.contains(&Arm { address, id }));
        for arm in wanted {
            let refusal = self.unfit(arm).or_else(|| {
                let inserted = self.insert_site(arm.address, Reason::User(arm.id));
                inserted.err().map(|error| match error.kind() {
                    std::io::ErrorKind::NotFound => Refusal::no_memory(arm.address),
                    _ => Refusal::failed(arm.address, &error),
                })
            });
            if let Some(refusal) = refusal {
                self.breakpoints.refused(arm, refusal);
            }
        }
        self.breakpoints.changed()
    }

    /// Tries again to insert refused breakpoints, and breakpoints on addresses whose byte is no longer in memory: a program may map memory,
    /// make it executable and unmap it without any notification. Call at each stop, so that the client sees the present state, and before the
    /// program runs on.
    pub(super) fn arm_again(&mut self) {
        let lost = |address: &Address| self.memory.is_lost(*address);
        if self.breakpoints.has_refusals() || self.breakpoints.given_addresses().any(|a| lost(&a)) {
            self.arm();
        }
    }

    /// Why a breakpoint on an address that the user has given can't be inserted: there is no memory or no code, or no instruction begins
    /// there. `None`: nothing speaks against it, or the breakpoint is on a line or function.
    fn unfit(&self, arm: Arm) -> Option<Refusal> {
        let address = arm.address;
        if self.site(address).is_some() || !self.breakpoints.is_on_address(arm.id) {
            return None;
        }
        let module = self.modules().at(address);
        if !module.is_some_and(|module| module.has_code_at(address)) {
            let mappings = self.process().mappings();
            if mappings.is_empty() && self.can_be_read(address) {
                return None;
            }
            let here = mappings
                .iter()
                .find(|mapping| (mapping.start..mapping.end).contains(&address.0));
            let Some(mapping) = here else {
                return Some(Refusal::no_memory(address));
            };
            return (!mapping.execute).then(|| Refusal::no_code(address, &mapping.name));
        }
        self.inside_of_instruction(address)
    }

    /// Refuses an address that is inside of an instruction. Decodes instructions from the last known instruction start before the address.
    /// `None`: an instruction begins at the address, or that can't be found out.
    fn inside_of_instruction(&self, address: Address) -> Option<Refusal> {
        let module = self.modules().at(address)?;
        let file = module.to_file(address);
        let row = module.module.row_at(file).map(|row| row.range.start);
        let symbol = || module.module.symbol_at(file).map(|symbol| symbol.address);
        let set = module.module.instruction_set(file);
        let start = row.or_else(symbol).filter(|start| *start <= file)?;
        let mut at = module.to_process(start);
        if address.0 - at.0 > FARTHEST {
            return None;
        }
        while at < address {
            let mut code = [0; 16];
            let length = self.memory().read_some(at, &mut code);
            let next = decode(set, code.get(..length)?, at)?.next();
            if next > address {
                return Some(Refusal::inside(address, at, next));
            }
            at = next;
        }
        None
    }
}
