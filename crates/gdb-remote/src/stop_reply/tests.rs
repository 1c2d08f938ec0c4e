//! Stop replies as stubs send them, and broken ones.

use super::*;
use crate::thread_id::Id;
use proptest::prelude::*;

fn stop(body: &[u8]) -> Stop {
    match StopReply::parse(body) {
        Ok(StopReply::Stopped(stop)) => stop,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stop_of_gdbserver_has_a_thread_a_core_and_registers() {
    let stop = stop(b"T0506:0000000000000000;10:704bfef7ff7f0000;thread:p7335.7336;core:1;");
    assert_eq!(stop.signal, Signal::Trap);
    assert_eq!(stop.core, Some(1));
    assert_eq!(
        stop.thread,
        Some(ThreadId {
            process: Some(Id::Number(0x7335)),
            thread: Id::Number(0x7336)
        })
    );
    assert_eq!(stop.registers.len(), 2);
    assert_eq!(stop.registers[1].0, 0x10);
    assert_eq!(stop.registers[1].1[0], Some(0x70));
    assert_eq!(stop.reason, None);
}

#[test]
fn every_reason_is_read() {
    let child = ThreadId {
        process: Some(Id::Number(1)),
        thread: Id::Number(2),
    };
    let watch = |access| Reason::Watchpoint {
        access,
        address: 0x1f,
    };
    for (text, reason) in [
        ("swbreak:", Reason::SoftwareBreakpoint),
        ("hwbreak:", Reason::HardwareBreakpoint),
        ("watch:1f", watch(Access::Write)),
        ("rwatch:1f", watch(Access::Read)),
        ("awatch:1f", watch(Access::ReadOrWrite)),
        ("library:", Reason::Libraries),
        ("fork:p1.2", Reason::Fork(child)),
        ("vfork:p1.2", Reason::Vfork(child)),
        ("vforkdone:", Reason::VforkDone),
        ("exec:2f61", Reason::Exec(b"/a".to_vec())),
        ("create:", Reason::Create),
        ("replaylog:begin", Reason::ReplayBegin),
        ("replaylog:end", Reason::ReplayEnd),
        ("syscall_entry:27", Reason::SyscallEntry(0x27)),
        ("syscall_return:27", Reason::SyscallReturn(0x27)),
    ] {
        assert_eq!(
            stop(format!("T05{text};").as_bytes()).reason,
            Some(reason),
            "{text}"
        );
    }
}

#[test]
fn ends_and_output_are_read() {
    assert_eq!(
        StopReply::parse(b"W03;process:1e8"),
        Ok(StopReply::Exited {
            status: 3,
            process: Some(0x1e8)
        })
    );
    assert_eq!(
        StopReply::parse(b"X0b"),
        Ok(StopReply::Signalled {
            signal: Signal::Segv,
            process: None
        })
    );
    assert_eq!(
        StopReply::parse(b"w0;p1.2").map_err(|error| error.to_string()),
        Ok(StopReply::ThreadExited {
            status: 0,
            thread: ThreadId {
                process: Some(Id::Number(1)),
                thread: Id::Number(2)
            }
        })
    );
    assert_eq!(StopReply::parse(b"N"), Ok(StopReply::NoResumed));
    assert_eq!(
        StopReply::parse(b"O6869"),
        Ok(StopReply::Output(b"hi".to_vec()))
    );
    assert_eq!(stop(b"S05").signal, Signal::Trap);
}

#[test]
fn what_is_wrong_is_told() {
    let error = |body: &[u8]| StopReply::parse(body).map_err(|error| error.to_string());
    assert_eq!(
        error(b"T05thread:z;"),
        Err("no thread in the stop reply `T05thread:z;`".to_owned())
    );
    assert_eq!(error(b""), Err("nothing in the stop reply ``".to_owned()));
    for body in [
        "T",
        "Tzz",
        "W",
        "Wz",
        "Xfff",
        "w1",
        "O1",
        "OK",
        "E01",
        "T0506:1;",
        "T05watch:;",
    ] {
        assert!(error(body.as_bytes()).is_err(), "{body}");
    }
    let many = format!("T05{}", "a1:00;".repeat(5000));
    assert!(error(many.as_bytes()).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(body in "[TSWXwNOF][0-9a-z:;.-]{0,40}") {
        let _ = StopReply::parse(body.as_bytes());
    }
}
