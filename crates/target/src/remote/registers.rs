//! The registers of a thread behind a stub: from the layout that the target description gives them to the kernel's, and back.

use dapple_arch::Machine;
use dapple_arch::registers::described::{
    self, GENERAL, REQUIRED, TAGS, extended, program_counter, state, tags, unknown,
};
use dapple_arch::registers::state::{bits, empty, set_bits};
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters, others};
use dapple_gdb_remote::description::{Description, Register};

/// Where a stub has the registers.
#[derive(Debug)]
pub(super) struct Layout {
    description: Description,
    machine: Machine,
    /// The general registers that it has: the word of the kernel's layout, and the index of the register.
    words: Vec<(usize, usize)>,
}

/// A register with the value that it is to get.
pub(super) type Change<'a> = (&'a Register, Vec<u8>);

impl Layout {
    /// Reads a description.
    ///
    /// # Errors
    /// The end of a sentence that says why the process can't be debugged.
    pub(super) fn of(description: Description) -> Result<Layout, String> {
        let has = |name: &str| description.register(name).is_some();
        let named = description.architecture.as_deref();
        let machine = match named {
            Some(name) => Machine::of_description(name).ok_or_else(|| {
                format!("its processor, {name}, is not one that can be debugged yet")
            })?,
            None => Machine::ALL
                .into_iter()
                .find(|machine| required(*machine).iter().all(|name| has(name)))
                .ok_or("the stub doesn't say which processor's registers it has")?,
        };
        if !required(machine).iter().all(|name| has(name)) {
            let name = named.unwrap_or(machine.name());
            return Err(format!(
                "the stub doesn't say which registers of {name} it has"
            ));
        }
        let index = |name: &str| {
            let mut all = description.registers.iter();
            all.position(|register| register.name == name)
        };
        let all = match machine {
            Machine::X86_64 => GENERAL.into_iter().zip(0..).collect(),
            _ => described::others::general(machine),
        };
        let words = all
            .into_iter()
            .filter_map(|(name, word)| Some((word, index(name)?)));
        Ok(Layout {
            words: words.collect(),
            machine,
            description,
        })
    }

    /// The processor.
    pub(super) fn machine(&self) -> Machine {
        self.machine
    }

    /// The size of all registers, in bytes.
    pub(super) fn size(&self) -> usize {
        self.description.registers_size()
    }

    /// The general registers that aren't in a packet with all of them, which has only `length` bytes.
    pub(super) fn general_behind(&self, length: usize) -> Vec<Register> {
        let general = self.words.iter();
        let general = general.filter_map(|(_, index)| self.description.registers.get(*index));
        let behind = general.filter(|it| it.offset + it.size() > length);
        behind.cloned().collect()
    }

    /// The registers for floating-point numbers and vectors that aren't.
    pub(super) fn extended_behind(&self, length: usize) -> Vec<Register> {
        let names: Vec<String> = match self.machine {
            Machine::X86_64 => extended().map(|place| place.name).collect(),
            machine => { described::others::extended(machine).into_iter() }
                .map(|(name, _)| name)
                .collect(),
        };
        let all = names.iter().filter_map(|name| self.unit_register(name));
        all.filter(|it| it.offset + it.size() > length)
            .cloned()
            .collect()
    }

    /// A register for floating-point numbers and vectors. On an aarch64 with SVE, the lowest part of `z0` is `v0` (gdb manual, "AArch64 Features").
    fn unit_register(&self, name: &str) -> Option<&Register> {
        self.description.register(name).or_else(|| {
            let index = name
                .strip_prefix('v')
                .filter(|_| self.machine == Machine::Aarch64)?;
            self.description.register(&format!("z{index}"))
        })
    }

    /// The words of the general registers that the stub has.
    fn general_words(&self) -> impl Iterator<Item = (usize, &Register)> {
        let words = self.words.iter();
        words.filter_map(|(word, index)| Some((*word, self.description.registers.get(*index)?)))
    }

    /// The stub's number of a register of 8 bytes.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        let register = self.description.register(name);
        let whole = register.filter(|register| register.size() == 8);
        whole.map(|register| register.number)
    }

    /// The stub's number of the program counter, if that has 8 bytes. So 32-bit Arm has none: an address to run on at would choose the instruction set
    /// there, by its lowest bit.
    pub(super) fn counter(&self) -> Option<u64> {
        self.number(program_counter(self.machine))
    }

    /// The general registers.
    pub(super) fn general(&self, all: &[Option<u8>]) -> UserRegisters {
        let value = |register: &Register| number_in(register, all);
        if self.machine == Machine::X86_64 {
            let mut words: [u64; REGISTER_WORDS] = GENERAL.map(unknown);
            for (word, register) in self.general_words() {
                words[word] = value(register).unwrap_or(words[word]);
            }
            return UserRegisters::from_words(words);
        }
        let mut registers = UserRegisters::of(self.machine);
        for (word, register) in self.general_words() {
            let Some(value) = value(register) else {
                continue;
            };
            registers.set_other(word, value);
            if word == others::THREAD_POINTER {
                registers.set_other(others::HAS_THREAD_POINTER, 1);
            }
        }
        registers
    }

    /// Changes the general registers in `all`. Returns those that have other values now.
    pub(super) fn set_general(
        &self,
        all: &mut [Option<u8>],
        registers: &UserRegisters,
    ) -> Vec<Change<'_>> {
        let words = registers.to_words();
        let value = |word: usize| match self.machine {
            Machine::X86_64 => words[word],
            _ => registers.other(word),
        };
        let wanted = self.general_words();
        let wanted = wanted.map(|(word, register)| (register, value(word).to_le_bytes().to_vec()));
        changes(all, wanted)
    }

    /// The state of the units for floating-point numbers and vectors
    /// ([`registers::state`](dapple_arch::registers::state)).
    pub(super) fn extended(&self, all: &[Option<u8>]) -> Vec<u8> {
        let value = |name: &str| self.description.register(name)?.value_in(all);
        if self.machine == Machine::X86_64 {
            return state(value);
        }
        let mut state = empty(self.machine);
        for (name, number) in described::others::extended(self.machine) {
            let value = self
                .unit_register(&name)
                .and_then(|register| register.value_in(all));
            if let Some(bytes) = value {
                let _ = set_bits(self.machine, &mut state, number, wide(&bytes));
            }
        }
        state
    }

    /// Changes the registers of these units in `all`. Returns those that have other values now.
    pub(super) fn set_extended(&self, all: &mut [Option<u8>], state: &[u8]) -> Vec<Change<'_>> {
        let wanted: Vec<Change<'_>> = match self.machine {
            Machine::X86_64 => self.extended_on_x86(all, state),
            _ => {
                let places = described::others::extended(self.machine).into_iter();
                let wanted = places.filter_map(|(name, number)| {
                    let register = self.unit_register(&name)?;
                    let value = bits(self.machine, state, number).ok()?.to_le_bytes();
                    // What there is of it above stays.
                    let mut bytes = register.value_in(all)?;
                    bytes
                        .iter_mut()
                        .zip(value)
                        .for_each(|(to, from)| *to = from);
                    Some((register, bytes))
                });
                wanted.collect()
            }
        };
        changes(all, wanted.into_iter())
    }

    fn extended_on_x86(&self, all: &[Option<u8>], state: &[u8]) -> Vec<Change<'_>> {
        let places = extended().filter_map(|place| {
            let register = self.description.register(&place.name)?;
            let bytes = state.get(place.offset..place.offset + place.size)?;
            Some((register, bytes.to_vec()))
        });
        let of_tags = self.description.register(TAGS).and_then(|register| {
            let now = register.value_in(all)?;
            Some((register, tags(state, &now)?))
        });
        places.chain(of_tags).collect()
    }
}

/// The registers without which a thread can't be debugged.
fn required(machine: Machine) -> Vec<&'static str> {
    match machine {
        Machine::X86_64 => REQUIRED.to_vec(),
        _ => machine.names().to_vec(),
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

/// A register's value in `all`: a little-endian number, of which the lowest 8 bytes are taken.
fn number_in(register: &Register, all: &[Option<u8>]) -> Option<u64> {
    let bytes = all.get(register.offset..)?.get(..register.size())?;
    let mut number = [0; 8];
    for (index, byte) in bytes.iter().enumerate() {
        let byte = (*byte)?;
        if let Some(to) = number.get_mut(index) {
            *to = byte;
        }
    }
    Some(u64::from_le_bytes(number))
}

/// A little-endian number of at most 16 bytes.
fn wide(bytes: &[u8]) -> u128 {
    let mut wide = [0; 16];
    let places = wide.iter_mut().zip(bytes);
    places.for_each(|(to, from)| *to = *from);
    u128::from_le_bytes(wide)
}
