//! Line breakpoints, signals, pauses and ends in the repository's debuggees.

use crate::support::{Fixture, Outcome, fixture, inline};
use dapple_engine::event::{ExitStatus, StopReason};
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::{Leave, LineBreakpoint, Resolution};
use dapple_engine::{Error, Event, Session};
use std::collections::HashMap;

#[test]
fn every_thread_hits_a_breakpoint_every_time() {
    let fixture = fixture("threads.c", &[]);
    for rounds in [25, 200] {
        let mut debuggee = fixture.launch_with(&[&rounds.to_string()]);
        debuggee.break_at(&["hit"]);
        let mut hits: HashMap<_, usize> = HashMap::new();
        debuggee.resume();
        let status = loop {
            match debuggee.wait() {
                Outcome::Exited(status) => break status,
                Outcome::Stopped(stops) => {
                    for stop in stops {
                        assert!(matches!(stop.reason, StopReason::Breakpoint(_)), "{stop:?}");
                        *hits.entry(stop.thread).or_default() += 1;
                    }
                    debuggee.resume();
                }
            }
        };
        assert_eq!(hits.len(), 4, "{hits:?}");
        assert!(
            hits.values().all(|count| *count == rounds),
            "{hits:?} {}",
            debuggee.stdout
        );
        assert_eq!(status, ExitStatus::Code(0), "{}", debuggee.stdout);
    }
}

#[test]
fn a_program_ends_with_the_code_it_gives_and_all_it_wrote_comes_before() {
    let fixture = fixture("exit.c", &[]);
    for (args, code) in [
        (&["7"][..], 7),
        (&["255", "exit"], 255),
        (&["3", "_exit"], 3),
        (&["9", "thread"], 9),
    ] {
        let mut debuggee = fixture.launch_with(args);
        debuggee.resume();
        assert_eq!(debuggee.expect_exit(), ExitStatus::Code(code), "{args:?}");
        assert_eq!(debuggee.stderr, "to stderr\n");
        assert!(
            debuggee.stdout.starts_with("to stdout\n"),
            "{}",
            debuggee.stdout
        );
        assert!(
            debuggee.events.try_recv().is_err(),
            "nothing comes after the end"
        );
        assert!(matches!(debuggee.session().threads(), Err(Error::Ended)));
    }
}

#[test]
fn output_larger_than_a_pipe_is_complete_at_the_end() {
    let text = r#"
#include <stdio.h>
int main(void) { for (int i = 0; i < 100000; i++) printf("%d\n", i); return 0; }
"#;
    let fixture = inline("noisy.c", text, &[]);
    let mut debuggee = fixture.launch();
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    let expected: String = (0..100_000).map(|i| format!("{i}\n")).collect();
    assert!(
        debuggee.stdout == expected,
        "{} of {} bytes",
        debuggee.stdout.len(),
        expected.len()
    );
}

#[test]
fn what_was_written_before_a_stop_is_told_before_it() {
    let fixture = fixture("exit.c", &[]);
    let mut debuggee = fixture.launch_with(&["4"]);
    debuggee.break_at(&["return"]);
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "return");
    assert_eq!(
        (debuggee.stdout.as_str(), debuggee.stderr.as_str()),
        ("to stdout\n", "to stderr\n")
    );
}

fn signal_of(reason: &StopReason) -> i32 {
    match reason {
        StopReason::Signal { number, .. } => *number,
        other => panic!("not a signal: {other:?}"),
    }
}

#[test]
fn fatal_signals_stop_first_and_then_end_the_program() {
    let fixture = fixture("signals.c", &[]);
    for (arg, signal) in [
        ("segv", libc::SIGSEGV),
        ("abort", libc::SIGABRT),
        ("fpe", libc::SIGFPE),
    ] {
        let mut debuggee = fixture.launch_with(&[arg]);
        debuggee.resume();
        let stops = debuggee.expect_stop();
        assert_eq!(signal_of(&stops[0].reason), signal, "{stops:?}");
        debuggee.resume();
        assert_eq!(debuggee.expect_exit(), ExitStatus::Signal(signal));
    }
    let mut debuggee = fixture.launch_with(&["kill"]);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Signal(libc::SIGKILL));
}

#[test]
fn a_fault_says_where_and_at_which_address() {
    let fixture = fixture("signals.c", &[]);
    let mut debuggee = fixture.launch_with(&["segv"]);
    debuggee.resume();
    let stops = debuggee.expect_stop();
    let StopReason::Signal {
        fault, description, ..
    } = &stops[0].reason
    else {
        panic!("{stops:?}")
    };
    assert_eq!(fault.map(|a| a.0), Some(0));
    assert_eq!(description, "SIGSEGV: read of address 0x0, a null pointer");
    assert_eq!(debuggee.place(stops[0].thread), "fault");
}

#[test]
fn handled_signals_reach_the_program_and_do_not_stop_it() {
    let fixture = fixture("signals.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.resume();
    assert_eq!(
        debuggee.expect_exit(),
        ExitStatus::Code(0),
        "{}",
        debuggee.stdout
    );
}

#[test]
fn a_fault_that_the_program_handles_is_delivered_after_the_stop() {
    let fixture = fixture("signals.c", &[]);
    let mut debuggee = fixture.launch_with(&["nested"]);
    debuggee.resume();
    let stops = debuggee.expect_stop();
    assert_eq!(signal_of(&stops[0].reason), libc::SIGSEGV);
    debuggee.resume();
    assert_eq!(
        debuggee.expect_exit(),
        ExitStatus::Code(0),
        "{}",
        debuggee.stdout
    );
}

#[test]
fn a_trap_of_the_programs_own_stops_and_is_run_past() {
    let fixture = fixture("signals.c", &[]);
    let mut debuggee = fixture.launch_with(&["trap"]);
    debuggee.resume();
    let stops = debuggee.expect_stop();
    assert_eq!(stops[0].reason, StopReason::Trap);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

#[test]
fn a_breakpoint_in_a_handler_and_on_the_line_it_interrupts_count_exactly() {
    // The handler interrupts the loop at any instruction, including breakpoints and displaced copies.
    let text = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int ticks, turns;
static void tick(int n) { (void)n; ticks++; }
static void turn(void) { turns++; } // stop: turn
int main(void) {
    struct itimerval often = { { 0, 200 }, { 0, 200 } };
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, 0);
    for (int i = 0; i < 300; i++) turn();
    printf("%d\n", turns);
    return ticks == 0;
}
"#;
    let fixture = inline("timer.c", text, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["turn"]);
    let mut hits = 0;
    debuggee.resume();
    let status = loop {
        match debuggee.wait() {
            Outcome::Exited(status) => break status,
            Outcome::Stopped(stops) => {
                assert!(
                    matches!(stops[0].reason, StopReason::Breakpoint(_)),
                    "{stops:?}"
                );
                hits += 1;
                debuggee.resume();
            }
        }
    };
    assert_eq!(
        (hits, status, debuggee.stdout.trim()),
        (300, ExitStatus::Code(0), "300")
    );
}

#[test]
fn a_spinning_and_a_waiting_thread_are_paused_and_go_on() {
    let fixture = fixture("sleepless.c", &[]);
    for args in [&[][..], &["threads"]] {
        let mut debuggee = fixture.launch_with(args);
        debuggee.resume();
        for _ in 0..5 {
            debuggee.session().pause(None).unwrap();
            let stops = debuggee.expect_stop();
            assert_eq!(stops.len(), 1);
            assert_eq!(stops[0].reason, StopReason::Pause);
            debuggee.resume();
        }
    }
}

#[test]
fn commands_that_need_a_stop_say_so_while_the_program_runs() {
    let fixture = fixture("sleepless.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.resume();
    let threads = debuggee.session().threads().unwrap();
    assert_eq!(threads.len(), 1);
    assert!(!debuggee.session().modules().unwrap().is_empty());
    let stack = debuggee.session().stack(threads[0].id, 0..1);
    assert!(matches!(stack, Err(Error::NotStopped)), "{stack:?}");
    // A breakpoint that is set while the program runs is hit.
    debuggee.break_at(&["spin"]);
    let stops = debuggee.expect_stop();
    assert_eq!(debuggee.place(stops[0].thread), "spin");
}

#[test]
fn a_kill_from_outside_is_told_whether_the_program_runs_or_not() {
    let fixture = fixture("sleepless.c", &[]);
    for stopped in [true, false] {
        let mut debuggee = fixture.launch_with(&["threads"]);
        if !stopped {
            debuggee.resume();
        }
        let pid = debuggee.session().process().pid;
        assert!(kill(pid, "KILL"));
        assert_eq!(
            debuggee.expect_exit(),
            ExitStatus::Signal(9),
            "stopped: {stopped}"
        );
    }
}

fn kill(pid: i32, signal: &str) -> bool {
    let status = std::process::Command::new("sh")
        .args(["-c", &format!("kill -{signal} {pid}")])
        .status()
        .unwrap();
    status.success()
}

#[test]
fn terminate_lets_the_program_end_by_itself() {
    let fixture = fixture("sleepless.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.session().terminate(libc::SIGTERM).unwrap();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Signal(libc::SIGTERM));
}

#[test]
fn leaving_kills_and_dropping_does_too() {
    let fixture = fixture("sleepless.c", &[]);
    for drops in [true, false] {
        let mut debuggee = fixture.launch_with(&["threads"]);
        debuggee.resume();
        let session = debuggee.take_session();
        let pid = session.process().pid;
        if drops {
            drop(session);
        } else {
            session.leave(Leave::Kill);
        }
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}

/// The first difference between a module's code in an untraced process and in its file.
fn text_differs(pid: i32, fixture: &Fixture) -> Option<usize> {
    use std::os::unix::fs::FileExt;
    let module = dapple_symbols::Module::open(&fixture.binary).unwrap();
    let text = module.segments().iter().find(|s| s.executable).unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let name = fixture.binary.to_str().unwrap();
    let line = maps
        .lines()
        .find(|l| l.contains(name) && l.contains("r-x"))
        .unwrap();
    let start = u64::from_str_radix(line.split('-').next().unwrap(), 16).unwrap();
    let end = u64::from_str_radix(line.split(['-', ' ']).nth(1).unwrap(), 16).unwrap();
    let mut process = vec![0; (end - start) as usize];
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    memory.read_exact_at(&mut process, start).unwrap();
    let file = std::fs::read(&fixture.binary).unwrap();
    let from = (text.file_offset & !4095) as usize;
    let count = process.len().min(file.len() - from);
    (0..count).find(|i| process[*i] != file[from + i])
}

#[test]
fn detaching_leaves_the_program_as_it_was() {
    let fixture = fixture("threads.c", &[]);
    for running in [false, true] {
        let mut debuggee = fixture.launch_with(&["100000000"]);
        debuggee.break_at(&["hit", "round"]);
        for _ in 0..3 {
            debuggee.run_to_breakpoint();
        }
        if running {
            debuggee.resume();
        }
        let session = debuggee.take_session();
        let pid = session.process().pid;
        session.leave(Leave::Detach);
        assert_eq!(text_differs(pid, &fixture), None);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(status.contains("TracerPid:\t0"), "{status}");
        assert!(kill(pid, "KILL"));
    }
}

#[test]
fn inserted_bytes_never_show_in_memory() {
    let fixture = fixture("exit.c", &[]);
    let mut debuggee = fixture.launch_with(&["1"]);
    let states = debuggee.break_at(&["main", "return"]);
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "main");
    debuggee.resume();
    debuggee.expect_stop();
    let module = dapple_symbols::Module::open(&fixture.binary).unwrap();
    let text = *module.segments().iter().find(|s| s.executable).unwrap();
    let modules = debuggee.session().modules().unwrap();
    let start = dapple_engine::Address(modules[0].range.0.0 + text.address.0);
    let seen = debuggee
        .session()
        .read_memory(start, text.file_size as usize)
        .unwrap()
        .bytes;
    let file = module.bytes_at(text.address, text.file_size as usize);
    assert!(seen == file, "memory as read differs from the file");
    // Also beyond the code, where displaced copies are.
    let page = debuggee
        .session()
        .read_memory(start, 4096.max(seen.len()))
        .unwrap()
        .bytes;
    assert!(page[seen.len()..].iter().all(|b| *b == 0));
    let Resolution::Resolved { addresses, .. } = &states[0].resolution else {
        panic!()
    };
    assert!(!addresses.is_empty());
}

#[test]
fn children_of_every_kind_run_free_of_inserted_bytes() {
    let text = r#"
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static volatile int count;
static int work(int n) { count++; return n + 1; } // stop: work
static int ended(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 100; }
int main(void) {
    int status = 0, sum = 0;
    pid_t child = fork();
    if (child == 0) _exit(work(work(1)));
    waitpid(child, &status, 0);
    sum += ended(status);
    child = vfork();
    if (child == 0) { work(1); _exit(5); }
    waitpid(child, &status, 0);
    sum += ended(status);
    sum += ended(system("exit 7"));
    char *args[] = { "sh", "-c", "exit 11", NULL };
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ) == 0) waitpid(child, &status, 0);
    sum += ended(status);
    work(2);
    return sum;
}
"#;
    let fixture = inline("children.c", text, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["work"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    assert_eq!(thread.0, debuggee.session().process().pid);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(3 + 5 + 7 + 11));
}

#[test]
fn an_exec_resolves_breakpoints_in_the_new_program() {
    let text = r#"
#include <stdlib.h>
#include <unistd.h>
#include <pthread.h>
static char **arguments;
static void *again(void *p) { execl(arguments[0], arguments[0], "second", (char *)0); return p; }
int main(int argc, char **argv) {
    if (argc > 2) return 1;
    if (argc == 2)
        return 42; // stop: second
    arguments = argv;
    pthread_t thread;
    if (pthread_create(&thread, 0, again, 0)) return 3;
    pthread_join(thread, 0);
    return 2;
}
"#;
    let fixture = inline("exec.c", text, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["second"]);
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "second");
    assert!(debuggee.seen.iter().any(|e| matches!(e, Event::Executed)));
    assert_eq!(debuggee.session().threads().unwrap().len(), 1);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(42));
}

#[test]
fn a_breakpoint_in_a_librarys_constructor_is_hit() {
    let library = r#"
int ready;
__attribute__((constructor)) static void prepare(void) {
    ready = 21; // stop: constructor
}
int value(void) { return ready * 2; }
"#;
    let program = r#"
#include <dlfcn.h>
int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (argc < 2 || !library) return 1;
    int (*value)(void) = (int (*)(void))dlsym(library, "value");
    int result = value();
    dlclose(library);
    return result;
}
"#;
    let library = inline("constructor.c", library, &["-shared", "-fPIC"]);
    let program = inline("dlopen.c", program, &[]);
    let mut debuggee = program.launch_with(&[library.binary.to_str().unwrap()]);
    let line = library.line("constructor");
    let states = debuggee
        .session()
        .set_line_breakpoints(
            &library.source,
            vec![LineBreakpoint {
                line,
                ..LineBreakpoint::default()
            }],
        )
        .unwrap();
    assert!(
        matches!(states[0].resolution, Resolution::Pending(_)),
        "{states:?}"
    );
    debuggee.resume();
    let stops = debuggee.expect_stop();
    assert_eq!(stops[0].reason, StopReason::Breakpoint(vec![states[0].id]));
    let changed = debuggee.seen.iter().find_map(|e| match e {
        Event::BreakpointChanged(state) => Some(state.clone()),
        _ => None,
    });
    let changed = changed.expect("the breakpoint was resolved");
    assert!(
        matches!(changed.resolution, Resolution::Resolved { .. }),
        "{changed:?}"
    );
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(42));
    let unloaded = debuggee
        .seen
        .iter()
        .any(|e| matches!(e, Event::ModuleUnloaded(module) if module.path == library.binary));
    assert!(unloaded, "{:?}", debuggee.seen);
}

#[test]
fn what_can_not_be_launched_is_refused_with_a_sentence() {
    let folder = std::env::temp_dir();
    let launch = |options: LaunchOptions| {
        let (events, _events) = crossbeam_channel::unbounded();
        Session::launch(options, events)
            .expect_err("must be refused")
            .to_string()
    };
    let program = |path: &str| LaunchOptions {
        program: path.into(),
        ..LaunchOptions::default()
    };
    assert!(launch(program("/no/such/program")).contains("there is no such file"));
    assert!(
        launch(program(folder.to_str().unwrap())).ends_with("it is a directory, not a program")
    );
    let fixture = fixture("exit.c", &[]);
    let mut options = program(fixture.binary.to_str().unwrap());
    options.cwd = Some("/no/such/folder".into());
    assert_eq!(
        launch(options),
        "cannot launch: its working directory /no/such/folder: there is no such folder; /no does not exist"
    );
}

#[test]
fn the_debuggee_gets_its_arguments_folder_environment_and_clean_signals() {
    let text = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char folder[4096];
    struct sigaction action;
    sigset_t mask;
    sigaction(SIGPIPE, 0, &action);
    sigprocmask(SIG_SETMASK, 0, &mask);
    for (int i = 1; i < argc; i++) printf("[%s]", argv[i]);
    printf(" %s %s %s %d %d", getcwd(folder, sizeof folder), getenv("GIVEN"),
           getenv("HOME") ? "home" : "no home", action.sa_handler == SIG_DFL,
           sigismember(&mask, SIGURG));
    return getpgrp() == getpid() ? 0 : 1;
}
"#;
    let fixture = inline("environment.c", text, &[]);
    let mut debuggee = fixture.launch_options(LaunchOptions {
        program: fixture.binary.clone(),
        args: vec!["a b".into(), "".into(), "$c".into()],
        cwd: Some("/".into()),
        env: vec![("GIVEN".into(), Some("yes".into())), ("HOME".into(), None)],
        ..LaunchOptions::default()
    });
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert_eq!(debuggee.stdout, "[a b][][$c] / yes no home 1 0");
}

#[test]
fn a_stopped_process_group_is_paused_and_continued() {
    let fixture = fixture("signals.c", &[]);
    let mut debuggee = fixture.launch_with(&["stop"]);
    debuggee.break_at(&["stop"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    // The line stops the whole process with SIGSTOP, and the step waits for SIGCONT.
    debuggee
        .session()
        .step(thread, dapple_engine::session::StepKind::Over)
        .unwrap();
    debuggee.session().pause(None).unwrap();
    assert_eq!(debuggee.expect_stop()[0].reason, StopReason::Pause);
    debuggee.resume();
    let pid = debuggee.session().process().pid;
    while !group_stopped(pid) {
        std::thread::yield_now();
    }
    debuggee.session().pause(None).unwrap();
    assert_eq!(debuggee.expect_stop()[0].reason, StopReason::Pause);
    debuggee.resume();
    assert!(kill(pid, "CONT"));
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert!(debuggee.stdout.contains("continued"), "{}", debuggee.stdout);
}

/// Whether a stop signal has taken effect: the process's state is `T` or `t`, traced or not.
fn group_stopped(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, Some(Some('T' | 't')))
}

#[test]
fn an_interrupt_from_outside_stops_the_program() {
    let fixture = fixture("sleepless.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["spin"]);
    debuggee.run_to_breakpoint();
    debuggee
        .session()
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    debuggee.resume();
    assert!(kill(debuggee.session().process().pid, "INT"));
    assert_eq!(signal_of(&debuggee.expect_stop()[0].reason), libc::SIGINT);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Signal(libc::SIGINT));
}

#[test]
fn pauses_breakpoints_births_and_deaths_of_threads_do_not_lose_a_hit() {
    let text = r#"
#include <pthread.h>
#include <stdio.h>
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p) {
    pthread_mutex_lock(&lock); // stop: work
    count++;
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void) {
    for (int i = 0; i < 50; i++) {
        pthread_t threads[4];
        for (int j = 0; j < 4; j++) pthread_create(&threads[j], 0, work, 0);
        for (int j = 0; j < 4; j++) pthread_join(threads[j], 0);
    }
    return count == 200 ? 0 : 1;
}
"#;
    let fixture = inline("births.c", text, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["work"]);
    let mut hits = 0;
    debuggee.resume();
    let status = loop {
        // Either the pause or the next hit comes first.
        debuggee.session().pause(None).ok();
        match debuggee.wait() {
            Outcome::Exited(status) => break status,
            Outcome::Stopped(stops) => {
                let hit =
                    |s: &&dapple_engine::event::Stop| matches!(s.reason, StopReason::Breakpoint(_));
                hits += stops.iter().filter(hit).count();
                debuggee.resume();
            }
        }
    };
    assert_eq!((hits, status), (200, ExitStatus::Code(0)));
    let count = |wanted: fn(&Event) -> bool| debuggee.seen.iter().filter(|e| wanted(e)).count();
    assert_eq!(count(|e| matches!(e, Event::ThreadStarted(_))), 201);
}

#[test]
fn killing_at_any_moment_of_a_step_ends_the_session() {
    let fixture = fixture("step.c", &[]);
    for steps in 0..12 {
        let mut debuggee = fixture.launch();
        debuggee.break_at(&["start"]);
        let (thread, _) = debuggee.run_to_breakpoint();
        for _ in 0..steps {
            debuggee.step(thread, dapple_engine::session::StepKind::Over);
        }
        let pid = debuggee.session().process().pid;
        debuggee
            .session()
            .step(thread, dapple_engine::session::StepKind::Over)
            .unwrap();
        assert!(kill(pid, "KILL"));
        let ended = loop {
            if let Outcome::Exited(status) = debuggee.wait() {
                break status;
            }
        };
        assert_eq!(ended, ExitStatus::Signal(9));
    }
}
