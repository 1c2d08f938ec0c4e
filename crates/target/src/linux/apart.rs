//! A front, and the process behind it, each with a pipe that tells of the other's end.

use crate::ThreadId;
use crate::linux::wait;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// What is passed on to the process behind.
const PASSED_ON: [i32; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
/// How a front ends whose process behind has said nothing.
const FAILED: u8 = 1;

/// The process behind a front.
#[derive(Debug)]
pub struct Apart {
    front: PipeReader,
    report: PipeWriter,
}

/// Goes on in another process with the same descriptors, working directory and user; the calling one becomes its front and never
/// returns. To be called first of all, while there is one thread.
///
/// # Errors
/// There is no process or pipe to be had, or there are other threads already; then all is as before.
pub fn go_apart() -> io::Result<Apart> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("there are other threads"));
    }
    let (front, alive) = io::pipe()?;
    let (reports, report) = io::pipe()?;
    // SAFETY: there are no other threads, so that a child can do whatever its parent can.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above. The one in between ends at once: the last one is nobody's child that would be killed with its parents.
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
            // A front that is gone already is noticed by who waits for that.
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
    /// What waits for the front's end.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn front(&self) -> io::Result<Front> {
        Ok(Front(self.front.try_clone()?))
    }

    /// Says how the front is to end, once this process does.
    pub fn end_with(mut self, code: u8) {
        // Nobody is there to be told where the front is gone.
        let _ = self.report.write_all(&[code]);
        // It waits for the pipe's end, which is to come with the process's.
        std::mem::forget(self.report);
    }
}

/// The process that was started.
#[derive(Debug)]
pub struct Front(PipeReader);

impl Front {
    /// Waits until it is gone.
    pub fn wait(mut self) {
        // It never writes.
        let _ = self.0.read_to_end(&mut Vec::new());
    }
}

/// Whom signals are passed on to.
static BEHIND: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: i32) {
    // SAFETY: kill(2) takes numbers only and may be called in a handler. The process behind lives: its end ends this one.
    unsafe { libc::kill(BEHIND.load(Ordering::SeqCst), signal) };
}

/// The front's life.
fn stay(alive: PipeWriter, mut reports: PipeReader) -> ! {
    let mut id = [0; 4];
    let code = match reports.read_exact(&mut id) {
        Ok(()) => {
            BEHIND.store(i32::from_le_bytes(id), Ordering::SeqCst);
            step_back();
            let mut said = Vec::new();
            // Until its end: what it wrote before, nobody has to wait for.
            let _ = reports.read_to_end(&mut said);
            said.first().copied().unwrap_or(FAILED)
        }
        Err(_) => FAILED,
    };
    drop(alive);
    std::process::exit(code.into())
}

/// Leaves standard input and output to the one behind, and passes signals on.
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
