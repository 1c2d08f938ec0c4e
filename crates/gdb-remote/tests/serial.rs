//! A stub at the other end of a serial line. Two pseudo terminals, joined here, are such a line.

use crate::programs::{COUNTS, LONG, Program, end, start_until, stop, stub_program, word};
use dapple_gdb_remote::client::{BreakpointKind, Client};
use dapple_gdb_remote::error::Support;
use dapple_gdb_remote::stop_reply::StopReply;
use dapple_gdb_remote::{Address, Connection, Error};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::tcgetattr;
use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;

/// A pseudo terminal: the end that is read and written here, and the name of the other, which stays open.
fn terminal() -> (File, String, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let name = name.into_string().unwrap();
    let open = File::options().read(true).write(true).open(&name).unwrap();
    (master.into(), name, open)
}

/// Passes bytes on, until one of the ends is closed.
fn pass_on(mut from: File, mut to: File) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
    });
}

/// The devices at both ends of a line.
fn line() -> [(String, File); 2] {
    let ends = [terminal(), terminal()];
    let [(first, ..), (second, ..)] = &ends;
    pass_on(first.try_clone().unwrap(), second.try_clone().unwrap());
    pass_on(second.try_clone().unwrap(), first.try_clone().unwrap());
    ends.map(|(_, name, open)| (name, open))
}

#[test]
fn a_program_is_run_over_a_serial_line() {
    let Some(gdbserver) = stub_program("DAPPLE_GDBSERVER", &["gdbserver"], "--version") else {
        return;
    };
    let program = Program::compile(COUNTS);
    let [(near, near_end), (far, _far_end)] = line();
    let mut command = Command::new(gdbserver);
    command.args(["--once", &far]).arg(&program.path);
    let (_process, _) = start_until(&mut command, "Remote debugging using");
    // The client's end is still as a user's terminal: with lines, echo and signals at 0x03.
    let address: Address = format!("{near}@38400").parse().unwrap();
    let connection = Connection::connect(&address, LONG).unwrap();
    assert_eq!(tcgetattr(&near_end).unwrap().output_speed(), 38400);
    let mut client = Client::start_with(connection, LONG).unwrap();
    assert!(matches!(client.stop_reason(), Ok(StopReply::Stopped(_))));
    let (count, counter) = ["count", "counter"]
        .map(|name| program.address(name, &mut client))
        .into();
    let kind = BreakpointKind::Software;
    let inserted = client.insert_breakpoint(kind, count, 1);
    assert_eq!(inserted.unwrap(), Support::Done);
    client.resume_all().unwrap();
    stop(&mut client);
    assert_eq!(word(&mut client, counter), 0);
    let removed = client.remove_breakpoint(kind, count, 1);
    assert_eq!(removed.unwrap(), Support::Done);
    client.resume_all().unwrap();
    let ended = end(&mut client);
    assert!(matches!(ended, StopReply::Exited { status: 3, .. }));
}

#[test]
fn what_is_no_serial_line_is_told_by_its_name() {
    for (device, why) in [
        ("/dev/null", "ioctl"),
        ("/dev/there_is_no_such", "No such file"),
    ] {
        let address: Address = device.parse().unwrap();
        let refused = Connection::connect(&address, LONG);
        let Err(error @ Error::Io { .. }) = refused else {
            panic!("{device}: {refused:?}");
        };
        let text = error.to_string();
        assert!(text.contains(device) && text.contains(why), "{text}");
    }
}
