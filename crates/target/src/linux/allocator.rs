//! What the C library does with memory that is freed.

/// Up to how much of it stays with the process, in bytes.
#[cfg(target_env = "gnu")]
const KEPT: libc::c_int = 64 << 20;
/// The largest piece that is kept so; glibc takes no more than 32 MiB.
#[cfg(target_env = "gnu")]
const LARGEST: libc::c_int = 32 << 20;

/// Keeps memory that is freed, up to 64 MiB, for what comes next. A deep stack takes some megabytes and gives them back: returning
/// them to the system each time, as glibc does by itself, costs a page fault for each 4 KiB the next time. To be called first of all.
pub fn keep_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt(3) changes two numbers of the allocator, under its lock.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST);
    }
}
