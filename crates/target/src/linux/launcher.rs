//! What a launcher in a terminal needs of the system, and taking it over.

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

/// Who is at the other end of a Unix socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its process.
    pub process: i32,
    /// Its user.
    pub user: u32,
}

/// Who has connected, or was connected to (unix(7), `SO_PEERCRED`).
pub fn peer(socket: &UnixStream) -> io::Result<Peer> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes a ucred of the length told.
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

/// The user that this process acts as.
pub fn own_user() -> u32 {
    // SAFETY: geteuid(2) takes nothing and can't fail.
    unsafe { libc::geteuid() }
}

/// Lets a process trace this one where only ancestors may (Yama).
pub fn allow_tracing_by(process: i32) {
    // SAFETY: takes numbers only. Refused where there's no Yama, and not needed there.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, process as libc::c_ulong, 0, 0, 0) };
}

/// Turns off address-space randomisation for what this process becomes.
pub fn fix_addresses() {
    // SAFETY: takes numbers only. Refused in some containers: then addresses vary, which the debugger can live with.
    unsafe {
        let persona = libc::personality(0xffff_ffff);
        if persona != -1 {
            libc::personality((persona | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
        }
    }
}

/// Traces the launcher and has it become the program; it is stopped at its exec when this returns.
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
