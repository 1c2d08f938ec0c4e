//! The ELF symbol tables, and the linkage stubs, which are named after relocations. The entries are sorted once, when a
//! query first needs them sorted; the first few lookups of addresses scan the files' tables instead.

use crate::FileAddress;
use crate::code_around::narrow;
use crate::elf::{Elf, Section};
use crate::files::{ElfFile, Files};
use crate::linkage_stubs;
use dapple_arch::Machine;
use object::elf;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A symbol of the ELF symbol tables, or a linkage stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name as in the file (mangled). A stub has that of its target: `puts@plt`.
    pub name: String,
    /// The address in the file.
    pub address: FileAddress,
    /// Size in bytes; 0 if the file has no size for it.
    pub size: u64,
    /// Whether it is a function (`STT_FUNC`, `STT_GNU_IFUNC`).
    pub function: bool,
    /// Whether the symbol is an indirect function (`STT_GNU_IFUNC`): the address is that of the resolver, which chooses
    /// the function.
    pub indirect: bool,
}

/// The size of a symbol in a table.
pub(crate) fn symbol_size(elf: &Elf) -> usize {
    match elf.word_size() {
        4 => 16,
        _ => 24,
    }
}

/// The number of addresses that are looked up by scanning the files' tables before the symbols are sorted. A scan takes a
/// few milliseconds for some hundred thousand symbols; sorting takes many times as long.
const SCANS: u32 = 12;

/// How many entries before an address are searched for one that covers the address. Nested symbols are rare and shallow.
const LOOK_BACK: usize = 64;

/// A symbol, borrowed from its file.
#[derive(Clone, Copy)]
struct Entry<'a> {
    address: u64,
    size: u64,
    /// The strings from the start of the name on; the name ends at the next zero. Not read before it is needed.
    name_start: &'a [u8],
    function: bool,
    /// As [`Symbol::indirect`].
    indirect: bool,
    /// Of symbols at the same address, the highest rank is preferred.
    rank: u8,
    /// Whether this is a linkage stub; its name is then that of its target.
    stub: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct FunctionSymbol<'a> {
    /// Mangled.
    pub name: &'a [u8],
    pub address: u64,
    pub size: u64,
    /// As [`Symbol::indirect`].
    pub indirect: bool,
}

/// The defined symbols of all symbol tables and the linkage stubs.
pub(crate) struct SymbolTable<'a> {
    files: &'a Files,
    stubs: OnceLock<Vec<Entry<'a>>>,
    scans: AtomicU32,
    /// Sorted by address, then by rank.
    sorted: OnceLock<Vec<Entry<'a>>>,
    /// The index in `sorted` of the symbol with each name; of several, one with the highest rank. Without the stubs.
    names: OnceLock<FxHashMap<&'a [u8], u32>>,
}

impl<'a> SymbolTable<'a> {
    pub fn new(files: &'a Files) -> SymbolTable<'a> {
        SymbolTable {
            files,
            stubs: OnceLock::new(),
            scans: AtomicU32::new(0),
            sorted: OnceLock::new(),
            names: OnceLock::new(),
        }
    }

    /// Calls `each` for each symbol table with its string table.
    fn each_table(&self, mut each: impl FnMut(&'a ElfFile, &'a Section, &'a [u8])) {
        let files = [
            Some(&*self.files.main),
            self.files.debug.as_deref(),
            self.files.mini(),
        ];
        for file in files.into_iter().flatten() {
            for section in &file.elf.sections {
                if section.kind == elf::SHT_SYMTAB.0 || section.kind == elf::SHT_DYNSYM.0 {
                    let strings = file.elf.sections.get(section.link as usize);
                    let strings = strings.and_then(|strings| file.bytes.get(strings.file.clone()));
                    each(file, section, strings.unwrap_or(&[]));
                }
            }
        }
    }

    /// Calls `each` for all symbols as they are stored, with the strings from the start of the name on.
    pub fn each_record(&self, mut each: impl FnMut(&Record, &'a [u8])) {
        self.each_table(|file, section, strings| {
            for record in records(file, section) {
                each(&record, strings.get(record.name..).unwrap_or(&[]));
            }
        });
    }

    /// Calls `each` for all symbols and stubs, unsorted.
    fn each(&self, mut each: impl FnMut(Entry<'a>)) {
        self.each_table(|file, section, strings| {
            read_table(file, section, strings, &mut |_, entry| each(entry));
        });
        let stubs = self.stubs.get_or_init(|| {
            let stubs = linkage_stubs::read(&self.files.main).into_iter();
            let entries = stubs.map(|stub| Entry {
                address: stub.address,
                size: stub.size,
                name_start: stub.target,
                function: true,
                indirect: false,
                rank: 0,
                stub: true,
            });
            entries.collect()
        });
        stubs.iter().for_each(|&stub| each(stub));
    }

    fn sorted(&self) -> &[Entry<'a>] {
        self.sorted.get_or_init(|| {
            let mut entries = Vec::new();
            self.each(|entry| entries.push(entry));
            entries.sort_by_key(|entry| (entry.address, entry.rank));
            entries.dedup_by(same);
            entries
        })
    }

    /// The symbol that covers `address`. If there is none, the nearest symbol before `address`, but only if that one has no
    /// size and is in the same section.
    pub fn at(&self, address: u64, section_of: impl Fn(u64) -> Option<usize>) -> Option<Symbol> {
        let (covering, nearest) = match self.sorted.get() {
            None if self.scans.fetch_add(1, Ordering::Relaxed) < SCANS => self.scan_for(address),
            _ => self.search_for(address),
        };
        if let Some(entry) = covering {
            return Some(entry.to_symbol());
        }
        let nearest = nearest?;
        let sizeless = nearest.size == 0
            && section_of(address).is_some()
            && section_of(address) == section_of(nearest.address);
        sizeless.then(|| nearest.to_symbol())
    }

    /// The symbol that covers `address`, and the nearest symbol at or before `address`; each `None` if there is none.
    fn search_for(&self, address: u64) -> (Option<Entry<'a>>, Option<Entry<'a>>) {
        let entries = self.sorted();
        let end = entries.partition_point(|entry| entry.address <= address);
        let before = &entries[..end];
        let mut near = before.iter().rev().take(LOOK_BACK);
        let covering = near.find(|entry| entry.covers(address) && !entry.name().is_empty());
        (covering.copied(), before.last().copied())
    }

    /// Like [`SymbolTable::search_for`], by scanning the files' tables.
    fn scan_for(&self, address: u64) -> (Option<Entry<'a>>, Option<Entry<'a>>) {
        let (mut covering, mut nearest) = (None::<Entry>, None::<Entry>);
        let better = |known: &Option<Entry>, entry: &Entry| {
            known.is_none_or(|known| (known.address, known.rank) <= (entry.address, entry.rank))
        };
        self.each(|entry| {
            if entry.address > address || (!better(&nearest, &entry) && !entry.covers(address)) {
                return;
            }
            if entry.name().is_empty() {
                return;
            }
            if entry.covers(address) && better(&covering, &entry) {
                covering = Some(entry);
            }
            if better(&nearest, &entry) {
                nearest = Some(entry);
            }
        });
        (covering, nearest)
    }

    /// Narrows `range`, which contains `address`, to the closest starts and ends of symbols.
    pub fn narrow(&self, range: &mut Range<u64>, address: u64) {
        let entries = self.sorted();
        let behind = entries.partition_point(|entry| entry.address <= address);
        if let Some(next) = entries.get(behind) {
            narrow(range, address, [next.address]);
        }
        for entry in entries[..behind].iter().rev().take(LOOK_BACK) {
            let end = entry.address.saturating_add(entry.size);
            narrow(range, address, [entry.address, end]);
        }
    }

    /// All functions without the linkage stubs, by address.
    pub fn functions(&self) -> impl Iterator<Item = FunctionSymbol<'a>> {
        let functions = self
            .sorted()
            .iter()
            .filter(|entry| entry.function && !entry.stub && !entry.name().is_empty());
        functions.map(|entry| entry.to_function())
    }

    /// Like [`SymbolTable::functions`], but only functions whose names contain `text`. Searches each string table as a
    /// whole, which is faster than looking at each name.
    pub fn functions_with(&self, text: &[u8]) -> Vec<FunctionSymbol<'a>> {
        let mut found: Vec<Entry> = Vec::new();
        let finder = memchr::memmem::Finder::new(text);
        self.each_table(|file, section, strings| {
            let places: Vec<usize> = finder.find_iter(strings).collect();
            let mut add = |name: usize, entry: Entry<'a>| {
                // The first occurrence at or behind the name's start is either in the name or behind its end.
                let next = places.partition_point(|&place| place < name);
                let near = places.get(next).is_some_and(|&place| {
                    let until = entry.name_start.get(..place + text.len() - name);
                    until.is_some_and(|until| memchr::memchr(0, until).is_none())
                });
                if near && entry.function {
                    found.push(entry);
                }
            };
            if !places.is_empty() {
                read_table(file, section, strings, &mut add);
            }
        });
        found.sort_by_key(|entry| (entry.address, entry.rank));
        found.dedup_by(same);
        found.iter().map(|entry| entry.to_function()).collect()
    }

    /// As [`crate::Module::has_dynamic_name`].
    pub fn has_dynamic_name(&self, name: &[u8]) -> bool {
        let ended = [name, b"\0"].concat();
        let finder = memchr::memmem::Finder::new(&ended);
        let mut has = false;
        self.each_table(|_, section, strings| {
            has |= section.kind == elf::SHT_DYNSYM.0 && finder.find(strings).is_some();
        });
        has
    }

    pub fn named(&self, name: &str) -> Option<Symbol> {
        let index = *self.names().get(name.as_bytes())?;
        Some(self.sorted().get(index as usize)?.to_symbol())
    }

    /// Calls `each` for all defined variables in thread-local storage (`STT_TLS`): with the name of the source file if the variable is local to that, its
    /// own name, and its offset.
    pub fn each_thread_local(&self, mut each: impl FnMut(&'a [u8], &'a [u8], u64)) {
        self.each_table(|file, section, strings| {
            let has_marks = file.elf.machine != Machine::X86_64;
            let mut source: &[u8] = &[];
            for record in records(file, section) {
                let rest = strings.get(record.name..).unwrap_or(&[]);
                let name = &rest[..memchr::memchr(0, rest).unwrap_or(rest.len())];
                let is_local = record.binding == elf::STB_LOCAL.0;
                if record.kind == elf::STT_FILE.0 {
                    source = name;
                } else if record.kind == elf::STT_TLS.0
                    && !(has_marks && is_local && marks_code(rest))
                {
                    each(if is_local { source } else { &[] }, name, record.value);
                }
            }
        });
    }

    /// The offset in the module's thread-local storage of the variable with this name (`STT_TLS`).
    pub fn thread_local_named(&self, name: &str) -> Option<u64> {
        let mut found = None;
        self.each_table(|file, section, strings| {
            if found.is_some() {
                return;
            }
            let mut locals = records(file, section).filter(|it| it.kind == elf::STT_TLS.0);
            found = locals
                .find(|record| {
                    let rest = strings.get(record.name..).unwrap_or(&[]);
                    rest.strip_prefix(name.as_bytes())
                        .is_some_and(|rest| rest.first() == Some(&0))
                })
                .map(|record| record.value);
        });
        found
    }

    fn names(&self) -> &FxHashMap<&'a [u8], u32> {
        self.names.get_or_init(|| {
            let entries = self.sorted();
            let mut names: FxHashMap<&[u8], u32> = FxHashMap::default();
            // A stub's name is that of its target, which is another symbol.
            for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| !entry.stub) {
                let index = index as u32;
                names
                    .entry(entry.name())
                    .and_modify(|best| {
                        if entries[*best as usize].rank < entry.rank {
                            *best = index;
                        }
                    })
                    .or_insert(index);
            }
            names
        })
    }
}

impl<'a> Entry<'a> {
    fn name(&self) -> &'a [u8] {
        let end = memchr::memchr(0, self.name_start);
        &self.name_start[..end.unwrap_or(self.name_start.len())]
    }

    fn covers(&self, address: u64) -> bool {
        address.wrapping_sub(self.address) < self.size
            || (self.size == 0 && self.address == address)
    }

    fn to_function(self) -> FunctionSymbol<'a> {
        FunctionSymbol {
            name: self.name(),
            address: self.address,
            size: self.size,
            indirect: self.indirect,
        }
    }

    fn to_symbol(self) -> Symbol {
        let mut name = String::from_utf8_lossy(self.name()).into_owned();
        if self.stub {
            name.push_str("@plt");
        }
        Symbol {
            name,
            address: FileAddress(self.address),
            size: self.size,
            function: self.function,
            indirect: self.indirect,
        }
    }
}

/// Whether two entries are of one symbol, which two tables may have.
fn same(one: &mut Entry<'_>, other: &mut Entry<'_>) -> bool {
    (one.address, one.size) == (other.address, other.size) && one.name() == other.name()
}

/// Calls `each` for the defined functions, objects and symbols without a type of a table. The first argument is the offset
/// of the symbol's name in `strings`.
fn read_table<'a>(
    file: &'a ElfFile,
    table: &Section,
    strings: &'a [u8],
    each: &mut impl FnMut(usize, Entry<'a>),
) {
    for record in records(file, table) {
        let Record { kind, name, .. } = record;
        let indirect = kind == elf::STT_GNU_IFUNC.0;
        let function = record.is_function();
        // The values of thread-local symbols are offsets; section and file symbols name nothing in the code or data.
        let addressed = function || kind == elf::STT_OBJECT.0 || kind == elf::STT_NOTYPE.0;
        if !addressed || name == 0 {
            continue;
        }
        let (address, size) = (record.value, record.size);
        let name_start = strings.get(name..).unwrap_or(&[]);
        if record.is_local_label() && file.elf.machine != Machine::X86_64 && marks_code(name_start)
        {
            continue;
        }
        let rank = u8::from(function) * 4
            + u8::from(size > 0) * 2
            + u8::from(record.binding == elf::STB_GLOBAL.0);
        let entry = Entry {
            address,
            size,
            name_start,
            function,
            indirect,
            rank,
            stub: false,
        };
        each(name, entry);
    }
}

/// Whether a local symbol without a type is one of the assembler's: it says where code or data begins (ELF for the Arm 64-bit Architecture, §5.5.1;
/// ELF for the Arm Architecture, §5.5.5; RISC-V ABIs Specification, "Mapping Symbol"), or is a label that riscv's linker has needed.
fn marks_code(name: &[u8]) -> bool {
    matches!(
        name,
        [b'$', b'x' | b'd' | b'a' | b't', ..] | [b'.', b'L', ..]
    )
}

/// A defined symbol as stored in its table (`Elf32_Sym`, `Elf64_Sym`).
pub(crate) struct Record {
    /// The offset of the name in the string table; 0 for no name.
    pub name: usize,
    pub kind: u8,
    pub binding: u8,
    /// Of Arm's functions without the bit that says that they are Thumb code.
    pub value: u64,
    pub size: u64,
    pub is_thumb: bool,
}

impl Record {
    pub fn is_function(&self) -> bool {
        self.kind == elf::STT_FUNC.0 || self.kind == elf::STT_GNU_IFUNC.0
    }

    /// Whether it may be a mapping symbol or a label of the assembler's.
    pub fn is_local_label(&self) -> bool {
        self.kind == elf::STT_NOTYPE.0 && self.binding == elf::STB_LOCAL.0
    }
}

fn records<'a>(file: &'a ElfFile, table: &Section) -> impl Iterator<Item = Record> + use<'a> {
    let data = file.bytes.get(table.file.clone()).unwrap_or(&[]);
    let is_wide = file.elf.word_size() == 8;
    let is_arm = file.elf.machine == Machine::Arm;
    data.chunks_exact(symbol_size(&file.elf))
        .filter_map(move |record| {
            let u16_at = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
            let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
            let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
            let (info, section) = match is_wide {
                true => (record[4], u16_at(6)),
                false => (record[12], u16_at(14)),
            };
            let is_file = info & 0xf == elf::STT_FILE.0;
            let is_defined = section != elf::SHN_UNDEF.0 && section < elf::SHN_LORESERVE || is_file;
            let (value, size) = match is_wide {
                _ if !is_defined => return None,
                true => (u64_at(8), u64_at(16)),
                false => (u32_at(4).into(), u32_at(8).into()),
            };
            let mut record = Record {
                name: u32_at(0) as usize,
                kind: info & 0xf,
                binding: info >> 4,
                value,
                size,
                is_thumb: false,
            };
            if is_arm && record.is_function() {
                record.is_thumb = value & 1 != 0;
                record.value = value & !1;
            }
            Some(record)
        })
}
