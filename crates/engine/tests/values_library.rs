//! The standard library of C++: what is shown of a program's values is the same whichever compiler and library made it.
//!
//! `values/library/SECTION.txt` is what g++ and libstdc++ give. Where another compiler or library gives something else,
//! `SECTION.TOOLS.diff` says what.

mod support;

use expect_test::expect_file;
use support::{Fixture, clang, fixture, fixture_by, has_libcxx, listing};

const SECTIONS: [&str; 8] = [
    "texts",
    "sequences",
    "tables",
    "owners",
    "choices",
    "measures",
    "positions",
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
        let frame = listing::innermost(debuggee.session(), thread);
        listing::locals(debuggee.session(), frame, 2)
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
