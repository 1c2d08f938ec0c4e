//! Reads a debugger's output without sleeping while an answer may be imminent.

use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::retry_on_intr;

/// How long the client polls before it sleeps. An idle CPU needs up to 20 µs to wake up, which is no property of the debugger. Too short to
/// hinder a debugger that takes a millisecond.
const AWAKE: Duration = Duration::from_micros(100);

/// How long a debugger may be silent.
const PATIENCE: Timespec = Timespec {
    tv_sec: 60,
    tv_nsec: 0,
};

/// A debugger's output, polled before the reader sleeps.
pub struct Awake<R> {
    output: R,
}

impl<R: Read + AsFd> Awake<R> {
    /// Takes over an output.
    pub fn new(output: R) -> io::Result<Self> {
        let flags = fcntl_getfl(&output)?;
        fcntl_setfl(&output, flags | OFlags::NONBLOCK)?;
        Ok(Self { output })
    }
}

impl<R: Read + AsFd> Read for Awake<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut since = None;
        loop {
            match self.output.read(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            if since.get_or_insert_with(Instant::now).elapsed() < AWAKE {
                // The debugger may need to run on the same CPU.
                std::thread::yield_now();
                continue;
            }
            let patience = Some(&PATIENCE);
            let ready =
                retry_on_intr(|| poll(&mut [PollFd::new(&self.output, PollFlags::IN)], patience))?;
            if ready == 0 {
                let what = format!("it has said nothing for {} s", PATIENCE.tv_sec);
                return Err(io::Error::new(ErrorKind::TimedOut, what));
            }
        }
    }
}
