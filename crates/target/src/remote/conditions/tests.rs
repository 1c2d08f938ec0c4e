//! Compiled conditions are run as gdbserver 13 runs them, and have to decide as [`dapple_arch::decision::evaluate`] does.

use super::*;
use dapple_arch::decision::{Operation as Word2, Real, evaluate};
use dapple_arch::{Address, Memory};
use dapple_gdb_remote::bytecode::with_operand::*;

/// What a thread has in its registers, by DWARF numbers.
const REGISTERS: [u64; 16] = [
    0,
    1,
    u64::MAX,
    0x1000,
    0x10f8,
    0x10fd,
    1 << 63,
    0x1010,
    5,
    0xffff_fff0,
    63,
    64,
    i64::MAX as u64,
    0x8000_0000,
    0x2000,
    7,
];
const THREAD_POINTER: u64 = 0x1040;
/// Where memory can be read.
const READABLE: std::ops::Range<u64> = 0x1000..0x1100;
/// The words of 8 bytes that differ in every byte.
const PROBES: [u64; 2] = [0x1080, 0x1088];

/// Memory in which a part can't be read.
struct Part(Vec<u8>);

impl Part {
    fn new() -> Part {
        let mut bytes: Vec<u8> = READABLE.map(|at| ((at * 37) >> 2) as u8).collect();
        bytes[0x80..0x90].copy_from_slice(b"abcdefghABCDEFGH");
        Part(bytes)
    }
}

impl Memory for Part {
    fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        let there = (address.0..).map_while(|at| self.0.get(at.checked_sub(0x1000)? as usize));
        let places = buffer.iter_mut().zip(there);
        places.map(|(to, from)| *to = *from).count()
    }

    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        let wanted = buffer.len();
        match self.read_some(address, buffer) {
            count if count < wanted => Err(Address(address.0 + count as u64)),
            _ => Ok(()),
        }
    }
}

/// The stub's number of a register: its DWARF number and 100.
fn number(name: &str) -> Option<u64> {
    let plain = (0..16).find(|number| name_of(dapple_arch::Machine::X86_64, *number) == name);
    plain
        .or_else(|| (name == "fs_base").then_some(FS_BASE))
        .map(|number| u64::from(number) + 100)
}

/// Runs code as gdbserver does. `None`: it says that there is an error, so that the thread stops.
fn run(code: &[u8], memory: &Part) -> Option<u64> {
    let mut stack: Vec<u64> = Vec::new();
    let mut at = 0;
    // Where values are converted: keeps its bytes if a reading fails.
    let mut converted = [0_u8; 8];
    let operand = |at: &mut usize, size: usize| {
        let bytes = code.get(*at..*at + size)?;
        *at += size;
        Some(
            bytes
                .iter()
                .fold(0, |value, byte| value << 8 | u64::from(*byte)),
        )
    };
    loop {
        let code = operand(&mut at, 1)? as u8;
        match code {
            0x27 => return stack.pop(),
            0x0e | 0x17..=0x1a | EXT | ZERO_EXT => {
                let top = stack.pop()?;
                stack.push(match code {
                    0x0e => u64::from(top == 0),
                    EXT | ZERO_EXT => {
                        let above = 64 - operand(&mut at, 1)? as u32;
                        match code {
                            EXT => (top.cast_signed() << above >> above).cast_unsigned(),
                            _ => top << above >> above,
                        }
                    }
                    _ => {
                        let size = 1 << (code - 0x17);
                        let _ = memory.read(Address(top), &mut converted[..size]);
                        let mut value = [0; 8];
                        value[..size].copy_from_slice(&converted[..size]);
                        u64::from_le_bytes(value)
                    }
                });
            }
            0x28 => stack.push(*stack.last()?),
            0x29 => drop(stack.pop()?),
            PICK => {
                let below = operand(&mut at, 1)? as usize;
                stack.push(*stack.get(stack.len().checked_sub(below + 1)?)?);
            }
            0x2b => {
                let (b, a) = (stack.pop()?, stack.pop()?);
                stack.extend([b, a]);
            }
            0x33 => {
                let (c, b, a) = (stack.pop()?, stack.pop()?, stack.pop()?);
                stack.extend([c, a, b]);
            }
            IF_GOTO => {
                let to = operand(&mut at, 2)? as usize;
                at = if stack.pop()? == 0 { at } else { to };
            }
            GOTO => at = operand(&mut at, 2)? as usize,
            0x22..=0x25 => stack.push(operand(&mut at, 1 << (code - CONST8))?),
            REG => {
                let dwarf = operand(&mut at, 2)? as usize - 100;
                let value = REGISTERS.get(dwarf).copied().unwrap_or(THREAD_POINTER);
                converted = value.to_le_bytes();
                stack.push(value);
            }
            _ => {
                let (b, a) = (stack.pop()?, stack.pop()?);
                stack.push(binary(code, a, b)?);
            }
        }
        assert!(stack.len() < 99, "gdbserver's stack is full");
    }
}

/// Where gdbserver's C has no defined result, this panics.
fn binary(code: u8, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (a.cast_signed(), b.cast_signed());
    let shift = || {
        u32::try_from(b)
            .ok()
            .filter(|count| *count < 64)
            .expect("a count")
    };
    Some(match code {
        0x02 => a.wrapping_add(b),
        0x03 => a.wrapping_sub(b),
        0x04 => a.wrapping_mul(b),
        0x05..=0x08 if b == 0 => return None,
        0x05 => (x / y).cast_unsigned(),
        0x06 => a / b,
        0x07 => (x % y).cast_unsigned(),
        0x08 => a % b,
        0x09 => a << shift(),
        0x0a => (x >> shift()).cast_unsigned(),
        0x0b => a >> shift(),
        0x0f => a & b,
        0x10 => a | b,
        0x11 => a ^ b,
        0x13 => u64::from(a == b),
        0x14 => u64::from(x < y),
        0x15 => u64::from(a < b),
        _ => panic!("operation {code:#x}"),
    })
}

fn decided(truth: &Truth) -> Option<bool> {
    let memory = Part::new();
    let registers = |number: u16| REGISTERS[usize::from(number)];
    evaluate(truth, &registers, &|_| 0, THREAD_POINTER, &memory)
}

/// Numbers that look random, and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn sign(&mut self) -> Sign {
        self.one(&[Sign::Signed, Sign::Unsigned])
    }

    fn truth(&mut self, depth: u32) -> Truth {
        let next = depth.saturating_sub(1);
        match self.below(if depth == 0 { 2 } else { 8 }) {
            0 => Truth::Constant(self.below(2) == 0),
            1 if depth == 0 => Truth::Constant(true),
            1 => Truth::Not(Box::new(self.truth(next))),
            2 => Truth::And(Box::new((self.truth(next), self.truth(next)))),
            3 => Truth::Or(Box::new((self.truth(next), self.truth(next)))),
            4 => {
                let bytes: Box<[u8]> = match self.below(2) {
                    0 => b"abcdefghABC"[..1 + self.below(11)].into(),
                    _ => b"abcdefx"[..].into(),
                };
                Truth::Bytes(Box::new(Word::Constant(self.one(&[0x1080, 0x10fd]))), bytes)
            }
            _ => {
                let sign = self.sign();
                let how = self.one(&[
                    Comparison::Equal,
                    Comparison::NotEqual,
                    Comparison::Less(sign),
                    Comparison::LessOrEqual(sign),
                ]);
                Truth::Words(how, Box::new((self.word(next), self.word(next))))
            }
        }
    }

    fn word(&mut self, depth: u32) -> Word {
        let next = depth.saturating_sub(1);
        let pair = |this: &mut Self| Box::new((this.word(next), this.word(next)));
        let sign = self.sign();
        match self.below(if depth == 0 { 3 } else { 13 }) {
            0 => Word::Constant(self.one(&REGISTERS)),
            1 => Word::Register(self.below(16) as u16),
            2 => Word::ThreadPointer,
            3 | 4 => Word::Load {
                address: Box::new(Word::Register(self.one(&[3, 4, 5, 7, 14]))),
                size: self.one(&[1, 2, 4, 8]),
                sign,
            },
            5 => Word::Extended {
                word: Box::new(self.word(next)),
                size: self.one(&[1, 2, 4]),
                sign,
            },
            6 => {
                let what = self.one(&[
                    Word2::Add,
                    Word2::Subtract,
                    Word2::Multiply,
                    Word2::And,
                    Word2::Or,
                    Word2::Xor,
                    Word2::ShiftLeft,
                    Word2::ShiftRight(sign),
                ]);
                Word::Operation(what, pair(self))
            }
            7 => {
                let what = self.one(&[
                    ExactOperation::Add,
                    ExactOperation::Subtract,
                    ExactOperation::Multiply,
                ]);
                Word::Exact(what, sign, pair(self))
            }
            8 => Word::Quotient(sign, pair(self)),
            9 => Word::Remainder(sign, pair(self)),
            10 => match self.below(2) {
                0 => Word::Truth(Box::new(self.truth(next))),
                _ => Word::If(Box::new((self.truth(next), self.word(next)))),
            },
            11 => Word::Choice(Box::new((
                self.truth(next),
                self.word(next),
                self.word(next),
            ))),
            _ => Word::Fitting {
                word: Box::new(self.word(next)),
                size: self.one(&[1, 2, 4]),
                sign,
            },
        }
    }
}

#[test]
fn code_decides_as_the_evaluator_does() {
    let memory = Part::new();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut counts = [0; 3];
    for _ in 0..20_000 {
        let depth = 1 + numbers.below(4) as u32;
        let truth = numbers.truth(depth);
        let code = compile(&truth, number, Some(PROBES)).expect("it can be compiled");
        let expected = decided(&truth);
        let stops = run(&code, &memory).is_none_or(|value| value != 0);
        assert_eq!(stops, expected != Some(false), "{truth:?}");
        counts[expected.map_or(2, usize::from)] += 1;
    }
    // Each outcome has come often.
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
}

fn load(address: u64, size: u8, sign: Sign) -> Word {
    Word::Load {
        address: Box::new(Word::Constant(address)),
        size,
        sign,
    }
}

#[test]
fn memory_that_cannot_be_read_stops_the_thread() {
    let memory = Part::new();
    let is_zero = |address, size| {
        let sides = (load(address, size, Sign::Unsigned), Word::Constant(1 << 40));
        let truth = Truth::Words(Comparison::Equal, Box::new(sides));
        let code = compile(&truth, number, Some(PROBES)).expect("it can be compiled");
        run(&code, &memory)
    };
    for size in [1, 2, 4, 8] {
        assert_eq!(is_zero(0x1000, size), Some(0), "{size}");
        assert_eq!(is_zero(0, size), Some(1), "{size}");
        assert_eq!(is_zero(0x1100, size), Some(1), "{size}");
    }
    // Memory ends amid the word.
    assert_eq!(is_zero(0x10fe, 4), Some(1));
    assert_eq!(is_zero(0x10f9, 8), Some(1));
}

#[test]
fn what_code_cannot_say_is_refused() {
    let real = || Real::Constant(0.5);
    let fraction = Truth::Numbers(Comparison::Equal, Box::new((real(), real())));
    let said = |truth: &Truth| compile(truth, number, Some(PROBES)).expect_err("a reason");
    assert_eq!(
        said(&fraction),
        "its condition has a number with a fraction"
    );
    let sides = || Box::new((load(0, 4, Sign::Signed), Word::Register(3)));
    let truth = Truth::Words(Comparison::Equal, sides());
    let why = compile(&truth, number, None).expect_err("no probes");
    assert_eq!(why, "the code there has nothing to probe memory");
    let why = compile(&truth, |_| None, Some(PROBES)).expect_err("no register");
    assert!(
        why.contains("a register that the stub does not have"),
        "{why}"
    );
    let odd = Truth::Words(
        Comparison::Equal,
        Box::new((load(0, 3, Sign::Signed), Word::Constant(0))),
    );
    assert_eq!(said(&odd), "its condition has a number of an unusual size");
    let mut deep = Truth::Constant(true);
    for _ in 0..70 {
        deep = Truth::Not(Box::new(deep));
    }
    assert_eq!(
        said(&deep),
        "its condition is nested too deeply for the stub"
    );
    let long = Truth::Bytes(Box::new(Word::Constant(0)), vec![1; 4096].into());
    assert_eq!(said(&long), "its condition is too long for the stub");
}

#[test]
fn the_deepest_condition_fits_the_stubs_stack() {
    let memory = Part::new();
    let mut word = load(0x1000, 8, Sign::Unsigned);
    for _ in 0..DEEPEST - 3 {
        let sides = (Word::Constant(1), word);
        word = Word::Operation(Word2::Add, Box::new(sides));
    }
    let sides = (word, Word::Constant(0));
    let truth = Truth::Words(Comparison::Equal, Box::new(sides));
    let code = compile(&truth, number, Some(PROBES)).expect("it can be compiled");
    assert_eq!(run(&code, &memory), Some(0));
}

#[test]
fn probes_differ_in_every_byte() {
    let code = b"\x55\x55\x48\x89\xe5\x48\x83\xec\x10\x89\x7d\xfc\x48\x89\x75\xf0\x8b\x45\xfc";
    let [first, second] = probes(code).expect("there are some");
    let pairs = code[first..first + 8].iter().zip(&code[second..second + 8]);
    assert!(pairs.clone().all(|(a, b)| a != b), "{first} {second}");
    assert_eq!(probes(&[0x90; 64]), None);
    assert_eq!(probes(b"short"), None);
}
