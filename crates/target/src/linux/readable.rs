//! Wakes the thread that waits for the debuggee when a descriptor becomes readable, by the same signal as [`Waker`](wait::Waker).

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

/// Prepares `input` to interrupt the calling thread's wait for the debuggee ([`wait`](crate::linux::wait::wait)) when it becomes readable or
/// its other end is closed. The input is a pipe or a socket; its open file description must not be shared with another user of `O_ASYNC`
/// signals (fcntl(2)). No signal is sent until [`tell`] is called.
///
/// # Errors
/// The input is of another kind.
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

/// Makes new input wake the calling thread if it is `wanted`, or no thread otherwise. Input that arrived before the call wakes no thread.
///
/// # Errors
/// As [`prepare`].
pub fn tell(input: &impl AsFd, wanted: bool) -> io::Result<()> {
    // SAFETY: gettid(2) takes no arguments; fcntl(2) reads a structure of the kernel's layout that lives until the call returns.
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
