//! Arguments on 32-bit Arm (Procedure Call Standard for the Arm Architecture, §5.5, and §6.1.2 for floating-point numbers in registers).

use super::{Arguments, Image, Item, Word, word_of};
use crate::values::passing::{Class, Part, Passing};

/// How many registers of 4 bytes for floating-point numbers pass arguments.
const HALVES: usize = 16;

impl Arguments {
    pub(super) fn push_on_arm(
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
        let words = |start: u64, size: u64| -> Vec<Word> {
            let word = |at: usize| match first.filter(|_| at == 0) {
                Some(temporary) => Word::Temporary(temporary),
                None => Word::Bits(word_of(&image.bytes, at, 4)),
            };
            let places = (start..start + size).step_by(4);
            places.map(|at| word(at as usize)).collect()
        };
        match passing {
            Passing::Nothing { .. } => {}
            Passing::Address => {
                let copy = self.add_temporary(image.bytes.clone());
                self.push_words(vec![Word::Temporary(copy)], 4);
            }
            Passing::Memory | Passing::Extended => {
                self.push_words(words(0, image.bytes.len() as u64), alignment);
            }
            Passing::Parts { parts, .. }
                if !each && parts.iter().all(|it| it.class == Class::Sse) =>
            {
                self.push_floats(&image.bytes, parts);
            }
            Passing::Parts { parts, .. } => {
                for part in parts {
                    match part.class {
                        Class::Sse => self.push_floats(&image.bytes, std::slice::from_ref(part)),
                        Class::Integer => {
                            self.push_words(words(part.offset, part.size), part.size);
                        }
                    }
                }
            }
        }
    }

    /// In general registers, and on the stack where these end. What is aligned to 8 bytes begins with an even register.
    fn push_words(&mut self, words: Vec<Word>, alignment: u64) {
        let most = self.most_integers();
        if alignment >= 8 && self.integers.len() % 2 == 1 {
            self.integers.push(Word::Bits(0));
        }
        let room = most.saturating_sub(self.integers.len());
        let in_registers = match words.len() {
            count if count <= room => count,
            // Only split while nothing is on the stack.
            _ if self.stack.is_empty() => room,
            _ => 0,
        };
        let (registers, stack) = words.split_at(in_registers);
        self.integers.extend(registers);
        if !stack.is_empty() {
            self.integers.resize(most, Word::Bits(0));
            self.stack.push(Item {
                words: stack.to_vec(),
                alignment: if in_registers > 0 { 4 } else { alignment },
            });
        }
    }

    /// One floating-point number, or a structure of up to four of the same size: in the first free registers that are next to each other.
    fn push_floats(&mut self, bytes: &[u8], parts: &[Part]) {
        let each = parts.first().map_or(4, |part| part.size.clamp(4, 8)) as usize / 4;
        let count = each * parts.len();
        let used = |start: usize| ((1_u32 << count) - 1) << start;
        let mut starts = (0..=HALVES.saturating_sub(count)).step_by(each);
        let start = starts.find(|start| u32::from(self.halves) & used(*start) == 0);
        let Some(start) = start.filter(|_| count <= HALVES) else {
            // No later number is in a register either.
            self.halves = u16::MAX;
            let start = parts.first().map_or(0, |part| part.offset as usize);
            let word = |at: usize| Word::Bits(word_of(bytes, at, 4));
            self.stack.push(Item {
                words: (start..start + 4 * count).step_by(4).map(word).collect(),
                alignment: 4 * each as u64,
            });
            return;
        };
        self.halves |= used(start) as u16;
        for index in 0..count {
            let half = start + index;
            let part = &parts[index / each];
            let at = part.offset as usize + 4 * (index % each);
            if self.vectors.len() <= half / 2 {
                self.vectors.resize(half / 2 + 1, 0);
            }
            self.vectors[half / 2] |= u128::from(word_of(bytes, at, 4)) << (32 * (half % 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;
    use dapple_arch::Machine;

    fn of(size: u64, class: Class, count: u64) -> Passing {
        let part = |index| Part {
            offset: size * index,
            size,
            class,
        };
        Passing::Parts {
            size: size * count,
            parts: (0..count).map(part).collect(),
        }
    }

    fn image(words: &[u32]) -> Image {
        Image::of(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    #[test]
    fn long_numbers_begin_with_an_even_register() {
        let mut arguments = Arguments::of(Machine::Arm);
        let (int, long) = (of(4, Class::Integer, 1), of(8, Class::Integer, 1));
        arguments.push(&image(&[1]), &int, 4, false).unwrap();
        arguments.push(&image(&[2, 3]), &long, 8, false).unwrap();
        arguments.push(&image(&[4]), &int, 4, false).unwrap();
        arguments.push(&image(&[5, 6]), &long, 8, false).unwrap();
        let prepared = arguments.place(0x10_0000, Address(0)).unwrap();
        assert_eq!(prepared.integers, [1, 0, 2, 3]);
        let stack = [4_u32, 0, 5, 6].map(u32::to_le_bytes).concat();
        assert_eq!(prepared.writes, [(Address(prepared.sp), stack)]);
    }

    #[test]
    fn a_structure_is_split_between_registers_and_the_stack() {
        let mut arguments = Arguments::of(Machine::Arm);
        let int = of(4, Class::Integer, 1);
        arguments.push(&image(&[1]), &int, 4, false).unwrap();
        let five = image(&[2, 3, 4, 5, 6]);
        arguments.push(&five, &Passing::Memory, 4, false).unwrap();
        arguments.push(&image(&[7]), &int, 4, false).unwrap();
        let prepared = arguments.place(0x10_0000, Address(0)).unwrap();
        assert_eq!(prepared.integers, [1, 2, 3, 4]);
        let stack = [5_u32, 6, 7].map(u32::to_le_bytes).concat();
        assert_eq!(prepared.writes, [(Address(prepared.sp), stack)]);
    }

    #[test]
    fn the_parts_of_a_pair_of_rust_go_where_each_would_alone() {
        let mut arguments = Arguments::of(Machine::Arm);
        let pair = Passing::Parts {
            size: 16,
            parts: vec![
                Part {
                    offset: 8,
                    size: 4,
                    class: Class::Integer,
                },
                Part {
                    offset: 0,
                    size: 8,
                    class: Class::Sse,
                },
            ],
        };
        arguments
            .push(&image(&[1, 2, 3, 0]), &pair, 8, true)
            .unwrap();
        let int = of(4, Class::Integer, 2);
        arguments.push(&image(&[4, 5]), &int, 8, true).unwrap();
        let prepared = arguments.place(0x10_0000, Address(0)).unwrap();
        assert_eq!(prepared.integers, [3, 4, 5]);
        assert_eq!(prepared.vectors, [2 << 32 | 1]);
    }

    #[test]
    fn a_short_number_fills_the_register_that_a_long_one_has_left() {
        let mut arguments = Arguments::of(Machine::Arm);
        let (float, double) = (of(4, Class::Sse, 1), of(8, Class::Sse, 1));
        arguments.push(&image(&[1]), &float, 4, false).unwrap();
        arguments.push(&image(&[2, 3]), &double, 8, false).unwrap();
        arguments.push(&image(&[4]), &float, 4, false).unwrap();
        let prepared = arguments.place(0x10_0000, Address(0)).unwrap();
        assert_eq!(prepared.vectors, [4 << 32 | 1, 3 << 32 | 2]);
    }
}
