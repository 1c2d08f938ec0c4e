//! A relay between a debugger and a stub, which counts the packets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::port::Port;

/// Passes on one connection.
pub struct Relay {
    /// Where the debugger finds the stub.
    pub port: u16,
    packets: Arc<AtomicU64>,
}

impl Relay {
    /// Waits for a debugger, which is connected to the stub at `stub` then.
    pub fn start(stub: Port) -> anyhow::Result<Relay> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let behind = TcpStream::connect(("127.0.0.1", stub.0))?;
        behind.set_nodelay(true)?;
        let packets = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&packets);
        std::thread::spawn(move || {
            let Ok((debugger, _)) = listener.accept() else {
                return;
            };
            let _ = debugger.set_nodelay(true);
            let (Ok(to_stub), Ok(to_debugger)) = (behind.try_clone(), debugger.try_clone()) else {
                return;
            };
            std::thread::spawn(move || pass_on(debugger, to_stub, Some(&counted)));
            pass_on(behind, to_debugger, None);
        });
        Ok(Relay { port, packets })
    }

    /// How many packets the debugger has sent so far.
    pub fn packets(&self) -> u64 {
        self.packets.load(Ordering::SeqCst)
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, counted: Option<&AtomicU64>) {
    let mut bytes = [0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if let Some(counted) = counted {
            // Within a packet, the byte is escaped.
            let begun = bytes[..count].iter().filter(|byte| **byte == b'$').count();
            counted.fetch_add(begun as u64, Ordering::SeqCst);
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}
