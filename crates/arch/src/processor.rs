//! What a program sees of the processor that it runs on, without a system call: by the instruction `cpuid`.
//!
//! Libraries choose their code by it. A program that finds another processor in a replay runs otherwise than recorded.

use serde::{Deserialize, Serialize};
use std::arch::x86_64::CpuidResult;

/// What `cpuid` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processor {
    name: String,
    /// Leaf, subleaf, and the four registers.
    answers: Vec<[u32; 6]>,
}

/// The leaves that say what the processor can do and how large its caches are. `u32::MAX` in the second place: of all subleaves that are there.
const LEAVES: [(u32, u32); 10] = [
    (0, 0),
    (1, 0),
    (2, 0),
    (4, u32::MAX),
    (7, 0),
    (7, 1),
    (0xd, 0),
    (0xd, 1),
    (0x8000_0001, 0),
    (0x8000_001d, u32::MAX),
];
/// The most subleaves that are asked for.
const MOST: u32 = 8;
/// In leaf 1, `ebx` has the processor's number in its upper byte.
const NUMBER: u32 = 0xff << 24;

impl Processor {
    /// The processor whose `cpuid` answers so, for a leaf and a subleaf.
    pub fn answering(ask: &dyn Fn(u32, u32) -> CpuidResult) -> Processor {
        let mut answers = Vec::new();
        for (leaf, subleaf) in LEAVES {
            if leaf > highest(leaf, ask) {
                continue;
            }
            let subleaves = match subleaf {
                u32::MAX => 0..MOST,
                one => one..one + 1,
            };
            for subleaf in subleaves {
                let answer = ask(leaf, subleaf);
                let ebx = match leaf {
                    1 => answer.ebx & !NUMBER,
                    _ => answer.ebx,
                };
                answers.push([leaf, subleaf, answer.eax, ebx, answer.ecx, answer.edx]);
            }
        }
        Processor {
            name: name(ask),
            answers,
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The highest leaf of those that a leaf is one of.
fn highest(leaf: u32, ask: &dyn Fn(u32, u32) -> CpuidResult) -> u32 {
    ask(leaf & 0x8000_0000, 0).eax
}

fn name(ask: &dyn Fn(u32, u32) -> CpuidResult) -> String {
    const FIRST: u32 = 0x8000_0002;
    let mut bytes = Vec::new();
    if highest(FIRST, ask) >= FIRST + 2 {
        for leaf in FIRST..FIRST + 3 {
            let answer = ask(leaf, 0);
            for word in [answer.eax, answer.ebx, answer.ecx, answer.edx] {
                bytes.extend(word.to_le_bytes());
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    text.trim_matches(['\0', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_with_other_answers_is_another_one() {
        let answer = |eax, ebx| CpuidResult {
            eax,
            ebx,
            ecx: 0,
            edx: 0,
        };
        let one = Processor::answering(&|leaf, _| answer(0x8000_001f, leaf));
        assert_eq!(
            one,
            Processor::answering(&|leaf, _| answer(0x8000_001f, leaf))
        );
        assert_ne!(one, Processor::answering(&|_, _| answer(0x8000_001f, 3)));
        // Which of its cores is asked doesn't count.
        let core = |number: u32| {
            Processor::answering(&move |leaf, _| {
                let number = if leaf == 1 { number << 24 } else { 0 };
                answer(0x8000_001f, number)
            })
        };
        assert_eq!(core(1), core(2));
    }
}
