//! A debuggee whose tracer is the thread that started the session.

use crate::support::inline;
use crossbeam_channel::{Receiver, unbounded};
use dapple_engine::debug_info::DebugInfoOptions;
use dapple_engine::event::{ExitStatus, StopReason, Stream};
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::{FunctionBreakpoint, Keep, Leave, Waker};
use dapple_engine::{Error, Event, Session};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TALKING: &str = r#"
#include <stdio.h>
#include <unistd.h>
int work(int n) { return n * 2; }
int main(void) {
    write(1, "begun\n", 6);
    int sum = work(2) + work(3);
    write(1, "done\n", 5);
    for (;;) pause();
    return sum;
}
"#;

/// Computes for a while between two functions.
const COMPUTING: &str = r#"
volatile long sum;
void first(void) { sum = 1; }
void last(void) { sum = 2; }
int main(void) {
    first();
    for (long i = 0; i < 100000000; i++) __asm__ volatile("");
    last();
    return 0;
}
"#;

struct Kept {
    session: Session,
    waker: Arc<Waker>,
    events: Receiver<Event>,
    written: Vec<u8>,
}

impl Kept {
    fn launch() -> Kept {
        Kept::launched(LaunchOptions {
            program: inline("talking.c", TALKING, &[]).binary,
            ..LaunchOptions::default()
        })
    }

    fn launched(options: LaunchOptions) -> Kept {
        let waker = Arc::new(Waker::default());
        let (sender, events) = unbounded();
        let keep = Keep::Here(Arc::clone(&waker));
        Kept {
            session: Session::launch_kept(options, DebugInfoOptions::default(), sender, keep)
                .unwrap(),
            waker,
            events,
            written: Vec::new(),
        }
    }

    /// Handles the debuggee's events until `wanted` accepts one. `None` if there is nothing to handle before that.
    fn until(&mut self, wanted: impl Fn(&Event, &[u8]) -> bool) -> Option<Event> {
        loop {
            while let Ok(event) = self.events.try_recv() {
                if let Event::Output { stream, bytes } = &event {
                    assert_eq!(*stream, Stream::Stdout);
                    self.written.extend_from_slice(bytes);
                }
                if wanted(&event, &self.written) {
                    return Some(event);
                }
            }
            if !self.session.attend() {
                return None;
            }
        }
    }
}

fn is_stop(event: &Event, _: &[u8]) -> bool {
    matches!(event, Event::Stopped(_))
}

#[test]
fn its_thread_sees_stops_output_and_the_end_by_attending() {
    let mut kept = Kept::launch();
    let work = FunctionBreakpoint {
        name: "work".into(),
        ..Default::default()
    };
    let set = kept.session.set_function_breakpoints(vec![work]).unwrap();
    for _ in 0..2 {
        kept.session.resume().unwrap();
        let Some(Event::Stopped(stops)) = kept.until(is_stop) else {
            panic!("no stop")
        };
        assert_eq!(stops[0].reason, StopReason::Breakpoint(vec![set[0].id]));
        assert_eq!(
            kept.session
                .stack(stops[0].thread, 0..1)
                .unwrap()
                .frames
                .len(),
            1
        );
        assert_eq!(kept.written, b"begun\n", "told before the stop");
    }
    kept.session.resume().unwrap();
    // The program runs, and its output wakes the thread that waits.
    kept.until(|_, written| written.ends_with(b"done\n"))
        .expect("the output");
    kept.session.pause(None).unwrap();
    kept.until(is_stop).expect("a stop");
    kept.session.terminate(libc::SIGTERM).unwrap();
    let end = kept.until(|event, _| matches!(event, Event::Exited(_)));
    let Some(Event::Exited(status)) = end else {
        panic!("no end")
    };
    assert_eq!(status, ExitStatus::Signal(libc::SIGTERM));
    assert!(!kept.session.attend(), "nothing is left to attend to");
    assert!(matches!(kept.session.resume(), Err(Error::Ended)));
}

#[test]
fn a_wake_up_from_another_thread_ends_the_waiting() {
    let mut kept = Kept::launch();
    kept.session.resume().unwrap();
    kept.until(|_, written| written.ends_with(b"done\n"))
        .expect("the output");
    let (sender, orders) = unbounded();
    let waker = Arc::clone(&kept.waker);
    let other = std::thread::spawn(move || {
        for number in 0..1000 {
            sender.send(number).unwrap();
            waker.wake();
        }
    });
    let mut came = Vec::new();
    while came.len() < 1000 {
        came.extend(orders.try_iter());
        // A lost wake-up would wait forever, because the program sleeps.
        if came.len() < 1000 {
            assert!(kept.session.attend());
        }
    }
    other.join().unwrap();
    assert!(came.iter().copied().eq(0..1000));
    kept.session.leave(Leave::Kill);
}

#[test]
fn another_thread_is_refused_and_dropping_it_leaves_nothing_behind() {
    let kept = Kept::launch();
    let process = kept.session.process().pid;
    let session = &kept.session;
    let error = std::thread::scope(|scope| {
        let other = scope.spawn(move || session.resume());
        other.join().unwrap().unwrap_err()
    });
    assert!(error.to_string().contains("another thread"), "{error}");
    drop(kept);
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
}

/// Whether a process that runs this program runs code.
fn is_running(program: &Path) -> bool {
    let runs = |folder: PathBuf| {
        let is_meant = std::fs::read_link(folder.join("exe")).is_ok_and(|exe| exe == program);
        let stat = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
        is_meant && stat.contains(") R ")
    };
    let all = std::fs::read_dir("/proc").expect("all processes");
    all.flatten().any(|process| runs(process.path()))
}

#[test]
fn a_pause_while_the_past_comes_to_the_present_stops_in_the_present() {
    let program = inline("computing.c", COMPUTING, &[]).binary;
    let mut kept = Kept::launched(LaunchOptions {
        program: program.clone(),
        record: true,
        ..LaunchOptions::default()
    });
    let wanted = ["first", "last"].map(|name| FunctionBreakpoint {
        name: name.into(),
        ..Default::default()
    });
    kept.session
        .set_function_breakpoints(wanted.into())
        .unwrap();
    let mut present = None;
    for _ in 0..2 {
        kept.session.resume().unwrap();
        present = kept.until(is_stop);
    }
    let Some(Event::Stopped(stops)) = present else {
        panic!("no stop")
    };
    let present = stops[0].clone();
    kept.session.reverse(present.thread).unwrap();
    kept.until(is_stop).expect("a stop in the past");
    kept.session.set_function_breakpoints(Vec::new()).unwrap();
    kept.session.resume().unwrap();
    // Only lets the copy run. It comes to the present before anybody waits for it.
    kept.waker.wake();
    kept.session.attend();
    while is_running(&program) {
        std::thread::yield_now();
    }
    kept.session.pause(None).unwrap();
    let Some(Event::Stopped(stops)) = kept.until(is_stop) else {
        panic!("no stop")
    };
    assert_eq!(stops[0].reason, StopReason::Pause);
    assert_eq!(stops[0].address, present.address);
    let stack = kept.session.stack(present.thread, 0..1);
    assert_eq!(stack.expect("it is stopped").frames.len(), 1);
    assert!(!is_running(&program));
    kept.session.leave(Leave::Kill);
}
