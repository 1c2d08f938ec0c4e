//! Tunes how the C library handles freed memory.

/// How many bytes of freed memory stay with the process.
#[cfg(target_env = "gnu")]
const KEPT: libc::c_int = 64 << 20;
/// From this size on, in bytes, an allocation is returned to the system when it is freed. glibc allows at most 32 MiB.
#[cfg(target_env = "gnu")]
const LARGEST: libc::c_int = 32 << 20;

/// Makes glibc keep up to 64 MiB of freed memory for later allocations; has no effect with other C libraries. Showing a deep stack allocates
/// some megabytes and frees them. By default glibc returns them to the system each time, which costs a page fault per 4 KiB the next time.
/// Call before anything else.
pub fn keep_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt(3) changes two numbers of the allocator, under its lock.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST);
    }
}
