//! Releases what a long-lived forked helper process inherited: pipe ends that others wait for, sockets, files.

use std::ffi::CStr;
use std::os::fd::RawFd;

/// Prepares a forked process to outlive its parent: blocks all signals, leaves the session and the working directory, closes all
/// descriptors except two, and sets a name. Makes system calls only.
pub fn stand_alone(name: &CStr, one: RawFd, other: RawFd) {
    // SAFETY: system calls on this process alone; the set is initialised by sigfillset.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
    }
    close_all_but(one, other);
}

/// Closes all descriptors of this process except two.
fn close_all_but(one: RawFd, other: RawFd) {
    let (low, high) = (
        one.min(other).cast_unsigned(),
        one.max(other).cast_unsigned(),
    );
    let ranges = [
        (0, low.wrapping_sub(1)),
        (low + 1, high.wrapping_sub(1)),
        (high + 1, u32::MAX),
    ];
    for (first, last) in ranges {
        if first > last || last == u32::MAX && first == 0 {
            continue;
        }
        // SAFETY: closes descriptors that this process doesn't use.
        unsafe {
            if libc::syscall(libc::SYS_close_range, first, last, 0) == 0 {
                continue;
            }
            // Kernels before 5.9 have no close_range(2).
            let mut limit: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
            let most = u32::try_from(limit.rlim_cur)
                .unwrap_or(u32::MAX)
                .min(1 << 16);
            for descriptor in first..=last.min(most) {
                libc::close(descriptor.cast_signed());
            }
        }
    }
}
