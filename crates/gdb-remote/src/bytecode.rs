//! The bytecode of gdb's agents, in which a stub evaluates the conditions of its breakpoints (gdb manual, appendix "The GDB Agent Expression
//! Mechanism").
//!
//! Code works on a stack of 64-bit words. Operands in the code are big-endian. What it leaves on top of the stack at its end is its value.

/// An operation without an operand in the code: the number is that of the manual's "Bytecode Descriptions".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// `a b → a + b`
    Add = 0x02,
    /// `a b → a - b`
    Sub = 0x03,
    /// `a b → a * b`
    Mul = 0x04,
    /// `a b → a / b`, with signs. gdbserver is killed where the lowest integer is divided by -1.
    DivSigned = 0x05,
    /// `a b → a / b`
    DivUnsigned = 0x06,
    /// `a b → a % b`, with signs. As for [`Operation::DivSigned`].
    RemSigned = 0x07,
    /// `a b → a % b`
    RemUnsigned = 0x08,
    /// `a b → a << b`; `b` is less than 64.
    Lsh = 0x09,
    /// `a b → a >> b`, with copies of the sign; `b` is less than 64.
    RshSigned = 0x0a,
    /// `a b → a >> b`; `b` is less than 64.
    RshUnsigned = 0x0b,
    /// `a → !a`: 0 or 1.
    LogNot = 0x0e,
    /// `a b → a & b`
    BitAnd = 0x0f,
    /// `a b → a | b`
    BitOr = 0x10,
    /// `a b → a ^ b`
    BitXor = 0x11,
    /// `a b → a == b`: 0 or 1.
    Equal = 0x13,
    /// `a b → a < b`, with signs: 0 or 1.
    LessSigned = 0x14,
    /// `a b → a < b`: 0 or 1.
    LessUnsigned = 0x15,
    /// `address → value`: a byte of memory, and zeros above it.
    Ref8 = 0x17,
    /// As [`Operation::Ref8`], of 2 bytes.
    Ref16 = 0x18,
    /// As [`Operation::Ref8`], of 4 bytes.
    Ref32 = 0x19,
    /// As [`Operation::Ref8`], of 8 bytes.
    Ref64 = 0x1a,
    /// Ends the evaluation.
    End = 0x27,
    /// `a → a a`
    Dup = 0x28,
    /// `a →`
    Pop = 0x29,
    /// `a b → b a`
    Swap = 0x2b,
    /// `a b c → c a b`
    Rot = 0x33,
}

/// The operations with an operand in the code.
pub mod with_operand {
    /// A bit count: the lowest bits, with copies of the highest of them above.
    pub const EXT: u8 = 0x16;
    /// A bit count: the lowest bits, with zeros above.
    pub const ZERO_EXT: u8 = 0x2a;
    /// `a →`: goes to an offset of 2 bytes if `a` isn't 0.
    pub const IF_GOTO: u8 = 0x20;
    /// Goes to an offset of 2 bytes.
    pub const GOTO: u8 = 0x21;
    /// `→ value`: of one byte; those of 2, 4 and 8 follow.
    pub const CONST8: u8 = 0x22;
    /// `→ value`: the register with a number of 2 bytes, and zeros above.
    pub const REG: u8 = 0x26;
    /// `→ value`: a copy of the word so far below the top (0: the top).
    pub const PICK: u8 = 0x32;
}

/// A place in the code, perhaps one that isn't there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// Code that is being written.
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    bytes: Vec<u8>,
    /// The offset of each label.
    labels: Vec<Option<usize>>,
    /// Where the code has offsets of labels.
    uses: Vec<(usize, Label)>,
}

impl Assembler {
    /// How many bytes there are so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Adds an operation.
    pub fn op(&mut self, operation: Operation) {
        self.bytes.push(operation as u8);
    }

    /// Adds operations.
    pub fn ops(&mut self, operations: &[Operation]) {
        operations.iter().for_each(|it| self.op(*it));
    }

    /// Pushes a constant.
    pub fn constant(&mut self, value: u64) {
        let bytes = value.to_be_bytes();
        let (code, size) = match value {
            0..=0xff => (0, 1),
            0x100..=0xffff => (1, 2),
            0x1_0000..=0xffff_ffff => (2, 4),
            _ => (3, 8),
        };
        self.bytes.push(with_operand::CONST8 + code);
        self.bytes.extend(bytes.iter().skip(bytes.len() - size));
    }

    /// Pushes a register, by its number at the stub.
    pub fn register(&mut self, number: u16) {
        self.bytes.push(with_operand::REG);
        self.bytes.extend(number.to_be_bytes());
    }

    /// Pushes a copy of the word `below` words below the top.
    pub fn pick(&mut self, below: u8) {
        self.bytes.extend([with_operand::PICK, below]);
    }

    /// Keeps the lowest `bits` of the top. Above them are copies of the highest if `signed`, else zeros.
    pub fn extend(&mut self, bits: u8, signed: bool) {
        let code = match signed {
            true => with_operand::EXT,
            false => with_operand::ZERO_EXT,
        };
        self.bytes.extend([code, bits]);
    }

    /// A new label, which has no place yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The label is here.
    pub fn place(&mut self, label: Label) {
        let here = self.bytes.len();
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = Some(here);
        }
    }

    /// Takes the top, and goes to a label if it isn't 0.
    pub fn go_if(&mut self, label: Label) {
        self.jump(with_operand::IF_GOTO, label);
    }

    /// Goes to a label.
    pub fn go(&mut self, label: Label) {
        self.jump(with_operand::GOTO, label);
    }

    fn jump(&mut self, code: u8, label: Label) {
        self.bytes.push(code);
        self.uses.push((self.bytes.len(), label));
        self.bytes.extend([0, 0]);
    }

    /// The code. `None`: it is too long for its jumps, or a label has no place.
    #[must_use]
    pub fn finish(mut self) -> Option<Vec<u8>> {
        for (at, label) in &self.uses {
            let to = (*self.labels.get(label.0)?)?;
            let to = u16::try_from(to).ok()?;
            let place = self.bytes.get_mut(*at..at + 2)?;
            place.copy_from_slice(&to.to_be_bytes());
        }
        Some(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `turn == 1000`, where `turn` is a `long` at `rbp - 24`, as gdb 13 sends it.
    #[test]
    fn code_has_the_manuals_numbers() {
        let mut code = Assembler::default();
        code.register(6);
        code.constant(16);
        code.op(Operation::Add);
        code.constant(0xe8);
        code.extend(8, true);
        code.ops(&[Operation::Add, Operation::Ref64]);
        code.extend(64, true);
        code.constant(1000);
        code.ops(&[Operation::Equal, Operation::End]);
        let sent = crate::hex::decode(b"26000622100222e81608021a16402303e81327");
        assert_eq!(code.finish(), sent);
    }

    #[test]
    fn jumps_lead_to_where_their_labels_are() {
        let mut code = Assembler::default();
        let (end, again) = (code.label(), code.label());
        code.place(again);
        code.constant(0x1_0000_0000);
        code.go_if(end);
        code.go(again);
        code.place(end);
        code.op(Operation::End);
        let expected = [0x25, 0, 0, 0, 1, 0, 0, 0, 0, 0x20, 0, 15, 0x21, 0, 0, 0x27];
        assert_eq!(code.finish().as_deref(), Some(&expected[..]));
        let mut nowhere = Assembler::default();
        let label = nowhere.label();
        nowhere.go(label);
        assert_eq!(nowhere.finish(), None);
    }
}
