//! What is asked at a stop is mostly what was asked at the one before: the registers, the list of threads, the same pages of the stack. At a stop,
//! all of that is asked for at once, so that it takes the time of one answer. Nothing is believed that was read before the stop.

use super::Link;
use dapple_gdb_remote::thread_id::ThreadId as StubThread;

/// The most readings of memory that are asked for ahead, and the longest one, in bytes: together less than a socket's buffer.
const MOST: usize = 8;
const LONGEST: usize = 4096;

/// What was asked since a thread ran.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The registers of the thread that has stopped, before any others.
    pub(super) registers: bool,
    /// The list of threads.
    pub(super) threads: bool,
    /// What was read of memory: addresses and sizes.
    pub(super) memory: Vec<(u64, usize)>,
}

impl Asked {
    /// Memory is read.
    pub(super) fn reads(&mut self, address: u64, size: usize) {
        if self.memory.len() < MOST && size <= LONGEST {
            self.memory.push((address, size));
        }
    }
}

impl Link {
    /// A thread has stopped: asks ahead for what was asked at the stop before.
    pub(super) fn ask_ahead(&mut self, stopped: Option<StubThread>) {
        let before = std::mem::take(&mut self.asked);
        if before.registers && stopped.is_some() {
            self.client.read_registers_ahead();
        }
        for (address, size) in before.memory {
            if self.blocks.are_ordinary(address, size) {
                self.client.read_memory_ahead(address, size);
            }
        }
        if before.threads {
            self.client.read_threads_ahead();
        }
    }
}
