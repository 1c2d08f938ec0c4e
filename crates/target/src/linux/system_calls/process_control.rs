//! Commands of prctl(2), arch_prctl(2), futex(2), seccomp(2) and modify_ldt(2).

use super::description::{Description, call, filled, fixed, silent};
use super::kind::Kind;

/// The constants are those of `include/uapi/linux/prctl.h`.
#[rustfmt::skip]
pub(super) const PRCTL: &[Description] = &[
    silent(1, "PR_SET_PDEATHSIG"),
    call(2, "PR_GET_PDEATHSIG", &[fixed(1, 4)]),
    silent(3, "PR_GET_DUMPABLE"),
    silent(4, "PR_SET_DUMPABLE"),
    call(5, "PR_GET_UNALIGN", &[fixed(1, 4)]),
    silent(6, "PR_SET_UNALIGN"),
    silent(7, "PR_GET_KEEPCAPS"),
    silent(8, "PR_SET_KEEPCAPS"),
    call(9, "PR_GET_FPEMU", &[fixed(1, 4)]),
    silent(10, "PR_SET_FPEMU"),
    call(11, "PR_GET_FPEXC", &[fixed(1, 4)]),
    silent(12, "PR_SET_FPEXC"),
    silent(13, "PR_GET_TIMING"),
    silent(14, "PR_SET_TIMING"),
    silent(15, "PR_SET_NAME"),
    call(16, "PR_GET_NAME", &[fixed(1, 16)]),
    call(19, "PR_GET_ENDIAN", &[fixed(1, 4)]),
    silent(20, "PR_SET_ENDIAN"),
    silent(21, "PR_GET_SECCOMP"),
    silent(22, "PR_SET_SECCOMP").does(|_| Kind::FiltersCalls),
    silent(23, "PR_CAPBSET_READ"),
    silent(24, "PR_CAPBSET_DROP"),
    call(25, "PR_GET_TSC", &[fixed(1, 4)]),
    silent(26, "PR_SET_TSC"),
    silent(27, "PR_GET_SECUREBITS"),
    silent(28, "PR_SET_SECUREBITS"),
    silent(29, "PR_SET_TIMERSLACK"),
    silent(30, "PR_GET_TIMERSLACK"),
    silent(31, "PR_TASK_PERF_EVENTS_DISABLE"),
    silent(32, "PR_TASK_PERF_EVENTS_ENABLE"),
    silent(33, "PR_MCE_KILL"),
    silent(34, "PR_MCE_KILL_GET"),
    // Changes where the kernel thinks that code, heap and arguments are.
    silent(35, "PR_SET_MM").does(|_| Kind::NotRecordable("prctl PR_SET_MM")),
    silent(36, "PR_SET_CHILD_SUBREAPER"),
    call(37, "PR_GET_CHILD_SUBREAPER", &[fixed(1, 4)]),
    silent(38, "PR_SET_NO_NEW_PRIVS"),
    silent(39, "PR_GET_NO_NEW_PRIVS"),
    call(40, "PR_GET_TID_ADDRESS", &[fixed(1, 8)]),
    silent(41, "PR_SET_THP_DISABLE"),
    silent(42, "PR_GET_THP_DISABLE"),
    silent(45, "PR_SET_FP_MODE"),
    silent(46, "PR_GET_FP_MODE"),
    silent(47, "PR_CAP_AMBIENT"),
    silent(50, "PR_SVE_SET_VL"),
    silent(51, "PR_SVE_GET_VL"),
    silent(52, "PR_GET_SPECULATION_CTRL"),
    silent(53, "PR_SET_SPECULATION_CTRL"),
    silent(55, "PR_SET_TAGGED_ADDR_CTRL"),
    silent(56, "PR_GET_TAGGED_ADDR_CTRL"),
    silent(57, "PR_SET_IO_FLUSHER"),
    silent(58, "PR_GET_IO_FLUSHER"),
    // A byte of the program decides whether its calls are made or become signals.
    silent(59, "PR_SET_SYSCALL_USER_DISPATCH").does(|_| Kind::NotRecordable("prctl PR_SET_SYSCALL_USER_DISPATCH")),
    // The cookie, for PR_SCHED_CORE_GET.
    call(62, "PR_SCHED_CORE", &[fixed(4, 8)]),
    silent(65, "PR_SET_MDWE"),
    silent(66, "PR_GET_MDWE"),
    silent(67, "PR_SET_MEMORY_MERGE"),
    silent(68, "PR_GET_MEMORY_MERGE"),
    silent(77, "PR_TIMER_CREATE_RESTORE_IDS"),
    silent(78, "PR_FUTEX_HASH"),
    call(0x4155_5856, "PR_GET_AUXV", &[filled(1, 2)]),
    silent(0x5356_4d41, "PR_SET_VMA"),
    silent(0x5961_6d61, "PR_SET_PTRACER"),
];

/// The constants are those of `arch/x86/include/uapi/asm/prctl.h`.
#[rustfmt::skip]
pub(super) const ARCH_PRCTL: &[Description] = &[
    silent(0x1001, "ARCH_SET_GS").does(|_| Kind::Registers),
    silent(0x1002, "ARCH_SET_FS").does(|_| Kind::Registers),
    call(0x1003, "ARCH_GET_FS", &[fixed(1, 8)]),
    call(0x1004, "ARCH_GET_GS", &[fixed(1, 8)]),
    silent(0x1011, "ARCH_GET_CPUID"),
    silent(0x1012, "ARCH_SET_CPUID"),
    call(0x1021, "ARCH_GET_XCOMP_SUPP", &[fixed(1, 8)]),
    call(0x1022, "ARCH_GET_XCOMP_PERM", &[fixed(1, 8)]),
    silent(0x1023, "ARCH_REQ_XCOMP_PERM"),
    call(0x1024, "ARCH_GET_XCOMP_GUEST_PERM", &[fixed(1, 8)]),
    silent(0x1025, "ARCH_REQ_XCOMP_GUEST_PERM"),
    silent(0x2001, "ARCH_MAP_VDSO_X32").does(|_| Kind::NotRecordable("arch_prctl ARCH_MAP_VDSO")),
    silent(0x2002, "ARCH_MAP_VDSO_32").does(|_| Kind::NotRecordable("arch_prctl ARCH_MAP_VDSO")),
    silent(0x2003, "ARCH_MAP_VDSO_64").does(|_| Kind::NotRecordable("arch_prctl ARCH_MAP_VDSO")),
    call(0x4001, "ARCH_GET_UNTAG_MASK", &[fixed(1, 8)]),
    silent(0x4002, "ARCH_ENABLE_TAGGED_ADDR"),
    call(0x4003, "ARCH_GET_MAX_TAG_BITS", &[fixed(1, 8)]),
    silent(0x4004, "ARCH_FORCE_TAGGED_SVA"),
    // The kernel maps a shadow stack, and changes it without calls.
    silent(0x5001, "ARCH_SHSTK_ENABLE").does(|_| Kind::NotRecordable("arch_prctl ARCH_SHSTK_ENABLE")),
    silent(0x5002, "ARCH_SHSTK_DISABLE"),
    silent(0x5003, "ARCH_SHSTK_LOCK"),
    silent(0x5004, "ARCH_SHSTK_UNLOCK"),
    call(0x5005, "ARCH_SHSTK_STATUS", &[fixed(1, 8)]),
];

/// Operations of futex(2). Those on locks with priority inheritance change the lock's word, after errors, too; FUTEX_WAKE_OP changes the second word.
#[rustfmt::skip]
pub(super) const FUTEX: &[Description] = &[
    silent(0, "FUTEX_WAIT").blocks(),
    silent(1, "FUTEX_WAKE"),
    silent(2, "FUTEX_FD"),
    silent(3, "FUTEX_REQUEUE"),
    silent(4, "FUTEX_CMP_REQUEUE"),
    call(5, "FUTEX_WAKE_OP", &[fixed(4, 4).always()]),
    call(6, "FUTEX_LOCK_PI", &[fixed(0, 4).always()]).blocks(),
    call(7, "FUTEX_UNLOCK_PI", &[fixed(0, 4).always()]),
    call(8, "FUTEX_TRYLOCK_PI", &[fixed(0, 4).always()]),
    silent(9, "FUTEX_WAIT_BITSET").blocks(),
    silent(10, "FUTEX_WAKE_BITSET"),
    call(11, "FUTEX_WAIT_REQUEUE_PI", &[fixed(4, 4).always()]).blocks(),
    call(12, "FUTEX_CMP_REQUEUE_PI", &[fixed(4, 4).always()]),
    call(13, "FUTEX_LOCK_PI2", &[fixed(0, 4).always()]).blocks(),
];

#[rustfmt::skip]
pub(super) const SECCOMP: &[Description] = &[
    silent(0, "SECCOMP_SET_MODE_STRICT").does(|_| Kind::FiltersCalls),
    silent(1, "SECCOMP_SET_MODE_FILTER").does(|_| Kind::FiltersCalls),
    silent(2, "SECCOMP_GET_ACTION_AVAIL"),
    // `struct seccomp_notif_sizes`.
    call(3, "SECCOMP_GET_NOTIF_SIZES", &[fixed(2, 6)]),
];

#[rustfmt::skip]
pub(super) const MODIFY_LDT: &[Description] = &[
    call(0, "modify_ldt", &[filled(1, 2)]),
    silent(1, "modify_ldt").does(|_| Kind::Registers),
    call(2, "modify_ldt", &[filled(1, 2)]),
    silent(0x11, "modify_ldt").does(|_| Kind::Registers),
];
