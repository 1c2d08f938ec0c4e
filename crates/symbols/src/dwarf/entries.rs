//! Reads single entries: attributes, chains of abstract origins and specifications, code ranges, qualified names.

use crate::dwarf::functions::{Language, SourcePosition};
use crate::dwarf::{CHAIN_LIMIT, Dwarf, Part, Reader, Unit, place};
use gimli::{Attribute, AttributeValue, UnitOffset, constants as dw};
use std::ops::Range;
use std::sync::atomic::Ordering;

pub(crate) type Entry<'a> = gimli::DebuggingInformationEntry<Reader<'a>>;

/// The maximum length of a range list; more than any function has.
const RANGES_LIMIT: usize = 100_000;

/// An entry, followed by the entry it refers to by `DW_AT_abstract_origin` or `DW_AT_specification`, and so on. The first
/// has the address; the last usually has the name, and the last one's parents are the namespaces.
pub(crate) struct Chain<'s, 'a> {
    pub links: Vec<(&'s Unit<'a>, Entry<'a>)>,
}

impl<'s, 'a> Chain<'s, 'a> {
    /// The first value of an attribute along the chain. Offsets and numbers in the value are relative to the returned
    /// unit.
    pub fn attribute(
        &self,
        name: gimli::DwAt,
    ) -> Option<(&'s Unit<'a>, AttributeValue<Reader<'a>>)> {
        self.links
            .iter()
            .find_map(|(unit, entry)| Some((*unit, entry.attr_value(name)?)))
    }

    pub fn flag(&self, name: gimli::DwAt) -> bool {
        matches!(self.attribute(name), Some((_, AttributeValue::Flag(true))))
    }
}

impl<'a> Dwarf<'a> {
    /// The entry at an offset of a unit; a broken one adds a warning.
    pub fn entry(&self, unit: &Unit<'a>, offset: UnitOffset<usize>) -> Option<Entry<'a>> {
        match unit.dw().entry(offset) {
            Ok(entry) => Some(entry),
            Err(error) => {
                self.warn_unit(unit, offset, format!("this entry is left out: {error}"));
                None
            }
        }
    }

    /// The entry with the chain of entries it refers to.
    pub fn chain<'s>(&'s self, unit: &'s Unit<'a>, offset: UnitOffset<usize>) -> Chain<'s, 'a> {
        let mut links = Vec::with_capacity(3);
        let mut next = Some((unit, offset));
        while let Some((unit, offset)) = next.take() {
            let Some(entry) = self.entry(unit, offset) else {
                break;
            };
            let origin = entry
                .attr_value(dw::DW_AT_abstract_origin)
                .or_else(|| entry.attr_value(dw::DW_AT_specification));
            links.push((unit, entry));
            if links.len() < CHAIN_LIMIT {
                next = origin.and_then(|origin| self.resolve(unit, origin));
            }
        }
        Chain { links }
    }

    /// The text of an attribute along the chain.
    pub fn chain_text(&self, chain: &Chain<'_, 'a>, name: gimli::DwAt) -> Option<&'a [u8]> {
        let (unit, value) = chain.attribute(name)?;
        self.text(unit, value)
    }

    pub fn linkage_name(&self, chain: &Chain<'_, 'a>) -> Option<String> {
        let name = self
            .chain_text(chain, dw::DW_AT_linkage_name)
            .or_else(|| self.chain_text(chain, dw::DW_AT_MIPS_linkage_name))?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// The position of the declaration.
    pub fn declaration(&self, chain: &Chain<'_, 'a>) -> Option<SourcePosition> {
        self.position(
            chain,
            dw::DW_AT_decl_file,
            dw::DW_AT_decl_line,
            dw::DW_AT_decl_column,
        )
    }

    /// A source position from three attributes.
    pub fn position(
        &self,
        chain: &Chain<'_, 'a>,
        file: gimli::DwAt,
        line: gimli::DwAt,
        column: gimli::DwAt,
    ) -> Option<SourcePosition> {
        let number = |name| {
            let (_, value) = chain.attribute(name)?;
            unsigned(&value).and_then(|number| u32::try_from(number).ok())
        };
        let (unit, file) = chain.attribute(file)?;
        let file = match file {
            AttributeValue::FileIndex(number) => number,
            other => unsigned(&other)?,
        };
        Some(SourcePosition {
            file: self.file_numbered(unit, file)?,
            line: number(line).unwrap_or(0),
            column: number(column).unwrap_or(0),
        })
    }

    /// Like [`Dwarf::code_ranges`], for ranges that are cached. In a broken file, every entry may refer to one long list.
    /// So the number of cached ranges is limited in proportion to the size of the lists. Beyond that, entries with a list
    /// get no ranges, with a warning; entries with a single range still get it.
    pub fn kept_code_ranges(
        &self,
        part: &Part<'a>,
        attributes: &[Attribute<Reader<'a>>],
    ) -> Vec<Range<u64>> {
        /// How many entries may refer to the same list, as compilers do for nested blocks with the same code.
        const SHARED: usize = 4;
        let source = &part.source;
        let limit = SHARED * source.range_bytes() + RANGES_LIMIT;
        if source.ranges_kept.load(Ordering::Relaxed) > limit {
            let has = |attribute: &Attribute<_>| attribute.name() == dw::DW_AT_ranges;
            if attributes.iter().any(has) {
                let (section, _) = place(&part.dw.header);
                let reason = "entries claim more code than there are lists for; that of further entries is left out";
                self.warn(section, 0, reason);
                return Vec::new();
            }
        }
        let ranges = self.code_ranges(part, attributes);
        source
            .ranges_kept
            .fetch_add(ranges.len(), Ordering::Relaxed);
        ranges
    }

    /// The code ranges of an entry, in file order: compilers write the range with the entry point first. Leaves out code
    /// that the linker discarded.
    pub fn code_ranges(
        &self,
        part: &Part<'a>,
        attributes: &[Attribute<Reader<'a>>],
    ) -> Vec<Range<u64>> {
        let sections = &part.source.sections;
        let address = |value| sections.attr_address(&part.dw, value).ok().flatten();
        let (mut low, mut high, mut size) = (None, None, None);
        for attribute in attributes {
            let value = attribute.value();
            match attribute.name() {
                dw::DW_AT_low_pc => low = address(value),
                dw::DW_AT_high_pc => match value {
                    AttributeValue::Udata(length) => size = Some(length),
                    value => high = address(value),
                },
                dw::DW_AT_ranges => return self.range_list(part, value),
                _ => {}
            }
        }
        let Some(low) = low else { return Vec::new() };
        let high = size
            .map_or(high, |size| low.checked_add(size))
            .unwrap_or(low);
        let real = low < high && self.files.main.elf.is_code(low);
        real.then_some(low..high).into_iter().collect()
    }

    /// The address at which an inlined call is entered: `DW_AT_entry_pc`, which is an address or an offset from the start
    /// (DWARF 5 §2.18), or else the lowest address. `None` if the call has no code.
    pub fn inlined_entry(
        &self,
        unit: &Unit<'a>,
        attributes: &[Attribute<Reader<'a>>],
        ranges: &[Range<u64>],
    ) -> Option<u64> {
        let lowest = ranges.iter().map(|range| range.start).min()?;
        let entry = attributes
            .iter()
            .find(|attribute| attribute.name() == dw::DW_AT_entry_pc);
        let entry = entry.and_then(|entry| match entry.value().udata_value() {
            Some(offset) => lowest.checked_add(offset),
            None => unit
                .sections()
                .attr_address(unit.dw(), entry.value())
                .ok()
                .flatten(),
        });
        let entry = entry.filter(|entry| ranges.iter().any(|range| range.contains(entry)));
        Some(entry.unwrap_or(lowest))
    }

    fn range_list(&self, part: &Part<'a>, value: AttributeValue<Reader<'a>>) -> Vec<Range<u64>> {
        let mut ranges = Vec::new();
        let mut read = || -> Result<(), gimli::Error> {
            let Some(mut list) = part.source.sections.attr_ranges(&part.dw, value)? else {
                return Ok(());
            };
            while let Some(range) = list.next()? {
                if ranges.len() >= RANGES_LIMIT {
                    break;
                }
                if range.begin < range.end && self.files.main.elf.is_code(range.begin) {
                    ranges.push(range.begin..range.end);
                }
            }
            Ok(())
        };
        if let Err(error) = read() {
            let reason = format!("the rest of an entry's list of ranges is left out: {error}");
            let (section, offset) = place(&part.dw.header);
            self.warn(section, offset, reason);
        }
        ranges
    }

    /// The qualified name of a chain's entry.
    pub fn qualified_name(&self, chain: &Chain<'_, 'a>) -> Option<String> {
        let base = self.chain_text(chain, dw::DW_AT_name)?;
        let base = String::from_utf8_lossy(base);
        let (unit, entry) = chain.links.last()?;
        let prefix = self.namespace_of(unit, entry.offset());
        Some(match prefix.is_empty() {
            true => base.into_owned(),
            false => format!("{prefix}::{base}"),
        })
    }

    /// Like [`Dwarf::qualified_name`], but without the inline namespaces. `None`: the name has no inline namespace.
    pub fn name_without_inline_namespaces(&self, chain: &Chain<'_, 'a>) -> Option<String> {
        let base = self.chain_text(chain, dw::DW_AT_name)?;
        let (unit, entry) = chain.links.last()?;
        let scopes = self.scopes_around(unit, entry.offset().0);
        let is_inline = |scope: &usize| {
            let entry = self.entry(unit, UnitOffset(*scope));
            entry.is_some_and(|entry| entry.attr_value(dw::DW_AT_export_symbols).is_some())
        };
        let inline = scopes.iter().filter(|scope| is_inline(scope)).count();
        if inline == 0 {
            return None;
        }
        let names = scopes.iter().rev().filter(|scope| !is_inline(scope));
        let names = names.filter_map(|scope| {
            let chain = self.chain(unit, UnitOffset(*scope));
            let name = self.chain_text(&chain, dw::DW_AT_name)?;
            Some(String::from_utf8_lossy(name).into_owned())
        });
        let base = String::from_utf8_lossy(base).into_owned();
        Some(names.chain([base]).collect::<Vec<String>>().join("::"))
    }

    /// The names of the namespaces, types and functions around an entry, joined by `::`. Empty in languages other than C++
    /// and Rust.
    pub fn namespace_of(&self, unit: &Unit<'a>, offset: UnitOffset<usize>) -> String {
        if matches!(unit.language(), Language::C | Language::Other) {
            return String::new();
        }
        let mut names: Vec<String> = Vec::new();
        for scope in self.scopes_around(unit, offset.0) {
            let chain = self.chain(unit, UnitOffset(scope));
            let name = self.chain_text(&chain, dw::DW_AT_name).or_else(|| {
                let (unit, entry) = chain.links.first()?;
                self.name_by_signature(unit, entry)
            });
            let name = name.map(String::from_utf8_lossy);
            let tag = chain.links.first().map(|(_, entry)| entry.tag());
            let is_specified = chain.links.len() > 1;
            let name = match (name, tag) {
                (Some(name), _) => name.into_owned(),
                (None, Some(dw::DW_TAG_namespace)) => "(anonymous namespace)".to_owned(),
                (None, Some(tag)) => anonymous(tag).to_owned(),
                (None, None) => continue,
            };
            names.push(name);
            // For a function defined outside of its class, the declaration is in the class.
            if is_specified
                && let Some((unit, entry)) = chain.links.last()
                && names.len() < CHAIN_LIMIT
            {
                let outer = self.namespace_of_scope(unit, entry.offset(), names.len());
                names.extend(outer);
                break;
            }
        }
        names.reverse();
        names.join("::")
    }

    /// The names of the scopes around the declaration of an enclosing function, innermost first. Unlike
    /// [`Dwarf::namespace_of`], reads only the scopes' own entries, not the entries that they refer to.
    fn namespace_of_scope(
        &self,
        unit: &Unit<'a>,
        offset: UnitOffset<usize>,
        used: usize,
    ) -> Vec<String> {
        let scopes = self.scopes_around(unit, offset.0);
        let names = scopes
            .into_iter()
            .take(CHAIN_LIMIT.saturating_sub(used))
            .filter_map(|scope| {
                let entry = self.entry(unit, UnitOffset(scope))?;
                let name = match entry.attr_value(dw::DW_AT_name) {
                    Some(name) => self.text(unit, name),
                    None => self.name_by_signature(unit, &entry),
                }?;
                Some(String::from_utf8_lossy(name).into_owned())
            });
        names.collect()
    }

    /// The name of a type that is in a type unit. Where such a type is a scope of other entries, clang doesn't repeat its
    /// name.
    fn name_by_signature(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Option<&'a [u8]> {
        let AttributeValue::DebugTypesRef(signature) = entry.attr_value(dw::DW_AT_signature)?
        else {
            return None;
        };
        let (unit, offset) = self.type_with_signature(unit, signature.0)?;
        let entry = self.entry(unit, offset)?;
        self.text(unit, entry.attr_value(dw::DW_AT_name)?)
    }
}

/// The displayed name of an entry without a name.
pub(crate) fn anonymous(tag: gimli::DwTag) -> &'static str {
    match tag {
        dw::DW_TAG_structure_type => "{anonymous struct}",
        dw::DW_TAG_class_type => "{anonymous class}",
        dw::DW_TAG_union_type => "{anonymous union}",
        dw::DW_TAG_enumeration_type => "{anonymous enum}",
        dw::DW_TAG_subprogram => "{anonymous function}",
        _ => "{anonymous}",
    }
}

/// A constant as an unsigned number.
pub(crate) fn unsigned(value: &AttributeValue<Reader<'_>>) -> Option<u64> {
    value.udata_value()
}

/// A constant as a signed number; fixed-size forms are taken as signed.
pub(crate) fn signed(value: &AttributeValue<Reader<'_>>) -> Option<i64> {
    value.sdata_value()
}
