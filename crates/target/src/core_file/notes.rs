//! The notes of a core file: threads with their registers, the signal that ended the process, the mapped files (elf(5), core(5); the
//! structures are in the kernel's `<linux/elfcore.h>` and `<linux/elf.h>`).

use crate::signal_info::SignalInfo;
use crate::{Address, ThreadId};
use dapple_arch::Machine;
use dapple_arch::registers::state::{self, widened};
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters, others};
use dapple_arch::registers::{Vectors, state::FIRST_CONTROL};
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
pub(super) const NT_ARM_VFP: u32 = 0x400;
pub(super) const NT_ARM_TLS: u32 = 0x401;
pub(super) const NT_SIGINFO: u32 = 0x5349_4749;
/// A thread's name, in a note of Dapple's own with the owner "DAPPLE". The kernel only stores the name of the process's main thread.
pub(super) const NT_THREAD_NAME: u32 = 1;

/// The most threads that are read: more than a process has, so that reading a broken file ends.
const MOST_THREADS: usize = 100_000;
/// The most mapped files that are read: more than a process has (`vm.max_map_count` is 65,530 by default).
const MOST_FILES: usize = 1 << 20;

/// The longest name that is read, in bytes: longer than a thread's name can be (prctl(2), `PR_SET_NAME`).
const LONGEST_NAME: usize = 64;

/// A thread of the process.
#[derive(Debug, Clone)]
pub struct CoreThread {
    /// Its id.
    pub id: ThreadId,
    /// The signal that was about to be delivered to it; 0 for none.
    pub signal: i32,
    /// Its general registers.
    pub registers: UserRegisters,
    /// The registers for floating-point numbers and vectors, if the file has them.
    pub vectors: Option<Arc<Vectors>>,
    /// The state of the units for these, in the format of [`dapple_arch::registers::state`]; empty if the file has none.
    pub extended: Vec<u8>,
    /// Details of the signal in `signal`.
    pub info: Option<SignalInfo>,
    /// Its name, if the file has it.
    pub name: Option<String>,
}

/// A mapped range of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// Its first address.
    pub start: u64,
    /// The address after its last byte.
    pub end: u64,
    /// The offset in the file at which it begins, in bytes.
    pub offset: u64,
    /// The file.
    pub path: PathBuf,
}

/// The contents of all notes.
#[derive(Debug, Default)]
pub struct Notes {
    /// The processor that the process ran on.
    pub machine: Machine,
    /// The threads; the first is the one that ended the process, or was the current one when the dump was requested.
    pub threads: Vec<CoreThread>,
    /// The files that were mapped, as `NT_FILE` lists them.
    pub files: Vec<MappedFile>,
    /// The auxiliary vector as the kernel wrote it.
    pub auxiliary: Vec<u8>,
    /// The name of the process's main thread.
    pub name: String,
    /// The process's command line, cut to 79 bytes.
    pub command: String,
    /// The process's id.
    pub process: i32,
}

impl Notes {
    /// Adds one note; a note about a thread belongs to the thread added last. Ignores notes of unknown kinds, and what can't be read of a
    /// note that is cut short.
    pub fn add(&mut self, name: &[u8], kind: u32, bytes: &[u8]) {
        match (name, kind) {
            (b"CORE", NT_PRSTATUS) if self.threads.len() < MOST_THREADS => {
                self.threads.extend(thread(self.machine, bytes));
            }
            (b"CORE", NT_FPREGSET) | (b"LINUX", NT_ARM_VFP) => {
                if let Some(thread) = self.threads.last_mut() {
                    match (self.machine, kind) {
                        (Machine::X86_64, _) => {
                            thread.vectors = vectors(bytes).map(|it| Arc::new(widened(&it)));
                        }
                        // Registers of a unit that no processor has any more.
                        (Machine::Arm, NT_FPREGSET) => {}
                        (machine, _) => {
                            thread.extended = units(machine, bytes);
                            let vectors = state::vectors(machine, &thread.extended);
                            thread.vectors = vectors.map(Arc::new);
                        }
                    }
                }
            }
            (b"LINUX", NT_X86_XSTATE) => {
                if let Some(thread) = self.threads.last_mut() {
                    thread.extended = bytes.to_vec();
                }
            }
            (b"LINUX", NT_ARM_TLS) => {
                let pointer = address(self.machine, bytes, 0);
                if let (Some(thread), Some(pointer)) = (self.threads.last_mut(), pointer) {
                    thread.registers.set_other(others::THREAD_POINTER, pointer);
                    thread.registers.set_other(others::HAS_THREAD_POINTER, 1);
                }
            }
            (b"CORE", NT_SIGINFO) => {
                if let Some(thread) = self.threads.last_mut() {
                    thread.info = signal_info(self.machine, bytes);
                }
            }
            (b"DAPPLE", NT_THREAD_NAME) => {
                if let Some(thread) = self.threads.last_mut() {
                    thread.name = Some(text(bytes.get(..bytes.len().min(LONGEST_NAME))));
                }
            }
            (b"CORE", NT_PRPSINFO) => {
                // The process's id, and behind three more its name: on arm, the ids of user and group before it have 2 bytes.
                let id = match self.machine.address_size() {
                    4 => 12,
                    _ => 24,
                };
                self.process = word32(bytes, id).unwrap_or(0).cast_signed();
                let name = id + 16;
                self.name = text(bytes.get(name..name + 16));
                self.command = text(bytes.get(name + 16..name + 96)).trim_end().to_owned();
            }
            (b"CORE", NT_AUXV) => self.auxiliary = bytes.to_vec(),
            (b"CORE", NT_FILE) => self.files = files(self.machine, bytes),
            _ => {}
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// An address, or a number of its size.
fn address(machine: Machine, bytes: &[u8], at: usize) -> Option<u64> {
    match machine.address_size() {
        4 => word32(bytes, at).map(u64::from),
        _ => word(bytes, at),
    }
}

fn word32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// The text up to the first null byte.
fn text(bytes: Option<&[u8]>) -> String {
    let bytes = bytes.unwrap_or_default();
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

/// `struct elf_prstatus`.
fn thread(machine: Machine, bytes: &[u8]) -> Option<CoreThread> {
    // In front of it are a number of 2 bytes and two sets of signals, which have the size of an address.
    let id = match machine.address_size() {
        4 => 24,
        _ => 32,
    };
    Some(CoreThread {
        id: ThreadId(word32(bytes, id)?.cast_signed()),
        signal: i32::from(u16::try_from(word32(bytes, 12)? & 0xffff).ok()?),
        registers: general(machine, bytes)?,
        vectors: None,
        extended: Vec::new(),
        info: None,
        name: None,
    })
}

/// `pr_reg` of `struct elf_prstatus`, a `struct user_regs_struct`. That of aarch64 has x0 to x30, the stack pointer, the program counter and
/// the flags; that of arm r0 to r15 and the flags; that of riscv64 the program counter and x1 to x31 (asm/ptrace.h).
fn general(machine: Machine, bytes: &[u8]) -> Option<UserRegisters> {
    let size = machine.address_size() as usize;
    let first = if size == 4 { 72 } else { 112 };
    let word = |index: usize| address(machine, bytes, first + size * index);
    if machine == Machine::X86_64 {
        let mut words = [0; REGISTER_WORDS];
        for (index, place) in words.iter_mut().enumerate() {
            *place = word(index)?;
        }
        return Some(UserRegisters::from_words(words));
    }
    let mut registers = UserRegisters::of(machine);
    let numbers = machine.general();
    match machine {
        Machine::Riscv64 => {
            registers.set_pc(Address(word(0)?));
            for number in numbers.skip(1) {
                registers.set(number, word(number.into())?);
            }
        }
        _ => {
            for number in numbers.clone() {
                registers.set(number, word(number.into())?);
            }
            registers.set_pc(Address(word(numbers.len())?));
            registers.set_flags(word(numbers.len() + 1)?);
        }
    }
    Some(registers)
}

/// The registers for floating-point numbers and vectors of `struct user_fpsimd_state` (aarch64), `struct __riscv_d_ext_state` or `struct user_vfp` (arm),
/// in the format of [`state`].
fn units(machine: Machine, bytes: &[u8]) -> Vec<u8> {
    let mut units = state::empty(machine);
    let size = machine.vector_size();
    let (floats, words) = bytes.split_at(bytes.len().min(32 * size));
    for (number, value) in machine.vectors().zip(floats.chunks_exact(size)) {
        let mut wide = [0; 16];
        wide[..size].copy_from_slice(value);
        let _ = state::set_bits(machine, &mut units, number, u128::from_le_bytes(wide));
    }
    // aarch64: fpsr, fpcr. riscv64: fcsr, which is the third of ours. arm: fpscr.
    let numbers = match machine {
        Machine::Riscv64 => FIRST_CONTROL + 2..FIRST_CONTROL + 3,
        Machine::Arm => FIRST_CONTROL..FIRST_CONTROL + 1,
        _ => FIRST_CONTROL..FIRST_CONTROL + 2,
    };
    for (number, at) in numbers.zip((0..words.len()).step_by(4)) {
        let value = word32(words, at).unwrap_or(0);
        let _ = state::set_bits(machine, &mut units, number, value.into());
    }
    units
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

/// `siginfo_t`. What depends on the signal is aligned like an address.
fn signal_info(machine: Machine, bytes: &[u8]) -> Option<SignalInfo> {
    let signed = |at| word32(bytes, at).map(u32::cast_signed);
    let (rest, size) = match machine.address_size() {
        4 => (12, 4),
        _ => (16, 8),
    };
    Some(SignalInfo {
        number: signed(0)?,
        code: signed(8)?,
        address: address(machine, bytes, rest)?,
        sender: signed(rest)?,
        status: signed(rest + 8)?,
        system_call: signed(rest + size)?,
    })
}

/// `NT_FILE`: a count and a page size; for each file a start, an end and an offset in pages; then the paths.
fn files(machine: Machine, bytes: &[u8]) -> Vec<MappedFile> {
    let size = machine.address_size() as usize;
    let word = |index: usize| address(machine, bytes, size.saturating_mul(index));
    let (Some(count), Some(page)) = (word(0), word(1)) else {
        return Vec::new();
    };
    let count = usize::try_from(count).unwrap_or(0).min(MOST_FILES);
    let names = count
        .saturating_mul(3)
        .saturating_add(2)
        .saturating_mul(size);
    let mut paths = bytes
        .get(names..)
        .unwrap_or_default()
        .split(|byte| *byte == 0);
    let mut files = Vec::new();
    for index in 0..count {
        let at = 2 + 3 * index;
        let (Some(start), Some(end), Some(offset), Some(path)) =
            (word(at), word(at + 1), word(at + 2), paths.next())
        else {
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
