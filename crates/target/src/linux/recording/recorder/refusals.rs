//! System calls that a recorded process doesn't make: they would give it something that a recording can't hold. It is told that the system doesn't have
//! them: programs have another way then, because older systems lack them.

/// The error with which a call is refused; 0: it isn't made, and seems to be done. `None`: it is made. `is_midway`: the program had run before it was
/// recorded.
pub(super) fn refusal(number: u64, arguments: &[u64; 6], is_midway: bool) -> Option<i32> {
    let [first, _, third, ..] = *arguments;
    match number.cast_signed() {
        // The C library ends the program if that fails in a thread whose maker had it.
        libc::SYS_rseq if is_midway => Some(0),
        // The kernel would write the processor's number into the program's memory whenever it runs.
        libc::SYS_rseq => Some(libc::ENOSYS),
        // The kernel would read and write memory at any time.
        libc::SYS_io_uring_setup => Some(libc::ENOSYS),
        // It takes pages away when it likes; a copy would lack the memory, or have zeros there.
        libc::SYS_madvise => [libc::MADV_FREE, libc::MADV_DONTFORK, libc::MADV_WIPEONFORK]
            .contains(&(third as i32))
            .then_some(libc::EINVAL),
        libc::SYS_process_madvise => Some(libc::ENOSYS),
        // Instructions that read the processor's time have to trap.
        libc::SYS_prctl => (first as i32 == libc::PR_SET_TSC).then_some(libc::EINVAL),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_advice_that_a_copy_would_suffer_from_is_refused() {
        let advises = |advice: i32| {
            refusal(
                libc::SYS_madvise as u64,
                &[0, 4096, advice as u64, 0, 0, 0],
                false,
            )
        };
        assert_eq!(advises(libc::MADV_DONTFORK), Some(libc::EINVAL));
        assert_eq!(advises(libc::MADV_DONTNEED), None);
        let rseq = |is_midway| refusal(libc::SYS_rseq as u64, &[0; 6], is_midway);
        assert_eq!(rseq(false), Some(libc::ENOSYS));
        assert_eq!(rseq(true), Some(0));
        assert_eq!(refusal(libc::SYS_read as u64, &[0; 6], false), None);
    }
}
