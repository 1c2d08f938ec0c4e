//! System calls on processes and threads: their making, ends, ids, scheduling, limits, and what threads wait with.

use super::description::Length::{Argument, Fixed, InOut, ResultElements};
use super::description::Place::{Buffers, Nested};
use super::description::{Description, Place, at, call, filled, fixed, output, silent};
use super::kind::{self, Kind};
use super::process_control::{ARCH_PRCTL, FUTEX, MODIFY_LDT, PRCTL, SECCOMP};

/// The bits of futex(2)'s operation that aren't flags (FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME).
const FUTEX_OPERATION: u32 = 0x7f;
const NO_HANG: u64 = libc::WNOHANG as u64;
const RUSAGE: u64 = size_of::<libc::rusage>() as u64;
/// The fields of `siginfo_t` that waitid(2) writes: signal, errno, code, pid, uid, status.
const WAITED: u64 = 28;

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    silent(24, "sched_yield"),
    silent(39, "getpid"),
    // The parent's and, if it shares the memory, the child's word of the id (or the pidfd).
    call(56, "clone", &[fixed(2, 4), fixed(3, 4)]).does(kind::clones).blocks_if(|it| waits_for_child(it.arguments[0])),
    silent(57, "fork").does(kind::forks),
    silent(58, "vfork").does(kind::vforks).blocks(),
    silent(59, "execve").does(|_| Kind::Executes),
    silent(60, "exit").does(|_| Kind::EndsThread),
    call(61, "wait4", &[fixed(1, 4), fixed(3, RUSAGE)]).blocks_if(|it| it.arguments[2] & NO_HANG == 0),
    call(97, "getrlimit", &[fixed(1, 16)]),
    call(98, "getrusage", &[fixed(1, RUSAGE)]),
    // Of another process: its registers and memory.
    silent(101, "ptrace").does(|_| Kind::NotRecordable("ptrace")),
    silent(102, "getuid"),
    silent(104, "getgid"),
    silent(105, "setuid"),
    silent(106, "setgid"),
    silent(107, "geteuid"),
    silent(108, "getegid"),
    silent(109, "setpgid"),
    silent(110, "getppid"),
    silent(111, "getpgrp"),
    silent(112, "setsid"),
    silent(113, "setreuid"),
    silent(114, "setregid"),
    call(115, "getgroups", &[at(1, ResultElements(4, 0))]),
    silent(116, "setgroups"),
    silent(117, "setresuid"),
    call(118, "getresuid", &[fixed(0, 4), fixed(1, 4), fixed(2, 4)]),
    silent(119, "setresgid"),
    call(120, "getresgid", &[fixed(0, 4), fixed(1, 4), fixed(2, 4)]),
    silent(121, "getpgid"),
    silent(122, "setfsuid"),
    silent(123, "setfsgid"),
    silent(124, "getsid"),
    // The kernel writes its version into the header if it doesn't know the caller's. Two sets of 12 bytes; one in version 1.
    call(125, "capget", &[fixed(0, 8).always(), fixed(1, 24)]),
    call(126, "capset", &[fixed(0, 4).always()]),
    silent(135, "personality"),
    silent(140, "getpriority"),
    silent(141, "setpriority"),
    silent(142, "sched_setparam"),
    call(143, "sched_getparam", &[fixed(1, 4)]),
    silent(144, "sched_setscheduler"),
    silent(145, "sched_getscheduler"),
    silent(146, "sched_get_priority_max"),
    silent(147, "sched_get_priority_min"),
    call(148, "sched_rr_get_interval", &[fixed(1, 16)]),
    call(154, "modify_ldt", &[]).commands(0, u32::MAX, MODIFY_LDT),
    call(157, "prctl", &[]).commands(0, u32::MAX, PRCTL),
    call(158, "arch_prctl", &[]).commands(0, u32::MAX, ARCH_PRCTL),
    silent(160, "setrlimit"),
    silent(172, "iopl"),
    silent(173, "ioperm"),
    silent(186, "gettid"),
    silent(202, "futex").commands(1, FUTEX_OPERATION, FUTEX).blocks(),
    silent(203, "sched_setaffinity"),
    call(204, "sched_getaffinity", &[filled(2, 1)]),
    // Not in 64-bit programs: ENOSYS.
    silent(205, "set_thread_area"),
    silent(211, "get_thread_area"),
    silent(218, "set_tid_address").does(kind::clears_at_end),
    silent(231, "exit_group").does(|_| Kind::EndsProcess),
    // `siginfo_t` is written after errors, too, with zeros.
    call(247, "waitid", &[fixed(2, WAITED).always(), fixed(4, RUSAGE)]).blocks_if(|it| it.arguments[3] & NO_HANG == 0),
    silent(251, "ioprio_set"),
    silent(252, "ioprio_get"),
    silent(272, "unshare"),
    silent(273, "set_robust_list").does(kind::robust_list),
    call(274, "get_robust_list", &[fixed(1, 8), fixed(2, 8)]),
    call(302, "prlimit64", &[fixed(3, 16)]),
    silent(308, "setns"),
    call(309, "getcpu", &[fixed(0, 4), fixed(1, 4)]),
    call(310, "process_vm_readv", &[output(Buffers(1, 2))]),
    // The buffers are in the other process, which may be the caller.
    call(311, "process_vm_writev", &[output(Buffers(3, 4))]),
    silent(312, "kcmp"),
    silent(314, "sched_setattr"),
    call(315, "sched_getattr", &[at(1, Argument(2))]),
    silent(317, "seccomp").commands(0, u32::MAX, SECCOMP),
    silent(322, "execveat").does(|_| Kind::Executes),
    silent(334, "rseq").does(kind::rseq),
    // What the kernel itself calls in a probed program.
    silent(335, "uretprobe"),
    silent(336, "uprobe"),
    silent(424, "pidfd_send_signal"),
    silent(434, "pidfd_open"),
    call(435, "clone3", &[output(CLONE_PIDFD), output(CLONE_CHILD), output(CLONE_PARENT)]).reads(0).does(kind::clones_by_structure).blocks_if(|it| waits_for_child(it.structure[0])),
    silent(438, "pidfd_getfd"),
    silent(444, "landlock_create_ruleset"),
    silent(445, "landlock_add_rule"),
    silent(446, "landlock_restrict_self"),
    silent(449, "futex_waitv").blocks(),
    silent(454, "futex_wake"),
    silent(455, "futex_wait").blocks(),
    silent(456, "futex_requeue"),
    // The size is written after E2BIG, too.
    call(459, "lsm_get_self_attr", &[at(1, InOut(2)), fixed(2, 4).always()]),
    silent(460, "lsm_set_self_attr"),
    call(461, "lsm_list_modules", &[at(0, InOut(1)), fixed(1, 4).always()]),
];

fn waits_for_child(flags: u64) -> bool {
    flags & libc::CLONE_VFORK as u64 != 0
}

/// Pointers in `struct clone_args` (clone3(2)).
const CLONE_PIDFD: Place = Nested(0, 8, Fixed(4));
const CLONE_CHILD: Place = Nested(0, 16, Fixed(4));
const CLONE_PARENT: Place = Nested(0, 24, Fixed(4));
