//! Steps by line in the repository's debuggees: where each ends.

use crate::support::{Fixture, fixture, inline};
use dapple_engine::event::ExitStatus;
use dapple_engine::session::StepKind::{self, Into, Out, Over};

/// Runs to `start`, then takes each step and checks the marker of the line where it ends.
fn steps(fixture: &Fixture, args: &[&str], start: &str, table: &[(StepKind, &str)]) {
    let mut debuggee = fixture.launch_with(args);
    debuggee.break_at(&[start]);
    let (thread, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, start);
    debuggee
        .session()
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    let mut way = vec![start.to_owned()];
    for (kind, expected) in table {
        let place = debuggee.step(thread, *kind);
        way.push(format!("{kind:?} → {place}"));
        assert_eq!(place, *expected, "{way:#?}");
    }
}

const BUILDS: [&[&str]; 4] = [
    &["-O0"],
    &["-O0", "-no-pie"],
    &["-O0", "-static"],
    &["-O0", "-gdwarf-4"],
];

#[test]
fn over_goes_from_line_to_line_to_the_end() {
    for flags in BUILDS {
        let fixture = fixture("step.c", flags);
        let table = [
            (Over, "arguments"),
            (Over, "nested"),
            (Over, "early"),
            (Over, "two statements"),
            (Over, "pointer"),
            (Over, "through pointer"),
            (Over, "call loops"),
            (Over, "call choose"),
        ];
        steps(&fixture, &[], "start", &table);
    }
}

#[test]
fn over_calls_into_libraries_and_long_jumps_stays_in_the_function() {
    let fixture = fixture("step.c", &[]);
    let table = [(Over, "library"), (Over, "call jumps"), (Over, "spread")];
    steps(&fixture, &[], "qsort", &table);
    let table = [(Over, "end"), (Over, "close")];
    steps(&fixture, &[], "print", &table);
}

#[test]
fn into_ends_after_the_prologue_and_out_in_the_caller() {
    for flags in BUILDS {
        let fixture = fixture("step.c", flags);
        let table = [
            (Into, "twice"),
            (Over, "twice end"),
            (Out, "start"),
            (Over, "arguments"),
            (Into, "twice"),
            (Out, "arguments"),
            (Into, "twice"),
            (Out, "arguments"),
            (Into, "add"),
            (Out, "arguments"),
            (Over, "nested"),
        ];
        steps(&fixture, &[], "start", &table);
    }
}

#[test]
fn loops_and_branches_step_as_they_run() {
    let fixture = fixture("step.c", &[]);
    let table = [
        (Over, "for"),
        (Over, "for body"),
        (Over, "for"),
        (Over, "for body"),
        (Over, "for"),
        (Over, "for body"),
        (Over, "for"),
        (Over, "while"),
        (Over, "while body"),
        (Over, "while"),
        (Over, "do body"),
        (Over, "do"),
        (Over, "do body"),
    ];
    steps(&fixture, &[], "loops", &table);
}

#[test]
fn a_library_function_without_source_is_stepped_over_by_into() {
    for flags in [
        &["-O0"][..],
        &["-O0", "-Wl,-z,now"],
        &["-O0", "-Wl,-z,lazy"],
    ] {
        let fixture = fixture("step.c", flags);
        steps(&fixture, &[], "library", &[(Into, "call jumps")]);
    }
}

#[test]
fn into_follows_a_linkage_stub_to_a_library_with_source() {
    let library = "int helper(int n)\n{\n    return n + 1; // stop: helper\n}\n";
    let library = inline("helper.c", library, &["-shared", "-fPIC"]);
    let program = "int helper(int);\nint main(void)\n{\n    int n = helper(1); // stop: first\n    n += helper(2); // stop: second\n    return n; // stop: end\n}\n";
    let path = library.binary.to_str().unwrap();
    for linkage in ["-Wl,-z,lazy", "-Wl,-z,now"] {
        let program = inline("stub.c", program, &[linkage, "-Wl,--no-as-needed", path]);
        let mut debuggee = program.launch();
        debuggee.break_at(&["first"]);
        let (thread, _) = debuggee.run_to_breakpoint();
        for end in ["first", "second"] {
            let place = debuggee.step(thread, Into);
            assert!(place.ends_with("helper.c:3"), "{linkage}: {place}");
            assert_eq!(debuggee.step(thread, Out), end, "{linkage}");
            debuggee.step(thread, Over);
        }
    }
}

#[test]
fn recursion_does_not_end_a_step_in_another_activation() {
    let fixture = fixture("recursion.c", &[]);
    steps(&fixture, &[], "fact", &[(Over, "multiply")]);
    steps(&fixture, &[], "left", &[(Over, "right"), (Over, "add")]);
}

#[test]
fn a_breakpoint_inside_a_call_ends_the_step() {
    let fixture = fixture("step.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["start", "twice end"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    assert_eq!(debuggee.step(thread, Over), "breakpoint twice end");
    // A breakpoint on the line where a step would end has precedence, too.
    debuggee.break_at(&["add", "nested"]);
    assert_eq!(debuggee.step(thread, Out), "start");
    assert_eq!(debuggee.step(thread, Over), "arguments");
    assert_eq!(debuggee.step(thread, Over), "breakpoint add");
    debuggee.break_at(&["nested"]);
    assert_eq!(debuggee.step(thread, Out), "arguments");
    assert_eq!(debuggee.step(thread, Over), "breakpoint nested");
}

#[test]
fn a_step_over_the_end_of_the_program_is_its_end() {
    let fixture = fixture("exit.c", &[]);
    steps(&fixture, &["6", "exit"], "exit", &[(Over, "Code(6)")]);
    let mut debuggee = fixture.launch_with(&["5"]);
    debuggee.break_at(&["return"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let mut ended = String::new();
    for _ in 0..5 {
        ended = debuggee.step(thread, Over);
        if ended.starts_with("Code") {
            break;
        }
    }
    assert_eq!(ended, format!("{:?}", ExitStatus::Code(5)));
}

#[test]
fn handlers_run_between_the_instructions_of_a_step() {
    let fixture = fixture("signals.c", &[]);
    let table = [(Over, "ignored"), (Over, "again")];
    steps(&fixture, &[], "raise", &table);
    // The alarm's handler interrupts single steps.
    let text = r#"
#include <signal.h>
#include <sys/time.h>
static volatile int ticks, turns;
static void tick(int n) { ticks += n != 0; } // stop: tick
int main(void) {
    struct itimerval often = { { 0, 500 }, { 0, 500 } };
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, 0); // stop: start
    while (ticks < 50) // stop: while
        turns++; // stop: spin
    return 0; // stop: end
}
"#;
    let fixture = inline("ticks.c", text, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["start"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let mut places = std::collections::BTreeSet::new();
    loop {
        let place = debuggee.step(thread, Over);
        if place == "end" {
            break;
        }
        places.insert(place);
    }
    let places: Vec<_> = places.iter().map(String::as_str).collect();
    assert_eq!(places, ["spin", "while"]);
}

#[test]
fn rust_steps_over_the_standard_library() {
    let text = r#"
fn area(side: u32) -> u32 {
    side * side // stop: area
}

fn main() {
    let sides = vec![1, 2, 3]; // stop: start
    let first = area(sides[0]); // stop: first
    let text = format!("{first}"); // stop: text
    println!("{text}"); // stop: print
    let sum: u32 = sides.iter().map(|side| area(*side)).sum(); // stop: sum
    std::process::exit(sum as i32); // stop: end
}
"#;
    let fixture = inline("area.rs", text, &[]);
    let table = [
        (Into, "first"),
        (Into, "area"),
        (Out, "first"),
        (Over, "text"),
        (Over, "print"),
        (Over, "sum"),
        (Over, "end"),
        (Over, "Code(14)"),
    ];
    steps(&fixture, &[], "start", &table);
}

#[test]
fn threads_step_while_others_run() {
    let fixture = fixture("threads.c", &[]);
    let mut debuggee = fixture.launch_with(&["50"]);
    debuggee.break_at(&["round"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    debuggee
        .session()
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    assert_eq!(debuggee.step(thread, Into), "hit");
    // No code of the call's line follows the return.
    let place = debuggee.step(thread, Out);
    assert!(place.contains("for (int round"), "{place}");
    assert_eq!(debuggee.step(thread, Over), "round");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert!(
        debuggee.stdout.contains("200 hits, 200 counted"),
        "{}",
        debuggee.stdout
    );
}

/// Steps from `start` until the program ends. Returns the marked lines in their order, without repetitions.
fn walk(fixture: &Fixture, start: &str, kind: StepKind, most: usize) -> Vec<String> {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&[start]);
    let (thread, _) = debuggee.run_to_breakpoint();
    debuggee
        .session()
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    let mut way = vec![start.to_owned()];
    for _ in 0..most {
        let place = debuggee.step(thread, kind);
        if place.starts_with("Code") {
            break;
        }
        // Unmarked lines, such as closing braces and declarations, depend on the compiler.
        if !place.contains(": ") {
            way.push(place);
        }
    }
    way.dedup();
    way
}

#[test]
fn over_walks_through_cpp() {
    let fixture = fixture("step.cpp", &["-O0"]);
    let expected = [
        "start",
        "range for",
        "virtual",
        "range for",
        "virtual",
        "range for",
        "members",
        "call operator",
        "call template",
        "call default",
        "call lambda",
        "no throw",
        "will throw",
        "string",
        "print",
        "end",
    ];
    assert_eq!(walk(&fixture, "start", Over, 100), expected);
}

#[test]
fn over_walks_through_rust() {
    let fixture = fixture("step.rs", &[]);
    let way = walk(&fixture, "start", Over, 100);
    let expected = [
        "start",
        "arguments",
        "nested",
        "early",
        "good",
        "bad",
        "call match",
        "for",
        "virtual",
        "for",
        "virtual",
        "for",
        "provided",
        "call closure",
        "chain",
        "filter",
        "map",
        "call guarded",
        "catch",
        "while body",
        "loop body",
        "break",
        "print",
        "end",
    ];
    assert_eq!(way, expected);
}

#[test]
fn inlined_calls_belong_to_the_line_for_over_and_are_entered_by_into() {
    for (name, optimize) in [("inline.cpp", "-O2"), ("inline.rs", "-O")] {
        let fixture = fixture(name, &[optimize]);
        let way = walk(&fixture, "outer", Over, 40);
        let inner = |place: &String| {
            ["innermost", "call sink", "middle", "call innermost", "sink"].contains(&place.as_str())
        };
        assert!(!way.iter().any(inner), "{name}: {way:?}");
        assert_eq!(
            way.last().map(String::as_str),
            Some("end"),
            "{name}: {way:?}"
        );
        let way = walk(&fixture, "loop", Into, 40);
        assert!(way.iter().any(inner), "{name}: {way:?}");
    }
}

/// Exceptions in the stepping thread, in calls that it steps over and in its callers, and where the step ends.
#[test]
fn a_step_over_what_is_thrown_ends_at_its_handler() {
    let text = r#"
#include <stdexcept>
#include <cstdio>
struct Guard { int *count; ~Guard() { ++*count; } };
static int count;
static void thrower(int depth) {
    Guard guard{&count};
    if (depth == 0)
        throw std::runtime_error("deep"); // stop: throw
    thrower(depth - 1); // stop: deeper
}
static void passes_on() {
    Guard guard{&count};
    thrower(3); // stop: pass on
    count += 100;
}
int main() {
    try {
        passes_on(); // stop: try
        count += 100;
    } catch (const std::exception &) { // stop: catch
        count += 10; // stop: handler
    }
    std::printf("%d\n", count); // stop: after
    try { throw 1; } catch (int) {} // stop: one line
    return count; // stop: end
}
"#;
    for flags in [&["-O0"][..], &["-O0", "-static"], &["-O0", "-no-pie"]] {
        let fixture = inline("thrown.cpp", text, flags);
        let handled = ["catch", "handler", "after", "one line", "end"];
        for start in ["try", "pass on", "throw"] {
            let way = walk(&fixture, start, Over, 40);
            assert_eq!(way[0], start);
            assert_eq!(way[1..], handled, "{flags:?}");
        }
        for start in ["pass on", "deeper"] {
            let way = walk(&fixture, start, Out, 40);
            assert_eq!(way[..2], [start, "catch"], "{flags:?}");
        }
    }
}

#[test]
fn a_step_over_a_panic_ends_behind_what_catches_it() {
    let text = r#"
struct Guard<'a>(&'a std::cell::Cell<i32>);
impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1); // stop: drop
    }
}
fn panics(depth: i32, drops: &std::cell::Cell<i32>) -> i32 {
    let _guard = Guard(drops);
    if depth == 0 {
        std::panic::panic_any(7); // stop: panic
    }
    panics(depth - 1, drops) // stop: deeper
}
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let drops = std::cell::Cell::new(0);
    let outer = std::panic::AssertUnwindSafe(&drops);
    let caught = std::panic::catch_unwind(|| {
        panics(3, &outer) // stop: closure
    });
    assert!(caught.is_err()); // stop: caught
    let joined = std::thread::spawn(|| panic!()).join(); // stop: thread
    assert!(joined.is_err()); // stop: joined
    assert_eq!(drops.get(), 4); // stop: end
}
"#;
    for flags in [&[][..], &["-C", "target-feature=+crt-static"]] {
        let fixture = inline("panicking.rs", text, flags);
        for start in ["closure", "panic"] {
            let way = walk(&fixture, start, Over, 60);
            assert_eq!(way[0], start);
            assert_eq!(way[1..], ["caught", "thread", "joined", "end"], "{flags:?}");
        }
    }
}
