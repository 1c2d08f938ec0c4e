//! What a client and an honest stub exchange: each command's packets, acknowledgements, interrupts and late answers.

use crate::stub::{Reply, honest, start};
use dapple_gdb_remote::client::{BreakpointKind, Client, Launched, Syscalls};
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::error::{StubError, Support};
use dapple_gdb_remote::packet::Event;
use dapple_gdb_remote::resume::{Action, Resume};
use dapple_gdb_remote::signal::Signal;
use dapple_gdb_remote::stop_reply::{Reason, StopReply};
use dapple_gdb_remote::thread_id::{Id, ThreadId};
use dapple_gdb_remote::{Connection, Error};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(120);

fn thread(number: u64) -> ThreadId {
    ThreadId {
        process: Some(Id::Number(1)),
        thread: Id::Number(number),
    }
}

fn with_packets(
    mut answer: impl FnMut(&str) -> Option<Reply> + Send + 'static,
) -> (crate::stub::Stub, Connection) {
    start(move |event| {
        let own = match event {
            Event::Packet(body) => answer(&String::from_utf8_lossy(body)),
            _ => None,
        };
        own.unwrap_or_else(|| honest(event))
    })
}

#[test]
fn threads_registers_and_memory_are_read() {
    let (_stub, connection) = start(honest);
    let mut client = Client::start(connection).unwrap();
    assert_eq!(client.features().packet_size(), 0x100);
    assert_eq!(client.current_thread().unwrap(), Some(thread(1)));
    let threads = client.threads().unwrap().unwrap();
    assert_eq!(threads.len(), 2);
    assert_eq!(threads[0].name.as_deref(), Some("main"));
    assert_eq!(
        client.thread_details(thread(1)).unwrap().as_deref(),
        Some("Run")
    );
    assert!(client.is_alive(thread(1)).unwrap());
    assert_eq!(client.choose_thread(thread(2)).unwrap(), Support::Done);
    let registers = client.read_registers().unwrap();
    assert_eq!(registers.len(), 16);
    assert_eq!(registers[1], Some(0x11));
    assert_eq!(registers[12], None);
    let description = client.description().unwrap().unwrap();
    assert_eq!(description.registers.len(), 7);
    let third = description.register("r2").unwrap();
    assert_eq!(
        third.value_in(&registers),
        Some(vec![0x88, 0x99, 0xaa, 0xbb])
    );
    assert_eq!(
        client.read_register(2).unwrap().unwrap(),
        [Some(1), Some(2), Some(3), Some(4)]
    );
    assert_eq!(client.read_register(3).unwrap(), None);
    let last = description.registers.last().unwrap();
    let value = client.read_described_register(last, &registers);
    assert_eq!(value.unwrap(), None);
    let value = client.read_described_register(third, &registers[..8]);
    assert_eq!(value.unwrap(), Some(vec![1, 2, 3, 4]));

    let mut memory = vec![0xee; 600];
    assert_eq!(client.read_memory(0x1001, &mut memory).unwrap(), 600);
    assert!(
        memory
            .iter()
            .enumerate()
            .all(|(i, byte)| *byte == (i + 1) as u8)
    );
    assert_eq!(client.read_memory(0x1fe0, &mut memory).unwrap(), 32);
    let error = client.read_memory(0x10, &mut memory).unwrap_err();
    assert!(matches!(
        error,
        Error::Stub {
            error: StubError::Number(0x0e),
            ..
        }
    ));
    assert_eq!(client.write_memory(0x1000, &[b'#'; 1000]).unwrap(), 1000);
}

/// What has come, if anything has.
fn there(socket: &UnixStream) -> Vec<u8> {
    let mut bytes = [0; 100];
    socket.set_nonblocking(true).unwrap();
    let count = { socket }.read(&mut bytes).unwrap_or_default();
    bytes[..count].to_vec()
}

#[test]
fn acknowledgements_that_are_held_back_go_with_the_next_packet_or_before_a_wait() {
    let (ours, stub) = UnixStream::pair().unwrap();
    let say = |bytes: &[u8]| (&stub).write_all(bytes).unwrap();
    let mut connection = Connection::over_unix(ours).unwrap();
    let soon = after(LONG);

    say(b"$T05#b9+$00#60");
    assert_eq!(connection.receive("stop", soon).unwrap(), b"T05");
    assert_eq!(there(&stub), b"+");
    connection.hold_acknowledgements();
    assert_eq!(connection.request(b"g", soon).unwrap(), b"00");
    assert_eq!(there(&stub), b"$g#67");
    say(b"+$11#62");
    assert_eq!(connection.request(b"g", soon).unwrap(), b"11");
    assert_eq!(there(&stub), b"+$g#67");
    connection
        .receive("stop", after(Duration::ZERO))
        .unwrap_err();
    assert_eq!(there(&stub), b"+");

    // Each has its own.
    say(b"$O41#b4$O42#b5");
    connection.receive("output", soon).unwrap();
    connection.receive("output", soon).unwrap();
    assert_eq!(there(&stub), b"+");
    connection.acknowledge(soon).unwrap();
    assert_eq!(there(&stub), b"+");
    say(b"$T05#b9");
    connection.receive("stop", soon).unwrap();
    assert_eq!(there(&stub), b"+");
}

#[test]
fn the_other_commands_are_answered() {
    let (_stub, connection) = start(honest);
    let mut client = Client::start(connection).unwrap();
    assert_eq!(client.launched(Some(1)).unwrap(), Some(Launched::Before));
    assert_eq!(client.launched(None).unwrap(), None);
    assert_eq!(client.offer_symbols(|_| None).unwrap(), Support::Done);
    assert_eq!(client.monitor(b"help").unwrap(), Some(b"hi".to_vec()));
    assert_eq!(client.extend().unwrap(), Support::Done);
    assert_eq!(
        client.pass_signals(&[Signal::Chld, Signal::Usr1]).unwrap(),
        Support::Done
    );
    assert_eq!(
        client.catch_syscalls(Syscalls::All).unwrap(),
        Support::NotSupported
    );
    let insert = |client: &mut Client, kind| client.insert_breakpoint(kind, 0x1000, 1);
    assert_eq!(
        insert(&mut client, BreakpointKind::Software).unwrap(),
        Support::Done
    );
    assert!(matches!(
        insert(&mut client, BreakpointKind::Hardware),
        Err(Error::Stub { .. })
    ));
    assert_eq!(
        insert(&mut client, BreakpointKind::WriteWatchpoint).unwrap(),
        Support::NotSupported
    );
    let file = client.open(b"/a").unwrap().unwrap();
    assert_eq!(client.file_status(file).unwrap().unwrap().size, 9);
    let mut buffer = [0; 8];
    assert_eq!(client.read_file(file, 0, &mut buffer).unwrap(), 3);
    assert_eq!(&buffer[..3], b"abc");
    assert_eq!(client.close(file).unwrap(), Support::Done);
    assert_eq!(client.read_link(b"/a").unwrap(), Some(b"/b".to_vec()));
    assert_eq!(client.open(b"/c").unwrap(), None);
    assert_eq!(client.auxv().unwrap(), Some(b"0123456789abcdef".to_vec()));
    assert_eq!(client.svr_libraries().unwrap().unwrap().libraries.len(), 1);
    assert_eq!(client.memory_map().unwrap(), None);
    assert_eq!(client.detach(Some(1)).unwrap(), Support::Done);
}

#[test]
fn resumptions_are_one_packet_and_bring_a_stop() {
    let (packets, sent) = mpsc::channel();
    let (_stub, connection) = with_packets(move |text| {
        let _ = packets.send(text.to_owned());
        None
    });
    let mut client = Client::start(connection).unwrap();
    client
        .resume(&[
            Resume {
                action: Action::StepRange { start: 1, end: 2 },
                threads: Some(thread(1)),
            },
            Resume {
                action: Action::Continue,
                threads: None,
            },
        ])
        .unwrap();
    let StopReply::Stopped(stop) = client.wait(after(LONG)).unwrap() else {
        panic!("no stop")
    };
    assert_eq!(stop.reason, Some(Reason::SoftwareBreakpoint));
    assert!(sent.try_iter().any(|it| it == "vCont;r1,2:p1.1;c"));
}

#[test]
fn a_stub_without_vcont_is_given_single_letters() {
    let (packets, sent) = mpsc::channel();
    let (_stub, connection) = with_packets(move |text| {
        let _ = packets.send(text.to_owned());
        Some(match text {
            "s" | "C0b" => Reply::text("S05"),
            _ => Reply::text(""),
        })
    });
    let mut client = Client::start(connection).unwrap();
    client.step(thread(2)).unwrap();
    assert!(matches!(
        client.wait(after(LONG)),
        Ok(StopReply::Stopped(_))
    ));
    client
        .resume(&[Resume {
            action: Action::ContinueWith(Signal::Segv),
            threads: None,
        }])
        .unwrap();
    client.wait(after(LONG)).unwrap();
    let sent: Vec<_> = sent.try_iter().collect();
    assert_eq!(sent[sent.len() - 4..], ["Hcp1.2", "s", "Hc0", "C0b"]);
    let stop = Resume {
        action: Action::Stop,
        threads: None,
    };
    assert!(matches!(
        client.resume(&[stop]),
        Err(Error::NotSupported { .. })
    ));
}

#[test]
fn an_interrupt_of_another_thread_is_sent_while_waiting() {
    let (_stub, connection) = start(|event| match event {
        Event::Packet(body) if body.starts_with(b"vCont;") => Reply::Silence,
        _ => honest(event),
    });
    let mut client = Client::start(connection).unwrap();
    let handle = client.handle();
    client.resume_all().unwrap();
    let other = std::thread::spawn(move || handle.interrupt());
    let StopReply::Stopped(stop) = client.wait(after(LONG)).unwrap() else {
        panic!("no stop")
    };
    other.join().unwrap();
    assert_eq!(stop.signal, Signal::Int);

    client.resume_all().unwrap();
    client.handle().cancel();
    assert_eq!(
        client.wait(None).unwrap_err().to_string(),
        "the wait for stop was cancelled"
    );
    assert!(matches!(
        client.wait(after(Duration::ZERO)),
        Err(Error::TimedOut { .. })
    ));
    client.handle().interrupt();
    assert!(client.wait(after(LONG)).is_ok());
}

#[test]
fn a_late_answer_is_not_taken_for_the_next_one() {
    let (late, released) = mpsc::channel::<()>();
    let (_stub, connection) = with_packets(move |text| {
        if text == "qC" {
            released.recv().unwrap();
        }
        None
    });
    let mut client = Client::start(connection).unwrap();
    client.set_timeout(Duration::from_millis(20));
    let error = client.current_thread().unwrap_err();
    assert_eq!(error.to_string(), "no answer to `qC` in time");
    late.send(()).unwrap();
    client.set_timeout(LONG);
    assert_eq!(
        client.read_register(2).unwrap().unwrap(),
        [Some(1), Some(2), Some(3), Some(4)]
    );
}

#[test]
fn damaged_packets_are_asked_for_again_and_refused_ones_sent_again() {
    let mut times = 0;
    let (_stub, connection) = start(move |event| match event {
        Event::Packet(body) if body == b"qC" => {
            times += 1;
            match times {
                1 => Reply::Raw(b"-".to_vec()),
                _ => Reply::Raw(b"+$QCp1.1#00$QCp1.1#99\x99junk$QCp1.1#94".to_vec()),
            }
        }
        Event::Packet(body) if body.starts_with(b"qSupported") => Reply::text(""),
        Event::Packet(body) if body == b"g" => Reply::Raw(b"-".to_vec()),
        Event::Packet(body) if body == b"?" => {
            Reply::Raw(b"+$S05#00$S05#00$S05#00$S05#00".to_vec())
        }
        _ => honest(event),
    });
    let mut client = Client::start(connection).unwrap();
    let thread_one = thread(1);
    assert_eq!(client.current_thread().unwrap(), Some(thread_one));
    assert_eq!(
        client.stop_reason().unwrap_err().to_string(),
        "answer to `?` was damaged 4 times"
    );
    assert_eq!(
        client.read_registers().unwrap_err().to_string(),
        "the stub has refused `g` 4 times"
    );
}

#[test]
fn packets_and_bytes_are_counted() {
    let (_stub, connection) = start(honest);
    let mut client = Client::start(connection).unwrap();
    let before = client.counts();
    client.current_thread().unwrap();
    let after = client.counts();
    assert_eq!(after.packets_sent - before.packets_sent, 1);
    assert_eq!(after.packets_received - before.packets_received, 1);
    assert_eq!(after.bytes_sent - before.bytes_sent, "$qC#b4".len() as u64);
    assert_eq!(
        after.bytes_received - before.bytes_received,
        "$QCp1.1#00".len() as u64
    );
}

#[test]
fn notifications_are_kept_and_bounded() {
    let (_stub, connection) = with_packets(|text| {
        let notification = dapple_gdb_remote::packet::encode_notification(b"Stop:T05");
        let answer = dapple_gdb_remote::packet::encode(b"QCp1.1");
        (text == "qC").then(|| Reply::Acknowledged([notification.repeat(100), answer].concat()))
    });
    let mut client = Client::start(connection).unwrap();
    assert_eq!(client.current_thread().unwrap(), Some(thread(1)));
    assert_eq!(client.counts().notifications_dropped, 36);
    let connection = client.connection();
    assert_eq!(connection.take_notification(), Some(b"Stop:T05".to_vec()));
    assert_eq!(
        std::iter::from_fn(|| connection.take_notification()).count(),
        63
    );
}

#[test]
fn memory_comes_as_bytes_from_a_stub_that_can() {
    let (_stub, connection) = with_packets(|text| {
        if text.starts_with("qSupported") {
            return Some(Reply::text("PacketSize=50;binary-upload+"));
        }
        if text.starts_with('X') {
            return Some(Reply::text(""));
        }
        let (address, length) = text.strip_prefix('x')?.split_once(',')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        let length = u64::from_str_radix(length, 16).ok()?;
        let bytes = (address..address + length).map(|it| it as u8);
        Some(Reply::Packet(std::iter::once(b'b').chain(bytes).collect()))
    });
    let mut client = Client::start(connection).unwrap();
    let mut memory = [0; 256];
    assert_eq!(client.read_memory(0x1000, &mut memory).unwrap(), 256);
    assert!(
        memory
            .iter()
            .enumerate()
            .all(|(i, byte)| i == usize::from(*byte))
    );
    // Without `X`, memory is written in hexadecimal digits.
    assert!(matches!(
        client.write_memory(0x1000, &[1, 2]),
        Err(Error::NotSupported { asked }) if asked == "`M1000,2:0102`"
    ));
}

#[test]
fn running_backwards_ends_at_the_beginning_of_a_recording() {
    let (_stub, connection) = start(honest);
    let mut client = Client::start(connection).unwrap();
    client.step_backwards().unwrap();
    client.wait(after(LONG)).unwrap();
    client.resume_backwards().unwrap();
    let StopReply::Stopped(stop) = client.wait(after(LONG)).unwrap() else {
        panic!("no stop")
    };
    assert_eq!(stop.reason, Some(Reason::ReplayBegin));
}

#[test]
fn a_packet_that_is_longer_than_the_stub_takes_is_not_sent() {
    let (_stub, connection) = start(honest);
    let mut client = Client::start(connection).unwrap();
    let before = client.counts();
    assert_eq!(
        client.write_registers(&[0; 200]).unwrap_err().to_string(),
        format!(
            "`G{}…` (401 bytes) is longer than 252 bytes",
            "0".repeat(79)
        )
    );
    assert_eq!(client.counts(), before);
}

#[test]
fn a_file_request_of_the_debuggee_is_refused_and_output_is_passed_on() {
    let (_stub, connection) = with_packets(|text| match text {
        "vCont;c" => Some(Reply::Packet(b"O6869".to_vec())),
        "F-1,58" => Some(Reply::text("W00")),
        "vCont;s:p1.1" => Some(Reply::text("Fwrite,1,1000,2")),
        _ => None,
    });
    let mut client = Client::start(connection).unwrap();
    client.resume_all().unwrap();
    assert_eq!(
        client.wait(after(LONG)).unwrap(),
        StopReply::Output(b"hi".to_vec())
    );
    client.step(thread(1)).unwrap();
    assert_eq!(
        client.wait(after(LONG)).unwrap(),
        StopReply::FileRequest(b"write,1,1000,2".to_vec())
    );
    assert!(matches!(
        client.wait(after(LONG)),
        Ok(StopReply::Exited { status: 0, .. })
    ));
}

#[test]
fn a_stub_that_closes_the_connection_when_it_kills_has_done_so() {
    for closes_at in ["vKill;1", "k"] {
        let (_stub, connection) = with_packets(move |packet| match packet {
            packet if packet == closes_at => Some(Reply::Close),
            "vKill;1" => Some(Reply::text("")),
            _ => None,
        });
        let mut client = Client::start(connection).unwrap();
        client.kill(Some(1)).unwrap();
    }
}

#[test]
fn the_address_of_a_symbol_that_is_asked_for_is_told() {
    let (told, heard) = mpsc::channel();
    let (_stub, connection) = with_packets(move |packet| {
        let asked = packet.strip_prefix("qSymbol:")?;
        told.send(asked.to_owned()).unwrap();
        Some(Reply::text(match asked {
            // `known`, and `other`.
            ":" => "qSymbol:6b6e6f776e",
            "1234:6b6e6f776e" => "qSymbol:6f74686572",
            _ => "OK",
        }))
    });
    let mut client = Client::start(connection).unwrap();
    let known = |name: &[u8]| (name == b"known").then_some(0x1234);
    assert_eq!(client.offer_symbols(known).unwrap(), Support::Done);
    let heard: Vec<String> = heard.try_iter().collect();
    assert_eq!(heard, [":", "1234:6b6e6f776e", ":6f74686572"]);
}
