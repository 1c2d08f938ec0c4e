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

/// The variables of a section, by name, with what is shown of each and its children.
fn variables(section: &str) -> std::collections::BTreeMap<String, String> {
    let mut variables = std::collections::BTreeMap::new();
    let mut name = String::new();
    for line in section.lines() {
        if !line.starts_with([' ', '…'])
            && let Some((own, _)) = line.split_once(": ")
        {
            name = own.to_owned();
        }
        let text: &mut String = variables.entry(name.clone()).or_default();
        text.push_str(line);
        text.push('\n');
    }
    variables
}

/// Where the optimiser has left something, it is what it would be without; where it hasn't, the reason is told.
#[test]
fn values_of_optimised_programs_are_right_or_missing() {
    let expected = shown(&fixture("library.cpp", &["-std=c++20"]));
    let mut programs = vec![fixture("library.cpp", &["-std=c++20", "-O2"])];
    if let Some(clang) = clang().filter(|name| name == "clang-22") {
        let compiler = clang.replace("clang", "clang++");
        let flags = ["-std=c++20", "-O2", "-fstandalone-debug"];
        programs.push(fixture_by(&compiler, "library.cpp", &flags));
    }
    for program in &programs {
        let (mut same, mut missing, mut wrong) = (0, 0, Vec::new());
        for (expected, optimised) in expected.iter().zip(shown(program)) {
            let expected = variables(expected);
            for (name, text) in variables(&optimised) {
                match expected.get(&name) {
                    Some(expected) if value_of(expected) == value_of(&text) => same += 1,
                    _ if value_of(&text).contains('<') => missing += 1,
                    expected => wrong.push((text, expected.cloned())),
                }
            }
        }
        assert!(wrong.is_empty(), "{:?}: {wrong:#?}", program.binary);
        assert!(
            same > 40,
            "{:?}: {same} the same, {missing} missing",
            program.binary
        );
        println!("{:?}: {same} the same, {missing} missing", program.binary);
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

/// What stands behind a variable's name and type.
fn value_of(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(" = ").map_or(line, |(_, value)| value)
}
