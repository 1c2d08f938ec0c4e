//! Tests with instructions in literal memory.

use super::*;

/// Memory that has bytes at one address only.
struct Literal(u64, Vec<u8>);

impl Memory for Literal {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        for (index, byte) in buffer.iter_mut().enumerate() {
            let at = Address(address.0.wrapping_add(index as u64));
            let offset = at.0.checked_sub(self.0).ok_or(at)?;
            let offset = usize::try_from(offset).map_err(|_| at)?;
            *byte = *self.1.get(offset).ok_or(at)?;
        }
        Ok(())
    }
}

/// A function: push rbp; mov rbp, rsp; mov eax, 0x5; mov rcx, 0x1122334455667788; cmp eax, 0xc3c3c3c3; je +2; pop rbp; ret; ud2
const FUNCTION: &[u8] = &[
    0x55, 0x48, 0x89, 0xe5, 0xb8, 5, 0, 0, 0, 0x48, 0xb9, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22,
    0x11, 0x3d, 0xc3, 0xc3, 0xc3, 0xc3, 0x74, 0x02, 0x5d, 0xc3, 0x0f, 0x0b,
];
const STARTS: [u64; 9] = [0, 1, 4, 9, 19, 24, 26, 27, 28];

fn window(memory: &Literal, address: u64, first: i64, count: usize) -> Vec<Instruction> {
    let window = Window {
        address: Address(address),
        first,
        count,
        names: Names::Symbols,
    };
    disassemble(&window, &Modules::default(), memory)
}

fn addresses(instructions: &[Instruction]) -> Vec<u64> {
    instructions.iter().map(|one| one.address.0).collect()
}

#[test]
fn forwards_each_instruction_begins_where_the_last_one_ends() {
    let memory = Literal(0x1000, FUNCTION.to_vec());
    let found = window(&memory, 0x1000, 0, 9);
    assert_eq!(addresses(&found), STARTS.map(|start| 0x1000 + start));
    let texts: Vec<&str> = found.iter().map(|one| &*one.text).collect();
    let expected = [
        "push rbp",
        "mov rbp, rsp",
        "mov eax, 5",
        "mov rcx, 0x1122334455667788",
        "cmp eax, 0xc3c3c3c3",
        "je 0x101c",
        "pop rbp",
        "ret",
        "ud2",
    ];
    assert_eq!(texts, expected);
    assert_eq!(found[2].bytes, [0xb8, 5, 0, 0, 0]);
}

#[test]
fn backwards_the_beginning_is_right_that_most_others_lead_to() {
    // Three copies of the function, so that there is code before.
    let memory = Literal(0x1000, FUNCTION.repeat(3));
    let length = FUNCTION.len() as u64;
    let end = 0x1000 + 3 * length;
    let found = window(&memory, end, -18, 18);
    let function = |n: u64| STARTS.map(|start| 0x1000 + n * length + start);
    assert_eq!(addresses(&found), [function(1), function(2)].concat());
    assert!(found.iter().all(|one| one.is_valid));
}

#[test]
fn where_there_is_no_memory_each_byte_stands_for_an_instruction() {
    let memory = Literal(0x2000, vec![0x90; 4]);
    let found = window(&memory, 0x2002, -4, 8);
    let expected = [
        0x1ffe, 0x1fff, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005,
    ];
    assert_eq!(addresses(&found), expected);
    let valid: Vec<bool> = found.iter().map(|one| one.is_valid).collect();
    assert_eq!(valid, [false, false, true, true, true, true, false, false]);
    assert_eq!(found[0].text, "(no memory)");
    assert!(found[0].bytes.is_empty());
    // Requests beyond an end of the address space repeat the byte at that end.
    assert_eq!(addresses(&window(&memory, 1, -3, 4)), [0, 0, 0, 1]);
    let last = addresses(&window(&memory, u64::MAX - 1, 0, 3));
    assert_eq!(last, [u64::MAX - 1, u64::MAX, u64::MAX]);
    assert_eq!(window(&memory, 0x2000, 0, 0), []);
}

#[test]
fn what_is_no_instruction_is_told_byte_by_byte() {
    // 0x06 isn't an instruction in 64-bit code, and the call lacks its last three bytes.
    let memory = Literal(0x3000, vec![0x06, 0xc3, 0xe8, 0x01]);
    let found = window(&memory, 0x3000, 0, 4);
    let texts: Vec<&str> = found.iter().map(|one| &*one.text).collect();
    assert_eq!(texts, ["(bad)", "ret", "(bad)", "(no memory)"]);
    assert_eq!(found[2].bytes, [0xe8, 0x01]);
}

#[test]
fn a_window_may_be_far_from_its_address() {
    let memory = Literal(0x1_0000, vec![0x90; 1000]);
    let found = window(&memory, 0x1_0000, 900, 50);
    assert_eq!(found[0].address.0, 0x1_0000 + 900);
    let found = window(&memory, 0x1_0000 + 1000, -900, 50);
    assert_eq!((found[0].address.0, found.len()), (0x1_0000 + 100, 50));
    let found = window(&memory, 0x1_0000, i64::MIN, 2);
    assert_eq!(found.len(), 2);
}
