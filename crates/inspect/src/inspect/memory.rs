//! Reading memory for people.

/// What was read of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryRead {
    /// What could be read, without a gap.
    pub bytes: Vec<u8>,
    /// How many bytes behind those can't be read, until memory begins again or as far as was asked for.
    pub unreadable: u64,
}

/// The most memory that is read at once, in bytes.
pub const MOST_MEMORY: usize = 16 << 20;
