//! Exception breakpoints cost nothing when they are off, and leave no breakpoint sites behind.

use crate::support;
use crate::support::{Debuggee, fixture};
use dapple_engine::event::{ExceptionKind, ExitStatus, StopReason};
use dapple_engine::exceptions::{ExceptionFilters, Patterns};
use dapple_engine::session::Leave;
use dapple_engine::{Address, Event};
use std::os::unix::fs::FileExt;

fn all() -> ExceptionFilters {
    let every = Some(Patterns::default());
    ExceptionFilters {
        cpp_throw: every.clone(),
        cpp_catch: every.clone(),
        cpp_user_unhandled: None,
        cpp_uncaught: every.clone(),
        rust_panic: every.clone(),
        rust_uncaught: every.clone(),
        task_cancelled: every.clone(),
        future_dropped: every.clone(),
        sanitizers: every,
    }
}

/// The byte in the program's memory, including inserted breakpoints.
fn byte(pid: i32, at: Address) -> u8 {
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).expect("its memory");
    let mut byte = [0];
    memory.read_exact_at(&mut byte, at.0).expect("a byte");
    byte[0]
}

const PLACES: [&str; 2] = ["__cxa_throw", "__cxa_begin_catch"];
const TRAP: u8 = 0xcc;

#[test]
fn nothing_is_inserted_unless_somebody_wants_to_stop_and_then_only_as_long() {
    let fixture = fixture("throws.cpp", &["-static"]);
    let mut debuggee = fixture.launch_with(&["numbers"]);
    let pid = debuggee.session().process().pid;
    let bytes = |debuggee: &Debuggee<'_>| PLACES.map(|name| byte(pid, debuggee.symbol(name)));
    let own = bytes(&debuggee);
    assert!(!own.contains(&TRAP));
    let set = |debuggee: &Debuggee<'_>, filters| {
        debuggee
            .session()
            .set_exception_filters(filters)
            .expect("it is there");
    };
    let uncaught = ExceptionFilters {
        cpp_uncaught: Some(Patterns::default()),
        ..ExceptionFilters::default()
    };
    let throws = ExceptionFilters {
        cpp_throw: Some(Patterns::default()),
        ..ExceptionFilters::default()
    };
    set(&debuggee, uncaught);
    assert_eq!(
        bytes(&debuggee),
        own,
        "what is thrown and caught costs nothing"
    );
    set(&debuggee, throws);
    assert_eq!(bytes(&debuggee), [TRAP, own[1]], "catches are nobody's");
    set(&debuggee, all());
    assert_eq!(bytes(&debuggee), [TRAP, TRAP]);
    set(&debuggee, ExceptionFilters::default());
    assert_eq!(bytes(&debuggee), own);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

#[test]
fn a_program_that_is_left_at_a_throw_has_its_own_bytes_and_goes_on() {
    let fixture = fixture("throws.cpp", &["-static"]);
    let mut debuggee = fixture.launch_with(&["numbers"]);
    debuggee
        .session()
        .set_exception_filters(all())
        .expect("it is there");
    let pid = debuggee.session().process().pid;
    let places = PLACES.map(|name| debuggee.symbol(name));
    debuggee.resume();
    let stops = debuggee.expect_stop();
    let StopReason::Exception {
        kind, description, ..
    } = &stops[0].reason
    else {
        panic!("{stops:?}")
    };
    assert_eq!(*kind, ExceptionKind::Throw);
    assert!(
        description.starts_with("int: 42 (thrown, numbers"),
        "{description}"
    );
    assert_eq!(places.map(|at| byte(pid, at)), [TRAP, TRAP]);
    // Sent SIGSTOP, so that the process can still be inspected after detaching.
    let stopped = std::process::Command::new("kill")
        .args(["-STOP", &pid.to_string()])
        .status();
    assert!(stopped.expect("it runs").success());
    debuggee.take_session().leave(Leave::Detach);
    assert!(!places.map(|at| byte(pid, at)).contains(&TRAP));
    let gone = std::process::Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    assert!(gone.expect("it runs").success());
}

#[test]
fn a_panic_that_aborts_is_told_and_so_is_its_abort() {
    let fixture = fixture("panics.rs", &["-C", "panic=abort"]);
    let mut debuggee = fixture.launch_with(&["caught", "unwrap"]);
    debuggee
        .session()
        .set_exception_filters(all())
        .expect("it is there");
    debuggee.resume();
    let stops = debuggee.expect_stop();
    let StopReason::Exception {
        kind, description, ..
    } = &stops[0].reason
    else {
        panic!("{stops:?}")
    };
    assert_eq!(*kind, ExceptionKind::Panic);
    let place = format!("panics.rs:{}:", fixture.line("unwrap"));
    assert!(description.contains(&place), "{description}");
    assert!(
        !description.contains("catches it"),
        "nothing can: {description}"
    );
    debuggee.resume();
    let stops = debuggee.expect_stop();
    let StopReason::Signal { number, .. } = &stops[0].reason else {
        panic!("{stops:?}")
    };
    assert_eq!(*number, libc::SIGABRT);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Signal(libc::SIGABRT));
}

#[test]
fn threads_that_throw_and_catch_at_once_each_stop_each_time() {
    let text = r#"
#include <thread>
#include <vector>
static void work(int rounds) {
    for (int i = 0; i < rounds; i++)
        try { throw i; } catch (int) {}
}
int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back(work, 20);
    for (auto &thread : threads) thread.join();
    return 0;
}
"#;
    let fixture = support::inline("throwers.cpp", text, &[]);
    let mut debuggee = fixture.launch();
    let throws = ExceptionFilters {
        cpp_throw: Some(Patterns::default()),
        ..ExceptionFilters::default()
    };
    debuggee
        .session()
        .set_exception_filters(throws)
        .expect("it is there");
    let mut seen = 0;
    debuggee.resume();
    loop {
        match debuggee.next_event() {
            Event::Stopped(stops) => {
                for stop in &stops {
                    assert!(
                        matches!(stop.reason, StopReason::Exception { .. }),
                        "{stop:?}"
                    );
                    let exception = debuggee
                        .session()
                        .exception(stop.thread)
                        .expect("it stands");
                    let exception = exception.expect("it has one");
                    assert_eq!(exception.id, "int");
                    seen += 1;
                }
                debuggee.resume();
            }
            Event::Exited(status) => {
                assert_eq!(status, ExitStatus::Code(0));
                break;
            }
            _ => {}
        }
    }
    assert_eq!(seen, 80);
}
