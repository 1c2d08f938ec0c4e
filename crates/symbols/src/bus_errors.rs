//! Survives mapped files that shrink: reading a mapped page that the file no longer has raises SIGBUS, which by default
//! ends the process.
//!
//! [`survive_changed_files`] installs a handler that replaces such pages with zeros and marks the mapping, so that its
//! readers can report that the file has changed. The handler may interrupt anything, even an allocation or a held lock.
//! It therefore uses only atomics, and a linked list of them that never shrinks; entries of unmapped files are reused.

use std::mem::MaybeUninit;
use std::ptr;

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// A guarded mapping, as an entry of the list.
struct Range {
    /// Address range; both are 0 while the entry guards nothing.
    start: AtomicUsize,
    end: AtomicUsize,
    lost_pages: AtomicBool,
    next: AtomicPtr<Range>,
}

static FIRST: AtomicPtr<Range> = AtomicPtr::new(ptr::null_mut());
/// Entries that guard nothing, for reuse. The handler never reads this.
static FREE: Mutex<Vec<&'static Range>> = Mutex::new(Vec::new());
/// Counts the replacements of lost pages.
static REPLACED: AtomicU32 = AtomicU32::new(0);
static PAGE: AtomicUsize = AtomicUsize::new(4096);
/// The SIGBUS action before ours: boxed, never freed, and never written again.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

/// The entries of the list; the newest is first.
fn ranges() -> impl Iterator<Item = &'static Range> {
    let mut next = FIRST.load(Ordering::Acquire);
    std::iter::from_fn(move || {
        // SAFETY: entries are leaked boxes, so a non-null pointer of the list is valid for ever.
        let range = unsafe { next.as_ref() }?;
        next = range.next.load(Ordering::Acquire);
        Some(range)
    })
}

/// Increases whenever the lost pages of any mapping are replaced. A caller that sees no change needs to check no mapping.
pub(crate) fn replaced_so_far() -> u32 {
    REPLACED.load(Ordering::Relaxed)
}

/// Guards a mapping as long as the `Guard` exists: the mapping's lost pages are replaced with zeros.
pub(crate) struct Guard(&'static Range);

impl Guard {
    pub(crate) fn new(map: &[u8]) -> Guard {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let range = free.unwrap_or_else(add_range);
        range.lost_pages.store(false, Ordering::Relaxed);
        let start = map.as_ptr() as usize;
        range.end.store(start + map.len(), Ordering::Relaxed);
        range.start.store(start, Ordering::Release);
        Guard(range)
    }

    pub(crate) fn has_lost_pages(&self) -> bool {
        self.0.lost_pages.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.start.store(0, Ordering::Relaxed);
        self.0.end.store(0, Ordering::Relaxed);
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(self.0);
    }
}

fn add_range() -> &'static Range {
    let range: &'static Range = Box::leak(Box::new(Range {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        lost_pages: AtomicBool::new(false),
        next: AtomicPtr::default(),
    }));
    let mut first = FIRST.load(Ordering::Acquire);
    loop {
        range.next.store(first, Ordering::Relaxed);
        let this = ptr::from_ref(range).cast_mut();
        match FIRST.compare_exchange_weak(first, this, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return range,
            Err(newer) => first = newer,
        }
    }
}

/// Keeps this process alive when a module's file is truncated while it is mapped, as a rebuild in place does (`cp`,
/// `strip`, some linkers). The lost pages then read as zeros. The next query to the module is answered without that file,
/// and [`crate::Error::Changed`] is among the module's warnings.
///
/// This installs a SIGBUS handler for the whole process; repeated calls have no effect. A SIGBUS outside the mapped files
/// of modules goes to the previous handler, or ends the process as before. A handler that is installed later must pass on
/// the signals that it doesn't handle. Without this call, reading behind the end of a file that shrank ends the process.
pub fn survive_changed_files() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // SAFETY: `sysconf` has no preconditions. The action is fully initialised: zeros are a valid `sigaction` and an
        // empty mask. The handler has the signature that SA_SIGINFO requires and does only what sigaction(2) and
        // signal-safety(7) allow. The old action is written before it is read.
        unsafe {
            if let Ok(size @ 1..) = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)) {
                PAGE.store(size, Ordering::Relaxed);
            }
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), before.as_mut_ptr()) != 0 {
                return;
            }
            let before = Box::leak(Box::new(before.assume_init()));
            BEFORE.store(before, Ordering::Release);
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(libc::SIGBUS, &action, ptr::null_mut());
        }
    });
}

/// Replaces the lost pages of a guarded mapping; the faulting instruction is then executed again.
extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid `info`. `si_addr` is valid for faults that the kernel
    // reports, which the match on `si_code` selects.
    let address = unsafe {
        match (*info).si_code {
            libc::BUS_ADRERR | libc::BUS_MCEERR_AR => Some((*info).si_addr() as usize),
            _ => None,
        }
    };
    if address.is_some_and(replace_from) {
        return;
    }
    pass_on(signal, info, context);
}

/// Replaces a guarded mapping with zeros from the page of `address` on. `false` if no guarded mapping contains `address`,
/// or if the kernel refuses.
fn replace_from(address: usize) -> bool {
    let has = |range: &&Range| {
        let start = range.start.load(Ordering::Acquire);
        start != 0 && (start..range.end.load(Ordering::Relaxed)).contains(&address)
    };
    let Some(range) = ranges().find(has) else {
        return false;
    };
    let page = address & !(PAGE.load(Ordering::Relaxed) - 1);
    let length = range.end.load(Ordering::Relaxed).saturating_sub(page);
    range.lost_pages.store(true, Ordering::Relaxed);
    REPLACED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the pages are within a mapping of ours that nobody writes to and that lives at least until the faulting
    // read is done. `mmap` is a bare system call. It sets `errno` only on failure, and then the process ends.
    let replaced = unsafe {
        libc::mmap(
            page as *mut libc::c_void,
            length,
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    replaced != libc::MAP_FAILED
}

/// Does what the process would have done without our handler.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the pointer is null or points to a leaked box that is never written again.
    let before = unsafe { BEFORE.load(Ordering::Acquire).as_ref() };
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    match before {
        Some(before) if handler != libc::SIG_DFL && handler != libc::SIG_IGN => {
            // SAFETY: SA_SIGINFO in the old action tells which of the two signatures its handler has.
            unsafe {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(
                        libc::c_int,
                        *mut libc::siginfo_t,
                        *mut libc::c_void,
                    ) = std::mem::transmute(handler);
                    handler(signal, info, context);
                } else {
                    let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
                    handler(signal);
                }
            }
        }
        _ => {
            // SAFETY: `signal` and `raise` may be called in a handler. After this return a fault recurs, and a signal
            // that was sent is repeated by `raise`; either then ends the process.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
    }
}
