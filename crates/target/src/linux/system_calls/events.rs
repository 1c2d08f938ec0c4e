//! System calls that wait for several files, and the files that they were made for: epoll, eventfd, timerfd, signalfd, inotify, fanotify.

use super::description::Length::{Bits, Elements, ResultElements};
use super::description::{Description, Output, at, call, fixed, silent};
use super::kind::Kind;

/// `struct epoll_event`, packed.
const EPOLL_EVENT: u64 = size_of::<libc::epoll_event>() as u64;
const POLLFD: u64 = size_of::<libc::pollfd>() as u64;

/// The returned events are written after an interruption, too, as zeros.
const POLLED: Output = at(0, Elements(POLLFD, 1)).or_interrupted();

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    call(7, "poll", &[POLLED]).blocks_if(|it| it.arguments[2] as u32 != 0),
    // The time that is left is written whatever the result is (`poll_select_finish` in the kernel).
    call(23, "select", &[at(1, Bits(0)), at(2, Bits(0)), at(3, Bits(0)), fixed(4, 16).always()]).blocks(),
    silent(213, "epoll_create"),
    silent(214, "epoll_ctl_old"),
    silent(215, "epoll_wait_old"),
    call(232, "epoll_wait", &[at(1, ResultElements(EPOLL_EVENT, 2))]).blocks_if(|it| it.arguments[3] as u32 != 0),
    silent(233, "epoll_ctl"),
    silent(253, "inotify_init"),
    silent(254, "inotify_add_watch"),
    silent(255, "inotify_rm_watch"),
    call(270, "pselect6", &[at(1, Bits(0)), at(2, Bits(0)), at(3, Bits(0)), fixed(4, 16).always()]).blocks(),
    call(271, "ppoll", &[POLLED, fixed(2, 16).always()]).blocks(),
    call(281, "epoll_pwait", &[at(1, ResultElements(EPOLL_EVENT, 2))]).blocks_if(|it| it.arguments[3] as u32 != 0),
    silent(282, "signalfd"),
    silent(283, "timerfd_create"),
    silent(284, "eventfd"),
    call(286, "timerfd_settime", &[fixed(3, 32)]),
    call(287, "timerfd_gettime", &[fixed(1, 32)]),
    silent(289, "signalfd4"),
    silent(290, "eventfd2"),
    silent(291, "epoll_create1"),
    silent(294, "inotify_init1"),
    silent(300, "fanotify_init"),
    silent(301, "fanotify_mark"),
    silent(323, "userfaultfd").does(|_| Kind::NotRecordable("userfaultfd")),
    call(441, "epoll_pwait2", &[at(1, ResultElements(EPOLL_EVENT, 2))]).blocks(),
];
