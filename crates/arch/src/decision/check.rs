//! Checks a decision before code is made of it, and gathers what the choice of registers depends on.

use super::record::{MOST_VALUES, Recorded};
use super::{ExactOperation, Operation, Real, Refused, Sign, Truth, Word};

/// How deep expressions may be nested. Also bounds the recursion of all that walks through them.
const DEEPEST: u32 = 100;
/// The most expressions of a decision.
const MOST: u32 = 2000;
/// The most bytes that [`Truth::Bytes`] may compare.
const MOST_BYTES: usize = 256;

/// What a decision reads and needs.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The general registers that it reads, one bit each, by DWARF number.
    pub(super) general: u16,
    /// The SSE registers that it reads, one bit each.
    pub(super) sse: u16,
    /// Whether it needs `rax` and `rdx`, to divide, or to multiply without sign.
    pub(super) divides: bool,
    /// Whether it needs `rcx`, to shift.
    pub(super) shifts: bool,
    seen: u32,
}

/// Checks a decision, and the values that are recorded if its condition holds.
pub(super) fn check(truth: &Truth, values: &[Recorded]) -> Result<Facts, Refused> {
    let mut facts = Facts::default();
    facts.truth(truth, 0)?;
    if values.len() > MOST_VALUES {
        return Err(Refused::TooLarge);
    }
    for value in values {
        match value {
            Recorded::Word(word) => facts.word(word, 0)?,
            Recorded::Real(real) => facts.real(real, 0)?,
        }
    }
    Ok(facts)
}

impl Facts {
    fn enter(&mut self, depth: u32) -> Result<u32, Refused> {
        self.seen += 1;
        match depth {
            DEEPEST.. => Err(Refused::TooDeep),
            _ if self.seen > MOST => Err(Refused::TooLarge),
            _ => Ok(depth + 1),
        }
    }

    fn truth(&mut self, truth: &Truth, depth: u32) -> Result<(), Refused> {
        let depth = self.enter(depth)?;
        match truth {
            Truth::Constant(_) => Ok(()),
            Truth::Words(_, pair) => self.words(pair, depth),
            Truth::Numbers(_, pair) => self.reals(pair, depth),
            Truth::Not(truth) => self.truth(truth, depth),
            Truth::And(pair) | Truth::Or(pair) => {
                self.truth(&pair.0, depth)?;
                self.truth(&pair.1, depth)
            }
            Truth::Bytes(address, bytes) if bytes.len() <= MOST_BYTES => self.word(address, depth),
            Truth::Bytes(..) => Err(Refused::TooLarge),
        }
    }

    fn words(&mut self, pair: &(Word, Word), depth: u32) -> Result<(), Refused> {
        self.word(&pair.0, depth)?;
        self.word(&pair.1, depth)
    }

    fn reals(&mut self, pair: &(Real, Real), depth: u32) -> Result<(), Refused> {
        self.real(&pair.0, depth)?;
        self.real(&pair.1, depth)
    }

    fn word(&mut self, word: &Word, depth: u32) -> Result<(), Refused> {
        let depth = self.enter(depth)?;
        match word {
            Word::Constant(_) | Word::ThreadPointer => Ok(()),
            Word::Register(number) => {
                let bit = 1_u16.checked_shl((*number).into());
                self.general |= bit.ok_or(Refused::Malformed)?;
                Ok(())
            }
            Word::Load { address, size, .. } => {
                one_of(*size, &[1, 2, 4, 8])?;
                self.word(address, depth)
            }
            Word::Extended { word, size, .. } | Word::Fitting { word, size, .. } => {
                one_of(*size, &[1, 2, 4])?;
                self.word(word, depth)
            }
            Word::Operation(operation, pair) => {
                let shift = matches!(operation, Operation::ShiftLeft | Operation::ShiftRight(_));
                self.shifts |= shift && !matches!(pair.1, Word::Constant(_));
                self.words(pair, depth)
            }
            Word::Exact(operation, sign, pair) => {
                self.divides |= (*operation, *sign) == (ExactOperation::Multiply, Sign::Unsigned);
                self.words(pair, depth)
            }
            Word::Quotient(_, pair) | Word::Remainder(_, pair) => {
                self.divides = true;
                self.words(pair, depth)
            }
            Word::Truth(truth) => self.truth(truth, depth),
            Word::If(pair) => {
                self.truth(&pair.0, depth)?;
                self.word(&pair.1, depth)
            }
            Word::Choice(parts) => {
                self.truth(&parts.0, depth)?;
                self.word(&parts.1, depth)?;
                self.word(&parts.2, depth)
            }
        }
    }

    fn real(&mut self, real: &Real, depth: u32) -> Result<(), Refused> {
        let depth = self.enter(depth)?;
        match real {
            Real::Constant(_) => Ok(()),
            Real::Load { address, size } => {
                one_of(*size, &[4, 8])?;
                self.word(address, depth)
            }
            Real::Register { register, size } => {
                one_of(*size, &[4, 8])?;
                let bit = 1_u16.checked_shl((*register).into());
                self.sse |= bit.ok_or(Refused::Malformed)?;
                Ok(())
            }
            Real::Integer(word, _) => self.word(word, depth),
            Real::Operation(_, pair) => self.reals(pair, depth),
            Real::Rounded(real) => self.real(real, depth),
            Real::Choice(parts) => {
                self.truth(&parts.0, depth)?;
                self.real(&parts.1, depth)?;
                self.real(&parts.2, depth)
            }
        }
    }
}

fn one_of(size: u8, sizes: &[u8]) -> Result<(), Refused> {
    match sizes.contains(&size) {
        true => Ok(()),
        false => Err(Refused::Malformed),
    }
}
