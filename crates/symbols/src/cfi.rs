//! Call frame information: how to find a caller's registers (DWARF 5 §6.4, `.eh_frame` as in the LSB).
//!
//! `.eh_frame_hdr` is a sorted table that linkers make for the run-time unwinder; with it a lookup costs one binary
//! search and decodes one entry. If it is missing or broken, and for `.debug_frame`, a table of the same kind is built on
//! first use. Decoded rules are cached by their address range.

use crate::arm_exception_tables::{ExceptionTables, Section};
use crate::code_around::narrow;
use crate::files::Files;
use crate::{Error, FileAddress};
use dapple_arch::Machine;
use gimli::{BaseAddresses, CieOrFde, EndianSlice, LittleEndian, UnwindContext, UnwindSection};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How to compute the canonical frame address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CfaRule {
    /// A register plus an offset.
    RegisterOffset(u16, i64),
    /// An expression, for [`crate::dwarf::location::evaluate_cfi`] with nothing on its stack at first.
    Expression(Arc<[u8]>),
}

/// How to recover one register of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterRule {
    /// The value is lost.
    Undefined,
    /// The value is unchanged.
    SameValue,
    /// The value is saved at CFA + offset.
    Offset(i64),
    /// The value is CFA + offset.
    ValueOffset(i64),
    /// The value is in another register.
    Register(u16),
    /// The value is saved at the address that the expression gives with the CFA on its stack.
    Expression(Arc<[u8]>),
    /// The value is the result of the expression with the CFA on its stack.
    ValueExpression(Arc<[u8]>),
}

/// The rules in force at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnwindRules {
    /// The addresses these rules hold for.
    pub range: Range<FileAddress>,
    /// The canonical frame address.
    pub cfa: CfaRule,
    /// Rules by DWARF register number; registers without a rule are unchanged (callee-saved) by convention.
    pub registers: Vec<(u16, RegisterRule)>,
    /// The register that holds the return address.
    pub return_address: u16,
    /// Whether the rules hold only where the function calls another, and not in its prologue and epilogue.
    pub only_at_calls: bool,
    /// Whether the frame is a signal trampoline's. Then the address in its caller is not a return address.
    pub signal_frame: bool,
}

impl UnwindRules {
    /// Whether the frame has no caller: its return address is undefined (DWARF 5 §6.4.4), as at the start of a program or a thread.
    pub fn is_outermost(&self) -> bool {
        let mut defined = self.registers.iter();
        !defined.any(|(register, rule)| {
            *register == self.return_address && *rule != RegisterRule::Undefined
        })
    }
}

type Reader<'a> = EndianSlice<'a, LittleEndian>;
type Fde<'a> = gimli::FrameDescriptionEntry<Reader<'a>>;

/// The maximum of cached rules; programs execute in far fewer places.
const CACHE_LIMIT: usize = 50_000;
/// The maximum of entries read from a section; the largest browsers have a million.
const ENTRIES_LIMIT: usize = 20_000_000;

/// The call frame information of a module.
pub(crate) struct Frames<'a> {
    files: &'a Files,
    eh_frame: gimli::EhFrame<Reader<'a>>,
    debug_frame: gimli::DebugFrame<Reader<'a>>,
    bases: BaseAddresses,
    eh_frame_address: u64,
    /// What programs of arm have in place of `.eh_frame`.
    exception_tables: Option<ExceptionTables<'a>>,
    search: Option<SearchTable<'a>>,
    eh_table: OnceLock<Vec<TableEntry>>,
    debug_table: OnceLock<Vec<TableEntry>>,
    rules: Mutex<BTreeMap<u64, Arc<UnwindRules>>>,
}

/// The search table of `.eh_frame_hdr`, in the only encoding that linkers use: pairs of 32-bit offsets from the section's
/// start to a function and to its entry, sorted by function.
struct SearchTable<'a> {
    section: u64,
    pairs: &'a [[u8; 8]],
    machine: Machine,
}

impl<'a> SearchTable<'a> {
    fn new(section: u64, data: &'a [u8], machine: Machine) -> Option<SearchTable<'a>> {
        // Version 1; a 32-bit pointer to `.eh_frame`; `DW_EH_PE_udata4` for the count; `datarel | sdata4` for the table.
        let (&[1, pointer, 0x03, 0x3b], rest) = data.split_first_chunk()? else {
            return None;
        };
        let (count, rest) = rest
            .get(4..)
            .filter(|_| matches!(pointer & 0xf, 0x03 | 0x0b))?
            .split_first_chunk()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (pairs, _) = rest.as_chunks();
        Some(SearchTable {
            section,
            pairs: pairs.get(..count)?,
            machine,
        })
    }

    fn resolve(&self, distance: [u8; 4]) -> u64 {
        let distance = i64::from(i32::from_le_bytes(distance));
        let address = self.section.wrapping_add_signed(distance);
        match self.machine.address_size() {
            4 => address & u64::from(u32::MAX),
            _ => address,
        }
    }

    /// How many functions start at or before `address`.
    fn count_to(&self, address: u64) -> usize {
        self.pairs
            .partition_point(|&[a, b, c, d, ..]| self.resolve([a, b, c, d]) <= address)
    }

    /// The address of the entry of the last function that starts at or before `address`.
    fn entry_before(&self, address: u64) -> Option<u64> {
        let after = self.count_to(address);
        let &[.., a, b, c, d] = self.pairs.get(after.checked_sub(1)?)?;
        Some(self.resolve([a, b, c, d]))
    }

    /// The start of the last function at or before `address`, and the start of the next function.
    fn starts_around(&self, address: u64) -> [Option<u64>; 2] {
        let after = self.count_to(address);
        let start = |index: usize| {
            let &[a, b, c, d, ..] = self.pairs.get(index)?;
            Some(self.resolve([a, b, c, d]))
        };
        [after.checked_sub(1).and_then(start), start(after)]
    }
}

/// The address range and section offset of an entry.
struct TableEntry {
    start: u64,
    end: u64,
    offset: usize,
}

/// The tables of a file of arm, if it has them.
fn exception_tables(files: &Files) -> Option<ExceptionTables<'_>> {
    if files.main.elf.machine != Machine::Arm {
        return None;
    }
    let section = |name| {
        let (section, bytes) = files.loaded_section(name)?;
        let address = section.address;
        Some(Section { address, bytes })
    };
    let table = section(".ARM.extab").unwrap_or(Section {
        address: 0,
        bytes: &[],
    });
    let segments = files.main.elf.segments.iter();
    let code = segments.filter(|segment| segment.executable);
    let end = code.map(|segment| segment.address.0.saturating_add(segment.size));
    Some(ExceptionTables::new(
        section(".ARM.exidx")?,
        table,
        end.max()?,
    ))
}

impl<'a> Frames<'a> {
    pub fn new(files: &'a Files) -> Frames<'a> {
        let elf = &files.main.elf;
        let address_size = elf.machine.address_size() as u8;
        let mut bases = BaseAddresses::default();
        let loaded = |name| {
            files
                .loaded_section(name)
                .map(|(section, data)| (section.address, data))
        };
        if let Some((address, _)) = loaded(".text") {
            bases = bases.set_text(address);
        }
        if let Some((address, _)) = loaded(".got") {
            bases = bases.set_got(address);
        }
        // A file without section headers still has a program header for `.eh_frame_hdr`.
        let from_segment = || {
            let (address, size) = elf.eh_frame_hdr?;
            Some((
                address,
                elf.bytes_at(&files.main.bytes, address, usize::try_from(size).ok()?),
            ))
        };
        let header_bytes = loaded(".eh_frame_hdr").or_else(from_segment);
        let (mut header, mut search) = (None, None);
        if let Some((address, data)) = header_bytes {
            search = SearchTable::new(address, data, elf.machine);
            bases = bases.set_eh_frame_hdr(address);
            header = gimli::EhFrameHdr::new(data, LittleEndian)
                .parse(&bases, address_size)
                .ok();
        }
        let behind_header = || match header.as_ref()?.eh_frame_ptr() {
            gimli::Pointer::Direct(address) => Some((
                address,
                elf.bytes_at(&files.main.bytes, address, usize::MAX),
            )),
            gimli::Pointer::Indirect(_) => None,
        };
        let (address, data) = loaded(".eh_frame")
            .or_else(behind_header)
            .unwrap_or((0, &[]));
        bases = bases.set_eh_frame(address);
        let mut eh_frame = gimli::EhFrame::new(data, LittleEndian);
        eh_frame.set_address_size(address_size);
        let vendor = match elf.machine {
            // Signed return addresses (DWARF for the Arm 64-bit Architecture, §4.4.8).
            Machine::Aarch64 => gimli::Vendor::AArch64,
            Machine::X86_64 | Machine::Riscv64 | Machine::Arm => gimli::Vendor::Default,
        };
        eh_frame.set_vendor(vendor);
        let mut debug_frame =
            gimli::DebugFrame::new(files.debug_section(".debug_frame"), LittleEndian);
        debug_frame.set_address_size(address_size);
        debug_frame.set_vendor(vendor);
        Frames {
            files,
            eh_frame,
            debug_frame,
            bases,
            eh_frame_address: address,
            exception_tables: exception_tables(files),
            search,
            eh_table: OnceLock::new(),
            debug_table: OnceLock::new(),
            rules: Mutex::new(BTreeMap::new()),
        }
    }

    pub(crate) fn rules_at(&self, address: u64) -> Result<Option<Arc<UnwindRules>>, Error> {
        if let Some(rules) = self.kept(address) {
            return Ok(Some(rules));
        }
        let rules = match self.eh_entry(address) {
            Some(entry) => self.decode(&self.eh_frame, ".eh_frame", &entry, address)?,
            None => None,
        };
        let rules = match rules {
            Some(rules) => Some(rules),
            None => match self.debug_entry(address) {
                Some(entry) => self.decode(&self.debug_frame, ".debug_frame", &entry, address)?,
                None => None,
            },
        };
        if let Some(rules) = rules {
            return Ok(Some(self.keep(rules)));
        }
        // These are not kept: their range may have other code with rules of its own. Functions that throw nothing have an entry, too, which says that
        // they can't be unwound.
        let tables = self.exception_tables.as_ref();
        let rules = tables.and_then(|tables| tables.rules_at(address));
        Ok(rules.filter(|rules| !rules.is_outermost()).map(Arc::new))
    }

    fn kept(&self, address: u64) -> Option<Arc<UnwindRules>> {
        let kept = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, rules) = kept.range(..=address).next_back()?;
        (address < rules.range.end.0).then(|| rules.clone())
    }

    fn keep(&self, rules: UnwindRules) -> Arc<UnwindRules> {
        let rules = Arc::new(rules);
        let mut kept = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= CACHE_LIMIT {
            kept.clear();
        }
        kept.insert(rules.range.start.0, rules.clone());
        rules
    }

    /// The `.eh_frame` entry for `address`.
    fn eh_entry(&self, address: u64) -> Option<Fde<'a>> {
        if let Some(search) = &self.search {
            let offset = search
                .entry_before(address)?
                .checked_sub(self.eh_frame_address);
            let offset = offset.and_then(|offset| usize::try_from(offset).ok());
            let entry = offset.map(|offset| {
                let offset = gimli::EhFrameOffset(offset);
                self.eh_frame
                    .fde_from_offset(&self.bases, offset, gimli::EhFrame::cie_from_offset)
            });
            // If that entry can't be read, the search table is broken: the table that we build is searched instead.
            if let Some(Ok(entry)) = entry {
                return entry.contains(address).then_some(entry);
            }
        }
        let table = self
            .eh_table
            .get_or_init(|| self.build_table(&self.eh_frame, ".eh_frame"));
        self.entry_in(table, &self.eh_frame, address)
    }

    /// Narrows `range`, which contains `address`, to the code of the entry at `address`, or to the gap between entries.
    /// `true` if there is an entry.
    pub fn code_around(&self, range: &mut Range<u64>, address: u64) -> bool {
        let entry = self.eh_entry(address).or_else(|| self.debug_entry(address));
        if let Some(entry) = entry {
            let borders = [entry.initial_address(), entry.end_address()];
            narrow(range, address, borders);
            return true;
        }
        let tables = self.exception_tables.as_ref();
        if let Some(function) = tables.and_then(|tables| tables.function_at(address)) {
            narrow(range, address, [function.start, function.end]);
            // An entry may be for several functions in a row.
            return false;
        }
        match &self.search {
            Some(search) => {
                let [before, next] = search.starts_around(address);
                let end = before.and_then(|start| Some(self.eh_entry(start)?.end_address()));
                narrow(range, address, end.into_iter().chain(next));
            }
            None => {
                for table in [self.eh_table.get(), self.debug_table.get()]
                    .into_iter()
                    .flatten()
                {
                    let after = table.partition_point(|entry| entry.start <= address);
                    let before = after.checked_sub(1).and_then(|last| table.get(last));
                    let borders = [before.map(|e| e.end), table.get(after).map(|e| e.start)];
                    narrow(range, address, borders.into_iter().flatten());
                }
            }
        }
        false
    }

    /// The code range of the entry for `address`, and the pointer to its language-specific data area.
    pub fn language_data_at(&self, address: u64) -> Option<(Range<u64>, gimli::Pointer)> {
        if let Some(tables) = &self.exception_tables {
            let (range, address) = tables.language_data_at(address)?;
            return Some((range, gimli::Pointer::Direct(address)));
        }
        let entry = self.eh_entry(address)?;
        Some((entry.initial_address()..entry.end_address(), entry.lsda()?))
    }

    /// The `.debug_frame` entry for `address`.
    fn debug_entry(&self, address: u64) -> Option<Fde<'a>> {
        let table = self
            .debug_table
            .get_or_init(|| self.build_table(&self.debug_frame, ".debug_frame"));
        self.entry_in(table, &self.debug_frame, address)
    }

    fn entry_in<S>(&self, table: &[TableEntry], section: &S, address: u64) -> Option<Fde<'a>>
    where
        S: UnwindSection<Reader<'a>>,
        S::Offset: From<usize>,
    {
        let after = table.partition_point(|entry| entry.start <= address);
        let entry = table[..after].last().filter(|entry| address < entry.end)?;
        section
            .fde_from_offset(&self.bases, entry.offset.into(), S::cie_from_offset)
            .ok()
    }

    /// All readable entries of a section, sorted by address.
    fn build_table<S>(&self, section: &S, name: &'static str) -> Vec<TableEntry>
    where
        S: UnwindSection<Reader<'a>>,
    {
        let mut table = Vec::new();
        let mut entries = section.entries(&self.bases);
        for _ in 0..ENTRIES_LIMIT {
            match entries.next() {
                Ok(Some(CieOrFde::Fde(partial))) => match partial.parse(S::cie_from_offset) {
                    Ok(entry) if entry.initial_address() < entry.end_address() => {
                        table.push(TableEntry {
                            start: entry.initial_address(),
                            end: entry.end_address(),
                            offset: entry.offset(),
                        })
                    }
                    Ok(_) => {}
                    Err(error) => {
                        let offset = partial.offset() as u64;
                        let reason = format!("this entry is left out: {error}");
                        self.files.warn(self.files.malformed(name, offset, reason));
                    }
                },
                Ok(Some(CieOrFde::Cie(_))) => {}
                Ok(None) => break,
                Err(error) => {
                    let reason = format!("the entries after a broken one are left out: {error}");
                    self.files.warn(self.files.malformed(name, 0, reason));
                    break;
                }
            }
        }
        table.sort_by_key(|entry| (entry.start, entry.end));
        table
    }

    /// The register that a rule for another is also one for. Arm's rules may be for the halves `s16`, `s17`, … of `d8`, …, which are saved next to
    /// each other: `None` for the upper ones.
    fn saved_register(&self, register: u16) -> Option<u16> {
        match self.files.main.elf.machine.register_around(register) {
            Some((double, 0)) => Some(double),
            Some(_) => None,
            None => Some(register),
        }
    }

    fn decode<S>(
        &self,
        section: &S,
        name: &'static str,
        entry: &Fde<'a>,
        address: u64,
    ) -> Result<Option<UnwindRules>, Error>
    where
        S: UnwindSection<Reader<'a>>,
    {
        let malformed = |error: gimli::Error| {
            self.files
                .malformed(name, entry.offset() as u64, error.to_string())
        };
        let mut context = UnwindContext::new();
        let row = match entry.unwind_info_for_address(section, &self.bases, &mut context, address) {
            Ok(row) => row,
            Err(gimli::Error::NoUnwindInfoForAddress) => return Ok(None),
            Err(error) => return Err(malformed(error)),
        };
        let bytes = |expression: &gimli::UnwindExpression<usize>| -> Result<Arc<[u8]>, Error> {
            let expression: gimli::Expression<Reader<'a>> =
                expression.get(section).map_err(malformed)?;
            Ok(Arc::from(expression.0.slice()))
        };
        let cfa = match row.cfa() {
            gimli::CfaRule::RegisterAndOffset { register, offset } => {
                CfaRule::RegisterOffset(register.0, *offset)
            }
            gimli::CfaRule::Expression(expression) => CfaRule::Expression(bytes(expression)?),
        };
        let mut registers = Vec::new();
        for (register, rule) in row.registers() {
            let Some(register) = self.saved_register(register.0) else {
                continue;
            };
            let rule = match rule {
                gimli::RegisterRule::Undefined => RegisterRule::Undefined,
                gimli::RegisterRule::SameValue => RegisterRule::SameValue,
                gimli::RegisterRule::Offset(offset) => RegisterRule::Offset(*offset),
                gimli::RegisterRule::ValOffset(offset) => RegisterRule::ValueOffset(*offset),
                gimli::RegisterRule::Register(register) => RegisterRule::Register(register.0),
                gimli::RegisterRule::Expression(expression) => {
                    RegisterRule::Expression(bytes(expression)?)
                }
                gimli::RegisterRule::ValExpression(expression) => {
                    RegisterRule::ValueExpression(bytes(expression)?)
                }
                gimli::RegisterRule::Constant(_) => RegisterRule::Undefined,
                _ => RegisterRule::Undefined,
            };
            registers.push((register, rule));
        }
        let return_address = entry.cie().return_address_register().0;
        // Where calls leave the return address in a register, a function that has not saved it has no rule for it.
        let in_register = self.files.main.elf.machine.link() == Some(return_address);
        if in_register
            && !registers
                .iter()
                .any(|(number, _)| *number == return_address)
        {
            registers.push((return_address, RegisterRule::SameValue));
        }
        Ok(Some(UnwindRules {
            range: FileAddress(row.start_address())..FileAddress(row.end_address()),
            cfa,
            registers,
            return_address,
            only_at_calls: false,
            signal_frame: entry.is_signal_trampoline(),
        }))
    }
}
