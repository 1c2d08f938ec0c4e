//! Which signals stop the program, and what they are called.
//!
//! All signals are passed on to the program, but for one: Ctrl-C on a terminal that the program shares with the debugger is
//! meant for the debugger, and pauses. It is stopped first by those that mean a fault of its own (SIGSEGV, SIGBUS,
//! SIGFPE, SIGILL, SIGSYS), by SIGABRT, by a SIGTRAP that is not the debugger's, and by SIGINT, which is how a person
//! asks for attention. Others (SIGCHLD, SIGALRM, SIGUSR1, SIGTERM, real-time ones …) are everyday traffic: stopping at each
//! would make programs that use them undebuggable.

use crate::Address;
use crate::event::StopReason;

/// The `si_code` of a signal that the kernel sends for a reason of its own (sigaction(2)).
const SI_KERNEL: i32 = 0x80;

/// Whether the program is stopped before this signal is delivered.
pub(crate) fn stops(signal: i32) -> bool {
    is_fault(signal) || matches!(signal, libc::SIGABRT | libc::SIGTRAP | libc::SIGINT)
}

/// Whether it is the terminal's Ctrl-C: only the kernel itself sends SIGINT with this code.
pub(crate) fn is_keyboard_interrupt(signal: i32, code: i32) -> bool {
    signal == libc::SIGINT && code == SI_KERNEL
}

/// Whether an instruction causes it, so that an address comes with it.
fn is_fault(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGSYS
    )
}

/// The reason to show for a signal.
pub(crate) fn reason(number: i32, code: i32, address: u64) -> StopReason {
    // A code above 0 is the kernel's: without it, another program sent the signal and there's no address.
    let fault =
        (is_fault(number) && number != libc::SIGSYS && code > 0).then_some(Address(address));
    StopReason::Signal {
        number,
        fault,
        description: describe(number, code, address),
    }
}

fn describe(number: i32, code: i32, address: u64) -> String {
    const SEGV_MAPERR: i32 = 1;
    const SEGV_ACCERR: i32 = 2;
    const FPE_INTDIV: i32 = 1;
    const FPE_INTOVF: i32 = 2;
    let name = name(number);
    let sent = code <= 0;
    match (number, code) {
        (libc::SIGABRT, _) => format!("{name}: the program aborts"),
        (libc::SIGINT, _) => format!("{name}: interrupted"),
        _ if sent => format!("{name}: sent by a program"),
        // A non-canonical address: the processor doesn't say which.
        (libc::SIGSEGV, SI_KERNEL) => format!("{name}: invalid address"),
        (libc::SIGSEGV, SEGV_MAPERR) => format!("{name}: invalid address {address:#x}"),
        (libc::SIGSEGV, SEGV_ACCERR) => format!("{name}: no permission for address {address:#x}"),
        (libc::SIGSEGV | libc::SIGBUS, _) => format!("{name}: bad access to address {address:#x}"),
        (libc::SIGFPE, FPE_INTDIV) => format!("{name}: integer division by zero"),
        (libc::SIGFPE, FPE_INTOVF) => format!("{name}: integer overflow"),
        (libc::SIGFPE, _) => format!("{name}: arithmetic exception"),
        (libc::SIGILL, _) => format!("{name}: illegal instruction at {address:#x}"),
        (libc::SIGSYS, _) => format!("{name}: bad system call"),
        _ => name.into_owned(),
    }
}

/// The signal's name.
fn name(number: i32) -> std::borrow::Cow<'static, str> {
    let name = match number {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS",
        other => return format!("signal {other}").into(),
    };
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_its_address_and_a_sent_signal_none() {
        let StopReason::Signal {
            fault, description, ..
        } = reason(libc::SIGSEGV, 1, 0x10)
        else {
            panic!("not a signal")
        };
        assert_eq!(fault, Some(Address(0x10)));
        assert_eq!(description, "SIGSEGV: invalid address 0x10");
        let StopReason::Signal {
            fault, description, ..
        } = reason(libc::SIGSEGV, 0, 0x10)
        else {
            panic!("not a signal")
        };
        assert_eq!(
            (fault, description.as_str()),
            (None, "SIGSEGV: sent by a program")
        );
    }

    #[test]
    fn everyday_signals_do_not_stop() {
        for signal in [
            libc::SIGCHLD,
            libc::SIGALRM,
            libc::SIGUSR1,
            libc::SIGTERM,
            libc::SIGURG,
            40,
        ] {
            assert!(!stops(signal), "signal {signal}");
        }
        assert!(is_keyboard_interrupt(libc::SIGINT, SI_KERNEL));
        assert!(
            !is_keyboard_interrupt(libc::SIGINT, 0),
            "`kill -INT` is for the program"
        );
        for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGINT, libc::SIGTRAP] {
            assert!(stops(signal), "signal {signal}");
        }
    }
}
