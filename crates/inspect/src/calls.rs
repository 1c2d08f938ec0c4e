//! What a call of a function in the debuggee needs: which registers its arguments are in, what is put on the stack for it
//! (System V ABI for x86-64, §3.2.2 and §3.2.3), and what comes back. Where on the stack is known last, so addresses of
//! what is put there are filled in then. No I/O.

use crate::Address;
use crate::modules::LoadedModule;
use crate::values::passing::{Class, Passing};
use dapple_symbols::types::TypeId;
use std::sync::Arc;
use std::time::Duration;

/// Integers, and vectors, that are passed in registers.
const INTEGERS: usize = 6;
const VECTORS: usize = 8;
/// What a function may use below its stack pointer, in bytes (§3.2.2).
const RED_ZONE: u64 = 128;
/// How temporaries are aligned: as the widest vectors want it.
const ALIGNMENT: u64 = 64;
/// The most that is put on the stack, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// How functions of the debuggee are called.
#[derive(Clone)]
pub struct CallOptions {
    /// How long each may take.
    pub time_limit: Duration,
    /// Who runs meanwhile.
    pub threads: CallThreads,
    /// Ends a call as the time limit does, when it answers true. It is asked again and again.
    pub cancelled: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

/// How much of a stack texts and results may take that calls of one stop leave there, in bytes.
pub const MOST_LEFT: u64 = 1 << 20;

impl Default for CallOptions {
    fn default() -> CallOptions {
        CallOptions {
            time_limit: Duration::from_secs(5),
            threads: CallThreads::One,
            cancelled: None,
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

/// Who runs while a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallThreads {
    /// The calling thread; the others are held.
    #[default]
    One,
    /// All of them.
    All,
}

/// A call that is ready to be made.
#[derive(Debug, Clone)]
pub struct Call {
    /// What people call the function.
    pub name: String,
    /// Its code.
    pub code: Address,
    /// What it is given.
    pub arguments: Arguments,
    /// What it gives back.
    pub result: Returned,
    /// What it gives back has to be dropped in the end.
    pub drops: bool,
}

/// What a function gives back.
#[derive(Debug, Clone)]
pub enum Returned {
    /// Nothing.
    Nothing,
    /// A value of a type, as functions of its language return it.
    Value(Arc<LoadedModule>, TypeId),
    /// An address, of what the type says.
    Pointer(Arc<LoadedModule>, Option<TypeId>),
    /// A float that no type of the debug information stands for: its size in bytes.
    Float(u8),
    /// An integer that no type of the debug information stands for: its size in bytes, and whether it is signed.
    Integer(u8, bool),
}

/// The bytes of an argument. The first eight may be the address of a temporary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub(crate) bytes: Vec<u8>,
    pub(crate) points_to: Option<Vec<u8>>,
}

impl Image {
    /// As they are.
    pub fn of(bytes: Vec<u8>) -> Image {
        Image {
            bytes,
            points_to: None,
        }
    }

    /// The address of a copy of these.
    pub(crate) fn pointing_to(bytes: Vec<u8>) -> Image {
        Image {
            bytes: vec![0; 8],
            points_to: Some(bytes),
        }
    }
}

/// Eight bytes of what is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Bits(u64),
    /// The address of a temporary.
    Temporary(usize),
}

/// What is passed on the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    words: Vec<Word>,
    alignment: u64,
}

/// Arguments on their way into registers and onto the stack.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    integers: Vec<Word>,
    vectors: Vec<u128>,
    stack: Vec<Item>,
    /// What lies above the arguments.
    temporaries: Vec<Vec<u8>>,
    /// These have to last as long as what has come back is looked at.
    lasting: bool,
    /// The one that is for what comes back in registers, to have an address.
    kept: Option<usize>,
}

/// What a call is begun with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Laid {
    /// What is to be written where.
    pub writes: Vec<(Address, Vec<u8>)>,
    /// What is in the registers for integers, in their order.
    pub integers: Vec<u64>,
    /// What is in the vector registers, in their order.
    pub vectors: Vec<u128>,
    /// At the function's first instruction.
    pub sp: u64,
    /// Where the lasting part begins; the stack pointer where there is none.
    pub floor: u64,
    /// Where what comes back in registers is put, if anywhere.
    pub kept: Option<Address>,
}

impl Arguments {
    /// Room for a result in memory, whose address goes first.
    pub(crate) fn push_room(&mut self, size: u64) -> Result<(), String> {
        if size > MOST_BYTES {
            return Err(format!("it returns {size} bytes, which are too many"));
        }
        let room = self.add_temporary(vec![0; size.max(1) as usize]);
        self.integers.push(Word::Temporary(room));
        Ok(())
    }

    /// Room for a result that comes back in registers and has to have an address.
    pub(crate) fn keep_result(&mut self, size: u64) -> Result<(), String> {
        if size > MOST_BYTES {
            return Err(format!("it returns {size} bytes, which are too many"));
        }
        self.kept = Some(self.add_temporary(vec![0; size.max(1) as usize]));
        Ok(())
    }

    /// An argument, passed as its type is. `each`: its parts find their places for themselves, as Rust's do.
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
                let has_room = self.integers.len() + of(Class::Integer) <= INTEGERS
                    && self.vectors.len() + of(Class::Sse) <= VECTORS;
                if !has_room && !each {
                    self.stack.push(Item {
                        words: words(0, *size as usize),
                        alignment,
                    });
                    return Ok(());
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
        Ok(())
    }

    fn push_integer(&mut self, word: Word) {
        match self.integers.len() {
            INTEGERS => self.stack.push(Item {
                words: vec![word],
                alignment: 8,
            }),
            _ => self.integers.push(word),
        }
    }

    fn add_temporary(&mut self, bytes: Vec<u8>) -> usize {
        self.lasting = true;
        self.temporaries.push(bytes);
        self.temporaries.len() - 1
    }

    /// Lays all out below a stack pointer.
    pub fn lay(&self, sp: u64, back: Address) -> Result<Laid, String> {
        let mut top = sp.saturating_sub(RED_ZONE) & !(ALIGNMENT - 1);
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
            let alignment = item.alignment.clamp(8, ALIGNMENT) as usize;
            passed.resize(passed.len().next_multiple_of(alignment), 0);
            for word in &item.words {
                passed.extend(value(word).to_le_bytes());
            }
        }
        if passed.len() as u64 > MOST_BYTES {
            return Err("its arguments are too large to be passed".to_owned());
        }
        let floor = top;
        let at = top.saturating_sub(passed.len() as u64) & !(ALIGNMENT - 1);
        let sp = at.saturating_sub(8);
        if sp < 1 << 16 {
            return Err("the thread has no stack to call a function on".to_owned());
        }
        if !passed.is_empty() {
            writes.push((Address(at), passed));
        }
        writes.push((Address(sp), back.0.to_le_bytes().to_vec()));
        Ok(Laid {
            writes,
            integers: self.integers.iter().map(value).collect(),
            vectors: self.vectors.clone(),
            sp,
            floor: if self.lasting { floor } else { u64::MAX },
            kept: self
                .kept
                .and_then(|index| places.get(index).copied())
                .map(Address),
        })
    }
}

/// Up to eight bytes, little-endian.
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
        let mut arguments = Arguments::default();
        for number in 1..=5 {
            let one = parts(&[Class::Integer]);
            arguments.push(&image(&[number]), &one, 8, false).unwrap();
        }
        let two = parts(&[Class::Integer, Class::Integer]);
        arguments.push(&image(&[10, 11]), &two, 8, false).unwrap();
        let one = parts(&[Class::Integer]);
        arguments.push(&image(&[6]), &one, 8, false).unwrap();
        let laid = arguments.lay(SP, BACK).unwrap();
        assert_eq!(laid.integers, [1, 2, 3, 4, 5, 6]);
        assert_eq!(laid.sp % 16, 8);
        assert!(laid.sp + 24 <= SP - RED_ZONE);
        let passed = image(&[10, 11]).bytes;
        let returns = (Address(laid.sp), BACK.0.to_le_bytes().to_vec());
        assert_eq!(laid.writes, [(Address(laid.sp + 8), passed), returns]);
        assert_eq!(laid.floor, u64::MAX);
    }

    #[test]
    fn wide_ones_are_aligned_there() {
        let mut arguments = Arguments::default();
        arguments
            .push(&image(&[1]), &Passing::Memory, 8, false)
            .unwrap();
        arguments
            .push(&image(&[2, 3]), &Passing::Extended, 16, false)
            .unwrap();
        let laid = arguments.lay(SP, BACK).unwrap();
        assert_eq!(laid.writes[0].1, image(&[1, 0, 2, 3]).bytes);
        assert_eq!(laid.writes[0].0.0 % 16, 0);
    }

    #[test]
    fn the_address_of_a_temporary_is_passed_in_place_of_it() {
        let mut arguments = Arguments::default();
        arguments.push_room(24).unwrap();
        let text = Image::pointing_to(b"text\0".to_vec());
        let one = parts(&[Class::Integer]);
        arguments.push(&text, &one, 8, false).unwrap();
        let laid = arguments.lay(SP, BACK).unwrap();
        let [room, text] = laid.integers[..] else {
            panic!("{laid:?}");
        };
        assert!(text + 5 <= room && room + 24 <= SP - RED_ZONE);
        assert!(laid.writes.contains(&(Address(text), b"text\0".to_vec())));
        assert_eq!(laid.floor, text);
        assert!(laid.sp < text);
    }

    #[test]
    fn no_stack_is_an_error() {
        assert!(Arguments::default().lay(100, BACK).is_err());
        assert!(Arguments::default().push_room(u64::MAX).is_err());
    }
}
