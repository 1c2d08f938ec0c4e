//! The front process and the adapter process, each with a pipe that reports the other's end.

use crate::ThreadId;
use crate::linux::wait;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals that the front forwards to the adapter process.
const PASSED_ON: [i32; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
/// The front's exit code if the adapter process has reported none.
const FAILED: u8 = 1;

/// The adapter process's connection to its front.
#[derive(Debug)]
pub struct Apart {
    front: PipeReader,
    report: PipeWriter,
}

/// Continues in a new process with the same descriptors, working directory and user. The calling process becomes its front and never
/// returns. Call before anything else, while there is one thread.
///
/// # Errors
/// The process or a pipe can't be created, or there are other threads already; the calling process then continues unchanged.
pub fn go_apart() -> io::Result<Apart> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("there are other threads"));
    }
    let (front, alive) = io::pipe()?;
    let (reports, report) = io::pipe()?;
    // SAFETY: there are no other threads, so the child can do whatever its parent can.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above. The intermediate process ends at once, so the adapter process, its child, is reparented to init and isn't
            // killed with its ancestors.
            unsafe {
                match libc::fork() {
                    0 => {}
                    -1 => libc::_exit(*libc::__errno_location()),
                    _ => libc::_exit(0),
                }
                libc::setpgid(0, 0);
            }
            drop((alive, reports));
            let mut apart = Apart { front, report };
            // If the front has already ended, [`Front::wait`] notices.
            let _ = apart.report.write_all(&std::process::id().to_le_bytes());
            Ok(apart)
        }
        between => {
            drop((front, report));
            match wait::exit_code(ThreadId(between)) {
                Some(0) => stay(alive, reports),
                code => Err(io::Error::from_raw_os_error(code.unwrap_or(libc::ECHILD))),
            }
        }
    }
}

impl Apart {
    /// A handle for waiting for the front's end.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn front(&self) -> io::Result<Front> {
        Ok(Front(self.front.try_clone()?))
    }

    /// Sets the exit code with which the front ends once this process does.
    pub fn end_with(mut self, code: u8) {
        // The write fails if the front has ended.
        let _ = self.report.write_all(&[code]);
        // The front waits until the pipe is closed, so the pipe stays open until this process ends.
        std::mem::forget(self.report);
    }
}

/// The front: the process that the client started.
#[derive(Debug)]
pub struct Front(PipeReader);

impl Front {
    /// Waits until the front has ended.
    pub fn wait(mut self) {
        // The front never writes, so the read returns only when the front ends and its end of the pipe is closed.
        let _ = self.0.read_to_end(&mut Vec::new());
    }
}

/// The process that signals are forwarded to.
static BEHIND: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: i32) {
    // SAFETY: kill(2) takes numbers only and is async-signal-safe. The adapter process lives: when it ends, this process ends.
    unsafe { libc::kill(BEHIND.load(Ordering::SeqCst), signal) };
}

/// The front's main function.
fn stay(alive: PipeWriter, mut reports: PipeReader) -> ! {
    let mut id = [0; 4];
    let code = match reports.read_exact(&mut id) {
        Ok(()) => {
            BEHIND.store(i32::from_le_bytes(id), Ordering::SeqCst);
            step_back();
            let mut said = Vec::new();
            // Reads to the end of the pipe, which comes with the end of the adapter process.
            let _ = reports.read_to_end(&mut said);
            said.first().copied().unwrap_or(FAILED)
        }
        Err(_) => FAILED,
    };
    drop(alive);
    std::process::exit(code.into())
}

/// Leaves standard input and output to the adapter process, and forwards signals to it.
fn step_back() {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
            // SAFETY: this process, which has one thread, uses neither.
            unsafe { libc::dup2(nothing.as_raw_fd(), stream) };
        }
    }
    for signal in PASSED_ON {
        // SAFETY: the action is fully initialised, and its handler async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = pass_on as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
