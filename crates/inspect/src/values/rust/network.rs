//! Network addresses in their usual notation: `127.0.0.1`, `[::1]:443`.

use super::{Flaw, OrUnknownLayout};
use crate::values::view::View;
use crate::values::{Reader, Value, contents};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

/// `Ipv4Addr` and `Ipv6Addr`.
pub(super) fn address(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    Ok(text(octets(reader, value)?.to_string()))
}

/// `SocketAddrV4` and `SocketAddrV6`.
pub(super) fn socket(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let number = |name: &str, size: u64| -> Result<u128, Flaw> {
        let field = reader.field(value, name).known()?;
        let bytes = reader.bytes(&field.contents, size)?;
        Ok(contents::extract_bits(&bytes, 0, 8 * size))
    };
    let port = number("port", 2)? as u16;
    Ok(text(
        match octets(reader, &reader.field(value, "ip").known()?)? {
            IpAddr::V4(ip) => SocketAddrV4::new(ip, port).to_string(),
            IpAddr::V6(ip) => {
                let flow = number("flowinfo", 4)? as u32;
                let scope = number("scope_id", 4)? as u32;
                SocketAddrV6::new(ip, port, flow, scope).to_string()
            }
        },
    ))
}

fn text(text: String) -> View {
    View::Text {
        text,
        address: None,
    }
}

fn octets(reader: &Reader<'_>, value: &Value) -> Result<IpAddr, Flaw> {
    let octets = reader.field(value, "octets").known()?;
    let size = reader.size_of(&octets).known()?;
    if size > 16 {
        return Err(Flaw::Layout);
    }
    let bytes = reader.bytes(&octets.contents, size)?;
    if let Ok(octets) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Ok(IpAddr::V4(Ipv4Addr::from(octets)));
    }
    match <[u8; 16]>::try_from(bytes.as_slice()) {
        Ok(octets) => Ok(IpAddr::V6(Ipv6Addr::from(octets))),
        Err(_) => Err(Flaw::Layout),
    }
}
