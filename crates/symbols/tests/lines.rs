//! Line tables in both directions, and inlined calls, compared with binutils and with what users expect.

mod support;

use dapple_symbols::lines::{LineLookup, LineRow};
use dapple_symbols::{FileAddress, Module};
use std::path::Path;
use support::{Fixture, compile, run};

const INLINES: &str = r#"
#include <cstdio>
static volatile int sink;
static inline __attribute__((always_inline)) int square(int x) {
    sink = x;
    return x * x; // stop: square
}
static inline __attribute__((always_inline)) int sum(int a, int b) {
    int left = square(a); // stop: left
    int right = square(b);
    return left + right;
}
template <typename T> __attribute__((noinline)) T larger(T a, T b) {
    return a > b ? a : b; // stop: larger
}
int main(int argc, char **argv) {
    int total = sum(argc, 3);
    for (int i = 0; i < argc; i++) { // stop: for
        total += square(i);
    }
    std::printf("%d %f %d\n", larger(total, 2), larger(1.0, 2.0), argc);
    return 0; // stop: end
}
"#;

/// The output of `addr2line -i`: for each address, `file:line` from the innermost inlined call outwards.
fn addr2line(binary: &Path, addresses: &[u64]) -> Vec<Vec<String>> {
    let mut answers = Vec::new();
    for chunk in addresses.chunks(1000) {
        let mut arguments = vec![
            "-i".to_owned(),
            "-a".to_owned(),
            "-e".to_owned(),
            binary.display().to_string(),
        ];
        arguments.extend(chunk.iter().map(|address| format!("{address:#x}")));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        for line in run("addr2line", &arguments).lines() {
            if line.starts_with("0x") {
                answers.push(Vec::new());
                continue;
            }
            let place = line.split(" (discriminator").next().unwrap_or(line);
            answers.last_mut().unwrap().push(place.replace('?', "0"));
        }
    }
    answers
}

fn ours(module: &Module, address: u64) -> Vec<String> {
    let Some(row) = module.row_at(FileAddress(address)) else {
        return vec!["00:0".to_owned()];
    };
    let mut places = vec![format!("{}:{}", row.file.display(), row.line)];
    for call in module.inlined_at(FileAddress(address)).iter().rev() {
        let site = call.call_site.as_ref().unwrap();
        places.push(format!("{}:{}", site.file.display(), site.line));
    }
    places
}

/// Compares all addresses in `.text` where a row starts, and the addresses directly before and after them.
fn compare_with_addr2line(fixture: &Fixture) {
    let module = fixture.open();
    let rows = module.rows_in(FileAddress(0)..FileAddress(u64::MAX));
    // Of several rows at an address, BFD takes the last and Dapple a statement. Other tests cover these.
    let shared = |row: &LineRow| {
        let same = |other: &&LineRow| other.range.start == row.range.start;
        rows.iter().filter(same).any(|other| other.line != row.line)
    };
    let mut addresses: Vec<u64> = rows
        .iter()
        .filter(|row| !shared(row))
        .flat_map(|row| {
            [
                row.range.start.0,
                row.range.start.0 + 1,
                row.range.end.0.saturating_sub(1),
            ]
        })
        .filter(|&address| module.row_at(FileAddress(address)).is_some())
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert!(addresses.len() > 20, "{}", addresses.len());
    let theirs = addr2line(&fixture.binary, &addresses);
    assert_eq!(theirs.len(), addresses.len());
    let mut differences = Vec::new();
    for (&address, theirs) in addresses.iter().zip(&theirs) {
        let ours = ours(&module, address);
        if ours != *theirs {
            differences.push(format!("{address:#x}: {ours:?}, addr2line: {theirs:?}"));
        }
    }
    let shown = differences.len().min(10);
    assert!(
        differences.is_empty(),
        "{} of {}: {:#?}",
        differences.len(),
        addresses.len(),
        &differences[..shown]
    );
}

#[test]
fn rows_and_inlined_calls_agree_with_addr2line_for_cpp() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        for level in ["-O0", "-O2"] {
            compare_with_addr2line(&compile("inlines.cpp", INLINES, &[version, level]));
        }
    }
}

#[test]
fn compressed_sections_are_read() {
    compare_with_addr2line(&compile("inlines.cpp", INLINES, &["-g", "-O2", "-gz"]));
}

#[test]
fn split_sequences_are_read() {
    let flags = [
        "-g",
        "-O2",
        "-ffunction-sections",
        "-Wl,--gc-sections",
        "-no-pie",
    ];
    compare_with_addr2line(&compile("inlines.cpp", INLINES, &flags));
}

#[test]
fn a_line_resolves_once_in_each_function_instance() {
    let fixture = compile("inlines.cpp", INLINES, &["-g", "-O0"]);
    let module = fixture.open();
    assert_eq!(
        fixture.addresses(&module, "larger").len(),
        2,
        "two instances of the template"
    );
    assert_eq!(
        fixture.addresses(&module, "for").len(),
        1,
        "the parts of a for statement are one place"
    );
    assert_eq!(
        fixture.addresses(&module, "square").len(),
        3,
        "three inlined copies"
    );
    assert_eq!(fixture.addresses(&module, "left").len(), 1);
    for address in fixture.addresses(&module, "larger") {
        assert_eq!(module.row_at(address).unwrap().line, fixture.line("larger"));
        let function = module.function_at(address).unwrap();
        assert!(address > function.entry, "past the prologue");
    }
}

#[test]
fn a_functions_opening_line_is_past_its_prologue() {
    let text = "int twice(int x)\n{\n  return 2 * x;\n}\n\nint main(void) { return twice(4); }\n";
    let fixture = compile("opening.c", text, &["-g", "-O0"]);
    let module = fixture.open();
    let found = |line| match module.lookup_line(&fixture.source, line) {
        LineLookup::Found(found) => {
            assert_eq!(found.len(), 1, "{found:?}");
            (found[0].line, module.row_at(found[0].address).unwrap().line)
        }
        other => panic!("{line}: {other:?}"),
    };
    let twice = module.symbol_named("twice").unwrap().address;
    assert_eq!(
        found(1).1,
        3,
        "{:?}",
        module.rows_in(twice..FileAddress(twice.0 + 20))
    );
    assert_eq!(found(3), (3, 3));
    assert_eq!(found(2).1, 3);
    assert_eq!(found(4), (4, 4));
    assert_eq!(found(6), (6, 6));
    assert_eq!(
        module.lookup_line(&fixture.source, 5),
        LineLookup::NoCode {
            before: Some(4),
            after: Some(6)
        }
    );
    assert_eq!(
        module.lookup_line(&fixture.source, 99),
        LineLookup::NoCode {
            before: Some(6),
            after: None
        }
    );
}

#[test]
fn optimised_functions_of_gcc_are_entered_at_their_first_instruction() {
    let text = "int g;\n__attribute__((noinline)) int work(int x)\n{\n  if (x) return g;\n  g += x;\n  return g + 1;\n}\nint main(int c, char **v) { return work(c); }\n";
    let fixture = compile("optimised.c", text, &["-g", "-O2"]);
    let module = fixture.open();
    let work = module.functions_named("work");
    assert_eq!(module.after_prologue(work[0].entry), work[0].entry);
}

#[test]
fn lines_without_code_slide_inside_their_function_only() {
    let text = "fn one(x: i32) -> i32 {\n    // nothing\n\n    x + 1\n}\n\n// between\n\nfn main() {\n    // here\n    std::process::exit(one(2));\n}\n";
    let fixture = compile("slide.rs", text, &["-g"]);
    let module = fixture.open();
    let line = |line| match module.lookup_line(&fixture.source, line) {
        LineLookup::Found(found) => Ok(found.iter().map(|found| found.line).collect::<Vec<_>>()),
        LineLookup::NoCode { before, after } => Err((before, after)),
        other => panic!("{other:?}"),
    };
    assert_eq!(line(2), Ok(vec![4]));
    assert_eq!(line(3), Ok(vec![4]));
    assert_eq!(line(10), Ok(vec![11]));
    assert_eq!(line(7), Err((Some(5), Some(9))));
    assert_eq!(line(8), Err((Some(5), Some(9))));
}

#[test]
fn files_are_found_by_the_longest_end_of_their_path() {
    let fixture = compile("inlines.cpp", INLINES, &["-g", "-O0"]);
    let module = fixture.open();
    let line = fixture.line("end");
    let finds = |file: &str| {
        matches!(
            module.lookup_line(Path::new(file), line),
            LineLookup::Found(_)
        )
    };
    assert!(finds("inlines.cpp"));
    let folder = fixture
        .source
        .parent()
        .unwrap()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap();
    assert!(finds(&format!("/elsewhere/{folder}/inlines.cpp")));
    assert!(finds(&format!("./{folder}/../{folder}/inlines.cpp")));
    assert!(!finds("/elsewhere/inlines.cpp"));
    let LineLookup::NoFile { similar } =
        module.lookup_line(Path::new("/elsewhere/inlines.cpp"), line)
    else {
        panic!("found");
    };
    assert_eq!(similar, std::slice::from_ref(&fixture.source));
    assert_eq!(
        module.lookup_line(Path::new("nothing.c"), 1),
        LineLookup::NoFile {
            similar: Vec::new()
        }
    );
    assert!(
        module
            .source_files()
            .iter()
            .any(|file| **file == *fixture.source)
    );
}

#[test]
fn rust_lines_resolve_in_generic_instances_and_closures() {
    let text = "#[inline(never)]\nfn show<T: std::fmt::Debug>(value: T) {\n    println!(\"{value:?}\"); // stop: show\n}\n\nfn main() {\n    show(1);\n    show(\"two\");\n    let doubled: Vec<i32> = [1, 2].iter().map(|x| x * 2).collect(); // stop: closure\n    show(doubled);\n}\n";
    for flags in [&["-g"][..], &["-g", "-Cdwarf-version=5"]] {
        let fixture = compile("generic.rs", text, flags);
        let module = fixture.open();
        assert_eq!(fixture.addresses(&module, "show").len(), 3);
        let closure = fixture.addresses(&module, "closure");
        let names: Vec<String> = closure
            .iter()
            .map(|&address| module.function_at(address).unwrap().name.clone())
            .collect();
        assert!(
            names.iter().any(|name| name == "generic::main"),
            "{names:?}"
        );
        assert!(
            names
                .iter()
                .any(|name| name == "generic::main::{closure#0}"),
            "{names:?}"
        );
        assert_eq!(names.len(), 2);
    }
}

/// The cleanup after a panic precedes the block's normal end, where users expect the stop.
#[test]
fn a_closing_brace_in_rust_is_found_where_the_block_ends() {
    let text = "fn main() {\n    let first = String::from(\"a\");\n    let second = vec![first.clone()];\n    println!(\"{first} {second:?}\");\n} // stop: end\n";
    let fixture = compile("brace.rs", text, &["-g"]);
    let module = fixture.open();
    let found = fixture.addresses(&module, "end");
    let function = module.function_at(found[0]).unwrap();
    let rows = module.rows_in(function.ranges[0].clone());
    let printed = rows
        .iter()
        .rposition(|row| row.line == 4 && row.is_stmt)
        .unwrap();
    let end = rows[printed..]
        .iter()
        .find(|row| row.line == fixture.line("end"))
        .unwrap();
    assert!(
        found.contains(&end.range.start),
        "{found:?} lacks {:?}",
        end.range
    );
}

/// Each line has a second part after its overflow check, and its panic is among the code of the other lines.
#[test]
fn lines_of_arithmetic_in_rust_have_one_place_each() {
    let text = "fn add(mut sum: u32) -> u32 {\n    sum += 1; // stop: first\n    sum += 10; // stop: second\n    sum += 100; // stop: third\n    sum *= 3; // stop: fourth\n    sum\n}\n\nfn main() {\n    println!(\"{}\", add(2));\n}\n";
    let fixture = compile("arithmetic.rs", text, &["-g"]);
    let module = fixture.open();
    for mark in ["first", "second", "third", "fourth"] {
        let found = fixture.addresses(&module, mark);
        assert_eq!(found.len(), 1, "{mark}: {found:?}");
    }
}

/// Between the parts of the macro's line is the panic of the arithmetic on the line before.
#[test]
fn a_macros_line_in_rust_has_one_place() {
    let text = "fn main() {\n    let mut total = 0;\n    for item in &[(1, String::from(\"a\")), (2, String::from(\"b\"))] {\n        total += item.0;\n        println!(\"{} {}: {total}\", item.0, item.1); // stop: told\n    }\n}\n";
    let fixture = compile("macro.rs", text, &["-g"]);
    let module = fixture.open();
    let found = fixture.addresses(&module, "told");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn each_way_to_a_line_of_optimised_code_has_a_place() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 9;
    volatile long sum = 0;
    for (long i = 0; i < count; i++) sum += i * i; // stop: loop
    printf("%ld\n", sum); // stop: behind
    return 0;
}
"#;
    let mut several = 0;
    for optimisation in ["-O1", "-O2", "-O3"] {
        let fixture = compile("ways.c", source, &["-g", optimisation]);
        let module = fixture.open();
        let places = fixture.addresses(&module, "loop");
        several += usize::from(places.len() > 1);
        assert_eq!(
            fixture.addresses(&module, "behind").len(),
            1,
            "{optimisation}"
        );
    }
    assert!(several > 0, "gcc has copied no line");
}
