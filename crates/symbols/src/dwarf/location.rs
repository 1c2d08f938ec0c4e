//! Locations of values: DWARF expressions and location lists (DWARF 5 §2.5, §2.6).
//!
//! gimli's evaluation stops whenever it needs data; `Evaluator` answers from the debug information or from the
//! [`LocationContext`]. Entry values are in `call_sites`.

use crate::dwarf::entries::Entry;
use crate::dwarf::functions::FunctionId;
use crate::dwarf::thread_statics::is_thread_local;
use crate::dwarf::{Dwarf, Reader, Unit};
use dapple_arch::Machine;
use gimli::{
    AttributeValue, Encoding, EvaluationResult, Expression, Format, UnitOffset, Value, ValueType,
};
use gimli::{EndianSlice, LittleEndian, constants as dw};
use std::cell::Cell;

/// What evaluating an expression needs from a frame of the process. Addresses are those of the process.
pub trait LocationContext {
    /// The register's value in this frame, by DWARF number (System V x86-64 ABI, figure 3.36); `None` if it can't be
    /// recovered.
    fn register(&self, register: u16) -> Option<u64>;
    /// Reads `buffer.len()` bytes.
    ///
    /// # Errors
    /// The first unreadable address.
    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), u64>;
    /// The frame's canonical frame address.
    fn cfa(&self) -> Option<u64>;
    /// How many bytes an address has: call frame information computes with numbers of that size.
    fn address_size(&self) -> u8 {
        8
    }
    /// What to add to a [`crate::FileAddress`] to get an address in the process.
    fn load_bias(&self) -> u64;
    /// The address of the thread-local at `offset` of this module's TLS block.
    ///
    /// # Errors
    /// Why the address is not known.
    fn thread_local(&self, offset: u64) -> Result<u64, &'static str>;
    /// The value that a register has in the innermost frame: if neither this frame nor those that it called have changed
    /// the register, its value here. Only called when the compiler guarantees that. `None` if unknown.
    fn unsaved_register(&self, _register: u16) -> Option<u128> {
        None
    }
    /// The context of the calling frame, for entry values.
    fn caller(&self) -> Option<Box<dyn LocationContext + '_>> {
        None
    }
}

/// Why a value is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable {
    /// The compiler recorded no location.
    OptimizedOut,
    /// There are locations, but none for this address.
    NotHere,
    /// Nothing uses the variable, so the linker discarded it; its address has no meaning.
    Discarded,
    /// The variable is on the stack of an asynchronous function's body, and nothing has written it since the future was resumed: the compiler
    /// doesn't keep it in the future, because it isn't used behind the `await`.
    NotKept,
    /// Memory at the address can't be read.
    Unreadable(u64),
    /// A register that the location needs was not saved by the called frames.
    RegisterLost(u16),
    /// The debug information is broken or unsupported; the text says how.
    Unsupported(String),
}

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The size in bits; `None` for the whole value.
    pub bits: Option<u64>,
    /// The location.
    pub place: Place,
}

/// The location of a piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In memory at an address of the process.
    Memory(u64),
    /// In a register, by DWARF number, from `bit_offset` on.
    Register {
        /// The DWARF number.
        register: u16,
        /// The number of low bits to skip.
        bit_offset: u64,
    },
    /// In no location: the value itself, little-endian.
    Bytes(Vec<u8>),
    /// The value is a pointer to an object that has no address, such as a variable optimised into a register.
    /// [`crate::Module::locate_pointee`] locates the object.
    ImplicitPointer {
        /// The object that it points to or into.
        pointee: EntryInFrame,
        /// The offset from the start of the object, in bytes.
        offset: i64,
    },
    /// Not available.
    Unavailable(Unavailable),
}

/// The object that an implicit pointer points to: its entry and frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryInFrame {
    unit: u32,
    offset: usize,
    function: Option<FunctionId>,
}

impl EntryInFrame {
    pub(crate) fn new(unit: u32, offset: usize, function: Option<FunctionId>) -> EntryInFrame {
        EntryInFrame {
            unit,
            offset,
            function,
        }
    }
}

/// The maximum of operations in an expression; real ones have a few dozen.
const ITERATIONS_LIMIT: u32 = 10_000;
/// The maximum of requests for data in the evaluation of one expression, including those it depends on.
const REQUESTS_LIMIT: u32 = 1000;
/// The maximum nesting of frame bases and entry values.
const NESTING_LIMIT: u32 = 8;

/// The reason for a location that gimli can't evaluate.
fn broken(error: gimli::Error) -> Unavailable {
    match error {
        gimli::Error::UnsupportedEvaluation | gimli::Error::InvalidExpression(_) => {
            unsupported(format!("the location can't be computed: {error}"))
        }
        error => unsupported(format!("the location is malformed: {error}")),
    }
}

pub(crate) fn unsupported(text: impl Into<String>) -> Unavailable {
    Unavailable::Unsupported(text.into())
}

/// The debug information around an expression. Expressions without it (in call frame information) can only use the
/// context.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'s, 'a> {
    pub dwarf: &'s Dwarf<'a>,
    pub unit: &'s Unit<'a>,
    /// The function whose `DW_AT_frame_base` applies.
    pub function: Option<FunctionId>,
    /// The frame's address in the module's file.
    pub address: u64,
}

/// The evaluation of an expression; nested evaluations share `requests`.
pub(crate) struct Evaluator<'s, 'a> {
    pub around: Option<Surroundings<'s, 'a>>,
    pub context: &'s dyn LocationContext,
    pub nesting: u32,
    /// How many more requests may be made in total.
    pub requests: &'s Cell<u32>,
}

impl<'a> Evaluator<'_, 'a> {
    fn pieces<'r>(
        &self,
        expression: Expression<Reader<'r>>,
        initial: Option<u64>,
    ) -> Result<Vec<Piece>, Unavailable>
    where
        'a: 'r,
    {
        if self.nesting > NESTING_LIMIT {
            return Err(unsupported("the location refers to itself"));
        }
        let encoding = self.around.map(|around| around.unit.dw().header.encoding());
        let encoding = encoding.unwrap_or_else(|| Encoding {
            address_size: self.context.address_size(),
            format: Format::Dwarf32,
            version: 5,
        });
        let mut evaluation = expression.evaluation(encoding);
        evaluation.set_max_iterations(ITERATIONS_LIMIT);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        // Compilers before DWARF 3 wrote a thread-local's offset with `DW_OP_addr`. Such an offset must not be relocated.
        let last = expression.0.slice().last();
        let thread_local = last.is_some_and(|&last| is_thread_local(dw::DwOp(last)));
        let mut state = evaluation.evaluate().map_err(broken)?;
        while state != EvaluationResult::Complete {
            let left = self.requests.get().checked_sub(1);
            let left = left.ok_or_else(|| unsupported("the location does not end"))?;
            self.requests.set(left);
            state = self.resume(&mut evaluation, state, thread_local)?;
        }
        let pieces = evaluation.result().into_iter();
        Ok(pieces.map(|piece| self.piece(piece)).collect())
    }

    /// Gives an evaluation the data that it has requested, and continues it.
    fn resume<'r>(
        &self,
        evaluation: &mut gimli::Evaluation<Reader<'r>>,
        request: EvaluationResult<Reader<'r>>,
        thread_local: bool,
    ) -> Result<EvaluationResult<Reader<'r>>, Unavailable>
    where
        'a: 'r,
    {
        let next = match request {
            EvaluationResult::RequiresMemory {
                address,
                size,
                base_type,
                ..
            } => {
                let mut bytes = [0; 8];
                let wanted = bytes
                    .get_mut(..usize::from(size))
                    .ok_or_else(|| unsupported("a wide memory access"))?;
                self.context
                    .read(address, wanted)
                    .map_err(Unavailable::Unreadable)?;
                evaluation.resume_with_memory(self.typed(u64::from_le_bytes(bytes), base_type)?)
            }
            EvaluationResult::RequiresRegister {
                register,
                base_type,
            } => {
                let value = self.register(register.0)?;
                evaluation.resume_with_register(self.typed(value, base_type)?)
            }
            EvaluationResult::RequiresFrameBase => {
                evaluation.resume_with_frame_base(self.frame_base()?)
            }
            EvaluationResult::RequiresTls(offset) => {
                let address = self.context.thread_local(offset);
                evaluation.resume_with_tls(address.map_err(unsupported)?)
            }
            EvaluationResult::RequiresCallFrameCfa => {
                evaluation.resume_with_call_frame_cfa(self.cfa()?)
            }
            EvaluationResult::RequiresAtLocation(reference) => {
                evaluation.resume_with_at_location(self.called_expression(reference)?)
            }
            EvaluationResult::RequiresEntryValue(expression) => {
                evaluation.resume_with_entry_value(self.entry_value(expression)?)
            }
            EvaluationResult::RequiresParameterRef(parameter) => {
                evaluation.resume_with_parameter_ref(self.passed_as(parameter)?)
            }
            EvaluationResult::RequiresRelocatedAddress(address) => evaluation
                .resume_with_relocated_address(match thread_local {
                    true => address,
                    false => self.relocated(address)?,
                }),
            EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                let around = self
                    .around
                    .ok_or_else(|| unsupported("an address index without a unit"))?;
                let address = around
                    .unit
                    .sections()
                    .address(around.unit.dw(), index)
                    .map_err(broken)?;
                evaluation.resume_with_indexed_address(if relocate {
                    self.relocated(address)?
                } else {
                    address
                })
            }
            EvaluationResult::RequiresBaseType(offset) => {
                evaluation.resume_with_base_type(self.value_type(offset)?)
            }
            _ => return Err(unsupported("the location is for another machine")),
        };
        next.map_err(broken)
    }

    fn piece(&self, piece: gimli::Piece<Reader<'_>>) -> Piece {
        let skipped = piece.bit_offset.unwrap_or(0);
        let place = match piece.location {
            gimli::Location::Empty => Place::Unavailable(Unavailable::OptimizedOut),
            gimli::Location::ImplicitPointer { value, byte_offset } => {
                self.implicit_pointer(value, byte_offset)
            }
            gimli::Location::Register { register } => self.in_register(register.0, skipped),
            gimli::Location::Address { address } if skipped.is_multiple_of(8) => {
                Place::Memory(address.wrapping_add(skipped / 8))
            }
            gimli::Location::Address { .. } => {
                Place::Unavailable(unsupported("a part of the value starts inside a byte"))
            }
            gimli::Location::Value { value } => Place::Bytes(bytes_of(value)),
            gimli::Location::Bytes { value } => Place::Bytes(value.slice().to_vec()),
        };
        Piece {
            bits: piece.size_in_bits,
            place,
        }
    }

    fn in_register(&self, register: u16, bit_offset: u64) -> Place {
        let (register, skipped) = self.whole_register(register);
        let bit_offset = bit_offset.saturating_add(skipped.into());
        let known = self.context.register(register).is_some();
        match self.unsaved(register).filter(|_| !known) {
            None => Place::Register {
                register,
                bit_offset,
            },
            Some(contents) => {
                let width = match self.machine() {
                    Some(Machine::Arm) => 8,
                    _ if register < 17 => 8,
                    _ => 16,
                };
                let skipped = u32::try_from(bit_offset).unwrap_or(u32::MAX);
                let contents = contents.checked_shr(skipped).unwrap_or(0);
                Place::Bytes(contents.to_le_bytes()[..width].to_vec())
            }
        }
    }

    fn implicit_pointer(&self, value: gimli::DebugInfoOffset<usize>, offset: i64) -> Place {
        let found = self.around.and_then(|around| {
            let reference = AttributeValue::DebugInfoRef(value);
            let (unit, offset) = around.dwarf.resolve(around.unit, reference)?;
            Some(EntryInFrame {
                unit: unit.index,
                offset: offset.0,
                function: around.function,
            })
        });
        match found {
            Some(pointee) => Place::ImplicitPointer { pointee, offset },
            None => Place::Unavailable(unsupported("it points to an entry that can't be read")),
        }
    }

    /// The number that an expression computes: an address, the content of a register, or a value.
    pub fn number<'r>(
        &self,
        expression: Expression<Reader<'r>>,
        initial: Option<u64>,
    ) -> Result<u64, Unavailable>
    where
        'a: 'r,
    {
        match self
            .pieces(expression, initial)?
            .into_iter()
            .next()
            .map(|piece| piece.place)
        {
            Some(Place::Memory(address)) => Ok(address),
            Some(Place::Register { register, .. }) => self.register(register),
            Some(Place::Bytes(bytes)) => Ok(little_endian(&bytes)),
            Some(Place::ImplicitPointer { .. }) => Err(unsupported(
                "it is computed from a pointer without an address",
            )),
            Some(Place::Unavailable(reason)) => Err(reason),
            None => Err(Unavailable::OptimizedOut),
        }
    }

    fn register(&self, register: u16) -> Result<u64, Unavailable> {
        let (register, skipped) = self.whole_register(register);
        self.context
            .register(register)
            .or_else(|| Some(self.unsaved(register)? as u64))
            .map(|contents| contents >> skipped)
            .ok_or(Unavailable::RegisterLost(register))
    }

    fn machine(&self) -> Option<Machine> {
        self.around.map(|around| around.dwarf.machine())
    }

    /// The register that one is a part of, and the number of bits in it before that part.
    fn whole_register(&self, register: u16) -> (u16, u32) {
        let whole = self.machine();
        let whole = whole.and_then(|machine| machine.register_around(register));
        whole.unwrap_or((register, 0))
    }

    /// The value of a caller-saved register that the callees happen not to have changed. gcc knows which registers the
    /// functions of a unit use (`-fipa-ra`) and keeps variables in the others during a call. It ends a location that does
    /// not survive the call within the call instruction, so any location that holds at the return address survives.
    /// Clang's locations end behind the call, so this is for gcc only.
    fn unsaved(&self, register: u16) -> Option<u128> {
        let by_gcc = self.around?.unit.optimised() == Some(true);
        by_gcc.then(|| self.context.unsaved_register(register))?
    }

    pub fn cfa(&self) -> Result<u64, Unavailable> {
        self.context
            .cfa()
            .ok_or_else(|| unsupported("the frame's address is not known"))
    }

    fn relocated(&self, address: u64) -> Result<u64, Unavailable> {
        if let Some(around) = self.around
            && !around.dwarf.may_be_variable(address)
        {
            return Err(Unavailable::Discarded);
        }
        Ok(address.wrapping_add(self.context.load_bias()))
    }

    pub fn typed(&self, value: u64, base_type: UnitOffset<usize>) -> Result<Value, Unavailable> {
        let value_type = self.value_type(base_type)?;
        if value_type == ValueType::Generic {
            // gimli parses only values of base types.
            return Ok(Value::Generic(value));
        }
        let bytes = value.to_le_bytes();
        Value::parse(value_type, EndianSlice::new(&bytes, LittleEndian))
            .map_err(|error| unsupported(format!("the location is malformed: {error}")))
    }

    /// The type of a typed operation; offset 0 is the generic type.
    fn value_type(&self, offset: UnitOffset<usize>) -> Result<ValueType, Unavailable> {
        if offset.0 == 0 {
            return Ok(ValueType::Generic);
        }
        let entry = self
            .around
            .and_then(|around| around.dwarf.entry(around.unit, offset));
        let value_type = entry.and_then(|entry| value_type_of(&entry));
        value_type
            .ok_or_else(|| unsupported("the location uses a type that can't be computed with"))
    }

    fn frame_base(&self) -> Result<u64, Unavailable> {
        let none = || unsupported("the function's frame base is not known");
        let around = self.around.ok_or_else(none)?;
        let entry = around.function.and_then(|function| {
            around.dwarf.entry(
                around.dwarf.unit(function.unit)?,
                UnitOffset(function.offset),
            )
        });
        let base = entry
            .and_then(|entry| entry.attr_value(dw::DW_AT_frame_base))
            .ok_or_else(none)?;
        let expression = around.expression(base)?;
        Evaluator {
            nesting: self.nesting + 1,
            ..*self
        }
        .number(expression, None)
    }

    /// The location of another entry, for `DW_OP_call2` and similar operations.
    fn called_expression(
        &self,
        reference: gimli::DieReference<usize>,
    ) -> Result<Reader<'a>, Unavailable> {
        let around = self
            .around
            .ok_or_else(|| unsupported("a call without a unit"))?;
        let reference = match reference {
            gimli::DieReference::UnitRef(offset) => AttributeValue::UnitRef(offset),
            gimli::DieReference::DebugInfoRef(offset) => AttributeValue::DebugInfoRef(offset),
        };
        let entry = around
            .dwarf
            .resolve(around.unit, reference)
            .and_then(|(unit, offset)| around.dwarf.entry(unit, offset));
        match entry.and_then(|entry| entry.attr_value(dw::DW_AT_location)) {
            Some(AttributeValue::Exprloc(expression)) => Ok(expression.0),
            _ => Ok(EndianSlice::new(&[], LittleEndian)),
        }
    }
}

impl<'a> Surroundings<'_, 'a> {
    /// The expression of an attribute: directly, or the entry of its location list for this address.
    pub fn expression(
        &self,
        value: AttributeValue<Reader<'a>>,
    ) -> Result<Expression<Reader<'a>>, Unavailable> {
        if let AttributeValue::Exprloc(expression) = value {
            return Ok(expression);
        }
        let broken =
            |error: gimli::Error| unsupported(format!("the location list is malformed: {error}"));
        let list = self
            .unit
            .sections()
            .attr_locations(self.unit.dw(), value)
            .map_err(broken)?;
        let mut list = list.ok_or_else(|| unsupported("the location has an unknown form"))?;
        let mut any = false;
        while let Some(entry) = list.next().map_err(broken)? {
            if entry.range.begin <= self.address && self.address < entry.range.end {
                return Ok(entry.data);
            }
            any = true;
        }
        Err(if any {
            Unavailable::NotHere
        } else {
            Unavailable::OptimizedOut
        })
    }
}

/// The type for computing with a base type. gimli has no characters and booleans, so they become integers.
fn value_type_of(entry: &Entry<'_>) -> Option<ValueType> {
    let AttributeValue::Encoding(encoding) = entry.attr_value(dw::DW_AT_encoding)? else {
        return None;
    };
    let native = match entry.attr_value(dw::DW_AT_endianity) {
        None | Some(AttributeValue::Endianity(dw::DW_END_default | dw::DW_END_little)) => true,
        Some(_) => false,
    };
    let encoding = match encoding {
        dw::DW_ATE_signed_char => dw::DW_ATE_signed,
        dw::DW_ATE_unsigned_char | dw::DW_ATE_boolean | dw::DW_ATE_UTF | dw::DW_ATE_address => {
            dw::DW_ATE_unsigned
        }
        other => other,
    };
    let size = entry.attr_value(dw::DW_AT_byte_size)?.udata_value()?;
    ValueType::from_encoding(encoding, size).filter(|_| native)
}

fn bytes_of(value: Value) -> Vec<u8> {
    match value {
        Value::Generic(value) | Value::U64(value) => value.to_le_bytes().to_vec(),
        Value::I8(value) => value.to_le_bytes().to_vec(),
        Value::U8(value) => value.to_le_bytes().to_vec(),
        Value::I16(value) => value.to_le_bytes().to_vec(),
        Value::U16(value) => value.to_le_bytes().to_vec(),
        Value::I32(value) => value.to_le_bytes().to_vec(),
        Value::U32(value) => value.to_le_bytes().to_vec(),
        Value::I64(value) => value.to_le_bytes().to_vec(),
        Value::F32(value) => value.to_le_bytes().to_vec(),
        Value::F64(value) => value.to_le_bytes().to_vec(),
    }
}

/// The first eight bytes as a number.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl<'a> Dwarf<'a> {
    /// The number that an expression computes in a frame.
    pub(crate) fn computed(
        &self,
        unit: &Unit<'a>,
        expression: Expression<Reader<'a>>,
        function: Option<FunctionId>,
        address: u64,
        context: &dyn LocationContext,
    ) -> Result<u64, Unavailable> {
        let around = Surroundings {
            dwarf: self,
            unit,
            function,
            address,
        };
        Evaluator {
            around: Some(around),
            context,
            nesting: 0,
            requests: &Cell::new(REQUESTS_LIMIT),
        }
        .number(expression, None)
    }

    pub(crate) fn locate(
        &self,
        variable: EntryInFrame,
        size: Option<u64>,
        address: u64,
        context: &dyn LocationContext,
    ) -> Result<Vec<Piece>, Unavailable> {
        let unit = self
            .unit(variable.unit)
            .ok_or_else(|| unsupported("the variable's unit can't be read"))?;
        let chain = self.chain(unit, UnitOffset(variable.offset));
        if let Some(offset) = self.thread_local_by_symbol(unit, &chain) {
            let address = context.thread_local(offset).map_err(unsupported)?;
            return Ok(vec![Piece {
                bits: None,
                place: Place::Memory(address),
            }]);
        }
        if let Some((unit, value)) = chain.attribute(dw::DW_AT_location) {
            let around = Surroundings {
                dwarf: self,
                unit,
                function: variable.function,
                address,
            };
            let evaluator = Evaluator {
                around: Some(around),
                context,
                nesting: 0,
                requests: &Cell::new(REQUESTS_LIMIT),
            };
            let mut pieces = evaluator.pieces(around.expression(value)?, None)?;
            let lost = |piece: &Piece| piece.place == Place::Unavailable(Unavailable::OptimizedOut);
            if pieces.iter().all(lost) {
                return Err(Unavailable::OptimizedOut);
            }
            // A computed value has the size of an address; shorten it to the variable's.
            if let (
                [
                    Piece {
                        bits: None,
                        place: Place::Bytes(bytes),
                    },
                ],
                Some(size),
            ) = (&mut pieces[..], size)
            {
                bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
            }
            return Ok(pieces);
        }
        let constant = chain
            .attribute(dw::DW_AT_const_value)
            .and_then(|(unit, value)| self.constant(unit, &value, size));
        match constant {
            Some(bytes) => Ok(vec![Piece {
                bits: None,
                place: Place::Bytes(bytes),
            }]),
            None => Err(Unavailable::OptimizedOut),
        }
    }

    /// The bytes of a constant. A number gets the size of its type, `size`.
    fn constant(
        &self,
        unit: &Unit<'a>,
        value: &AttributeValue<Reader<'a>>,
        size: Option<u64>,
    ) -> Option<Vec<u8>> {
        let address = u64::from(unit.dw().header.address_size());
        let width = usize::try_from(size.unwrap_or(address)).ok()?;
        let number = match value {
            AttributeValue::Block(bytes) => return Some(bytes.slice().to_vec()),
            AttributeValue::String(_)
            | AttributeValue::DebugStrRef(_)
            | AttributeValue::DebugStrOffsetsIndex(_) => {
                let mut bytes = self.text(unit, *value)?.to_vec();
                bytes.push(0);
                return Some(bytes);
            }
            AttributeValue::Sdata(number) => i128::from(*number),
            other => i128::from(other.udata_value()?),
        };
        (width <= 16).then(|| number.to_le_bytes()[..width].to_vec())
    }
}

/// Evaluates a CFI expression (DWARF 5 §6.4.2), with `initial` on its stack if given. The result is the top of the stack.
///
/// # Errors
/// Why it can't be evaluated.
pub fn evaluate_cfi(
    expression: &[u8],
    initial: Option<u64>,
    context: &dyn LocationContext,
) -> Result<u64, Unavailable> {
    let expression = Expression(EndianSlice::new(expression, LittleEndian));
    Evaluator {
        around: None,
        context,
        nesting: 0,
        requests: &Cell::new(REQUESTS_LIMIT),
    }
    .number(expression, initial)
}
