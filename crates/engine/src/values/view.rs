//! What a value is to its reader: the one form from which both its text and its children are made.

use super::{Contents, Reader, Value, c, contents, cpp, names, rust, scalars};
use crate::memory::Memory;
use dapple_symbols::functions::Language;
use dapple_symbols::location::{LocationContext, Unavailable, evaluate_cfi};
use dapple_symbols::types::{Aggregate, Member, PointerKind, Type, TypeId, TypeKind};
use std::sync::Arc;

/// A value as its reader sees it.
#[derive(Debug, Clone)]
pub(crate) enum View {
    /// A line of text and nothing below it.
    Leaf(String),
    /// An address to follow.
    Pointer {
        address: u64,
        /// What it points to; `None`: void, or nobody knows.
        target: Option<Value>,
        /// What is known of the pointee: a text, a function's name.
        note: Option<String>,
    },
    /// Something that stands for its target: a reference, a `Box`.
    Alias(Value),
    /// Text of a library's type.
    Text { text: String, address: Option<u64> },
    /// Elements.
    Sequence(Sequence),
    /// Elements that lie apart.
    Entries(Entries),
    /// Fields.
    Record(Record),
}

/// Elements one after another.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    /// Where the elements are, and the element's type.
    pub element: Value,
    /// Bytes from one to the next.
    pub stride: u64,
    /// Bytes an element has.
    pub size: u64,
    pub length: u64,
    /// The position of the first element in a ring of `(first, capacity)` elements.
    pub ring: Option<(u64, u64)>,
    /// Character arrays: their text.
    pub text: Option<String>,
    /// A library's type, whose length is worth telling and which has a raw form.
    pub container: bool,
}

/// Elements of a library's container that lie apart, the first of them, and how many there are in all.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    pub entries: Vec<Entry>,
    pub length: u64,
}

/// An element; a map's has a key.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: Option<Value>,
    pub value: Value,
}

/// Fields, bases among them.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// What stands before the fields: `Point`, `Some`; C and C++ write none.
    pub name: Option<String>,
    pub style: Style,
    pub fields: Vec<Field>,
    /// Whether the raw form is offered as a child.
    pub raw: bool,
    /// Whether a field can be named in an expression.
    pub reachable: bool,
}

/// How fields are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `{ x: 1 }` or `{x = 1}`.
    Named,
    /// `(1, 2)`.
    Tuple,
}

/// A field.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub name: String,
    pub value: Value,
    /// A base class, which expressions don't name.
    pub base: bool,
    /// The compiler's own, left out of summaries.
    pub artificial: bool,
}

/// How much of a value is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// Bytes of a text.
    pub text: usize,
    /// Entries of a container that has to be walked.
    pub entries: usize,
}

/// Values on their own.
pub(crate) const LONG: Limit = Limit {
    text: 256,
    entries: 32,
};
/// Values inside a summary.
pub(crate) const SHORT: Limit = Limit {
    text: 64,
    entries: 32,
};
/// Containers whose children are asked for.
pub(crate) const ALL: Limit = Limit {
    text: 64,
    entries: 10_000,
};

/// Members flattened out of anonymous ones, at most.
const MAX_FIELDS: usize = 4096;
/// How deep arrays, anonymous members and empty bases nest in programs that a compiler made.
const MAX_NESTING: usize = 8;
/// Members looked at in one search.
const MAX_VISITS: usize = 2000;

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

/// What the place of a virtual base is computed from.
struct MemoryContext<'a>(&'a dyn Memory);

impl LocationContext for MemoryContext<'_> {
    fn register(&self, _register: u16) -> Option<u64> {
        None
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), u64> {
        self.0
            .read(crate::Address(address), buffer)
            .map_err(|at| at.0)
    }

    fn cfa(&self) -> Option<u64> {
        None
    }

    fn load_bias(&self) -> u64 {
        0
    }

    fn thread_local(&self, _offset: u64) -> Option<u64> {
        None
    }
}

/// A value that can't be had.
pub(crate) type Reason = Unavailable;

/// A value's type seen through typedefs and qualifiers.
pub(crate) struct Resolved {
    pub type_: Arc<Type>,
    /// The outermost typedef's name, or the type's own.
    pub alias: Arc<str>,
}

impl Reader<'_> {
    /// The type below typedefs; `None` for void and for what the debug information lacks.
    pub(crate) fn resolve(&self, value: &Value) -> Option<Resolved> {
        let module = &value.module.module;
        let id = value.type_id?;
        let outer = module.type_of(id).ok()?;
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

    /// The size of a type in bytes.
    pub(crate) fn size_of(&self, value: &Value) -> Option<u64> {
        self.size_within(value, MAX_NESTING)
    }

    fn size_within(&self, value: &Value, nesting: usize) -> Option<u64> {
        let type_ = self.resolve(value)?.type_;
        match &type_.kind {
            TypeKind::Array {
                element,
                dimensions,
            } if value.dimension > 0 || type_.size.is_none() => {
                let element = self.size_within(
                    &value.sibling(Some(*element), value.contents.clone()),
                    nesting.checked_sub(1)?,
                )?;
                let dimensions = value.lengths.as_deref().unwrap_or(dimensions);
                let rest = dimensions.get(usize::from(value.dimension)..)?;
                rest.iter()
                    .try_fold(element, |size, count| size.checked_mul((*count)?))
            }
            _ => type_.size,
        }
    }

    /// Whether it is an array whose type doesn't say how long it is.
    pub(super) fn has_unknown_length(&self, value: &Value) -> bool {
        self.resolve(value)
            .is_some_and(|resolved| match &resolved.type_.kind {
                TypeKind::Array { dimensions, .. } => dimensions.contains(&None),
                _ => false,
            })
    }

    /// The value's view. Reads no more than a few hundred bytes.
    pub(crate) fn view(&self, value: &Value, limit: Limit) -> View {
        match &value.contents {
            Contents::Unavailable(reason) => return View::Leaf(self.reason(reason)),
            Contents::Number(number) => return self.number_view(value, *number, limit),
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
            Err(reason) => View::Leaf(self.reason(&reason)),
        }
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
                let bytes = self.bytes(&value.contents, type_.size.unwrap_or(4).clamp(1, 16))?;
                let values = values.iter().map(|(name, value)| (&**name, *value));
                let number = scalars::Number::integer(
                    contents::extract_bits(&bytes, 0, 128) as i128,
                    bytes.len() as u8,
                    *signed,
                );
                let scalars::Number::Integer { value: number, .. } = number else {
                    return Err(Unavailable::OptimizedOut);
                };
                let text = scalars::enumerator(values.clone(), number);
                let named = values.clone().any(|(name, _)| name == text);
                let is_own = type_.language == Language::Rust && !names::is_rust_std(&type_.name);
                Ok(View::Leaf(if named && is_own {
                    format!("{}::{text}", names::base_name(&type_.name))
                } else {
                    text
                }))
            }
            TypeKind::Pointer(kind, target) => {
                if let Some(view) = self.implicit_pointer_view(value, *target, limit) {
                    return Ok(view);
                }
                let address = self.word(&value.contents)?;
                match kind {
                    PointerKind::Pointer => {
                        let is_alias = type_.language == Language::Rust
                            && !value.raw
                            && rust::is_transparent_pointer(&type_.name);
                        let target_value = target.map(|target| {
                            value.sibling(Some(target), Contents::Memory(crate::Address(address)))
                        });
                        match target_value {
                            Some(target) if is_alias => Ok(View::Alias(target)),
                            _ => Ok(self.pointer_view(value, address, *target, limit)),
                        }
                    }
                    PointerKind::Reference | PointerKind::RvalueReference => Ok(View::Alias(
                        value.sibling(*target, Contents::Memory(crate::Address(address))),
                    )),
                }
            }
            TypeKind::MemberPointer { .. } => {
                let bytes = self.bytes(&value.contents, type_.size.unwrap_or(8).min(16))?;
                Ok(View::Leaf(cpp::member_pointer(&bytes, |address| {
                    self.function_name(address)
                })))
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

    /// A little-endian word at the start of the contents.
    pub(crate) fn word(&self, contents: &Contents) -> Result<u64, Reason> {
        let bytes = self.bytes(contents, 8)?;
        let mut word = [0; 8];
        word.copy_from_slice(&bytes);
        Ok(u64::from_le_bytes(word))
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
            // A function has nothing below it.
            Some(TypeKind::Function { .. }) => {
                return View::Pointer {
                    address,
                    target: None,
                    note: self.function_name(address).map(|name| format!("<{name}>")),
                };
            }
            Some(TypeKind::Aggregate(aggregate)) if address != 0 => {
                cpp::dynamic_type(self, &target_value, aggregate).map(|name| format!("<{name}>"))
            }
            Some(TypeKind::Base(_)) => resolved
                .as_ref()
                .and_then(|target| c::text_at(self, target, address, limit)),
            _ => None,
        };
        View::Pointer {
            address,
            target: resolved.map(|_| target_value),
            note,
        }
    }

    /// The function that starts at `address`, or covers it.
    pub(crate) fn function_name(&self, address: u64) -> Option<String> {
        let address = crate::Address(address);
        let module = self.modules.at(address)?;
        let file = module.to_file(address);
        let name = module.module.function_at(file).map(|f| f.name.clone());
        name.or_else(|| {
            let symbol = module.module.symbol_at(file)?;
            Some(dapple_symbols::module::demangle(&symbol.name))
        })
    }

    /// The symbol that starts at `address`, demangled.
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
        if size == 1 && depth + 1 >= dimensions.len() {
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
            let says = (!value.raw)
                .then(|| cpp::says(self, value, limit))
                .flatten();
            return Ok(says.unwrap_or_else(|| View::Leaf("<incomplete type>".to_owned())));
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
        let mut visits = 0;
        self.collect_fields(value, aggregate, 0, &mut fields, &mut visits);
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
        Record {
            name: is_rust.then(|| rust::record_name(&type_.name).to_owned()),
            style: if is_tuple { Style::Tuple } else { Style::Named },
            fields,
            raw: false,
            reachable: true,
        }
    }

    fn collect_fields(
        &self,
        value: &Value,
        aggregate: &Aggregate,
        depth: usize,
        fields: &mut Vec<Field>,
        visits: &mut usize,
    ) {
        for member in &aggregate.members {
            *visits += 1;
            if *visits > MAX_FIELDS {
                return;
            }
            let field = self.member(value, member);
            if member.base && self.is_empty_base(member, value, 0) {
                continue;
            }
            if member.name.is_none()
                && !member.base
                && depth < MAX_NESTING
                && let Some(resolved) = self.resolve(&field)
                && let TypeKind::Aggregate(inner) = &resolved.type_.kind
            {
                self.collect_fields(&field, inner, depth + 1, fields, visits);
                continue;
            }
            let name = match &member.name {
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

    /// A base class without any data.
    fn is_empty_base(&self, member: &Member, value: &Value, depth: usize) -> bool {
        let base = value.sibling(Some(member.type_id), Contents::Memory(crate::Address(0)));
        match self.resolve(&base).map(|resolved| resolved.type_) {
            Some(type_) => match &type_.kind {
                TypeKind::Aggregate(aggregate) => {
                    depth < 4
                        && aggregate.members.len() <= 16
                        && type_.size.is_none_or(|size| size <= 1)
                        && aggregate
                            .members
                            .iter()
                            .all(|inner| inner.base && self.is_empty_base(inner, &base, depth + 1))
                }
                _ => false,
            },
            None => false,
        }
    }

    /// A member's value.
    pub(crate) fn member(&self, value: &Value, member: &Member) -> Value {
        let mut field = value.sibling(Some(member.type_id), value.contents.clone());
        if member.virtual_base {
            field.contents = self.virtual_base(value, member);
            return field;
        }
        let size = self.size_of(&field).unwrap_or(0);
        field.contents = match member.bits {
            None => value.contents.part(member.offset, size),
            Some((skip, bits)) => self.bit_field(value, &field, member.offset, skip, bits, size),
        };
        field
    }

    /// The object knows where its virtual base is.
    fn virtual_base(&self, value: &Value, member: &Member) -> Contents {
        let unavailable = |reason| Contents::Unavailable(reason);
        let (Some(expression), Some(address)) = (&member.expression, value.contents.address())
        else {
            let why = "a virtual base of an object that is not in memory";
            return unavailable(Unavailable::Unsupported(why.to_owned()));
        };
        let context = MemoryContext(self.memory);
        match evaluate_cfi(expression, Some(address.0), &context) {
            Ok(address) => Contents::Memory(crate::Address(address)),
            Err(reason) => unavailable(reason),
        }
    }

    fn bit_field(
        &self,
        value: &Value,
        field: &Value,
        offset: u64,
        skip: u64,
        bits: u64,
        size: u64,
    ) -> Contents {
        let span = skip.saturating_add(bits).div_ceil(8).min(32);
        let storage = value.contents.part(offset, span);
        let bytes = match self.bytes(&storage, span) {
            Ok(bytes) => bytes,
            Err(reason) => return Contents::Unavailable(reason),
        };
        let mut number = contents::extract_bits(&bytes, skip, bits);
        let is_signed = self.resolve(field).is_some_and(|resolved| {
            use dapple_symbols::types::Encoding;
            matches!(
                resolved.type_.kind,
                TypeKind::Base(Encoding::Signed | Encoding::SignedChar)
                    | TypeKind::Enumeration { signed: true, .. }
            )
        });
        if is_signed && (1..128).contains(&bits) && number >> (bits - 1) & 1 == 1 {
            number |= u128::MAX << bits;
        }
        let size = usize::try_from(size).unwrap_or(16).min(16);
        Contents::Bytes(number.to_le_bytes()[..size].into())
    }

    /// The nearest member called `name`, in the value or in its members: libraries wrap what they hold.
    pub(crate) fn find(&self, value: &Value, name: &str) -> Option<Value> {
        self.search(value, 8, &|member, _| member == Some(name))
    }

    /// The first pointer in a value or its members.
    pub(crate) fn find_pointer(&self, value: &Value) -> Option<Value> {
        self.search(value, 8, &|_, type_| {
            matches!(type_.kind, TypeKind::Pointer(PointerKind::Pointer, _))
        })
    }

    /// The first integer in a value or its members.
    pub(crate) fn find_integer(&self, value: &Value) -> Option<Value> {
        self.search(value, 8, &|_, type_| {
            matches!(type_.kind, TypeKind::Base(_)) && type_.size.is_some_and(|size| size > 0)
        })
    }

    /// The direct member called `name`.
    pub(crate) fn field(&self, value: &Value, name: &str) -> Option<Value> {
        self.search(value, 0, &|member, _| member == Some(name))
    }

    /// Searches a value itself and its members to a depth.
    pub(crate) fn search(
        &self,
        value: &Value,
        depth: usize,
        wanted: &dyn Fn(Option<&str>, &Type) -> bool,
    ) -> Option<Value> {
        let type_ = self.resolve(value)?.type_;
        if wanted(None, &type_) {
            return Some(value.clone());
        }
        let mut visits = 0;
        self.search_members(value, &type_, depth, wanted, &mut visits)
    }

    fn search_members(
        &self,
        value: &Value,
        type_: &Type,
        depth: usize,
        wanted: &dyn Fn(Option<&str>, &Type) -> bool,
        visits: &mut usize,
    ) -> Option<Value> {
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        let mut inner = Vec::new();
        for member in &aggregate.members {
            *visits += 1;
            if *visits > MAX_VISITS {
                return None;
            }
            let field = self.member(value, member);
            let Some(resolved) = self.resolve(&field) else {
                continue;
            };
            if wanted(member.name.as_deref(), &resolved.type_) {
                return Some(field);
            }
            if depth > 0 && matches!(resolved.type_.kind, TypeKind::Aggregate(_)) {
                inner.push((field, resolved.type_));
            }
        }
        inner
            .iter()
            .find_map(|(field, type_)| self.search_members(field, type_, depth - 1, wanted, visits))
    }
}
