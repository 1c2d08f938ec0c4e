//! System calls on System V and POSIX messages, semaphores and shared memory.
//!
//! Their commands may have the flag IPC_64, which means nothing on x86-64.

use super::description::Length::HeaderAndResult;
use super::description::{Description, at, call, filled, fixed, silent};
use super::kind;

/// All bits but IPC_64.
const COMMAND: u32 = !0x100;
const SEGMENT: u64 = size_of::<libc::shmid_ds>() as u64;
const QUEUE: u64 = size_of::<libc::msqid_ds>() as u64;
const SEMAPHORES: u64 = size_of::<libc::semid_ds>() as u64;
/// The most semaphores of a set, 2 bytes each (`SEMMSL` is 32,000 unless an administrator has changed it; proc(5)): how many this one has, the
/// arguments don't say.
const ALL_VALUES: u64 = 2 * 32_000;

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    silent(29, "shmget"),
    silent(30, "shmat").does(kind::attaches),
    silent(31, "shmctl").commands(1, COMMAND, SHMCTL),
    silent(64, "semget"),
    silent(65, "semop").blocks(),
    silent(66, "semctl").commands(2, COMMAND, SEMCTL),
    silent(67, "shmdt").does(kind::detaches),
    silent(68, "msgget"),
    silent(69, "msgsnd").blocks(),
    // The message's type, and its text.
    call(70, "msgrcv", &[at(1, HeaderAndResult(8, 2))]).blocks(),
    silent(71, "msgctl").commands(1, COMMAND, MSGCTL),
    silent(220, "semtimedop").blocks(),
    silent(240, "mq_open"),
    silent(241, "mq_unlink"),
    silent(242, "mq_timedsend").blocks(),
    call(243, "mq_timedreceive", &[filled(1, 2), fixed(3, 4)]).blocks(),
    silent(244, "mq_notify"),
    call(245, "mq_getsetattr", &[fixed(2, 64)]),
];

#[rustfmt::skip]
const SHMCTL: &[Description] = &[
    silent(0, "IPC_RMID"),
    silent(1, "IPC_SET"),
    call(2, "IPC_STAT", &[fixed(2, SEGMENT)]),
    // `struct shminfo`.
    call(3, "IPC_INFO", &[fixed(2, 72)]),
    silent(11, "SHM_LOCK"),
    silent(12, "SHM_UNLOCK"),
    call(13, "SHM_STAT", &[fixed(2, SEGMENT)]),
    // `struct shm_info`.
    call(14, "SHM_INFO", &[fixed(2, 48)]),
    call(15, "SHM_STAT_ANY", &[fixed(2, SEGMENT)]),
];

#[rustfmt::skip]
const SEMCTL: &[Description] = &[
    silent(0, "IPC_RMID"),
    silent(1, "IPC_SET"),
    call(2, "IPC_STAT", &[fixed(3, SEMAPHORES)]),
    // `struct seminfo`.
    call(3, "IPC_INFO", &[fixed(3, 40)]),
    silent(11, "GETPID"),
    silent(12, "GETVAL"),
    call(13, "GETALL", &[fixed(3, ALL_VALUES)]),
    silent(14, "GETNCNT"),
    silent(15, "GETZCNT"),
    silent(16, "SETVAL"),
    silent(17, "SETALL"),
    call(18, "SEM_STAT", &[fixed(3, SEMAPHORES)]),
    call(19, "SEM_INFO", &[fixed(3, 40)]),
    call(20, "SEM_STAT_ANY", &[fixed(3, SEMAPHORES)]),
];

#[rustfmt::skip]
const MSGCTL: &[Description] = &[
    silent(0, "IPC_RMID"),
    silent(1, "IPC_SET"),
    call(2, "IPC_STAT", &[fixed(2, QUEUE)]),
    // `struct msginfo`.
    call(3, "IPC_INFO", &[fixed(2, 32)]),
    call(11, "MSG_STAT", &[fixed(2, QUEUE)]),
    call(12, "MSG_INFO", &[fixed(2, 32)]),
    call(13, "MSG_STAT_ANY", &[fixed(2, QUEUE)]),
];
