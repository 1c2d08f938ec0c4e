//! Values in stopped programs, as text.

use crate::support;
use crate::support::{Debuggee, Fixture, behind_qemu, fixture, libraries, listing};
use dapple_engine::{Session, ThreadId};
use expect_test::{ExpectFile, expect_file};

/// Runs to a marked line and compares the locals there.
fn check(fixture: &Fixture, stop: &str, depth: usize, expected: ExpectFile) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let text = listing::locals_live_and_post_mortem(debuggee.session(), thread, depth);
    // With addresses of 4 bytes, some types are others.
    if behind_qemu::machine().as_deref() == Some("arm") {
        let differ = libraries::differences(&expected.data(), &text);
        let file = expected.path.with_extension("arm.diff");
        return expect_file![file].assert_eq(&differ);
    }
    expected.assert_eq(&text);
}

#[test]
fn c_scalars_are_shown() {
    check(
        &fixture("values.c", &[]),
        "scalars",
        1,
        expect_file!["values/c_scalars.txt"],
    );
}

#[test]
fn c_pointers_are_shown() {
    check(
        &fixture("values.c", &[]),
        "pointers",
        2,
        expect_file!["values/c_pointers.txt"],
    );
}

#[test]
fn c_aggregates_are_shown() {
    check(
        &fixture("values.c", &[]),
        "aggregates",
        2,
        expect_file!["values/c_aggregates.txt"],
    );
}

#[test]
fn rust_scalars_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "scalars",
        1,
        expect_file!["values/rust_scalars.txt"],
    );
}

#[test]
fn rust_texts_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "texts",
        1,
        expect_file!["values/rust_texts.txt"],
    );
}

#[test]
fn rust_sequences_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "sequences",
        1,
        expect_file!["values/rust_sequences.txt"],
    );
}

#[test]
fn rust_enums_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "choices",
        2,
        expect_file!["values/rust_enums.txt"],
    );
}

#[test]
fn rust_structures_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "structures",
        2,
        expect_file!["values/rust_structures.txt"],
    );
}

#[test]
fn rust_shared_values_and_tables_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "shared",
        1,
        expect_file!["values/rust_shared_values.txt"],
    );
}

#[test]
fn rust_numbers_of_the_library_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "numbers",
        2,
        expect_file!["values/rust_numbers.txt"],
    );
}

#[test]
fn rust_texts_of_all_kinds_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "texts",
        1,
        expect_file!["values/rust_more_texts.txt"],
    );
}

#[test]
fn rust_containers_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "containers",
        3,
        expect_file!["values/rust_containers.txt"],
    );
}

#[test]
fn rust_owners_cells_and_locks_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "owners",
        2,
        expect_file!["values/rust_owners.txt"],
    );
}

#[test]
fn rust_times_addresses_and_ranges_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "times",
        1,
        expect_file!["values/rust_times.txt"],
    );
}

#[test]
fn rust_iterators_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "iterators",
        1,
        expect_file!["values/rust_iterators.txt"],
    );
}

#[test]
fn rust_iterators_over_tables_and_trees_are_shown() {
    let fixture = fixture("values_more.rs", &[]);
    check(
        &fixture,
        "tables",
        1,
        expect_file!["values/rust_hash_iterators.txt"],
    );
    check(
        &fixture,
        "trees",
        1,
        expect_file!["values/rust_tree_iterators.txt"],
    );
}

#[test]
fn rust_iterators_over_sequences_and_texts_are_shown() {
    let fixture = fixture("values_more.rs", &[]);
    check(
        &fixture,
        "sequences",
        1,
        expect_file!["values/rust_sequence_iterators.txt"],
    );
    check(
        &fixture,
        "cuts",
        1,
        expect_file!["values/rust_text_iterators.txt"],
    );
}

#[test]
fn rust_channels_and_threads_are_shown() {
    let fixture = fixture("values_more.rs", &[]);
    for stop in ["channels", "threads"] {
        let path = format!("values/rust_{stop}.txt");
        check(&fixture, stop, 2, expect_file![path]);
    }
}

#[test]
fn rust_wakers_functions_and_errors_are_shown() {
    let fixture = fixture("values_more.rs", &[]);
    for stop in ["wakers", "functions", "errors", "apply"] {
        let path = format!("values/rust_{stop}.txt");
        check(&fixture, stop, 2, expect_file![path]);
    }
}

/// A wrapper that is shown as its content has a raw view, and values whose raw view would be the same have none.
#[test]
fn rust_wrappers_have_their_raw_form_below_them() {
    let fixture = fixture("values_std.rs", &[]);
    let mut debuggee = fixture.launch();
    let look = |session: &Session, frame| {
        let mut lines = Vec::new();
        for (named, rendered) in session.variables(frame).expect("variables") {
            let count = rendered.named + rendered.indexed;
            let children = session.children(&named.value, None, 0..count);
            let children = children.expect("children");
            assert_eq!(children.len() as u64, count, "{}", named.name);
            let raws = children.iter().filter(|(child, _)| child.name == "[raw]");
            let raws: Vec<_> = raws.collect();
            assert!(raws.len() <= 1, "{}", named.name);
            for (_, raw) in raws {
                let name = &named.name;
                let text = listing::mask(&raw.text);
                // A union contains an address, and this number is a part of it.
                let number = "data: Data { value: ";
                let text = match text.split_once(number) {
                    Some((head, tail)) if name == "lazy_lock" => {
                        let rest = tail.trim_start_matches(|c: char| c == '-' || c.is_numeric());
                        format!("{head}{number}…{rest}")
                    }
                    _ => text,
                };
                lines.push(format!("{name}: {} = {text}", rendered.type_name));
            }
        }
        lines.join("\n") + "\n"
    };
    let mut shown = String::new();
    let stops = ["numbers", "owners", "times"];
    debuggee.break_at(&stops);
    for _ in stops {
        let (thread, _) = debuggee.run_to_breakpoint();
        shown.push_str(&listing::live_and_post_mortem(
            debuggee.session(),
            thread,
            look,
        ));
    }
    expect_file!["values/rust_raw_forms.txt"].assert_eq(&shown);
}

#[test]
fn rust_trait_objects_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "objects",
        2,
        expect_file!["values/rust_objects.txt"],
    );
}

#[test]
fn rust_shapes_of_types_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "shapes",
        2,
        expect_file!["values/rust_shapes.txt"],
    );
}

#[test]
fn rust_enums_of_all_layouts_are_shown() {
    check(
        &fixture("values_std.rs", &[]),
        "enums",
        1,
        expect_file!["values/rust_more_enums.txt"],
    );
}

#[test]
fn rust_futures_are_shown() {
    check(
        &fixture("futures.rs", &[]),
        "main",
        3,
        expect_file!["values/rust_futures.txt"],
    );
}

#[test]
fn cpp_language_values_are_shown() {
    check(
        &fixture("values.cpp", &[]),
        "language",
        2,
        expect_file!["values/cpp_language_values.txt"],
    );
}

#[test]
fn cpp_strings_are_shown() {
    check(
        &fixture("values.cpp", &[]),
        "strings",
        1,
        expect_file!["values/cpp_strings.txt"],
    );
}

#[test]
fn cpp_containers_are_shown() {
    check(
        &fixture("values.cpp", &[]),
        "containers",
        1,
        expect_file!["values/cpp_containers.txt"],
    );
}

#[test]
fn cpp_owners_are_shown() {
    check(
        &fixture("values.cpp", &[]),
        "owners",
        1,
        expect_file!["values/cpp_owners.txt"],
    );
}

/// Uninitialized variables must neither hang the debugger nor make it allocate much memory.
#[test]
fn uninitialised_values_are_shown_in_time() {
    let fixture = support::inline(
        "garbage.cpp",
        r#"
#include <deque>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
#include <cstring>
struct All {
    std::string text;
    std::vector<int> numbers;
    std::map<int, std::string> map;
    std::unordered_map<int, int> table;
    std::list<int> list;
    std::deque<int> deque;
    std::vector<bool> bits;
};
alignas(All) static unsigned char ones[sizeof(All)], places[sizeof(All)];
int main()
{
    std::memset(ones, 0xff, sizeof ones);
    // Every word points to the object itself: endless lists and trees.
    for (std::size_t at = 0; at + 8 <= sizeof places; at += 8) {
        void *self = places;
        std::memcpy(places + at, &self, sizeof self);
    }
    All &wild = reinterpret_cast<All &>(ones);
    All &endless = reinterpret_cast<All &>(places);
    return sizeof wild != sizeof endless; // stop: main
}
"#,
        &[],
    );
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let text = listing::live_and_post_mortem(debuggee.session(), thread, |session, frame| {
        let start = std::time::Instant::now();
        let text = listing::locals(session, frame, 3);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        text
    });
    assert!(text.len() < 100_000, "{}", text.len());
    assert!(text.contains("wild: All &") && text.contains("endless: All &"));
}

#[test]
fn rust_values_are_shown_before_they_are_set() {
    let fixture = support::inline(
        "early.rs",
        r#"
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem::MaybeUninit;

#[allow(dead_code)]
struct All {
    text: String,
    numbers: Vec<u64>,
    nested: Vec<Vec<String>>,
    queue: VecDeque<u16>,
    map: HashMap<String, Vec<u8>>,
    tree: BTreeMap<u32, String>,
    maybe: Option<Box<[String]>>,
    borrowed: &'static str,
}
fn main() {
    let mut ones = MaybeUninit::<All>::uninit();
    // SAFETY: bytes of a place that is never read as the type.
    unsafe { ones.as_mut_ptr().cast::<u8>().write_bytes(0xff, size_of::<All>()) };
    let mut sevens = MaybeUninit::<All>::uninit();
    // SAFETY: as above.
    unsafe { sevens.as_mut_ptr().cast::<u8>().write_bytes(0x07, size_of::<All>()) };
    std::hint::black_box((&ones, &sevens)); // stop: main
}
"#,
        &[],
    );
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let text = listing::live_and_post_mortem(debuggee.session(), thread, |session, frame| {
        let start = std::time::Instant::now();
        let text = listing::locals(session, frame, 4);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        text
    });
    assert!(text.len() < 100_000, "{}", text.len());
    assert!(text.contains("ones") && text.contains("sevens"), "{text}");
}

#[test]
fn the_raw_form_is_one_expansion_away() {
    let fixture = fixture("values.rs", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["texts"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    listing::live_and_post_mortem(debuggee.session(), thread, |session, frame| {
        let (owned, rendered) = session.evaluate("owned", Some(frame)).expect("owned");
        assert_eq!((rendered.named, rendered.indexed), (1, 0));
        let children = session
            .children(&owned.value, Some("owned"), 0..10)
            .expect("children");
        let (raw, rendered) = &children[0];
        assert_eq!(raw.name, "[raw]");
        assert!(
            rendered.text.starts_with("String { vec: "),
            "{}",
            rendered.text
        );
        let fields = session.children(&raw.value, None, 0..10).expect("fields");
        assert_eq!(fields[0].0.name, "vec");
        assert_eq!(fields[0].1.text, "len = 5 [111, 119, 110, 101, 100]");
    });
}

/// The statics of the thread's frame, sorted.
fn statics_of(debuggee: &Debuggee<'_>, thread: ThreadId) -> Vec<String> {
    let look = |session: &Session, frame| {
        let statics = session.statics(frame).expect("statics");
        let lines = statics.iter().map(|(named, rendered)| {
            format!("{}: {} = {}", named.name, rendered.type_name, rendered.text)
        });
        lines.collect::<Vec<String>>()
    };
    let mut lines = listing::live_and_post_mortem(debuggee.session(), thread, look);
    lines.sort();
    lines
}

/// Of the two statics that the macro makes of each, the linker has discarded one.
#[test]
fn rust_variables_of_threads_are_listed_once() {
    let fixture = fixture("thread_locals.rs", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["thread"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let mut lines = statics_of(&debuggee, thread);
    lines.retain(|line| line.starts_with("thread_locals::"));
    let expected = [
        "thread_locals::LATER: Storage<RefCell<String>, ()> = <not set in this thread yet>",
        "thread_locals::LEVEL: Storage<Cell<i32>, !> = Cell { value: 9 }",
        r#"thread_locals::NAMES: Storage<RefCell<Vec<String>>, ()> = RefCell { value: ["first", "second"] }"#,
        "thread_locals::STATE: Cell<u8> = Cell { value: 5 }",
        "thread_locals::other::LEVEL: Cell<u16> = Cell { value: 78 }",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn variables_without_a_place_are_not_taken_for_those_of_threads() {
    let fixture = fixture("thread_names.c", &["-O2", "-Wno-unused-variable"]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["other"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let text = listing::locals_live_and_post_mortem(debuggee.session(), thread, 1);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("n:"))
        .collect();
    let expected = [
        "inside: int = <optimized out>",
        "own: int = <optimized out>",
        "counter: int = <optimized out>",
    ];
    assert_eq!(lines, expected);
    let statics = ["counter: int = 7", "own: int = 9"];
    assert_eq!(statics_of(&debuggee, thread), statics);
}

#[test]
fn statics_of_the_unit_are_listed() {
    let fixture = fixture("values.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let lines = statics_of(&debuggee, thread);
    let expected = [
        "global_counter: int = 42",
        "per_thread: int = 9",
        "static_text: const char [11] = \"file scope\"",
        "unnamed: {anonymous struct} = {inside = 77}",
        "zeros: int [4] = {0, 0, 0, 0}",
    ];
    assert_eq!(lines, expected);
}

/// The values that rustc describes are right, or are reported as optimized out. Left out are those that it describes as stored in memory
/// before it has stored them.
#[test]
fn rust_values_of_optimised_programs_are_shown() {
    const LATER: [&str; 3] = ["pointer: *const [i32]", "array_2d: ", "parse_error: "];
    let fixture = fixture("values_std.rs", &["-O"]);
    let mut debuggee = fixture.launch();
    let stops = [
        "numbers",
        "texts",
        "containers",
        "owners",
        "times",
        "iterators",
        "objects",
        "shapes",
    ];
    debuggee.break_at(&stops);
    let mut shown = String::new();
    for stop in stops {
        let (thread, place) = debuggee.run_to_breakpoint();
        assert_eq!(place, stop);
        shown.push_str(&format!("// {stop}\n"));
        let locals = listing::locals_live_and_post_mortem(debuggee.session(), thread, 0);
        for line in locals.lines() {
            if !LATER.iter().any(|later| line.starts_with(later)) {
                shown.push_str(line);
                shown.push('\n');
            }
        }
    }
    expect_file!["values/rust_optimised.txt"].assert_eq(&shown);
}

#[test]
fn cpp_static_members_are_below_their_objects() {
    check(
        &fixture("statics.cpp", &["-std=c++17"]),
        "statics",
        2,
        expect_file!["values/cpp_statics.txt"],
    );
}

#[test]
fn static_members_compiled_by_clang_are_too() {
    let Some(clang) = support::clang().map(|clang| clang.replace("clang", "clang++")) else {
        return println!("there is no clang here");
    };
    check(
        &support::fixture_by(&clang, "statics.cpp", &["-std=c++17", "-gdwarf-4"]),
        "statics",
        2,
        expect_file!["values/cpp_statics_by_clang.txt"],
    );
}
