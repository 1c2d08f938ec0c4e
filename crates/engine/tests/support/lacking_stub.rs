//! A stub that has less than the real one: a thread between the two takes out what the environment variable [`VARIABLE`] names.

use dapple_engine::session::StubAddress;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable: `steps` for a stub without single steps, `breakpoints` for one without packets for breakpoints, `software breakpoints` for one whose
/// memory is all flash. `threads` is one that asks for the symbol `counter` to find its threads.
pub const VARIABLE: &str = "DAPPLE_STUB_LACKS";

/// What stubs were told that have asked for a symbol.
pub static SYMBOLS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Splits what was read into packets, each with its `#` and checksum, and what is between them.
#[derive(Default)]
struct Packets(Vec<u8>);

impl Packets {
    fn take(&mut self) -> Option<Vec<u8>> {
        let end = match self.0.first()? {
            b'$' => {
                let hash = self.0.iter().position(|byte| *byte == b'#')?;
                Some(hash + 3).filter(|end| *end <= self.0.len())?
            }
            _ => 1,
        };
        Some(self.0.drain(..end).collect())
    }
}

fn body(packet: &[u8]) -> &[u8] {
    match packet {
        [b'$', body @ .., b'#', _, _] => body,
        _ => &[],
    }
}

fn packet(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    let end = format!("#{sum:02x}");
    [b"$", body, end.as_bytes()].concat()
}

/// What the stub has said, without what it is to lack.
fn answered(lacking: &str, from_stub: Vec<u8>) -> Vec<u8> {
    let text = body(&from_stub);
    match lacking {
        "steps" if text.starts_with(b"vCont;") => packet(b"vCont;c;C;t"),
        "software breakpoints" if text.starts_with(b"PacketSize=") => {
            packet(&[text, b";qXfer:memory-map:read+"].concat())
        }
        _ => from_stub,
    }
}

/// What is answered in the stub's place, before it is asked for anything else.
fn told(lacking: &str, from_client: &[u8]) -> Option<Vec<u8>> {
    const FLASH: &[u8] =
        b"l<memory-map><memory type=\"flash\" start=\"0\" length=\"0x8000000000000000\">\
        <property name=\"blocksize\">0x1000</property></memory></memory-map>";
    let text = body(from_client);
    let is_map = text.starts_with(b"qXfer:memory-map:read:");
    match lacking {
        "software breakpoints" if is_map => Some(packet(FLASH)),
        // `counter`.
        "threads" if text == b"qSymbol::" => Some(packet(b"qSymbol:636f756e746572")),
        "threads" if text.starts_with(b"qSymbol:") => {
            let told = String::from_utf8_lossy(text).into_owned();
            SYMBOLS.lock().expect("the list").push(told);
            Some(packet(b"OK"))
        }
        _ => None,
    }
}

/// What the stub is asked in place of what it is to lack. Its answer comes in its turn, behind those to earlier packets.
fn asked(lacking: &str, from_client: Vec<u8>) -> Vec<u8> {
    let text = body(&from_client);
    let has = |part: &str| text.windows(part.len()).any(|it| it == part.as_bytes());
    let is_step = text.starts_with(b"vCont;") && (has(";s") || has(";S"));
    match lacking {
        // It has said so: its answer is an error.
        "steps" if is_step => packet(b"Hg-"),
        // What no stub knows.
        "software breakpoints" if text.starts_with(b"Z0") || text.starts_with(b"z0") => {
            packet(b"qNothing")
        }
        "breakpoints" if matches!(text, [b'Z' | b'z', b'0' | b'1', ..]) => packet(b"qNothing"),
        _ => from_client,
    }
}

fn pump(
    mut from: impl Read + Send + 'static,
    mut each: impl FnMut(Vec<u8>) -> bool + Send + 'static,
) {
    std::thread::spawn(move || {
        let mut packets = Packets::default();
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            packets.0.extend(&bytes[..count]);
            while let Some(packet) = packets.take() {
                if !each(packet) {
                    return;
                }
            }
        }
    });
}

fn between(
    lacking: String,
    client: UnixStream,
    stub: impl Read + Send + 'static,
    mut to_stub: impl Write + Send + 'static,
) {
    let clone = || client.try_clone().expect("a descriptor");
    let (mut to_client, mut telling, from_client) = (clone(), clone(), clone());
    let lacks = lacking.clone();
    pump(stub, move |packet| {
        to_client.write_all(&answered(&lacks, packet)).is_ok()
    });
    pump(from_client, move |packet| match told(&lacking, &packet) {
        // Where packets are acknowledged, this one was.
        Some(answer) => telling.write_all(&[b"+", &*answer].concat()).is_ok(),
        None => to_stub.write_all(&asked(&lacking, packet)).is_ok(),
    });
}

/// The address of a stub that lacks what the variable names; the same, if that isn't set.
pub fn of(address: StubAddress) -> StubAddress {
    match std::env::var(VARIABLE) {
        Ok(lacking) => without(lacking, address),
        Err(_) => address,
    }
}

/// The address of a stub that lacks something.
pub fn without(lacking: String, address: StubAddress) -> StubAddress {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("dapple-lacking-{}-{count}.socket", std::process::id());
    let socket = std::env::temp_dir().join(name);
    let listener = UnixListener::bind(&socket).expect("a socket");
    let path = socket.clone();
    std::thread::spawn(move || {
        let Ok((client, _)) = listener.accept() else {
            return;
        };
        let _ = std::fs::remove_file(&path);
        match address {
            StubAddress::Unix(real) => {
                // It is started at the same moment.
                let stub = std::iter::repeat_with(|| {
                    std::thread::yield_now();
                    UnixStream::connect(&real).ok()
                });
                let stub = stub.flatten().next().expect("a stub");
                let to_stub = stub.try_clone().expect("a descriptor");
                between(lacking, client, stub, to_stub);
            }
            StubAddress::Command(command) => {
                let mut child = Command::new("sh")
                    .args(["-c", &command])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("it runs");
                let (input, output) = (child.stdin.take(), child.stdout.take());
                let (input, output) = input.zip(output).expect("pipes");
                between(lacking, client, output, input);
                let _ = child.wait();
            }
            other => panic!("{other:?}"),
        }
    });
    StubAddress::Unix(socket)
}
