//! The C++ standard library: a program's values are shown alike, whichever compiler and library built it.
//!
//! `values/library/SECTION.txt` has the values of g++ and libstdc++. If another compiler or library gives other values,
//! `SECTION.TOOLS.diff` lists the differences.

use crate::support::libraries::{CLANG, Sections, Tools};
use crate::support::{Fixture, clang, fixture, fixture_by, has_libcxx, inline, inline_by, listing};
use dapple_engine::Session;
use dapple_engine::values::NamedValue;

/// The sections of `library.cpp`.
const FIRST: Sections<9> = Sections {
    source: "library.cpp",
    names: [
        "texts",
        "sequences",
        "tables",
        "owners",
        "choices",
        "measures",
        "positions",
        "adapters",
        "classes",
    ],
    moved: &["adapters"],
};

/// The sections of `library_rest.cpp`.
const REST: Sections<7> = Sections {
    source: "library_rest.cpp",
    names: [
        "backwards",
        "threads",
        "errors",
        "calls",
        "streams",
        "counts",
        "members",
    ],
    moved: &[],
};

#[test]
fn values_of_the_library_are_shown_as_their_users_think_of_them() {
    FIRST.check();
}

#[test]
fn values_of_the_library_are_shown_alike_whatever_made_the_program() {
    FIRST.check_others();
}

#[test]
fn the_rest_of_the_library_is_shown_as_its_users_think_of_it() {
    REST.check();
}

#[test]
fn the_rest_of_the_library_is_shown_alike_whatever_made_the_program() {
    REST.check_others();
}

/// If a mutex records its owner, the owner is the thread that stopped.
fn check_locked(fixture: &Fixture) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["locked"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let shown = listing::locals_live_and_post_mortem(debuggee.session(), thread, 0);
    let expected = format!(
        "mutex: std::mutex = locked by thread {thread}\n\
         twice: std::recursive_mutex = locked 2 times by thread {thread}\n\
         guard: std::lock_guard<std::mutex> = locked by thread {thread}\n\
         once: std::lock_guard<std::recursive_mutex> = locked 2 times by thread {thread}\n\
         again: std::unique_lock<std::recursive_mutex> = 0x… locked 2 times by thread {thread} (held)\n"
    );
    assert_eq!(shown, expected);
}

#[test]
fn mutexes_say_who_has_them() {
    check_locked(&fixture("library.cpp", &["-std=c++20"]));
    if let Some(compiler) = clang() {
        let compiler = compiler.replace("clang", "clang++");
        for Tools { flags, .. } in &CLANG[..if has_libcxx(&compiler) { 2 } else { 1 }] {
            let flags: Vec<&str> = [&["-std=c++20"], *flags].concat();
            check_locked(&fixture_by(&compiler, "library.cpp", &flags));
        }
    }
}

/// Types that are new in C++23. g++ 12 has only `expected` of them, with the same layout.
#[test]
fn the_types_of_a_newer_standard_are_shown_too() {
    let expected = "good: std::expected<int, std::string> = 5\n\
         bad: std::expected<int, std::string> = unexpected(\"broken\")\n\
         done: std::expected<void, int> = void\n\
         undone: std::expected<void, int> = unexpected(7)\n";
    let new = "stock: std::flat_map<std::string, int, std::vector<std::string>, std::vector<int>> = len = 2 {[\"fig\"] = 1, [\"pear\"] = 2}\n\
         numbers: std::flat_set<int, std::vector<int>> = len = 3 {1, 2, 3}\n\
         grid: std::mdspan<int, std::extents<unsigned long>> = len = 2 {{1, 2, 3}, {4, 5, 6}}\n\
         fixed: std::mdspan<int, std::extents<unsigned long, 3, 2>> = len = 3 {{1, 2}, {3, 4}, {5, 6}}\n";
    let shown = |fixture: Fixture| {
        let mut debuggee = fixture.launch();
        debuggee.break_at(&["newer"]);
        let (thread, _) = debuggee.run_to_breakpoint();
        listing::locals_live_and_post_mortem(debuggee.session(), thread, 0)
    };
    let old = fixture("library_newer.cpp", &["-std=c++23"]);
    assert_eq!(shown(old), expected);
    if let Some(compiler) = clang().map(|compiler| compiler.replace("clang", "clang++"))
        && has_libcxx(&compiler)
    {
        let flags = ["-std=c++23", "-stdlib=libc++", "-fstandalone-debug"];
        let newer = fixture_by(&compiler, "library_newer.cpp", &flags);
        assert_eq!(shown(newer), format!("{expected}{new}"));
    }
}

#[test]
fn values_that_gcc_has_optimised_are_right_or_missing() {
    let comparison = FIRST.compared("c++", &[]);
    assert_eq!(
        (comparison.missing, comparison.unnamed),
        (0, 0),
        "{comparison:?}"
    );
    // gcc replaces a reference by the object it refers to.
    let comparison = REST.compared("c++", &[]);
    assert_eq!(
        (comparison.missing, comparison.unnamed),
        (1, 0),
        "{comparison:?}"
    );
}

#[test]
fn values_that_clang_has_optimised_are_right_or_missing() {
    FIRST.check_compiled_by_clang(145);
    REST.check_compiled_by_clang(100);
}

/// Waiters and writers are shown if the program's lock type records them. libc++'s own lock records no writer.
fn check_waited(fixture: &Fixture, is_libcxx: bool) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["waited"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let shown = listing::locals_live_and_post_mortem(debuggee.session(), thread, 0);
    let writer = match is_libcxx {
        true => String::new(),
        false => format!(" by thread {thread}"),
    };
    let expected = format!(
        "mutex: std::mutex = locked by thread {thread}\n\
         condition: std::condition_variable = 1 thread waits\n\
         exclusive: std::shared_mutex = locked{writer}\n\
         guard: std::unique_lock<std::mutex> = 0x… locked by thread {thread} (held)\n\
         is_waiting: bool = true\n\
         is_done: bool = false\n\
         waiter: std::thread = thread 0x…\n\
         id: std::thread::id = thread 0x…\n"
    );
    assert_eq!(shown, expected);
}

#[test]
fn conditions_say_how_many_wait_and_shared_mutexes_who_writes() {
    check_waited(&fixture(REST.source, &["-std=c++20"]), false);
    if let Some(compiler) = clang() {
        let compiler = compiler.replace("clang", "clang++");
        for Tools { flags, .. } in &CLANG[..if has_libcxx(&compiler) { 2 } else { 1 }] {
            let flags: Vec<&str> = [&["-std=c++20"], *flags].concat();
            let is_libcxx = flags.contains(&"-stdlib=libc++");
            check_waited(&fixture_by(&compiler, REST.source, &flags), is_libcxx);
        }
    }
}

/// However a value is shown, its fields are in its child `[raw]`.
#[test]
fn fields_of_the_library_are_one_expansion_away() {
    let fixture = fixture(FIRST.source, &["-std=c++20"]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&FIRST.names);
    for section in FIRST.names {
        let (thread, _) = debuggee.run_to_breakpoint();
        let session = debuggee.session();
        let frame = listing::innermost(session, thread);
        let variables = session.variables(frame).expect("variables");
        for (named, rendered) in variables.iter().filter(|_| section != "classes") {
            let roots = ["std::", "__gnu_cxx::"];
            let is_library = roots
                .iter()
                .any(|root| rendered.type_name.starts_with(root))
                && !rendered.type_name.ends_with(['*', ']'])
                && !rendered.type_name.starts_with("std::pair");
            let children = session.children(&named.value, None, 0..rendered.named);
            let children = children.expect("children");
            let raw = children.iter().find(|(child, _)| child.name == "[raw]");
            // The children of an array or a pair are its fields, so it has no raw view.
            let expected = is_library && !rendered.type_name.starts_with("std::array");
            assert_eq!(raw.is_some(), expected, "{}: {rendered:?}", named.name);
            if let Some((raw, rendered)) = raw {
                let count = rendered.named + rendered.indexed;
                let fields = session.children(&raw.value, None, 0..count.min(4));
                assert_eq!(
                    fields.expect("fields").len() as u64,
                    count.min(4),
                    "{}",
                    named.name
                );
            }
        }
    }
}

const ADAPTORS: &str = r#"
#include <functional>
#include <queue>
#include <stack>
#include <string>
#include <vector>
int main()
{
    std::stack<int> stack;
    stack.push(1);
    stack.push(2);
    std::queue<std::string> queue;
    queue.push("first");
    std::priority_queue<int> heap;
    heap.push(3);
    heap.push(4);
    std::stack<int, std::vector<int>> none;
    std::string text = "referred to";
    std::reference_wrapper<std::string> reference = text;
    return none.size() + reference.get().size(); // stop: main
}
"#;

#[test]
fn adaptors_are_shown_as_what_they_adapt() {
    let expected = [
        "stack = len = 2 {1, 2}",
        "queue = len = 1 {\"first\"}",
        "heap = len = 2 {4, 3}",
        "none = len = 0 {}",
        "text = \"referred to\"",
        "reference = \"referred to\"",
    ];
    let check = |fixture: Fixture| {
        let mut debuggee = fixture.launch();
        debuggee.break_at(&["main"]);
        let (thread, _) = debuggee.run_to_breakpoint();
        let look = |session: &Session, frame| -> Vec<String> {
            let variables = session.variables(frame).expect("variables");
            let lines = variables.iter().map(|(named, rendered)| {
                // The elements, and the underlying container.
                let count = rendered.named + rendered.indexed;
                let children = session.children(&named.value, None, 0..count);
                let children = children.expect("children");
                let is_raw = |(child, _): &(NamedValue, _)| child.name == "[raw]";
                assert!(children.iter().any(is_raw), "{}", named.name);
                format!("{} = {}", named.name, listing::mask(&rendered.text))
            });
            lines.collect()
        };
        let shown = listing::live_and_post_mortem(debuggee.session(), thread, look);
        assert_eq!(shown, expected, "{:?}", fixture.binary);
    };
    check(inline("adaptors.cpp", ADAPTORS, &[]));
    let Some(compiler) = clang().map(|name| name.replace("clang", "clang++")) else {
        return println!("there is no clang here");
    };
    for Tools { flags, .. } in &CLANG[..2] {
        if !flags.contains(&"-stdlib=libc++") || has_libcxx(&compiler) {
            check(inline_by(&compiler, "adaptors.cpp", ADAPTORS, flags));
        }
    }
}
