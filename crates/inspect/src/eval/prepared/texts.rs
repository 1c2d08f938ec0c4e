//! Comparisons of texts in memory with a literal: where a text's bytes and its length are, as the display of values finds them.

use super::maker::{Made, Maker, Nothing};
use super::{Node, Place};
use crate::Address;
use crate::eval::ir::{Binary, Expression, Kind};
use crate::values::declared_string;
use crate::values::known::Known;
use crate::values::{Contents, Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, PointerKind, Type, TypeId, TypeKind};
use std::sync::Arc;

/// The longest text that is compared, in bytes, as in the evaluator.
pub(super) const MOST_TEXT: u64 = 1 << 16;

/// Whether a text is equal to a literal.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    pub(super) text: Text,
    pub(super) literal: Arc<[u8]>,
    /// `==`, not `!=`.
    pub(super) equal: bool,
}

/// A text in memory.
#[derive(Debug, Clone)]
pub(super) enum Text {
    /// The object has a pointer to the bytes, and their number.
    Counted(Box<Counted>),
    /// A pointer to bytes that end with a zero.
    ZeroEnded(Node),
    /// An array of so many bytes, in which the text ends with a zero unless it fills the array.
    Array(Place, u64),
}

/// The offsets of words in an object that has a text.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    pub(super) object: Place,
    pub(super) data: u64,
    pub(super) length: u64,
    pub(super) capacity: Capacity,
}

/// The number of bytes that there is room for. A text that is longer isn't valid.
#[derive(Debug, Clone, Copy)]
pub(super) enum Capacity {
    /// A borrowed text has none.
    None,
    /// In a word at an offset.
    At(u64),
    /// As `At`, but if the bytes are in the object itself, at the offset `local`, 15. A zero follows the text. (libstdc++)
    Local { local: u64, elsewhere: u64 },
    /// libc++'s string: the lowest bit of the first word tells whether the text is elsewhere. If it isn't, the rest of the first byte is its
    /// length, and the text begins with the second byte. A zero follows the text.
    FirstBit,
}

impl Maker<'_> {
    /// The comparison of a text with a literal. `None`: it is another expression, or not a text of a known form.
    pub(super) fn text_comparison(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Option<Node> {
        let equal = operator.asks_equality()?;
        let (subject, literal) = match (&left.kind, &right.kind) {
            (Kind::Text(_), Kind::Text(_)) => return None,
            (Kind::Text(literal), _) => (right, literal),
            (_, Kind::Text(literal)) => (left, literal),
            _ => return None,
        };
        self.text_is(self.make(subject)?, literal, equal)
    }

    /// Whether a text is equal to a literal, or not.
    pub(super) fn text_is(&self, made: Made, literal: &Arc<[u8]>, equal: bool) -> Option<Node> {
        let mut made = made;
        if let Made::Memory(_, type_) | Made::Value(_, type_) = &made
            && self.is_seen_through(type_)
        {
            let (place, target, _) = self.follow(made)?;
            made = Made::Memory(place, target);
        }
        let text = self.text(made)?;
        if !matches!(text, Text::Counted(_)) && literal.contains(&0) {
            return None;
        }
        Some(Node::Text(Box::new(Comparison {
            text,
            literal: Arc::clone(literal),
            equal,
        })))
    }

    fn text(&self, made: Made) -> Option<Text> {
        let type_ = match &made {
            Made::Memory(_, type_) | Made::Value(_, type_) => Arc::clone(type_),
            Made::Number(_) | Made::Pointer(..) => return None,
        };
        match (&type_.kind, made) {
            (TypeKind::Pointer(PointerKind::Pointer, Some(target)), made)
                if type_.language != Language::Rust =>
            {
                self.is_character(*target)
                    .then(|| self.raw(made).map(Text::ZeroEnded))?
            }
            (
                TypeKind::Array {
                    element,
                    dimensions,
                },
                Made::Memory(place, _),
            ) if type_.language != Language::Rust && self.is_character(*element) => {
                match dimensions.as_slice() {
                    [Some(count @ 1..=MOST_TEXT)] => Some(Text::Array(place, *count)),
                    _ => None,
                }
            }
            (TypeKind::Aggregate(_), Made::Memory(object, _)) => {
                Some(Text::Counted(Box::new(self.counted(&type_, &object)?)))
            }
            _ => None,
        }
    }

    /// Looks up parts of a value by types alone. The function gets a reader without memory, a value of the type at address 0, and what
    /// gives the offset of a part of 8 bytes.
    pub(super) fn with_types<T>(
        &self,
        type_: &Type,
        look: impl Fn(&Reader<'_>, &Value, &dyn Fn(&Value) -> Option<u64>) -> Option<T>,
    ) -> Option<T> {
        let known = Known::default();
        let reader = Reader::new(&Nothing, self.modules, &known);
        let module = Arc::clone(self.module);
        let start = Contents::Memory(Address(0));
        let whole = Value::new(module, Some(type_.id), type_.language, start);
        let word = |part: &Value| {
            let is_word = reader.size_of(part) == Some(8);
            is_word.then(|| part.contents.address())?.map(|at| at.0)
        };
        look(&reader, &whole, &word)
    }

    /// A string: an owned or borrowed one of Rust, or one of C++'s library.
    pub(super) fn counted(&self, type_: &Type, object: &Place) -> Option<Counted> {
        let (data, length, capacity) = match type_.language {
            Language::Rust if names::path_name(&type_.name) == "alloc::string::String" => self
                .with_types(type_, |reader, whole, word| {
                    let vec = reader.field(whole, "vec")?;
                    let buffer = reader.field(&vec, "buf")?;
                    let capacity = reader.find_integer(&reader.find(&buffer, "cap")?)?;
                    let data = word(&reader.find_pointer(&buffer)?)?;
                    let length = word(&reader.field(&vec, "len")?)?;
                    Some((data, length, Capacity::At(word(&capacity)?)))
                })?,
            Language::Rust if &*type_.name == "&str" => {
                self.with_types(type_, |reader, whole, word| {
                    let data = word(&reader.field(whole, "data_ptr")?)?;
                    let length = word(&reader.field(whole, "length")?)?;
                    Some((data, length, Capacity::None))
                })?
            }
            Language::Cpp
                if names::base_name(&type_.name) == "basic_string"
                    && type_.name.starts_with("std::")
                    && self.has_member(type_, "_M_p") =>
            {
                self.with_types(type_, |reader, whole, word| {
                    let data = reader.find(whole, "_M_p")?;
                    let TypeKind::Pointer(_, Some(unit)) = reader.resolve(&data)?.type_.kind else {
                        return None;
                    };
                    if self.strip(unit)?.size != Some(1) {
                        return None;
                    }
                    let local = reader.find(whole, "_M_local_buf")?.contents.address()?.0;
                    let elsewhere = word(&reader.find(whole, "_M_allocated_capacity")?)?;
                    let length = word(&reader.find(whole, "_M_string_length")?)?;
                    Some((word(&data)?, length, Capacity::Local { local, elsewhere }))
                })?
            }
            Language::Cpp if type_.name.starts_with("std::") => {
                return self.other_text(type_, object);
            }
            _ => return None,
        };
        Some(Counted {
            object: object.clone(),
            data,
            length,
            capacity,
        })
    }

    fn has_member(&self, type_: &Type, name: &str) -> bool {
        self.with_types(type_, |reader, whole, _| reader.find(whole, name))
            .is_some()
    }

    /// A string view, or a string of libc++, whose type may be only declared.
    fn other_text(&self, type_: &Type, object: &Place) -> Option<Counted> {
        let (data, length, capacity) = match names::base_name(&type_.name) {
            "basic_string_view" => self.with_types(type_, |reader, whole, word| {
                let either = |names: [&str; 2]| names.iter().find_map(|it| reader.find(whole, it));
                let data = either(["_M_str", "__data_"])?;
                let TypeKind::Pointer(_, Some(unit)) = reader.resolve(&data)?.type_.kind else {
                    return None;
                };
                if self.strip(unit)?.size != Some(1) {
                    return None;
                }
                let length = word(&either(["_M_len", "__size_"])?)?;
                Some((word(&data)?, length, Capacity::None))
            })?,
            "basic_string" => {
                let (is_libcxx, unit) = declared_string(&type_.name)?;
                let is_declared = matches!(&type_.kind, TypeKind::Aggregate(it) if it.declaration);
                let is_known = is_declared || self.is_as_declared(type_);
                (is_libcxx && unit == 1 && is_known).then_some((16, 8, Capacity::FirstBit))?
            }
            _ => return None,
        };
        Some(Counted {
            object: object.clone(),
            data,
            length,
            capacity,
        })
    }

    /// Whether the members of a string of libc++ are where they are in one whose type is only declared.
    fn is_as_declared(&self, type_: &Type) -> bool {
        let offsets = self.with_types(type_, |reader, whole, word| {
            let representation = reader.find(whole, "__rep_")?;
            let short = reader.field(&representation, "__s")?;
            let long = reader.field(&representation, "__l")?;
            let buffer = reader.field(&short, "__data_")?.contents.address()?.0;
            // With these offsets it is the lowest bit of the first byte.
            reader.find(&short, "__is_long_")?;
            let data = word(&reader.field(&long, "__data_")?)?;
            let length = word(&reader.find(&long, "__size_")?)?;
            Some((buffer, length, data))
        });
        type_.size == Some(24) && offsets == Some((1, 8, 16))
    }

    /// Whether a type of C or C++ is a character type of one byte, of which texts are made. `int8_t` and the like are numbers.
    fn is_character(&self, id: TypeId) -> bool {
        let declared = self.module.module.type_of(id).ok();
        let is_number = declared.is_none_or(|type_| names::is_small_integer(&type_.name));
        let Some(type_) = self.strip(id).filter(|_| !is_number) else {
            return false;
        };
        type_.size == Some(1)
            && match type_.kind {
                TypeKind::Base(Encoding::SignedChar | Encoding::UnsignedChar) => {
                    &*type_.name == "char"
                }
                TypeKind::Base(Encoding::Utf) => true,
                _ => false,
            }
    }
}
