//! System calls on signals.

use super::description::Length::Argument;
use super::description::{Description, at, call, fixed, silent};
use super::kind::Kind;

/// The kernel's `struct sigaction` with a mask of 8 bytes, `siginfo_t` and `stack_t` (sigaction(2), sigaltstack(2)).
const ACTION: u64 = 32;
const SIGNAL_INFO: u64 = size_of::<libc::siginfo_t>() as u64;
const STACK: u64 = size_of::<libc::stack_t>() as u64;

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    call(13, "rt_sigaction", &[fixed(2, ACTION)]).does(|_| Kind::SignalState),
    // The mask's size is an argument.
    call(14, "rt_sigprocmask", &[at(2, Argument(3))]).does(|_| Kind::SignalState),
    // Its result is the interrupted code's register.
    silent(15, "rt_sigreturn").always_does(|_| Kind::ReturnsFromHandler),
    silent(34, "pause").blocks(),
    silent(62, "kill"),
    call(127, "rt_sigpending", &[at(0, Argument(1))]),
    call(128, "rt_sigtimedwait", &[fixed(1, SIGNAL_INFO)]).blocks(),
    silent(129, "rt_sigqueueinfo"),
    // It always fails with EINTR, and its mask is in force until a handler begins.
    silent(130, "rt_sigsuspend").blocks(),
    call(131, "sigaltstack", &[fixed(1, STACK)]).does(|_| Kind::SignalState),
    silent(200, "tkill"),
    silent(219, "restart_syscall").blocks(),
    silent(234, "tgkill"),
    silent(297, "rt_tgsigqueueinfo"),
];
