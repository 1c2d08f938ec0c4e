//! Reads the ELF headers: segments, sections, notes, the dynamic section. Everything is copied, so [`Elf`] does not
//! borrow from the file. Symbols are read by `symbols`, DWARF by `dwarf`.

use crate::{Error, FileAddress};
use dapple_arch::Machine;
use object::LittleEndian;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How the file is loaded (ELF `e_type` and program headers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleKind {
    /// Linked at fixed addresses (`ET_EXEC`).
    FixedExecutable,
    /// Position-independent executable (`ET_DYN` with an entry point meant to be run).
    PositionIndependentExecutable,
    /// Shared library, interpreter or vDSO (`ET_DYN`).
    SharedObject,
}

/// A loadable segment (`PT_LOAD`).
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// The start, in file addresses.
    pub address: FileAddress,
    /// Its size in memory, in bytes.
    pub size: u64,
    /// The offset in the file.
    pub file_offset: u64,
    /// The size in the file, in bytes.
    pub file_size: u64,
    /// Whether it is executable.
    pub executable: bool,
    /// Whether it is writable.
    pub writable: bool,
}

const LE: LittleEndian = LittleEndian;

#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub name: String,
    pub address: u64,
    pub size: u64,
    /// The byte range in the file; empty for `SHT_NOBITS`.
    pub file: Range<usize>,
    pub kind: u32,
    pub flags: u64,
    /// `sh_link`: for a symbol table, the index of its string table.
    pub link: u32,
    /// `sh_entsize`: the size of an entry if all have the same size, otherwise 0.
    pub entry_size: u64,
}

impl Section {
    pub fn loaded(&self) -> bool {
        self.flags & elf::SHF_ALLOC.0 != 0
    }
    /// `.tbss` takes no address space.
    fn has_addresses(&self) -> bool {
        self.loaded() && !(self.flags & elf::SHF_TLS.0 != 0 && self.kind == elf::SHT_NOBITS.0)
    }
    pub fn contains(&self, address: u64) -> bool {
        self.has_addresses() && address >= self.address && address - self.address < self.size
    }
    pub fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.size)
    }
    fn has_code(&self) -> bool {
        self.has_addresses() && self.flags & elf::SHF_EXECINSTR.0 != 0
    }
}

/// What the headers of one ELF file say.
#[derive(Debug, Clone)]
pub(crate) struct Elf {
    pub path: PathBuf,
    pub machine: Machine,
    pub kind: ModuleKind,
    /// `e_entry`, without the bit that says for Arm that the code is Thumb.
    pub entry: u64,
    /// Whether the code at the entry point is Thumb.
    pub entry_is_thumb: bool,
    pub interpreter: Option<PathBuf>,
    pub dynamic: Option<(u64, u64)>,
    pub build_id: Option<Vec<u8>>,
    pub segments: Vec<Segment>,
    pub sections: Vec<Section>,
    /// Address ranges that may contain code.
    code: Vec<Range<u64>>,
    /// Address ranges that may contain variables.
    data_ranges: Vec<Range<u64>>,
    pub eh_frame_hdr: Option<(u64, u64)>,
    /// The size of the thread-local storage, rounded up to its alignment. `None`: there is none, or its start isn't aligned.
    pub thread_locals: Option<u64>,
    pub problems: Vec<Error>,
}

/// The size of a segment, rounded up to its alignment. `None`: its start isn't aligned.
fn rounded_up(segment: &impl ProgramHeader<Endian = LittleEndian>) -> Option<u64> {
    let (start, size) = (segment.p_vaddr(LE).into(), segment.p_memsz(LE).into());
    let alignment = segment.p_align(LE).into().max(1);
    let rounded = size.checked_next_multiple_of(alignment);
    rounded.filter(|_| start.is_multiple_of(alignment))
}

/// What the program headers say.
#[derive(Default)]
struct Loaded {
    segments: Vec<Segment>,
    interpreter: Option<PathBuf>,
    dynamic: Option<(u64, u64)>,
    build_id: Option<Vec<u8>>,
    eh_frame_hdr: Option<(u64, u64)>,
    thread_locals: Option<u64>,
}

impl Loaded {
    fn read<H: FileHeader<Endian = LittleEndian>>(
        headers: &[H::ProgramHeader],
        data: &[u8],
    ) -> Loaded {
        let mut loaded = Loaded::default();
        for header in headers {
            let place = (header.p_vaddr(LE).into(), header.p_memsz(LE).into());
            match header.p_type(LE) {
                elf::PT_LOAD => {
                    let flags = header.p_flags(LE).0;
                    loaded.segments.push(Segment {
                        address: FileAddress(place.0),
                        size: place.1,
                        file_offset: header.p_offset(LE).into(),
                        file_size: header.p_filesz(LE).into(),
                        executable: flags & elf::PF_X.0 != 0,
                        writable: flags & elf::PF_W.0 != 0,
                    });
                }
                elf::PT_INTERP => {
                    loaded.interpreter = header.data(LE, data).ok().and_then(interpreter_path);
                }
                elf::PT_DYNAMIC => loaded.dynamic = Some(place),
                elf::PT_TLS => loaded.thread_locals = rounded_up(header),
                elf::PT_GNU_EH_FRAME => loaded.eh_frame_hdr = Some(place),
                elf::PT_NOTE if loaded.build_id.is_none() => {
                    loaded.build_id = find_build_id::<H>(header, data);
                }
                _ => {}
            }
        }
        loaded.segments.sort_by_key(|segment| segment.address);
        loaded
    }
}

/// A machine's kinds of relocations that concern code, in its supplement to the System V ABI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relocations {
    /// A slot gets the address of a symbol's function or data.
    pub fill: [u32; 2],
    /// A word gets a symbol's address plus a number.
    pub absolute: u32,
    /// A word gets an address in the same file.
    pub relative: u32,
    /// A word gets what a resolver in the same file returns.
    pub indirect: u32,
}

impl Elf {
    /// The kinds of relocations.
    pub fn relocations(&self) -> Relocations {
        match self.machine {
            Machine::X86_64 => Relocations {
                fill: [elf::R_X86_64_JUMP_SLOT.0, elf::R_X86_64_GLOB_DAT.0],
                absolute: elf::R_X86_64_64.0,
                relative: elf::R_X86_64_RELATIVE.0,
                indirect: elf::R_X86_64_IRELATIVE.0,
            },
            Machine::Aarch64 => Relocations {
                fill: [elf::R_AARCH64_JUMP_SLOT.0, elf::R_AARCH64_GLOB_DAT.0],
                absolute: elf::R_AARCH64_ABS64.0,
                relative: elf::R_AARCH64_RELATIVE.0,
                indirect: elf::R_AARCH64_IRELATIVE.0,
            },
            Machine::Riscv64 => Relocations {
                fill: [elf::R_RISCV_JUMP_SLOT.0, elf::R_RISCV_64.0],
                absolute: elf::R_RISCV_64.0,
                relative: elf::R_RISCV_RELATIVE.0,
                indirect: elf::R_RISCV_IRELATIVE.0,
            },
            Machine::Arm => Relocations {
                fill: [elf::R_ARM_JUMP_SLOT.0, elf::R_ARM_GLOB_DAT.0],
                absolute: elf::R_ARM_ABS32.0,
                relative: elf::R_ARM_RELATIVE.0,
                indirect: elf::R_ARM_IRELATIVE.0,
            },
        }
    }

    pub fn parse(path: &Path, data: &[u8]) -> Result<Elf, Error> {
        Elf::parse_any(path, data, true)
    }

    /// Like [`Elf::parse`], but also accepts files with only debug information: `.dwo` files are object files.
    pub fn parse_companion(path: &Path, data: &[u8]) -> Result<Elf, Error> {
        Elf::parse_any(path, data, false)
    }

    /// With `loadable`, only programs and libraries are accepted.
    fn parse_any(path: &Path, data: &[u8], loadable: bool) -> Result<Elf, Error> {
        match check_class(path, data)? {
            elf::ELFCLASS32 => Elf::read::<elf::FileHeader32<LittleEndian>>(path, data, loadable),
            _ => Elf::read::<elf::FileHeader64<LittleEndian>>(path, data, loadable),
        }
    }

    fn read<H: FileHeader<Endian = LittleEndian>>(
        path: &Path,
        data: &[u8],
        loadable: bool,
    ) -> Result<Elf, Error> {
        let (header, machine) = check_header::<H>(path, data)?;
        if loadable {
            check_loadable(path, header)?;
        }
        let malformed = |section, offset, reason: String| Error::Malformed {
            path: path.to_owned(),
            section,
            offset,
            reason,
        };
        let mut problems = Vec::new();
        let program_headers = header.program_headers(LE, data).map_err(|error| {
            malformed(
                "program headers",
                header.e_phoff(LE).into(),
                error.to_string(),
            )
        })?;
        let loaded = Loaded::read::<H>(program_headers, data);
        // Files with only debug information have no segments; their build id is in a section.
        let build_id = loaded.build_id.or_else(|| section_build_id(header, data));
        let sections = match read_sections(header, data) {
            Ok(sections) => sections,
            Err(reason) => {
                problems.push(malformed(
                    "section headers",
                    header.e_shoff(LE).into(),
                    reason,
                ));
                Vec::new()
            }
        };
        let entry = header.e_entry(LE).into();
        let mut elf = Elf {
            machine,
            path: path.to_owned(),
            kind: ModuleKind::SharedObject,
            entry: machine.code_address(entry).0,
            entry_is_thumb: machine == Machine::Arm && entry & 1 == 1,
            interpreter: loaded.interpreter,
            dynamic: loaded.dynamic,
            build_id,
            segments: loaded.segments,
            sections,
            code: Vec::new(),
            data_ranges: Vec::new(),
            eh_frame_hdr: loaded.eh_frame_hdr,
            thread_locals: loaded.thread_locals,
            problems,
        };
        elf.kind = match header.e_type(LE) {
            elf::ET_EXEC => ModuleKind::FixedExecutable,
            _ if elf.is_pie(data) => ModuleKind::PositionIndependentExecutable,
            _ => ModuleKind::SharedObject,
        };
        elf.code = elf.ranges(Section::has_code, |segment| segment.executable);
        elf.data_ranges = elf.ranges(Section::has_addresses, |_| true);
        Ok(elf)
    }

    /// Whether the file is a position-independent executable. Linkers since 2015 mark one by `DF_1_PIE`. One of an older
    /// linker has an interpreter but no soname. (libc.so.6 is a library although it has an interpreter.)
    fn is_pie(&self, data: &[u8]) -> bool {
        let mut soname = false;
        for (tag, value) in self.dynamic_entries(data) {
            match elf::DynamicTag(tag as i64) {
                elf::DT_FLAGS_1 if value & elf::DF_1_PIE.0 != 0 => return true,
                elf::DT_SONAME => soname = true,
                _ => {}
            }
        }
        self.interpreter.is_some() && !soname
    }

    fn dynamic_entries<'d>(&self, data: &'d [u8]) -> impl Iterator<Item = (u64, u64)> + 'd {
        let bytes = match self.dynamic {
            Some((address, size)) => {
                self.bytes_at(data, address, usize::try_from(size).unwrap_or(0))
            }
            None => &[],
        };
        let word = self.word_size();
        bytes.chunks_exact(2 * word).map_while(move |entry| {
            let (tag, value) = (word_of(&entry[..word]), word_of(&entry[word..]));
            (tag != 0).then_some((tag, value))
        })
    }

    /// The size of an address, in bytes.
    pub fn word_size(&self) -> usize {
        self.machine.address_size() as usize
    }

    /// The address of code that a symbol or a pointer in the file means.
    pub fn code_address(&self, value: u64) -> u64 {
        self.machine.code_address(value).0
    }

    /// The word of the size of an address at `address`; 0 if the file has none there.
    pub fn word_at(&self, data: &[u8], address: u64) -> u64 {
        let bytes = self.bytes_at(data, address, self.word_size());
        match bytes.len() == self.word_size() {
            true => word_of(bytes),
            false => 0,
        }
    }

    /// The file's bytes at `address`, at most `length`; fewer if the segment ends before.
    pub fn bytes_at<'d>(&self, data: &'d [u8], address: u64, length: usize) -> &'d [u8] {
        for segment in &self.segments {
            let Some(inside) = address.checked_sub(segment.address.0) else {
                continue;
            };
            if inside >= segment.file_size {
                continue;
            }
            let available = usize::try_from(segment.file_size - inside).unwrap_or(usize::MAX);
            let start = segment
                .file_offset
                .checked_add(inside)
                .and_then(|start| usize::try_from(start).ok());
            let Some(rest) = start.and_then(|start| data.get(start..)) else {
                continue;
            };
            return &rest[..length.min(available).min(rest.len())];
        }
        &[]
    }

    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    pub fn section_at(&self, address: u64) -> Option<&Section> {
        self.sections
            .iter()
            .find(|section| section.contains(address))
    }

    /// Whether code can be at `address`. Functions and line sequences that the linker discarded have the address 0, 1, −1
    /// or −2.
    pub fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|range| range.contains(&address))
    }

    /// Whether a variable can be at `address`. Variables that the linker discarded have the address 0, −1 or −2. A variable
    /// of size zero may be at the end of its section.
    pub fn may_be_variable(&self, address: u64) -> bool {
        let mut data_ranges = self.data_ranges.iter();
        data_ranges.any(|range| range.contains(&address) || range.end == address)
    }

    /// The address ranges of the matching sections. If section headers were stripped, those of the matching segments
    /// without the ELF header: the header's segment contains address 0, which marks discarded code and variables.
    fn ranges(
        &self,
        section: impl Fn(&Section) -> bool,
        segment: impl Fn(&Segment) -> bool,
    ) -> Vec<Range<u64>> {
        let has_sections = self.sections.iter().any(Section::has_addresses);
        let sections = self.sections.iter().filter(|it| section(it));
        let header = match self.machine.address_size() {
            4 => size_of::<elf::FileHeader32<LittleEndian>>() as u64,
            _ => size_of::<elf::FileHeader64<LittleEndian>>() as u64,
        };
        let of_segment = |it: &Segment| {
            let skipped = header.saturating_sub(it.file_offset);
            let (start, end) = (it.address.0, it.address.0.saturating_add(it.size));
            start.saturating_add(skipped)..end
        };
        match has_sections {
            true => sections.map(Section::range).collect(),
            false => {
                let segments = self.segments.iter().filter(|it| segment(it));
                segments.map(of_segment).collect()
            }
        }
    }
}

/// Up to eight bytes as a number.
pub(crate) fn word_of(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().take(8).rev();
    bytes.fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn interpreter_path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    (end > 0).then(|| PathBuf::from(std::ffi::OsStr::from_bytes(&bytes[..end])))
}

fn find_build_id<H: FileHeader<Endian = LittleEndian>>(
    program_header: &H::ProgramHeader,
    data: &[u8],
) -> Option<Vec<u8>> {
    let mut notes = program_header.notes(LE, data).ok()??;
    // A note takes at least 12 bytes, so this loop ends with the segment.
    while let Ok(Some(note)) = notes.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(LE) == elf::NT_GNU_BUILD_ID {
            return Some(note.desc().to_vec());
        }
    }
    None
}

fn section_build_id<H: FileHeader<Endian = LittleEndian>>(
    header: &H,
    data: &[u8],
) -> Option<Vec<u8>> {
    let sections = header.sections(LE, data).ok()?;
    sections.iter().find_map(|section| {
        let mut notes = section.notes(LE, data).ok()??;
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(LE) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc().to_vec());
            }
        }
        None
    })
}

/// Checks what all ELF files begin with, and that its class and byte order are supported.
fn check_class(path: &Path, data: &[u8]) -> Result<elf::FileClass, Error> {
    let unsupported = |reason: String| Error::Unsupported {
        path: path.to_owned(),
        reason,
    };
    if data.starts_with(b"#!") {
        let line = data[2..data.len().min(120)]
            .split(|&byte| byte == b'\n')
            .next()
            .unwrap_or(&[]);
        let interpreter = String::from_utf8_lossy(line).trim().to_owned();
        return Err(unsupported(format!(
            "is a script for {interpreter}, not a compiled program; debug the interpreter with the script as its argument"
        )));
    }
    if !data.starts_with(&elf::ELFMAG) {
        return Err(unsupported(
            "is not an ELF file, so not a program Linux can run directly".to_owned(),
        ));
    }
    let &[_, _, _, _, class, encoding, ..] = data else {
        return Err(truncated(path, data));
    };
    let is_big_endian = encoding != elf::ELFDATA2LSB.0;
    // Both classes have the machine at the same place.
    let machine = data.get(18..20).map(|bytes| match is_big_endian {
        true => u16::from_be_bytes([bytes[0], bytes[1]]),
        false => u16::from_le_bytes([bytes[0], bytes[1]]),
    });
    let is_arm = class == elf::ELFCLASS32.0 && machine.is_none_or(|it| it == elf::EM_ARM.0);
    if class != elf::ELFCLASS64.0 && !is_arm {
        return Err(unsupported(
            "is a 32-bit ELF file; only 64-bit ones are supported".to_owned(),
        ));
    }
    if is_big_endian {
        return Err(unsupported(
            "is a big-endian ELF file; only little-endian ones are supported".to_owned(),
        ));
    }
    Ok(elf::FileClass(class))
}

fn truncated(path: &Path, data: &[u8]) -> Error {
    Error::Malformed {
        path: path.to_owned(),
        section: "ELF header",
        offset: 0,
        reason: format!("the file ends after {} bytes", data.len()),
    }
}

/// Checks that the machine is supported, and that the file has the class of its programs.
fn check_header<'d, H: FileHeader<Endian = LittleEndian>>(
    path: &Path,
    data: &'d [u8],
) -> Result<(&'d H, Machine), Error> {
    let unsupported = |reason: String| Error::Unsupported {
        path: path.to_owned(),
        reason,
    };
    if data.len() < size_of::<H>() {
        return Err(truncated(path, data));
    }
    let header = H::parse(data).map_err(|error| unsupported(error.to_string()))?;
    let machine = header.e_machine(LE);
    let address_size = if header.is_type_64() { 8 } else { 4 };
    let known = Machine::of_elf(machine.0).filter(|it| it.address_size() == address_size);
    let Some(known) = known else {
        let name = match machine {
            elf::EM_PPC64 => "PowerPC".to_owned(),
            elf::EM_S390 => "S/390".to_owned(),
            elf::EM_386 => "x86 (32-bit)".to_owned(),
            other => format!("machine number {other}"),
        };
        return Err(unsupported(format!(
            "is an ELF file for {name}; only x86-64, aarch64, riscv64 and arm are supported"
        )));
    };
    Ok((header, known))
}

/// Checks that the file is a program or a library.
fn check_loadable(
    path: &Path,
    header: &impl FileHeader<Endian = LittleEndian>,
) -> Result<(), Error> {
    let unsupported = |reason: String| Error::Unsupported {
        path: path.to_owned(),
        reason,
    };
    match header.e_type(LE) {
        elf::ET_EXEC | elf::ET_DYN => Ok(()),
        elf::ET_REL => Err(unsupported(
            "is an object file; link it to a program first".to_owned(),
        )),
        elf::ET_CORE => Err(unsupported("is a core file, not a program".to_owned())),
        other => Err(unsupported(format!(
            "is an ELF file of unknown type {other}"
        ))),
    }
}

fn read_sections(
    header: &impl FileHeader<Endian = LittleEndian>,
    data: &[u8],
) -> Result<Vec<Section>, String> {
    let table = header
        .sections(LE, data)
        .map_err(|error| error.to_string())?;
    let mut sections = Vec::with_capacity(table.len());
    for section in table.iter() {
        let name = table.section_name(LE, section).unwrap_or_default();
        let file = match section.file_range(LE) {
            Some((offset, size)) => clamp_range(offset, size, data.len()),
            None => 0..0,
        };
        sections.push(Section {
            name: String::from_utf8_lossy(name).into_owned(),
            address: section.sh_addr(LE).into(),
            size: section.sh_size(LE).into(),
            file,
            kind: section.sh_type(LE).0,
            flags: section.sh_flags(LE).0,
            link: section.sh_link(LE),
            entry_size: section.sh_entsize(LE).into(),
        });
    }
    Ok(sections)
}

/// The part of the range that is within the file.
fn clamp_range(offset: u64, size: u64, length: usize) -> Range<usize> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(length);
    let end = usize::try_from(offset.saturating_add(size))
        .unwrap_or(usize::MAX)
        .min(length);
    start..end
}
