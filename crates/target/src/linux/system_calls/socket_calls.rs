//! System calls on sockets.

use super::description::Length::InOut;
use super::description::Place::{Message, Messages, SentLengths};
use super::description::{Description, at, call, filled, fixed, output, silent, socket_address};
use super::kind::Kind;

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    silent(41, "socket"),
    silent(42, "connect").blocks(),
    call(43, "accept", &socket_address(1, 2)).blocks(),
    silent(44, "sendto").blocks_if(|it| may_wait(it.arguments[3])),
    call(45, "recvfrom", &RECEIVED_FROM).blocks_if(|it| may_wait(it.arguments[3])),
    silent(46, "sendmsg").blocks_if(|it| may_wait(it.arguments[2])),
    call(47, "recvmsg", &[output(Message(1))]).blocks_if(|it| may_wait(it.arguments[2])),
    silent(48, "shutdown"),
    silent(49, "bind"),
    silent(50, "listen"),
    call(51, "getsockname", &socket_address(1, 2)),
    call(52, "getpeername", &socket_address(1, 2)),
    call(53, "socketpair", &[fixed(3, 8)]),
    silent(54, "setsockopt"),
    // With ERANGE, the kernel says there how much room an option takes (SO_PEERSEC, SO_PEERGROUPS).
    call(55, "getsockopt", &[at(3, InOut(4)), fixed(4, 4).always()]).does(|facts| {
        // TCP_ZEROCOPY_RECEIVE maps what has come into the process.
        let [_, level, option, ..] = facts.arguments;
        let is_mapping = (level as i32, option as i32) == (libc::IPPROTO_TCP, 35);
        if is_mapping { Kind::NotRecordable("getsockopt TCP_ZEROCOPY_RECEIVE") } else { Kind::Plain }
    }),
    call(288, "accept4", &socket_address(1, 2)).blocks(),
    // The time that is left is written if a message has come.
    call(299, "recvmmsg", &[output(Messages(1, 2)), fixed(4, 16)]).blocks_if(|it| may_wait(it.arguments[3])),
    call(307, "sendmmsg", &[output(SentLengths(1, 2))]).blocks_if(|it| may_wait(it.arguments[3])),
];

const RECEIVED_FROM: [super::description::Output; 3] = {
    let [address, length] = socket_address(4, 5);
    [filled(1, 2), address, length]
};

fn may_wait(flags: u64) -> bool {
    flags & libc::MSG_DONTWAIT as u64 == 0
}
