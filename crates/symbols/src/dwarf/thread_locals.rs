//! Thread-local variables whose entries have no location. Compilers have no relocation to write one with on aarch64, nor gcc on riscv64, so an entry says
//! no more there than that there is such a variable. Where it is in the thread-local storage is in the symbol table.
//!
//! LLVM does write one on riscv64. GNU ld (2.40) puts an address in place of the offset there, so the symbol is believed there, too.

use crate::demangle::demangle_path;
use crate::dwarf::entries::Chain;
use crate::dwarf::functions::Language;
use crate::dwarf::thread_statics::{STORAGE, is_thread_local};
use crate::dwarf::{Dwarf, Reader, Unit};
use crate::names::{base_of, group_end};
use crate::symbols::SymbolTable;
use dapple_arch::Machine;
use gimli::{AttributeValue, UnitOffset, constants as dw};
use rustc_hash::{FxHashMap, FxHashSet};

/// The symbols of thread-local variables.
#[derive(Debug, Default)]
pub(crate) struct ThreadLocals {
    /// By their names, their paths in the source, and those of C's local variables (`calls.0`) as `calls.`.
    places: FxHashMap<Vec<u8>, Vec<Place>>,
    /// The last parts of these names.
    bases: FxHashSet<Vec<u8>>,
}

/// Where a variable is.
#[derive(Debug)]
struct Place {
    /// The name of the source file that was compiled, for variables that only it can name.
    file: Vec<u8>,
    /// In the module's thread-local storage.
    offset: u64,
}

fn read(symbols: &SymbolTable<'_>) -> ThreadLocals {
    let mut found = ThreadLocals::default();
    symbols.each_thread_local(|file, name, offset| {
        let text = String::from_utf8_lossy(name);
        let path = plain_path(&demangle_path(&text)).into_bytes();
        let numbered = text.rsplit_once('.');
        let numbered =
            numbered.filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
        let plain = numbered.map(|(plain, _)| format!("{plain}.").into_bytes());
        let mut names = vec![name.to_vec(), path];
        names.extend(plain);
        names.dedup();
        for name in names {
            let place = Place {
                file: file.to_vec(),
                offset,
            };
            let base = std::str::from_utf8(&name).map(base_of).unwrap_or_default();
            found.bases.insert(base.trim_end_matches('.').into());
            let places = found.places.entry(name).or_default();
            // The dynamic symbol table has some of them again.
            if places.iter().all(|known| known.offset != offset) {
                places.push(place);
            }
        }
    });
    found
}

/// A demangled path as the names of entries make it: without parameters of functions in it and what is behind them, and without tags of the ABI.
fn plain_path(path: &str) -> String {
    let mut plain = String::new();
    let mut rest = path;
    while let Some(at) = rest.find(['(', '[']) {
        let (before, group) = rest.split_at(at);
        let end = group_end(group.as_bytes(), 0);
        let is_part = before.is_empty() || before.ends_with("::");
        plain.push_str(before);
        if is_part && !group.starts_with("[abi:") {
            plain.push_str(&group[..end]);
        }
        rest = &group[end..];
        if !is_part {
            // ` const` and the like.
            let next = rest.find("::").unwrap_or(rest.len());
            rest = &rest[next..];
        }
    }
    plain.push_str(rest);
    plain
}

/// Whether a location is one in thread-local storage.
fn ends_thread_local(location: &AttributeValue<Reader<'_>>) -> bool {
    let AttributeValue::Exprloc(expression) = location else {
        return false;
    };
    let last = expression.0.slice().last();
    last.is_some_and(|&last| is_thread_local(dw::DwOp(last)))
}

impl<'a> Dwarf<'a> {
    /// `None`: entries of thread-local variables have locations, or there are no such variables.
    fn thread_locals_by_name(&self) -> Option<&ThreadLocals> {
        let lacks_locations = matches!(self.machine(), Machine::Aarch64 | Machine::Riscv64);
        (lacks_locations && self.files.main.elf.thread_locals.is_some()).then(|| {
            self.thread_locals_by_name
                .get_or_init(|| read(&SymbolTable::new(self.files)))
        })
    }

    /// Whether the variable with an entry at an offset, which has neither a location nor a value, may be one of these. This doesn't need to know what is
    /// around the entry.
    pub(crate) fn may_be_thread_local(&self, unit: &Unit<'a>, offset: usize) -> bool {
        self.thread_locals_by_name().is_some_and(|known| {
            let chain = self.chain(unit, UnitOffset(offset));
            let name = self.chain_text(&chain, dw::DW_AT_name);
            name.is_some_and(|name| known.bases.contains(name))
        })
    }

    /// The offset in the module's thread-local storage of a variable whose entry has neither a location nor a value, or a wrong one. `None`: it is none
    /// that the symbol table knows, or one of several of that name.
    pub(crate) fn thread_local_by_symbol(
        &self,
        unit: &Unit<'a>,
        chain: &Chain<'_, 'a>,
    ) -> Option<u64> {
        let known = self.thread_locals_by_name()?;
        let (_, entry) = chain.links.first()?;
        let is_variable =
            entry.tag() == dw::DW_TAG_variable && entry.attr_value(dw::DW_AT_declaration).is_none();
        let is_asked = match chain.attribute(dw::DW_AT_location) {
            Some((_, location)) => {
                self.machine() == Machine::Riscv64 && ends_thread_local(&location)
            }
            None => chain.attribute(dw::DW_AT_const_value).is_none(),
        };
        if !is_variable || !is_asked {
            return None;
        }
        if let Some(linkage) = self.chain_text(chain, dw::DW_AT_linkage_name) {
            return match known.places.get(linkage)?.as_slice() {
                [only] => Some(only.offset),
                _ => None,
            };
        }
        let name = self.name_in_symbols(unit, chain)?;
        let places = known.places.get(&name)?;
        let file = self.unit_file(unit);
        // A static variable of a function that is in several files isn't local to one.
        let is_external =
            chain.flag(dw::DW_AT_external) || memchr::memmem::find(&name, b"::").is_some();
        // Another variable of the name may have been optimised out.
        let mut own = places.iter().filter(|place| match place.file.as_slice() {
            b"" => is_external,
            it => Some(it) == file,
        });
        let place = own.next()?;
        own.next().is_none().then_some(place.offset)
    }

    /// What a variable without a linkage name is called in [`ThreadLocals`].
    fn name_in_symbols(&self, unit: &Unit<'a>, chain: &Chain<'_, 'a>) -> Option<Vec<u8>> {
        if unit.language() != Language::C {
            return Some(self.qualified_name(chain)?.into_bytes());
        }
        let mut name = self.chain_text(chain, dw::DW_AT_name)?.to_vec();
        let (unit, entry) = chain.links.last()?;
        let scopes = self.scopes_around(unit, entry.offset().0);
        let is_function = |scope: &usize| {
            let entry = self.entry(unit, UnitOffset(*scope));
            entry.is_some_and(|entry| entry.tag() == dw::DW_TAG_subprogram)
        };
        if scopes.iter().any(is_function) {
            name.push(b'.');
            // Else it may be another function's, and this one was optimised out.
            if unit.optimised() != Some(false) {
                return None;
            }
        }
        Some(name)
    }

    /// Whether a variable without a location is one of the two of Rust's `thread_local!` that the linker has discarded
    /// ([`thread_statics`](super::thread_statics)).
    pub(crate) fn is_storage_without_symbol(&self, chain: &Chain<'_, 'a>) -> bool {
        let is_storage = || self.chain_text(chain, dw::DW_AT_name) == Some(STORAGE);
        let known = self.thread_locals_by_name();
        known.is_some_and(|known| !known.places.is_empty()) && is_storage() && {
            chain.links.first()
        }
        .is_some_and(|(unit, _)| self.thread_local_by_symbol(unit, chain).is_none())
    }

    /// The name of the source file that a unit is of, without its folders.
    fn unit_file(&self, unit: &Unit<'a>) -> Option<&'a [u8]> {
        let root = self.entry(unit, unit.dw().header.root_offset())?;
        let name = self.text(unit, root.attr_value(dw::DW_AT_name)?)?;
        Some(name.rsplit(|byte| *byte == b'/').next().unwrap_or(name))
    }
}

#[cfg(test)]
mod tests {
    use super::plain_path;
    use crate::demangle::demangle_path;

    #[test]
    fn paths_are_as_entries_have_them() {
        let path = |name: &str| plain_path(&demangle_path(name));
        assert_eq!(path("_ZL3own"), "own");
        assert_eq!(path("_ZN4shop5priceE"), "shop::price");
        assert_eq!(path("_Z4nameB5cxx11"), "name");
        assert_eq!(path("_ZZ4workiE6inside"), "work::inside");
        assert_eq!(path("_ZZNK1S4workEiE6inside"), "S::work::inside");
        let anonymous = "_ZZN12_GLOBAL__N_110get_globalEvE6global";
        assert_eq!(path(anonymous), "(anonymous namespace)::get_global::global");
    }
}
