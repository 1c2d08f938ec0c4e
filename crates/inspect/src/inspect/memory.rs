//! The result of reading memory for the user.

/// Memory that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryRead {
    /// The bytes from the start on that could be read, without a gap.
    pub bytes: Vec<u8>,
    /// How many of the following bytes can't be read, up to the next readable one or to the end of the request.
    pub unreadable: u64,
}

/// The most memory that one request reads, in bytes.
pub const MOST_MEMORY: usize = 16 << 20;
