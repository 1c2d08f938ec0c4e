//! The registers of a thread behind a stub: from the layout that the target description gives them to the kernel's, and back.

use dapple_arch::registers::described::{
    ARCHITECTURE, GENERAL, REQUIRED, TAGS, extended, state, tags, unknown,
};
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters};
use dapple_gdb_remote::description::{Description, Register};

/// Where a stub has the registers.
#[derive(Debug)]
pub(super) struct Layout {
    description: Description,
    /// For each word of the kernel's layout, the index of its register.
    words: [Option<usize>; REGISTER_WORDS],
}

/// A register with the value that it is to get.
pub(super) type Change<'a> = (&'a Register, Vec<u8>);

impl Layout {
    /// Reads a description.
    ///
    /// # Errors
    /// The end of a sentence that says why the process can't be debugged.
    pub(super) fn of(description: Description) -> Result<Layout, String> {
        let index = |name: &str| {
            let mut all = description.registers.iter();
            all.position(|register| register.name == name)
        };
        let words = GENERAL.map(index);
        if !REQUIRED.into_iter().all(|name| index(name).is_some()) {
            return Err(match description.architecture.as_deref() {
                Some(name) if name != ARCHITECTURE => {
                    format!("its processor, {name}, is not one that can be debugged yet")
                }
                _ => format!("the stub doesn't say which registers of {ARCHITECTURE} it has"),
            });
        }
        Ok(Layout { description, words })
    }

    /// The size of all registers, in bytes.
    pub(super) fn size(&self) -> usize {
        self.description.registers_size()
    }

    /// The registers that aren't in a packet with all of them, which has only `length` bytes.
    pub(super) fn behind(&self, length: usize) -> Vec<Register> {
        let general = self.words.iter().flatten();
        let general = general.filter_map(|index| self.description.registers.get(*index));
        let behind = general.filter(|it| it.offset + it.size() > length);
        behind.cloned().collect()
    }

    fn word(&self, index: usize) -> Option<&Register> {
        self.description.registers.get(self.words[index]?)
    }

    /// The general registers.
    pub(super) fn general(&self, all: &[Option<u8>]) -> UserRegisters {
        let mut words = [0; REGISTER_WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            let value = self.word(index).and_then(|register| register.value_in(all));
            *word = value.map_or_else(|| unknown(GENERAL[index]), |bytes| widened(&bytes));
        }
        UserRegisters::from_words(words)
    }

    /// Changes the general registers in `all`. Returns those that have other values now.
    pub(super) fn set_general(
        &self,
        all: &mut [Option<u8>],
        registers: &UserRegisters,
    ) -> Vec<Change<'_>> {
        let words = registers.to_words().into_iter().enumerate();
        let words = words.filter_map(|(index, word)| Some((self.word(index)?, word)));
        let wanted = words.map(|(register, word)| (register, word.to_le_bytes().to_vec()));
        changes(all, wanted)
    }

    /// The state of the floating-point and vector units, in XSAVE's format.
    pub(super) fn extended(&self, all: &[Option<u8>]) -> Vec<u8> {
        state(|name| self.description.register(name)?.value_in(all))
    }

    /// Changes the registers of these units in `all`. Returns those that have other values now.
    pub(super) fn set_extended(&self, all: &mut [Option<u8>], state: &[u8]) -> Vec<Change<'_>> {
        let places = extended().filter_map(|place| {
            let register = self.description.register(&place.name)?;
            let bytes = state.get(place.offset..place.offset + place.size)?;
            Some((register, bytes.to_vec()))
        });
        let of_tags = self.description.register(TAGS).and_then(|register| {
            let now = register.value_in(all)?;
            Some((register, tags(state, &now)?))
        });
        let wanted: Vec<Change<'_>> = places.chain(of_tags).collect();
        changes(all, wanted.into_iter())
    }
}

/// Sets registers in `all`, and returns those that have other values now. What the stub doesn't know the value of is left alone.
fn changes<'a>(
    all: &mut [Option<u8>],
    wanted: impl Iterator<Item = Change<'a>>,
) -> Vec<Change<'a>> {
    let sized = wanted.map(|(register, mut bytes)| {
        bytes.resize(register.size(), 0);
        (register, bytes)
    });
    let changed = sized.filter(|(register, bytes)| {
        let now = register.value_in(all);
        now.is_some_and(|now| now != *bytes)
    });
    let changed: Vec<_> = changed.collect();
    for (register, bytes) in &changed {
        let there = all.iter_mut().skip(register.offset);
        there
            .zip(bytes)
            .for_each(|(there, byte)| *there = Some(*byte));
    }
    changed
}

/// A little-endian number of at most 8 bytes.
fn widened(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let places = wide.iter_mut().zip(bytes);
    places.for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(wide)
}
