//! A core file: the memory and the threads of a process as they were when it ended, or when a core dump was requested.
//!
//! The kernel leaves out unchanged pages of mapped files, such as code (`/proc/PID/coredump_filter`, core(5)). They are read from those
//! files, once it is known that the files belong to the build that ran.

mod memory_file;
mod notes;
#[cfg(test)]
mod tests;
pub mod write;

use crate::Address;
use crate::auxiliary_vector::AuxiliaryVector;
use crate::memory_map::Mapping;
use dapple_arch::{Machine, Memory};
pub use memory_file::{CHANGED, MemoryFile};
pub use notes::{CoreThread, MappedFile, Notes};
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader};
use object::{Endianness, ReadCache, ReadRef};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most bytes of notes that are read; a thread has some kilobytes.
const MOST_NOTES: u64 = 1 << 30;

/// A contiguous range of the memory (`PT_LOAD`).
#[derive(Debug, Clone, Copy)]
struct Segment {
    start: u64,
    end: u64,
    /// The offset of the segment's bytes in the core file. From the address `written_end` on, the core file leaves the memory out.
    offset: u64,
    written_end: u64,
    flags: elf::ProgramFlags,
}

/// A range in which the memory that the core file leaves out is read from the mapped file instead.
#[derive(Debug)]
struct StandIn {
    start: u64,
    end: u64,
    offset: u64,
    file: Arc<MemoryFile>,
}

/// A core file.
#[derive(Debug)]
pub struct CoreFile {
    file: MemoryFile,
    /// Sorted by address.
    segments: Vec<Segment>,
    /// Sorted by address.
    stand_ins: Vec<StandIn>,
    /// Whether the file is shorter than its headers say.
    pub is_cut: bool,
    /// The contents of its notes.
    pub notes: Notes,
}

impl CoreFile {
    /// Opens a core file and reads everything but the memory.
    ///
    /// # Errors
    /// A sentence: the file can't be read, or is no core file of an x86-64 program.
    pub fn open(path: &Path) -> Result<CoreFile, String> {
        // Opening a pipe would block.
        let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("this is no file".into());
        }
        let file = MemoryFile::open(path).map_err(|error| error.to_string())?;
        let (segments, notes) = parse(&ReadCache::new(&file.file))?;
        let is_cut = segments
            .iter()
            .any(|one| one.offset.saturating_add(one.written_end - one.start) > metadata.len());
        Ok(CoreFile {
            file,
            segments,
            stand_ins: Vec::new(),
            is_cut,
            notes,
        })
    }

    /// From now on, memory in the range `mapped` that the core file leaves out is read from `file`. The caller knows that `file` is of the
    /// build that was mapped there.
    pub fn stand_in(&mut self, mapped: &MappedFile, file: Arc<MemoryFile>) {
        self.stand_ins.push(StandIn {
            start: mapped.start,
            end: mapped.end,
            offset: mapped.offset,
            file,
        });
        self.stand_ins.sort_by_key(|one| one.start);
    }

    /// The files, this core file among them, that a read has found modified since they were opened. No memory is read from them any more.
    pub fn changed_files(&self) -> Vec<PathBuf> {
        let stand_ins = self.stand_ins.iter().map(|one| &*one.file);
        let files = std::iter::once(&self.file).chain(stand_ins);
        let mut changed: Vec<_> = files
            .filter(|file| file.has_changed())
            .map(|file| file.path.clone())
            .collect();
        changed.dedup();
        changed
    }

    /// The process's memory map, as far as the core file has it. Only mappings of files have names, and the main thread's stack: the kernel puts
    /// the path of the program there.
    pub fn mappings(&self) -> Vec<Mapping> {
        let on_stack = AuxiliaryVector::parse(self.notes.machine, &self.notes.auxiliary).file_name;
        let is_stack =
            |one: &Segment| on_stack.is_some_and(|at| (one.start..one.end).contains(&at));
        let mapping = |one: &Segment| {
            let mut files = self.notes.files.iter();
            let file = files.find(|file| (file.start..file.end).contains(&one.start));
            Mapping {
                start: one.start,
                end: one.end,
                read: one.flags.contains(elf::PF_R),
                write: one.flags.contains(elf::PF_W),
                execute: one.flags.contains(elf::PF_X),
                offset: file.map_or(0, |file| file.offset.saturating_add(one.start - file.start)),
                name: match file {
                    Some(file) => file.path.display().to_string(),
                    None if is_stack(one) => "[stack]".to_owned(),
                    None => String::new(),
                },
            }
        };
        self.segments.iter().map(mapping).collect()
    }

    /// Fills as much of `buffer` as one segment or one stand-in provides, and returns how many bytes that were.
    fn read_part(&self, address: u64, buffer: &mut [u8]) -> usize {
        let index = self.segments.partition_point(|one| one.end <= address);
        if let Some(one) = self.segments.get(index)
            && (one.start..one.written_end).contains(&address)
        {
            let room = one.written_end - address;
            let offset = one.offset.saturating_add(address - one.start);
            return self.file.read_at(offset, room, buffer);
        }
        let index = self.stand_ins.partition_point(|one| one.end <= address);
        match self.stand_ins.get(index) {
            Some(one) if one.start <= address => {
                let room = one.end - address;
                let offset = one.offset.saturating_add(address - one.start);
                one.file.read_at(offset, room, buffer)
            }
            _ => 0,
        }
    }
}

impl Memory for CoreFile {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        let mut done = 0;
        while done < buffer.len() {
            let at = address.0.checked_add(done as u64).ok_or(address)?;
            match self.read_part(at, &mut buffer[done..]) {
                0 => return Err(Address(at)),
                count => done += count,
            }
        }
        Ok(())
    }

    fn address_size(&self) -> u64 {
        self.notes.machine.address_size()
    }
}

fn parse(cache: &ReadCache<&File>) -> Result<(Vec<Segment>, Notes), String> {
    match FileHeader32::<Endianness>::parse(cache) {
        Ok(header) => parse_headers(header, cache),
        Err(_) => {
            let header = FileHeader64::<Endianness>::parse(cache);
            parse_headers(header.map_err(|_| "this is no ELF file".to_owned())?, cache)
        }
    }
}

fn parse_headers<H: FileHeader<Endian = Endianness>>(
    header: &H,
    cache: &ReadCache<&File>,
) -> Result<(Vec<Segment>, Notes), String> {
    let endian = header.endian().map_err(|error| error.to_string())?;
    if header.e_type(endian) != elf::ET_CORE {
        return Err("this is an ELF file, but no core file".into());
    }
    let size = if header.is_type_64() { 8 } else { 4 };
    let machine = Machine::of_elf(header.e_machine(endian).0);
    let Some(machine) = machine.filter(|it| header.is_little_endian() && it.address_size() == size)
    else {
        let known = Machine::ALL.map(Machine::name).join(", ");
        return Err(format!(
            "this is a core file of another kind of machine than {known}"
        ));
    };
    let headers = header
        .program_headers(endian, cache)
        .map_err(|error| format!("its parts can't be read: {error}"))?;
    let mut segments = Vec::new();
    let mut notes = Notes {
        machine,
        ..Notes::default()
    };
    let mut left = MOST_NOTES;
    for one in headers {
        match one.p_type(endian) {
            elf::PT_LOAD => segments.extend(segment(one, endian)),
            elf::PT_NOTE if one.p_filesz(endian).into() <= left => {
                left -= one.p_filesz(endian).into();
                read_notes::<H>(one, endian, cache, &mut notes);
            }
            _ => {}
        }
    }
    segments.sort_by_key(|one: &Segment| one.start);
    if notes.threads.is_empty() {
        return Err("it has no threads: it was cut short, or isn't of Linux".into());
    }
    Ok((segments, notes))
}

fn segment<P: ProgramHeader<Endian = Endianness>>(
    header: &P,
    endian: Endianness,
) -> Option<Segment> {
    let start = header.p_vaddr(endian).into();
    let end = start.checked_add(header.p_memsz(endian).into())?;
    let written_end = start.checked_add(header.p_filesz(endian).into())?.min(end);
    (start < end).then_some(Segment {
        start,
        end,
        offset: header.p_offset(endian).into(),
        written_end,
        flags: header.p_flags(endian),
    })
}

/// Reads the notes of one header. If the file is cut short, the notes before the cut are used.
fn read_notes<'a, H: FileHeader<Endian = Endianness>>(
    header: &H::ProgramHeader,
    endian: Endianness,
    cache: impl ReadRef<'a>,
    notes: &mut Notes,
) {
    let start = header.p_offset(endian).into();
    let there = cache.len().unwrap_or(0).saturating_sub(start);
    let size = header.p_filesz(endian).into().min(there);
    let Ok(bytes) = cache.read_bytes_at(start, size) else {
        return;
    };
    let Ok(mut each) = NoteIterator::<H>::new(endian, header.p_align(endian), bytes) else {
        return;
    };
    while let Ok(Some(note)) = each.next() {
        notes.add(note.name(), note.n_type(endian).0, note.desc());
    }
}

/// The build id (`NT_GNU_BUILD_ID`) of a loaded file, if it is within `beginning`, the file's first bytes.
pub fn build_id(beginning: &[u8]) -> Option<Vec<u8>> {
    match FileHeader32::<Endianness>::parse(beginning) {
        Ok(header) => build_id_in(header, beginning),
        Err(_) => build_id_in(
            FileHeader64::<Endianness>::parse(beginning).ok()?,
            beginning,
        ),
    }
}

fn build_id_in<H: FileHeader<Endian = Endianness>>(
    header: &H,
    beginning: &[u8],
) -> Option<Vec<u8>> {
    let endian = header.endian().ok()?;
    let headers = header.program_headers(endian, beginning).ok()?;
    let mut notes = headers
        .iter()
        .filter_map(|one| one.notes(endian, beginning).ok()?);
    notes.find_map(|mut each| {
        while let Ok(Some(note)) = each.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc().to_owned());
            }
        }
        None
    })
}
