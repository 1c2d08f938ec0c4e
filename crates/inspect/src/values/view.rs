//! The intermediate form of a value, from which both its text and its children are made.

use super::entries::Entries;
use super::statics::{self, Static};
use super::{Contents, Reader, Value, c, contents, cpp, names, rust, scalars};
use crate::natvis::{self, Presented};
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{Aggregate, PointerKind, Type, TypeId, TypeKind};
use std::sync::Arc;

/// A value in the form that is shown.
#[derive(Debug, Clone)]
pub(crate) enum View {
    /// A text without children.
    Leaf(String),
    /// An address with a target.
    Pointer {
        address: u64,
        /// The target; `None`: void, or unknown.
        target: Option<Value>,
        /// A text about the target: a string, a function's name.
        note: Option<String>,
        /// What a summary shows after the address.
        shows: Shows,
    },
    /// A value that is shown as its target or its contents: a reference, a `Box`, a wrapper.
    Alias(Value),
    /// The text for a value of a library's type, such as a string or a date. For a string, also the address of its bytes.
    Text { text: String, address: Option<u64> },
    /// Contiguous elements.
    Sequence(Sequence),
    /// Elements that aren't contiguous.
    Entries(Entries),
    /// Fields.
    Record(Record),
    /// A natvis presentation.
    Presented(Box<Presented>),
    /// A value of a library's type that is corrupt or can't be read: the text that says why.
    Broken(String),
    /// An unavailable value: the reason.
    Missing(String),
}

impl View {
    /// The value that a reference, a smart pointer or a pointer leads to.
    pub(crate) fn target(self) -> Option<Value> {
        match self {
            View::Alias(target)
            | View::Pointer {
                target: Some(target),
                ..
            } => Some(target),
            _ => None,
        }
    }
}

/// What a pointer's summary shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shows {
    /// The address, and what is known of the target.
    Address,
    /// The address and the target: the value exists for its target's sake, as an owner or an iterator does.
    Target,
    /// As `Target`, followed by this text in parentheses, such as the number of owners.
    Counted(String),
}

/// Contiguous elements.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    /// The first element's location, and the element type.
    pub element: Value,
    /// The distance from one element to the next, in bytes.
    pub stride: u64,
    /// The size of an element in bytes.
    pub size: u64,
    pub length: u64,
    /// For a ring buffer: the position of the first element, and the capacity.
    pub ring: Option<(u64, u64)>,
    /// For a character array: its text.
    pub text: Option<String>,
    /// Whether it is a library's container, which shows its length and has a raw form.
    pub container: bool,
}

/// Fields, including bases.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// The name before the fields: `Point`, `Some`. `None` in C and C++, but a base of a larger object has the name of the whole
    /// object's class.
    pub name: Option<String>,
    pub style: Style,
    pub fields: Vec<Field>,
    /// A class's static members, which summaries leave out.
    pub statics: Vec<Static>,
    /// Whether the raw form is among the children.
    pub raw: bool,
    /// Whether expressions can name the fields.
    pub reachable: bool,
    /// If the record is a base of a larger object: the most-derived object, which is shown instead.
    pub whole: Option<Value>,
}

/// How fields are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `{ x: 1 }` or `{x = 1}`.
    Named,
    /// `(1, 2)`.
    Tuple,
    /// `1..2`, if there are fields `start` and `end`; either may be missing.
    Range,
    /// `1..=2`.
    RangeInclusive,
}

/// A field.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub name: String,
    pub value: Value,
    /// Whether the field is a base class, which expressions reach only by a cast.
    pub base: bool,
    /// Whether the compiler made the field. Summaries leave such fields out.
    pub artificial: bool,
}

/// How much of a value to read.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The most bytes of a text.
    pub text: usize,
    /// The position of the first entry, in a container that has to be walked.
    pub first: u64,
    /// The most entries from there on.
    pub entries: usize,
}

impl Limit {
    /// The text after a string's closing quote: empty, or if the string is cut, a mark, with the full length if the value is on its own.
    pub(crate) fn mark(self, is_cut: bool, length: Option<u64>) -> String {
        match (is_cut, length) {
            (false, _) => String::new(),
            (true, Some(length)) if self.text == LONG.text => format!("… (len = {length})"),
            (true, _) => "…".to_owned(),
        }
    }
}

/// For a value that isn't inside another value's summary.
pub(crate) const LONG: Limit = Limit {
    text: 256,
    first: 0,
    entries: 32,
};
/// For values inside a summary.
pub(crate) const SHORT: Limit = Limit {
    text: 64,
    first: 0,
    entries: 32,
};
/// For the children of a container, where no page is requested.
pub const ALL: Limit = Limit {
    text: 64,
    first: 0,
    entries: 10_000,
};

/// The most fields of a record, including those of anonymous members.
const MAX_FIELDS: usize = 4096;
/// How deep arrays, anonymous members and empty bases nest in real programs.
pub(super) const MAX_NESTING: usize = 8;

impl Sequence {
    /// The element at `index`.
    pub(crate) fn at(&self, index: u64) -> Value {
        let position = match self.ring {
            Some((first, capacity)) if capacity != 0 => first.wrapping_add(index) % capacity,
            _ => index,
        };
        let mut element = self.element.clone();
        element.contents = element
            .contents
            .part(position.wrapping_mul(self.stride), self.size);
        element
    }
}

/// Why a value is unavailable.
pub(crate) type Reason = Unavailable;

/// A value's type without typedefs and qualifiers.
pub struct Resolved {
    /// The type.
    pub type_: Arc<Type>,
    /// The name of the outermost typedef, or the type's own.
    pub alias: Arc<str>,
}

impl Reader<'_> {
    /// The type without typedefs and qualifiers; `None` for void and unknown types.
    pub fn resolve(&self, value: &Value) -> Option<Resolved> {
        let module = &value.module.module;
        let id = value.type_id?;
        let outer = module.type_of(id).ok()?;
        if !matches!(outer.kind, TypeKind::Alias(..)) {
            let alias = Arc::clone(&outer.name);
            return Some(Resolved {
                type_: outer,
                alias,
            });
        }
        let type_ = module.strip_aliases(id).ok()??;
        let mut alias = Arc::clone(&outer.name);
        let mut next = outer;
        // The outermost name that isn't a qualifier's.
        for _ in 0..16 {
            match &next.kind {
                TypeKind::Alias(dapple_symbols::types::AliasKind::Typedef, _) => {
                    alias = Arc::clone(&next.name);
                    break;
                }
                TypeKind::Alias(_, Some(inner)) => next = module.type_of(*inner).ok()?,
                _ => {
                    alias = Arc::clone(&next.name);
                    break;
                }
            }
        }
        Some(Resolved { type_, alias })
    }

    /// The target of a C++ reference; other values, and references that can't be read, unchanged.
    pub fn referred(&self, value: Value) -> Value {
        let kind = self.resolve(&value).map(|resolved| resolved.type_);
        let is_reference = kind.is_some_and(|type_| {
            matches!(
                type_.kind,
                TypeKind::Pointer(PointerKind::Reference | PointerKind::RvalueReference, _)
            )
        });
        if !is_reference {
            return value;
        }
        match self.view(&value, ALL) {
            View::Alias(target) => target,
            _ => value,
        }
    }

    /// The value's view. How much of a text or a container it reads depends on `limit`.
    pub(crate) fn view(&self, value: &Value, limit: Limit) -> View {
        let otherwise = self.as_text(value, limit);
        if let Some(view) = otherwise.or_else(|| self.as_bytes(value, limit)) {
            return view;
        }
        if let Some(length) = value.repeated {
            return match value.natvis_format.as_deref() {
                Some(wanted) => natvis::wanted_view(self, value, wanted, limit)
                    .unwrap_or_else(|| self.repeated(value, length)),
                None => self.repeated(value, length),
            };
        }
        if let Some(wanted) = value.natvis_format.as_deref()
            && let Some(view) = natvis::wanted_view(self, value, wanted, limit)
        {
            return view;
        }
        if let Some(text) = self.formatted(value) {
            return View::Leaf(text);
        }
        match &value.contents {
            // A zero-sized value needs no location.
            Contents::Unavailable(Unavailable::OptimizedOut) if self.is_unit(value) => {
                return View::Leaf("()".to_owned());
            }
            Contents::Unavailable(Unavailable::OptimizedOut) if self.is_empty(value) => {
                let mut empty = value.clone();
                empty.contents = Contents::Bytes([].as_slice().into());
                return self.view(&empty, limit);
            }
            Contents::Unavailable(reason) => return View::Missing(self.reason(reason)),
            Contents::Number(number) => return self.number_view(value, *number, limit),
            Contents::Made(made) => return made.view(limit),
            _ => {}
        }
        let Some(Resolved { type_, alias }) = self.resolve(value) else {
            let unknown = |text: &str| View::Leaf(text.to_owned());
            return match value.type_id {
                Some(_) => unknown("<void>"),
                None => cpp::says(self, value, limit)
                    .unwrap_or_else(|| unknown("<its type is not known>")),
            };
        };
        match self.typed_view(value, &type_, &alias, limit) {
            Ok(view) => view,
            Err(reason) => View::Missing(self.reason(&reason)),
        }
    }

    /// Whether it is Rust's `()`.
    fn is_unit(&self, value: &Value) -> bool {
        let type_ = self.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| {
            matches!(type_.kind, TypeKind::Base(_)) && type_.size == Some(0) && &*type_.name == "()"
        })
    }

    /// Whether it is a zero-sized struct or array of Rust, which has only one value.
    fn is_empty(&self, value: &Value) -> bool {
        let type_ = self.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| {
            let has_one_value = match &type_.kind {
                TypeKind::Aggregate(aggregate) => aggregate.variants.is_none(),
                TypeKind::Array { .. } => true,
                _ => false,
            };
            type_.language == Language::Rust && type_.size == Some(0) && has_one_value
        })
    }

    fn number_view(&self, value: &Value, number: scalars::Number, limit: Limit) -> View {
        match number {
            scalars::Number::Pointer { address, target } => {
                self.pointer_view(value, address, target, limit)
            }
            scalars::Number::Char(code) if value.language != Language::Rust => {
                View::Leaf(format!("{code} {}", number.text()))
            }
            number => View::Leaf(number.text()),
        }
    }

    fn typed_view(
        &self,
        value: &Value,
        type_: &Type,
        alias: &str,
        limit: Limit,
    ) -> Result<View, Reason> {
        match &type_.kind {
            TypeKind::Base(encoding) => {
                let size = type_.size.unwrap_or(0);
                if size == 0 {
                    // Rust's `()`.
                    return Ok(View::Leaf(type_.name.to_string()));
                }
                let bytes = self.bytes(&value.contents, size.min(64))?;
                Ok(View::Leaf(scalars::text(*encoding, &bytes, type_, alias)))
            }
            TypeKind::Enumeration { signed, values } => {
                self.enumerator_view(value, type_, *signed, values)
            }
            TypeKind::Pointer(kind, target) => {
                self.stored_pointer_view(value, type_, (*kind, *target), limit)
            }
            TypeKind::MemberPointer { class, .. } => {
                let bytes = self.bytes(&value.contents, type_.size.unwrap_or(8).min(16))?;
                let class = value.sibling(*class, Contents::Memory(crate::Address(0)));
                Ok(View::Leaf(cpp::member_pointer(
                    self.modules.machine(),
                    &bytes,
                    |address| self.function_name(address),
                    |offset| cpp::member_at(self, &class, offset),
                    |slot| cpp::virtual_at(self, &class, slot),
                )))
            }
            TypeKind::Array {
                element,
                dimensions,
            } => Ok(self.array_view(value, *element, dimensions, limit)),
            TypeKind::Aggregate(aggregate) => self.aggregate_view(value, type_, aggregate, limit),
            TypeKind::Function { .. } => {
                let name = value
                    .contents
                    .address()
                    .and_then(|address| self.function_name(address.0));
                Ok(View::Leaf(match name {
                    Some(name) => format!("{{function {name}}}"),
                    None => "{function}".to_owned(),
                }))
            }
            _ => Ok(View::Leaf(match &*type_.name {
                "decltype(nullptr)" | "nullptr_t" | "std::nullptr_t" => "nullptr".to_owned(),
                name => format!("<{name}>"),
            })),
        }
    }

    fn enumerator_view(
        &self,
        value: &Value,
        type_: &Type,
        signed: bool,
        values: &[(Arc<str>, i128)],
    ) -> Result<View, Reason> {
        let bytes = self.bytes(&value.contents, type_.size.unwrap_or(4).clamp(1, 16))?;
        let values = values.iter().map(|(name, value)| (&**name, *value));
        let number = scalars::Number::integer(
            contents::extract_bits(&bytes, 0, 128) as i128,
            bytes.len() as u8,
            signed,
        );
        let scalars::Number::Integer { value: number, .. } = number else {
            return Err(Unavailable::OptimizedOut);
        };
        if &*type_.name == "std::byte" {
            return Ok(View::Leaf(format!("{number:#04x}")));
        }
        let text = scalars::enumerator(values.clone(), number);
        let named = values.clone().any(|(name, _)| name == text);
        if !named && type_.language == Language::Rust {
            let why = format!("no variant has the discriminant {number}");
            return Err(Unavailable::Unsupported(why));
        }
        let is_own = type_.language == Language::Rust && !names::is_rust_std(&type_.name);
        Ok(View::Leaf(if named && is_own {
            format!("{}::{text}", names::base_name(&type_.name))
        } else {
            text
        }))
    }

    /// The view of a pointer or reference whose address is in the value's bytes.
    fn stored_pointer_view(
        &self,
        value: &Value,
        type_: &Type,
        (kind, target): (PointerKind, Option<TypeId>),
        limit: Limit,
    ) -> Result<View, Reason> {
        if let Some(view) = self.implicit_pointer_view(value, target, limit) {
            return Ok(view);
        }
        if self.is_function_item(value, type_, target) {
            return Err(rust::function_item());
        }
        let address = self.word(&value.contents)?;
        let is_alias = match kind {
            PointerKind::Reference | PointerKind::RvalueReference => true,
            PointerKind::Pointer => {
                target.is_some()
                    && type_.language == Language::Rust
                    && !value.raw
                    && rust::is_transparent_pointer(&type_.name)
            }
        };
        Ok(match is_alias {
            true => View::Alias(value.sibling(target, Contents::Memory(crate::Address(address)))),
            false => self.pointer_view(value, address, target, limit),
        })
    }

    /// Whether a Rust type that looks like a function pointer is a function item, which has no bytes.
    fn is_function_item(&self, value: &Value, type_: &Type, target: Option<TypeId>) -> bool {
        let is_function = || {
            let target = value.sibling(target, Contents::Memory(crate::Address(0)));
            let target = self.resolve(&target);
            target.is_some_and(|target| matches!(target.type_.kind, TypeKind::Function { .. }))
        };
        type_.language == Language::Rust
            && is_function()
            && value.module.module.is_function_item(type_.id)
    }

    /// The size of an address, in bytes.
    pub(crate) fn address_size(&self) -> u64 {
        self.memory.address_size()
    }

    /// A number of the size of an address, as one with a sign.
    pub(crate) fn signed(&self, number: u64) -> i64 {
        self.memory.signed(number)
    }

    /// An address, or a number of its size, at the start of the contents.
    pub(crate) fn word(&self, contents: &Contents) -> Result<u64, Reason> {
        self.number(contents, self.address_size())
    }

    /// A number of `size` bytes, at most 8, at the start of the contents.
    pub(crate) fn number(&self, contents: &Contents, size: u64) -> Result<u64, Reason> {
        let bytes = self.bytes(contents, size.min(8))?;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(&bytes);
        Ok(u64::from_le_bytes(word))
    }

    /// Addresses, or numbers of their size, one behind the other at an address.
    pub(crate) fn words<const COUNT: usize>(&self, address: u64) -> Result<[u64; COUNT], Reason> {
        let size = self.address_size().min(8) as usize;
        let mut bytes = [0; 8].repeat(COUNT);
        let bytes = &mut bytes[..size * COUNT];
        self.memory
            .read(crate::Address(address), bytes)
            .map_err(|at| Unavailable::Unreadable(at.0))?;
        Ok(std::array::from_fn(|index| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(&bytes[size * index..][..size]);
            u64::from_le_bytes(word)
        }))
    }

    fn pointer_view(
        &self,
        value: &Value,
        address: u64,
        target: Option<TypeId>,
        limit: Limit,
    ) -> View {
        let target_value = value.sibling(target, Contents::Memory(crate::Address(address)));
        let resolved = self.resolve(&target_value);
        let note = match resolved.as_ref().map(|resolved| &resolved.type_.kind) {
            // A pointer to a function has no children.
            Some(TypeKind::Function { .. }) => {
                return View::Pointer {
                    address,
                    target: None,
                    note: match self.function_name(address) {
                        Some(name) => Some(format!("<{name}>")),
                        // A function pointer of Rust leads to a function unless it isn't initialised, so the text says that there is
                        // none.
                        None if value.language == Language::Rust => {
                            Some("<no function there>".to_owned())
                        }
                        None => None,
                    },
                    shows: Shows::Address,
                };
            }
            Some(TypeKind::Aggregate(aggregate)) if address != 0 => {
                cpp::dynamic_type(self, &target_value, aggregate).map(|name| format!("<{name}>"))
            }
            Some(TypeKind::Base(_)) => resolved
                .as_ref()
                .and_then(|target| c::text_at(self, target, address, limit)),
            None => self.code_place(address),
            _ => None,
        };
        View::Pointer {
            address,
            target: resolved.map(|_| target_value),
            note,
            shows: Shows::Address,
        }
    }

    /// The name of the function that contains `address`, from the debug information; else the demangled name of the symbol there.
    pub(crate) fn function_name(&self, address: u64) -> Option<String> {
        let address = self.modules.machine().code_address(address);
        let module = self.modules.at(address)?;
        let file = module.to_file(address);
        let name = module.module.function_at(file).map(|f| f.name.clone());
        name.or_else(|| {
            let symbol = module.module.symbol_at(file)?;
            Some(dapple_symbols::module::demangle(&symbol.name))
        })
    }

    /// The demangled name of the symbol that contains `address`.
    pub(crate) fn symbol_name(&self, address: u64) -> Option<String> {
        let address = crate::Address(address);
        let module = self.modules.at(address)?;
        let symbol = module.module.symbol_at(module.to_file(address))?;
        Some(dapple_symbols::module::demangle(&symbol.name))
    }

    fn array_view(
        &self,
        value: &Value,
        element: TypeId,
        dimensions: &[Option<u64>],
        limit: Limit,
    ) -> View {
        let dimensions = value.lengths.as_deref().unwrap_or(dimensions);
        let depth = usize::from(value.dimension);
        let length = dimensions.get(depth).copied().flatten().unwrap_or(0);
        let mut first = if depth + 1 < dimensions.len() {
            let mut row = value.clone();
            row.dimension = row.dimension.saturating_add(1);
            row
        } else {
            value.sibling(Some(element), value.contents.clone())
        };
        first.raw = false;
        let size = self.size_of(&first).unwrap_or(0);
        let mut sequence = Sequence {
            element: first,
            stride: size,
            size,
            length,
            ring: None,
            text: None,
            container: false,
        };
        let is_unbounded = dimensions.get(depth).is_some_and(Option::is_none);
        if is_unbounded && value.language != Language::Rust {
            // In an array of unknown length, only a text shows where it ends: at its zero.
            let text = || {
                let address = value.contents.address()?;
                let element = self.resolve(&sequence.element)?;
                c::text_at(self, &element, address.0, limit)
            };
            let unknown = || "<its length is not known>".to_owned();
            sequence.text = Some(text().unwrap_or_else(unknown));
        } else if depth + 1 >= dimensions.len() {
            sequence.text = c::array_text(self, &sequence, limit);
        }
        View::Sequence(sequence)
    }

    fn aggregate_view(
        &self,
        value: &Value,
        type_: &Type,
        aggregate: &Aggregate,
        limit: Limit,
    ) -> Result<View, Reason> {
        if aggregate.declaration && aggregate.members.is_empty() {
            let known = || {
                let text = cpp::declared(self, value, type_, limit);
                text.or_else(|| cpp::says(self, value, limit))
            };
            let says = (!value.raw).then(known).flatten();
            return Ok(says.unwrap_or_else(|| View::Leaf("<incomplete type>".to_owned())));
        }
        if let Some(view) = natvis::view(self, value, type_, aggregate, limit) {
            return Ok(view);
        }
        if !value.raw {
            let special = match type_.language {
                Language::Rust => rust::view(self, value, type_, aggregate, limit),
                Language::Cpp => cpp::view(self, value, type_, aggregate, limit),
                _ => None,
            };
            if let Some(view) = special {
                return Ok(view);
            }
        }
        if aggregate.variants.is_some() {
            return rust::enum_view(self, value, type_, aggregate);
        }
        Ok(View::Record(self.record(value, type_, aggregate)))
    }

    /// The plain fields of a struct, class or union.
    pub(crate) fn record(&self, value: &Value, type_: &Type, aggregate: &Aggregate) -> Record {
        let mut fields = Vec::new();
        let mut statics: Vec<Static> = statics::own(aggregate).collect();
        let mut visits = 0;
        self.collect_fields(
            value,
            aggregate,
            0,
            (&mut fields, &mut statics),
            &mut visits,
        );
        let is_rust = type_.language == Language::Rust;
        let is_tuple = is_rust
            && !fields.is_empty()
            && fields
                .iter()
                .all(|field| rust::tuple_index(&field.name).is_some());
        if is_tuple {
            for field in &mut fields {
                if let Some(index) = rust::tuple_index(&field.name) {
                    field.name = index.to_owned();
                }
            }
        }
        let closure = match is_rust && !value.raw {
            true => rust::closure_name(&type_.name, &mut fields),
            false => None,
        };
        let own = || rust::record_name(&type_.name);
        let mut name = is_rust.then(|| closure.map_or_else(own, str::to_owned));
        let is_lambda = type_.name.ends_with("{lambda}");
        if is_lambda {
            cpp::name_captures(&mut fields);
        }
        let mut whole = None;
        if let Some(field) = cpp::most_derived(self, value, aggregate).filter(|_| !is_rust) {
            name = Some(format!("<{}> ", field.name.trim_matches(['[', ']'])));
            whole = Some(field.value.clone());
            fields.push(field);
        }
        Record {
            name,
            style: if is_tuple { Style::Tuple } else { Style::Named },
            raw: closure.is_some() && !fields.is_empty(),
            reachable: closure.is_none() && !is_lambda,
            fields,
            whole,
            statics,
        }
    }

    fn collect_fields(
        &self,
        value: &Value,
        aggregate: &Aggregate,
        depth: usize,
        (fields, statics): (&mut Vec<Field>, &mut Vec<Static>),
        visits: &mut usize,
    ) {
        for member in &aggregate.members {
            *visits += 1;
            if *visits > MAX_FIELDS {
                return;
            }
            let mut field = self.member(value, member);
            field.base = member.base;
            if member.base && self.is_empty_base(member, value, 0) {
                self.statics_of_base(&field, 0, statics);
                continue;
            }
            if member.name.is_none()
                && !member.base
                && depth < MAX_NESTING
                && let Some(resolved) = self.resolve(&field)
                && let TypeKind::Aggregate(inner) = &resolved.type_.kind
            {
                self.collect_fields(&field, inner, depth + 1, (fields, statics), visits);
                continue;
            }
            let name = match &member.name {
                // Clang's name of the vtable pointer, changed to gcc's.
                Some(name) if member.artificial => name.replace("_vptr$", "_vptr."),
                Some(name) => name.to_string(),
                None => self
                    .resolve(&field)
                    .map(|resolved| names::shorten(&resolved.type_.name, resolved.type_.language))
                    .unwrap_or_default(),
            };
            fields.push(Field {
                name,
                artificial: member.artificial || rust::is_phantom(self, &field),
                value: field,
                base: member.base,
            });
        }
    }
}
