//! Names the stubs through which a file calls into other files (procedure linkage table, for x86-64 System V ABI §5.2).
//!
//! Symbol tables do not list these stubs. A stub jumps through a slot that the dynamic linker fills, so the stub is named
//! after the symbol of that slot's relocation: `puts@plt`.

mod arm;

use crate::elf::Section;
use crate::files::ElfFile;
use crate::relocations;
use crate::symbols::symbol_size;
use dapple_arch::Machine;
use rustc_hash::FxHashMap;

/// A stub in a `.plt*` section.
pub(crate) struct LinkageStub<'a> {
    pub address: u64,
    pub size: u64,
    /// The name of the function that the stub jumps to.
    pub target: &'a [u8],
}

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// All stubs whose targets are known.
pub(crate) fn read(file: &ElfFile) -> Vec<LinkageStub<'_>> {
    let slots = Slots::read(file);
    match file.elf.machine {
        Machine::X86_64 => {}
        Machine::Arm => return arm::read(file, &slots),
        _ => return read_others(file, &slots),
    }
    let mut stubs = Vec::new();
    for section in &file.elf.sections {
        if !section.name.starts_with(".plt") || !section.loaded() {
            continue;
        }
        let data = file.bytes.get(section.file.clone()).unwrap_or(&[]);
        let size = match section.entry_size {
            8 => 8,
            _ => 16,
        };
        for (index, code) in data.chunks_exact(size).enumerate() {
            let address = section.address.wrapping_add((index * size) as u64);
            if let Some(target) = slots.target_of(code, address) {
                stubs.push(LinkageStub {
                    address,
                    size: size as u64,
                    target,
                });
            }
        }
    }
    stubs
}

/// The stubs of aarch64 and riscv64: each begins with two instructions that load the slot's contents, at a distance from the program counter.
fn read_others<'a>(file: &'a ElfFile, slots: &Slots<'a>) -> Vec<LinkageStub<'a>> {
    const SIZE: u64 = 16;
    let mut stubs = Vec::new();
    let sections = file.elf.sections.iter();
    for section in sections.filter(|it| it.name.starts_with(".plt") && it.loaded()) {
        let data = file.bytes.get(section.file.clone()).unwrap_or(&[]);
        let (words, _) = data.as_chunks::<4>();
        for (index, pair) in words.windows(2).enumerate() {
            let address = section.address.wrapping_add(4 * index as u64);
            let [first, second] = [pair[0], pair[1]].map(u32::from_le_bytes);
            let slot = match file.elf.machine {
                Machine::Aarch64 => slot_by_page(first, second, address),
                _ => slot_by_distance(first, second, address),
            };
            if let Some(target) = slot.and_then(|slot| slots.names.get(&slot)) {
                stubs.push(LinkageStub {
                    address,
                    size: SIZE,
                    target,
                });
            }
        }
    }
    stubs
}

/// The slot that `adrp x16, page; ldr x17, [x16, offset]` at an address loads.
fn slot_by_page(first: u32, second: u32, address: u64) -> Option<u64> {
    const ADRP_X16: u32 = 0x9000_0010;
    const LDR_X17_OF_X16: u32 = 0xf940_0211;
    if first & 0x9f00_001f != ADRP_X16 || second & 0xffc0_03ff != LDR_X17_OF_X16 {
        return None;
    }
    let pages = (first >> 5 & 0x7_ffff) << 2 | first >> 29 & 3;
    let pages = i64::from((pages << 11).cast_signed() >> 11);
    let page = (address & !0xfff).wrapping_add_signed(pages << 12);
    Some(page.wrapping_add(8 * u64::from(second >> 10 & 0xfff)))
}

/// The slot that `auipc t3, high; ld t3, low(t3)` at an address loads.
fn slot_by_distance(first: u32, second: u32, address: u64) -> Option<u64> {
    const AUIPC_T3: u32 = 0xe17;
    const LD_T3_OF_T3: u32 = 0xe_3e03;
    if first & 0xfff != AUIPC_T3 || second & 0xf_ffff != LD_T3_OF_T3 {
        return None;
    }
    let high = i64::from((first & 0xffff_f000).cast_signed());
    let low = i64::from(second.cast_signed() >> 20);
    Some(address.wrapping_add_signed(high + low))
}

/// The slots that the dynamic linker fills with addresses.
struct Slots<'a> {
    /// Symbol names by slot address.
    names: FxHashMap<u64, &'a [u8]>,
    /// Symbol names of the lazily bound slots, in the order of `.rela.plt`.
    lazy: Vec<&'a [u8]>,
}

impl<'a> Slots<'a> {
    fn read(file: &'a ElfFile) -> Slots<'a> {
        let mut slots = Slots {
            names: FxHashMap::default(),
            lazy: Vec::new(),
        };
        let fill = file.elf.relocations().fill;
        for section in relocations::sections(file) {
            let symbols = SymbolNames::of(file, section);
            for relocation in relocations::of_section(file, section) {
                let name = symbols.name(relocation.symbol);
                if section.name == ".rela.plt" {
                    slots.lazy.push(name);
                }
                if fill.contains(&relocation.kind) && !name.is_empty() {
                    slots.names.insert(relocation.place, name);
                }
            }
        }
        slots
    }

    /// The name of the function that a stub with this code jumps to; `None` if the relocation of its slot has no name. The
    /// code has `jmp *slot(%rip)`, or, if that jump is in `.plt.sec`, `push index` with the relocation's index in `.rela.plt`.
    fn target_of(&self, code: &[u8], address: u64) -> Option<&'a [u8]> {
        let jump = code.windows(2).position(|pair| pair == [0xff, 0x25]);
        if let Some(at) = jump {
            let distance = i32::from_le_bytes(*code.get(at + 2..)?.first_chunk()?);
            let next = address.wrapping_add(at as u64 + 6);
            let slot = next.wrapping_add_signed(i64::from(distance));
            return self.names.get(&slot).copied();
        }
        let push = code.strip_prefix(&ENDBR64)?.strip_prefix(&[0x68])?;
        let index = u32::from_le_bytes(*push.first_chunk()?);
        let name = *self.lazy.get(index as usize)?;
        (!name.is_empty()).then_some(name)
    }
}

/// The symbol table that relocations refer to.
pub(crate) struct SymbolNames<'a> {
    symbols: &'a [u8],
    strings: &'a [u8],
    /// The size of a symbol.
    size: usize,
}

impl<'a> SymbolNames<'a> {
    pub(crate) fn of(file: &'a ElfFile, relocations: &Section) -> SymbolNames<'a> {
        let section = |index: u32| file.elf.sections.get(index as usize);
        let data = |section: Option<&Section>| {
            section
                .and_then(|section| file.bytes.get(section.file.clone()))
                .unwrap_or(&[])
        };
        let symbols = section(relocations.link);
        SymbolNames {
            symbols: data(symbols),
            strings: data(symbols.and_then(|symbols| section(symbols.link))),
            size: symbol_size(&file.elf),
        }
    }

    /// The name of the symbol with this index; empty if there is no such symbol or it has no name.
    pub(crate) fn name(&self, index: usize) -> &'a [u8] {
        let record = index
            .checked_mul(self.size)
            .and_then(|at| self.symbols.get(at..)?.first_chunk());
        let Some(&offset) = record else {
            return &[];
        };
        let text = self.strings.get(u32::from_le_bytes(offset) as usize..);
        let text = text.unwrap_or(&[]);
        text.split(|&byte| byte == 0).next().unwrap_or(&[])
    }
}
