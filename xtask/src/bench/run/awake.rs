//! A client's end of a debugger's output that stays awake while an answer may come at once.

use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::retry_on_intr;

/// How long a client stays awake: an idle processor needs up to 20 µs to wake up, which is time of the machine
/// and of no debugger. Too short to be in the way of one that takes a millisecond.
const AWAKE: Duration = Duration::from_micros(100);

/// How long a debugger may say nothing.
const PATIENCE: Timespec = Timespec {
    tv_sec: 60,
    tv_nsec: 0,
};

/// A debugger's output, read without going to sleep at first.
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
                // The debugger may have to run on this very processor.
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
