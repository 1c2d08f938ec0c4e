//! System calls on the system as a whole, and numbers without a call behind them.

use super::description::{Description, call, filled, fixed, silent};
use super::kind::Kind;

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    // `struct new_utsname`: six texts of 65 bytes.
    call(63, "uname", &[fixed(0, 6 * 65)]),
    call(99, "sysinfo", &[fixed(0, size_of::<libc::sysinfo>() as u64)]),
    // Other commands than those that read have numbers for results.
    silent(103, "syslog").commands(0, u32::MAX, SYSLOG),
    silent(134, "uselib").does(|_| Kind::NotRecordable("uselib")),
    silent(153, "vhangup"),
    silent(156, "_sysctl"),
    silent(169, "reboot"),
    silent(170, "sethostname"),
    silent(171, "setdomainname"),
    silent(174, "create_module"),
    silent(175, "init_module"),
    silent(176, "delete_module"),
    silent(177, "get_kernel_syms"),
    silent(178, "query_module"),
    silent(180, "nfsservctl"),
    silent(181, "getpmsg"),
    silent(182, "putpmsg"),
    silent(183, "afs_syscall"),
    silent(184, "tuxcall"),
    silent(185, "security"),
    silent(236, "vserver"),
    silent(246, "kexec_load"),
    // Its ring of samples is shared with the kernel.
    silent(298, "perf_event_open").does(|_| Kind::NotRecordable("perf_event_open")),
    silent(313, "finit_module"),
    call(318, "getrandom", &[filled(0, 1)]),
    silent(320, "kexec_file_load"),
    // Many commands; the values of a map have a size that the arguments don't say.
    silent(321, "bpf").does(|_| Kind::NotRecordable("bpf")),
];

#[rustfmt::skip]
const SYSLOG: &[Description] = &[
    silent(0, "SYSLOG_ACTION_CLOSE"),
    silent(1, "SYSLOG_ACTION_OPEN"),
    call(2, "SYSLOG_ACTION_READ", &[filled(1, 2)]).blocks(),
    call(3, "SYSLOG_ACTION_READ_ALL", &[filled(1, 2)]),
    call(4, "SYSLOG_ACTION_READ_CLEAR", &[filled(1, 2)]),
    silent(5, "SYSLOG_ACTION_CLEAR"),
    silent(6, "SYSLOG_ACTION_CONSOLE_OFF"),
    silent(7, "SYSLOG_ACTION_CONSOLE_ON"),
    silent(8, "SYSLOG_ACTION_CONSOLE_LEVEL"),
    silent(9, "SYSLOG_ACTION_SIZE_UNREAD"),
    silent(10, "SYSLOG_ACTION_SIZE_BUFFER"),
];
