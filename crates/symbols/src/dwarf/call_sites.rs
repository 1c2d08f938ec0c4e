//! The arguments that a function was called with: entry values, recovered from the callers' call site entries (DWARF 5
//! §2.5.1.7, §3.4).

use crate::dwarf::entries::Entry;
use crate::dwarf::functions::FunctionId;
use crate::dwarf::location::{Evaluator, Surroundings, Unavailable};
use crate::dwarf::{Reader, Unit};
use gimli::{
    AttributeValue, Expression, LittleEndian, Operation, UnitOffset, Value, constants as dw,
};

/// How a call site identifies a parameter.
#[derive(Clone, Copy)]
enum Passed {
    /// By the register that passes it.
    In(u16),
    /// By the entry of the callee's parameter, for one that is in no register (`DW_OP_GNU_parameter_ref`).
    As(UnitOffset<usize>),
}

impl<'a> Evaluator<'_, 'a> {
    /// The value that an expression had on entry to the function. Compilers only write expressions of one register:
    /// plain, or, for a floating-point argument, with a base type.
    pub fn entry_value(&self, expression: Expression<Reader<'_>>) -> Result<Value, Unavailable> {
        let around = self.around.ok_or(Unavailable::OptimizedOut)?;
        let mut operations = expression.operations(around.unit.dw().header.encoding());
        match (operations.next(), operations.next()) {
            (Ok(Some(Operation::Register { register })), Ok(None)) => {
                Ok(Value::Generic(self.on_entry(around, register.0)?))
            }
            (
                Ok(Some(Operation::RegisterOffset {
                    register,
                    offset: 0,
                    base_type,
                })),
                Ok(None),
            ) if base_type.0 != 0 => self.typed(self.on_entry(around, register.0)?, base_type),
            _ => Err(Unavailable::OptimizedOut),
        }
    }

    /// The value that the caller passed for a parameter.
    pub fn passed_as(&self, parameter: UnitOffset<usize>) -> Result<u64, Unavailable> {
        let around = self.around.ok_or(Unavailable::OptimizedOut)?;
        self.call_site_value(around, Passed::As(parameter))
    }

    /// The value that a register had on entry to the function.
    fn on_entry(&self, around: Surroundings<'_, 'a>, register: u16) -> Result<u64, Unavailable> {
        let machine = around.dwarf.machine();
        match register {
            // Callee-saved registers have the same value in the caller's frame.
            _ if machine.is_callee_saved(register) => {
                let caller = self.context.caller().ok_or(Unavailable::OptimizedOut)?;
                caller
                    .register(register)
                    .ok_or(Unavailable::RegisterLost(register))
            }
            // On entry, what the call has pushed is on top of the stack, directly below the CFA.
            _ if register == machine.sp() => Ok(self.cfa()?.wrapping_sub(machine.pushed_by_call())),
            _ => self.call_site_value(around, Passed::In(register)),
        }
    }

    /// The value that the caller passed, according to its call site entry (DWARF 5 §3.4.2).
    fn call_site_value(
        &self,
        around: Surroundings<'_, 'a>,
        wanted: Passed,
    ) -> Result<u64, Unavailable> {
        let caller = self.context.caller().ok_or(Unavailable::OptimizedOut)?;
        // A caller in another module has its debug information elsewhere, which isn't accessible here.
        if caller.load_bias() != self.context.load_bias() {
            return Err(Unavailable::OptimizedOut);
        }
        let after_call = caller
            .register(around.dwarf.machine().pc())
            .ok_or(Unavailable::OptimizedOut)?
            .wrapping_sub(caller.load_bias());
        let dwarf = around.dwarf;
        let address = after_call.wrapping_sub(1);
        let (unit, function) = dwarf
            .function_entry_at(address)
            .ok_or(Unavailable::OptimizedOut)?;
        let blocks = dwarf.blocks(unit, function.offset);
        let site = blocks
            .call_sites
            .iter()
            .find(|site| site.return_address == after_call);
        let site = UnitOffset(site.ok_or(Unavailable::OptimizedOut)?.offset);
        let value = passed(unit, site, wanted).ok_or(Unavailable::OptimizedOut)?;
        let of_caller = Surroundings {
            dwarf,
            unit,
            function: Some(FunctionId {
                unit: unit.index,
                offset: function.offset,
            }),
            address,
        };
        let evaluator = Evaluator {
            around: Some(of_caller),
            context: &*caller,
            nesting: self.nesting + 1,
            requests: self.requests,
        };
        let is_called = match around.is_called_directly(unit, site) {
            Some(is_called) => is_called,
            None => evaluator.calls(around, unit, site),
        };
        match is_called {
            true => evaluator.computed(value),
            false => Err(Unavailable::OptimizedOut),
        }
    }

    /// The value of an expression of a call site, which computes a value, not an address: marked as a value, it may also be floating-point.
    fn computed(&self, expression: Expression<Reader<'a>>) -> Result<u64, Unavailable> {
        let mut value = expression.0.slice().to_vec();
        value.push(dw::DW_OP_stack_value.0);
        self.number(Expression(Reader::new(&value, LittleEndian)), None)
    }

    /// Whether an indirect call has gone to a function, by the address that it has called (`DW_AT_call_target`). If that is another one's, that has made
    /// a tail call. Without an address, nobody knows.
    fn calls(
        &self,
        function: Surroundings<'_, 'a>,
        unit: &Unit<'a>,
        site: UnitOffset<usize>,
    ) -> bool {
        let names = [dw::DW_AT_call_target, dw::DW_AT_GNU_call_site_target];
        let Some(site) = function.dwarf.entry(unit, site) else {
            return false;
        };
        let target = names.iter().find_map(|&name| site.attr_value(name));
        let Some(AttributeValue::Exprloc(target)) = target else {
            return false;
        };
        let Ok(target) = self.computed(target) else {
            return false;
        };
        let machine = function.dwarf.machine();
        let target = machine.code_address(target).0;
        let target = target.wrapping_sub(self.context.load_bias());
        let called = function.dwarf.function_entry_at(target);
        called.is_some_and(|(unit, called)| {
            function.function
                == Some(FunctionId {
                    unit: unit.index,
                    offset: called.offset,
                })
        })
    }
}

impl<'a> Surroundings<'_, 'a> {
    /// Whether the call at `site` has called this function. After a tail call, the call site names another function. `None`: it names none, as an
    /// indirect call.
    fn is_called_directly(&self, unit: &Unit<'a>, site: UnitOffset<usize>) -> Option<bool> {
        let Some(site) = self.dwarf.entry(unit, site) else {
            return Some(false);
        };
        let origin = [dw::DW_AT_call_origin, dw::DW_AT_abstract_origin]
            .iter()
            .find_map(|&name| site.attr_value(name));
        let callee = origin.and_then(|origin| self.dwarf.resolve(unit, origin));
        let (callee_unit, callee) = callee?;
        let function = self.function?;
        let callee = self.dwarf.chain(callee_unit, callee);
        let Some(unit) = self.dwarf.unit(function.unit) else {
            return Some(false);
        };
        let this = self.dwarf.chain(unit, UnitOffset(function.offset));
        let name = |chain| {
            let linkage = self.dwarf.linkage_name(chain).map(String::into_bytes);
            linkage.or_else(|| {
                self.dwarf
                    .chain_text(chain, dw::DW_AT_name)
                    .map(<[u8]>::to_vec)
            })
        };
        Some(name(&callee) == name(&this))
    }
}

/// The expression for a parameter at a call site.
fn passed<'a>(
    unit: &Unit<'a>,
    site: UnitOffset<usize>,
    wanted: Passed,
) -> Option<Expression<Reader<'a>>> {
    let mut tree = unit.dw().entries_tree(Some(site)).ok()?;
    let mut children = tree.root().ok()?.children();
    while let Ok(Some(child)) = children.next() {
        let entry = child.entry();
        let is_wanted = match wanted {
            Passed::In(register) => is_in(unit, entry, register),
            Passed::As(parameter) => is_passed_as(entry, parameter),
        };
        if !is_wanted {
            continue;
        }
        let value = [dw::DW_AT_call_value, dw::DW_AT_GNU_call_site_value]
            .iter()
            .find_map(|&name| entry.attr_value(name));
        if let Some(AttributeValue::Exprloc(value)) = value {
            return Some(value);
        }
    }
    None
}

fn is_in(unit: &Unit<'_>, entry: &Entry<'_>, wanted: u16) -> bool {
    let Some(AttributeValue::Exprloc(location)) = entry.attr_value(dw::DW_AT_location) else {
        return false;
    };
    let mut operations = location.operations(unit.dw().header.encoding());
    matches!(operations.next(), Ok(Some(Operation::Register { register })) if register.0 == wanted)
}

fn is_passed_as(entry: &Entry<'_>, wanted: UnitOffset<usize>) -> bool {
    // GNU's predecessor of DWARF 5's call sites uses the abstract origin.
    let names = [dw::DW_AT_call_parameter, dw::DW_AT_abstract_origin];
    let parameter = names.iter().find_map(|&name| entry.attr_value(name));
    matches!(parameter, Some(AttributeValue::UnitRef(offset)) if offset == wanted)
}
