//! The notes of a core file: threads with their registers, what ended the process, which files were mapped (elf(5), core(5);
//! the structures are the kernel's `<linux/elfcore.h>` and `<linux/elf.h>`).

use crate::ThreadId;
use crate::signal_info::SignalInfo;
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) const NT_PRSTATUS: u32 = 1;
pub(super) const NT_FPREGSET: u32 = 2;
pub(super) const NT_PRPSINFO: u32 = 3;
pub(super) const NT_AUXV: u32 = 6;
pub(super) const NT_FILE: u32 = 0x4649_4c45;
pub(super) const NT_X86_XSTATE: u32 = 0x202;
pub(super) const NT_SIGINFO: u32 = 0x5349_4749;
/// Our own, of the name "DAPPLE": what the thread is called. The kernel keeps only what the first one of the process is.
pub(super) const NT_THREAD_NAME: u32 = 1;

/// More threads than a process has: where a broken file is given up.
const MOST_THREADS: usize = 100_000;
/// More mapped files than a process has (`vm.max_map_count` is 65,530 by default).
const MOST_FILES: usize = 1 << 20;

/// More bytes than a thread's name has (prctl(2), `PR_SET_NAME`).
const LONGEST_NAME: usize = 64;

/// A thread as it was.
#[derive(Debug, Clone)]
pub struct CoreThread {
    /// Its id.
    pub id: ThreadId,
    /// The signal that it was about to get, 0: none.
    pub signal: i32,
    /// Its general registers.
    pub registers: UserRegisters,
    /// The SSE registers, where they were written down.
    pub vectors: Option<Arc<[u128; 16]>>,
    /// The extended state (XSAVE).
    pub extended: Vec<u8>,
    /// What is known of that signal.
    pub info: Option<SignalInfo>,
    /// What it was called, where that was written down.
    pub name: Option<String>,
}

/// A part of a file in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// Its first address.
    pub start: u64,
    /// The address behind its last byte.
    pub end: u64,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file.
    pub path: PathBuf,
}

/// All that notes say.
#[derive(Debug, Default)]
pub struct Notes {
    /// The one that ended the process first.
    pub threads: Vec<CoreThread>,
    /// The files that were mapped, as `NT_FILE` lists them.
    pub files: Vec<MappedFile>,
    /// The auxiliary vector as the kernel wrote it.
    pub auxiliary: Vec<u8>,
    /// What the first thread of the process was called.
    pub name: String,
    /// Its command line, cut to 79 bytes.
    pub command: String,
    /// Its id.
    pub process: i32,
}

impl Notes {
    /// Takes in one note; one that is cut short or not understood says nothing.
    pub fn add(&mut self, name: &[u8], kind: u32, bytes: &[u8]) {
        match (name, kind) {
            (b"CORE", NT_PRSTATUS) if self.threads.len() < MOST_THREADS => {
                self.threads.extend(thread(bytes));
            }
            (b"CORE", NT_FPREGSET) => {
                if let Some(thread) = self.threads.last_mut() {
                    thread.vectors = vectors(bytes).map(Arc::new);
                }
            }
            (b"LINUX", NT_X86_XSTATE) => {
                if let Some(thread) = self.threads.last_mut() {
                    thread.extended = bytes.to_vec();
                }
            }
            (b"CORE", NT_SIGINFO) => {
                if let Some(thread) = self.threads.last_mut() {
                    thread.info = signal_info(bytes);
                }
            }
            (b"DAPPLE", NT_THREAD_NAME) => {
                if let Some(thread) = self.threads.last_mut() {
                    thread.name = Some(text(bytes.get(..bytes.len().min(LONGEST_NAME))));
                }
            }
            (b"CORE", NT_PRPSINFO) => {
                self.process = word32(bytes, 24).unwrap_or(0).cast_signed();
                self.name = text(bytes.get(40..56));
                self.command = text(bytes.get(56..136)).trim_end().to_owned();
            }
            (b"CORE", NT_AUXV) => self.auxiliary = bytes.to_vec(),
            (b"CORE", NT_FILE) => self.files = files(bytes),
            _ => {}
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

fn word32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// Text up to its null byte.
fn text(bytes: Option<&[u8]>) -> String {
    let bytes = bytes.unwrap_or_default();
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

/// `struct elf_prstatus`.
fn thread(bytes: &[u8]) -> Option<CoreThread> {
    /// Where `pr_reg` begins, a `struct user_regs_struct`.
    const REGISTERS: usize = 112;
    let mut words = [0; REGISTER_WORDS];
    for (place, at) in words.iter_mut().zip((REGISTERS..).step_by(8)) {
        *place = word(bytes, at)?;
    }
    Some(CoreThread {
        id: ThreadId(word32(bytes, 32)?.cast_signed()),
        signal: i32::from(u16::try_from(word32(bytes, 12)? & 0xffff).ok()?),
        registers: UserRegisters::from_words(words),
        vectors: None,
        extended: Vec::new(),
        info: None,
        name: None,
    })
}

/// The SSE registers of `struct user_fpregs_struct`, an FXSAVE area (Intel SDM, volume 1, §10.5.1).
fn vectors(bytes: &[u8]) -> Option<[u128; 16]> {
    let area = bytes.get(160..160 + 16 * 16)?;
    let mut vectors = [0; 16];
    for (vector, bytes) in vectors.iter_mut().zip(area.chunks_exact(16)) {
        *vector = u128::from_le_bytes(bytes.try_into().ok()?);
    }
    Some(vectors)
}

/// `siginfo_t`.
fn signal_info(bytes: &[u8]) -> Option<SignalInfo> {
    let signed = |at| word32(bytes, at).map(u32::cast_signed);
    Some(SignalInfo {
        number: signed(0)?,
        code: signed(8)?,
        address: word(bytes, 16)?,
        sender: signed(16)?,
        status: signed(24)?,
        system_call: signed(24)?,
    })
}

/// A count and a page size, for each a start, an end and an offset in pages, then their paths.
fn files(bytes: &[u8]) -> Vec<MappedFile> {
    let (Some(count), Some(page)) = (word(bytes, 0), word(bytes, 8)) else {
        return Vec::new();
    };
    let count = usize::try_from(count).unwrap_or(0).min(MOST_FILES);
    let names = 16_usize.saturating_add(count.saturating_mul(24));
    let mut paths = bytes
        .get(names..)
        .unwrap_or_default()
        .split(|byte| *byte == 0);
    let mut files = Vec::new();
    for index in 0..count {
        let at = 16 + 24 * index;
        let (Some(start), Some(end), Some(offset), Some(path)) = (
            word(bytes, at),
            word(bytes, at + 8),
            word(bytes, at + 16),
            paths.next(),
        ) else {
            break;
        };
        if start < end {
            files.push(MappedFile {
                start,
                end,
                offset: offset.saturating_mul(page),
                path: PathBuf::from(OsStr::from_bytes(path)),
            });
        }
    }
    files
}
