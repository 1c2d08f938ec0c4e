//! Values: a lazy tree over (location, type), and how it is shown.
//!
//! Responsible for what a value looks like: its line of text and its children. Not responsible for finding variables'
//! places ([`dapple_symbols::location`]) or frames. Both the text and the children come from one intermediate, the
//! `view::View`, so that they never disagree; languages and their standard libraries add views, not special cases.

use crate::Address;
use crate::exceptions::thrown::Thrown;
use crate::frame::{Frame, HeldFrame};
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
mod cpp;
pub(crate) mod entries;
mod extended;
mod formats;
pub(crate) mod halts;
mod implicit;
pub mod known;
mod layout;
mod made;
mod named;
pub(crate) mod names;
pub mod passing;
mod pointees;
mod quoting;
mod reasons;
mod render;
pub mod results;
mod room;
pub mod rust;
mod scalars;
mod statics;
pub mod storing;
pub mod view;
mod whole;

pub(crate) use c::decode;
pub use children::RAW;
pub use contents::extract_bits;
pub(crate) use cpp::is_library as is_cpp_library;
pub(crate) use formats::FORMATS;
pub use formats::Format;
pub use made::Made;
pub(crate) use quoting::quote;
pub use scalars::Number;
pub use scalars::number_of;

/// A value: its type and where it is. Cloneable, reads nothing until asked.
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
    /// The lengths of the dimensions of a variable-length array, which its type doesn't have.
    pub lengths: Option<Arc<[Option<u64>]>>,
    /// Shown as the compiler lays it out, not as its library means it.
    pub raw: bool,
    /// Its text has all that is in it, as its language would write it.
    pub whole: bool,
    /// How numbers in it are shown.
    pub format: Format,
    /// As many of its type as that, one after another.
    pub repeated: Option<u64>,
    /// Of a struct of Rust's that ends in elements or a text: how many of those there are, by the pointer that leads to it.
    pub(crate) tail: Option<u64>,
    /// Of a bit-field: the bits it is made of, which `contents` are a copy of.
    pub bits: Option<Arc<Bits>>,
    /// A base class of an object that is shown itself.
    pub base: bool,
    /// How the user's own presentation wants it shown.
    pub(crate) wanted: Option<Arc<Wanted>>,
}

/// The bits of a bit-field.
#[derive(Debug, Clone)]
pub struct Bits {
    /// The whole bytes that they are in.
    pub storage: Contents,
    /// How many bits come before them, from the least significant bit of the first byte.
    pub skip: u64,
    /// How many they are.
    pub count: u64,
}

impl Value {
    /// A value of a type at a place.
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
            wanted: None,
        }
    }

    /// Whether there is a reason in its place.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.contents, Contents::Unavailable(_))
    }

    /// Another value of the same module and language.
    pub(crate) fn sibling(&self, type_id: Option<TypeId>, contents: Contents) -> Value {
        Value {
            format: self.format,
            ..Value::new(Arc::clone(&self.module), type_id, self.language, contents)
        }
    }
}

/// Where a value is.
#[derive(Debug, Clone)]
pub enum Contents {
    /// In memory.
    Memory(Address),
    /// In pieces: registers of a frame, memory, constants.
    Pieces(Arc<[Piece]>, HeldFrame),
    /// Computed: its bytes.
    Bytes(Arc<[u8]>),
    /// Computed by an expression, of a type that the module may lack.
    Number(Number),
    /// Made by an expression, of a type that the module may lack.
    Made(Arc<Made>),
    /// Not to be had.
    Unavailable(Unavailable),
}

/// A value with the name it has in its parent or scope.
#[derive(Debug, Clone)]
pub struct NamedValue {
    /// `name`, `[3]`, `*`, `0`.
    pub name: String,
    /// The value.
    pub value: Value,
    /// An expression that gives it again in the same frame, where there's one.
    pub expression: Option<String>,
    /// What kind of variable it is, for variables.
    pub kind: Option<VariableKind>,
}

/// A value made readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The value in one line: `42`, `"text"`, `Point { x: 1, y: 2 }`, `len = 3 [1, 2, 3]`, or the reason why there's none in angle brackets.
    pub text: String,
    /// The type as people write it; empty when unknown.
    pub type_name: String,
    /// How many named children it has (fields, a pointee).
    pub named: u64,
    /// How many indexed children it has (elements).
    pub indexed: u64,
    /// The address to look at in a memory view: the pointee's of a pointer-like value, else its own.
    pub memory: Option<Address>,
    /// The code that it leads to: of a function, or a pointer to one.
    pub code: Option<Address>,
}

/// What reading values needs.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The debuggee's memory.
    pub memory: &'a dyn Memory,
    /// Its modules.
    pub modules: &'a Modules,
    /// What is kept from one look to the next.
    pub known: &'a Known,
    /// What the thread that is looked at has stopped for, if that was thrown or is a fault: `$exception`.
    pub thrown: Option<&'a Thrown>,
    /// Gives the registers that frames don't keep.
    pub live: Option<&'a dyn Live>,
    /// How many values are told by the text of another, from outside.
    pub nesting: u8,
    /// Without the user's own presentation.
    pub is_plain: bool,
    /// A plain pointer shows what it points to.
    pub has_pointees: bool,
    /// What leads to freed memory says so.
    pub looks_at_heap: bool,
}

impl<'a> Reader<'a> {
    /// Reads from these; no exception is known.
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

    /// As this one, from another memory.
    pub(crate) fn over<'b>(&self, memory: &'b dyn Memory) -> Reader<'b>
    where
        'a: 'b,
    {
        Reader { memory, ..*self }
    }

    /// As this one, without the user's own presentation.
    pub(crate) fn plain(&self) -> Reader<'a> {
        Reader {
            is_plain: true,
            ..*self
        }
    }

    /// As this one, for what is told by another value's text.
    pub(crate) fn deeper(&self) -> Reader<'a> {
        Reader {
            nesting: self.nesting.saturating_add(1),
            ..*self
        }
    }
}

impl Reader<'_> {
    /// Parameters and locals visible in the frame, in declaration order; a shadowed one is followed by the one that shadows it.
    /// What the compiler has made for itself, as a `for` loop's `__for_begin`, and what the linker dropped is left out; expressions
    /// find it by its name.
    pub fn variables(&self, frame: &Frame) -> Vec<NamedValue> {
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
            .map(|variable| self.variable(variable, loaded, frame))
            .collect()
    }

    /// Statics of the frame's unit, without those that the linker dropped.
    pub fn statics(&self, frame: &Frame) -> Vec<NamedValue> {
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

    /// A variable's value in a frame. `loaded` is the variable's module, which for statics may be another than the frame's.
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

    /// Why there's no value, for people.
    pub fn reason(&self, reason: &Unavailable) -> String {
        match reason {
            Unavailable::OptimizedOut => "<optimized out>".to_owned(),
            Unavailable::NotHere => "<not in scope here>".to_owned(),
            Unavailable::Dropped => "<dropped by the linker>".to_owned(),
            Unavailable::Unreadable(address) => format!("<cannot read memory at {address:#x}>"),
            Unavailable::RegisterLost(number) => {
                format!("<register {} was not saved>", register_name(*number))
            }
            Unavailable::Unsupported(what) => format!("<{what}>"),
            _ => "<not available>".to_owned(),
        }
    }
}
