//! `dapple symbols` on programs of gcc, g++ and rustc: its output, and its errors for things that don't exist.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Run, dapple, scratch};
use serde_json::Value;

const AREA_C: &str = "struct shape { int side; double scale; };
static struct shape unit = { 1, 1.0 };
static inline __attribute__((always_inline)) int square(int x) {
    volatile int y = x;
    return y * y;
}
int area(struct shape *shape) {
    return square(shape->side) + square(unit.side);
}
int main(int argc, char **argv) {
    unit.side = argc;

    return area(&unit);
}
";

/// Compiles a source in a folder of its own. Returns the paths of the source and the program.
fn compile(compiler: &str, name: &str, text: &str, flags: &[&str]) -> (PathBuf, PathBuf) {
    let thread = std::thread::current();
    let folder = scratch(&format!("symbols/{}", thread.name().unwrap_or("test")));
    let (source, program) = (folder.join(name), folder.join("program"));
    std::fs::write(&source, text).expect("the folder is there");
    let mut command = Command::new(compiler);
    command.args(flags).arg(&source).arg("-o").arg(&program);
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{compiler} is needed: {error}"));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (source, program)
}

fn symbols(program: &Path, arguments: &[&str]) -> Run {
    Run::of(dapple().arg("symbols").arg(program).args(arguments))
}

fn json(program: &Path, arguments: &[&str]) -> Value {
    let output = dapple()
        .arg("symbols")
        .arg(program)
        .arg("--json")
        .args(arguments)
        .output()
        .expect("dapple can be started");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The address of a symbol according to `nm`.
fn nm(program: &Path, name: &str) -> String {
    let output = Command::new("nm").arg(program).output().expect("nm runs");
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = listing
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(name));
    let line = line.unwrap_or_else(|| panic!("{name} is not in {listing}"));
    format!(
        "{:#x}",
        u64::from_str_radix(&line[..16], 16).expect("nm prints hexadecimal digits")
    )
}

#[test]
fn the_summary_has_units_sections_and_what_is_missing() {
    let (_, program) = compile("gcc", "area.c", AREA_C, &["-gdwarf-4", "-O1"]);
    let run = symbols(&program, &[]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:#?}");
    for part in [
        "debug information: DWARF\n",
        "1  C, DWARF 4: GNU C17 ",
        "  .debug_info ",
        "from 1 source files\n",
    ] {
        assert!(
            run.stdout.contains(part),
            "{part} is missing: {}",
            run.stdout
        );
    }
    assert!(!run.stdout.contains("warnings"), "{}", run.stdout);

    let summary = &json(&program, &[])["summary"];
    assert_eq!(summary["debugInfo"], "dwarf");
    assert_eq!(summary["units"][0]["language"], "C");
    assert_eq!(summary["units"][0]["version"], 4);
    assert_eq!(summary["units"][0]["count"], 1);
    let sections = summary["sections"].as_array().expect("a list");
    let info = sections
        .iter()
        .find(|section| section["name"] == ".debug_info")
        .expect("it is there");
    let listing = Command::new("readelf")
        .arg("-SW")
        .arg(&program)
        .output()
        .expect("readelf runs");
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let line = listing
        .lines()
        .find(|line| line.contains(" .debug_info "))
        .expect("it is there");
    let size = format!(" {:06x} ", info["size"].as_u64().expect("a number"));
    assert!(line.contains(&size), "{size} in {line}");

    // Without debug information.
    let (_, program) = compile("gcc", "area.c", AREA_C, &["-O1"]);
    let run = symbols(&program, &[]);
    assert!(
        run.stdout
            .contains("none but a symbol table; compile with -g for more\n"),
        "{run:#?}"
    );
    let (_, program) = compile("gcc", "area.c", AREA_C, &["-O1", "-s"]);
    let run = symbols(&program, &[]);
    assert!(run.stdout.contains("not even a symbol table"), "{run:#?}");
}

#[test]
fn an_address_leads_to_its_inlined_calls_function_line_symbol_and_unit() {
    let (source, program) = compile("gcc", "area.c", AREA_C, &["-g", "-O1"]);
    let line = json(&program, &["--lookup", "area.c:5"]);
    let locations = line["lookups"][0]["locations"]
        .as_array()
        .expect("a list")
        .clone();
    assert!(
        locations.len() >= 2,
        "two copies of the line: {locations:#?}"
    );
    assert!(
        locations
            .iter()
            .all(|location| location["function"] == "square"),
        "{locations:#?}"
    );
    let address = locations[0]["address"].as_str().expect("text");
    let found = &json(&program, &["--lookup", address])["lookups"][0];
    assert_eq!(found["kind"], "address");
    let frames: Vec<(&str, bool, u64)> = found["frames"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|frame| {
            (
                frame["function"].as_str().expect("text"),
                frame["inlined"].as_bool().expect("a truth value"),
                frame["place"]["line"].as_u64().expect("a line"),
            )
        })
        .collect();
    assert_eq!(frames, [("square", true, 5), ("area", false, 8)]);
    assert_eq!(found["symbol"]["name"], "area");
    assert_eq!(found["section"], ".text");
    assert_eq!(found["unit"], source.display().to_string());
    assert_eq!(found["language"], "C");

    let text = symbols(&program, &["--lookup", address]).stdout;
    let source = source.display();
    assert!(text.contains(&format!("  square at {source}:5")), "{text}");
    assert!(text.contains(&format!("  area at {source}:8")), "{text}");
    assert!(text.contains("  symbol area + 0x"), "{text}");
    assert!(text.contains(&format!("  unit {source}, C\n")), "{text}");
}

#[test]
fn a_name_leads_to_functions_types_and_variables() {
    let text = "#include <vector>
        namespace ns { struct Shape { int side; int area() const; int area(int n) const; };
        int Shape::area() const { return side * side; }
        int Shape::area(int n) const { return side * n; } }
        int main(int argc, char **) { std::vector<int> v; v.push_back(argc); ns::Shape s{argc}; return s.area() + s.area(2) + v[0]; }\n";
    let (_, program) = compile("g++", "shapes.cpp", text, &["-g", "-O0"]);
    let found = json(
        &program,
        &[
            "-l",
            "Shape::area",
            "-l",
            "ns::Shape",
            "-l",
            "std::vector<int>::push_back",
        ],
    );
    let lookups = found["lookups"].as_array().expect("a list");
    let functions = lookups[0]["functions"].as_array().expect("a list");
    let shown: Vec<(&str, &str, &str)> = functions
        .iter()
        .map(|function| {
            let text = |name: &str| function[name].as_str().expect("text");
            (text("name"), text("parameters"), text("entry"))
        })
        .collect();
    let entries = ["_ZNK2ns5Shape4areaEv", "_ZNK2ns5Shape4areaEi"].map(|name| nm(&program, name));
    assert_eq!(
        shown,
        [
            ("ns::Shape::area", "", &*entries[0]),
            ("ns::Shape::area", "int", &*entries[1])
        ]
    );
    for function in functions {
        assert_ne!(
            function["breakpoint"], function["entry"],
            "it has a prologue"
        );
    }
    assert_eq!(lookups[1]["types"][0]["name"], "ns::Shape");
    assert_eq!(lookups[1]["types"][0]["size"], 4);
    let pushed = lookups[2]["functions"].as_array().expect("a list");
    assert!(!pushed.is_empty(), "{found:#}");
    assert!(
        pushed
            .iter()
            .all(|function| function["name"] == "std::vector<int>::push_back"),
        "{pushed:#?}"
    );

    let text = symbols(&program, &["-l", "area(int)"]).stdout;
    assert!(
        text.contains("  function ns::Shape::area(int), 0x"),
        "{text}"
    );
    assert!(text.contains("shapes.cpp:4:"), "{text}");
    assert_eq!(
        text.lines().count(),
        2,
        "the question and one overload: {text}"
    );
}

#[test]
fn a_rust_program_is_read_the_same_way() {
    let text = "mod orders {
    pub static TAX: u32 = 19;
    pub struct Order { pub id: u32 }
    impl std::fmt::Display for Order {
        fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, \"{}\", self.id + TAX) }
    }
    #[inline(never)]
    pub fn parse(text: &str) -> Order { Order { id: text.len() as u32 } }
}
fn main() { println!(\"{}\", orders::parse(\"four\")); }
";
    let (source, program) = compile("rustc", "shop.rs", text, &["-g", "--edition=2021"]);
    let found = json(
        &program,
        &["-l", "orders::*", "-l", "Order::fmt", "-l", "shop.rs:10"],
    );
    let lookups = found["lookups"].as_array().expect("a list");
    assert_eq!(lookups[0]["functions"][0]["name"], "shop::orders::parse");
    assert_eq!(lookups[0]["types"][0]["name"], "shop::orders::Order");
    assert_eq!(
        lookups[1]["functions"][0]["name"],
        "<shop::orders::Order as core::fmt::Display>::fmt"
    );
    let place = &lookups[2]["locations"][0];
    assert_eq!(place["function"], "shop::main");
    assert_eq!(place["place"]["file"], source.display().to_string());
    let units = json(&program, &[])["summary"]["units"].clone();
    let producer = units[0]["producer"].as_str().expect("text").to_owned();
    assert!(producer.contains("rustc version"), "{units:#}");
}

#[test]
fn sources_are_listed_with_where_they_are() {
    let (source, program) = compile("gcc", "area.c", AREA_C, &["-g", "-O1"]);
    let text = symbols(&program, &["--sources"]).stdout;
    assert_eq!(text, format!("here     {}\n", source.display()));
    let moved = source.parent().expect("a folder").join("moved");
    std::fs::create_dir_all(&moved).expect("the folder is there");
    std::fs::rename(&source, moved.join("area.c")).expect("it moves");
    let gone = json(&program, &["--sources"]);
    assert_eq!(gone["sources"][0]["status"], "missing");
    let map = format!(
        "{}={}",
        source.parent().expect("a folder").display(),
        moved.display()
    );
    let found = json(&program, &["--sources", "--source-map", &map]);
    assert_eq!(found["sources"][0]["status"], "unknown");
    assert_eq!(
        found["sources"][0]["found"],
        moved.join("area.c").display().to_string()
    );
}

#[test]
fn what_is_not_there_is_told_with_what_is_near() {
    let (source, program) = compile("gcc", "area.c", AREA_C, &["-g", "-O0"]);
    let shown = program.display();
    let fails = |arguments: &[&str], message: &str| {
        let run = symbols(&program, arguments);
        run.assert_fails(message);
    };
    fails(
        &["-l", "aera"],
        &format!("dapple: {shown} has no aera; did you mean area?\n"),
    );
    fails(
        &["-l", "zzzzzzzzz"],
        &format!("dapple: {shown} has no zzzzzzzzz\n"),
    );
    fails(
        &["-l", "area.c:99"],
        "dapple: there is no code on line 99 of area.c; the nearest line that has some is 14\n",
    );
    fails(
        &["-l", "/other/area.c:12"],
        &format!(
            "dapple: {shown} was not made from /other/area.c; did you mean {}?\n",
            source.display()
        ),
    );
    fails(
        &["-l", "0x1"],
        &format!("dapple: no section of {shown} has 0x…\n"),
    );
    fails(&["-l", "0xyes"], "dapple: 0x…: not an address\n");
    fails(
        &["-l", "area.c:0"],
        "dapple: area.c:0: 0 is not a line; lines count from 1\n",
    );
    fails(
        &["--sources", "--source-map", "here"],
        "dapple: --source-map here: expected FROM=TO\n",
    );
    // The functions that are found are shown nevertheless.
    let run = symbols(&program, &["-l", "area", "-l", "aera"]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stdout.contains("function area(struct shape*), 0x"),
        "{run:#?}"
    );
    let found = json(&program, &["-l", "aera"]);
    assert_eq!(found["lookups"][0]["kind"], "notFound");
    assert_eq!(found["lookups"][0]["similar"], serde_json::json!(["area"]));
}

#[test]
fn what_is_no_program_is_refused() {
    let (source, _) = compile("gcc", "area.c", AREA_C, &[]);
    let run = symbols(&source, &[]);
    run.assert_fails(&format!(
        "dapple: {}: is not an ELF file, so not a program Linux can run directly\n",
        source.display()
    ));
    let run = symbols(Path::new("/no/such/file"), &[]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.starts_with("dapple: /no/such/file: "),
        "{run:#?}"
    );
    assert_eq!(run.stderr.lines().count(), 1, "{run:#?}");
}
