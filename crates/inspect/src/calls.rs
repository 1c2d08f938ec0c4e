//! Prepares an inferior call: which registers hold the arguments, what goes on the stack (System V ABI for x86-64, §3.2.2 and §3.2.3),
//! and how the result is returned. No I/O.
//!
//! The stack pointer is known last. Until then, an argument that is the address of a temporary is the temporary's index;
//! [`Arguments::place`] replaces the indices by addresses.

use crate::Address;
use crate::modules::LoadedModule;
use crate::values::passing::{Class, Passing};
use dapple_arch::Machine;
use dapple_symbols::types::TypeId;
use std::sync::Arc;
use std::time::Duration;

mod arm;

/// The most arguments that are passed in vector registers.
const VECTORS: usize = 8;
/// Alignment of temporaries, in bytes: enough for the widest vectors.
const ALIGNMENT: u64 = 64;
/// The most bytes that one argument, one result or all stack arguments may take.
const MOST_BYTES: u64 = 1 << 20;

/// How functions of the debuggee are called.
#[derive(Clone)]
pub struct CallOptions {
    /// The time limit of each call.
    pub time_limit: Duration,
    /// Which threads run during the call.
    pub threads: CallThreads,
    /// Polled during the call; `true` ends the call as the time limit does.
    pub cancelled: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// Of a recorded process, the call is made in a copy, which is dropped when the program moves: what was before can still be reached.
    pub in_copy: bool,
}

/// The most bytes of stack that calls during one stop may leave occupied, by texts that they were given and by their results.
pub const MOST_LEFT: u64 = 1 << 20;

impl Default for CallOptions {
    fn default() -> CallOptions {
        CallOptions {
            time_limit: Duration::from_secs(5),
            threads: CallThreads::One,
            cancelled: None,
            in_copy: false,
        }
    }
}

impl std::fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallOptions")
            .field("time_limit", &self.time_limit)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Which threads run during an inferior call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallThreads {
    /// The calling thread; all others stay stopped.
    #[default]
    One,
    /// All threads.
    All,
}

/// A call that is ready to be made.
#[derive(Debug, Clone)]
pub struct Call {
    /// The function's name for display.
    pub name: String,
    /// Its entry address.
    pub code: Address,
    /// Its arguments.
    pub arguments: Arguments,
    /// How its result is returned.
    pub result: Returned,
    /// Whether the result is a Rust value that has to be dropped (its destructor run) at the end of the expression.
    pub drops: bool,
}

/// What a function returns.
#[derive(Debug, Clone)]
pub enum Returned {
    /// Nothing.
    Nothing,
    /// A value of a type, as functions of its language return it.
    Value(Arc<LoadedModule>, TypeId),
    /// A pointer or reference to a value of the type.
    Pointer(Arc<LoadedModule>, Option<TypeId>),
    /// A float without a type in the debug information: its size in bytes.
    Float(u8),
    /// An integer without a type in the debug information: its size in bytes, and whether it is signed.
    Integer(u8, bool),
}

/// The bytes of an argument. With `points_to`, the first eight are replaced by the address of a temporary that contains the bytes of
/// `points_to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub(crate) bytes: Vec<u8>,
    pub(crate) points_to: Option<Vec<u8>>,
}

impl Image {
    /// An argument whose value is these bytes.
    pub fn of(bytes: Vec<u8>) -> Image {
        Image {
            bytes,
            points_to: None,
        }
    }

    /// An argument whose value is the address of a copy of these bytes.
    pub(crate) fn pointing_to(bytes: Vec<u8>) -> Image {
        Image {
            bytes: vec![0; 8],
            points_to: Some(bytes),
        }
    }
}

/// As many bytes of an argument as an address has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Bits(u64),
    /// The address of the temporary with this index.
    Temporary(usize),
}

/// An argument, or a part of one, that is passed on the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    words: Vec<Word>,
    alignment: u64,
}

/// Arguments, assigned to registers and to the stack.
#[derive(Debug, Clone)]
pub struct Arguments {
    machine: Machine,
    integers: Vec<Word>,
    vectors: Vec<u128>,
    stack: Vec<Item>,
    /// Bytes that lie above the stack arguments, and that arguments point to.
    temporaries: Vec<Vec<u8>>,
    /// Whether the temporaries have to outlive the call, because its result may refer to them.
    lasting: bool,
    /// Which of arm's 16 registers of 4 bytes for floating-point numbers are used: halves of the vector registers.
    halves: u16,
    /// Index of the temporary for a result that is returned in memory.
    room: Option<usize>,
    /// Index of the temporary that a result returned in registers is copied to, so that it has an address.
    kept: Option<usize>,
}

/// What registers and memory have to hold when a call begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedCall {
    /// What to write to the stack, by address.
    pub writes: Vec<(Address, Vec<u8>)>,
    /// The values of the integer argument registers, in their order.
    pub integers: Vec<u64>,
    /// The values of the vector argument registers, in their order.
    pub vectors: Vec<u128>,
    /// The stack pointer at the function's first instruction.
    pub sp: u64,
    /// Where a result is returned in memory.
    pub room: Option<Address>,
    /// The lowest address of the part of the stack that outlives the call; `u64::MAX` if none does.
    pub lasting_start: u64,
    /// Where to copy a result that is returned in registers, if it needs an address.
    pub kept: Option<Address>,
}

impl Arguments {
    /// None yet, for a function of this machine.
    pub fn of(machine: Machine) -> Arguments {
        Arguments {
            machine,
            integers: Vec::new(),
            vectors: Vec::new(),
            stack: Vec::new(),
            temporaries: Vec::new(),
            lasting: false,
            halves: 0,
            room: None,
            kept: None,
        }
    }

    /// The most arguments that are passed in general registers.
    fn most_integers(&self) -> usize {
        self.machine.arguments().len()
    }

    /// Adds space for a result that is returned in memory. Its address is the hidden first argument; on aarch64, it has a register of its own.
    pub(crate) fn push_room(&mut self, size: u64) -> Result<(), String> {
        if size > MOST_BYTES {
            return Err(format!("it returns {size} bytes, which are too many"));
        }
        let room = self.add_temporary(vec![0; size.max(1) as usize]);
        self.room = Some(room);
        if self.machine != Machine::Aarch64 {
            self.integers.push(Word::Temporary(room));
        }
        Ok(())
    }

    /// Adds space for a result that is returned in registers but has to have an address.
    pub(crate) fn keep_result(&mut self, size: u64) -> Result<(), String> {
        if size > MOST_BYTES {
            return Err(format!("it returns {size} bytes, which are too many"));
        }
        self.kept = Some(self.add_temporary(vec![0; size.max(1) as usize]));
        Ok(())
    }

    /// Adds an argument, passed as its type requires. `each`: each part is assigned to a register on its own, as in Rust's ABI.
    pub fn push(
        &mut self,
        image: &Image,
        passing: &Passing,
        alignment: u64,
        each: bool,
    ) -> Result<(), String> {
        if image.bytes.len() as u64 > MOST_BYTES {
            return Err("it is too large to be passed".to_owned());
        }
        match self.machine {
            Machine::Arm => self.push_on_arm(image, passing, alignment, each),
            _ => self.push_words_of_eight(image, passing, alignment, each),
        }
        Ok(())
    }

    /// As [`Arguments::push`], where an address has 8 bytes.
    fn push_words_of_eight(
        &mut self,
        image: &Image,
        passing: &Passing,
        alignment: u64,
        each: bool,
    ) {
        let first = image
            .points_to
            .as_ref()
            .map(|bytes| self.add_temporary(bytes.clone()));
        let word = |at: usize, size: usize| match first.filter(|_| at == 0) {
            Some(temporary) => Word::Temporary(temporary),
            None => Word::Bits(word_of(&image.bytes, at, size)),
        };
        let words = |start: usize, end: usize| {
            let starts = (start..end).step_by(8);
            starts
                .map(|at| word(at, 8.min(end - at)))
                .collect::<Vec<_>>()
        };
        match passing {
            Passing::Nothing { .. } => {}
            Passing::Address => {
                let copy = self.add_temporary(image.bytes.clone());
                self.push_integer(Word::Temporary(copy));
            }
            Passing::Memory => self.stack.push(Item {
                words: words(0, image.bytes.len()),
                alignment,
            }),
            Passing::Extended => self.stack.push(Item {
                words: words(0, 16),
                alignment: 16,
            }),
            Passing::Parts { parts, size } => {
                let of = |class: Class| parts.iter().filter(|p| p.class == class).count();
                let has_room = self.integers.len() + of(Class::Integer) <= self.most_integers()
                    && self.vectors.len() + of(Class::Sse) <= VECTORS;
                if !has_room && !each {
                    self.leave_registers(of(Class::Sse) > 0);
                    self.stack.push(Item {
                        words: words(0, *size as usize),
                        alignment,
                    });
                    return;
                }
                for part in parts {
                    let at = part.offset as usize;
                    match part.class {
                        Class::Integer => self.push_integer(word(at, part.size as usize)),
                        Class::Sse => {
                            let low = word_of(&image.bytes, at, part.size.min(8) as usize);
                            let high = match part.size {
                                9.. => word_of(&image.bytes, at + 8, part.size as usize - 8),
                                _ => 0,
                            };
                            let low = match (self.machine, part.size) {
                                // Marked as the shorter number that it is (RISC-V ISA Manual, "NaN Boxing").
                                (Machine::Riscv64, ..=4) => low | 0xffff_ffff << 32,
                                _ => low,
                            };
                            match self.vectors.len() {
                                VECTORS => self.stack.push(Item {
                                    words: vec![Word::Bits(low)],
                                    alignment: 8,
                                }),
                                _ => self.vectors.push(u128::from(high) << 64 | u128::from(low)),
                            }
                        }
                    }
                }
            }
        }
    }

    /// On aarch64, the registers that an argument doesn't find room in aren't used for later ones either (Procedure Call Standard, §6.8.2, C.3 and
    /// C.13).
    fn leave_registers(&mut self, vectors: bool) {
        match (self.machine, vectors) {
            (Machine::Aarch64, true) => self.vectors.resize(VECTORS, 0),
            (Machine::Aarch64, false) => {
                let most = self.most_integers();
                self.integers.resize(most, Word::Bits(0));
            }
            _ => {}
        }
    }

    fn push_integer(&mut self, word: Word) {
        match self.integers.len() < self.most_integers() {
            true => self.integers.push(word),
            false => self.stack.push(Item {
                words: vec![word],
                alignment: 8,
            }),
        }
    }

    fn add_temporary(&mut self, bytes: Vec<u8>) -> usize {
        self.lasting = true;
        self.temporaries.push(bytes);
        self.temporaries.len() - 1
    }

    /// Places the temporaries, the stack arguments and the return address `back` below the red zone of the stack pointer `sp`.
    pub fn place(&self, sp: u64, back: Address) -> Result<PreparedCall, String> {
        let mut top = sp.saturating_sub(self.machine.red_zone()) & !(ALIGNMENT - 1);
        let mut places = Vec::with_capacity(self.temporaries.len());
        let mut writes = Vec::new();
        for bytes in &self.temporaries {
            top = top.saturating_sub(bytes.len() as u64) & !(ALIGNMENT - 1);
            places.push(top);
            writes.push((Address(top), bytes.clone()));
        }
        let value = |word: &Word| match word {
            Word::Bits(bits) => *bits,
            Word::Temporary(index) => places.get(*index).copied().unwrap_or(0),
        };
        let mut passed: Vec<u8> = Vec::new();
        for item in &self.stack {
            let size = self.machine.address_size();
            let alignment = item.alignment.clamp(size, ALIGNMENT) as usize;
            passed.resize(passed.len().next_multiple_of(alignment), 0);
            for word in &item.words {
                passed.extend(&value(word).to_le_bytes()[..size as usize]);
            }
        }
        if passed.len() as u64 > MOST_BYTES {
            return Err("its arguments are too large to be passed".to_owned());
        }
        let lasting_start = top;
        let at = top.saturating_sub(passed.len() as u64) & !(ALIGNMENT - 1);
        let sp = at.saturating_sub(self.machine.pushed_by_call());
        if sp < 1 << 16 {
            return Err("the thread has no stack to call a function on".to_owned());
        }
        if !passed.is_empty() {
            writes.push((Address(at), passed));
        }
        if self.machine.link().is_none() {
            writes.push((Address(sp), back.0.to_le_bytes().to_vec()));
        }
        let place = |index: Option<usize>| places.get(index?).copied().map(Address);
        Ok(PreparedCall {
            room: place(self.room),
            writes,
            integers: self.integers.iter().map(value).collect(),
            vectors: self.vectors.clone(),
            sp,
            lasting_start: if self.lasting {
                lasting_start
            } else {
                u64::MAX
            },
            kept: place(self.kept),
        })
    }
}

fn word_of(bytes: &[u8], at: usize, size: usize) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes.iter().skip(at).take(size)) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::passing::Part;

    fn parts(classes: &[Class]) -> Passing {
        let part = |(index, class): (usize, &Class)| Part {
            offset: 8 * index as u64,
            size: 8,
            class: *class,
        };
        Passing::Parts {
            size: 8 * classes.len() as u64,
            parts: classes.iter().enumerate().map(part).collect(),
        }
    }

    fn image(words: &[u64]) -> Image {
        Image::of(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    const BACK: Address = Address(0x40_1000);
    const SP: u64 = 0x7fff_0000;

    #[test]
    fn what_finds_no_register_is_on_the_stack_whole() {
        let mut arguments = Arguments::of(Machine::X86_64);
        for number in 1..=5 {
            let one = parts(&[Class::Integer]);
            arguments.push(&image(&[number]), &one, 8, false).unwrap();
        }
        let two = parts(&[Class::Integer, Class::Integer]);
        arguments.push(&image(&[10, 11]), &two, 8, false).unwrap();
        let one = parts(&[Class::Integer]);
        arguments.push(&image(&[6]), &one, 8, false).unwrap();
        let prepared = arguments.place(SP, BACK).unwrap();
        assert_eq!(prepared.integers, [1, 2, 3, 4, 5, 6]);
        assert_eq!(prepared.sp % 16, 8);
        assert!(prepared.sp + 24 <= SP - 128);
        let passed = image(&[10, 11]).bytes;
        let returns = (Address(prepared.sp), BACK.0.to_le_bytes().to_vec());
        assert_eq!(
            prepared.writes,
            [(Address(prepared.sp + 8), passed), returns]
        );
        assert_eq!(prepared.lasting_start, u64::MAX);
    }

    #[test]
    fn wide_ones_are_aligned_there() {
        let mut arguments = Arguments::of(Machine::X86_64);
        arguments
            .push(&image(&[1]), &Passing::Memory, 8, false)
            .unwrap();
        arguments
            .push(&image(&[2, 3]), &Passing::Extended, 16, false)
            .unwrap();
        let prepared = arguments.place(SP, BACK).unwrap();
        assert_eq!(prepared.writes[0].1, image(&[1, 0, 2, 3]).bytes);
        assert_eq!(prepared.writes[0].0.0 % 16, 0);
    }

    #[test]
    fn the_address_of_a_temporary_is_passed_in_place_of_it() {
        let mut arguments = Arguments::of(Machine::X86_64);
        arguments.push_room(24).unwrap();
        let text = Image::pointing_to(b"text\0".to_vec());
        let one = parts(&[Class::Integer]);
        arguments.push(&text, &one, 8, false).unwrap();
        let prepared = arguments.place(SP, BACK).unwrap();
        let [room, text] = prepared.integers[..] else {
            panic!("{prepared:?}");
        };
        assert!(text + 5 <= room && room + 24 <= SP - 128);
        assert!(
            prepared
                .writes
                .contains(&(Address(text), b"text\0".to_vec()))
        );
        assert_eq!(prepared.lasting_start, text);
        assert!(prepared.sp < text);
    }

    #[test]
    fn no_stack_is_an_error() {
        assert!(Arguments::of(Machine::X86_64).place(100, BACK).is_err());
        assert!(Arguments::of(Machine::X86_64).push_room(u64::MAX).is_err());
    }
}
