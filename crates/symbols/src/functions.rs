//! Functions and inlined calls: DWARF 5 §3.3.

use crate::blocks::{BlockKind, Blocks};
use crate::demangle::demangle;
use crate::dwarf::{Dwarf, Unit};
use crate::entries::Chain;
use crate::index::FunctionEntry;
use crate::{FileAddress, Module};
use gimli::{UnitOffset, constants as dw};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The source language of a unit (`DW_AT_language`), as far as presentation and expressions care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Any C.
    C,
    /// Any C++.
    Cpp,
    /// Rust.
    Rust,
    /// Anything else, assembler among it.
    Other,
}

/// Identifies a concrete function in its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FunctionId {
    pub(crate) unit: u32,
    pub(crate) offset: usize,
}

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePosition {
    /// The file, absolute.
    pub file: Arc<Path>,
    /// 1-based; 0: unknown.
    pub line: u32,
    /// 1-based; 0: unknown.
    pub column: u32,
}

/// A function with code of its own.
#[derive(Debug, Clone)]
pub struct Function {
    /// Identifies it in the module.
    pub id: FunctionId,
    /// What people call it, with its namespace: `tour::area`, `ns::Shape::area`.
    pub name: String,
    /// The linker's (mangled) name.
    pub linkage_name: Option<String>,
    /// Its code, entry's range first.
    pub ranges: Vec<Range<FileAddress>>,
    /// Where a call enters.
    pub entry: FileAddress,
    /// Where it is declared.
    pub declaration: Option<SourcePosition>,
    /// Its unit's language.
    pub language: Language,
}

/// A call whose callee's code stands in the caller's.
#[derive(Debug, Clone)]
pub struct InlinedCall {
    /// The callee's name, as in [`Function::name`].
    pub name: String,
    /// The callee's code here.
    pub ranges: Vec<Range<FileAddress>>,
    /// Where the call is written, in the caller.
    pub call_site: Option<SourcePosition>,
}

impl<'a> Dwarf<'a> {
    /// The unit and the entry of the function that has `address`.
    pub(crate) fn function_entry_at(&self, address: u64) -> Option<(&Unit<'a>, &FunctionEntry)> {
        self.units_at(address)
            .find_map(|unit| Some((unit, self.index(unit).function_at(address)?)))
    }

    pub(crate) fn function<'s>(
        &'s self,
        unit: &'s Unit<'a>,
        entry: &'s FunctionEntry,
    ) -> &'s Arc<Function> {
        entry.function.get_or_init(|| {
            let chain = self.chain(unit, UnitOffset(entry.offset));
            Arc::new(Function {
                id: FunctionId {
                    unit: unit.index,
                    offset: entry.offset,
                },
                name: self.function_name(&chain),
                linkage_name: self.linkage_name(&chain),
                ranges: entry.ranges.iter().map(file_range).collect(),
                entry: FileAddress(entry.ranges.first().map_or(0, |range| range.start)),
                declaration: self.declaration(&chain),
                language: unit.language(),
            })
        })
    }

    /// The name with its namespace. Rust's trait implementations are in namespaces called `{impl#3}`, which say
    /// nothing; the linker's name has the type and the trait.
    fn function_name(&self, chain: &Chain<'_, 'a>) -> String {
        let qualified = self.qualified_name(chain);
        let unclear = qualified
            .as_ref()
            .is_none_or(|name| name.contains("{impl#"));
        if unclear && let Some(linkage) = self.linkage_name(chain) {
            return demangle(&linkage);
        }
        qualified.unwrap_or_else(|| "{unnamed function}".to_owned())
    }

    /// The blocks of a function, kept.
    pub(crate) fn blocks(&self, unit: &Unit<'a>, function: usize) -> Arc<Blocks> {
        unit.blocks(function, || Blocks::parse(self, unit, function))
    }

    fn inlined_call(&self, unit: &Unit<'a>, blocks: &Blocks, block: u32) -> InlinedCall {
        let block = &blocks.blocks[block as usize];
        let chain = self.chain(unit, UnitOffset(block.offset));
        InlinedCall {
            name: self.function_name(&chain),
            ranges: block.ranges.iter().map(file_range).collect(),
            call_site: self.position(
                &chain,
                dw::DW_AT_call_file,
                dw::DW_AT_call_line,
                dw::DW_AT_call_column,
            ),
        }
    }

    fn inlined_at(&self, address: u64) -> Vec<InlinedCall> {
        let Some((unit, function)) = self.function_entry_at(address) else {
            return Vec::new();
        };
        let blocks = self.blocks(unit, function.offset);
        blocks
            .inlined(address)
            .into_iter()
            .map(|block| self.inlined_call(unit, &blocks, block))
            .collect()
    }

    fn inlined_in(&self, range: Range<u64>) -> Vec<InlinedCall> {
        let Some((unit, function)) = self.function_entry_at(range.start) else {
            return Vec::new();
        };
        let blocks = self.blocks(unit, function.offset);
        let starts_inside = |block: u32| {
            let block = &blocks.blocks[block as usize];
            block.kind == BlockKind::Inlined
                && block.ranges.iter().any(|code| range.contains(&code.start))
        };
        let numbers = 0..blocks.blocks.len() as u32;
        numbers
            .filter(|&block| starts_inside(block))
            .map(|block| self.inlined_call(unit, &blocks, block))
            .collect()
    }

    fn functions_named(&self, name: &str) -> Vec<Arc<Function>> {
        let wanted = WantedName::new(name);
        let mut found = Vec::new();
        for unit in self.units() {
            for entry in &self.index(unit).functions {
                let chain = self.chain(unit, UnitOffset(entry.offset));
                let base = self
                    .chain_text(&chain, dw::DW_AT_name)
                    .map(String::from_utf8_lossy);
                let linked = || {
                    self.linkage_name(&chain)
                        .is_some_and(|linkage| linkage == name)
                };
                if !base.is_some_and(|base| wanted.may_end_with(&base)) && !linked() {
                    continue;
                }
                let function = self.function(unit, entry);
                if wanted.matches(&function.name) || linked() {
                    found.push(function.clone());
                }
            }
        }
        found.sort_by_key(|function| function.entry);
        found.dedup_by_key(|function| function.entry);
        found
    }
}

fn file_range(range: &Range<u64>) -> Range<FileAddress> {
    FileAddress(range.start)..FileAddress(range.end)
}

/// A name as a user writes it: whole or an end of it, with or without generic arguments.
pub(crate) struct WantedName<'n> {
    name: &'n str,
    generic: bool,
}

impl<'n> WantedName<'n> {
    pub fn new(name: &'n str) -> WantedName<'n> {
        let name = name.trim().trim_start_matches("::");
        WantedName {
            name,
            generic: without_generics(name) != name,
        }
    }

    /// Whether a name that ends in the component `base` is worth building.
    pub fn may_end_with(&self, base: &str) -> bool {
        match self.generic {
            true => self.name.ends_with(base),
            false => {
                let base = without_generics(base);
                self.name == base
                    || self
                        .name
                        .strip_suffix(&base)
                        .is_some_and(|before| before.ends_with("::"))
            }
        }
    }

    /// Whether the full name is meant.
    pub fn matches(&self, full: &str) -> bool {
        let is = |full: &str| {
            full == self.name
                || full
                    .strip_suffix(self.name)
                    .is_some_and(|before| before.ends_with("::"))
        };
        if is(full) {
            return true;
        }
        // `<tour::Shape as core::fmt::Display>::fmt` is also `tour::Shape::fmt`.
        let inherent = full.strip_prefix('<').and_then(|full| {
            let (subject, rest) = full.split_once(" as ")?;
            let (_, method) = rest.rsplit_once(">::")?;
            Some(format!("{subject}::{method}"))
        });
        let inherent = inherent.as_deref().unwrap_or(full);
        match self.generic {
            true => is(inherent),
            false => is(&without_generics(inherent)),
        }
    }
}

/// A name without what is in angle brackets: `Vec<i32>::push` → `Vec::push`. Operators keep theirs.
fn without_generics(name: &str) -> String {
    let (before, operator) = match name.find("operator") {
        Some(at) if name[at + "operator".len()..].starts_with(['<', '>', '-']) => name.split_at(at),
        _ => (name, ""),
    };
    let mut plain = String::with_capacity(name.len());
    let mut depth = 0usize;
    let mut previous = ' ';
    for character in before.chars() {
        match character {
            '<' => depth += 1,
            // The arrow of a function type closes nothing.
            '>' if previous != '-' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
        previous = character;
    }
    plain.push_str(operator);
    // Rust's turbofish leaves its colons: `Vec::<i32>::push`.
    plain.replace("::::", "::")
}

impl Module {
    /// The function whose code covers `address`, from DWARF. Symbol-table functions: [`Module::symbol_at`].
    pub fn function_at(&self, address: FileAddress) -> Option<Arc<Function>> {
        self.dwarf(|dwarf| {
            let (unit, entry) = dwarf.function_entry_at(address.0)?;
            Some(dwarf.function(unit, entry).clone())
        })
    }

    /// The inlined calls that cover `address`, outermost first.
    pub fn inlined_at(&self, address: FileAddress) -> Vec<InlinedCall> {
        self.dwarf(|dwarf| dwarf.inlined_at(address.0))
    }

    /// The inlined calls whose code starts inside `range` of the function, at any depth.
    pub fn inlined_in(&self, range: Range<FileAddress>) -> Vec<InlinedCall> {
        self.dwarf(|dwarf| dwarf.inlined_in(range.start.0..range.end.0))
    }

    /// Functions whose name is `name` or ends with `::name`, generic arguments ignored where `name` has none,
    /// by entry. A linker's name is found, too. Searches all units.
    pub fn functions_named(&self, name: &str) -> Vec<Arc<Function>> {
        self.dwarf(|dwarf| dwarf.functions_named(name))
    }

    /// The language of the unit that covers `address`.
    pub fn language_at(&self, address: FileAddress) -> Language {
        self.dwarf(|dwarf| {
            dwarf
                .units_at(address.0)
                .next()
                .map_or(Language::Other, |unit| unit.language())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_by_their_ends() {
        let cases = [
            ("area", "tour::area", true),
            ("tour::area", "tour::area", true),
            ("ea", "tour::area", false),
            ("our::area", "tour::area", false),
            ("max", "ns::max<int>", true),
            ("max<int>", "ns::max<int>", true),
            ("max<long>", "ns::max<int>", false),
            ("Vec::push", "alloc::vec::Vec<T, A>::push", true),
            (
                "Shape::fmt",
                "<tour::Shape as core::fmt::Display>::fmt",
                true,
            ),
            (
                "Display::fmt",
                "<tour::Shape as core::fmt::Display>::fmt",
                false,
            ),
            ("operator<", "ns::operator<", true),
            ("Stack::operator<<", "Stack<int>::operator<<", true),
        ];
        for (wanted, full, expected) in cases {
            assert_eq!(
                WantedName::new(wanted).matches(full),
                expected,
                "{wanted} in {full}"
            );
        }
    }
}
