//! A recorded session with a stub: a relay between the debugger and gdbserver writes down the packets of both sides.

use super::wire::{Piece, Wire};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// What the debugger has sent, and the packets that came before it sent something else.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// A packet's body; [`INTERRUPT`] for the byte that interrupts.
    pub asked: Vec<u8>,
    pub answers: Vec<Vec<u8>>,
}

/// How [`Exchange::asked`] has an interrupt.
pub const INTERRUPT: &[u8] = &[3];

/// Listens at `place` for a debugger, has gdbserver start `program` for it, and calls `session` meanwhile. Returns what was said.
pub fn record(server: &str, program: &str, place: &Path, session: impl FnOnce()) -> Vec<Exchange> {
    let listener = UnixListener::bind(place).expect("a socket");
    let mut stub = Command::new(server)
        .args(["--once", "-", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("gdbserver starts");
    let (input, output) = (stub.stdin.take(), stub.stdout.take());
    let said = Arc::new(Mutex::new(Vec::<Exchange>::new()));
    std::thread::scope(|scope| {
        let (asked, answered) = (Arc::clone(&said), Arc::clone(&said));
        scope.spawn(move || {
            let (debugger, _) = listener.accept().expect("a debugger");
            let back = debugger.try_clone().expect("a descriptor");
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    pass(output.expect("a pipe"), back, |piece| {
                        answer(&answered, piece)
                    })
                });
                pass(debugger, input.expect("a pipe"), |piece| ask(&asked, piece));
            });
        });
        session();
    });
    stub.wait().expect("reaped");
    let _ = std::fs::remove_file(place);
    let said = said.lock().expect("nothing has panicked");
    said.clone()
}

/// Passes on bytes until their end, and calls `note` with each piece before it arrives.
fn pass(mut from: impl Read, mut to: impl Write + Ends, note: impl Fn(Piece)) {
    let mut wire = Wire::default();
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        wire.take(&buffer[..count]).into_iter().for_each(&note);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    to.end();
}

/// A stream whose reader can be told that no more comes. A pipe does that when it is dropped.
trait Ends {
    fn end(self);
}

impl Ends for UnixStream {
    fn end(self) {
        let _ = self.shutdown(std::net::Shutdown::Both);
    }
}

impl Ends for std::process::ChildStdin {
    fn end(self) {}
}

fn ask(said: &Mutex<Vec<Exchange>>, piece: Piece) {
    let asked = match piece {
        Piece::Packet(body) => body,
        Piece::Interrupt => INTERRUPT.to_vec(),
    };
    let answers = Vec::new();
    said.lock()
        .expect("nothing has panicked")
        .push(Exchange { asked, answers });
}

fn answer(said: &Mutex<Vec<Exchange>>, piece: Piece) {
    let mut said = said.lock().expect("nothing has panicked");
    if let (Some(last), Piece::Packet(body)) = (said.last_mut(), piece) {
        last.answers.push(body);
    }
}
