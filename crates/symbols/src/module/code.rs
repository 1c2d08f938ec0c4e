//! A module's queries about code that need no debug information: unwind rules, exception tables, extents, slots of
//! indirect functions.

use super::Module;
use crate::Error;
use crate::FileAddress;
use crate::cfi::Frames;
use crate::cfi::UnwindRules;
use crate::code_around::in_sections;
use crate::code_around::narrow;
use crate::dwarf::lsda::ExceptionTable;
use crate::indirect::Slot;
use crate::linkage_stubs::SymbolNames;
use crate::relocations;
use crate::symbols::SymbolTable;
use dapple_arch::Machine;
use dapple_arch::instruction_set::InstructionSet;
use std::ops::Range;
use std::sync::Arc;

impl Module {
    /// The unwind rules at `address`; `None` if no entry covers it.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a broken entry.
    pub fn unwind_rules(&self, address: FileAddress) -> Result<Option<Arc<UnwindRules>>, Error> {
        self.decoded(|decoded| decoded.frames().rules_at(address.0))
    }

    /// The smallest known piece of code around `address`: an instruction starts at its start, and none crosses its end.
    /// Usually a function, from the unwind table. Where that has no entry, the code between symbols; in a stripped module
    /// perhaps a whole section. `None` outside of code.
    pub fn code_around(&self, address: FileAddress) -> Option<Range<FileAddress>> {
        let segments = self.segments().iter();
        let mut segments = segments.filter(|segment| segment.executable);
        let segment = segments.find(|s| address.0.wrapping_sub(s.address.0) < s.size)?;
        let end = segment.address.0.saturating_add(segment.size);
        let sections = in_sections(&self.files().main.elf.sections, address.0);
        let mut range = sections;
        narrow(&mut range, address.0, [segment.address.0, end]);
        self.decoded(|decoded| {
            let frames: &Frames<'_> = decoded.frames();
            let covered = frames.code_around(&mut range, address.0);
            if !covered {
                let symbols: &SymbolTable<'_> = decoded.symbols();
                symbols.narrow(&mut range, address.0);
            }
        });
        Some(FileAddress(range.start)..FileAddress(range.end))
    }

    /// The instruction set of the code at `address`. Only the functions of Arm have different ones.
    pub fn instruction_set(&self, address: FileAddress) -> InstructionSet {
        match self.machine() {
            Machine::Arm => self.dwarf(|dwarf| dwarf.instruction_set(address.0)),
            machine => machine.into(),
        }
    }

    /// The slots for which relocations of this module (`R_X86_64_IRELATIVE` and the like) ask for the result of the resolver at this
    /// address.
    pub fn indirect_slots(&self, resolver: FileAddress) -> Vec<Slot> {
        let file = &self.files().main;
        let indirect = file.elf.relocations().indirect;
        relocations::all(file)
            .filter(|it| it.kind == indirect && file.elf.code_address(it.addend) == resolver.0)
            .map(|it| self.slot(it.place))
            .collect()
    }

    /// This module's slots that receive the address of the function with this linkage name, in whichever module the
    /// function is defined.
    pub fn slots_of(&self, name: &str) -> Vec<Slot> {
        let file = &self.files().main;
        let mut slots = Vec::new();
        let kinds = file.elf.relocations();
        for section in relocations::sections(file) {
            let symbols = SymbolNames::of(file, section);
            for relocation in relocations::of_section(file, section) {
                let whole = kinds.fill.contains(&relocation.kind)
                    || (relocation.kind == kinds.absolute && relocation.addend == 0);
                if whole && symbols.name(relocation.symbol) == name.as_bytes() {
                    slots.push(self.slot(relocation.place));
                }
            }
        }
        slots
    }

    fn slot(&self, address: u64) -> Slot {
        let file = &self.files().main;
        Slot {
            address: FileAddress(address),
            initial: file.elf.word_at(&file.bytes, address),
        }
    }

    /// The exception table of the function at `address`; `None` if exceptions just pass through it, or if no unwind information covers the
    /// address.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a broken table.
    pub fn exception_table(&self, address: FileAddress) -> Result<Option<ExceptionTable>, Error> {
        self.decoded(|decoded| decoded.exception_table(address.0))
    }
}
