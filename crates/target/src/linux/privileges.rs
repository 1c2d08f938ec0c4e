//! Detects privileges that an executable file grants but that the program lacks because its tracer is unprivileged (execve(2)).

use crate::ThreadId;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The privileges that the process's executable grants but that the process lacks, in words for the user, such as `of user 0`. `None` if
/// there are none, or if it can't be found out.
pub fn lost(process: ThreadId, program: &Path) -> Option<String> {
    let file = fs::metadata(program).ok()?;
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    // The second number is the effective id, proc_pid_status(5).
    let effective = |name| field(name)?.split_ascii_whitespace().nth(1)?.parse().ok();
    let path = CString::new(program.as_os_str().as_bytes()).ok()?;
    if gives_nothing(&path) {
        return None;
    }
    if file.mode() & libc::S_ISUID != 0 && effective("Uid:") != Some(file.uid()) {
        return Some(format!("of user {}", file.uid()));
    }
    let group = libc::S_ISGID | libc::S_IXGRP;
    if file.mode() & group == group && effective("Gid:") != Some(file.gid()) {
        return Some(format!("of group {}", file.gid()));
    }
    let has_none = field("CapPrm:").is_some_and(|mask| mask.trim().trim_matches('0').is_empty());
    (has_none && has_capabilities(&path)).then(|| "(capabilities)".into())
}

/// Whether the file is on a file system that grants no privileges (`nosuid`).
fn gives_nothing(path: &CString) -> bool {
    // SAFETY: reads a nul-terminated string, and writes into a local structure.
    unsafe {
        let mut system: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &mut system) == 0 && system.f_flag & libc::ST_NOSUID != 0
    }
}

/// Whether a file has capabilities (capabilities(7)).
fn has_capabilities(path: &CString) -> bool {
    // SAFETY: reads nul-terminated strings; with a size of 0 it writes nothing.
    unsafe {
        let name = c"security.capability".as_ptr();
        libc::getxattr(path.as_ptr(), name, std::ptr::null_mut(), 0) > 0
    }
}
