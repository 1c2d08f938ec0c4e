//! System calls on clocks and timers.

use super::description::{Description, call, fixed, silent};

const TIMESPEC: u64 = size_of::<libc::timespec>() as u64;
const TIMEVAL: u64 = size_of::<libc::timeval>() as u64;
const ITIMERVAL: u64 = size_of::<libc::itimerval>() as u64;
const ITIMERSPEC: u64 = size_of::<libc::itimerspec>() as u64;
const TIMEX: u64 = size_of::<libc::timex>() as u64;

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    // The time that is left, if a signal has interrupted it.
    call(35, "nanosleep", &[fixed(1, TIMESPEC).or_interrupted()]).blocks(),
    call(36, "getitimer", &[fixed(1, ITIMERVAL)]),
    silent(37, "alarm"),
    call(38, "setitimer", &[fixed(2, ITIMERVAL)]),
    call(96, "gettimeofday", &[fixed(0, TIMEVAL), fixed(1, 8)]),
    call(100, "times", &[fixed(0, 32)]),
    call(159, "adjtimex", &[fixed(0, TIMEX)]),
    silent(164, "settimeofday"),
    call(201, "time", &[fixed(0, 8)]),
    // The kernel's timer ids have 4 bytes.
    call(222, "timer_create", &[fixed(2, 4)]),
    call(223, "timer_settime", &[fixed(3, ITIMERSPEC)]),
    call(224, "timer_gettime", &[fixed(1, ITIMERSPEC)]),
    silent(225, "timer_getoverrun"),
    silent(226, "timer_delete"),
    silent(227, "clock_settime"),
    call(228, "clock_gettime", &[fixed(1, TIMESPEC)]),
    call(229, "clock_getres", &[fixed(1, TIMESPEC)]),
    call(230, "clock_nanosleep", &[fixed(3, TIMESPEC).or_interrupted()]).blocks(),
    call(305, "clock_adjtime", &[fixed(1, TIMEX)]),
];
