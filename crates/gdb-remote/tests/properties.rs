//! Properties that hold for any bytes of a stub, tried by proptest here and by the fuzz targets in `fuzz/`.

use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::error::Error;
use dapple_gdb_remote::features::Features;
use dapple_gdb_remote::packet::{self, Decoder, Event};
use dapple_gdb_remote::resume::Actions;
use dapple_gdb_remote::stop_reply::StopReply;
use dapple_gdb_remote::{Client, Connection, description, documents};
use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The limit of packets here.
const LIMIT: usize = 4096;

/// A stream of bytes gives the same events in any pieces, none longer than the limit, and each packet is the same when it is encoded and decoded again. The first
/// byte says where the pieces end.
pub fn any_stream_is_decoded(input: &[u8]) {
    let Some((seed, stream)) = input.split_first() else {
        return;
    };
    let mut whole = VecDeque::new();
    Decoder::new(LIMIT).decode(stream, &mut whole);
    let mut decoder = Decoder::new(LIMIT);
    let mut events = VecDeque::new();
    for piece in stream.chunks(usize::from(*seed).max(1)) {
        decoder.decode(piece, &mut events);
    }
    assert_eq!(whole, events);
    for event in whole {
        let Event::Packet(body) = event else {
            continue;
        };
        assert!(body.len() <= LIMIT);
        let mut again = VecDeque::new();
        Decoder::new(LIMIT).decode(&packet::encode(&body), &mut again);
        assert_eq!(again, [Event::Packet(body)]);
    }
}

/// Stop replies and the other short answers are read or refused. What was read is no larger than what was sent.
pub fn any_answer_is_read(input: &[u8]) {
    match StopReply::parse(input) {
        Ok(StopReply::Stopped(stop)) => {
            let registers: usize = stop.registers.iter().map(|it| it.1.len()).sum();
            assert!(registers <= input.len());
        }
        Ok(_) => {}
        Err(error) => assert!(error.to_string().contains("stop reply")),
    }
    let features = Features::parse(input);
    assert!((64..=128 << 10).contains(&features.packet_size()));
    let _ = Actions::parse(input);
}

/// Documents are read, or refused with their name. The first byte, a digit, chooses one; files of a target description are separated by form feeds.
pub fn any_document_is_read(input: &[u8]) {
    let Some((kind, text)) = input.split_first() else {
        return;
    };
    let error = match kind.wrapping_sub(b'0') % 5 {
        0 => documents::threads(text).err(),
        1 => documents::memory_map(text).err(),
        2 => documents::svr_libraries(text).err(),
        3 => documents::libraries(text).err(),
        _ => described(text).err(),
    };
    if let Some(error) = error {
        assert!(matches!(error, Error::Document { .. }), "{error}");
    }
}

fn described(text: &[u8]) -> Result<(), Error> {
    let mut files = text.split(|byte| *byte == 0x0c);
    let description = description::read(|_| Ok(files.next().unwrap_or_default().to_vec()))?;
    let all = vec![Some(0); description.registers_size().min(1 << 20)];
    for register in &description.registers {
        assert!((1..=8192).contains(&register.size()));
        if let Some(value) = register.value_in(&all) {
            assert_eq!(value.len(), register.size());
        }
        let _ = description.type_of(register);
    }
    Ok(())
}

/// A client ends a session with a stub that sends this whatever it is asked, and then closes: each line as a packet behind an acknowledgement, or behind a
/// `!` all bytes as they are.
pub fn any_session_ends(input: &[u8]) {
    let (ours, mut theirs) = UnixStream::pair().expect("a pair of sockets");
    let bytes = match input.strip_prefix(b"!") {
        Some(raw) => raw.to_vec(),
        None => input
            .split(|byte| *byte == b'\n')
            .flat_map(|line| [b"+".to_vec(), packet::encode(line)].concat())
            .collect(),
    };
    // What doesn't fit the socket is left out.
    theirs.set_nonblocking(true).expect("a socket");
    let _ = theirs.write(&bytes);
    let _ = theirs.shutdown(std::net::Shutdown::Write);
    let connection = Connection::over_unix(ours).expect("a connection");
    let _ = session(connection);
}

fn session(connection: Connection) -> Result<(), Error> {
    let mut client = Client::start_with(connection, Duration::from_secs(5))?;
    let _ = client.stop_reason();
    let _ = client.threads();
    let _ = client.description();
    let _ = client.read_registers();
    let _ = client.read_memory(0x1000, &mut [0; 100]);
    let _ = client.write_memory(0x1000, &[0; 100]);
    let _ = client.monitor(b"help");
    let _ = client.offer_symbols(|_| None);
    let _ = client.resume_all();
    let _ = client.wait(after(Duration::from_secs(5)));
    if let Ok(Some(file)) = client.open(b"/a") {
        let _ = client.file_status(file);
        let _ = client.read_file(file, 0, &mut [0; 100]);
    }
    client.kill(None)
}
