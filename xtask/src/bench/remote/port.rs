//! Ports of this machine.

use std::time::{Duration, Instant};

use anyhow::bail;

/// A TCP port of the loopback device.
#[derive(Clone, Copy)]
pub struct Port(pub u16);

impl Port {
    /// One that nobody listens on.
    pub fn unused() -> anyhow::Result<Port> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        Ok(Port(listener.local_addr()?.port()))
    }

    /// Waits until somebody listens. Does not connect: a stub takes one connection only.
    pub fn wait_for_listener(self) -> anyhow::Result<()> {
        let begun = Instant::now();
        while !self.has_listener()? {
            if begun.elapsed() > Duration::from_secs(10) {
                bail!("the stub doesn't listen on port {}", self.0);
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Whether the kernel's tables of sockets (proc(5)) have one that listens.
    fn has_listener(self) -> anyhow::Result<bool> {
        const LISTENS: &str = "0A";
        let port = format!(":{:04X}", self.0);
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            let Ok(sockets) = std::fs::read_to_string(table) else {
                continue;
            };
            for socket in sockets.lines() {
                let mut fields = socket.split_whitespace().skip(1);
                let local = fields.next().unwrap_or_default();
                if local.ends_with(&port) && fields.nth(1) == Some(LISTENS) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
