//! Addresses at which nobody listens until the test does.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// A port that is free, and stays so.
///
/// A port of 127.0.0.1 may be given to any test of any process as soon as its listener is dropped. This one is at a loopback
/// address (all of 127.0.0.0/8 are) that has this process's number in it, so that nobody else asks for a port there.
pub fn unused() -> SocketAddr {
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    // 127.0.0.x has other users; the process number takes 22 of the 24 bits (`PID_MAX_LIMIT`, proc(5)).
    let host = Ipv4Addr::new(127, high | 0x80, middle, low);
    let free = TcpListener::bind((host, 0)).expect("a free port");
    free.local_addr().expect("bound")
}
