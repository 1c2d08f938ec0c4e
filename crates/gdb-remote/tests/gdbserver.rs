//! gdbserver, over TCP and on its standard input and output. `DAPPLE_GDBSERVER` names the program, which then has to be there.

use crate::programs::{
    COUNTS, ENDLESS, LONG, Program, StubProcess, THREADS, client, end, last_part, register,
    start_until, stop, stub_program, word,
};
use dapple_gdb_remote::client::{BreakpointKind, Client, Launched, Syscalls};
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::error::{StubError, Support};
use dapple_gdb_remote::features::Feature;
use dapple_gdb_remote::resume::{Action, Resume};
use dapple_gdb_remote::signal::Signal;
use dapple_gdb_remote::stop_reply::{Access, Reason, StopReply};
use dapple_gdb_remote::{Address, Connection, Error};
use std::ffi::OsString;
use std::process::Command;

fn gdbserver() -> Option<OsString> {
    stub_program("DAPPLE_GDBSERVER", &["gdbserver"], "--version")
}

/// Over a TCP port that the system chooses, which gdbserver writes.
fn over_tcp(program: &Program) -> Option<(StubProcess, Client)> {
    let mut command = Command::new(gdbserver()?);
    command.args(["--once", "localhost:0"]).arg(&program.path);
    let (process, line) = start_until(&mut command, "Listening on port");
    let port = line.rsplit(' ').next().unwrap().parse().unwrap();
    let address = Address::Tcp("localhost".to_owned(), port);
    let connection = Connection::connect(&address, LONG).unwrap();
    Some((process, client(connection)))
}

/// On the stub's standard input and output.
fn over_pipes(program: &Program) -> Option<Client> {
    let stub = gdbserver()?.into_string().unwrap();
    let command = format!(
        "exec {stub} --once - {} 2>/dev/null",
        program.path.display()
    );
    let connection = Connection::connect(&Address::Command(command), LONG).unwrap();
    Some(client(connection))
}

#[test]
fn gdbserver_is_asked_for_all_that_it_knows() {
    let program = Program::compile(COUNTS);
    let Some((_process, mut client)) = over_tcp(&program) else {
        return;
    };
    for feature in [
        Feature::NoAckMode,
        Feature::Multiprocess,
        Feature::ReadAuxv,
        Feature::ReadThreads,
        Feature::SoftwareBreakpointStops,
        Feature::ConditionalBreakpoints,
    ] {
        assert!(client.features().has(feature), "{}", feature.name());
    }
    let StopReply::Stopped(first) = client.stop_reason().unwrap() else {
        panic!("not stopped")
    };
    assert_eq!(first.signal, Signal::Trap);
    let thread = first.thread.unwrap();
    assert_eq!(client.current_thread().unwrap(), Some(thread));
    let threads = client.threads().unwrap().unwrap();
    assert_eq!(threads.len(), 1);
    assert_eq!(threads[0].id, thread);
    assert_eq!(threads[0].name.as_deref(), Some("program"));
    assert!(threads[0].core.is_some());
    assert!(client.is_alive(thread).unwrap());
    let process = thread.process_number();
    assert_eq!(client.launched(process).unwrap(), Some(Launched::ByStub));
    let path = client.exec_file(process).unwrap().unwrap();
    assert_eq!(last_part(&path), "program");
    let description = client.description().unwrap().unwrap();
    assert_eq!(description.architecture.as_deref(), Some("i386:x86-64"));
    assert_eq!(client.choose_thread(thread).unwrap(), Support::Done);
    let all = client.read_registers().unwrap();
    assert_eq!(all.len(), description.registers_size());
    assert_eq!(client.read_register(0).unwrap(), None, "it has no `p`");
    let known: Vec<u8> = all.iter().map(|byte| byte.unwrap_or_default()).collect();
    assert_eq!(client.write_registers(&known).unwrap(), Support::Done);
    let xmm = description.register("xmm0").unwrap();
    assert_eq!(description.type_of(xmm).unwrap().bits, Some(128));
    let help = client.monitor(b"help").unwrap().unwrap();
    assert!(String::from_utf8_lossy(&help).contains("set debug"));
    assert!(client.monitor(b"no such command").is_err());
    assert_eq!(client.pass_signals(&[Signal::Chld]).unwrap(), Support::Done);
    assert_eq!(client.program_signals(&[]).unwrap(), Support::Done);
    assert_eq!(client.catch_threads().unwrap(), Support::Done);
    assert_eq!(client.ignore_threads().unwrap(), Support::Done);
    assert_eq!(client.offer_symbols(|_| None).unwrap(), Support::Done);
    let processes = client.osdata("processes").unwrap().unwrap();
    assert!(String::from_utf8_lossy(&processes).contains("gdbserver"));
    assert_eq!(client.memory_map().unwrap(), None);
    client.kill(process).unwrap();
}

#[test]
fn gdbserver_stops_at_breakpoints_and_watchpoints_and_steps() {
    let program = Program::compile(COUNTS);
    let Some(mut client) = over_pipes(&program) else {
        return;
    };
    client.stop_reason().unwrap();
    let main = program.address("main", &mut client);
    let counter = program.address("counter", &mut client);
    let support = client.insert_breakpoint(BreakpointKind::Software, main, 1);
    assert_eq!(support.unwrap(), Support::Done);
    client.resume_all().unwrap();
    let hit = stop(&mut client);
    assert_eq!(hit.reason, Some(Reason::SoftwareBreakpoint));
    let thread = hit.thread.unwrap();
    let _ = client.choose_thread(thread).unwrap();
    assert_eq!(register(&mut client, "rip"), main);
    let support = client.remove_breakpoint(BreakpointKind::Software, main, 1);
    assert_eq!(support.unwrap(), Support::Done);

    let libraries = client.svr_libraries().unwrap().unwrap();
    assert!(
        libraries
            .libraries
            .iter()
            .any(|it| it.path.contains("libc"))
    );
    let info = client.siginfo().unwrap().unwrap();
    assert_eq!(info[0], 5, "SIGTRAP in Linux's numbers");

    client.step(thread).unwrap();
    assert_eq!(stop(&mut client).signal, Signal::Trap);
    let _ = client.choose_thread(thread).unwrap();
    assert!((main + 1..main + 16).contains(&register(&mut client, "rip")));

    let support = client.insert_breakpoint(BreakpointKind::WriteWatchpoint, counter, 4);
    assert_eq!(support.unwrap(), Support::Done);
    for count in 1..=2 {
        client.resume_all().unwrap();
        assert_eq!(
            stop(&mut client).reason,
            Some(Reason::Watchpoint {
                access: Access::Write,
                address: counter
            })
        );
        assert_eq!(word(&mut client, counter), count);
    }
    let support = client.remove_breakpoint(BreakpointKind::WriteWatchpoint, counter, 4);
    assert_eq!(support.unwrap(), Support::Done);
    client.resume_all().unwrap();
    assert!(matches!(
        end(&mut client),
        StopReply::Exited { status: 3, .. }
    ));
}

#[test]
fn gdbserver_reads_and_writes_memory_in_pieces() {
    let program = Program::compile(
        "char buffer[100000]; int main(int argc, char **argv) { return argc + buffer[9]; }",
    );
    let Some(mut client) = over_pipes(&program) else {
        return;
    };
    client.stop_reason().unwrap();
    let buffer = program.address("buffer", &mut client);
    let bytes: Vec<u8> = (0..100_000_u32).map(|it| (it * 7) as u8).collect();
    assert_eq!(client.write_memory(buffer, &bytes).unwrap(), bytes.len());
    let mut read = vec![0; bytes.len()];
    assert_eq!(client.read_memory(buffer, &mut read).unwrap(), bytes.len());
    assert!(read == bytes);
    let error = client.read_memory(8, &mut read).unwrap_err();
    assert!(matches!(
        error,
        Error::Stub {
            error: StubError::Number(_),
            ..
        }
    ));
    // Memory ends somewhere behind the buffer.
    let mut far = vec![0; 32 << 20];
    let count = client.read_memory(buffer, &mut far).unwrap();
    assert!((100_000..far.len()).contains(&count), "{count}");

    let file = client.open(program.path.as_os_str().as_encoded_bytes());
    let file = file.unwrap().unwrap();
    let on_disk = std::fs::read(&program.path).unwrap();
    let status = client.file_status(file).unwrap().unwrap();
    assert_eq!(status.size, on_disk.len() as u64);
    let mut read = vec![0; on_disk.len() + 10];
    let count = client.read_file(file, 0, &mut read).unwrap();
    assert!(read[..count] == on_disk);
    assert_eq!(client.close(file).unwrap(), Support::Done);
    let error = client.open(b"/no/such/file").unwrap_err();
    assert!(matches!(
        error,
        Error::Stub {
            error: StubError::File(2),
            ..
        }
    ));
    let target = client.read_link(b"/proc/self/exe").unwrap().unwrap();
    assert_eq!(last_part(&target), "gdbserver");
    client.kill(None).unwrap();
}

#[test]
fn gdbserver_shows_all_threads() {
    let program = Program::compile(THREADS);
    let Some((_process, mut client)) = over_tcp(&program) else {
        return;
    };
    client.stop_reason().unwrap();
    let meet = program.address("meet", &mut client);
    let support = client.insert_breakpoint(BreakpointKind::Software, meet, 1);
    assert_eq!(support.unwrap(), Support::Done);
    client.resume_all().unwrap();
    let hit = stop(&mut client);
    assert_eq!(hit.reason, Some(Reason::SoftwareBreakpoint));
    let threads = client.threads().unwrap().unwrap();
    assert_eq!(threads.len(), 4);
    for thread in &threads {
        assert_eq!(client.choose_thread(thread.id).unwrap(), Support::Done);
        let here = register(&mut client, "rip") == meet;
        assert_eq!(here, Some(thread.id) == hit.thread);
    }
    // One thread steps over a range while the others stand still.
    let support = client.remove_breakpoint(BreakpointKind::Software, meet, 1);
    assert_eq!(support.unwrap(), Support::Done);
    assert!(client.actions().unwrap().has('r'));
    client
        .resume(&[Resume {
            action: Action::StepRange {
                start: meet,
                end: meet + 1,
            },
            threads: hit.thread,
        }])
        .unwrap();
    assert_eq!(stop(&mut client).thread, hit.thread);
    client.resume_all().unwrap();
    assert!(matches!(
        end(&mut client),
        StopReply::Exited { status: 0, .. }
    ));
}

#[test]
fn gdbserver_is_interrupted_and_stops_at_system_calls() {
    let program = Program::compile(ENDLESS);
    let Some((_process, mut client)) = over_tcp(&program) else {
        return;
    };
    client.stop_reason().unwrap();
    // The program's start makes system calls.
    let support = client.catch_syscalls(Syscalls::All);
    assert_eq!(support.unwrap(), Support::Done);
    client.resume_all().unwrap();
    // gdbserver 13 takes the first entry for a return, and so on: it began to count when the shell had started the program.
    let mut reasons = Vec::new();
    for _ in 0..2 {
        reasons.push(stop(&mut client).reason.unwrap());
        client.resume_all().unwrap();
    }
    match reasons.as_slice() {
        [Reason::SyscallEntry(first), Reason::SyscallReturn(second)]
        | [Reason::SyscallReturn(first), Reason::SyscallEntry(second)] => {
            assert_eq!(first, second);
        }
        other => panic!("{other:?}"),
    }
    stop(&mut client);
    let support = client.catch_syscalls(Syscalls::None);
    assert_eq!(support.unwrap(), Support::Done);

    let handle = client.handle();
    client.resume_all().unwrap();
    let other = std::thread::spawn(move || handle.interrupt());
    assert_eq!(stop(&mut client).signal, Signal::Int);
    other.join().unwrap();
    client.kill(None).unwrap();
}

#[test]
fn gdbserver_starts_programs_and_attaches_in_extended_mode() {
    let Some(stub) = gdbserver() else {
        return;
    };
    let program = Program::compile(ENDLESS);
    let mut command = Command::new(stub);
    command.args(["--once", "--multi", "localhost:0"]);
    let (_process, line) = start_until(&mut command, "Listening on port");
    let port = line.rsplit(' ').next().unwrap();
    let address: Address = format!("localhost:{port}").parse().unwrap();
    let mut client = client(Connection::connect(&address, LONG).unwrap());
    assert!(matches!(client.stop_reason(), Ok(StopReply::Exited { .. })));
    assert_eq!(client.extend().unwrap(), Support::Done);
    let path = program.path.as_os_str().as_encoded_bytes();
    let StopReply::Stopped(first) = client.start_program(path, &[b"x"], after(LONG)).unwrap()
    else {
        panic!("not stopped")
    };
    let started = first.thread.unwrap().process_number();
    client.kill(started).unwrap();

    let running = StubProcess(Command::new(&program.path).spawn().unwrap());
    let id = u64::from(running.0.id());
    let StopReply::Stopped(attached) = client.attach(id, after(LONG)).unwrap() else {
        panic!("not stopped")
    };
    assert_eq!(attached.thread.unwrap().process_number(), Some(id));
    assert_eq!(client.launched(Some(id)).unwrap(), Some(Launched::Before));
    assert_eq!(client.detach(Some(id)).unwrap(), Support::Done);

    let missing = client.start_program(b"/no/such/program", &[], after(LONG));
    assert!(matches!(missing, Err(Error::Stub { .. })), "{missing:?}");
    // gdbserver 13 ends with a program that could not be started.
    let next = client.stop_reason();
    assert!(
        matches!(
            next,
            Ok(StopReply::Exited { .. }) | Err(Error::Closed { .. })
        ),
        "{next:?}"
    );
}

#[test]
fn gdbserver_decides_conditions_of_breakpoints() {
    let program = Program::compile(COUNTS);
    let Some(mut client) = over_pipes(&program) else {
        return;
    };
    client.stop_reason().unwrap();
    let main = program.address("main", &mut client);
    let count = program.address("count", &mut client);
    // `const8 N; end` in the bytecode of gdb's agents.
    for (address, value, stops) in [(main, 1, true), (count, 0, false)] {
        let condition: &[u8] = &[0x22, value, 0x27];
        let support = client.insert_conditional_breakpoint(
            BreakpointKind::Software,
            address,
            1,
            &[condition],
        );
        assert_eq!(support.unwrap(), Support::Done);
        client.resume_all().unwrap();
        match end(&mut client) {
            StopReply::Stopped(_) => assert!(stops),
            StopReply::Exited { status, .. } => assert!(!stops && status == 3),
            other => panic!("{other:?}"),
        }
        if stops {
            // Else it would stop again at once: stepping over a breakpoint is the client's work.
            let support = client.remove_breakpoint(BreakpointKind::Software, address, 1);
            assert_eq!(support.unwrap(), Support::Done);
        }
    }
}
