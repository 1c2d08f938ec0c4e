//! The ELF symbol tables, and the stubs that have their names from relocations, sorted when first asked for.

use crate::FileAddress;
use crate::elf::Section;
use crate::files::{ElfFile, Files};
use crate::linkage_stubs;
use crate::module::Symbol;
use object::elf;
use rustc_hash::FxHashMap;

const ENTRY_SIZE: usize = 24;

/// A symbol, borrowed from its file.
#[derive(Clone, Copy)]
struct Entry<'a> {
    address: u64,
    size: u64,
    name: &'a [u8],
    function: bool,
    /// Of symbols at the same address, the one that is preferred.
    rank: u8,
    /// A stub that leads to what has the name.
    stub: bool,
}

/// Both tables' defined symbols by address.
pub(crate) struct SymbolTable<'a> {
    entries: Vec<Entry<'a>>,
    names: FxHashMap<&'a [u8], u32>,
}

impl<'a> SymbolTable<'a> {
    pub fn read(files: &'a Files) -> SymbolTable<'a> {
        let mut entries = Vec::new();
        for file in [Some(&files.main), files.debug.as_ref(), files.mini()]
            .into_iter()
            .flatten()
        {
            for section in &file.elf.sections {
                if section.kind == elf::SHT_SYMTAB.0 || section.kind == elf::SHT_DYNSYM.0 {
                    read_table(file, section, &mut entries);
                }
            }
        }
        let stubs = linkage_stubs::read(&files.main);
        entries.extend(stubs.into_iter().map(|stub| Entry {
            address: stub.address,
            size: stub.size,
            name: stub.target,
            function: true,
            rank: 0,
            stub: true,
        }));
        entries.sort_by_key(|entry| (entry.address, entry.rank));
        entries.dedup_by_key(|entry| (entry.address, entry.size, entry.name));
        let mut names: FxHashMap<&[u8], u32> = FxHashMap::default();
        for (index, entry) in entries.iter().enumerate() {
            let index = index as u32;
            // Its name is another's, elsewhere.
            if entry.stub {
                continue;
            }
            names
                .entry(entry.name)
                .and_modify(|best| {
                    if entries[*best as usize].rank < entry.rank {
                        *best = index;
                    }
                })
                .or_insert(index);
        }
        SymbolTable { entries, names }
    }

    /// The symbol that covers `address`; where that part of the table has no sizes, the nearest function before it.
    pub fn at(&self, address: u64, section_of: impl Fn(u64) -> Option<usize>) -> Option<Symbol> {
        /// Symbols inside symbols are rare and shallow.
        const LOOK_BACK: usize = 64;
        let end = self
            .entries
            .partition_point(|entry| entry.address <= address);
        let before = &self.entries[..end];
        let nearest = before.last()?;
        let covering = before.iter().rev().take(LOOK_BACK).find(|entry| {
            address - entry.address < entry.size || (entry.size == 0 && entry.address == address)
        });
        if let Some(entry) = covering {
            return Some(entry.to_symbol());
        }
        let sizeless = nearest.size == 0
            && section_of(address).is_some()
            && section_of(address) == section_of(nearest.address);
        sizeless.then(|| nearest.to_symbol())
    }

    /// The functions among them, stubs left out, by address: mangled name, address, size.
    pub fn functions(&self) -> impl Iterator<Item = (&'a [u8], u64, u64)> {
        let functions = self
            .entries
            .iter()
            .filter(|entry| entry.function && !entry.stub);
        functions.map(|entry| (entry.name, entry.address, entry.size))
    }

    pub fn named(&self, name: &str) -> Option<Symbol> {
        let index = *self.names.get(name.as_bytes())?;
        Some(self.entries.get(index as usize)?.to_symbol())
    }
}

impl Entry<'_> {
    fn to_symbol(self) -> Symbol {
        let mut name = String::from_utf8_lossy(self.name).into_owned();
        if self.stub {
            name.push_str("@plt");
        }
        Symbol {
            name,
            address: FileAddress(self.address),
            size: self.size,
            function: self.function,
        }
    }
}

fn read_table<'a>(file: &'a ElfFile, table: &Section, entries: &mut Vec<Entry<'a>>) {
    let data = file.bytes.get(table.file.clone()).unwrap_or(&[]);
    let strings = file
        .elf
        .sections
        .get(table.link as usize)
        .and_then(|section| file.bytes.get(section.file.clone()))
        .unwrap_or(&[]);
    for record in data.chunks_exact(ENTRY_SIZE) {
        let u16_at = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let (kind, binding, section) = (record[4] & 0xf, record[4] >> 4, u16_at(6));
        let function = kind == elf::STT_FUNC.0 || kind == elf::STT_GNU_IFUNC.0;
        // Thread-locals have offsets, sections and files no address of their own.
        let addressed = function || kind == elf::STT_OBJECT.0 || kind == elf::STT_NOTYPE.0;
        if section == elf::SHN_UNDEF.0 || section >= elf::SHN_LORESERVE || !addressed {
            continue;
        }
        let name = strings.get(u32_at(0) as usize..).unwrap_or(&[]);
        let name = name.split(|&byte| byte == 0).next().unwrap_or(&[]);
        if name.is_empty() {
            continue;
        }
        let (address, size) = (u64_at(8), u64_at(16));
        let rank = u8::from(function) * 4
            + u8::from(size > 0) * 2
            + u8::from(binding == elf::STB_GLOBAL.0);
        entries.push(Entry {
            address,
            size,
            name,
            function,
            rank,
            stub: false,
        });
    }
}
