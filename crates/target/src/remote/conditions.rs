//! Conditions of breakpoints as code that the stub evaluates ([`dapple_gdb_remote::bytecode`]).
//!
//! A condition is a [decision](dapple_arch::decision): the stub lets a thread go on only where it is false. Where it is true or has no value,
//! the stub stops the thread, and the engine decides. So the code gives 1 where there is no value, too.
//!
//! gdbserver does not notice that memory can't be read: the value is what a register or memory had that was read before, as far as that has
//! as many bytes. So each word is read twice, each time after another word of known memory, the *probes*, which differ in every byte. If
//! the two values differ, too, the memory can't be read.

use dapple_arch::Machine;
use dapple_arch::decision::{Comparison, ExactOperation, Sign, Truth, Word, pieces};
use dapple_arch::registers::FS_BASE;
use dapple_arch::registers::named::name_of;
use dapple_gdb_remote::bytecode::{Assembler, Label, Operation};

/// How deeply a condition may be nested. gdbserver's stack has 100 words; each level leaves one there, and the innermost needs up to six.
const DEEPEST: u32 = 64;
/// The longest code, in bytes: gdbserver's buffer for a packet has 16 KiB, and the code is sent as hexadecimal digits.
const LONGEST: usize = 4096;
/// A divisor for which the quotient of the lowest integer is no integer of 64 bits.
const MINUS_ONE: u64 = u64::MAX;
const LOWEST: u64 = 1 << 63;

/// Why the stub can't evaluate a condition, as a clause.
type Why = &'static str;

/// Compiles a condition. `register` gives the stub's number of a register of 8 bytes, by its name. `probes`: the addresses of two words of 8
/// bytes that can always be read, and never have the same byte at the same place.
///
/// # Errors
/// Why the stub can't evaluate it, as a clause.
pub(super) fn compile(
    truth: &Truth,
    register: impl Fn(&str) -> Option<u64>,
    probes: Option<[u64; 2]>,
) -> Result<Vec<u8>, String> {
    let mut code = Assembler::default();
    let no_value = code.label();
    let mut compiler = Compiler {
        code,
        no_value,
        register: &register,
        probes,
        depth: 0,
    };
    compiler.truth(truth)?;
    let mut code = compiler.code;
    code.op(Operation::End);
    code.place(no_value);
    code.constant(1);
    code.op(Operation::End);
    let code = code.finish().filter(|code| code.len() <= LONGEST);
    code.ok_or_else(|| "its condition is too long for the stub".to_owned())
}

/// Two offsets in `code` whose words of 8 bytes differ in every byte.
pub(super) fn probes(code: &[u8]) -> Option<[usize; 2]> {
    let words = || code.windows(8).enumerate();
    let differ = |one: &[u8], other: &[u8]| one.iter().zip(other).all(|(a, b)| a != b);
    words().find_map(|(first, one)| {
        let mut others = words();
        let (second, _) = others.find(|(_, other)| differ(one, other))?;
        Some([first, second])
    })
}

struct Compiler<'a> {
    code: Assembler,
    /// Where the condition has no value.
    no_value: Label,
    register: &'a dyn Fn(&str) -> Option<u64>,
    probes: Option<[u64; 2]>,
    depth: u32,
}

impl Compiler<'_> {
    fn ops(&mut self, operations: &[Operation]) {
        self.code.ops(operations);
    }

    /// Takes the top: there is no value if that isn't 0.
    fn no_value_if(&mut self) {
        self.code.go_if(self.no_value);
    }

    /// Takes the top: there is no value if that is 0.
    fn no_value_unless(&mut self) {
        self.ops(&[Operation::LogNot]);
        self.no_value_if();
    }

    fn deeper(&mut self, add: impl FnOnce(&mut Self) -> Result<(), Why>) -> Result<(), Why> {
        if self.depth >= DEEPEST {
            return Err("its condition is nested too deeply for the stub");
        }
        if self.code.size() > LONGEST {
            return Err("its condition is too long for the stub");
        }
        self.depth += 1;
        let added = add(self);
        self.depth -= 1;
        added
    }

    /// Pushes 1 if a condition holds, else 0.
    fn truth(&mut self, truth: &Truth) -> Result<(), Why> {
        self.deeper(|this| this.truth_here(truth))
    }

    fn truth_here(&mut self, truth: &Truth) -> Result<(), Why> {
        match truth {
            Truth::Constant(value) => self.code.constant(u64::from(*value)),
            Truth::Words(comparison, pair) => {
                self.word(&pair.0)?;
                self.word(&pair.1)?;
                self.compare(*comparison);
            }
            Truth::Numbers(..) => return Err("its condition has a number with a fraction"),
            Truth::Not(truth) => {
                self.truth(truth)?;
                self.ops(&[Operation::LogNot]);
            }
            Truth::And(pair) => {
                let (no, end) = (self.code.label(), self.code.label());
                self.truth(&pair.0)?;
                self.ops(&[Operation::LogNot]);
                self.code.go_if(no);
                self.truth(&pair.1)?;
                self.code.go(end);
                self.code.place(no);
                self.code.constant(0);
                self.code.place(end);
            }
            Truth::Or(pair) => {
                let (yes, end) = (self.code.label(), self.code.label());
                self.truth(&pair.0)?;
                self.code.go_if(yes);
                self.truth(&pair.1)?;
                self.code.go(end);
                self.code.place(yes);
                self.code.constant(1);
                self.code.place(end);
            }
            Truth::Bytes(address, bytes) => {
                let (no, end) = (self.code.label(), self.code.label());
                self.word(address)?;
                for (offset, piece) in pieces(bytes) {
                    self.ops(&[Operation::Dup]);
                    self.code.constant(offset as u64);
                    self.ops(&[Operation::Add]);
                    self.load(piece.len() as u8)?;
                    let bytes = piece.iter().rev();
                    let value = bytes.fold(0, |word, byte| word << 8 | u64::from(*byte));
                    self.code.constant(value);
                    self.ops(&[Operation::Equal, Operation::LogNot]);
                    self.code.go_if(no);
                    if self.code.size() > LONGEST {
                        return Err("its condition is too long for the stub");
                    }
                }
                self.ops(&[Operation::Pop]);
                self.code.constant(1);
                self.code.go(end);
                self.code.place(no);
                self.ops(&[Operation::Pop]);
                self.code.constant(0);
                self.code.place(end);
            }
        }
        Ok(())
    }

    /// `a b → 0 or 1`
    fn compare(&mut self, comparison: Comparison) {
        let less = |sign| match sign {
            Sign::Signed => Operation::LessSigned,
            Sign::Unsigned => Operation::LessUnsigned,
        };
        match comparison {
            Comparison::Equal => self.ops(&[Operation::Equal]),
            Comparison::NotEqual => self.ops(&[Operation::Equal, Operation::LogNot]),
            Comparison::Less(sign) => self.ops(&[less(sign)]),
            Comparison::LessOrEqual(sign) => {
                self.ops(&[Operation::Swap, less(sign), Operation::LogNot]);
            }
        }
    }

    /// Pushes a word.
    fn word(&mut self, word: &Word) -> Result<(), Why> {
        self.deeper(|this| this.word_here(word))
    }

    fn word_here(&mut self, word: &Word) -> Result<(), Why> {
        match word {
            Word::Constant(value) => self.code.constant(*value),
            Word::Register(number) => self.named(*number)?,
            Word::ThreadPointer => self.named(FS_BASE)?,
            Word::Load {
                address,
                size,
                sign,
            } => {
                self.word(address)?;
                self.load(*size)?;
                self.extend(*size, *sign);
            }
            Word::Extended { word, size, sign } => {
                self.word(word)?;
                self.extend(*size, *sign);
            }
            Word::Operation(operation, pair) => {
                self.word(&pair.0)?;
                self.word(&pair.1)?;
                self.operation(*operation);
            }
            Word::Exact(operation, sign, pair) => {
                self.word(&pair.0)?;
                self.word(&pair.1)?;
                self.exact(*operation, *sign);
            }
            Word::Quotient(sign, pair) => {
                self.word(&pair.0)?;
                self.word(&pair.1)?;
                self.check_division(*sign);
                self.ops(&[match sign {
                    Sign::Signed => Operation::DivSigned,
                    Sign::Unsigned => Operation::DivUnsigned,
                }]);
            }
            Word::Remainder(sign, pair) => {
                self.word(&pair.0)?;
                self.word(&pair.1)?;
                self.check_division(*sign);
                self.ops(&[match sign {
                    Sign::Signed => Operation::RemSigned,
                    Sign::Unsigned => Operation::RemUnsigned,
                }]);
            }
            Word::Truth(truth) => self.truth(truth)?,
            Word::If(pair) => {
                self.truth(&pair.0)?;
                self.no_value_unless();
                self.word(&pair.1)?;
            }
            Word::Choice(parts) => {
                let (yes, end) = (self.code.label(), self.code.label());
                self.truth(&parts.0)?;
                self.code.go_if(yes);
                self.word(&parts.2)?;
                self.code.go(end);
                self.code.place(yes);
                self.word(&parts.1)?;
                self.code.place(end);
            }
            Word::Fitting { word, size, sign } => {
                self.word(word)?;
                self.ops(&[Operation::Dup, Operation::Dup]);
                self.extend(*size, *sign);
                self.ops(&[Operation::Equal]);
                self.no_value_unless();
            }
        }
        Ok(())
    }

    /// Pushes a register, by its DWARF number. Conditions are compiled of x86-64's programs alone.
    fn named(&mut self, number: u16) -> Result<(), Why> {
        let known = (self.register)(&name_of(Machine::X86_64, number));
        let known = known.and_then(|known| u16::try_from(known).ok());
        let known = known.ok_or("its condition has a register that the stub does not have")?;
        self.code.register(known);
        Ok(())
    }

    /// Keeps the lowest bytes of the top.
    fn extend(&mut self, size: u8, sign: Sign) {
        if size < 8 {
            self.code.extend(size * 8, sign == Sign::Signed);
        }
    }

    /// `address → value`, of `size` bytes with zeros above. There is none if the memory can't be read.
    fn load(&mut self, size: u8) -> Result<(), Why> {
        let [first, second] = self
            .probes
            .ok_or("the code there has nothing to probe memory")?;
        let load = match size {
            1 => Operation::Ref8,
            2 => Operation::Ref16,
            4 => Operation::Ref32,
            8 => Operation::Ref64,
            _ => return Err("its condition has a number of an unusual size"),
        };
        self.ops(&[Operation::Dup]);
        for probe in [first, second] {
            self.code.constant(probe);
            // The value stays where memory that can't be read leaves it.
            self.ops(&[Operation::Ref64, Operation::Pop, load, Operation::Swap]);
        }
        // Now the second value is below the first.
        self.code.pick(1);
        self.ops(&[Operation::Equal]);
        self.no_value_unless();
        Ok(())
    }

    fn operation(&mut self, operation: dapple_arch::decision::Operation) {
        use dapple_arch::decision::Operation as Wanted;
        let shift = match operation {
            Wanted::Add => return self.ops(&[Operation::Add]),
            Wanted::Subtract => return self.ops(&[Operation::Sub]),
            Wanted::Multiply => return self.ops(&[Operation::Mul]),
            Wanted::And => return self.ops(&[Operation::BitAnd]),
            Wanted::Or => return self.ops(&[Operation::BitOr]),
            Wanted::Xor => return self.ops(&[Operation::BitXor]),
            Wanted::ShiftLeft => Operation::Lsh,
            Wanted::ShiftRight(Sign::Unsigned) => Operation::RshUnsigned,
            Wanted::ShiftRight(Sign::Signed) => Operation::RshSigned,
        };
        self.ops(&[Operation::Dup]);
        self.code.constant(64);
        self.ops(&[Operation::LessUnsigned]);
        self.no_value_unless();
        self.ops(&[shift]);
    }

    /// `a b → a b`; there is no value if `a` can't be divided by `b`.
    fn check_division(&mut self, sign: Sign) {
        self.ops(&[Operation::Dup]);
        self.no_value_unless();
        if sign == Sign::Signed {
            let fine = self.code.label();
            self.ops(&[Operation::Dup]);
            self.code.constant(MINUS_ONE);
            self.ops(&[Operation::Equal, Operation::LogNot]);
            self.code.go_if(fine);
            self.code.pick(1);
            self.code.constant(LOWEST);
            self.ops(&[Operation::Equal]);
            self.no_value_if();
            self.code.place(fine);
        }
    }

    /// `a b → result`; there is no value if that is no integer of 64 bits.
    fn exact(&mut self, operation: ExactOperation, sign: Sign) {
        use Operation::{Add, BitAnd, BitXor, LessSigned, LessUnsigned, Sub, Swap};
        if (operation, sign) == (ExactOperation::Subtract, Sign::Unsigned) {
            self.code.pick(1);
            self.code.pick(1);
            self.ops(&[LessUnsigned]);
            self.no_value_if();
            return self.ops(&[Sub]);
        }
        // a b → result a b
        self.code.pick(1);
        self.code.pick(1);
        self.ops(&[
            match operation {
                ExactOperation::Add => Add,
                ExactOperation::Subtract => Sub,
                ExactOperation::Multiply => Operation::Mul,
            },
            Operation::Rot,
        ]);
        match (operation, sign) {
            (ExactOperation::Multiply, sign) => return self.check_product(sign),
            (_, Sign::Unsigned) => {
                // The sum is less than an addend if it is too large.
                self.ops(&[Operation::Pop]);
                self.code.pick(1);
                self.ops(&[Swap, LessUnsigned]);
            }
            // The result's sign is wrong: it differs from those of both addends, or from that of the minuend, which differs from the
            // subtrahend's.
            (_, Sign::Signed) => {
                let other = match operation {
                    ExactOperation::Add => 2,
                    _ => 1,
                };
                self.code.pick(other);
                self.ops(&[BitXor, Swap]);
                self.code.pick(2);
                self.ops(&[BitXor, BitAnd]);
                self.code.constant(0);
                self.ops(&[LessSigned]);
            }
        }
        self.no_value_if();
    }

    /// `product a b → product`; there is no value if that was cut.
    fn check_product(&mut self, sign: Sign) {
        use Operation::{Dup, Equal, LogNot, Pop, Swap};
        let (divide, not_lowest, end) = (self.code.label(), self.code.label(), self.code.label());
        if sign == Sign::Signed {
            self.ops(&[Dup]);
            self.code.constant(MINUS_ONE);
            self.ops(&[Equal, LogNot]);
            self.code.go_if(not_lowest);
            self.ops(&[Pop]);
            self.code.constant(LOWEST);
            self.ops(&[Equal]);
            self.no_value_if();
            self.code.go(end);
        }
        self.code.place(not_lowest);
        self.ops(&[Dup]);
        self.code.go_if(divide);
        self.ops(&[Pop, Pop]);
        self.code.go(end);
        self.code.place(divide);
        self.code.pick(2);
        self.ops(&[
            Swap,
            match sign {
                Sign::Signed => Operation::DivSigned,
                Sign::Unsigned => Operation::DivUnsigned,
            },
            Equal,
        ]);
        self.no_value_unless();
        self.code.place(end);
    }
}

#[cfg(test)]
mod tests;
