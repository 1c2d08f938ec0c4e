//! Stack traces of stopped programs.

use crate::support::{Fixture, fixture, inline, listing};
use dapple_engine::Session;
use dapple_engine::ThreadId;
use dapple_engine::event::StopReason;
use dapple_engine::frame::Frame;
use dapple_engine::session::StepKind;

/// The function names of a thread's frames, from the innermost to `main`. Frames without a name are `?`.
fn functions(session: &Session, thread: ThreadId) -> Vec<String> {
    let stack = session.stack(thread, 0..100).expect("a stack");
    let names = stack
        .frames
        .iter()
        .map(|frame| frame.function.clone().unwrap_or_else(|| "?".into()));
    let mut names: Vec<String> = names.collect();
    if let Some(main) = names
        .iter()
        .position(|name| name == "main" || name.ends_with("::main"))
    {
        names.truncate(main + 1);
    }
    names
}

fn lines(fixture: &Fixture, frames: &[Frame]) -> Vec<String> {
    let line = |frame: &Frame| {
        let position = frame.position.as_ref()?;
        (position.file.as_ref() == fixture.source).then(|| fixture.name_of(position.line))
    };
    let name = |frame: &Frame| frame.function.clone().unwrap_or_else(|| "?".into());
    let known = frames.iter().filter_map(|f| Some((name(f), line(f)?)));
    known
        .map(|(name, line)| format!("{name} at {line}"))
        .collect()
}

#[test]
fn a_stack_goes_through_library_frames_without_debug_information() {
    let fixture = inline(
        "qsort.c",
        r#"
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b; // stop: compare
}
int main(void)
{
    int numbers[3] = { 3, 1, 2 };
    qsort(numbers, 3, sizeof *numbers, compare); // stop: sort
    return numbers[0] - 1;
}
"#,
        &[],
    );
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["compare"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let names = functions(session, thread);
    assert_eq!(names.first().map(String::as_str), Some("compare"));
    assert_eq!(names.last().map(String::as_str), Some("main"), "{names:?}");
    assert!(names.len() > 2, "{names:?}");
    // The callee-saved registers are restored through the library's frames, so `main` has the right locals.
    let stack = session.stack(thread, 0..100).expect("a stack");
    let main = stack
        .frames
        .iter()
        .find(|f| f.function.as_deref() == Some("main"));
    let main = main.expect("main").id;
    assert_eq!(
        listing::value(session, main, "numbers", 0),
        "numbers: int [3] = {3, 1, 2}\n"
    );
    assert!(stack.total.is_some(), "the stack ends");
}

#[test]
fn a_deep_recursion_is_unwound_window_by_window() {
    let fixture = fixture("recursion.c", &[]);
    let mut debuggee = fixture.launch_with(&["10000"]);
    debuggee.break_at(&["bottom"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let first = session.stack(thread, 0..1).expect("a stack");
    assert_eq!(first.frames.len(), 1);
    assert_eq!(first.total, None, "nobody asked for more");
    let deep = session.stack(thread, 9_998..10_002).expect("a stack");
    assert_eq!(
        lines(&fixture, &deep.frames),
        ["fact at fact", "fact at fact", "main at call fact"]
    );
    let id = deep.frames[1].id;
    assert_eq!(listing::value(session, id, "n", 0), "n: int = 10000\n");
    let past = session.stack(thread, 20_000..20_010).expect("a stack");
    assert!(past.frames.is_empty());
    assert!(past.total.is_some_and(|total| total > 10_000));
}

#[test]
fn a_signal_handler_shows_what_it_interrupted() {
    let fixture = fixture("signals.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["tick"]);
    let thread = loop {
        debuggee.resume();
        let stops = debuggee.expect_stop();
        if matches!(stops[0].reason, StopReason::Breakpoint(_)) {
            break stops[0].thread;
        }
    };
    let names = functions(debuggee.session(), thread);
    assert_eq!(
        names,
        ["on_alarm", "<signal handler called>", "ordinary", "main"]
    );
    let stack = debuggee.session().stack(thread, 0..4).expect("a stack");
    let physical = &stack.frames[2].physical;
    assert_eq!(
        physical.pc, physical.lookup,
        "it was interrupted, not calling"
    );
    // All registers of an interrupted frame are known.
    assert!((0..17).all(|n| physical.registers.get(n).is_some()));
}

#[test]
fn a_call_of_a_null_pointer_shows_who_called() {
    let fixture = inline(
        "null.c",
        r#"
static int call(int (*function)(void))
{
    return function() + 1; // stop: call
}
int main(void)
{
    return call(0); // stop: main
}
"#,
        &[],
    );
    let mut debuggee = fixture.launch();
    debuggee.resume();
    let stops = debuggee.expect_stop();
    assert!(
        matches!(stops[0].reason, StopReason::Signal { number: 11, .. }),
        "{stops:?}"
    );
    let stack = debuggee
        .session()
        .stack(stops[0].thread, 0..3)
        .expect("a stack");
    assert_eq!(
        lines(&fixture, &stack.frames),
        ["call at call", "main at main"]
    );
}

#[test]
fn inlined_calls_are_frames() {
    let fixture = inline(
        "inline.c",
        r#"
volatile int sink;
static inline __attribute__((always_inline)) int inner(int x)
{
    sink = x; // stop: inner
    return x + 1;
}
static inline __attribute__((always_inline)) int middle(int x)
{
    return inner(x * 2) + 1; // stop: middle
}
int main(void)
{
    return middle(20) - 42; // stop: main
}
"#,
        &["-O2"],
    );
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["inner"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let stack = session.stack(thread, 0..3).expect("a stack");
    assert_eq!(
        lines(&fixture, &stack.frames),
        ["inner at inner", "middle at middle", "main at main"]
    );
    let values: Vec<String> = stack
        .frames
        .iter()
        .map(|frame| listing::locals(session, frame.id, 0))
        .collect();
    assert_eq!(values, ["x: int = 40\n", "x: int = 20\n", ""]);
}

#[test]
fn what_the_optimizer_removed_says_so() {
    let fixture = inline(
        "removed.c",
        r#"
#include <stdio.h>
__attribute__((noinline)) static int work(int used, int unused)
{
    int gone = unused * 3;
    int kept = used * 2;
    (void)gone;
    printf("%d\n", kept); // stop: work
    return kept;
}
int main(int argc, char **argv)
{
    (void)argv;
    return work(argc + 4, argc + 5) - 10;
}
"#,
        &["-O2"],
    );
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["work"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let text = listing::locals(session, frame, 0);
    assert!(text.contains("kept: int = 10\n"), "{text}");
    assert!(text.contains("unused: int = <optimized out>\n"), "{text}");
    assert!(text.contains("gone: int = <optimized out>\n"), "{text}");
    let refused = listing::value(session, frame, "gone + 1", 0);
    assert_eq!(
        refused,
        "gone + 1: error: `gone` is not available: optimized out\n"
    );
}

#[test]
fn floats_are_read_from_their_registers() {
    let fixture = inline(
        "floats.c",
        r#"
volatile double sink;
__attribute__((noinline)) static double scale(double x, float y)
{
    sink = x * 2; // stop: scale
    return x * y;
}
int main(void)
{
    return (int)scale(1.25, 0.5f); // stop: main
}
"#,
        &["-O2"],
    );
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["scale"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let text = listing::locals(session, frame, 0);
    assert!(text.contains("x: double = 1.25\n"), "{text}");
    assert!(text.contains("y: float = 0.5\n"), "{text}");
}

#[test]
fn frames_of_code_without_unwind_tables_are_followed() {
    let fixture = inline(
        "tables.c",
        r#"
int bare(int x);
__asm__(".text\n.type bare, @function\nbare:\n"
        "push %rbp\nmov %rsp, %rbp\nsub $32, %rsp\ncall leaf\nleave\nret\n"
        ".size bare, .-bare\n");
int leaf(int x)
{
    return x * 2; // stop: leaf
}
int main(void)
{
    return bare(20) - 40; // stop: main
}
"#,
        &["-no-pie"],
    );
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["leaf"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    assert_eq!(
        functions(debuggee.session(), thread),
        ["leaf", "bare", "main"]
    );
    // Also at its first instructions, before the function has a frame.
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let mut inside = 0;
    for _ in 0..25 {
        debuggee.step(thread, StepKind::Instruction);
        let names = functions(debuggee.session(), thread);
        if names[0] == "bare" {
            assert_eq!(names, ["bare", "main"]);
            inside += 1;
        }
    }
    assert!(inside >= 6, "only {inside} instructions of it were seen");
}

/// As in glibc's `clone`, whose unwind rules have a gap at the system call.
#[test]
fn a_system_call_without_unwind_tables_shows_who_makes_it() {
    let fixture = inline(
        "waits.c",
        r#"
__asm__(".text\n.type waits, @function\nwaits: xor %ebx, %ebx\n mov $34, %eax\n syscall\n"
        " test %rax, %rax\n jl 1f\n ret\n1: ret\n.size waits, .-waits\n");
long waits(void);
long caller(long n)
{
    return waits() + n; // stop: caller
}
int main(void)
{
    return (int)caller(1);
}
"#,
        &["-fomit-frame-pointer", "-O1"],
    );
    let mut debuggee = fixture.launch();
    debuggee.resume();
    loop {
        debuggee.session().pause(None).unwrap();
        let thread = debuggee.expect_stop()[0].thread;
        let names = functions(debuggee.session(), thread);
        if names.first().is_some_and(|name| name == "waits") {
            assert_eq!(names, ["waits", "caller", "main"]);
            break;
        }
        debuggee.resume();
    }
}
