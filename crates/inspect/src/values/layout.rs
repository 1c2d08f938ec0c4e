//! Sizes and alignments of types, and the locations of members in a value.

use super::view::MAX_NESTING;
use super::{Bits, Contents, Reader, Value, contents, cpp, rust};
use dapple_arch::Memory;
use dapple_symbols::location::{LocationContext, Unavailable, evaluate_cfi};
use dapple_symbols::types::{Member, PointerKind, Type, TypeKind};
use std::cell::Cell;
use std::sync::Arc;

/// The most members that one search visits.
const MAX_VISITS: usize = 2000;

/// The context for locations that need no frame: of virtual bases and statics.
pub(super) struct Elsewhere<'a> {
    memory: &'a dyn Memory,
    bias: u64,
    wants_thread: Cell<bool>,
}

impl<'a> Elsewhere<'a> {
    pub(super) fn new(memory: &'a dyn Memory, bias: u64) -> Elsewhere<'a> {
        Elsewhere {
            memory,
            bias,
            wants_thread: Cell::new(false),
        }
    }

    /// Whether an expression asked for a thread-local variable, which this context can't provide.
    pub(super) fn wants_thread(&self) -> bool {
        self.wants_thread.get()
    }
}

impl LocationContext for Elsewhere<'_> {
    fn address_size(&self) -> u8 {
        self.memory.address_size() as u8
    }

    fn register(&self, _register: u16) -> Option<u64> {
        None
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), u64> {
        self.memory
            .read(crate::Address(address), buffer)
            .map_err(|at| at.0)
    }

    fn cfa(&self) -> Option<u64> {
        None
    }

    fn load_bias(&self) -> u64 {
        self.bias
    }

    fn thread_local(&self, _offset: u64) -> Result<u64, &'static str> {
        self.wants_thread.set(true);
        Err("it is another in each thread")
    }
}

impl Reader<'_> {
    /// The size of a value's type in bytes.
    pub fn size_of(&self, value: &Value) -> Option<u64> {
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
            _ => type_
                .size
                .or_else(|| cpp::declared_size(&type_, self.address_size())),
        }
    }

    /// Whether a value is an array whose type has no length.
    pub(super) fn has_unknown_length(&self, value: &Value) -> bool {
        self.resolve(value)
            .is_some_and(|resolved| match &resolved.type_.kind {
                TypeKind::Array { dimensions, .. } => dimensions.contains(&None),
                _ => false,
            })
    }

    /// The alignment of a value's type in bytes: what its parts need. `alignas` isn't taken into account.
    pub(crate) fn align_of(&self, value: &Value) -> u64 {
        self.align_within(value, MAX_NESTING)
    }

    fn align_within(&self, value: &Value, nesting: usize) -> u64 {
        let (Some(resolved), Some(nesting)) = (self.resolve(value), nesting.checked_sub(1)) else {
            return 1;
        };
        let of = |id| self.align_within(&value.sibling(Some(id), value.contents.clone()), nesting);
        match &resolved.type_.kind {
            TypeKind::Array { element, .. } => of(*element),
            TypeKind::Aggregate(aggregate) => {
                let members = aggregate.members.iter().take(64);
                let size = resolved.type_.size.unwrap_or(0);
                // If the size is no multiple of the members' alignment, the class is packed: a type's size is a multiple of its alignment.
                let most = members.map(|member| of(member.type_id)).max().unwrap_or(1);
                if size.is_multiple_of(most) { most } else { 1 }
            }
            // A pointer to a member function has 16 bytes, but it is two words, which need an alignment of 8.
            TypeKind::MemberPointer { .. } => 8,
            _ => match resolved.type_.size {
                Some(size @ (1 | 2 | 4 | 8 | 16)) => size,
                Some(0) | None => 1,
                Some(_) => 8,
            },
        }
    }

    /// Whether a member is a base class without data.
    pub(super) fn is_empty_base(&self, member: &Member, value: &Value, depth: usize) -> bool {
        let base = value.sibling(Some(member.type_id), Contents::Memory(crate::Address(0)));
        match self.resolve(&base).map(|resolved| resolved.type_) {
            Some(type_) => match &type_.kind {
                TypeKind::Aggregate(aggregate) => {
                    depth < 4
                        // A class that is only declared may have data.
                        && !aggregate.declaration
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
            Some((skip, bits)) => {
                let span = skip.saturating_add(bits).div_ceil(8).min(32);
                let bits = Bits {
                    storage: value.contents.part(member.offset, span),
                    skip,
                    count: bits,
                };
                let contents = self.bit_field(&field, &bits, span, size);
                field.bits = Some(Arc::new(bits));
                contents
            }
        };
        if value.tail.is_some() {
            rust::hand_on_tail(self, value, member, &mut field);
        }
        field
    }

    /// The contents of a virtual base, whose offset is found through the object.
    fn virtual_base(&self, value: &Value, member: &Member) -> Contents {
        let unavailable = |reason| Contents::Unavailable(reason);
        let (Some(expression), Some(address)) = (&member.expression, value.contents.address())
        else {
            let why = "a virtual base of an object that is not in memory";
            return unavailable(Unavailable::Unsupported(why.to_owned()));
        };
        let context = Elsewhere::new(self.memory, 0);
        match evaluate_cfi(expression, Some(address.0), &context) {
            Ok(address) => Contents::Memory(crate::Address(address)),
            Err(reason) => unavailable(reason),
        }
    }

    fn bit_field(&self, field: &Value, bits: &Bits, span: u64, size: u64) -> Contents {
        let bytes = match self.bytes(&bits.storage, span) {
            Ok(bytes) => bytes,
            Err(reason) => return Contents::Unavailable(reason),
        };
        let (skip, bits) = (bits.skip, bits.count);
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

    /// The nearest member called `name`: of the value, or of its members, because libraries wrap their data in other classes.
    pub(crate) fn find(&self, value: &Value, name: &str) -> Option<Value> {
        self.named(value, 8, name)
    }

    /// The first pointer in a value or its members.
    pub(crate) fn find_pointer(&self, value: &Value) -> Option<Value> {
        self.search(value, 8, &|_, type_| {
            matches!(type_.kind, TypeKind::Pointer(PointerKind::Pointer, _))
        })
    }

    /// The first value of a base type, such as an integer, in a value or its members.
    pub(crate) fn find_integer(&self, value: &Value) -> Option<Value> {
        self.search(value, 8, &|_, type_| {
            matches!(type_.kind, TypeKind::Base(_)) && type_.size.is_some_and(|size| size > 0)
        })
    }

    /// The direct member called `name`.
    pub(crate) fn field(&self, value: &Value, name: &str) -> Option<Value> {
        self.named(value, 0, name)
    }

    fn named(&self, value: &Value, depth: usize, name: &str) -> Option<Value> {
        let wanted = |member: Option<&str>| member == Some(name);
        // Most are direct members: the types of the others needn't be read then.
        if let TypeKind::Aggregate(aggregate) = &self.resolve(value)?.type_.kind
            && let Some(member) = { aggregate.members.iter() }.find(|it| wanted(it.name.as_deref()))
        {
            let field = self.member(value, member);
            if self.resolve(&field).is_some() {
                return Some(field);
            }
        }
        self.search(value, depth, &|member, _| wanted(member))
    }

    /// Searches a value and its members breadth-first, down to a depth. `wanted` is called with a member's name and its type without
    /// typedefs. For the value itself, it is called without a name.
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
        let path = self.path_to(value, type_, depth, wanted)?;
        path.iter().try_fold(value.clone(), |value, index| {
            let type_ = self.resolve(&value)?.type_;
            let TypeKind::Aggregate(aggregate) = &type_.kind else {
                return None;
            };
            Some(self.member(&value, aggregate.members.get(*index)?))
        })
    }

    /// The indices of the members that lead from a value to one that is `wanted`. Where it is depends on the types alone.
    fn path_to(
        &self,
        value: &Value,
        type_: Arc<Type>,
        depth: usize,
        wanted: &dyn Fn(Option<&str>, &Type) -> bool,
    ) -> Option<Vec<usize>> {
        /// A member's type, its index among the members of the parent, and where the parent is in the list of all.
        type Reached = (Arc<Type>, usize, usize);
        let path = |reached: &[Reached], mut parent: usize, index: usize| {
            let mut path = vec![index];
            while let Some((_, index, above)) = reached.get(parent).filter(|_| parent > 0) {
                path.push(*index);
                parent = *above;
            }
            path.reverse();
            path
        };
        let mut reached: Vec<Reached> = vec![(type_, 0, 0)];
        let mut level = vec![0];
        let mut visits = 0;
        for _ in 0..=depth {
            let mut below = Vec::new();
            let mut at = 0;
            while let Some(&parent) = level.get(at) {
                at += 1;
                let type_ = Arc::clone(&reached.get(parent)?.0);
                let TypeKind::Aggregate(aggregate) = &type_.kind else {
                    continue;
                };
                for (index, member) in aggregate.members.iter().enumerate() {
                    visits += 1;
                    if visits > MAX_VISITS {
                        return None;
                    }
                    let module = &value.module.module;
                    let Ok(Some(type_)) = module.strip_aliases(member.type_id) else {
                        continue;
                    };
                    if wanted(member.name.as_deref(), &type_) {
                        return Some(path(&reached, parent, index));
                    }
                    if matches!(type_.kind, TypeKind::Aggregate(_)) {
                        // Members of an anonymous member count as the outer one's own.
                        let is_own = member.name.is_none() && !member.base;
                        let level = if is_own { &mut level } else { &mut below };
                        level.push(reached.len());
                        reached.push((type_, index, parent));
                    }
                }
            }
            level = below;
        }
        None
    }
}
