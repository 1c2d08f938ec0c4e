//! Finds the targets of indirect functions (IFUNC) that have breakpoints.
//!
//! A resolver is called when the dynamic linker loads a module, at the first call of a function, by dlsym(3), or at the start of a static
//! program. With a site at the resolver and one at its return address, each result is known before the program can use it. Results of
//! earlier calls are read from the memory slots into which relocations have written them.

use super::Owner;
use crate::breakpoints::indirect_function::IndirectFunction;
use crate::breakpoints::site::Reason;
use crate::{Address, ThreadId};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_symbols::indirect::Slot;
use std::collections::{BTreeMap, BTreeSet};

/// The resolvers that have sites, and what they have returned.
#[derive(Debug, Default)]
pub(super) struct IndirectFunctions {
    resolvers: BTreeSet<Address>,
    /// By resolver: the targets that it was seen to return. They are stored here because the program doesn't keep every result.
    seen: BTreeMap<Address, BTreeSet<Address>>,
    under_way: Vec<Call>,
}

/// A call of a resolver.
#[derive(Debug)]
struct Call {
    thread: ThreadId,
    resolver: Address,
    returns_to: Address,
    /// The stack pointer after the resolver's return.
    sp: u64,
}

impl Owner {
    /// Finds those targets of indirect functions with breakpoints that resolvers have returned before, and inserts sites at the resolvers
    /// for future calls.
    pub(super) fn insert_resolver_sites(&mut self) {
        let indirect_functions = self.breakpoints.indirect_functions();
        for choice in indirect_functions
            .iter()
            .filter(|choice| choice.chosen.is_empty())
        {
            for target in self.chosen_before(choice) {
                self.breakpoints
                    .chosen(choice.resolver, target, &self.modules);
            }
        }
        let wanted: BTreeSet<Address> = indirect_functions
            .iter()
            .map(|choice| choice.resolver)
            .collect();
        let former = std::mem::take(&mut self.indirect_functions.resolvers);
        for gone in former.difference(&wanted) {
            self.remove_site(*gone, Reason::Resolver);
        }
        for resolver in &wanted {
            if let Err(error) = self.insert_site(*resolver, Reason::Resolver) {
                tracing::warn!(%resolver, %error, "what is chosen can't be seen");
            }
        }
        self.indirect_functions.resolvers = wanted;
    }

    /// The targets of an indirect function that its resolver was seen to return, or that relocations have written into memory slots.
    fn chosen_before(&self, choice: &IndirectFunction) -> BTreeSet<Address> {
        let seen = self.indirect_functions.seen.get(&choice.resolver);
        let mut found = seen.cloned().unwrap_or_default();
        let Some(own) = self.modules().at(choice.resolver) else {
            return found;
        };
        let in_own = own.module.indirect_slots(own.to_file(choice.resolver));
        found.extend(in_own.iter().filter_map(|slot| self.code_in(slot, own)));
        let Some(name) = choice.linkage_name.as_deref().filter(|_| found.is_empty()) else {
            return found;
        };
        for module in self.modules().iter() {
            let slots = module.module.slots_of(name);
            let targets = slots.iter().filter_map(|slot| self.code_in(slot, module));
            // A slot may have another module's function of the same name. Only a target in the resolver's own module counts.
            let chosen = targets.filter(|target| own.contains(*target));
            found.extend(chosen.filter(|target| *target != choice.resolver));
        }
        found
    }

    /// The address of code that a slot of `module` has. `None`: the slot can't be read, has an address that isn't code, or isn't resolved
    /// yet (it has its initial value, or leads to a PLT).
    fn code_in(&self, slot: &Slot, module: &LoadedModule) -> Option<Address> {
        let value = self
            .memory()
            .read_address(module.to_process(slot.address))
            .ok()?;
        let unbound = [slot.initial, slot.initial.wrapping_add(module.bias)];
        let target = self.process().machine().code_address(value);
        let there = self.modules().at(target)?;
        let is_stub = there.module.section_at(there.to_file(target));
        let is_stub = is_stub.is_some_and(|name| name.contains("plt"));
        (!unbound.contains(&value) && !is_stub && there.has_code_at(target)).then_some(target)
    }

    /// Called when a thread has come to a resolver: inserts a site at the return address, to see the result there.
    pub(super) fn resolver_called(&mut self, thread: ThreadId, resolver: Address) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let Some((returns_to, sp)) = self.returns_to(&registers) else {
            return;
        };
        if let Err(error) = self.insert_site(returns_to, Reason::ResolverReturn) {
            tracing::warn!(%resolver, %error, "what is chosen can't be seen");
            return;
        }
        self.indirect_functions.under_way.push(Call {
            thread,
            resolver,
            returns_to,
            sp,
        });
    }

    /// Called when a thread has come to the return address of a resolver's call: takes the result.
    pub(super) fn resolver_returned(&mut self, thread: ThreadId, at: Address) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let made = |call: &Call| {
            call.thread == thread && call.returns_to == at && call.sp == registers.sp()
        };
        let Some(index) = self.indirect_functions.under_way.iter().position(made) else {
            return;
        };
        let call = self.indirect_functions.under_way.remove(index);
        self.forget_returns_to(at);
        let Some(target) = Some(Address(registers.result())) else {
            return;
        };
        let is_code = self
            .modules()
            .at(target)
            .is_some_and(|m| m.has_code_at(target));
        if !is_code {
            return;
        }
        let seen = self
            .indirect_functions
            .seen
            .entry(call.resolver)
            .or_default();
        seen.insert(target);
        if self
            .breakpoints
            .chosen(call.resolver, target, &self.modules)
        {
            self.arm();
        }
    }

    /// Forgets the resolvers and calls in a module that was unloaded. `gone` is true for the module's addresses.
    pub(super) fn forget_resolvers_in(&mut self, gone: impl Fn(Address) -> bool) {
        let choosing = &mut self.indirect_functions;
        choosing.resolvers.retain(|resolver| !gone(*resolver));
        choosing.seen.retain(|resolver, _| !gone(*resolver));
        choosing
            .under_way
            .retain(|call| !gone(call.resolver) && !gone(call.returns_to));
    }

    /// Forgets the calls of resolvers on a thread that has ended.
    pub(super) fn resolver_calls_ended(&mut self, thread: ThreadId) {
        let (gone, kept) = std::mem::take(&mut self.indirect_functions.under_way)
            .into_iter()
            .partition::<Vec<Call>, _>(|call| call.thread == thread);
        self.indirect_functions.under_way = kept;
        for call in gone {
            self.forget_returns_to(call.returns_to);
        }
    }

    fn forget_returns_to(&mut self, at: Address) {
        let calls = &self.indirect_functions.under_way;
        if !calls.iter().any(|call| call.returns_to == at) {
            self.remove_site(at, Reason::ResolverReturn);
        }
    }
}
