//! Function breakpoints whose locations change as modules are loaded and unloaded.

use crate::support::{Debuggee, inline};
use dapple_engine::Event;
use dapple_engine::event::{ExitStatus, StopReason};
use dapple_engine::session::{BreakpointState, FunctionBreakpoint, Resolution};

fn set(debuggee: &Debuggee<'_>, names: &[&str]) -> Vec<BreakpointState> {
    let wanted = names.iter().map(|name| FunctionBreakpoint {
        name: (*name).to_owned(),
        ..FunctionBreakpoint::default()
    });
    debuggee
        .session()
        .set_function_breakpoints(wanted.collect())
        .unwrap()
}

/// The number of addresses, and the line of the first one.
fn places(state: &BreakpointState) -> (usize, Option<u32>) {
    match &state.resolution {
        Resolution::Resolved {
            position,
            addresses,
            ..
        } => (addresses.len(), position.as_ref().map(|p| p.line)),
        other => panic!("{other:?}"),
    }
}

/// The breakpoint states that were reported since the last call.
fn changes(debuggee: &mut Debuggee<'_>) -> Vec<BreakpointState> {
    let told = debuggee.seen.drain(..);
    told.filter_map(|event| match event {
        Event::BreakpointChanged(state) => Some(state),
        _ => None,
    })
    .collect()
}

#[test]
fn a_symbol_gives_way_to_a_function_with_debug_information() {
    let library = r#"
int work(int n) {
    return n + 1; // stop: library
}
"#;
    let program = r#"
#include <dlfcn.h>
__attribute__((noinline)) static int work(int n) { return n * 2; }
int main(int argc, char **argv) {
    int sum = work(argc);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (argc < 2 || !library) return 1;
    sum += work(sum);
    sum += ((int (*)(int))dlsym(library, "work"))(sum);
    dlclose(library);
    return sum + work(sum);
}
"#;
    let library = inline("work.c", library, &["-shared", "-fPIC"]);
    let program = inline("symbols.c", program, &["-g0"]);
    let mut debuggee = program.launch_with(&[library.binary.to_str().unwrap()]);
    let state = set(&debuggee, &["work"]).remove(0);
    assert_eq!(places(&state), (1, None));
    let own = debuggee.symbol("work");
    let hit = StopReason::Breakpoint(vec![state.id]);

    debuggee.resume();
    let stop = debuggee.expect_stop().remove(0);
    assert_eq!((&stop.reason, stop.address), (&hit, own));
    assert_eq!(changes(&mut debuggee), []);

    // The breakpoint now means only the library's function. The program's own function is called first, and doesn't stop.
    debuggee.resume();
    let stop = debuggee.expect_stop().remove(0);
    assert_eq!(stop.reason, hit);
    let stack = debuggee.session().stack(stop.thread, 0..1).unwrap();
    let line = library.line("library");
    assert_eq!(
        stack.frames[0].position.as_ref().map(|p| p.line),
        Some(line)
    );
    let changed = changes(&mut debuggee);
    assert_eq!(
        changed.iter().map(places).collect::<Vec<_>>(),
        [(1, Some(line))]
    );

    debuggee.resume();
    let stop = debuggee.expect_stop().remove(0);
    assert_eq!((&stop.reason, stop.address), (&hit, own));
    let changed = changes(&mut debuggee);
    assert_eq!(changed.iter().map(places).collect::<Vec<_>>(), [(1, None)]);
    debuggee.resume();
    // 4 by the first call, 8 by the second, then 13 by the library, and 25 twice.
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(75));
}

#[test]
fn a_stop_is_not_at_the_way_to_a_function() {
    let program = r#"
#include <stdlib.h>
int main(void) {
    return labs(-3) == 3 ? 7 : 8; // stop: main
}
"#;
    let fixture = inline("stubs.c", program, &["-fno-builtin"]);
    let mut debuggee = fixture.launch();
    let states = set(&debuggee, &["labs"]);
    assert!(
        matches!(states[0].resolution, Resolution::Pending(_)),
        "the program has but a stub: {states:?}"
    );
    debuggee.resume();
    let stop = debuggee.expect_stop().remove(0);
    assert_eq!(stop.reason, StopReason::Breakpoint(vec![states[0].id]));
    let modules = debuggee.session().modules().unwrap();
    let at = modules
        .iter()
        .find(|m| (m.range.0..m.range.1).contains(&stop.address));
    let path = &at.expect("a module").path;
    assert!(path.to_string_lossy().contains("libc.so"), "{path:?}");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(7));
}

#[test]
fn a_function_is_looked_for_again_in_the_program_that_is_executed() {
    let other = r#"
int before(void) { return 1; }
int work(int n) {
    return n + before(); // stop: other
}
int main(void) { return work(40); }
"#;
    let program = r#"
#include <unistd.h>
static int work(int n) {
    return n + 1; // stop: first
}
int main(int argc, char **argv) {
    if (work(argc) != 3) return 1;
    execl(argv[1], argv[1], (char *)0);
    return 2;
}
"#;
    let other = inline("executed.c", other, &[]);
    let program = inline("executes.c", program, &[]);
    let mut debuggee = program.launch_with(&[other.binary.to_str().unwrap()]);
    let state = set(&debuggee, &["work"]).remove(0);
    assert_eq!(places(&state), (1, Some(program.line("first"))));
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "first");
    debuggee.resume();
    let stop = debuggee.expect_stop().remove(0);
    assert_eq!(stop.reason, StopReason::Breakpoint(vec![state.id]));
    let changed = changes(&mut debuggee);
    assert_eq!(
        changed.last().map(places),
        Some((1, Some(other.line("other"))))
    );
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(41));
}

#[test]
fn a_program_whose_debug_information_is_apart_is_the_users_all_the_same() {
    let program = r#"
#include <stdio.h>
static volatile int kept;
__attribute__((noinline)) static int note(int n) { kept = n; return kept; }
static int work(int n) {
    int noted = note(n); // stop: work
    return noted + 1;
}
int (*volatile indirect)(int) = work;
int main(void) {
    int sum = work(1);
    return indirect(sum) + note(39);
}
"#;
    let whole = inline("apart.c", program, &["-O2"]);
    let folder = whole.binary.with_extension("apart");
    std::fs::create_dir_all(&folder).unwrap();
    let objcopy = |arguments: &[&str]| {
        let mut command = std::process::Command::new("objcopy");
        let status = command.current_dir(&folder).args(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    let whole_path = whole.binary.to_str().unwrap();
    // Other runs of the test write the same file.
    objcopy(&["--only-keep-debug", whole_path, "apart.debug"]);
    objcopy(&[
        "--strip-all",
        "--add-gnu-debuglink=apart.debug",
        whole_path,
        "apart",
    ]);
    let options = dapple_engine::launch::LaunchOptions {
        program: folder.join("apart"),
        ..Default::default()
    };
    let mut debuggee = whole.launch_options(options);
    let states = set(&debuggee, &["work", "wrk"]);
    // An inlined copy in `main`, and the function itself.
    assert_eq!(places(&states[0]).0, 2);
    let Resolution::Pending(message) = &states[1].resolution else {
        panic!("{states:?}")
    };
    assert!(message.ends_with("; a similar name is work"), "{message}");
    for _ in 0..2 {
        let (_, place) = debuggee.run_to_breakpoint();
        assert_eq!(place, "work");
    }
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(42));
}
