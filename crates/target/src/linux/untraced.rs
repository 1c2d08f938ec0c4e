//! Support for running a program without tracing it: a process handle that is immune to the reuse of ids, and a guard process that kills
//! the program when the debugger ends.

use crate::ThreadId;
use crate::linux::inherited::stand_alone;
use std::io;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A handle on a process. It refers to this process only, even if another process gets its id later (pidfd_open(2)).
#[derive(Debug)]
pub struct Handle(OwnedFd);

impl Handle {
    /// Opens a handle on a process that hasn't been reaped.
    pub fn of(process: ThreadId) -> io::Result<Handle> {
        // SAFETY: takes numbers only, and returns a new descriptor.
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
    // SAFETY: takes numbers, and a null pointer in place of a structure.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, handle, signal, nothing, 0) }
}

/// A helper process that kills the program when the debugger's process ends, for whatever reason. The helper reads a pipe whose only write
/// end is this value, so it also kills the program when the value is dropped without [`Guard::dismiss`].
#[derive(Debug)]
pub struct Guard(io::PipeWriter);

/// What a guard kills.
#[derive(Clone, Copy)]
enum Guarded {
    /// The process of a handle.
    Process(RawFd),
    /// All processes of a group.
    Group(libc::pid_t),
}

impl Guard {
    /// Starts a guard for a process.
    ///
    /// # Errors
    /// The pipe or the guard's process can't be created.
    pub fn start(program: &Handle) -> io::Result<Guard> {
        Guard::over(Guarded::Process(program.0.as_raw_fd()))
    }

    /// Starts a guard for a process group. Dismiss the guard before the group's leader is reaped: after that, another group may get the same id.
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
                // SAFETY: as above; the parent ends at once, so that the guard is reparented to init.
                unsafe {
                    // The guard inherits the name, so it has the name before the debugger goes on.
                    libc::prctl(libc::PR_SET_NAME, c"run guard".as_ptr());
                    match libc::fork() {
                        0 => guard(guarded, alive.as_raw_fd()),
                        -1 => libc::_exit(*libc::__errno_location()),
                        _ => libc::_exit(0),
                    }
                }
            }
            child => match crate::linux::wait::exit_code(ThreadId(child)) {
                // A host program that waits for all its children may have taken the status.
                None | Some(0) => Ok(Guard(end)),
                Some(error) => Err(io::Error::from_raw_os_error(error)),
            },
        }
    }

    /// Ends the guard without killing the program.
    pub fn dismiss(mut self) {
        // The write fails if the guard was killed, which makes no difference.
        let _ = self.0.write_all(&[1]);
    }
}

/// The guard's main function.
fn guard(guarded: Guarded, alive: RawFd) -> ! {
    let program = match guarded {
        Guarded::Process(handle) => handle,
        Guarded::Group(_) => alive,
    };
    // SAFETY: system calls on this process, on the guarded one, and on two descriptors that stay open.
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

/// Gives the command default signal actions. If `own_session` is set or a `terminal` is given, also gives it a new session; the `terminal`
/// becomes the session's controlling terminal.
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

/// Makes Ctrl-C and Ctrl-\ on the terminal affect only the program: this process gets a handler that does nothing, which an exec resets in
/// the program.
pub fn leave_keys_to_program() {
    extern "C" fn nothing(_: i32) {}
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: the handler does nothing.
        unsafe { libc::signal(signal, nothing as *const () as libc::sighandler_t) };
    }
}

/// Makes the kernel kill the command when the thread that starts it ends.
pub fn end_with_parent(command: &mut Command) {
    // SAFETY: what runs in the child only makes a system call.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}
