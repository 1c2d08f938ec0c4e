//! A stub that lies: at each packet of a session, it closes the connection, says nothing, or answers with what no stub should. The client never
//! panics and never waits longer than it should, and its errors say what was asked.

use crate::stub::{Reply, honest, says_what, start};
use dapple_gdb_remote::client::{BreakpointKind, Client};
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::packet::{self, Event};
use dapple_gdb_remote::thread_id::{Id, ThreadId};
use dapple_gdb_remote::{Connection, Error};
use std::time::Duration;

/// Much longer than anything takes.
const LONG: Duration = Duration::from_secs(120);

const THREAD: ThreadId = ThreadId {
    process: Some(Id::Number(1)),
    thread: Id::Number(1),
};

type Command = fn(&mut Client) -> Result<(), Error>;

/// A session with all commands. Ends at the first error, or goes on if `all`.
fn session(connection: Connection, timeout: Duration, all: bool) -> Result<u64, Error> {
    let mut client = Client::start_with(connection, timeout)?;
    let mut first = None;
    let commands: [Command; 21] = [
        |it| it.stop_reason().map(drop),
        |it| it.current_thread().map(drop),
        |it| it.threads().map(drop),
        |it| it.thread_details(THREAD).map(drop),
        |it| it.is_alive(THREAD).map(drop),
        |it| it.choose_thread(THREAD).map(drop),
        |it| it.read_registers().map(drop),
        |it| it.read_register(2).map(drop),
        |it| it.write_register(2, &[1]).map(drop),
        |it| it.description().map(drop),
        |it| it.read_memory(0x1000, &mut [0; 200]).map(drop),
        |it| it.write_memory(0x1000, &[0; 200]).map(drop),
        |it| {
            let _ = it.insert_breakpoint(BreakpointKind::Software, 0x1000, 1)?;
            it.resume_all()?;
            it.wait(after(Duration::from_millis(40))).map(drop)
        },
        |it| it.auxv().map(drop),
        |it| it.svr_libraries().map(drop),
        |it| it.launched(Some(1)).map(drop),
        |it| it.monitor(b"help").map(drop),
        |it| it.offer_symbols(|_| None).map(drop),
        |it| it.read_link(b"/a").map(drop),
        |it| match it.open(b"/a")? {
            Some(file) => {
                it.file_status(file)?;
                it.read_file(file, 0, &mut [0; 10])?;
                it.close(file).map(drop)
            }
            None => Ok(()),
        },
        |it| it.detach(Some(1)).map(drop),
    ];
    for command in commands {
        if let Err(error) = command(&mut client) {
            assert!(says_what(&error), "{error}");
            if !all {
                return Err(error);
            }
            first.get_or_insert(error);
        }
    }
    match first {
        Some(error) => Err(error),
        None => Ok(client.counts().packets_sent),
    }
}

/// A stub that is honest but for the packet of an index.
fn lying_at(
    index: u64,
    lie: impl Fn(&Event) -> Reply + Send + 'static,
) -> (crate::stub::Stub, Connection) {
    let mut count = 0;
    start(move |event| {
        count += 1;
        match count == index + 1 {
            true => lie(event),
            false => honest(event),
        }
    })
}

/// How many packets a session has.
fn packets() -> u64 {
    let (_stub, connection) = start(honest);
    session(connection, LONG, false).unwrap()
}

#[test]
fn a_stub_that_closes_at_any_packet_is_told() {
    for index in 0..packets() {
        let (_stub, connection) = lying_at(index, |_| Reply::Close);
        let error = session(connection, LONG, false).unwrap_err();
        assert!(
            matches!(error, Error::Closed { .. }),
            "at packet {index}: {error}"
        );
    }
}

#[test]
fn a_stub_that_closes_in_a_packet_is_told() {
    for index in (0..packets()).step_by(3) {
        let (_stub, connection) = lying_at(index, |_| Reply::Raw(b"+$T05thr".to_vec()));
        // Silence behind half of a packet.
        let error = session(connection, Duration::from_millis(30), false).unwrap_err();
        assert!(
            matches!(error, Error::TimedOut { .. }),
            "at packet {index}: {error}"
        );
    }
}

#[test]
fn a_stub_that_says_nothing_at_any_packet_is_told() {
    for index in 0..packets() {
        let (_stub, connection) = lying_at(index, |_| Reply::Silence);
        let error = session(connection, Duration::from_millis(30), false).unwrap_err();
        assert!(
            matches!(error, Error::TimedOut { .. }),
            "at packet {index}: {error}"
        );
    }
}

#[test]
fn any_answer_to_any_packet_is_survived() {
    let long = "41".repeat(40_000);
    let lies: Vec<Vec<u8>> = [
        "",
        "OK",
        "E01",
        "E.no",
        "E",
        "Ezz",
        "zz",
        "x",
        "m",
        "l",
        "mp1.1,",
        "mzz",
        "l<a>",
        "m<",
        "T05thread:pffff.ffff;",
        "T05thread:p0.0;",
        "W00",
        "X",
        "N",
        "O",
        "Ozz",
        "O4142",
        "F",
        "F-1,2",
        "F7fffffffffffffff;",
        "F-1",
        "Fopen,1/2,0,0",
        "QC",
        "QC0",
        "QCp-1.-1",
        "qSymbol:",
        "qSymbol:61",
        "vCont",
        "vCont;;;",
        "PacketSize=0",
        "PacketSize=fffffffffffffffff",
        "<threads/>",
        "b",
        "\u{fffd}",
        "-1",
        "xxxxxxxx",
        "8",
        &long,
    ]
    .into_iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    for lie in lies {
        for index in 0..packets() {
            let answer = lie.clone();
            let (_stub, connection) = lying_at(index, move |_| Reply::Packet(answer.clone()));
            // It ends.
            let _ = session(connection, Duration::from_millis(60), true);
        }
    }
}

#[test]
fn the_same_answer_to_every_packet_is_survived() {
    for lie in [
        "",
        "OK",
        "E01",
        "m",
        "m<",
        "l",
        "T05",
        "O41",
        "qSymbol:61",
        "mp1.1",
        "F1;a",
        "b41",
        "PacketSize=40;qXfer:features:read+;qXfer:threads:read+;binary-upload+",
    ] {
        let (_stub, connection) = start(move |_| Reply::text(lie));
        // It ends.
        let _ = session(connection, Duration::from_millis(50), true);
    }
}

/// A stub that gives one answer to packets that begin with a text.
fn answering(start_of: &'static str, reply: Reply) -> (crate::stub::Stub, Connection) {
    start(move |event| match event {
        Event::Packet(body) if body.starts_with(start_of.as_bytes()) => reply.clone(),
        _ => honest(event),
    })
}

fn client(connection: Connection) -> Client {
    Client::start_with(connection, LONG).unwrap()
}

#[test]
fn an_endless_object_ends_at_its_limit() {
    let (_stub, connection) = answering(
        "qXfer:auxv",
        Reply::text("mxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    );
    let error = client(connection).auxv().unwrap_err();
    assert!(
        matches!(error, Error::TooLong { limit: 65536, .. }),
        "{error}"
    );
    let (_stub, connection) = answering("qXfer:auxv", Reply::text("m"));
    let error = client(connection).auxv().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unexpected answer to `qXfer:auxv:read::0,fb`: no bytes, and more to come"
    );
}

#[test]
fn an_object_of_a_byte_an_answer_is_given_up() {
    let (_stub, connection) = answering("qXfer:auxv", Reply::text("mx"));
    let error = client(connection).auxv().unwrap_err().to_string();
    assert!(error.ends_with(": 1067 bytes in 1067 answers"), "{error}");
    let (_stub, connection) = answering("vFile:pread", Reply::text("F1;x"));
    let mut client = client(connection);
    let file = client.open(b"/a").unwrap().unwrap();
    let error = client.read_file(file, 0, &mut [0; 10_000]).unwrap_err();
    let error = error.to_string();
    assert!(error.ends_with(": 1067 bytes in 1067 answers"), "{error}");
}

#[test]
fn registers_that_take_too_much_room_are_refused() {
    let far = "<target><feature name='a'><reg name='r' bitsize='32' offset='4294967200'/></feature></target>";
    let far = format!("l{far}");
    let (_stub, connection) = answering("qXfer:features", Reply::text(&far));
    let error = client(connection).description().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read target description target.xml: the registers take more than 1048576 bytes"
    );
}

#[test]
fn an_endless_list_of_threads_ends() {
    let ids = format!("m{}1", "1,".repeat(20_000));
    let (_stub, connection) = start(move |event| match event {
        Event::Packet(body) if body.ends_with(b"ThreadInfo") => Reply::text(&ids),
        Event::Packet(body) if body.starts_with(b"qXfer:threads") => Reply::text(""),
        _ => honest(event),
    });
    let error = client(connection).threads().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unexpected answer to `qsThreadInfo`: more than 100000 threads"
    );
}

#[test]
fn endless_output_of_a_command_ends() {
    let piece = packet::encode(format!("O{}", "41".repeat(10_000)).as_bytes());
    let (_stub, connection) = answering("qRcmd", Reply::Flood(Vec::new(), piece));
    let error = client(connection).monitor(b"x").unwrap_err();
    assert!(matches!(error, Error::TooLong { .. }), "{error}");
    let nothing = packet::encode(b"O").repeat(1000);
    let (_stub, connection) = answering("qRcmd", Reply::Flood(Vec::new(), nothing));
    let error = client(connection).monitor(b"x").unwrap_err();
    assert!(matches!(error, Error::TooLong { .. }), "{error}");
}

#[test]
fn a_packet_without_end_is_given_up() {
    for piece in [b"*~".as_slice(), b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"] {
        let (_stub, connection) = answering("qC", Reply::Flood(b"$0".to_vec(), piece.repeat(5000)));
        let mut client = client(connection);
        let error = client.current_thread().unwrap_err();
        assert_eq!(
            error.to_string(),
            "answer to `qC` is longer than 16777216 bytes"
        );
        assert!(matches!(client.current_thread(), Err(Error::Closed { .. })));
    }
}

#[test]
fn junk_without_end_is_given_up_in_time() {
    for junk in [b"\n".as_slice(), b"+", b"-+", b"$x#00", b"%Stop:T05#2d"] {
        let (_stub, connection) = start(move |event| match event {
            Event::Packet(body) if body == b"qC" => Reply::Flood(Vec::new(), junk.repeat(500)),
            _ => honest(event),
        });
        let mut client = Client::start_with(connection, LONG).unwrap();
        client.set_timeout(Duration::from_millis(100));
        assert!(client.current_thread().is_err());
        // Nor is it listened to for ever by who doesn't wait at all.
        assert!(client.wait(after(Duration::ZERO)).is_err());
    }
}

#[test]
fn a_stub_that_reads_nothing_is_given_up_in_time() {
    let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut connection = Connection::over_unix(ours).unwrap();
    connection.stop_acknowledging();
    let error = (0..100)
        .find_map(|_| {
            connection
                .send(&[b'x'; 100_000], after(Duration::from_millis(50)))
                .err()
        })
        .unwrap();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    assert!(connection.is_closed());
}

#[test]
fn stops_of_threads_that_are_not_there_are_passed_on() {
    let (_stub, connection) = answering("vCont;", Reply::text("T05thread:pfff.fff;"));
    let mut client = client(connection);
    client.resume_all().unwrap();
    let reply = client.wait(after(LONG)).unwrap();
    assert!(format!("{reply:?}").contains("4095"));
}
