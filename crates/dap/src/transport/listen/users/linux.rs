//! The user at the other end of a TCP connection from this machine, by the kernel's table of sockets.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use super::{AcceptError, check, own_user};

/// Checks that the peer's end belongs to root or to this process's user.
pub(in crate::transport::listen) fn check_tcp(
    peer: SocketAddr,
    local: SocketAddr,
) -> Result<(), AcceptError> {
    check(tcp_owner(peer, local), own_user(), &peer.to_string())
}

/// The user who owns the peer's end: the socket on this machine whose local address is `peer` and whose remote address is `local`.
fn tcp_owner(peer: SocketAddr, local: SocketAddr) -> Option<u32> {
    // An IPv4 connection made through an IPv6 socket is in the second table.
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .find_map(|table| owner_in_table(&table, peer, local))
}

/// Finds a connection in the text of `/proc/net/tcp` or `/proc/net/tcp6`; its columns are in proc_pid_net(5).
fn owner_in_table(table: &str, peer: SocketAddr, local: SocketAddr) -> Option<u32> {
    const STATE_TIME_WAIT: &str = "06";
    let same = |text: &str, address: SocketAddr| {
        table_address(text).is_some_and(|(ip, port)| {
            ip.to_canonical() == address.ip().to_canonical() && port == address.port()
        })
    };
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let (own, remote, state) = (columns.next()?, columns.next()?, columns.next()?);
        let found = same(own, peer) && same(remote, local) && state != STATE_TIME_WAIT;
        if !found {
            return None;
        }
        // After the state: queues, timer, retransmits, then the user id.
        columns.nth(3)?.parse().ok()
    })
}

/// An address as the table writes it: 32-bit words in the machine's byte order, in hexadecimal, then the port.
fn table_address(text: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |index: usize| -> Option<[u8; 4]> {
        let digits = ip.get(index * 8..index * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match ip.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let mut bytes = [0; 16];
            for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(index)?);
            }
            IpAddr::from(bytes)
        }
        _ => return None,
    };
    Some((ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1\n   \
        1: 0100007F:B0A2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1234        0 2 1\n   \
        2: 0100007F:1F90 0100007F:B0A2 01 00000000:00000000 00:00000000 00000000  1000        0 3 1\n";

    #[test]
    fn the_owner_is_that_of_the_peers_end_not_of_ours() {
        let [peer, local] = ["127.0.0.1:45218", "127.0.0.1:8080"]
            .map(|text| text.parse::<SocketAddr>().expect("an address"));
        assert_eq!(owner_in_table(TABLE, peer, local), Some(1234));
        assert_eq!(owner_in_table(TABLE, local, peer), Some(1000));
        assert_eq!(owner_in_table(TABLE, peer, peer), None);
        assert_eq!(owner_in_table("", peer, local), None);
    }

    #[test]
    fn an_ipv4_peer_is_found_behind_an_ipv6_socket() {
        let (ip, port) =
            table_address("0000000000000000FFFF00000100007F:B0A2").expect("a mapped address");
        assert_eq!(
            (ip.to_canonical(), port),
            ("127.0.0.1".parse().expect("an address"), 45218)
        );
        assert_eq!(table_address("01:2"), None);
        assert_eq!(table_address("zz00007F:1F90"), None);
    }
}
