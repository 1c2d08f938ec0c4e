//! Writes a core file in the kernel's format (core(5), elf(5)).

use super::notes::{
    NT_AUXV, NT_FILE, NT_FPREGSET, NT_PRPSINFO, NT_PRSTATUS, NT_SIGINFO, NT_THREAD_NAME,
    NT_X86_XSTATE,
};
use crate::memory_map::Mapping;
use crate::signal_info::SignalInfo;
use crate::{Address, ThreadId, signals};
use dapple_arch::Memory;
use dapple_arch::registers::Vectors;
use dapple_arch::registers::state::narrowed;
use dapple_arch::registers::user::UserRegisters;
use object::elf;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const PAGE: u64 = 4096;
/// How many bytes of memory are copied at once.
const CHUNK: u64 = 1 << 20;
/// Sizes of the headers, in bytes.
const FILE_HEADER: u64 = 64;
const PART_HEADER: u64 = 56;
/// The greatest count of program headers that `e_phnum` can have (below `PN_XNUM`).
const MOST_PARTS: usize = 0xfffe;

/// A thread to write.
pub struct WrittenThread {
    /// Its id.
    pub id: ThreadId,
    /// The signal that is about to be delivered to it; 0 for none.
    pub signal: i32,
    /// Its general registers.
    pub registers: UserRegisters,
    /// The SSE registers, `xmm0` first.
    pub vectors: Option<Vectors>,
    /// The extended state (XSAVE).
    pub extended: Vec<u8>,
    /// Details of the signal in `signal`.
    pub info: Option<SignalInfo>,
    /// Its name.
    pub name: String,
}

/// A process to write. `threads` begins with the current thread, which readers of the core file show first.
pub struct WrittenProcess<'a> {
    /// Its id.
    pub process: ThreadId,
    /// Its name.
    pub name: String,
    /// Its command line.
    pub command: String,
    /// Its threads.
    pub threads: Vec<WrittenThread>,
    /// The auxiliary vector as the kernel gave it.
    pub auxiliary: Vec<u8>,
    /// Its memory map.
    pub mappings: Vec<Mapping>,
    /// The starts of those mappings whose memory differs from their file.
    pub own: BTreeSet<u64>,
    /// Its memory.
    pub memory: &'a dyn Memory,
}

impl WrittenProcess<'_> {
    /// Writes a new file with mode 0600; fails if there is one at `path`. Leaves out the contents of mappings that the program can't read,
    /// and of unchanged mappings of files, except for the first page of each file, which usually has the build id.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let written = self.write_into(file);
        if written.is_err() {
            // An incomplete core file is useless.
            let _ = std::fs::remove_file(path);
        }
        written
    }

    fn write_into(&self, file: File) -> io::Result<()> {
        // `[vvar]` is a data page of the kernel's, which a debugger can't read.
        let parts = self
            .mappings
            .iter()
            .filter(|mapping| mapping.name != "[vvar]");
        let parts: Vec<&Mapping> = parts.collect();
        // The notes have a header, too.
        if parts.len() >= MOST_PARTS {
            return Err(io::Error::other("it has too many mappings"));
        }
        let notes = self.notes();
        let headers = FILE_HEADER + PART_HEADER * (parts.len() as u64 + 1);
        let mut offset = (headers + notes.len() as u64).next_multiple_of(PAGE);
        let mut head = Vec::new();
        file_header(&mut head, parts.len() + 1);
        part_header(
            &mut head,
            elf::PT_NOTE.0,
            0,
            headers,
            (0, notes.len() as u64, 0),
        );
        for part in &parts {
            let size = self.kept(part);
            let place = (part.start, size, part.end - part.start);
            part_header(&mut head, elf::PT_LOAD.0, rights(part), offset, place);
            offset += size;
        }
        head.extend(notes);
        let mut file = BufWriter::new(file);
        file.write_all(&head)?;
        let mut at = (head.len() as u64).next_multiple_of(PAGE);
        for part in &parts {
            file.seek(SeekFrom::Start(at))?;
            self.copy(part, self.kept(part), &mut file)?;
            at += self.kept(part);
        }
        file.flush()?;
        // Seeking doesn't lengthen the file, so a hole at the end would be missing.
        file.get_ref().set_len(at)
    }

    /// Copies the first `size` bytes of a mapping. Pages of zeros become holes, and so does an unreadable page with the rest of its
    /// [`CHUNK`].
    fn copy(&self, part: &Mapping, size: u64, file: &mut BufWriter<File>) -> io::Result<()> {
        let mut buffer = vec![0; usize::try_from(size.min(CHUNK)).unwrap_or(0)];
        let mut done = 0;
        while done < size {
            let length = usize::try_from(size - done).unwrap_or(usize::MAX);
            let length = length.min(buffer.len());
            let chunk = buffer.get_mut(..length).unwrap_or_default();
            chunk.fill(0);
            self.memory.read_some(Address(part.start + done), chunk);
            for page in chunk.chunks(PAGE as usize) {
                match page.iter().all(|byte| *byte == 0) {
                    true => file.seek_relative(page.len() as i64)?,
                    false => file.write_all(page)?,
                }
            }
            done += length as u64;
        }
        Ok(())
    }

    /// How many bytes of a mapping, counted from its start, are written to the file.
    fn kept(&self, part: &Mapping) -> u64 {
        let all = part.end - part.start;
        let is_as_in_file = is_file(part) && !self.own.contains(&part.start);
        match (part.read, is_as_in_file) {
            (false, _) => 0,
            (true, false) => all,
            (true, true) if part.offset == 0 => all.min(PAGE),
            (true, true) => 0,
        }
    }

    fn notes(&self) -> Vec<u8> {
        let mut notes = Vec::new();
        for (index, thread) in self.threads.iter().enumerate() {
            note(&mut notes, NT_PRSTATUS, &self.status(thread));
            if index == 0 {
                note(&mut notes, NT_PRPSINFO, &self.about());
                note(&mut notes, NT_AUXV, &self.auxiliary);
                note(&mut notes, NT_FILE, &self.files());
            }
            if let Some(info) = &thread.info {
                note(&mut notes, NT_SIGINFO, &signal_info(info));
            }
            if let Some(vectors) = &thread.vectors {
                note(&mut notes, NT_FPREGSET, &area(vectors));
            }
            note_of(&mut notes, b"LINUX\0\0\0", NT_X86_XSTATE, &thread.extended);
            let name = thread.name.as_bytes();
            note_of(&mut notes, b"DAPPLE\0\0", NT_THREAD_NAME, name);
        }
        notes
    }

    /// `struct elf_prstatus`.
    fn status(&self, thread: &WrittenThread) -> Vec<u8> {
        let mut bytes = vec![0; 336];
        put(&mut bytes, 0, &thread.signal.to_le_bytes());
        put(&mut bytes, 12, &thread.signal.to_le_bytes()[..2]);
        put(&mut bytes, 32, &thread.id.0.to_le_bytes());
        put(&mut bytes, 40, &self.process.0.to_le_bytes());
        for (word, at) in thread.registers.to_words().iter().zip((112..).step_by(8)) {
            put(&mut bytes, at, &word.to_le_bytes());
        }
        put(&mut bytes, 328, &1_i32.to_le_bytes());
        bytes
    }

    /// `struct elf_prpsinfo`.
    fn about(&self) -> Vec<u8> {
        let mut bytes = vec![0; 136];
        put(&mut bytes, 24, &self.process.0.to_le_bytes());
        put(&mut bytes, 40, start(&self.name, 15));
        put(&mut bytes, 56, start(&self.command, 79));
        bytes
    }

    /// `NT_FILE`, in the layout that [`super::notes`] reads.
    fn files(&self) -> Vec<u8> {
        let files = self.mappings.iter().filter(|one| is_file(one));
        let files: Vec<&Mapping> = files.collect();
        let mut bytes = Vec::new();
        let mut put = |word: u64| bytes.extend(word.to_le_bytes());
        put(files.len() as u64);
        put(PAGE);
        for file in &files {
            put(file.start);
            put(file.end);
            put(file.offset / PAGE);
        }
        for file in &files {
            bytes.extend(file.name.as_bytes());
            bytes.push(0);
        }
        bytes
    }
}

fn is_file(mapping: &Mapping) -> bool {
    mapping.name.starts_with('/')
}

fn rights(part: &Mapping) -> u32 {
    let right = |has, flag: elf::ProgramFlags| if has { flag.0 } else { 0 };
    right(part.read, elf::PF_R) | right(part.write, elf::PF_W) | right(part.execute, elf::PF_X)
}

/// `Elf64_Ehdr`.
fn file_header(bytes: &mut Vec<u8>, parts: usize) {
    bytes.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(elf::ET_CORE.0.to_le_bytes());
    bytes.extend(elf::EM_X86_64.0.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(FILE_HEADER.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    let count = u16::try_from(parts).unwrap_or(u16::MAX);
    for half in [FILE_HEADER as u16, PART_HEADER as u16, count, 0, 0, 0] {
        bytes.extend(half.to_le_bytes());
    }
}

/// `Elf64_Phdr`; `place` is the address, the size in the file and the size in memory.
fn part_header(bytes: &mut Vec<u8>, kind: u32, rights: u32, offset: u64, place: (u64, u64, u64)) {
    bytes.extend(kind.to_le_bytes());
    bytes.extend(rights.to_le_bytes());
    for word in [offset, place.0, 0, place.1, place.2, 1] {
        bytes.extend(word.to_le_bytes());
    }
}

fn note(bytes: &mut Vec<u8>, kind: u32, contents: &[u8]) {
    note_of(bytes, b"CORE\0\0\0\0", kind, contents);
}

/// Appends a note whose owner name is padded to eight bytes.
fn note_of(bytes: &mut Vec<u8>, name: &[u8; 8], kind: u32, contents: &[u8]) {
    let length = name.iter().take_while(|byte| **byte != 0).count() + 1;
    bytes.extend(u32::try_from(length).unwrap_or(0).to_le_bytes());
    bytes.extend(u32::try_from(contents.len()).unwrap_or(0).to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend(name);
    bytes.extend(contents);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// `struct user_fpregs_struct`.
fn area(vectors: &Vectors) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    for (vector, at) in narrowed(vectors).iter().zip((160..).step_by(16)) {
        put(&mut bytes, at, &vector.to_le_bytes());
    }
    bytes
}

/// `siginfo_t`.
fn signal_info(info: &SignalInfo) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    put(&mut bytes, 0, &info.number.to_le_bytes());
    put(&mut bytes, 8, &info.code.to_le_bytes());
    // A union: the signal and its code determine which fields it has.
    match info.code > 0 && signals::is_fault(info.number) {
        true => put(&mut bytes, 16, &info.address.to_le_bytes()),
        false => {
            put(&mut bytes, 16, &info.sender.to_le_bytes());
            put(&mut bytes, 24, &info.status.to_le_bytes());
        }
    }
    bytes
}

fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + part.len()) {
        place.copy_from_slice(part);
    }
}

fn start(text: &str, most: usize) -> &[u8] {
    let bytes = text.as_bytes();
    bytes.get(..most).unwrap_or(bytes)
}
