//! Which code of an Arm file is Thumb and which is A32.
//!
//! Assemblers mark each change by a mapping symbol (ELF for the Arm Architecture, "Mapping symbols"). Without these, in a stripped file, the
//! lowest bit of the functions' addresses in the dynamic symbol table says it.

use crate::elf::{Elf, Section, word_of};
use crate::files::Files;
use crate::symbols::SymbolTable;
use dapple_arch::instruction_set::InstructionSet;
use std::ops::Range;

/// A function of the symbol tables.
struct Function {
    range: Range<u64>,
    set: InstructionSet,
}

pub(crate) struct InstructionSets {
    /// The starts of pieces of code, sorted.
    marks: Vec<(u64, InstructionSet)>,
    /// Sorted by their starts.
    functions: Vec<Function>,
    /// The addresses of each section, and whether it has linkage stubs.
    sections: Vec<(Range<u64>, bool)>,
    /// Whether the processor has only Thumb.
    has_only_thumb: bool,
    /// What code is of which nothing is known.
    default: InstructionSet,
}

impl InstructionSets {
    pub fn read(files: &Files, symbols: &SymbolTable<'_>) -> InstructionSets {
        let elf = &files.main.elf;
        let (mut marks, mut functions) = (Vec::new(), Vec::new());
        symbols.each_record(|record, name| {
            if record.is_function() {
                let start = record.value;
                functions.push(Function {
                    range: start..start.saturating_add(record.size),
                    set: match record.is_thumb {
                        true => InstructionSet::Thumb,
                        false => InstructionSet::Arm,
                    },
                });
            } else if record.is_local_label()
                && let Some(set) = marked(name)
            {
                marks.push((record.value, set));
            }
        });
        marks.sort_by_key(|(address, _)| *address);
        functions.sort_by_key(|function| function.range.start);
        let stubs = |section: &Section| section.name.starts_with(".plt") || section.name == ".iplt";
        let sections = elf.sections.iter().filter(|section| section.loaded());
        let has_only_thumb = attributes(elf, &files.main.bytes).and_then(profile) == Some(b'M');
        InstructionSets {
            marks,
            functions,
            sections: sections.map(|it| (it.range(), stubs(it))).collect(),
            has_only_thumb,
            default: match elf.entry_is_thumb || has_only_thumb {
                true => InstructionSet::Thumb,
                false => InstructionSet::Arm,
            },
        }
    }

    pub fn at(&self, address: u64) -> InstructionSet {
        if self.has_only_thumb {
            return InstructionSet::Thumb;
        }
        let mut sections = self.sections.iter();
        let section = sections.find(|(range, _)| range.contains(&address));
        let (start, has_stubs) = section.map_or((0, false), |(range, stubs)| (range.start, *stubs));
        let end = self.marks.partition_point(|(mark, _)| *mark <= address);
        if let Some((mark, set)) = self.marks[..end].last()
            && *mark >= start
        {
            return *set;
        }
        if has_stubs {
            return InstructionSet::Arm;
        }
        let end = { &self.functions }.partition_point(|it| it.range.start <= address);
        let before = &self.functions[..end];
        let mut near = before.iter().rev().take(LOOK_BACK);
        let covering = near.find(|it| it.range.contains(&address));
        let nearest = before.last().filter(|it| it.range.start >= start);
        covering.or(nearest).map_or(self.default, |it| it.set)
    }
}

/// How many functions before an address are searched for one that covers it.
const LOOK_BACK: usize = 64;

/// The instruction set that a mapping symbol with this name marks the start of. Data (`$d`) is of the set of the code before it.
fn marked(name: &[u8]) -> Option<InstructionSet> {
    match name {
        [b'$', b't'] | [b'$', b't', b'.' | 0, ..] => Some(InstructionSet::Thumb),
        [b'$', b'a'] | [b'$', b'a', b'.' | 0, ..] => Some(InstructionSet::Arm),
        _ => None,
    }
}

/// The attributes of the whole file (Addenda to, and Errata in, the ABI for the Arm Architecture, "Build attributes").
fn attributes<'d>(elf: &Elf, data: &'d [u8]) -> Option<&'d [u8]> {
    const OF_THE_FILE: u8 = 1;
    let section = elf.section(".ARM.attributes")?;
    let (b'A', mut rest) = data.get(section.file.clone())?.split_first()? else {
        return None;
    };
    while rest.len() > 4 {
        let length = word_of(&rest[..4]) as usize;
        let vendors = rest.get(4..length)?;
        rest = &rest[length..];
        let Some([OF_THE_FILE, inner @ ..]) = vendors.strip_prefix(b"aeabi\0") else {
            continue;
        };
        // The size includes itself and the tag.
        let size = word_of(inner.get(..4)?) as usize;
        return inner.get(4..size.checked_sub(1)?.min(inner.len()));
    }
    None
}

/// The processor's profile (`Tag_CPU_arch_profile`): `A`, `R`, `M` or `S`.
fn profile(mut attributes: &[u8]) -> Option<u8> {
    const PROFILE: u64 = 7;
    while !attributes.is_empty() {
        let tag = uleb128(&mut attributes)?;
        let is_text = matches!(tag, 4 | 5) || (tag > 32 && tag % 2 == 1);
        if !is_text || tag == 32 {
            let value = uleb128(&mut attributes)?;
            if tag == PROFILE {
                return u8::try_from(value).ok();
            }
        }
        // Tag 32 has a number and a text.
        if is_text || tag == 32 {
            let end = attributes.iter().position(|&byte| byte == 0)?;
            attributes = &attributes[end + 1..];
        }
    }
    None
}

fn uleb128(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_symbols_are_told_from_names() {
        assert_eq!(marked(b"$t\0x"), Some(InstructionSet::Thumb));
        assert_eq!(marked(b"$t.12\0"), Some(InstructionSet::Thumb));
        assert_eq!(marked(b"$a"), Some(InstructionSet::Arm));
        for other in [&b"$d\0"[..], b"$ta\0", b"$", b"", b"t"] {
            assert_eq!(marked(other), None);
        }
    }

    #[test]
    fn the_profile_is_found_behind_texts() {
        assert_eq!(profile(b"\x05Cortex-M3\0\x06\x0a\x07M\x09\x02"), Some(b'M'));
        assert_eq!(profile(b"\x20\x01gnu\0\x43x\0\x07A"), Some(b'A'));
        assert_eq!(profile(b"\x05Cortex"), None);
        assert_eq!(profile(b"\x07"), None);
        assert_eq!(
            profile(b"\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
            None
        );
    }
}
