//! Names of types: their own qualified names, and names composed for types without one.
//!
//! C's declarators are nested inside out. To build the name of `int (*)[3]`, the text around the missing identifier
//! (`(*)[3]`) is passed inwards to the type that has a name.

use crate::dwarf::entries::{Entry, anonymous};
use crate::dwarf::functions::Language;
use crate::dwarf::types::TypeId;
use crate::dwarf::{Dwarf, Unit};
use gimli::{UnitOffset, constants as dw};

/// The maximum of types visited for one name, because function types can refer to each other endlessly.
const BUDGET: u32 = 200;
/// In bytes; longer names are useless.
const LONGEST: usize = 64 * 1024;

impl<'a> Dwarf<'a> {
    /// A type's complete name, never empty.
    pub(crate) fn type_name(&self, id: TypeId) -> String {
        let name = Naming {
            dwarf: self,
            left: BUDGET,
        }
        .declarator(Some(id), String::new(), None);
        if name.is_empty() {
            "{unnamed type}".to_owned()
        } else {
            name
        }
    }
}

struct Naming<'s, 'a> {
    dwarf: &'s Dwarf<'a>,
    left: u32,
}

impl<'a> Naming<'_, 'a> {
    /// The type's name around `inner`. `user` is the language of the unit that uses the type, because `void` and `()`
    /// have no entry.
    fn declarator(&mut self, id: Option<TypeId>, inner: String, user: Option<Language>) -> String {
        let dwarf = self.dwarf;
        let Some(id) = id else {
            return with(
                if user == Some(Language::Rust) {
                    "()"
                } else {
                    "void"
                },
                &inner,
            );
        };
        let entry = dwarf
            .unit(id.unit)
            .and_then(|unit| Some((unit, dwarf.entry(unit, UnitOffset(id.offset))?)));
        let Some((unit, entry)) = entry else {
            return with("{broken type}", &inner);
        };
        if self.left == 0 || inner.len() > LONGEST {
            return with("{…}", &inner);
        }
        self.left -= 1;
        if let Some(name) = self.own_name(unit, &entry) {
            return with(&name, &inner);
        }
        let target = entry
            .attr_value(dw::DW_AT_type)
            .and_then(|value| dwarf.type_id(unit, value));
        let language = Some(unit.language());
        match entry.tag() {
            dw::DW_TAG_pointer_type if unit.language() == Language::Rust => {
                format!("*{}", self.declarator(target, String::new(), language))
            }
            dw::DW_TAG_pointer_type => self.pointer(target, "*", inner, language),
            dw::DW_TAG_reference_type => self.pointer(target, "&", inner, language),
            dw::DW_TAG_rvalue_reference_type => self.pointer(target, "&&", inner, language),
            dw::DW_TAG_ptr_to_member_type => {
                let class = entry
                    .attr_value(dw::DW_AT_containing_type)
                    .and_then(|value| dwarf.type_id(unit, value));
                let class = self.declarator(class, String::new(), language);
                self.pointer(target, &format!("{class}::*"), inner, language)
            }
            dw::DW_TAG_array_type => {
                let dimensions = dwarf.dimensions(unit, &entry);
                let length = |length: &Option<u64>| {
                    length.map_or(String::new(), |length| length.to_string())
                };
                if unit.language() == Language::Rust {
                    let element = self.declarator(target, String::new(), language);
                    return dimensions.iter().rev().fold(element, |element, dimension| {
                        match dimension {
                            Some(dimension) => format!("[{element}; {dimension}]"),
                            None => format!("[{element}]"),
                        }
                    });
                }
                let lengths: String = dimensions
                    .iter()
                    .map(|dimension| format!("[{}]", length(dimension)))
                    .collect();
                self.declarator(target, format!("{inner}{lengths}"), language)
            }
            dw::DW_TAG_subroutine_type => self.function(unit, &entry, target, inner),
            dw::DW_TAG_const_type => self.qualified(target, "const", inner, language),
            dw::DW_TAG_volatile_type => self.qualified(target, "volatile", inner, language),
            dw::DW_TAG_restrict_type => self.qualified(target, "restrict", inner, language),
            dw::DW_TAG_atomic_type => self.qualified(target, "_Atomic", inner, language),
            tag => with(anonymous(tag), &inner),
        }
    }

    /// Whether this is the class of a C++ lambda: a class without a name that can be called. Clang leaves out the call
    /// operator if nothing calls it or all calls are inlined. Then a class whose members are all private is taken for a
    /// lambda, because a user's own anonymous class has something that isn't private.
    fn is_closure(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> bool {
        let is_class = matches!(
            entry.tag(),
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type
        );
        let is_unnamed = is_class
            && unit.language() == Language::Cpp
            && entry.attr_value(dw::DW_AT_name).is_none();
        if !is_unnamed {
            return false;
        }
        let children = self.dwarf.children(unit, entry);
        let is_operator = |child: &Entry<'a>| {
            child.tag() == dw::DW_TAG_subprogram
                && self.dwarf.own_name(unit, child).as_deref() == Some("operator()")
        };
        // Constructors and destructors of a lambda are artificial.
        let is_private_data = |child: &Entry<'a>| match child.tag() {
            dw::DW_TAG_subprogram => {
                child.attr_value(dw::DW_AT_artificial) == Some(gimli::AttributeValue::Flag(true))
            }
            tag => tag == dw::DW_TAG_member && child.attr_value(dw::DW_AT_accessibility).is_none(),
        };
        children.iter().any(is_operator)
            || (entry.tag() == dw::DW_TAG_class_type && children.iter().all(is_private_data))
    }

    /// An entry's own qualified name; in C with `struct`, `union` or `enum`.
    fn own_name(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Option<String> {
        let chain = self.dwarf.chain(unit, entry.offset());
        let tag = entry.tag();
        let scoped = matches!(
            tag,
            dw::DW_TAG_structure_type
                | dw::DW_TAG_class_type
                | dw::DW_TAG_union_type
                | dw::DW_TAG_enumeration_type
                | dw::DW_TAG_typedef
                | dw::DW_TAG_template_alias
        );
        if !scoped {
            let name = self.dwarf.text(unit, entry.attr_value(dw::DW_AT_name)?)?;
            return Some(String::from_utf8_lossy(name).into_owned())
                .filter(|name| !name.is_empty());
        }
        if self.is_closure(unit, entry) {
            return Some("{lambda}".to_owned());
        }
        let name = self
            .dwarf
            .qualified_name(&chain)
            .filter(|name| !name.is_empty())?;
        let keyword = match (unit.language(), tag) {
            (Language::C, dw::DW_TAG_structure_type) => "struct ",
            (Language::C, dw::DW_TAG_union_type) => "union ",
            (Language::C, dw::DW_TAG_enumeration_type) => "enum ",
            _ => "",
        };
        Some(format!("{keyword}{name}"))
    }

    fn pointer(
        &mut self,
        target: Option<TypeId>,
        sign: &str,
        inner: String,
        user: Option<Language>,
    ) -> String {
        let inner = match self.tag_of(target) {
            Some(dw::DW_TAG_array_type | dw::DW_TAG_subroutine_type) => format!("({sign}{inner})"),
            _ => format!("{sign}{inner}"),
        };
        self.declarator(target, inner, user)
    }

    /// A pointer's qualifier is behind its star; other types' qualifiers are before the name.
    fn qualified(
        &mut self,
        target: Option<TypeId>,
        word: &str,
        inner: String,
        user: Option<Language>,
    ) -> String {
        match self.tag_of(target) {
            Some(dw::DW_TAG_pointer_type | dw::DW_TAG_ptr_to_member_type) => {
                self.declarator(target, with(word, &inner), user)
            }
            _ => format!("{word} {}", self.declarator(target, inner, user)),
        }
    }

    fn function(
        &mut self,
        unit: &Unit<'a>,
        entry: &Entry<'a>,
        result: Option<TypeId>,
        inner: String,
    ) -> String {
        let language = Some(unit.language());
        let mut parameters = Vec::new();
        let mut qualifiers = String::new();
        for (position, (parameter, artificial)) in
            self.dwarf.parameters(unit, entry).into_iter().enumerate()
        {
            // Omit a method's `this`.
            if !artificial {
                parameters.push(self.declarator(Some(parameter), String::new(), language));
            } else if position == 0 {
                qualifiers = self.method_qualifiers(parameter, entry);
            }
        }
        let parameters = parameters.join(", ");
        if unit.language() == Language::Rust {
            return match result {
                Some(_) => format!(
                    "fn({parameters}) -> {}",
                    self.declarator(result, String::new(), language)
                ),
                None => format!("fn({parameters})"),
            };
        }
        let inner = format!("{inner}({parameters}){qualifiers}");
        self.declarator(result, inner, language)
    }

    /// The qualifiers behind the parameters of a method's type, from the type of its `this`: ` const`, ` &`.
    fn method_qualifiers(&self, object: TypeId, entry: &Entry<'a>) -> String {
        let (mut is_const, mut is_volatile) = (false, false);
        // Follow the pointer, then the qualifiers of what it points to.
        let mut next = Some(object);
        let mut is_object = false;
        for _ in 0..4 {
            let Some((tag, inner)) = next.and_then(|id| self.below(id)) else {
                break;
            };
            match tag {
                dw::DW_TAG_pointer_type if is_object => break,
                dw::DW_TAG_pointer_type => is_object = true,
                dw::DW_TAG_const_type if is_object => is_const = true,
                dw::DW_TAG_volatile_type if is_object => is_volatile = true,
                _ => {}
            }
            next = inner;
        }
        let mut text = String::new();
        if is_const {
            text.push_str(" const");
        }
        if is_volatile {
            text.push_str(" volatile");
        }
        let has = |name| entry.attr_value(name) == Some(gimli::AttributeValue::Flag(true));
        if has(dw::DW_AT_reference) {
            text.push_str(" &");
        } else if has(dw::DW_AT_rvalue_reference) {
            text.push_str(" &&");
        }
        text
    }

    /// A type's tag, and the type that it is based on.
    fn below(&self, id: TypeId) -> Option<(gimli::DwTag, Option<TypeId>)> {
        let unit = self.dwarf.unit(id.unit)?;
        let entry = unit.dw().entry(UnitOffset(id.offset)).ok()?;
        let inner = entry.attr_value(dw::DW_AT_type);
        let inner = inner.and_then(|value| self.dwarf.type_id(unit, value));
        Some((entry.tag(), inner))
    }

    fn tag_of(&self, id: Option<TypeId>) -> Option<gimli::DwTag> {
        let id = id?;
        let unit = self.dwarf.unit(id.unit)?;
        Some(unit.dw().entry(UnitOffset(id.offset)).ok()?.tag())
    }
}

/// A name, followed by the text around the identifier that it would declare.
fn with(name: &str, inner: &str) -> String {
    if inner.is_empty() {
        name.to_owned()
    } else {
        format!("{name} {inner}")
    }
}
