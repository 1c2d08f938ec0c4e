//! What running a program without tracing it needs of the system: a handle that can't become another process's, and somebody who
//! kills it when the debugger is gone.

use crate::ThreadId;
use crate::linux::inherited::stand_alone;
use std::io;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A process, whatever becomes of its id (pidfd_open(2)).
#[derive(Debug)]
pub struct Handle(OwnedFd);

impl Handle {
    /// A handle on a process whose id is its own still.
    pub fn of(process: ThreadId) -> io::Result<Handle> {
        // SAFETY: takes numbers only, and gives a new descriptor.
        unsafe {
            match libc::syscall(libc::SYS_pidfd_open, process.0, 0) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(Handle(OwnedFd::from_raw_fd(fd as RawFd))),
            }
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        match send(self.0.as_raw_fd(), signal) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn send(handle: RawFd, signal: i32) -> i64 {
    let nothing = std::ptr::null_mut::<libc::siginfo_t>();
    // SAFETY: takes numbers and no structure.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, handle, signal, nothing, 0) }
}

/// A process that kills the program when this one is gone, however that came: it reads a pipe whose other end is here alone.
#[derive(Debug)]
pub struct Guard(io::PipeWriter);

/// What a guard kills.
#[derive(Clone, Copy)]
enum Guarded {
    /// The process behind a handle.
    Process(RawFd),
    /// All processes of a group.
    Group(libc::pid_t),
}

impl Guard {
    /// Begins to guard.
    ///
    /// # Errors
    /// No pipe or no process is to be had.
    pub fn start(program: &Handle) -> io::Result<Guard> {
        Guard::over(Guarded::Process(program.0.as_raw_fd()))
    }

    /// Begins to guard a group, which is to be dismissed before its leader is waited for: until then no other group has its id.
    ///
    /// # Errors
    /// As for [`start`](Guard::start).
    pub fn of_group(leader: ThreadId) -> io::Result<Guard> {
        Guard::over(Guarded::Group(leader.0))
    }

    fn over(guarded: Guarded) -> io::Result<Guard> {
        let (alive, end) = io::pipe()?;
        // SAFETY: what runs in the child only makes system calls and never returns.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: as above; the parent goes at once, so that the guard is nobody's child.
                unsafe {
                    // It has its name before anybody can hear that it is there.
                    libc::prctl(libc::PR_SET_NAME, c"run guard".as_ptr());
                    match libc::fork() {
                        0 => guard(guarded, alive.as_raw_fd()),
                        -1 => libc::_exit(*libc::__errno_location()),
                        _ => libc::_exit(0),
                    }
                }
            }
            child => match crate::linux::wait::exit_code(ThreadId(child)) {
                // A host that waits for all its children may have been first.
                None | Some(0) => Ok(Guard(end)),
                Some(error) => Err(io::Error::from_raw_os_error(error)),
            },
        }
    }

    /// The program is to live on.
    pub fn dismiss(mut self) {
        // A guard that was killed does nothing anyway.
        let _ = self.0.write_all(&[1]);
    }
}

/// The guard's life.
fn guard(guarded: Guarded, alive: RawFd) -> ! {
    let program = match guarded {
        Guarded::Process(handle) => handle,
        Guarded::Group(_) => alive,
    };
    // SAFETY: system calls on this process and what it guards, and on two descriptors that stay open.
    unsafe {
        stand_alone(c"run guard", program, alive);
        let mut byte = 0_u8;
        loop {
            match libc::read(alive, (&raw mut byte).cast(), 1) {
                0 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => libc::_exit(0),
            }
        }
        match guarded {
            Guarded::Process(handle) => drop(send(handle, libc::SIGKILL)),
            Guarded::Group(leader) => drop(libc::kill(-leader, libc::SIGKILL)),
        }
        libc::_exit(0)
    }
}

/// Gives what a command runs the signals that a program begins with, and a session where it is to have its own, or has this terminal.
pub fn before_exec(command: &mut Command, own_session: bool, terminal: Option<RawFd>) {
    let highest = libc::SIGRTMAX();
    // SAFETY: what runs in the child only makes system calls.
    unsafe {
        command.pre_exec(move || {
            if own_session || terminal.is_some() {
                libc::setsid();
            }
            if let Some(terminal) = terminal {
                libc::ioctl(terminal, libc::TIOCSCTTY, 0);
            }
            for signal in 1..=highest {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// Has this process's signals from a terminal go to the program in it: a handler that does nothing, which exec resets.
pub fn leave_keys_to_program() {
    extern "C" fn nothing(_: i32) {}
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: the handler does nothing.
        unsafe { libc::signal(signal, nothing as *const () as libc::sighandler_t) };
    }
}

/// Has what a command runs killed when the thread ends that has started it.
pub fn end_with_parent(command: &mut Command) {
    // SAFETY: what runs in the child only makes a system call.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}
