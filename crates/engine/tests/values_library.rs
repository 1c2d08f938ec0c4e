//! The standard library of C++: what is shown of a program's values is the same whichever compiler and library made it.
//!
//! `values/library/SECTION.txt` is what g++ and libstdc++ give. Where another compiler or library gives something else,
//! `SECTION.TOOLS.diff` says what.

mod support;

use dapple_engine::Session;
use dapple_engine::values::NamedValue;
use expect_test::expect_file;
use support::optimised::{Held, hold};
use support::{Fixture, clang, fixture, fixture_by, has_libcxx, inline, inline_by, listing};

const SECTIONS: [&str; 9] = [
    "texts",
    "sequences",
    "tables",
    "owners",
    "choices",
    "measures",
    "positions",
    "adapters",
    "classes",
];

/// How a program is made, and what it is called in the names of files.
struct Tools {
    name: &'static str,
    flags: &'static [&'static str],
}

/// Clang's. libc++ is linked in, so that its headers and code are the same.
const CLANG: [Tools; 4] = [
    Tools {
        name: "clang-libstdc++",
        flags: &["-fstandalone-debug"],
    },
    Tools {
        name: "clang-libc++",
        flags: &[
            "-fstandalone-debug",
            "-stdlib=libc++",
            "-static-libstdc++",
            "-lc++abi",
        ],
    },
    // What clang does unless told otherwise: types that it believes to be described elsewhere are only declared.
    Tools {
        name: "clang-libstdc++-limited",
        flags: &[],
    },
    Tools {
        name: "clang-libc++-limited",
        flags: &["-stdlib=libc++", "-static-libstdc++", "-lc++abi"],
    },
];

/// What is shown in each section.
fn shown(fixture: &Fixture) -> Vec<String> {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&SECTIONS);
    let stop = |_| {
        let (thread, _) = debuggee.run_to_breakpoint();
        listing::locals_live_and_post_mortem(debuggee.session(), thread, 2)
    };
    SECTIONS.map(stop).into()
}

/// The lines that differ, `-` of the first and `+` of the second.
fn differences(first: &str, second: &str) -> String {
    let first: Vec<&str> = first.lines().collect();
    let second: Vec<&str> = second.lines().collect();
    // The longest common rest from each pair of lines on.
    let width = second.len() + 1;
    let mut common = vec![0; (first.len() + 1) * width];
    for i in (0..first.len()).rev() {
        for j in (0..second.len()).rev() {
            common[i * width + j] = if first[i] == second[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut text) = (0, 0, String::new());
    while i < first.len() || j < second.len() {
        if i < first.len() && j < second.len() && first[i] == second[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == second.len()
            || (i < first.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            text.push_str(&format!("-{}\n", first[i]));
            i += 1;
        } else {
            text.push_str(&format!("+{}\n", second[j]));
            j += 1;
        }
    }
    text
}

#[test]
fn values_of_the_library_are_shown_as_their_users_think_of_them() {
    let fixture = fixture("library.cpp", &["-std=c++20"]);
    for (section, shown) in SECTIONS.iter().zip(shown(&fixture)) {
        let path = format!("values/library/{section}.txt");
        expect_file![path].assert_eq(&shown);
    }
}

#[test]
fn values_of_the_library_are_shown_alike_whatever_made_the_program() {
    // The one that the differences were written for.
    let Some(compiler) = clang().filter(|name| name == "clang-22") else {
        return println!("there is no clang 22 here");
    };
    let compiler = compiler.replace("clang", "clang++");
    let has_libcxx = has_libcxx(&compiler);
    let gcc = shown(&fixture("library.cpp", &["-std=c++20"]));
    for Tools { name, flags } in CLANG {
        if flags.contains(&"-stdlib=libc++") && !has_libcxx {
            println!("there is no libc++ here");
            continue;
        }
        let flags: Vec<&str> = [&["-std=c++20"], flags].concat();
        let other = fixture_by(&compiler, "library.cpp", &flags);
        for ((section, gcc), other) in SECTIONS.iter().zip(&gcc).zip(shown(&other)) {
            let path = format!("values/library/{section}.{name}.diff");
            expect_file![path].assert_eq(&differences(gcc, &other));
        }
    }
}

/// Where a mutex says who has it, it is the thread that stopped.
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

/// How many of the variables of an optimised program are shown as without the optimiser. Nothing is shown otherwise.
fn held(compiler: &str, flags: &[&str]) -> Held {
    let flags = |level| [&["-std=c++20", level], flags].concat();
    let expected = shown(&fixture_by(compiler, "library.cpp", &flags("-O0")));
    let optimised = shown(&fixture_by(compiler, "library.cpp", &flags("-O2")));
    let mut held = Held::default();
    for ((section, expected), optimised) in SECTIONS.iter().zip(&expected).zip(&optimised) {
        // Its stop is in code that gcc has moved before the variables are set.
        if *section != "adapters" {
            hold(optimised, expected, &mut held);
        }
    }
    println!("{compiler} {flags:?}: {held:#?}", flags = flags("-O2"));
    assert!(held.wrong.is_empty(), "{compiler}: {:#?}", held.wrong);
    held
}

#[test]
fn values_that_gcc_has_optimised_are_right_or_missing() {
    let held = held("c++", &[]);
    assert_eq!((held.missing, held.unnamed), (0, 0), "{held:?}");
}

#[test]
fn values_that_clang_has_optimised_are_right_or_missing() {
    let Some(compiler) = clang().filter(|name| name == "clang-22") else {
        return println!("there is no clang 22 here");
    };
    let compiler = compiler.replace("clang", "clang++");
    let held_of = |tools: &Tools| held(&compiler, tools.flags);
    let held = held_of(&CLANG[0]);
    assert!(held.same >= 145, "{held:?}");
    if has_libcxx(&compiler) {
        let held = held_of(&CLANG[1]);
        assert!(held.same >= 145, "{held:?}");
    }
}

/// Whatever a value is shown as, its fields are in its child `[raw]`.
#[test]
fn fields_of_the_library_are_one_expansion_away() {
    let fixture = fixture("library.cpp", &["-std=c++20"]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&SECTIONS);
    for section in SECTIONS {
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
            // An array's and a pair's fields are what they are.
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
                // The elements, and what they are kept in.
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
