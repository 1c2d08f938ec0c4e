//! Reads [`Type`]s from entries, one level at a time.

use crate::Error;
use crate::dwarf::entries::{Entry, signed, unsigned};
use crate::dwarf::name_index::EntryKind;
use crate::dwarf::types::{
    Aggregate, AggregateKind, AliasKind, Encoding, Member, PointerKind, StaticMember, Type, TypeId,
    TypeKind, Variant, VariantPart,
};
use crate::dwarf::{Dwarf, Reader, Unit};
use crate::names::base_of;
use dapple_arch::Machine;
use gimli::{AttributeValue, UnitOffset, constants as dw};
use std::sync::{Arc, PoisonError};

/// The maximum nesting of aliases; source code has a handful of levels.
const NESTING_LIMIT: usize = 64;
/// The maximum of an entry's children, such as members, enumerators or dimensions; generated code has tens of thousands.
const CHILDREN_LIMIT: usize = 1_000_000;

impl<'a> Dwarf<'a> {
    pub(crate) fn type_of(&self, id: TypeId) -> Result<Arc<Type>, Error> {
        let unit = self.unit(id.unit).ok_or_else(|| {
            self.files.malformed(
                ".debug_info",
                0,
                format!("unit {} can't be read, a type is in it", id.unit),
            )
        })?;
        if let Some(known) = unit
            .types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id.offset)
        {
            return Ok(known.clone());
        }
        let entry = self.type_entry(unit, id)?;
        let decoded = match self.definition_of(unit, &entry) {
            Some(definition) if definition != id => self.type_of_definition(definition)?,
            _ => Arc::new(self.decode(unit, id, &entry)?),
        };
        unit.types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.offset, decoded.clone());
        Ok(decoded)
    }

    /// Like [`Dwarf::type_of`], for an entry that is not a declaration.
    fn type_of_definition(&self, id: TypeId) -> Result<Arc<Type>, Error> {
        let unit = self.unit(id.unit).ok_or_else(|| {
            self.files
                .malformed(".debug_info", 0, "a type's unit is broken")
        })?;
        if let Some(known) = unit
            .types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id.offset)
        {
            return Ok(known.clone());
        }
        let entry = self.type_entry(unit, id)?;
        let decoded = Arc::new(self.decode(unit, id, &entry)?);
        unit.types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.offset, decoded.clone());
        Ok(decoded)
    }

    fn type_entry(&self, unit: &Unit<'a>, id: TypeId) -> Result<Entry<'a>, Error> {
        let offset = UnitOffset(id.offset);
        unit.dw().entry(offset).map_err(|error| {
            self.unit_error(unit, offset, format!("a type can't be read: {error}"))
        })
    }

    pub(crate) fn strip_aliases(&self, id: TypeId) -> Result<Option<Arc<Type>>, Error> {
        let mut next = id;
        for _ in 0..NESTING_LIMIT {
            let found = self.type_of(next)?;
            match found.kind {
                TypeKind::Alias(_, Some(target)) => next = target,
                TypeKind::Alias(_, None) => return Ok(None),
                _ => return Ok(Some(found)),
            }
        }
        let reason = format!("more than {NESTING_LIMIT} aliases of aliases");
        match self.unit(id.unit) {
            Some(unit) => Err(self.unit_error(unit, UnitOffset(id.offset), reason)),
            None => Err(self.files.malformed(".debug_info", 0, reason)),
        }
    }

    /// The definition of a type that an entry only declares, found by signature, or by qualified name: in the same unit
    /// first, then in any unit.
    fn definition_of(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Option<TypeId> {
        if let Some(AttributeValue::DebugTypesRef(signature)) =
            entry.attr_value(dw::DW_AT_signature)
        {
            let (unit, offset) = self.type_with_signature(unit, signature.0)?;
            return Some(TypeId {
                unit: unit.index,
                offset: offset.0,
            });
        }
        if !is_declaration(entry) {
            return None;
        }
        let name = self.text(unit, entry.attr_value(dw::DW_AT_name)?)?;
        let namespace = self.namespace_of(unit, entry.offset());
        let user = unit;
        let in_unit = |unit: &Unit<'a>| {
            unit.inherit_language(user);
            let mut offsets = self.index(unit).definitions(self, unit, name).iter();
            let offset = *offsets.find(|&&offset| {
                let chain = self.chain(unit, UnitOffset(offset));
                chain.links.last().is_some_and(|(unit, entry)| {
                    self.namespace_of(unit, entry.offset()) == namespace
                })
            })?;
            Some(TypeId {
                unit: unit.index,
                offset,
            })
        };
        in_unit(unit).or_else(|| self.definition_elsewhere(unit, name, &in_unit))
    }

    /// Searches the other units that have a type with this name, using the index if the module is large.
    fn definition_elsewhere<'s>(
        &'s self,
        user: &Unit<'a>,
        name: &[u8],
        in_unit: &dyn Fn(&'s Unit<'a>) -> Option<TypeId>,
    ) -> Option<TypeId> {
        let base = std::str::from_utf8(name).map_or(name, |name| base_of(name).as_bytes());
        let indexed = self.ask_index(|index| index.entries_named(self, base, EntryKind::Type));
        let Some(places) = indexed else {
            let others = self.all_units().filter(|other| other.index != user.index);
            return others.into_iter().find_map(in_unit);
        };
        let mut units: Vec<u32> = places.into_iter().map(|place| place.unit).collect();
        units.dedup();
        units
            .into_iter()
            .filter(|&other| other != user.index)
            .find_map(|other| in_unit(self.unit(other)?))
    }

    fn decode(&self, unit: &Unit<'a>, id: TypeId, entry: &Entry<'a>) -> Result<Type, Error> {
        let target = || {
            entry
                .attr_value(dw::DW_AT_type)
                .and_then(|value| self.type_id(unit, value))
        };
        let kind = match entry.tag() {
            dw::DW_TAG_base_type => TypeKind::Base(self.encoding_of(unit, entry)),
            dw::DW_TAG_pointer_type => TypeKind::Pointer(PointerKind::Pointer, target()),
            dw::DW_TAG_reference_type => TypeKind::Pointer(PointerKind::Reference, target()),
            dw::DW_TAG_rvalue_reference_type => {
                TypeKind::Pointer(PointerKind::RvalueReference, target())
            }
            dw::DW_TAG_ptr_to_member_type => TypeKind::MemberPointer {
                target: target(),
                class: entry
                    .attr_value(dw::DW_AT_containing_type)
                    .and_then(|value| self.type_id(unit, value)),
            },
            dw::DW_TAG_array_type => {
                let element = target();
                let element = element
                    .ok_or_else(|| self.unit_error(unit, entry.offset(), "an array of nothing"))?;
                TypeKind::Array {
                    element,
                    dimensions: self.dimensions(unit, entry),
                }
            }
            dw::DW_TAG_structure_type => self.aggregate(unit, entry, AggregateKind::Struct)?,
            dw::DW_TAG_class_type | dw::DW_TAG_interface_type => {
                self.aggregate(unit, entry, AggregateKind::Class)?
            }
            dw::DW_TAG_union_type => self.aggregate(unit, entry, AggregateKind::Union)?,
            dw::DW_TAG_enumeration_type => self.enumeration(unit, entry, target()),
            dw::DW_TAG_typedef | dw::DW_TAG_template_alias | dw::DW_TAG_subrange_type => {
                TypeKind::Alias(AliasKind::Typedef, target())
            }
            dw::DW_TAG_const_type => TypeKind::Alias(AliasKind::Const, target()),
            dw::DW_TAG_volatile_type => TypeKind::Alias(AliasKind::Volatile, target()),
            dw::DW_TAG_restrict_type
            | dw::DW_TAG_atomic_type
            | dw::DW_TAG_packed_type
            | dw::DW_TAG_immutable_type
            | dw::DW_TAG_shared_type => TypeKind::Alias(AliasKind::Other, target()),
            dw::DW_TAG_subroutine_type | dw::DW_TAG_subprogram => TypeKind::Function {
                result: target(),
                parameters: self
                    .parameters(unit, entry)
                    .into_iter()
                    .map(|(parameter, _)| parameter)
                    .collect(),
            },
            _ => TypeKind::Unspecified,
        };
        Ok(Type {
            id,
            name: self.type_name(id).into(),
            size: self.type_size(id),
            language: unit.language(),
            kind,
        })
    }

    /// The size in bytes, from the entry or the types that it is based on.
    pub(crate) fn type_size(&self, id: TypeId) -> Option<u64> {
        let mut next = id;
        let mut count: u64 = 1;
        for _ in 0..NESTING_LIMIT {
            let unit = self.unit(next.unit)?;
            let entry = unit.dw().entry(UnitOffset(next.offset)).ok()?;
            if let Some(size) = entry.attr_value(dw::DW_AT_byte_size) {
                return unsigned(&size)?.checked_mul(count);
            }
            match entry.tag() {
                dw::DW_TAG_pointer_type
                | dw::DW_TAG_reference_type
                | dw::DW_TAG_rvalue_reference_type => {
                    return count.checked_mul(unit.dw().header.address_size().into());
                }
                dw::DW_TAG_ptr_to_member_type => {
                    return self.member_pointer_size(unit, &entry).checked_mul(count);
                }
                dw::DW_TAG_array_type => {
                    for dimension in self.dimensions(unit, &entry) {
                        count = count.checked_mul(dimension?)?;
                    }
                }
                dw::DW_TAG_unspecified_type => {
                    let name = entry
                        .attr_value(dw::DW_AT_name)
                        .and_then(|name| self.text(unit, name));
                    let size = unit.dw().header.address_size().into();
                    return (name == Some(b"decltype(nullptr)")).then_some(size);
                }
                _ => {}
            }
            next = match self.definition_of(unit, &entry) {
                Some(definition) if definition != next => definition,
                _ => self.type_id(unit, entry.attr_value(dw::DW_AT_type)?)?,
            };
        }
        None
    }

    /// The size of a pointer to a member in the Itanium C++ ABI: a function and an adjustment for a member function,
    /// else an offset.
    fn member_pointer_size(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> u64 {
        let target = entry
            .attr_value(dw::DW_AT_type)
            .and_then(|value| self.resolve(unit, value));
        let target = target.and_then(|(unit, offset)| self.entry(unit, offset));
        let word = u64::from(unit.dw().header.address_size());
        match target.is_some_and(|target| target.tag() == dw::DW_TAG_subroutine_type) {
            true => 2 * word,
            false => word,
        }
    }

    /// An entry's children, up to the first that can't be read.
    pub(crate) fn children(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Vec<Entry<'a>> {
        let mut found = Vec::new();
        if !entry.has_children() {
            return found;
        }
        let mut read = || -> Result<(), gimli::Error> {
            let mut tree = unit.dw().entries_tree(Some(entry.offset()))?;
            let mut children = tree.root()?.children();
            while let Some(child) = children.next()? {
                if found.len() >= CHILDREN_LIMIT {
                    break;
                }
                found.push(child.entry().clone());
            }
            Ok(())
        };
        if let Err(error) = read() {
            self.warn_unit(
                unit,
                entry.offset(),
                format!("the rest of this type is left out: {error}"),
            );
        }
        found
    }

    /// The number of elements in each dimension.
    pub(crate) fn dimensions(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Vec<Option<u64>> {
        let mut dimensions = Vec::new();
        for child in self.children(unit, entry) {
            if child.tag() != dw::DW_TAG_subrange_type {
                continue;
            }
            let constant = |name| {
                child
                    .attr_value(name)
                    .and_then(|value| unsigned(&value).or(signed(&value).map(|value| value as u64)))
            };
            let lower = constant(dw::DW_AT_lower_bound).unwrap_or(0);
            // gcc writes an upper bound of −1 for no elements.
            let from_bounds = || {
                constant(dw::DW_AT_upper_bound)
                    .map(|upper| upper.wrapping_sub(lower).wrapping_add(1))
            };
            dimensions.push(constant(dw::DW_AT_count).or_else(from_bounds));
        }
        if dimensions.is_empty() {
            dimensions.push(None);
        }
        dimensions
    }

    /// The parameters' types, and whether the compiler adds each parameter.
    pub(crate) fn parameters(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Vec<(TypeId, bool)> {
        let children = self.children(unit, entry);
        let parameters = children
            .iter()
            .filter(|child| child.tag() == dw::DW_TAG_formal_parameter);
        let typed = parameters.filter_map(|parameter| {
            let type_id = self.type_id(unit, parameter.attr_value(dw::DW_AT_type)?)?;
            Some((type_id, flag(parameter, dw::DW_AT_artificial)))
        });
        typed.collect()
    }

    fn enumeration(&self, unit: &Unit<'a>, entry: &Entry<'a>, target: Option<TypeId>) -> TypeKind {
        let mut values: Vec<(Arc<str>, i128)> = Vec::new();
        for child in self.children(unit, entry) {
            let (Some(name), Some(value)) = (
                self.own_name(unit, &child),
                child.attr_value(dw::DW_AT_const_value),
            ) else {
                continue;
            };
            let value = match value {
                AttributeValue::Sdata(value) => Some(i128::from(value)),
                AttributeValue::Block(bytes) => Some(wide(bytes.slice()) as i128),
                other => unsigned(&other).map(i128::from),
            };
            values.extend(value.map(|value| (name, value)));
        }
        let signed = match target.and_then(|target| self.base_encoding(target)) {
            Some(encoding) => matches!(encoding, Encoding::Signed | Encoding::SignedChar),
            None => values.iter().any(|(_, value)| *value < 0),
        };
        TypeKind::Enumeration { signed, values }
    }

    /// The encoding of a base type behind aliases.
    fn base_encoding(&self, id: TypeId) -> Option<Encoding> {
        let mut next = id;
        for _ in 0..NESTING_LIMIT {
            let unit = self.unit(next.unit)?;
            let entry = unit.dw().entry(UnitOffset(next.offset)).ok()?;
            match entry.tag() {
                dw::DW_TAG_base_type => return Some(self.encoding_of(unit, &entry)),
                dw::DW_TAG_typedef | dw::DW_TAG_const_type | dw::DW_TAG_volatile_type => {
                    next = self.type_id(unit, entry.attr_value(dw::DW_AT_type)?)?;
                }
                _ => return None,
            }
        }
        None
    }

    fn aggregate(
        &self,
        unit: &Unit<'a>,
        entry: &Entry<'a>,
        kind: AggregateKind,
    ) -> Result<TypeKind, Error> {
        let mut members = Vec::new();
        let mut statics = Vec::new();
        let mut variants = None;
        let mut type_arguments = Vec::new();
        for child in self.children(unit, entry) {
            match child.tag() {
                dw::DW_TAG_member | dw::DW_TAG_variable if is_static(&child) => {
                    statics.extend(self.static_declaration(unit, &child));
                }
                dw::DW_TAG_member | dw::DW_TAG_inheritance => {
                    members.extend(self.member(unit, &child))
                }
                dw::DW_TAG_variant_part => variants = Some(self.variant_part(unit, &child)),
                dw::DW_TAG_template_type_parameter => {
                    type_arguments.push(self.type_argument(unit, &child))
                }
                dw::DW_TAG_GNU_template_parameter_pack => {
                    let pack = self.children(unit, &child);
                    let types = pack
                        .iter()
                        .filter(|child| child.tag() == dw::DW_TAG_template_type_parameter);
                    type_arguments.extend(types.map(|child| self.type_argument(unit, child)));
                }
                _ => {}
            }
        }
        let declaration = is_declaration(entry);
        Ok(TypeKind::Aggregate(Aggregate {
            kind,
            members,
            statics,
            variants,
            type_arguments,
            declaration,
        }))
    }

    pub(crate) fn own_name(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Option<Arc<str>> {
        let name = self.text(unit, entry.attr_value(dw::DW_AT_name)?)?;
        Some(String::from_utf8_lossy(name).into())
    }

    fn type_argument(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> (Arc<str>, Option<TypeId>) {
        let name = self.own_name(unit, entry).unwrap_or_else(|| "".into());
        (
            name,
            entry
                .attr_value(dw::DW_AT_type)
                .and_then(|value| self.type_id(unit, value)),
        )
    }

    /// A static member. `None`: the compiler adds the member, such as clang's `_vtable$`, or the entry has no name or
    /// type.
    fn static_declaration(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Option<StaticMember> {
        if flag(entry, dw::DW_AT_artificial) {
            return None;
        }
        Some(StaticMember {
            name: self.own_name(unit, entry)?,
            type_id: self.type_id(unit, entry.attr_value(dw::DW_AT_type)?)?,
            entry: TypeId {
                unit: unit.index,
                offset: entry.offset().0,
            },
        })
    }

    /// A data member or base class.
    fn member(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Option<Member> {
        let type_id = self.type_id(unit, entry.attr_value(dw::DW_AT_type)?)?;
        let base = entry.tag() == dw::DW_TAG_inheritance;
        let virtual_base = base
            && matches!(entry.attr_value(dw::DW_AT_virtuality), Some(AttributeValue::Virtuality(virtuality)) if virtuality != dw::DW_VIRTUALITY_none);
        let location = entry.attr_value(dw::DW_AT_data_member_location);
        let expression = match &location {
            Some(AttributeValue::Exprloc(expression)) if virtual_base => {
                Some(expression.0.slice().into())
            }
            _ => None,
        };
        let offset = match location {
            Some(AttributeValue::Exprloc(expression)) => constant_offset(unit, expression),
            Some(value) => unsigned(&value),
            None => None,
        };
        let mut member = Member {
            name: if base {
                None
            } else {
                self.own_name(unit, entry)
            },
            type_id,
            offset: offset.unwrap_or(0),
            bits: None,
            base,
            virtual_base,
            expression,
            artificial: flag(entry, dw::DW_AT_artificial),
        };
        if let Some(size) = entry
            .attr_value(dw::DW_AT_bit_size)
            .and_then(|size| unsigned(&size))
        {
            let first = self.first_bit(entry, &member, size)?;
            member.offset = first / 8;
            member.bits = Some((first % 8, size));
        }
        Some(member)
    }

    /// A bitfield's first bit from the start of the aggregate, counted from the least significant bit. DWARF 4's
    /// `DW_AT_data_bit_offset` has exactly that. `DW_AT_bit_offset` of DWARF 2 and 3, which gcc still writes for version
    /// 4, counts from the most significant bit of a storage unit.
    fn first_bit(&self, entry: &Entry<'a>, member: &Member, size: u64) -> Option<u64> {
        let constant = |name| entry.attr_value(name).and_then(|value| unsigned(&value));
        let start = member.offset.checked_mul(8)?;
        if let Some(offset) = constant(dw::DW_AT_data_bit_offset) {
            return start.checked_add(offset);
        }
        let from_top = entry
            .attr_value(dw::DW_AT_bit_offset)
            .and_then(|value| signed(&value));
        let Some(from_top) = from_top else {
            return Some(start);
        };
        let storage = constant(dw::DW_AT_byte_size).or_else(|| self.type_size(member.type_id))?;
        // The offset is negative for a field that crosses its storage unit's end.
        let first =
            i128::from(start) + i128::from(storage) * 8 - i128::from(from_top) - i128::from(size);
        u64::try_from(first).ok()
    }

    fn variant_part(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> VariantPart {
        let discriminant = entry
            .attr_value(dw::DW_AT_discr)
            .and_then(|value| self.resolve(unit, value));
        let discriminant =
            discriminant.and_then(|(unit, offset)| self.member(unit, &self.entry(unit, offset)?));
        let width = discriminant
            .as_ref()
            .and_then(|member| self.type_size(member.type_id))
            .unwrap_or(16);
        let encoding = discriminant
            .as_ref()
            .and_then(|member| self.base_encoding(member.type_id));
        let is_signed = encoding == Some(Encoding::Signed);
        let mut variants = Vec::new();
        for child in self.children(unit, entry) {
            if child.tag() != dw::DW_TAG_variant {
                continue;
            }
            let payload = self
                .children(unit, &child)
                .into_iter()
                .find(|child| child.tag() == dw::DW_TAG_member);
            let Some(payload) = payload else {
                continue;
            };
            let Some(member) = self.member(unit, &payload) else {
                continue;
            };
            let declaration = payload.attr_value(dw::DW_AT_decl_line).and_then(|_| {
                let chain = self.chain(unit, payload.offset());
                let file = dw::DW_AT_decl_file;
                self.position(&chain, file, dw::DW_AT_decl_line, dw::DW_AT_decl_column)
            });
            let name = member
                .name
                .clone()
                .unwrap_or_else(|| "{unnamed variant}".into());
            variants.push(Variant {
                name,
                discriminants: discriminants(&child, width, is_signed),
                member,
                declaration,
            });
        }
        VariantPart {
            discriminant,
            variants,
        }
    }
}

/// The discriminant values of a variant, truncated to the discriminant's width in bytes. LLVM writes a signed value in
/// the shortest form that can be sign-extended: -5 of an `i32` is one byte, 251.
fn discriminants(variant: &Entry<'_>, width: u64, is_signed: bool) -> Vec<(u128, u128)> {
    let cut = |value: u128| match width {
        0..16 => value & ((1 << (8 * width)) - 1),
        _ => value,
    };
    if let Some(value) = variant.attr_value(dw::DW_AT_discr_value) {
        let value = match value {
            AttributeValue::Sdata(value) => Some(value as i128 as u128),
            AttributeValue::Block(bytes) => Some(wide(bytes.slice())),
            other if is_signed => signed(&other).map(|value| i128::from(value) as u128),
            other => unsigned(&other).map(u128::from),
        };
        return value
            .map(|value| (cut(value), cut(value)))
            .into_iter()
            .collect();
    }
    let Some(AttributeValue::Block(mut list)) = variant.attr_value(dw::DW_AT_discr_list) else {
        return Vec::new();
    };
    let mut ranges = Vec::new();
    let number = |list: &mut Reader<'_>| {
        gimli::Reader::read_uleb128(list)
            .ok()
            .map(|value| cut(u128::from(value)))
    };
    while let Ok(kind) = gimli::Reader::read_u8(&mut list) {
        let range = match gimli::DwDsc(kind) {
            dw::DW_DSC_label => number(&mut list).map(|value| (value, value)),
            dw::DW_DSC_range => number(&mut list).and_then(|low| Some((low, number(&mut list)?))),
            _ => None,
        };
        match range {
            Some(range) => ranges.push(range),
            None => break,
        }
    }
    ranges
}

/// Up to sixteen bytes as a number.
fn wide(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .take(16)
        .rev()
        .fold(0, |number, &byte| number << 8 | u128::from(byte))
}

fn flag(entry: &Entry<'_>, name: gimli::DwAt) -> bool {
    entry.attr_value(name) == Some(AttributeValue::Flag(true))
}

fn is_declaration(entry: &Entry<'_>) -> bool {
    flag(entry, dw::DW_AT_declaration)
}

/// Whether a class's child is a static member: a member declaration in DWARF 4, a variable in DWARF 5 (§5.7.7).
fn is_static(entry: &Entry<'_>) -> bool {
    entry.tag() == dw::DW_TAG_variable || flag(entry, dw::DW_AT_external) || is_declaration(entry)
}

/// A constant in DWARF 2's form: `DW_OP_plus_uconst N`. The expression of a virtual base is longer, and no constant.
fn constant_offset(unit: &Unit<'_>, expression: gimli::Expression<Reader<'_>>) -> Option<u64> {
    let mut operations = expression.operations(unit.dw().header.encoding());
    match (operations.next(), operations.next()) {
        (Ok(Some(gimli::Operation::PlusConstant { value })), Ok(None)) => Some(value),
        _ => None,
    }
}

fn encoding_of(entry: &Entry<'_>) -> Encoding {
    let Some(AttributeValue::Encoding(encoding)) = entry.attr_value(dw::DW_AT_encoding) else {
        return Encoding::Other(0);
    };
    match encoding {
        dw::DW_ATE_signed => Encoding::Signed,
        dw::DW_ATE_unsigned => Encoding::Unsigned,
        dw::DW_ATE_signed_char => Encoding::SignedChar,
        dw::DW_ATE_unsigned_char => Encoding::UnsignedChar,
        dw::DW_ATE_UTF | dw::DW_ATE_UCS | dw::DW_ATE_ASCII => Encoding::Utf,
        dw::DW_ATE_boolean => Encoding::Bool,
        dw::DW_ATE_float => Encoding::Float,
        dw::DW_ATE_complex_float => Encoding::ComplexFloat,
        other => Encoding::Other(other.0),
    }
}

impl<'a> Dwarf<'a> {
    /// The encoding of a base type.
    fn encoding_of(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Encoding {
        let encoding = encoding_of(entry);
        let size = entry.attr_value(dw::DW_AT_byte_size);
        let is_wide = size.and_then(|size| size.udata_value()) == Some(16);
        // x86-64's `long double` has other bits, but `__float128` and `_Float128` are the same everywhere.
        let names_bits = || {
            let name = entry.attr_value(dw::DW_AT_name);
            name.and_then(|name| self.text(unit, name))
                .is_some_and(|name| name.windows(3).any(|part| part == b"128"))
        };
        match encoding == Encoding::Float && is_wide {
            true if self.machine() != Machine::X86_64 || names_bits() => Encoding::Quad,
            _ => encoding,
        }
    }
}
