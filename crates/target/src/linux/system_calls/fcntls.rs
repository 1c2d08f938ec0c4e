//! Commands of fcntl(2): `include/uapi/linux/fcntl.h` and `asm-generic/fcntl.h` of the kernel.

use super::description::{Description, call, fixed, silent};

const LOCK: u64 = size_of::<libc::flock>() as u64;

#[rustfmt::skip]
pub(super) const FCNTL: &[Description] = &[
    silent(0, "F_DUPFD"),
    silent(1, "F_GETFD"),
    silent(2, "F_SETFD"),
    silent(3, "F_GETFL"),
    silent(4, "F_SETFL"),
    call(5, "F_GETLK", &[fixed(2, LOCK)]),
    silent(6, "F_SETLK"),
    silent(7, "F_SETLKW").blocks(),
    silent(8, "F_SETOWN"),
    silent(9, "F_GETOWN"),
    silent(10, "F_SETSIG"),
    silent(11, "F_GETSIG"),
    silent(15, "F_SETOWN_EX"),
    call(16, "F_GETOWN_EX", &[fixed(2, 8)]),
    call(17, "F_GETOWNER_UIDS", &[fixed(2, 8)]),
    call(36, "F_OFD_GETLK", &[fixed(2, LOCK)]),
    silent(37, "F_OFD_SETLK"),
    silent(38, "F_OFD_SETLKW").blocks(),
    silent(1024, "F_SETLEASE"),
    silent(1025, "F_GETLEASE"),
    silent(1026, "F_NOTIFY"),
    silent(1027, "F_DUPFD_QUERY"),
    silent(1028, "F_CREATED_QUERY"),
    silent(1029, "F_CANCELLK"),
    silent(1030, "F_DUPFD_CLOEXEC"),
    silent(1031, "F_SETPIPE_SZ"),
    silent(1032, "F_GETPIPE_SZ"),
    silent(1033, "F_ADD_SEALS"),
    silent(1034, "F_GET_SEALS"),
    call(1035, "F_GET_RW_HINT", &[fixed(2, 8)]),
    silent(1036, "F_SET_RW_HINT"),
    call(1037, "F_GET_FILE_RW_HINT", &[fixed(2, 8)]),
    silent(1038, "F_SET_FILE_RW_HINT"),
    call(1039, "F_GETDELEG", &[fixed(2, 8)]),
    silent(1040, "F_SETDELEG"),
];
