//! A process's memory through `/proc/PID/mem`, which works while threads run, and writes even to pages that the program may not write.

use crate::linux::process;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;

/// The memory of one process image. After an exec it must be reopened.
#[derive(Debug)]
pub struct ProcessMemory {
    file: File,
}

impl ProcessMemory {
    /// Opens the memory of a process that is being traced.
    pub fn open(process: ThreadId) -> io::Result<ProcessMemory> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(process::folder(process).join("mem"))?;
        Ok(ProcessMemory { file })
    }

    /// The open file.
    pub fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Fills as much of `buffer` as can be read from `address` on, and returns the number of bytes.
    pub fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        let mut done = 0;
        while done < buffer.len() {
            let Some(at) = address.0.checked_add(done as u64) else {
                break;
            };
            match self.file.read_at(&mut buffer[done..], at) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        done
    }

    /// Fills `buffer`; the error is the first address that can't be read.
    pub fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        let done = self.read_some(address, buffer);
        if done < buffer.len() {
            return Err(Address(address.0.wrapping_add(done as u64)));
        }
        Ok(())
    }

    /// Writes all of `bytes`, whatever the page's protection.
    pub fn write(&self, address: Address, bytes: &[u8]) -> io::Result<()> {
        super::ptrace::changed();
        self.file.write_all_at(bytes, address.0)
    }
}

impl Memory for ProcessMemory {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        ProcessMemory::read(self, address, buffer)
    }

    fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        ProcessMemory::read_some(self, address, buffer)
    }
}
