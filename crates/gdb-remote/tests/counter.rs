//! Program counters that are sent with the resumption, to stubs that heed them there.

use crate::stub::{Reply, Stub, heard, listening};
use dapple_gdb_remote::client::Client;
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::error::Support;
use dapple_gdb_remote::stop_reply::StopReply;
use dapple_gdb_remote::thread_id::{Id, ThreadId};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(120);

/// The program counter's number.
const NUMBER: u64 = 16;

/// A client of a stub at its first stop. `answer`: what the stub says otherwise than an honest one.
fn stopped(
    mut answer: impl FnMut(&str) -> Option<&'static str> + Send + 'static,
) -> (Stub, Client, Arc<Mutex<Vec<String>>>) {
    let (stub, connection, packets) = listening(move |packet| {
        let own = answer(packet).map(Reply::text);
        let runs = packet
            .starts_with('c')
            .then(|| Reply::text("T05thread:p1.1;"));
        own.or(runs)
    });
    let mut client = Client::start(connection).unwrap();
    client.resume_all().unwrap();
    stop(&mut client);
    heard(&packets);
    (stub, client, packets)
}

fn of_qemu(packet: &str) -> Option<&'static str> {
    (packet == "qqemu.sstepbits").then_some("ENABLE=1,NOIRQ=2,NOTIMER=4")
}

fn stop(client: &mut Client) {
    let reply = client.wait(after(LONG)).unwrap();
    assert!(matches!(reply, StopReply::Stopped(_)), "{reply:?}");
}

fn write(client: &mut Client, value: u64) {
    let written = client.write_program_counter(NUMBER, value);
    assert_eq!(written.unwrap(), Support::Done);
}

#[test]
fn qemu_gets_the_counter_with_the_resumption() {
    let (_stub, mut client, packets) = stopped(of_qemu);
    // The first one shows that the stub can write it.
    write(&mut client, 0x1234);
    assert_eq!(heard(&packets), ["P10=3412000000000000"]);
    write(&mut client, 0x1235);
    write(&mut client, 0x1236);
    client.resume_all().unwrap();
    stop(&mut client);
    assert_eq!(heard(&packets), ["qqemu.sstepbits", "c1236"]);
    write(&mut client, 0x1237);
    client.resume_all().unwrap();
    stop(&mut client);
    client.resume_all().unwrap();
    stop(&mut client);
    assert_eq!(heard(&packets), ["c1237", "vCont;c"]);
}

#[test]
fn what_is_asked_between_sees_the_counter() {
    let (_stub, mut client, packets) = stopped(of_qemu);
    write(&mut client, 1);
    write(&mut client, 2);
    client.read_registers().unwrap();
    client.resume_all().unwrap();
    stop(&mut client);
    let sent = ["qqemu.sstepbits", "P10=0200000000000000", "g", "vCont;c"];
    assert_eq!(heard(&packets)[1..], sent);
    write(&mut client, 3);
    let thread = ThreadId {
        process: Some(Id::Number(1)),
        thread: Id::Number(1),
    };
    client.step(thread).unwrap();
    stop(&mut client);
    assert_eq!(heard(&packets), ["P10=0300000000000000", "vCont;s:p1.1"]);
    // `c` with an address would be about another thread.
    let other = ThreadId {
        thread: Id::Number(2),
        ..thread
    };
    assert_eq!(client.choose_thread(other).unwrap(), Support::Done);
    write(&mut client, 4);
    client.resume_all().unwrap();
    stop(&mut client);
    let sent = ["Hgp1.2", "P10=0400000000000000", "vCont;c"];
    assert_eq!(heard(&packets), sent);
}

#[test]
fn other_stubs_get_it_at_once() {
    let (_stub, mut client, packets) = stopped(|_| None);
    for value in 1..=3 {
        write(&mut client, value);
    }
    let sent = heard(&packets);
    assert_eq!(sent.iter().filter(|it| it.starts_with("P10=")).count(), 3);
    assert_eq!(sent.iter().filter(|it| *it == "qqemu.sstepbits").count(), 1);
}

#[test]
fn a_counter_that_is_refused_is_told_by_the_next_command() {
    let mut count = 0;
    let (_stub, mut client, packets) = stopped(move |packet| {
        count += u32::from(packet.starts_with('P'));
        of_qemu(packet).or((packet.starts_with('P') && count > 1).then_some("E01"))
    });
    write(&mut client, 1);
    write(&mut client, 2);
    let error = client.read_registers().unwrap_err();
    assert!(error.to_string().contains("P10=02"), "{error}");
    // It is told once.
    client.read_registers().unwrap();
    assert_eq!(heard(&packets)[2..], ["P10=0200000000000000", "g"]);
}
