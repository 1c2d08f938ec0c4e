//! Location expressions: each evaluation ends after a bounded number of reads from the frame.

use super::elf_file::{CODE, program};
use dapple_symbols::location::{LocationContext, evaluate_cfi};
use dapple_symbols::{FileAddress, Module};
use std::cell::Cell;

/// More reads than any compiler's expression needs.
const QUESTIONS_LIMIT: u32 = 20_000;
/// The function with the expressions, and its caller.
const CALLEE: u64 = CODE.start;
const CALLER: u64 = CODE.start + 0x100;
const RETURN: u64 = CALLER + 0x10;
/// The return address in the outermost frame, which passes 1.
const OUTERMOST: u64 = CALLER + 0x20;

/// A frame whose contents depend on a seed, and which counts its reads.
struct AnyFrame<'a> {
    seed: u8,
    callers: u8,
    questions: &'a Cell<u32>,
}

impl AnyFrame<'_> {
    fn asked(&self) {
        self.questions.set(self.questions.get() + 1);
        assert!(self.questions.get() < QUESTIONS_LIMIT, "it has no end");
    }
}

impl LocationContext for AnyFrame<'_> {
    fn register(&self, register: u16) -> Option<u64> {
        self.asked();
        match register {
            16 if self.callers == 0 => Some(OUTERMOST),
            16 => Some(RETURN),
            _ if self.seed & 1 != 0 && register.is_multiple_of(5) => None,
            _ => Some(u64::from(register) << (self.seed & 0x1f)),
        }
    }
    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), u64> {
        self.asked();
        if self.seed & 2 != 0 && address & 0x10 != 0 {
            return Err(address);
        }
        buffer.fill(address as u8 ^ self.seed);
        Ok(())
    }
    fn cfa(&self) -> Option<u64> {
        self.asked();
        (self.seed & 4 == 0).then_some(0x7000)
    }
    fn load_bias(&self) -> u64 {
        0
    }
    fn thread_local(&self, offset: u64) -> Result<u64, &'static str> {
        self.asked();
        (self.seed & 8 == 0).then_some(offset).ok_or("no thread")
    }
    fn unsaved_register(&self, register: u16) -> Option<u128> {
        self.asked();
        Some(u128::MAX >> (register % 128))
    }
    fn caller(&self) -> Option<Box<dyn LocationContext + '_>> {
        self.asked();
        let callers = self.callers.checked_sub(1)?;
        Some(Box::new(AnyFrame { callers, ..*self }))
    }
}

/// A byte for the frame, then three expressions: the variable's location, the frame base, and the value that the caller passed in `rdi`.
/// The first two have a length byte in front.
pub fn any_expression_ends(input: &[u8]) {
    let Some((&seed, rest)) = input.split_first() else {
        return;
    };
    let (variable, rest) = counted(rest);
    let (frame_base, passed) = counted(rest);
    let questions = Cell::new(0);
    let frame = AnyFrame {
        seed,
        callers: seed >> 4,
        questions: &questions,
    };
    let _ = evaluate_cfi(variable, None, &frame);
    let _ = evaluate_cfi(variable, Some(0x7000), &frame);

    let file = with_expressions(variable, frame_base, passed);
    let module = Module::from_bytes("locations", file).expect("a program");
    let address = FileAddress(CALLEE + 1);
    let variables = module.variables_at(address, 0);
    assert_eq!(variables.len(), 1, "{:?}", module.warnings());
    questions.set(0);
    let _ = module.locate(&variables[0], address, &frame);
}

fn counted(input: &[u8]) -> (&[u8], &[u8]) {
    match input.split_first() {
        Some((&count, rest)) => rest.split_at(usize::from(count).min(rest.len())),
        None => (input, input),
    }
}

/// Two functions: the first has a variable and is called by the second.
fn with_expressions(variable: &[u8], frame_base: &[u8], passed: &[u8]) -> Vec<u8> {
    let mut abbreviations = Vec::new();
    for abbreviation in [
        // DW_TAG_compile_unit: low_pc, high_pc (data8), language (data1), addr_base, producer (string).
        &[
            1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0x13, 0x0b, 0x73, 0x17, 0x25, 0x08,
        ][..],
        // DW_TAG_subprogram: name, low_pc, high_pc (data1), frame_base (exprloc).
        &[2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x0b, 0x40, 0x18],
        // DW_TAG_variable: name, type (ref4), location (exprloc).
        &[3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18],
        // DW_TAG_call_site: call_return_pc. The callee isn't given, as in a call through a pointer.
        &[4, 0x48, 1, 0x7d, 0x01],
        // DW_TAG_call_site_parameter: location, call_value (exprloc).
        &[5, 0x49, 0, 0x02, 0x18, 0x7e, 0x18],
        // DW_TAG_base_type: byte_size, encoding (data1).
        &[6, 0x24, 0, 0x0b, 0x0b, 0x3e, 0x0b],
    ] {
        abbreviations.extend_from_slice(abbreviation);
        abbreviations.extend([0, 0]);
    }
    abbreviations.push(0);

    let block = |bytes: &[u8]| {
        let length = bytes.len();
        let mut block = vec![
            length as u8 & 0x7f | 0x80,
            (length >> 7) as u8 & 0x7f | 0x80,
        ];
        block.push((length >> 14) as u8 & 0x7f);
        block.extend_from_slice(bytes);
        block
    };
    let mut unit = vec![5, 0, 1, 8, 0, 0, 0, 0, 1];
    unit.extend(
        [CODE.start, CODE.end - CODE.start]
            .map(u64::to_le_bytes)
            .concat(),
    );
    unit.extend([0x0c, 8, 0, 0, 0]);
    // A producer whose locations are trusted for registers that no frame saved.
    unit.extend_from_slice(b"GNU C17 12.2.0 -O2\0");
    let mut types = Vec::new();
    // Each encoding in one size: DW_ATE_address to DW_ATE_unsigned_char.
    for (size, encoding) in [(8, 7), (4, 5), (4, 4), (8, 4), (16, 4), (1, 8)] {
        types.push(unit.len() as u32 + 4);
        unit.extend([6, size, encoding]);
    }
    unit.extend_from_slice(b"\x02work\0");
    unit.extend_from_slice(&CALLEE.to_le_bytes());
    unit.push(0x80);
    unit.extend(block(frame_base));
    unit.extend_from_slice(b"\x03seen\0");
    unit.extend_from_slice(&types[0].to_le_bytes());
    unit.extend(block(variable));
    unit.push(0);
    unit.extend_from_slice(b"\x02main\0");
    unit.extend_from_slice(&CALLER.to_le_bytes());
    unit.push(0x80);
    // DW_OP_call_frame_cfa.
    unit.extend(block(&[0x9c]));
    // DW_OP_lit1.
    for (returns_to, passed) in [(RETURN, passed), (OUTERMOST, &[0x31])] {
        unit.push(4);
        unit.extend_from_slice(&returns_to.to_le_bytes());
        unit.push(5);
        // DW_OP_reg5: rdi.
        unit.extend(block(&[0x55]));
        unit.extend(block(passed));
        unit.push(0);
    }
    unit.extend([0, 0]);
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();

    let mut addresses = vec![20, 0, 0, 0, 5, 0, 8, 0];
    addresses.extend([CALLEE, 0x7000].map(u64::to_le_bytes).concat());
    program(&[
        (".debug_abbrev", &abbreviations),
        (".debug_info", &info),
        (".debug_addr", &addresses),
    ])
}
