//! Packets that are sent before anybody waits for their answers.

use crate::stub::{Reply, heard, listening};
use dapple_gdb_remote::Error;
use dapple_gdb_remote::client::{BreakpointKind, Client};
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::error::Support;
use dapple_gdb_remote::stop_reply::StopReply;
use std::sync::mpsc;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(120);

#[test]
fn what_is_asked_for_is_not_asked_again() {
    let (_stub, connection, packets) = listening(|_| None);
    let mut client = Client::start(connection).unwrap();
    heard(&packets);
    assert!(client.read_registers_ahead());
    assert!(client.read_memory_ahead(0x1000, 2));
    assert!(client.read_threads_ahead());
    assert!(client.remove_breakpoint_ahead(BreakpointKind::Software, 0x10, 1));
    let mut bytes = [0; 2];
    assert_eq!(client.read_memory(0x1000, &mut bytes).unwrap(), 2);
    assert_eq!(bytes, [0, 1]);
    assert_eq!(client.threads().unwrap().unwrap().len(), 2);
    assert_eq!(client.read_registers().unwrap().len(), 16);
    // Something else, whose answer is behind all others.
    assert!(client.current_thread().unwrap().is_some());
    let asked = ["g", "m1000,2", "qXfer:threads:read::0,fb", "z0,10,1", "qC"];
    assert_eq!(heard(&packets), asked);
    // An answer serves once.
    assert_eq!(client.read_registers().unwrap().len(), 16);
    assert_eq!(heard(&packets), ["g"]);
}

#[test]
fn answers_from_before_a_change_are_not_used() {
    let (_stub, connection, packets) = listening(|_| None);
    let mut client = Client::start(connection).unwrap();
    client.read_registers_ahead();
    client.read_memory_ahead(0x1000, 1);
    assert_eq!(client.write_register(2, &[0; 4]).unwrap(), Support::Done);
    heard(&packets);
    client.read_memory(0x1000, &mut [0]).unwrap();
    assert_eq!(heard(&packets), [""; 0]);
    client.read_registers().unwrap();
    assert_eq!(heard(&packets), ["g"]);
    client.read_memory_ahead(0x1000, 1);
    client.write_memory(0x1008, &[1]).unwrap();
    heard(&packets);
    client.read_memory(0x1000, &mut [0]).unwrap();
    assert_eq!(heard(&packets), ["m1000,1"]);
    // Nor are those from before the debuggee has run.
    client.read_memory_ahead(0x1000, 1);
    client.remove_breakpoint_ahead(BreakpointKind::Software, 0x10, 1);
    client.resume_all().unwrap();
    assert!(matches!(
        client.wait(after(LONG)),
        Ok(StopReply::Stopped(_))
    ));
    client.read_memory(0x1000, &mut [0]).unwrap();
    assert_eq!(
        heard(&packets),
        ["m1000,1", "z0,10,1", "vCont;c", "m1000,1"]
    );
}

#[test]
fn a_late_answer_to_a_packet_that_was_sent_ahead_is_not_taken_for_another() {
    let (late, released) = mpsc::channel::<()>();
    let (_stub, connection, _) = listening(move |text| {
        if text == "m1000,1" {
            released.recv().unwrap();
        }
        None
    });
    let mut client = Client::start(connection).unwrap();
    client.set_timeout(Duration::from_millis(20));
    client.read_memory_ahead(0x1000, 1);
    client.read_registers_ahead();
    let error = client.read_memory(0x1004, &mut [0]).unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    late.send(()).unwrap();
    client.set_timeout(LONG);
    let mut byte = [0];
    client.read_memory(0x1007, &mut byte).unwrap();
    assert_eq!(byte, [7]);
    assert_eq!(client.read_registers().unwrap().len(), 16);
}

#[test]
fn nothing_is_sent_ahead_where_packets_are_acknowledged() {
    let (_stub, connection, packets) = listening(|text| {
        let is_first = text.starts_with("qSupported");
        is_first.then(|| Reply::text("PacketSize=100"))
    });
    let mut client = Client::start(connection).unwrap();
    heard(&packets);
    assert!(!client.read_registers_ahead());
    client.current_thread().unwrap();
    assert_eq!(heard(&packets), ["qC"]);
}
