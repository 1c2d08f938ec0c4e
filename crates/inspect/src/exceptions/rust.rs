//! Rust's panics in memory: their location and message.
//!
//! The standard library's structures have no fixed layout and no debug information, so they are probed: a location has to be a path
//! with a line and a column, a message has to be a string. Anything else is rejected.

use crate::Address;
use dapple_arch::Memory;

/// The longest message read, in bytes.
const LONGEST: u64 = 1 << 16;

fn word(memory: &dyn Memory, at: Address) -> Option<u64> {
    memory.read_address(at).ok()
}

/// The word `index` words behind `at`.
fn word_of(memory: &dyn Memory, at: Address, index: i64) -> Option<u64> {
    word(memory, memory.place_behind(at, index))
}

fn text(memory: &dyn Memory, at: u64, length: u64) -> Option<String> {
    let length = usize::try_from(length).ok().filter(|_| length <= LONGEST)?;
    if length == 0 {
        return Some(String::new());
    }
    let mut bytes = vec![0; length];
    memory.read(Address(at), &mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r' | '\u{1b}');
    (!text.contains(odd)).then_some(text)
}

/// The location of a panic, such as `src/main.rs:3:5`. `info` is the address of its `PanicInfo`. `None`: none of its words is the address
/// of a likely location.
pub fn location(memory: &dyn Memory, info: Address) -> Option<String> {
    const WORDS: i64 = 6;
    (0..WORDS).find_map(|index| place(memory, Address(word_of(memory, info, index)?)))
}

/// The text of a `Location`, which is a string, a line and a column. `None`: what is at `at` isn't likely to be one.
pub(super) fn place(memory: &dyn Memory, at: Address) -> Option<String> {
    let (file, length) = (word(memory, at)?, word_of(memory, at, 1)?);
    let numbers = memory.read_u64(memory.place_behind(at, 2)).ok()?;
    let (line, column) = (numbers & 0xffff_ffff, numbers >> 32);
    let likely = (1..=4096).contains(&length)
        && (1..10_000_000).contains(&line)
        && (1..100_000).contains(&column);
    if !likely {
        return None;
    }
    let file = text(memory, file, length)?;
    Some(format!("{file}:{line}:{column}"))
}

/// The payload of a panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// A `&'static str`: the address of its pointer and length.
    Text(Address),
    /// A `String`: its address.
    String(Address),
    /// A value of any type, with its virtual table.
    Boxed { data: Address, table: Address },
}

/// The payload, from the two words of a `dyn PanicPayload`.
pub(crate) fn payload(memory: &dyn Memory, data: Address, table: Address) -> Option<Payload> {
    const SIZE: i64 = 1;
    let at = |index: i64| word_of(memory, data, index);
    match word_of(memory, table, SIZE)? / memory.address_size() {
        // `&'static str`, or a `Box<dyn Any>`.
        2 => {
            let (first, second) = (at(0)?, at(1)?);
            if second <= LONGEST {
                return text(memory, first, second).map(|_| Payload::Text(data));
            }
            Some(Payload::Boxed {
                data: Address(first),
                table: Address(second),
            })
        }
        // A `String`, alone or with the arguments from which it is formatted.
        count @ (3 | 4) => {
            let words = (0..count.cast_signed())
                .map(at)
                .collect::<Option<Vec<_>>>()?;
            let mut threes = words.windows(3);
            let index = threes.position(|three| string(memory, three).is_some())?;
            Some(Payload::String(memory.place_behind(data, index as i64)))
        }
        _ => None,
    }
}

/// The message, from the two words of a `dyn PanicPayload`.
pub fn message(memory: &dyn Memory, data: Address, table: Address) -> Option<String> {
    let words = |data: Address, count: i64| {
        let words = (0..count).map(|index| word_of(memory, data, index));
        words.collect::<Option<Vec<u64>>>()
    };
    let of_text = |at| {
        let words = words(at, 2)?;
        text(memory, words[0], words[1])
    };
    let of_string = |at| string(memory, &words(at, 3)?);
    match payload(memory, data, table)? {
        Payload::Text(at) => of_text(at),
        Payload::String(at) => of_string(at),
        Payload::Boxed { data, table } => match word_of(memory, table, 1)? {
            16 => of_text(data),
            24 => of_string(data),
            _ => None,
        },
    }
}

/// The text of a `String`: three words that are a capacity, a pointer and a length, in any order. `None`: they can't be these, or it is
/// empty.
fn string(memory: &dyn Memory, words: &[u64]) -> Option<String> {
    const ORDERS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [1, 0, 2],
        [2, 1, 0],
        [2, 0, 1],
        [0, 2, 1],
        [1, 2, 0],
    ];
    /// No heap lies below this address.
    const LOWEST_POINTER: u64 = 0x1000;
    ORDERS.iter().find_map(|order| {
        let [capacity, pointer, length] = order.map(|index| words.get(index).copied());
        let (capacity, pointer, length) = (capacity?, pointer?, length?);
        let likely = length <= capacity && capacity < 1 << 40 && pointer >= LOWEST_POINTER;
        if !likely || length == 0 {
            return None;
        }
        text(memory, pointer, length)
    })
}

/// Parts of the names of functions between a caught panic and the function that catches it.
const CATCHING: [&str; 5] = [
    "__rust_try",
    "std::panicking::",
    "std::panic::",
    "core::panic",
    "core::ops::function::",
];

/// Whether the standard library catches the panic, at the end of a thread or of the program. `functions` are the catching one and its
/// callers, by name.
pub(crate) fn is_caught_by_runtime<'n>(mut functions: impl Iterator<Item = &'n str>) -> bool {
    let first = functions.find(|name| !CATCHING.iter().any(|part| name.contains(part)));
    first.is_some_and(|name| name.contains("std::rt::") || name.contains("std::thread::"))
}

/// The program's function that catches: the first that isn't part of the standard library's implementation, or else the first of all.
pub(crate) fn who_catches<'n>(functions: impl Iterator<Item = &'n str>) -> &'n str {
    let mut functions = functions.peekable();
    let first = functions.peek().copied().unwrap_or_default();
    functions
        .find(|name| !CATCHING.iter().any(|part| name.contains(part)))
        .unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Words(Vec<u64>);

    impl Memory for Words {
        fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
            let bytes: Vec<u8> = self.0.iter().flat_map(|word| word.to_le_bytes()).collect();
            let start = address.0.checked_sub(0x10000).ok_or(address)? as usize;
            let found = bytes.get(start..start + buffer.len()).ok_or(address)?;
            buffer.copy_from_slice(found);
            Ok(())
        }
    }

    /// Words that follow the string `main.rs` in memory.
    fn memory(words: &[u64]) -> Words {
        let name = u64::from_le_bytes(*b"main.rs\0");
        Words([&[name], words].concat())
    }

    const TEXT: u64 = 0x10000;
    const DATA: Address = Address(0x10008);

    #[test]
    fn a_place_is_a_path_with_a_line_and_a_column() {
        let memory = memory(&[3, 0x10018, TEXT, 7, 5 << 32 | 12, 0, 0]);
        assert_eq!(location(&memory, DATA).as_deref(), Some("main.rs:12:5"));
        let memory = self::memory(&[3, 0x10018, TEXT, 7, 0, 0, 0]);
        assert_eq!(location(&memory, DATA), None);
    }

    #[test]
    fn a_message_is_found_in_a_string_wherever_its_parts_are() {
        let table = Address(0x10028);
        for words in [[9, 64, TEXT, 7], [64, TEXT, 7, 9], [TEXT, 64, 7, 0]] {
            let memory = memory(&[words[0], words[1], words[2], words[3], 0, 32]);
            let found = message(&memory, DATA, table);
            assert_eq!(found.as_deref(), Some("main.rs"), "{words:x?}");
        }
        let memory = memory(&[TEXT, 7, 0, 0, 0, 16]);
        assert_eq!(message(&memory, DATA, table).as_deref(), Some("main.rs"));
        let memory = self::memory(&[1, 2, 3, 4, 0, 32]);
        assert_eq!(message(&memory, DATA, table), None);
    }

    #[test]
    fn the_runtime_catches_at_the_end_of_threads_and_the_program_only() {
        let main = [
            "std::panicking::catch_unwind::do_call",
            "std::rt::lang_start_internal",
        ];
        let thread = [
            "__rust_try",
            "std::panic::catch_unwind",
            "std::thread::Builder::spawn_unchecked_::{closure#1}",
        ];
        let own = [
            "__rust_try",
            "std::panicking::catch_unwind",
            "std::panic::catch_unwind",
            "app::guarded",
        ];
        assert!(is_caught_by_runtime(main.into_iter()));
        assert!(is_caught_by_runtime(thread.into_iter()));
        assert!(!is_caught_by_runtime(own.into_iter()));
        assert_eq!(who_catches(own.into_iter()), "app::guarded");
    }
}
