//! Expressions that call functions of the program.

use crate::support::{Debuggee, Fixture, fixture, inline, listing};
use dapple_engine::calls::{CallOptions, CallThreads};
use dapple_engine::event::{ExitStatus, StopReason, Stream};
use dapple_engine::frame::FrameId;
use dapple_engine::launch::{LaunchOptions, Stdin};
use dapple_engine::session::FunctionBreakpoint;
use dapple_engine::session::assigning::Changed;
use dapple_engine::{Event, Session, ThreadId};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An expression's value as text, or the error.
fn called(session: &Session, frame: FrameId, expression: &str) -> String {
    called_with(session, frame, expression, &CallOptions::default())
}

fn called_with(
    session: &Session,
    frame: FrameId,
    expression: &str,
    options: &CallOptions,
) -> String {
    match session.evaluate_calling(expression, Some(frame), options).0 {
        Ok((_, rendered)) => listing::mask(&rendered.text),
        Err(error) => format!("error: {error}"),
    }
}

/// Stops at a marked line, and checks the value or error of each expression.
fn check(debuggee: &mut Debuggee<'_>, stop: &str, expected: &[(&str, &str)]) -> ThreadId {
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let mut wrong = Vec::new();
    for (expression, text) in expected {
        let found = called(session, frame, expression);
        if found != *text {
            wrong.push(format!(
                "{expression}\n  is       {found}\n  expected {text}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    thread
}

/// Waits until the program's output contains `last`.
fn read_output<'d>(debuggee: &'d mut Debuggee<'_>, last: &str) -> &'d str {
    while !debuggee.stdout.contains(last) {
        let event = debuggee.events.recv_timeout(Duration::from_secs(60));
        match event.expect("the program writes on") {
            Event::Output {
                stream: Stream::Stdout,
                bytes,
            } => debuggee.stdout.push_str(&String::from_utf8_lossy(&bytes)),
            event => debuggee.seen.push(event),
        }
    }
    &debuggee.stdout
}

/// Checks that the debugger has the same values as the program's output, of which each line is an expression and its value.
fn same_as_written(fixture: &Fixture, last: &str) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["ready"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let table = read_output(&mut debuggee, last).to_owned();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in table.lines().filter(|line| line.contains(" = ")) {
        let split = match line.find(" = {") {
            Some(at) => at,
            None => line.rfind(" = ").expect("an equals sign"),
        };
        let (expression, text) = (&line[..split], &line[split + 3..]);
        let found = called(session, frame, expression);
        count += 1;
        if found != text {
            wrong.push(format!(
                "{expression}\n  is       {found}\n  expected {text}"
            ));
        }
    }
    assert!(count > 10, "{table}");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn c_functions_return_to_the_debugger_what_they_return_to_the_program() {
    same_as_written(&fixture("called.c", &[]), "stays() =");
}

/// The text of all registers, and the stack around the stack pointer.
fn state(session: &Session, frame: FrameId) -> (String, Vec<u8>) {
    let registers = session.registers(frame).unwrap();
    let sp = session.evaluate("$rsp", Some(frame)).unwrap().1.text;
    let sp = match sp.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => sp.parse().unwrap(),
    };
    // Includes the red zone below the stack pointer.
    let memory = session
        .read_memory(dapple_engine::Address(sp - 128), 2048)
        .unwrap();
    (format!("{registers:#?}"), memory.bytes)
}

#[test]
fn a_thread_is_afterwards_as_before() {
    for flags in [&[][..], &["-O2"]] {
        let fixture = fixture("called.c", flags);
        let mut debuggee = fixture.launch();
        debuggee.break_at(&["registers", "after"]);
        let (thread, _) = debuggee.run_to_breakpoint();
        let session = debuggee.session();
        let frame = listing::innermost(session, thread);
        let before = state(session, frame);
        for (expression, text) in [
            ("scale(1.5, 2.0f, 3)", "9.0"),
            ("ten(1,2,3,4,5,6,7,8,9,10)", "1126.0"),
            ("precise(1.5) == 4.5", "true"),
            ("add(20, 3)", "23"),
            ("length(\"a text\")", "6"),
            (
                "crash(0)",
                "error: `crash` ran into SIGSEGV: read of address 0x0, a null pointer at called.c:96 in `crash`; the call was aborted: registers and stack are as before, what it has written to memory stays",
            ),
        ] {
            let found = called(session, frame, expression);
            let found = found.replace(&fixture.line("crash").to_string(), "96");
            assert_eq!(found, text, "{expression}");
            assert!(state(session, frame) == before, "{expression} changed it");
            // The frame id is unchanged.
            assert_eq!(listing::innermost(session, thread), frame);
        }
        let (_, place) = debuggee.run_to_breakpoint();
        assert_eq!(place, "after");
        debuggee.resume();
        assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
        let stdout = &debuggee.stdout;
        assert!(stdout.contains("kept 65432.0\ncalls 1\n"), "{stdout}");
    }
}

#[test]
fn calls_are_told_by_nothing_but_their_values() {
    let fixture = fixture("called.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["ready", "crash", "after"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    // Breakpoints in called functions don't stop.
    let frame = listing::innermost(debuggee.session(), thread);
    assert_eq!(called(debuggee.session(), frame, "crash(&count)"), "5");
    assert_eq!(
        called(debuggee.session(), frame, "add(1, crash(numbers))"),
        "4"
    );
    let session = debuggee.session();
    let (done, changed) = session.execute(
        "count = add(count, 1)",
        Some(frame),
        &CallOptions::default(),
    );
    assert_eq!(done.unwrap().1.text, "6");
    assert!(changed.called && !changed.memory.is_empty() && !changed.moved);
    let (done, changed) = session.execute(
        "*pick(&count, 0) += add(1, 2)",
        Some(frame),
        &CallOptions::default(),
    );
    assert_eq!(done.unwrap().1.text, "9");
    assert!(changed.called);
    assert_eq!(
        called(session, frame, "set(&count, 42)"),
        "<it returns nothing>"
    );
    assert_eq!(called(session, frame, "count"), "42");
    let (done, changed) = session.evaluate_calling("count", Some(frame), &CallOptions::default());
    assert!(done.is_ok() && changed == Changed::default());
    let stops: Vec<_> = debuggee
        .events
        .try_iter()
        .filter(|event| !matches!(event, Event::Output { .. }))
        .collect();
    assert!(stops.is_empty(), "{stops:?}");
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "after");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert!(
        debuggee.stdout.contains("calls 3\ncount 42 jumped 0"),
        "{}",
        debuggee.stdout
    );
}

#[test]
fn what_is_no_call_says_why() {
    let fixture = fixture("called.c", &[]);
    let mut debuggee = fixture.launch();
    check(
        &mut debuggee,
        "ready",
        &[
            (
                "add(1)",
                "error: `add(int, int)` takes 2 arguments, and 1 is given",
            ),
            (
                "add(1, 2, 3)",
                "error: `add(int, int)` takes 2 arguments, and 3 are given",
            ),
            (
                "sum_of()",
                "error: `sum_of(int, ...)` takes 1 argument or more, and 0 are given",
            ),
            (
                "add(1, \"two\")",
                "error: column 8: `\"two\"` is a text, and an `int` is taken",
            ),
            (
                "add(1, here)",
                "error: column 8: `here` is no number, it is a `struct point`",
            ),
            (
                "add(1, 5000000000)",
                "error: column 8: 5000000000 does not fit an `int`, which holds -2147483648 to 2147483647",
            ),
            (
                "swap(count)",
                "error: column 6: it takes a `struct point`, and this is an `int`",
            ),
            (
                "length(numbers)",
                "error: column 8: `numbers` is an `int [5]`, and a `const char *` is taken; cast it",
            ),
            ("length((char *)numbers) > 0", "true"),
            ("addd(1, 2)", "error: `addd` is no function that is known"),
            ("count(1)", "error: `count` is no function, it is an `int`"),
            (
                "here.x(1)",
                "error: column 6: `here` has no function `x` that is known, it is a `struct point`",
            ),
            ("table[2 - 2](4)", "8"),
            ("(long)strtol(\"12\", 0, 10) + 1", "13"),
            ("(double)strtod(\"2.5\", 0)", "2.5"),
            (
                "bare(3, 4)",
                "error: nothing says what `bare` takes and returns, as it has no debug information; say what it returns: `(int)bare(…)`",
            ),
            ("(int)bare(3, 4) * 2", "14"),
            ("(void *)bare(4096, 0)", "0x1000"),
            ("(struct point *)bare(0, 0)", "0x0"),
            (
                "(struct large)bare(0, 0)",
                "error: column 9: a `large` can't be had without debug information",
            ),
            ("(char *)strchr(text, 't')", "0x… \"text\""),
            ("count ? add(1, 1) : jump()", "2"),
            ("count == 5 || spin()", "true"),
            (
                "sizeof(add(1, 2))",
                "error: column 7: functions are not called to be measured",
            ),
        ],
    );
    let session = debuggee.session();
    let frame = listing::innermost(session, session.threads().unwrap()[0].id);
    let pure = session.evaluate("add(1, 2)", Some(frame));
    let pure = pure.expect_err("nothing is called").to_string();
    assert!(
        pure.contains("column 4: functions are not called here"),
        "{pure}"
    );
}

#[test]
fn cpp_methods_and_overloads_are_those_that_the_compiler_takes() {
    same_as_written(&fixture("called.cpp", &[]), "that is all");
}

#[test]
fn rust_functions_and_methods_return_what_they_return_to_the_program() {
    same_as_written(&fixture("called.rs", &[]), "that is all");
}

const UNDONE: &str = "; the call was aborted: registers and stack are as before, what it has written to memory stays";
const COPIED: &str = "; the copy was killed: registers and stack are as before, what the function has written to memory stays";

#[test]
fn a_call_that_does_not_return_is_given_up_with_the_reason() {
    let fixture = fixture("called.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["ready", "after"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let before = state(session, frame);
    let short = CallOptions {
        time_limit: Duration::from_millis(100),
        ..CallOptions::default()
    };
    let is_asked = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_asked);
    let cancelled = CallOptions {
        cancelled: Some(Arc::new(move || asked.swap(true, Ordering::SeqCst))),
        ..CallOptions::default()
    };
    let usual = CallOptions::default();
    let at = |name: &str| format!(" at called.c:{} in `{name}`", fixture.line(name));
    for (expression, options, text) in [
        (
            "spin()",
            &short,
            format!("`spin` has not returned within 0.1 seconds{}", at("spin")),
        ),
        (
            "sleeps()",
            &short,
            format!(
                "`sleeps` has not returned within 0.1 seconds{}",
                at("sleeps")
            ),
        ),
        ("spin()", &cancelled, "`spin` was cancelled".to_owned()),
        (
            "jump()",
            &usual,
            format!("`jump` has jumped out (longjmp){}", at("jump")),
        ),
        (
            "divide(1, 0)",
            &usual,
            format!(
                "`divide` ran into SIGFPE: integer division by zero{}",
                at("divide")
            ),
        ),
        (
            "halts()",
            &usual,
            format!(
                "`halts` ran into SIGABRT: the program aborts{}",
                at("halts")
            ),
        ),
    ] {
        let found = called_with(session, frame, expression, options);
        assert_eq!(found, format!("error: {text}{UNDONE}"));
        assert!(state(session, frame) == before, "{expression} changed it");
    }
    let copied = "`forks` has made a copy of the process (fork)";
    assert_eq!(
        called(session, frame, "forks()"),
        format!("error: {copied}{}{COPIED}", at("forks"))
    );
    assert!(state(session, frame) == before, "forks() changed it");
    assert_eq!(called(session, frame, "signals_itself()"), "3");
    assert_eq!(called(session, frame, "handled == 10"), "true");
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "after");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    let end = "kept 65432.0\ncalls 0\ncount 5 jumped 0 handled 10\n";
    assert!(debuggee.stdout.ends_with(end), "{}", debuggee.stdout);
}

#[test]
fn a_program_that_ends_in_a_call_has_ended() {
    let fixture = fixture("called.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["ready"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = listing::innermost(debuggee.session(), thread);
    let found = called(debuggee.session(), frame, "leave(7)");
    assert_eq!(
        found,
        "error: `leave` was called, and the program has ended in it"
    );
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(7));
}

#[test]
fn a_program_that_is_replaced_in_a_call_is_shown_as_it_is_then() {
    let fixture = fixture("called.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["ready"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = listing::innermost(debuggee.session(), thread);
    let found = called(debuggee.session(), frame, "replaces(\"/bin/true\")");
    assert_eq!(
        found,
        "error: `replaces` was called, and has replaced the program by another"
    );
    debuggee.expect_stop();
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

#[test]
fn exceptions_that_leave_a_function_are_told_and_those_it_catches_are_not() {
    let fixture = fixture("called.cpp", &[]);
    let mut debuggee = fixture.launch();
    let at = format!(" at called.cpp:{} in `throws`", fixture.line("throw"));
    let thrown = format!(
        "has thrown std::runtime_error: more than three{at}, which nothing in it catches{UNDONE}"
    );
    let thread = check(
        &mut debuggee,
        "ready",
        &[
            ("throws(4)", &format!("error: `throws` {thrown}")),
            ("ends(4)", &format!("error: `ends` {thrown}")),
            ("catches(4)", "-1"),
            ("throws(3)", "3"),
            (
                "vague(1, 1)",
                "error: `vague` may mean several: `shapes::vague(long, int)`, `shapes::vague(int, long)`",
            ),
            (
                "pick(text)",
                "error: `pick` takes no such arguments; there are `shapes::pick(int)`, `shapes::pick(double)`, `shapes::pick(const char *)`, `shapes::pick(const shapes::Point &)`, `shapes::pick(int, int)`, `shapes::pick(shapes::Shape *)`",
            ),
            (
                "with_default(1)",
                "error: `shapes::with_default(int, int)` takes 2 arguments, and 1 is given (defaults are not known, they have to be written)",
            ),
            (
                "raise(5)",
                "error: column 7: `5` is no `int` in memory, and a reference to one is taken",
            ),
            ("raise(value)", "<it returns nothing>"),
            ("value", "21"),
            ("point.move(2).x", "5"),
            (
                "point.unused(2)",
                "error: `shapes::Point::unused` can't be called: it has no code of its own: it was inlined wherever it is called, or never called",
            ),
            (
                "point.sum",
                "error: column 7: `point` has no member `sum`; it has x, y",
            ),
            (
                "point.add(1)",
                "error: column 7: `point` has no function `add` that is known, it is a `shapes::Point`",
            ),
            (
                "Outer::add(1)",
                "error: `Outer::add` can't be called: it is a member function; call it on an object, `object.f()`",
            ),
        ],
    );
    debuggee.break_at(&["method", "after"]);
    debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    assert_eq!(called(session, frame, "add(10)"), "15");
    assert_eq!(called(session, frame, "this->add(here)"), "11");
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "after");
}

#[test]
fn rust_refuses_what_its_conventions_leave_open() {
    let fixture = fixture("called.rs", &[]);
    let mut debuggee = fixture.launch();
    let at = format!(
        " at called.rs:{} in `called::panics`",
        fixture.line("panic")
    );
    check(
        &mut debuggee,
        "ready",
        &[
            (
                "panics(7)",
                &format!(
                    "error: `called::panics` has panicked{at}: index out of bounds: the len is 3 but the index is 7{UNDONE}"
                ),
            ),
            ("catches(7)", "-1"),
            (
                "owned(owned_text)",
                "error: column 7: `owned_text` can't be passed: it would be moved, and dropped once more by the program; only references to it can be passed",
            ),
            ("length(&owned_text)", "5"),
            (
                "add(1)",
                "error: `called::add(i32, i32)` takes 2 arguments, and 1 is given",
            ),
            (
                "add(1, 2u8)",
                "error: column 8: it is an `i32`, the value a `u8`; write `as i32` behind it",
            ),
            ("count(1)", "error: `count` is no function, it is an `i32`"),
            (
                "point.len()",
                "error: column 7: `point` has no function `len` that is known, it is a `called::shapes::Point`",
            ),
            ("point.shift(2)", "5"),
            ("point.x", "5"),
            ("nothing(&mut count)", "<it returns nothing>"),
            ("count", "6"),
        ],
    );
}

/// A thread that is stopped within a system call restarts it after the calls.
#[test]
fn an_interrupted_system_call_goes_on_after_a_call() {
    let source = r#"
        #include <errno.h>
        #include <stdio.h>
        #include <time.h>
        #include <unistd.h>
        int twice(int n) { return 2 * n; }
        int spin(void) { for (volatile int i = 0;; i++) {} }
        int nap(void) { struct timespec long_time = {1000, 0}; return nanosleep(&long_time, 0); }
        int main(void) {
            char letters[8];
            struct timespec time = {0, 300000000}, rest;
            puts("waits"); fflush(stdout);
            ssize_t got = read(0, letters, sizeof letters);
            printf("read %zd %c\n", got, letters[0]);
            puts("sleeps"); fflush(stdout);
            int slept = nanosleep(&time, &rest);
            printf("slept %d %d\n", slept, slept ? errno : 0);
            return 0;
        }
    "#;
    let fixture = inline("restarted.c", source, &[]);
    let (input, output) = std::io::pipe().unwrap();
    let options = LaunchOptions {
        program: fixture.binary.clone(),
        stdin: Stdin::File(format!("/proc/{}/fd/{}", std::process::id(), input.as_raw_fd()).into()),
        ..LaunchOptions::default()
    };
    let mut debuggee = fixture.launch_options(options);
    let short = CallOptions {
        time_limit: Duration::from_millis(50),
        ..CallOptions::default()
    };
    for (begun, expected) in [("waits", "read"), ("sleeps", "sleep")] {
        debuggee.resume();
        read_output(&mut debuggee, begun);
        // The program may still be writing its earlier output.
        let frames = loop {
            debuggee.session().pause(None).unwrap();
            let thread = debuggee.expect_stop()[0].thread;
            let frames = debuggee.session().stack(thread, 0..20).unwrap().frames;
            let mut names = frames.iter().filter_map(|frame| frame.function.as_deref());
            if names.any(|name| name.contains(expected)) {
                break frames;
            }
            debuggee.resume();
        };
        let session = debuggee.session();
        let main = frames
            .iter()
            .find(|frame| frame.function.as_deref() == Some("main"))
            .unwrap()
            .id;
        assert_eq!(called(session, main, "twice(21)"), "42");
        let spun = called_with(session, main, "spin()", &short);
        assert!(spun.contains("has not returned"), "{spun}");
        let napped = called_with(session, main, "nap()", &short);
        assert!(napped.contains("has not returned"), "{napped}");
        if begun == "waits" {
            (&output).write_all(b"x").unwrap();
        }
    }
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert!(
        debuggee.stdout.contains("read 1 x\n"),
        "{}",
        debuggee.stdout
    );
    assert!(
        debuggee.stdout.ends_with("slept 0 0\n"),
        "{}",
        debuggee.stdout
    );
}

/// A signal that is pending for the thread is delivered after the call, with its whole `siginfo`.
#[test]
fn a_signal_that_is_on_its_way_comes_after_a_call() {
    let source = r#"
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        int twice(int n) { return 2 * n; }
        int spin(void) { for (volatile int i = 0;; i++) {} }
        void handler(int number, siginfo_t *info, void *context) {
            printf("signal %d of %p\n", number, info->si_addr);
            fflush(stdout);
            _Exit(3);
        }
        int main(void) {
            struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
            sigaction(SIGSEGV, &action, 0);
            *(volatile int *)0x1234 = 1;
        }
    "#;
    let fixture = inline("signalled.c", source, &[]);
    let mut debuggee = fixture.launch();
    debuggee.resume();
    let stop = debuggee.expect_stop()[0].clone();
    assert!(matches!(stop.reason, StopReason::Signal { .. }), "{stop:?}");
    let session = debuggee.session();
    let frame = listing::innermost(session, stop.thread);
    assert_eq!(called(session, frame, "twice(4)"), "8");
    let short = CallOptions {
        time_limit: Duration::from_millis(50),
        ..CallOptions::default()
    };
    let spun = called_with(session, frame, "spin()", &short);
    assert!(spun.contains("has not returned"), "{spun}");
    let exception = session.exception(stop.thread).unwrap().expect("a signal");
    assert_eq!(exception.id, "SIGSEGV");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(3));
    assert!(
        debuggee.stdout.contains("signal 11 of 0x1234\n"),
        "{}",
        debuggee.stdout
    );
}

/// A call that needs another thread deadlocks while the other threads are stopped, and is cancelled at the time limit. It returns if all
/// threads run.
#[test]
fn other_threads_are_held_unless_they_are_let_run() {
    let source = r#"
        #include <pthread.h>
        #include <stdatomic.h>
        #include <stdio.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static atomic_int ready, leave, met;
        static int guarded;
        void meet(void) { met++; } 
        void *other(void *argument) {
            while (!leave) {
                pthread_mutex_lock(&lock);
                guarded++;
                ready = 1;
                for (volatile int i = 0; i < 20000; i++) {}
                meet();
                pthread_mutex_unlock(&lock);
            }
            return 0;
        }
        int wait_for(int more) { int now = met; while (met < now + more) {} return more; }
        static void *one(void *argument) { return argument; }
        long begin(long n) { pthread_t thread; void *result; pthread_create(&thread, 0, one, (void *)n); pthread_join(thread, &result); return (long)result; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, other, 0);
            while (!ready) {}
            int here = 1;
            here++; // stop: here
            leave = 1;
            pthread_join(thread, 0);
            printf("done %d\n", here);
            return 0;
        }
    "#;
    let fixture = inline("others.c", source, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["here"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let short = CallOptions {
        time_limit: Duration::from_millis(100),
        ..CallOptions::default()
    };
    let all = CallOptions {
        threads: CallThreads::All,
        ..CallOptions::default()
    };
    let held = called_with(session, frame, "wait_for(2)", &short);
    assert!(
        held.starts_with("error: `wait_for` has not returned within 0.1 seconds, while the other threads were held"),
        "{held}"
    );
    assert_eq!(called_with(session, frame, "wait_for(3)", &all), "3");
    assert!(called_with(session, frame, "begin(7)", &short).contains("has not returned"));
    assert_eq!(called_with(session, frame, "begin(7)", &all), "7");
    // Another thread's stop during the call is reported when the program is resumed.
    let breakpoint = FunctionBreakpoint {
        name: "meet".to_owned(),
        ..FunctionBreakpoint::default()
    };
    session.set_function_breakpoints(vec![breakpoint]).unwrap();
    let held = CallOptions {
        time_limit: Duration::from_millis(300),
        ..all.clone()
    };
    let found = called_with(session, frame, "wait_for(2)", &held);
    assert!(found.contains("has not returned"), "{found}");
    session.set_function_breakpoints(Vec::new()).unwrap();
    debuggee.resume();
    let stops = debuggee.expect_stop();
    assert!(stops[0].thread != thread, "{stops:?}");
    assert!(
        matches!(stops[0].reason, StopReason::Breakpoint(_)),
        "{stops:?}"
    );
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert!(debuggee.stdout.ends_with("done 2\n"), "{}", debuggee.stdout);
}
