//! Makes instructions trap in the current thread that read the processor's time (`PR_SET_TSC`, prctl(2)).
//!
//! They trap in recorded threads. The kernel turns the trap on and off at each switch between a thread that has it and one that hasn't. In a
//! virtual machine that takes two exits to the host: measured 37 µs for the two stops of a system call, and 14 µs where the tracer has the trap, too.
//!
//! Code that reads the time all the same (`Instant::now`, a trace's time stamp) ends the trap, and goes on: the kernel sends SIGSEGV, whose
//! handler is here.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::sync::Once;

/// The code of a signal that the kernel sends for an instruction, without an address (sigaction(2)).
const SI_KERNEL: i32 = 0x80;

thread_local! {
    /// Whether such instructions trap in this thread.
    static TRAPS: Cell<bool> = const { Cell::new(false) };
}

/// The handler that was there before.
struct Former(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: written once, before the handler that reads it is installed.
unsafe impl Sync for Former {}

static FORMER: Former = Former(UnsafeCell::new(MaybeUninit::uninit()));

/// While this is there, instructions trap in its thread that read the processor's time.
#[derive(Debug)]
pub struct TimeTrap(std::marker::PhantomData<*const ()>);

impl TimeTrap {
    /// Begins. `None`: the system refuses.
    pub fn begin() -> Option<TimeTrap> {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(install_handler);
        TRAPS.set(true);
        if !set(libc::PR_TSC_SIGSEGV) {
            TRAPS.set(false);
            return None;
        }
        Some(TimeTrap(std::marker::PhantomData))
    }
}

impl Drop for TimeTrap {
    fn drop(&mut self) {
        if TRAPS.replace(false) {
            set(libc::PR_TSC_ENABLE);
        }
    }
}

/// Sets what becomes of such instructions in this thread. By the system call itself, as the handler needs it.
fn set(mode: i32) -> bool {
    // SAFETY: takes numbers only, and concerns nothing but instructions that read the processor's time.
    unsafe { libc::syscall(libc::SYS_prctl, libc::PR_SET_TSC, mode, 0, 0, 0) == 0 }
}

extern "C" fn read_time(number: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to a handler with SA_SIGINFO.
    let code = unsafe { (*info).si_code };
    // A plain thread-local byte without a destructor: accessed by address, which is allowed in a handler.
    if code == SI_KERNEL && TRAPS.replace(false) {
        // The instruction is executed again.
        set(libc::PR_TSC_ENABLE);
        return;
    }
    // SAFETY: written before this handler was installed. The former handler is called as the kernel would: with or without the information, by
    // its flags. Without one, the kernel's default is restored, and the instruction faults again.
    unsafe {
        let former = (*FORMER.0.get()).assume_init_ref();
        match former.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::signal(number, libc::SIG_DFL);
            }
            handler if former.sa_flags & libc::SA_SIGINFO != 0 => {
                type Whole = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
                std::mem::transmute::<usize, Whole>(handler)(number, info, context);
            }
            handler => {
                std::mem::transmute::<usize, extern "C" fn(i32)>(handler)(number);
            }
        }
    }
}

fn install_handler() {
    // SAFETY: the actions are initialised; the handler is async-signal-safe, as it makes system calls only or leaves the signal to the former
    // one, which is written before the handler that reads it is installed.
    unsafe {
        let former: *mut libc::sigaction = FORMER.0.get().cast();
        if libc::sigaction(libc::SIGSEGV, std::ptr::null(), former) != 0 {
            return;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = read_time as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// How such instructions are handled in this thread.
    fn mode() -> i32 {
        let mut mode = 0;
        // SAFETY: the kernel writes a number, for which there is room.
        unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
        mode
    }

    #[test]
    fn who_reads_the_time_all_the_same_ends_the_trap() {
        let trap = TimeTrap::begin().expect("a trap");
        assert_eq!(mode(), libc::PR_TSC_SIGSEGV);
        let _ = Instant::now();
        assert_eq!(mode(), libc::PR_TSC_ENABLE);
        drop(trap);
        let _ = Instant::now();
        let trap = TimeTrap::begin();
        assert_eq!(mode(), libc::PR_TSC_SIGSEGV);
        drop(trap);
        assert_eq!(mode(), libc::PR_TSC_ENABLE);
    }
}
