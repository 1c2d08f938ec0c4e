//! Calls of functions that end their thread.

use crate::support::{inline, listing};
use dapple_engine::calls::CallOptions;
use dapple_engine::event::ExitStatus;

const SOURCE: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static int cleaned;
    static void clean(void *unused) { cleaned++; }
    int leaves(int n) { pthread_exit((void *)(long)n); }
    int vanishes(void) { syscall(SYS_exit, 0); return 0; }
    int twice(int n) { return 2 * n; }
    static void *other(void *argument) {
        long number = (long)argument;
        pthread_cleanup_push(clean, 0);
        number++; // stop: other
        pthread_cleanup_pop(1);
        return (void *)number;
    }
    int main(void) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, 0, other, (void *)4L);
        pthread_join(thread, &result);
        printf("ended with %ld, cleaned %d\n", (long)result, cleaned);
        return 0;
    }
"#;

/// Calls a function that ends the stopped thread. Returns the program's output.
fn ended_by(expression: &str) -> String {
    let fixture = inline("ends_threads.c", SOURCE, &["-pthread"]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["other"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let options = CallOptions::default();
    let error = session
        .evaluate_calling(expression, Some(frame), &options)
        .0;
    let error = error.expect_err("nothing comes back").to_string();
    let name = expression.split('(').next().unwrap_or_default();
    assert_eq!(
        error,
        format!("`{name}` was called, and has ended its thread")
    );
    let left: Vec<_> = session
        .threads()
        .unwrap()
        .iter()
        .map(|thread| thread.id)
        .collect();
    assert!(left.len() == 1 && left[0] != thread, "{left:?}");
    // The frame is gone with its thread.
    assert!(session.evaluate("number", Some(frame)).is_err());
    let main = listing::innermost(session, left[0]);
    let twice = session.evaluate_calling("twice(4)", Some(main), &options).0;
    assert_eq!(twice.expect("a value").1.text, "8");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    debuggee.stdout.clone()
}

#[test]
fn a_function_that_ends_its_thread_by_the_library_gives_its_result_and_cleans_up() {
    assert_eq!(ended_by("leaves(3)"), "ended with 3, cleaned 1\n");
}

#[test]
fn a_function_that_ends_its_thread_by_a_system_call_leaves_the_others() {
    let written = ended_by("vanishes()");
    assert!(written.ends_with("cleaned 0\n"), "{written}");
}
