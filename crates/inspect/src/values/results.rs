//! Function results, from the registers right after the return. [`super::passing`] says where each part is.

use super::passing::{self, Class, Part, Passing};
use super::{Contents, NamedValue, Value};
use crate::Address;
use crate::modules::LoadedModule;
use dapple_arch::Machine;
use dapple_arch::abi::RESULT;
use dapple_arch::registers::{Registers, Vectors};
use dapple_symbols::functions::{Function, Language};
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::TypeId;
use std::sync::Arc;

/// Parts of the symbols of functions whose interface the compiler has changed.
const CHANGED: [&str; 3] = [".isra.", ".part.", ".specialized."];

/// The registers that may contain a result.
#[derive(Debug, Clone)]
pub struct ResultRegisters {
    /// The general-purpose registers.
    pub general: Registers,
    /// The registers for floating-point numbers and vectors.
    pub vectors: Option<Vectors>,
    /// `st0`, ten bytes.
    pub x87: Option<[u8; 10]>,
    /// Where the caller has made room for a result in memory, if that is known.
    pub room: Option<Address>,
}

/// Whether the compiler has changed how a function is called.
pub(crate) fn is_changed(module: &LoadedModule, function: &Function) -> bool {
    let symbol = module.module.symbol_at(function.entry);
    symbol.is_some_and(|s| CHANGED.iter().any(|mark| s.name.contains(mark)))
}

/// The result of a function. `None`: the function returns nothing.
pub fn returned(
    module: &Arc<LoadedModule>,
    function: &Function,
    registers: &ResultRegisters,
) -> Option<NamedValue> {
    let result = module.module.result_of(function.id)?;
    let type_id = result.type_id?;
    let contents = match result.unconventional || is_changed(module, function) {
        true => Err("the compiler has changed how this function returns".to_owned()),
        false => contents(module, type_id, function.language, registers)?,
    };
    let value = value(module, type_id, function.language, contents);
    let mut name = dapple_symbols::names::readable_name(&function.name);
    if !name.ends_with([')', '}']) {
        name += "()";
    }
    Some(NamedValue {
        name,
        value,
        expression: None,
        kind: None,
    })
}

/// The result, or the reason why it is unavailable, as a value.
pub fn value(
    module: &Arc<LoadedModule>,
    type_id: TypeId,
    language: Language,
    contents: Result<Contents, String>,
) -> Value {
    let contents =
        contents.unwrap_or_else(|why| Contents::Unavailable(Unavailable::Unsupported(why)));
    Value::new(Arc::clone(module), Some(type_id), language, contents)
}

/// The contents of a function's result, by its type, or the reason why they are unavailable. `None`: there is no result.
pub fn contents(
    module: &LoadedModule,
    type_id: TypeId,
    language: Language,
    registers: &ResultRegisters,
) -> Option<Result<Contents, String>> {
    Some(match passing::passing(module, type_id, language) {
        Ok(Passing::Nothing { size: None }) => return None,
        // An empty class.
        Ok(Passing::Nothing { size: Some(size) }) => {
            Ok(Contents::Bytes(vec![0; size as usize].into()))
        }
        Ok(Passing::Parts { size, parts }) => by_parts(size, &parts, registers),
        Ok(Passing::Extended) => {
            let bytes = registers.x87.map(|bytes| {
                let mut whole = bytes.to_vec();
                whole.resize(16, 0);
                Contents::Bytes(whole.into())
            });
            bytes.ok_or_else(|| "the floating-point registers can't be read".to_owned())
        }
        Ok(Passing::Memory | Passing::Address) => {
            let general = &registers.general;
            let returned = match general.machine() {
                Machine::X86_64 => general.get(RESULT).map(Address),
                // The caller's register with the address isn't kept.
                _ => registers.room,
            };
            let address = returned.ok_or_else(|| "its address is lost".to_owned());
            address.map(Contents::Memory)
        }
        Err(unsure) => Err(unsure.of_result().to_owned()),
    })
}

/// Hands out the result registers of each class in turn.
struct Supply<'a> {
    registers: &'a ResultRegisters,
    integers: usize,
    vectors: usize,
    /// Halves of arm's vector registers.
    halves: usize,
}

impl Supply<'_> {
    fn integer(&mut self) -> Option<u64> {
        let all = self.registers.general.machine().results();
        let register = all.get(self.integers).copied();
        self.integers += 1;
        self.registers.general.get(register?)
    }

    fn next(&mut self, part: &Part) -> Result<[u8; 16], String> {
        let machine = self.registers.general.machine();
        let value = match part.class {
            Class::Integer if part.size > machine.address_size() => {
                let halves = [self.integer(), self.integer()];
                let [low, high] = halves.map(|half| half.map(u128::from));
                low.zip(high)
                    .map(|(low, high)| low | high << (8 * machine.address_size()))
            }
            Class::Integer => self.integer().map(u128::from),
            // arm's registers are halves of others, too.
            Class::Sse if machine == Machine::Arm && part.size <= 4 => {
                let vectors = self.registers.vectors;
                let value = vectors.and_then(|v| v.get(self.halves / 2).copied());
                let shift = 32 * (self.halves % 2);
                self.halves += 1;
                value.map(|value| value >> shift)
            }
            Class::Sse => {
                let vectors = self.registers.vectors;
                let first = self.registers.general.machine().first_float();
                let value = vectors.and_then(|v| v.get(first + self.vectors).copied());
                self.vectors += 1;
                if value.is_none() {
                    return Err("the vector registers can't be read".to_owned());
                }
                value
            }
        };
        let value = value.ok_or_else(|| "a register that it is in is lost".to_owned())?;
        Ok(value.to_le_bytes())
    }
}

fn by_parts(size: u64, parts: &[Part], registers: &ResultRegisters) -> Result<Contents, String> {
    let mut supply = Supply {
        registers,
        integers: 0,
        vectors: 0,
        halves: 0,
    };
    let mut bytes = vec![0; size as usize];
    for part in parts {
        let value = supply.next(part)?;
        let at = part.offset as usize;
        let there = bytes.get_mut(at..at + part.size as usize);
        let (Some(there), Some(value)) = (there, value.get(..part.size as usize)) else {
            return Err("what it returns isn't known well enough".to_owned());
        };
        there.copy_from_slice(value);
    }
    Ok(Contents::Bytes(bytes.into()))
}
