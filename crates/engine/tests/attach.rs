//! Running processes: attaching, inspecting, and detaching without a trace.

use crate::support::running::{Running, changed_text, kill, wait_until_stopped};
use crate::support::{Debuggee, Fixture, fixture};
use dapple_engine::attach::AttachOptions;
use dapple_engine::event::StopReason;
use dapple_engine::processes::{self, Awaited};
use dapple_engine::session::Leave;
use dapple_engine::{Error, Event, Session};

fn server() -> Fixture {
    fixture("server.c", &[])
}

fn options(process: i32) -> AttachOptions {
    AttachOptions {
        process,
        ..AttachOptions::default()
    }
}

fn attach<'a>(fixture: &'a Fixture, running: &Running) -> Debuggee<'a> {
    fixture.attach(options(running.pid()))
}

fn refusal(process: i32) -> String {
    let (sender, _events) = crossbeam_channel::unbounded();
    match Session::attach(options(process), sender) {
        Err(error @ Error::Attach { .. }) => error.to_string(),
        other => panic!("attached to {process}: {other:?}"),
    }
}

#[test]
fn a_process_is_stopped_looked_at_and_let_go_unharmed() {
    let fixture = server();
    let mut running = Running::start(&fixture.binary, &[]);
    let mut debuggee = attach(&fixture, &running);
    debuggee.break_at(&["work"]);
    let mut modules = debuggee.session().modules().unwrap();
    assert_eq!(modules.remove(0).path, fixture.binary);
    let has_libc =
        |m: &dapple_engine::modules::ModuleInfo| m.path.to_string_lossy().contains("libc.so");
    assert!(modules.iter().any(has_libc), "{modules:?}");
    debuggee.resume();
    running.tell("work");
    let stop = debuggee.expect_stop().remove(0);
    assert_eq!(debuggee.place(stop.thread), "work");
    debuggee.resume();
    assert_eq!(running.line(), "worked 1");
    running.tell("work");
    debuggee.expect_stop();
    debuggee.take_session().leave(Leave::Detach);
    assert_eq!(running.line(), "worked 2");
    assert_eq!(running.ask("work"), "worked 3");
    assert_eq!(changed_text(running.pid()), Vec::<String>::new());
    assert_eq!(running.status("TracerPid"), "0");
}

#[test]
fn a_process_in_the_middle_of_exec_has_each_module_once() {
    let fixture = server();
    let running = Running::begin(&fixture.binary, &["restless"]);
    for round in 1..=40 {
        let mut debuggee = attach(&fixture, &running);
        let modules = debuggee.session().modules().unwrap();
        let mut paths: Vec<_> = modules.iter().map(|module| &module.path).collect();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), modules.len(), "round {round}: {modules:?}");
        debuggee.break_at(&["anew"]);
        assert_eq!(debuggee.run_to_breakpoint().1, "anew", "round {round}");
        debuggee.take_session().leave(Leave::Detach);
    }
}

#[test]
fn all_threads_are_there_and_stop() {
    let fixture = server();
    let mut running = Running::start(&fixture.binary, &[]);
    assert_eq!(running.ask("spawn 20"), "spawned");
    let mut debuggee = attach(&fixture, &running);
    assert_eq!(debuggee.session().threads().unwrap().len(), 21);
    debuggee.resume();
    debuggee.session().pause(None).unwrap();
    let stop = debuggee.expect_stop().remove(0);
    assert_eq!(stop.reason, StopReason::Pause);
    let threads = debuggee.session().threads().unwrap();
    for thread in &threads {
        debuggee.session().stack(thread.id, 0..1).unwrap();
    }
    let started = |e: &Event| matches!(e, Event::ThreadStarted(_));
    assert_eq!(debuggee.seen.iter().filter(|e| started(e)).count(), 21);
    debuggee.take_session().leave(Leave::Detach);
    assert_eq!(running.ask("work"), "worked 1");
}

#[test]
fn threads_that_are_born_meanwhile_are_taken_over_too() {
    let fixture = server();
    let mut running = Running::start(&fixture.binary, &[]);
    assert_eq!(running.ask("churn"), "churning");
    for round in 1..=20 {
        let mut debuggee = attach(&fixture, &running);
        debuggee.break_at(&["work", "mayfly"]);
        debuggee.resume();
        // An untraced thread would be killed by the breakpoint's trap, and the process with it.
        for _ in 0..5 {
            debuggee.expect_stop();
            debuggee.resume();
        }
        debuggee.take_session().leave(Leave::Detach);
        assert_eq!(running.ask("work"), format!("worked {round}"));
        assert_eq!(changed_text(running.pid()), Vec::<String>::new());
    }
}

#[test]
fn a_stopped_process_stays_stopped() {
    let fixture = server();
    let mut running = Running::start(&fixture.binary, &[]);
    let pid = running.pid();
    kill("-STOP", pid);
    wait_until_stopped(pid);
    let mut debuggee = attach(&fixture, &running);
    debuggee.break_at(&["work"]);
    debuggee.take_session().leave(Leave::Detach);
    assert_eq!(running.status("TracerPid"), "0");
    wait_until_stopped(pid);
    assert_eq!(changed_text(pid), Vec::<String>::new());
    kill("-CONT", pid);
    assert_eq!(running.ask("work"), "worked 1");
}

#[test]
fn dropping_the_session_lets_the_process_go() {
    let fixture = server();
    let mut running = Running::start(&fixture.binary, &[]);
    let mut debuggee = attach(&fixture, &running);
    debuggee.break_at(&["work"]);
    debuggee.resume();
    drop(debuggee);
    assert_eq!(running.ask("work"), "worked 1");
}

#[test]
fn what_cannot_be_attached_to_says_why() {
    let fixture = server();
    let running = Running::start(&fixture.binary, &[]);
    let first = attach(&fixture, &running);
    let own = std::process::id();
    for (process, part) in [
        (running.pid(), format!("process {own} (")),
        (0x3f_ffff, "there is no such process".into()),
        (-4, "there is no such process".into()),
        (own as i32, "this debugger itself".into()),
    ] {
        let sentence = refusal(process);
        assert!(sentence.contains(&part), "{sentence}");
    }
    drop(first);
}

#[test]
fn a_zombie_and_a_thread_are_told_apart_from_processes() {
    let fixture = server();
    let mut running = Running::start(&fixture.binary, &[]);
    assert_eq!(running.ask("spawn 1"), "spawned");
    let tasks = std::fs::read_dir(format!("/proc/{}/task", running.pid())).unwrap();
    let ids = tasks.map(|task| {
        task.unwrap()
            .file_name()
            .to_str()
            .unwrap()
            .parse::<i32>()
            .unwrap()
    });
    let thread = ids.max().unwrap();
    let sentence = refusal(thread);
    let part = format!("it is a thread of process {}", running.pid());
    assert!(sentence.contains(&part), "{sentence}");
    running.tell("quit 0");
    let zombie = || running.status("State").starts_with('Z') && running.status("Threads") == "1";
    while !zombie() {
        std::thread::yield_now();
    }
    let sentence = refusal(running.pid());
    assert!(sentence.contains("zombie"), "{sentence}");
}

#[test]
fn processes_are_found_by_name_and_as_they_start() {
    let fixture = server();
    let name = fixture.binary.file_name().unwrap().to_str().unwrap();
    let copy = fixture
        .binary
        .with_file_name(format!("{name}-to-be-found-{}", std::process::id()));
    // The copy is made by another process: a file that this process has open for writing is inherited by children that other tests fork in
    // the meantime, and executing it fails with ETXTBSY until they close it (execve(2)).
    let copied = std::process::Command::new("cp")
        .args([&fixture.binary, &copy])
        .status();
    assert!(copied.unwrap().success());
    let copy = Fixture::of(copy);
    let name = copy
        .binary
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(processes::named(&name), []);
    let first = Running::start(&copy.binary, &["one"]);
    let found = processes::named(&name);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].pid, first.pid());
    assert!(found[0].command.ends_with(" one"), "{found:?}");
    let awaited = Awaited::called(&copy.binary.display().to_string());
    assert_eq!(awaited.wait(|_| false), None);
    let pause = |time| {
        std::thread::park_timeout(time);
        true
    };
    let second = Running::start(&copy.binary, &[]);
    let found = awaited.wait(pause);
    assert_eq!(found.map(|p| p.pid), Some(second.pid()));
    std::fs::remove_file(&copy.binary).unwrap();
}
