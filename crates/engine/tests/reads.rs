//! The number of reads of the program's memory for shown values: each read is a system call.

use crate::support::inline;
use dapple_engine::calls::CallOptions;

const NODES: &str = r#"
struct Node { int key; Node *left; };
static Node leaf{5, nullptr}, middle{4, &leaf}, root{3, &middle};
int main() {
    Node *first = &root;
    return first->key - 3; // stop: here
}
"#;

/// The number of read system calls of the current thread (proc_pid_io(5)).
fn reads() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/io").expect("the kernel counts");
    let count = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    count
        .and_then(|count| count.parse().ok())
        .expect("a number")
}

#[test]
fn members_behind_pointers_are_found_with_one_read_for_each() {
    let fixture = inline("nodes.cpp", NODES, &["-O0"]);
    let mut debuggee = fixture.launch_here();
    debuggee.break_at(&["here"]);
    let (thread, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "here");
    let session = debuggee.session();
    let frame = session.stack(thread, 0..1).expect("a stack").frames[0].id;
    let evaluated = || {
        let options = CallOptions::default();
        let found = session.evaluate_calling("first->left->left->key", Some(frame), &options);
        found.0.expect("a value").1.text
    };
    // Fills the caches that last for one stop.
    assert_eq!(evaluated(), "5");
    const TIMES: u64 = 50;
    let before = reads();
    for _ in 0..TIMES {
        assert_eq!(evaluated(), "5");
    }
    let each = (reads() - before) / TIMES;
    assert_eq!(each, 4);
}
