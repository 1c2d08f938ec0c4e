//! Waking the thread that waits for the debuggee when a descriptor has become readable: by the signal that wakes it otherwise.

use crate::linux::wait;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// From `<fcntl.h>`.
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;
const F_OWNER_TID: i32 = 0;

/// The argument of `F_SETOWN_EX`.
#[repr(C)]
struct Owner {
    kind: i32,
    thread: i32,
}

/// Ends the calling thread's wait for the debuggee ([`wait`](crate::linux::wait::wait)) when `input` becomes readable, or its other end is closed. The input is a pipe or a socket, with an opening of its own or of which nobody else wants signals (`O_ASYNC`,
/// fcntl(2)). Nothing is told until [`tell`] has been called.
///
/// # Errors
/// It is of another kind.
pub fn prepare(input: &impl AsFd) -> io::Result<()> {
    wait::ready_current_thread();
    let fd = input.as_fd().as_raw_fd();
    // SAFETY: takes numbers. The signal's handler is in place.
    unsafe {
        succeeded(libc::fcntl(fd, F_SETSIG, libc::SIGURG))?;
        let flags = succeeded(libc::fcntl(fd, libc::F_GETFL))?;
        succeeded(libc::fcntl(fd, libc::F_SETFL, flags | libc::O_ASYNC))?;
    }
    Ok(())
}

/// Whether the calling thread is to be woken from now on. What has come before is not told of.
///
/// # Errors
/// As [`prepare`].
pub fn tell(input: &impl AsFd, wanted: bool) -> io::Result<()> {
    // SAFETY: the one takes nothing; the other reads a structure of the kernel's layout that lives until the call returns.
    unsafe {
        let owner = Owner {
            kind: F_OWNER_TID,
            thread: if wanted { libc::gettid() } else { 0 },
        };
        let fd = input.as_fd().as_raw_fd();
        succeeded(libc::fcntl(fd, F_SETOWN_EX, &raw const owner)).map(drop)
    }
}

fn succeeded(result: i32) -> io::Result<i32> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}
