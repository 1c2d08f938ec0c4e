//! Tests of core files that are cut short or have damaged bytes, and of registers in those of other processors.

use super::write::{WrittenProcess, WrittenThread};
use super::*;
use crate::ThreadId;
use crate::signal_info::SignalInfo;
use dapple_arch::registers::state;
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Memory whose contents are a function of the address.
struct Patterned;

fn pattern(address: u64) -> u8 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 | 1
}

impl Memory for Patterned {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        for (at, byte) in (address.0..).zip(buffer) {
            *byte = pattern(at);
        }
        Ok(())
    }
}

const CODE: u64 = 0x40_0000;
const HEAP: u64 = 0x60_0000;
const STACK: u64 = 0x7fff_0000_0000;
const PAGES: u64 = 0x3000;

/// A temporary file, removed when dropped.
struct Written(PathBuf);

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn written(test: &str) -> Written {
    let path = std::env::temp_dir().join(format!("dapple-{test}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mapping = |start, execute: bool, name: &str| Mapping {
        start,
        end: start + PAGES,
        read: true,
        write: !execute,
        execute,
        offset: 0,
        name: name.into(),
    };
    let thread = |id| WrittenThread {
        id: ThreadId(id),
        signal: libc::SIGSEGV,
        registers: UserRegisters::from_words([STACK; REGISTER_WORDS]),
        vectors: Some([7; 32]),
        extended: vec![3; 832],
        info: Some(SignalInfo {
            number: libc::SIGSEGV,
            code: 1,
            address: 16,
            ..SignalInfo::default()
        }),
        name: format!("worker {id}"),
    };
    let process = WrittenProcess {
        process: ThreadId(70),
        name: "program".into(),
        command: "./program all".into(),
        threads: (70..74).map(thread).collect(),
        auxiliary: vec![1; 320],
        mappings: vec![
            mapping(CODE, true, "/usr/bin/program"),
            mapping(HEAP, false, ""),
            mapping(STACK, false, "[stack]"),
        ],
        own: BTreeSet::from([CODE, HEAP, STACK]),
        memory: &Patterned,
    };
    process.write(&path).expect("it can be written");
    Written(path)
}

/// Opens the file and reads all memory that its headers list; returns how many bytes could be read.
fn look(path: &Path) -> Result<u64, String> {
    let core = CoreFile::open(path)?;
    assert!(!core.notes.threads.is_empty());
    let mut read = 0;
    for mapping in core.mappings().iter().take(100) {
        let mut bytes = [0; PAGES as usize];
        let count = core.read_some(Address(mapping.start), &mut bytes);
        assert!(count <= bytes.len());
        read += count as u64;
        let _ = core.read(Address(mapping.end.wrapping_sub(4)), &mut [0; 16]);
    }
    Ok(read)
}

#[test]
fn wherever_a_core_file_is_cut_it_gives_what_it_has_or_a_reason() {
    let core = written("cut");
    let whole = std::fs::read(&core.0).expect("bytes");
    assert_eq!(look(&core.0), Ok(3 * PAGES));
    let opened = CoreFile::open(&core.0).expect("a core file");
    assert!(!opened.is_cut && opened.notes.threads.len() == 4);
    let memory = whole.len() as u64 - 3 * PAGES;
    let cuts = (0..1500).chain((1500..whole.len() as u64).step_by(61));
    let (mut refused, mut last) = (0, 0);
    // From the longest to the shortest, so that the same file can be cut for each length.
    for length in cuts.collect::<Vec<_>>().into_iter().rev() {
        let file = File::options().write(true).open(&core.0).expect("a file");
        file.set_len(length).expect("cut");
        match look(&core.0) {
            Ok(read) => {
                let core = CoreFile::open(&core.0).expect("a core file");
                assert!(core.is_cut, "cut at {length}");
                assert_eq!(read, length.saturating_sub(memory), "cut at {length}");
                for mapping in core.mappings() {
                    let mut bytes = [0; PAGES as usize];
                    let count = core.read_some(Address(mapping.start), &mut bytes);
                    let right = (mapping.start..).zip(&bytes[..count]);
                    assert!(right.into_iter().all(|(at, byte)| *byte == pattern(at)));
                }
                assert_eq!(refused, 0, "cut at {length}");
                last = length;
            }
            Err(why) => {
                assert!(!why.is_empty());
                refused += 1;
            }
        }
    }
    // The registers of the first thread suffice to open the file.
    assert!(refused > 100 && last < 1000, "{refused} refused, {last}");
}

#[test]
fn whatever_stands_in_a_core_file_is_answered() {
    let core = written("damaged");
    let whole = std::fs::read(&core.0).expect("bytes");
    let head = whole.len() - 3 * PAGES as usize;
    let mut random = 1_u64;
    let mut next = |end: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as usize % end
    };
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut bytes = whole.clone();
        for _ in 0..=next(8) {
            let at = match next(3) {
                0 => next(64),
                1 => next(64 + 5 * 56),
                _ => next(head),
            };
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff, next(256) as u8][next(6)];
        }
        std::fs::write(&core.0, &bytes).expect("written");
        match look(&core.0) {
            Ok(_) => opened += 1,
            Err(why) => {
                assert!(!why.is_empty());
                refused += 1;
            }
        }
    }
    assert!(
        opened > 100 && refused > 100,
        "{opened} opened, {refused} refused"
    );
}

/// A thread of a core file whose notes are a `struct elf_prstatus` with these registers, and the units for floating-point numbers.
fn thread_of(machine: Machine, words: &[u64], units: &[u8]) -> CoreThread {
    let mut status = vec![0; 112];
    status[12..14].copy_from_slice(&11_u16.to_le_bytes());
    status[32..36].copy_from_slice(&70_u32.to_le_bytes());
    status.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let mut notes = Notes {
        machine,
        ..Notes::default()
    };
    notes.add(b"CORE", notes::NT_PRSTATUS, &status);
    notes.add(b"CORE", notes::NT_FPREGSET, units);
    notes.threads.remove(0)
}

/// A word of control of a thread, by its place among those of its machine.
fn control(thread: &CoreThread, machine: Machine, index: u16) -> Result<u128, &'static str> {
    let number = state::FIRST_CONTROL + index;
    state::bits(machine, &thread.extended, number)
}

#[test]
fn registers_of_aarch64_are_where_the_kernel_writes_them() {
    let machine = Machine::Aarch64;
    // x0 to x30, sp, pc, pstate; v0 to v31, fpsr, fpcr.
    let words: Vec<u64> = (100..134).collect();
    let mut units: Vec<u8> = (200..232_u128).flat_map(u128::to_le_bytes).collect();
    units.extend([7_u32, 8, 0, 0].into_iter().flat_map(u32::to_le_bytes));
    let thread = thread_of(machine, &words, &units);
    assert_eq!((thread.id, thread.signal), (ThreadId(70), 11));
    let named = |name| thread.registers.to_dwarf().get(machine.named(name)?);
    assert_eq!(["x0", "x30"].map(named), [Some(100), Some(130)]);
    assert_eq!(["sp", "pc"].map(named), [Some(131), Some(132)]);
    let vector = |index| state::bits(machine, &thread.extended, machine.vectors().start + index);
    assert_eq!([vector(0), vector(31)], [Ok(200), Ok(231)]);
    assert_eq!(control(&thread, machine, 0), Ok(7));
    assert_eq!(control(&thread, machine, 1), Ok(8));
}

#[test]
fn registers_of_riscv64_are_where_the_kernel_writes_them() {
    let machine = Machine::Riscv64;
    // pc, x1 to x31; f0 to f31, fcsr.
    let words: Vec<u64> = (100..132).collect();
    let mut units: Vec<u8> = (200..232_u64).flat_map(u64::to_le_bytes).collect();
    units.extend(0x23_u32.to_le_bytes());
    let thread = thread_of(machine, &words, &units);
    let named = |name| thread.registers.to_dwarf().get(machine.named(name)?);
    assert_eq!(["pc", "ra"].map(named), [Some(100), Some(101)]);
    assert_eq!(["sp", "t6"].map(named), [Some(102), Some(131)]);
    let float = |index| state::bits(machine, &thread.extended, machine.vectors().start + index);
    assert_eq!([float(0), float(31)], [Ok(200), Ok(231)]);
    // fflags, frm, fcsr.
    let controls = [0, 1, 2].map(|index| control(&thread, machine, index));
    assert_eq!(controls, [Ok(3), Ok(1), Ok(0x23)]);
}

#[test]
fn registers_of_arm_are_where_the_kernel_writes_them() {
    let machine = Machine::Arm;
    let words = |from: u32, count| (from..from + count).flat_map(u32::to_le_bytes);
    let mut status = vec![0; 24];
    status[12..14].copy_from_slice(&11_u16.to_le_bytes());
    status.extend(70_u32.to_le_bytes());
    status.resize(72, 0);
    // r0 to r15, cpsr.
    status.extend(words(100, 17));
    // d0 to d31, fpscr.
    let mut units: Vec<u8> = (200..232_u64).flat_map(u64::to_le_bytes).collect();
    units.extend(7_u32.to_le_bytes());
    // A fault: number, nothing, code, address.
    let fault: Vec<u8> = [11_u32, 0, 1, 0x1234, 0, 0]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    let mut notes = Notes {
        machine,
        ..Notes::default()
    };
    notes.add(b"CORE", notes::NT_PRSTATUS, &status);
    notes.add(b"CORE", notes::NT_FPREGSET, &[1; 100]);
    notes.add(b"LINUX", notes::NT_ARM_VFP, &units);
    notes.add(b"CORE", notes::NT_SIGINFO, &fault);
    notes.add(b"LINUX", notes::NT_ARM_TLS, &0x7777_u32.to_le_bytes());
    let thread = notes.threads.remove(0);
    assert_eq!((thread.id, thread.signal), (ThreadId(70), 11));
    let named = |name| thread.registers.to_dwarf().get(machine.named(name)?);
    assert_eq!(["r0", "sp"].map(named), [Some(100), Some(113)]);
    assert_eq!(["lr", "pc"].map(named), [Some(114), Some(115)]);
    assert_eq!(thread.registers.flags(), 116);
    let dwarf = thread.registers.to_dwarf();
    assert_eq!(dwarf.thread_pointer(), Some(0x7777));
    let float = |index| state::bits(machine, &thread.extended, machine.vectors().start + index);
    assert_eq!([float(0), float(31)], [Ok(200), Ok(231)]);
    assert_eq!(control(&thread, machine, 0), Ok(7));
    assert_eq!(thread.info.map(|info| info.address), Some(0x1234));
}
