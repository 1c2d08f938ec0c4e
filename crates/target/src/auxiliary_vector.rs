//! A process's auxiliary vector: what the kernel tells a program at its start (getauxval(3)).

use dapple_arch::Machine;

/// The entries of a process's auxiliary vector that locate its modules (getauxval(3)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuxiliaryVector {
    /// `AT_ENTRY`: the program's entry point.
    pub entry: Option<u64>,
    /// `AT_BASE`: where the interpreter (dynamic linker) is mapped; `None` without one.
    pub interpreter: Option<u64>,
    /// `AT_SYSINFO_EHDR`: where the vDSO is mapped.
    pub vdso: Option<u64>,
    /// `AT_EXECFN`: the address of the path with which the program was executed.
    pub file_name: Option<u64>,
}

impl AuxiliaryVector {
    /// That of a process on this machine.
    pub fn here(bytes: &[u8]) -> AuxiliaryVector {
        AuxiliaryVector::parse(Machine::X86_64, bytes)
    }

    /// Parses the entries that a debugger uses; missing ones stay `None`. Keys and values have the size of an address.
    pub fn parse(machine: Machine, bytes: &[u8]) -> AuxiliaryVector {
        let mut vector = AuxiliaryVector::default();
        let size = machine.address_size() as usize;
        let word = |bytes: &[u8]| match size {
            4 => bytes.try_into().map(u32::from_le_bytes).map(u64::from),
            _ => bytes.try_into().map(u64::from_le_bytes),
        };
        for entry in bytes.chunks_exact(2 * size) {
            let (key, value) = entry.split_at(size);
            let (Ok(key), Ok(value)) = (word(key), word(value)) else {
                break;
            };
            let value = Some(value);
            match key {
                libc::AT_NULL => break,
                libc::AT_ENTRY => vector.entry = value.map(|it| machine.code_address(it).0),
                libc::AT_BASE => vector.interpreter = value.filter(|&base| base != 0),
                libc::AT_SYSINFO_EHDR => vector.vdso = value,
                libc::AT_EXECFN => vector.file_name = value,
                _ => {}
            }
        }
        vector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_auxiliary_vector_ends_at_its_null_entry_and_survives_a_cut() {
        let mut bytes = Vec::new();
        for (key, value) in [(9u64, 0x401000u64), (7, 0), (33, 0x7fff), (0, 0), (9, 1)] {
            bytes.extend(key.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        let expected = AuxiliaryVector {
            entry: Some(0x401000),
            interpreter: None,
            vdso: Some(0x7fff),
            file_name: None,
        };
        assert_eq!(AuxiliaryVector::parse(Machine::X86_64, &bytes), expected);
        let cut = AuxiliaryVector::parse(Machine::X86_64, &bytes[..20]);
        assert_eq!(cut.entry, Some(0x401000));
        let short: Vec<u8> = { bytes.chunks(8) }
            .flat_map(|word| &word[..4])
            .copied()
            .collect();
        assert_eq!(AuxiliaryVector::parse(Machine::Arm, &short), expected);
    }
}
