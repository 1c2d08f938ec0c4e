//! Values: a lazy tree of (location, type), and how it is shown.
//!
//! Responsible for a value's text and its children. Not responsible for finding variables' locations ([`dapple_symbols::location`]) or
//! frames. Text and children are both made from one intermediate form, `view::View`, so that they agree. Languages and their standard
//! libraries add views instead of special cases.

use crate::Address;
use crate::exceptions::thrown::Thrown;
use crate::frame::{Frame, FrameKind, SharedFrame};
use crate::live::Live;
use crate::modules::{LoadedModule, Modules};
use crate::natvis::Wanted;
use crate::unwind::FrameContext;
use crate::values::known::Known;
use dapple_arch::Memory;
use dapple_arch::registers::named::name_of as register_name;
use dapple_symbols::functions::Language;
use dapple_symbols::location::{Piece, Unavailable};
use dapple_symbols::scopes::Variable;
pub use dapple_symbols::scopes::VariableKind;
use dapple_symbols::types::TypeId;
use std::sync::Arc;

mod c;
mod children;
mod contents;
pub mod coroutines;
mod cpp;
pub(crate) mod entries;
mod extended;
mod formats;
mod implicit;
pub mod known;
mod layout;
mod made;
mod named;
pub(crate) mod names;
pub mod passing;
mod pointees;
mod quoting;
mod render;
pub mod results;
pub mod rust;
mod scalars;
mod short_reasons;
mod statics;
pub mod storing;
mod text_storage;
pub mod view;
pub(crate) mod walk_positions;
mod whole;

pub(crate) use c::decode;
pub use children::RAW;
pub use contents::extract_bits;
pub(crate) use cpp::declared_string;
pub(crate) use cpp::is_library as is_cpp_library;
pub(crate) use formats::FORMATS;
pub use formats::Format;
pub use made::Made;
pub(crate) use quoting::{Controls, quote, quote_with};
pub use scalars::Number;
pub use scalars::number_of;

/// A value: its type and its location. Nothing is read until requested.
#[derive(Debug, Clone)]
pub struct Value {
    /// The module its type belongs to.
    pub module: Arc<LoadedModule>,
    /// Its type; `None`: unknown.
    pub type_id: Option<TypeId>,
    /// The language to show it in.
    pub language: Language,
    /// Where it is.
    pub contents: Contents,
    /// How many dimensions of its array type have been indexed already.
    pub dimension: u8,
    /// The lengths of the dimensions of a variable-length array, which its type lacks.
    pub lengths: Option<Arc<[Option<u64>]>>,
    /// Show the actual fields of a library's type.
    pub raw: bool,
    /// Make its text complete, in the syntax of its language.
    pub whole: bool,
    /// The format of numbers in it.
    pub format: Format,
    /// It stands for that many contiguous values of its type.
    pub repeated: Option<u64>,
    /// For a Rust struct with an unsized tail: the tail's length, from the fat pointer to the struct.
    pub(crate) tail: Option<u64>,
    /// For a bit-field: its bits, of which `contents` is a copy.
    pub bits: Option<Arc<Bits>>,
    /// It is shown as a base class of an object, under that object. So it gets no `[Derived]` child.
    pub base: bool,
    /// How a natvis presentation requires it to be shown.
    pub(crate) natvis_format: Option<Arc<Wanted>>,
}

/// The bits of a bit-field.
#[derive(Debug, Clone)]
pub struct Bits {
    /// The bytes that contain them.
    pub storage: Contents,
    /// How many bits precede them, from the least significant bit of the first byte.
    pub skip: u64,
    /// The number of bits.
    pub count: u64,
}

impl Value {
    /// A value of a type at a location.
    pub fn new(
        module: Arc<LoadedModule>,
        type_id: Option<TypeId>,
        language: Language,
        contents: Contents,
    ) -> Value {
        Value {
            module,
            type_id,
            language,
            contents,
            dimension: 0,
            lengths: None,
            raw: false,
            whole: false,
            format: Format::Natural,
            repeated: None,
            tail: None,
            bits: None,
            base: false,
            natvis_format: None,
        }
    }

    /// Whether there is a reason instead of a value.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.contents, Contents::Unavailable(_))
    }

    /// Another value of the same module, language and format.
    pub(crate) fn sibling(&self, type_id: Option<TypeId>, contents: Contents) -> Value {
        Value {
            format: self.format,
            ..Value::new(Arc::clone(&self.module), type_id, self.language, contents)
        }
    }
}

/// The location of a value.
#[derive(Debug, Clone)]
pub enum Contents {
    /// In memory.
    Memory(Address),
    /// In pieces: registers of a frame, memory, constants.
    Pieces(Arc<[Piece]>, SharedFrame),
    /// The bytes themselves: computed, copied, or a constant of the debug information.
    Bytes(Arc<[u8]>),
    /// Computed by an expression; the module may lack its type.
    Number(Number),
    /// Made by an expression; the module may lack its type.
    Made(Arc<Made>),
    /// Unavailable, for this reason.
    Unavailable(Unavailable),
}

/// A value with the name it has in its parent or scope.
#[derive(Debug, Clone)]
pub struct NamedValue {
    /// `name`, `[3]`, `*`, `0`.
    pub name: String,
    /// The value.
    pub value: Value,
    /// An expression that evaluates to it in the same frame, if there is one.
    pub expression: Option<String>,
    /// The kind of variable, if it is one.
    pub kind: Option<VariableKind>,
}

/// A value's text and the numbers of its children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The value in one line: `42`, `"text"`, `Point { x: 1, y: 2 }`, `len = 3 [1, 2, 3]`, or the reason why it is unavailable in angle
    /// brackets.
    pub text: String,
    /// The type's name, as source code has it; empty if unknown.
    pub type_name: String,
    /// How many named children it has (fields, a pointee).
    pub named: u64,
    /// How many indexed children it has (elements).
    pub indexed: u64,
    /// The address for a memory view: the target's if the value is like a pointer, else its own.
    pub memory: Option<Address>,
    /// The address of the function, if the value is a function or points to one.
    pub code: Option<Address>,
}

/// Reads values.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The debuggee's memory.
    pub memory: &'a dyn Memory,
    /// Its modules.
    pub modules: &'a Modules,
    /// What is cached between requests.
    pub known: &'a Known,
    /// The exception or fault that the inspected thread has stopped for: `$exception`.
    pub thrown: Option<&'a Thrown>,
    /// Gives the registers that frames don't store.
    pub live: Option<&'a dyn Live>,
    /// How many levels of other values' texts contain the text that is being made.
    pub nesting: u8,
    /// Ignore natvis presentations.
    pub is_plain: bool,
    /// Show the target of a plain pointer.
    pub has_pointees: bool,
    /// Mark values in freed memory, and pointers to it.
    pub looks_at_heap: bool,
}

impl<'a> Reader<'a> {
    /// A reader that knows no exception.
    pub fn new(memory: &'a dyn Memory, modules: &'a Modules, known: &'a Known) -> Reader<'a> {
        Reader {
            memory,
            modules,
            known,
            thrown: None,
            live: None,
            nesting: 0,
            is_plain: false,
            has_pointees: false,
            looks_at_heap: false,
        }
    }

    /// A copy that reads another memory, such as a cache.
    pub(crate) fn over<'b>(&self, memory: &'b dyn Memory) -> Reader<'b>
    where
        'a: 'b,
    {
        Reader { memory, ..*self }
    }

    /// A copy that ignores natvis presentations.
    pub(crate) fn plain(&self) -> Reader<'a> {
        Reader {
            is_plain: true,
            ..*self
        }
    }

    /// A copy for a value whose text is part of another value's.
    pub(crate) fn deeper(&self) -> Reader<'a> {
        Reader {
            nesting: self.nesting.saturating_add(1),
            ..*self
        }
    }
}

impl Reader<'_> {
    /// Parameters and locals visible in the frame, in the order of their declarations: a shadowed one comes before the one that shadows it.
    /// Without artificial locals, such as `__for_begin` of a `for` loop or the future that a Rust `await` polls, and variables that the linker
    /// has removed; expressions can still name them.
    pub fn variables(&self, frame: &Frame) -> Vec<NamedValue> {
        if !frame.is_call() {
            return self.suspended_variables(frame);
        }
        let Some(loaded) = &frame.physical.module else {
            return Vec::new();
        };
        let lookup = loaded.to_file(frame.physical.lookup);
        loaded
            .module
            .variables_at(lookup, frame.inline_depth)
            .iter()
            .filter(|variable| !variable.artificial || variable.kind != VariableKind::Local)
            .filter(|variable| !variable.dropped)
            .filter(|variable| {
                frame.language != Language::Rust || variable.name != rust::captures::AWAITED
            })
            .map(|variable| self.variable(variable, loaded, frame))
            .collect()
    }

    /// Statics of the frame's compilation unit, without those that the linker has removed.
    pub fn statics(&self, frame: &Frame) -> Vec<NamedValue> {
        if let FrameKind::Label = frame.kind {
            return Vec::new();
        }
        let Some(loaded) = &frame.physical.module else {
            return Vec::new();
        };
        let lookup = loaded.to_file(frame.physical.lookup);
        loaded
            .module
            .statics_at(lookup)
            .iter()
            .filter(|variable| !variable.dropped)
            .map(|variable| self.variable(variable, loaded, frame))
            .collect()
    }

    /// A variable's value in a frame. `loaded` is the variable's module, which for statics may not be the frame's.
    pub fn variable(
        &self,
        variable: &Variable,
        loaded: &Arc<LoadedModule>,
        frame: &Frame,
    ) -> NamedValue {
        let physical = &frame.physical;
        let context = FrameContext::of_module(physical, loaded, self.modules, self.memory);
        let lookup = loaded.to_file(physical.lookup);
        let contents = match loaded.module.locate(variable, lookup, &context) {
            Ok(pieces) => {
                let is_cut = pieces.iter().any(|piece| piece.bits.is_some());
                let size = || loaded.module.strip_aliases(variable.type_id?).ok()??.size;
                Contents::of_pieces(pieces, is_cut.then(size).flatten(), physical)
            }
            Err(reason) => Contents::Unavailable(reason),
        };
        let contents = match contents.address() {
            Some(address) if self.is_not_kept(variable, address, frame) => {
                Contents::Unavailable(Unavailable::NotKept)
            }
            _ => contents,
        };
        let module = Arc::clone(loaded);
        let mut value = Value::new(module, variable.type_id, frame.language, contents);
        if self.has_unknown_length(&value) {
            let lengths = loaded.module.array_lengths(variable, lookup, &context);
            value.lengths = Some(lengths.into());
        }
        NamedValue {
            name: variable.name.clone(),
            value,
            expression: Some(variable.name.clone()),
            kind: Some(variable.kind),
        }
    }

    /// The text for a value that is unavailable.
    pub fn reason(&self, reason: &Unavailable) -> String {
        match reason {
            Unavailable::OptimizedOut => "<optimized out>".to_owned(),
            Unavailable::NotHere => "<not in scope here>".to_owned(),
            Unavailable::NotKept => "<not kept over the await>".to_owned(),
            Unavailable::Discarded => "<dropped by the linker>".to_owned(),
            Unavailable::Unreadable(address) => format!("<cannot read memory at {address:#x}>"),
            Unavailable::RegisterLost(number) => {
                format!(
                    "<register {} was not saved>",
                    register_name(self.modules.machine(), *number)
                )
            }
            Unavailable::Unsupported(what) => format!("<{what}>"),
            _ => "<not available>".to_owned(),
        }
    }
}
