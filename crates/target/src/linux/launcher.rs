//! The system calls of a launcher in a terminal, and those of the debugger that takes it over.

use crate::launch::LaunchOptions;
use crate::launcher::{Launcher, TRACED};
use crate::linux::launch::Launched;
use crate::linux::{ptrace, wait};
use crate::stream::Stream;
use crate::{Error, ThreadId};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// The process at the other end of a Unix socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its process id.
    pub process: i32,
    /// Its user id.
    pub user: u32,
}

/// The process that has connected or accepted the connection (unix(7), `SO_PEERCRED`).
pub fn peer(socket: &UnixStream) -> io::Result<Peer> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes a ucred of the given length.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut length,
        )
    };
    match result {
        0 => Ok(Peer {
            process: peer.pid,
            user: peer.uid,
        }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The effective user id of this process.
pub fn own_user() -> u32 {
    // SAFETY: geteuid(2) takes no arguments and can't fail.
    unsafe { libc::geteuid() }
}

/// Lets a process trace this one on systems on which only ancestors may (Yama).
pub fn allow_tracing_by(process: i32) {
    // SAFETY: takes numbers only. Without Yama, the kernel refuses this option, and it isn't needed.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, process as libc::c_ulong, 0, 0, 0) };
}

/// Turns off address-space randomisation for the program that this process will execute.
pub fn fix_addresses() {
    // SAFETY: takes numbers only. Some containers refuse it: then addresses vary, which the debugger tolerates.
    unsafe {
        let persona = libc::personality(0xffff_ffff);
        if persona != -1 {
            libc::personality((persona | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
        }
    }
}

/// Traces the launcher and makes it become the program, which is stopped at its exec when this returns.
pub fn take_over(options: &LaunchOptions, launcher: &Launcher) -> Result<Launched, Error> {
    let refuse = |reason: String| Error::Launch {
        program: options.program.clone(),
        reason,
    };
    let process = ThreadId(launcher.process);
    let mut socket = &launcher.socket;
    ptrace::seize(process, ptrace::OPTIONS | libc::PTRACE_O_EXITKILL)
        .map_err(|e| refuse(format!("it can't be traced in its terminal: {e}")))?;
    if let Err(error) = socket.write_all(&[TRACED]) {
        wait::abandon(process);
        return Err(refuse(format!("it ended at once: {error}")));
    }
    if let Err(ended) = wait::until_exec(process) {
        let mut report = String::new();
        let _ = socket.read_to_string(&mut report);
        return Err(refuse(if report.is_empty() { ended } else { report }));
    }
    Ok(Launched {
        process,
        program: launcher.program.clone(),
        output: Vec::<(Stream, OwnedFd)>::new(),
        input: None,
    })
}
