//! A stub in this process: a thread that answers packets over a socket pair, as a function tells it.

use dapple_gdb_remote::packet::{self, Decoder, Event};
use dapple_gdb_remote::{Connection, Error};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What a stub does with what it has received.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Sends a packet.
    Packet(Vec<u8>),
    /// Sends an acknowledgement and then these bytes.
    Acknowledged(Vec<u8>),
    /// Sends bytes as they are, without an acknowledgement.
    Raw(Vec<u8>),
    /// Sends only the acknowledgement.
    Silence,
    /// Sends the first bytes, and then the others again and again until the client closes the connection.
    Flood(Vec<u8>, Vec<u8>),
    /// Closes the connection.
    Close,
}

impl Reply {
    pub fn text(text: &str) -> Reply {
        Reply::Packet(text.as_bytes().to_vec())
    }
}

/// A stub that runs until its connection is closed. It is joined when this is dropped, after the client.
pub struct Stub {
    thread: Option<JoinHandle<()>>,
}

impl Drop for Stub {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the stub has failed");
        }
    }
}

/// Starts a stub. Declare the client after it, so that it is dropped first.
pub fn start(answer: impl FnMut(&Event) -> Reply + Send + 'static) -> (Stub, Connection) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let thread = std::thread::spawn(move || serve(theirs, answer));
    let stub = Stub {
        thread: Some(thread),
    };
    (stub, Connection::over_unix(ours).unwrap())
}

fn serve(mut socket: UnixStream, mut answer: impl FnMut(&Event) -> Reply) {
    let mut decoder = Decoder::new(1 << 20);
    let mut events = VecDeque::new();
    let mut buffer = [0; 4096];
    let mut acknowledging = true;
    loop {
        while let Some(event) = events.pop_front() {
            let is_packet = matches!(event, Event::Packet(_));
            if !is_packet && event != Event::Interrupt {
                continue;
            }
            let mut bytes = Vec::new();
            if acknowledging && is_packet {
                bytes.push(packet::ACK);
            }
            match answer(&event) {
                Reply::Packet(body) => bytes.extend(packet::encode(&body)),
                Reply::Acknowledged(raw) => bytes.extend(raw),
                Reply::Raw(raw) => bytes = raw,
                Reply::Silence => {}
                Reply::Flood(first, piece) => {
                    bytes.extend(first);
                    let _ = socket.write_all(&bytes);
                    while socket.write_all(&piece).is_ok() {}
                    return;
                }
                Reply::Close => return,
            }
            if event == Event::Packet(b"QStartNoAckMode".to_vec()) && bytes.ends_with(b"$OK#9a") {
                acknowledging = false;
            }
            if socket.write_all(&bytes).is_err() {
                return;
            }
        }
        match socket.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => decoder.decode(&buffer[..count], &mut events),
        }
    }
}

/// What an honest stub answers to packets of one form.
const ANSWERS: [(&str, &str); 32] = [
    ("QStartNoAckMode", "OK"),
    ("Hgp1.1", "OK"),
    ("Hgp1.2", "OK"),
    ("D;1", "OK"),
    ("!", "OK"),
    ("Tp1.1", "OK"),
    ("vCont?", "vCont;c;C;s;S;t;r"),
    ("?", "T05thread:p1.1;core:0;06:0000;"),
    ("qC", "QCp1.1"),
    ("g", "00112233445566778899aabbxxxxxxxx"),
    ("p2", "01020304"),
    ("qAttached:1", "1"),
    ("qThreadExtraInfo,p1.1", "52756e"),
    ("qSymbol::", "qSymbol:61"),
    ("qSymbol::61", "OK"),
    ("vFile:open:2f61,0,0", "F5"),
    ("vFile:close:5", "F0"),
    ("vFile:readlink:2f61", "F2;/b"),
    (
        "qSupported:*",
        "PacketSize=100;QStartNoAckMode+;multiprocess+;qXfer:features:read+;qXfer:threads:read+;swbreak+",
    ),
    ("vFile:pread:5,a,0", "F3;abc"),
    ("vFile:pread:*", "F0;"),
    ("vCont;*", "T05thread:p1.1;swbreak:;"),
    ("QPassSignals:*", "OK"),
    ("X*", "OK"),
    ("P*", "OK"),
    ("Z0*", "OK"),
    ("z0*", "OK"),
    ("Z1*", "E01"),
    ("vFile:pread:5,8,0", "F3;abc"),
    ("qfThreadInfo", "mp1.1,p1.2"),
    ("bc", "T05thread:p1.1;replaylog:begin;"),
    ("bs", "T05thread:p1.1;"),
];

/// The documents of an honest stub.
const DOCUMENTS: [(&str, &str); 5] = [
    (
        "features:read:target.xml",
        "<target><architecture>i386</architecture><include href=\"core.xml\"/></target>",
    ),
    (
        "features:read:core.xml",
        "<feature name=\"core\"><reg name=\"r0\" bitsize=\"32\"/><reg name=\"r1\" bitsize=\"32\"/>\
        <reg name=\"r2\" bitsize=\"32\"/><reg name=\"r3\" bitsize=\"32\"/><reg name=\"r4\" bitsize=\"32\"/>\
        <reg name=\"r5\" bitsize=\"32\"/><reg name=\"r6\" bitsize=\"32\"/></feature>",
    ),
    (
        "threads:read:",
        "<threads><thread id=\"p1.1\" name=\"main\"/><thread id=\"p1.2\"/></threads>",
    ),
    ("auxv:read:", "0123456789abcdef"),
    (
        "libraries-svr4:read:",
        "<library-list-svr4><library name='a' lm='0x1' l_addr='0x2' l_ld='0x3'/></library-list-svr4>",
    ),
];

/// The answers of an honest stub with a process 1 of two threads, and memory at 0x1000 to 0x1fff.
pub fn honest(event: &Event) -> Reply {
    let Event::Packet(body) = event else {
        return Reply::text("T02thread:p1.1;");
    };
    let text = String::from_utf8_lossy(body);
    if let Some(rest) = text.strip_prefix("qXfer:") {
        let document = DOCUMENTS.iter().find(|(name, _)| rest.starts_with(name));
        return document.map_or(Reply::text(""), |(_, it)| transferred(&text, it));
    }
    if text.starts_with("qRcmd,") {
        return Reply::Acknowledged([packet::encode(b"O6869"), packet::encode(b"OK")].concat());
    }
    if text == "vFile:fstat:5" {
        let mut status = vec![0; 64];
        status[35] = 9;
        return Reply::Packet([b"F40;".as_slice(), &status].concat());
    }
    if let Some(range) = text.strip_prefix('m') {
        return memory(range);
    }
    let found = ANSWERS
        .iter()
        .find(|(asked, _)| *asked == text)
        .or_else(|| {
            ANSWERS.iter().find(|(asked, _)| {
                asked
                    .strip_suffix('*')
                    .is_some_and(|it| text.starts_with(it))
            })
        });
    Reply::text(found.map_or("", |(_, answer)| answer))
}

fn transferred(asked: &str, document: &str) -> Reply {
    let (offset, length) = asked.rsplit_once(':').unwrap().1.split_once(',').unwrap();
    let number = |digits| usize::from_str_radix(digits, 16).unwrap();
    let rest = document.get(number(offset)..).unwrap_or_default();
    let piece = &rest[..number(length).min(rest.len())];
    let kind = if piece.len() < rest.len() { "m" } else { "l" };
    Reply::text(&format!("{kind}{piece}"))
}

/// Each byte is the lowest one of its address.
fn memory(range: &str) -> Reply {
    let (address, length) = range.split_once(',').unwrap();
    let address = u64::from_str_radix(address, 16).unwrap();
    let length = u64::from_str_radix(length, 16).unwrap();
    if !(0x1000..0x2000).contains(&address) {
        return Reply::text("E0e");
    }
    let bytes = (address..(address + length).min(0x2000)).map(|it| format!("{:02x}", it as u8));
    Reply::text(&bytes.collect::<String>())
}

/// A stub, and the packets that it gets.
pub fn listening(
    mut answer: impl FnMut(&str) -> Option<Reply> + Send + 'static,
) -> (Stub, Connection, Arc<Mutex<Vec<String>>>) {
    let packets = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&packets);
    let (stub, connection) = start(move |event| {
        let Event::Packet(body) = event else {
            return honest(event);
        };
        let text = String::from_utf8_lossy(body).into_owned();
        let own = answer(&text);
        heard.lock().unwrap().push(text);
        own.unwrap_or_else(|| honest(event))
    });
    (stub, connection, packets)
}

/// The packets that a stub has got since the last call.
pub fn heard(packets: &Arc<Mutex<Vec<String>>>) -> Vec<String> {
    std::mem::take(&mut packets.lock().unwrap())
}

/// Whether an error says what was waited for or asked, so that a user can tell where it went wrong.
pub fn says_what(error: &Error) -> bool {
    let text = error.to_string();
    ["`", "stop", "answer", "cannot read"]
        .iter()
        .any(|part| text.contains(part))
}
