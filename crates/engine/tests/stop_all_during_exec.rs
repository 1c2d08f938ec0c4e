//! Stopping all of many threads while one of them can't stop until the tracer has handled the others.

use crate::support::{Debuggee, Outcome, inline};
use dapple_engine::event::ExitStatus;
use dapple_engine::{Error, Event};
use std::time::Duration;

/// How long the program may write nothing.
const PATIENCE: Duration = Duration::from_secs(20);

/// Calls exec on itself as often as the argument says, from the newest of its threads, which writes a message first. The kernel ends the
/// other threads first, and the calling thread can't stop before they have ended.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { THREADS = 200 };
static pthread_barrier_t there;
static void *wait_for_ever(void *unused) {
    pthread_barrier_wait(&there);
    for (;;) pause();
    return unused;
}
static void *become(void *left) {
    pthread_barrier_wait(&there);
    if (write(STDOUT_FILENO, "now\n", 4) == 4)
        execl("/proc/self/exe", "again", left, (char *)0);
    return left;
}
int main(int argc, char **argv) {
    static char left[20];
    pthread_t thread;
    int count = argc > 1 ? atoi(argv[1]) : 0;
    if (count == 0) return 7;
    snprintf(left, sizeof left, "%d", count - 1);
    pthread_barrier_init(&there, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, wait_for_ever, NULL)) return 3;
    if (pthread_create(&thread, NULL, become, left)) return 4;
    pthread_join(thread, NULL);
    return 5;
}
"#;

/// Waits until the program writes or ends. Returns the status if it has ended.
fn written(debuggee: &mut Debuggee<'_>) -> Option<ExitStatus> {
    loop {
        match debuggee.events.recv_timeout(PATIENCE) {
            Ok(Event::Output { .. }) => return None,
            Ok(Event::Exited(status)) => return Some(status),
            Ok(_) => {}
            Err(error) => panic!("it does not go on: {error}"),
        }
    }
}

#[test]
fn a_thread_that_becomes_another_program_while_all_are_to_stop_is_not_waited_for_alone() {
    let fixture = inline("become.c", PROGRAM, &["-pthread"]);
    let mut debuggee = fixture.launch_with(&["12"]);
    debuggee.resume();
    let mut pauses = 0;
    let status = loop {
        if let Some(status) = written(&mut debuggee) {
            break status;
        }
        // The last of them may have ended since it wrote.
        match debuggee.session().pause(None) {
            Ok(()) | Err(Error::Ended) => {}
            Err(error) => panic!("it is not to be stopped: {error}"),
        }
        match debuggee.wait() {
            Outcome::Stopped(_) => pauses += 1,
            Outcome::Exited(status) => break status,
        }
        debuggee.resume();
    };
    assert_eq!(status, ExitStatus::Code(7));
    assert!(pauses > 6, "{pauses}");
}
