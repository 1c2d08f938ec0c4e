//! The index of a module: it gives the same answers as the units, from memory and from a file, even if the file is damaged.

mod support;

use dapple_symbols::indexing::{IndexCache, IndexState};
use dapple_symbols::lines::LineLookup;
use dapple_symbols::names::NamePattern;
use dapple_symbols::{FileAddress, Module};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use support::shapes::{build, sources};
use support::{Fixture, TestFolder, compile};

const RUST: &str = r#"
use std::collections::HashMap;
static LIMIT: u32 = 7;
thread_local! { static COUNT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) }; }
mod shapes {
    pub trait Area { fn area(&self) -> f64; }
    pub struct Square(pub f64);
    pub enum Shape { Square(Square), Named { name: String } }
    impl Area for Square { fn area(&self) -> f64 { self.0 * self.0 } }
    #[inline(always)] pub fn twice(x: f64) -> f64 { x * 2.0 }
    pub fn generic<T: Area>(value: &T) -> f64 { twice(value.area()) }
}
use shapes::Area;
fn main() {
    let mut map = HashMap::new();
    map.insert("a".to_owned(), shapes::generic(&shapes::Square(2.0)));
    let shape = shapes::Shape::Named { name: format!("{:?}", map) };
    COUNT.with(|count| count.set(LIMIT));
    if let shapes::Shape::Named { name } = &shape { println!("{name} {}", shapes::Square(1.0).area()); }
    if let shapes::Shape::Square(square) = &shape { println!("{}", square.area()); }
}
"#;

const C: &str = r#"
#include <stdio.h>
struct list { struct list *next; int value; };
typedef struct list list_t;
union both { int whole; char parts[4]; };
enum colour { RED, GREEN };
static int count;
int shared = 3;
static inline int add(int a, int b) { static int calls; calls++; return a + b + calls; }
int fold(const list_t *list) { int sum = 0; for (; list; list = list->next) sum = add(sum, list->value); return sum; }
int main(int argc, char **argv) {
    list_t last = {0, argc}, first = {&last, 2};
    union both both = {argc};
    enum colour colour = argc > 1 ? RED : GREEN;
    count = fold(&first) + both.whole + colour + shared;
    printf("%d\n", count);
    return 0;
}
"#;

/// All answers of a module that may use an index.
fn answers(module: &Module) -> String {
    let mut text = String::new();
    let all = NamePattern::new("*");
    let mut names: Vec<String> = Vec::new();
    for function in module.find_functions(&all) {
        writeln!(text, "{function:?}").unwrap();
        names.push(function.name.clone());
        names.push(function.short_name.clone());
        for range in &function.ranges {
            for address in [
                range.start,
                FileAddress(range.end.0.wrapping_sub(1)),
                range.end,
            ] {
                let at = module
                    .function_at(address)
                    .map(|function| function.name.clone());
                writeln!(text, "{:#x} {at:?}", address.0).unwrap();
            }
        }
    }
    for found in module.find_types(&all) {
        writeln!(text, "{found:?}").unwrap();
        names.push(found.short_name.clone());
    }
    for found in module.find_variables(&all) {
        writeln!(text, "{found:?}").unwrap();
        names.push(found.variable.name.clone());
    }
    // By the last part of the name, and by a prefix of it.
    names.sort();
    names.dedup();
    for name in names.iter().step_by(1 + names.len() / 20) {
        let end = name.rsplit("::").next().unwrap_or(name);
        for name in [name.as_str(), end] {
            let pattern = NamePattern::new(name);
            let functions = module.find_functions(&pattern);
            let types = module.find_types(&pattern);
            let variables = module.find_variables(&pattern);
            let statics = module.statics_named(name);
            writeln!(
                text,
                "{name}: {functions:?} {types:?} {variables:?} {statics:?}"
            )
            .unwrap();
        }
    }
    for glob in ["ma*", "S*e", "*a*::*e*"] {
        let pattern = NamePattern::new(glob);
        let functions = module.find_functions(&pattern);
        let types = module.find_types(&pattern);
        writeln!(text, "{glob}: {functions:?} {types:?}").unwrap();
    }
    for wrong in ["fnu", "maim", "Shap", "no_such_name_at_all"] {
        let similar = module.similar_names(&NamePattern::new(wrong));
        writeln!(text, "{wrong}: {similar:?}").unwrap();
    }
    for file in module.source_files().iter().take(40) {
        let lines = if file.starts_with("/rustc") {
            1..2
        } else {
            1..30
        };
        for line in lines {
            let found = module.lookup_line(file, line);
            writeln!(text, "{}:{line} {found:?}", file.display()).unwrap();
        }
    }
    for file in ["program.c", "shapes.h", "no/such.c", "/other/lib.rs"] {
        let found = module.lookup_line(Path::new(file), 3);
        writeln!(text, "{file} {found:?}").unwrap();
    }
    text
}

fn cache(folder: &TestFolder, name: &str) -> Arc<IndexCache> {
    Arc::new(IndexCache::open(folder.path(name), 1 << 30).expect("a cache"))
}

/// Compares the module's answers without an index, with one in memory, and with one from a file.
fn compare(fixture: &Fixture, what: &str) {
    let folder = TestFolder::new(&format!("index-{}", what.replace(' ', "")));
    let plain = answers(&fixture.open());
    assert!(plain.contains("main"), "{what}: {plain}");

    let module = fixture.open();
    let mut told = Vec::new();
    let state = module.make_index(&mut |done, all| {
        told.push((done, all));
        true
    });
    assert_eq!(state, IndexState::Used, "{what}");
    assert!(
        told.is_sorted() && told.last().is_some_and(|(done, all)| done == all),
        "{what}: {told:?}"
    );
    same(&plain, &answers(&module), &format!("{what}, in memory"));

    let cache = cache(&folder, "cache");
    let module = fixture.open();
    module.use_index_cache(&cache);
    assert_eq!(
        module.make_index(&mut |_, _| true),
        IndexState::Used,
        "{what}"
    );
    assert_eq!(cache.entries().expect("entries").len(), 1, "{what}");

    let module = fixture.open();
    module.use_index_cache(&cache);
    // A small module doesn't look for an index by itself.
    assert_eq!(module.load_index(), IndexState::Used, "{what}");
    same(&plain, &answers(&module), &format!("{what}, from the file"));
    assert_eq!(
        module.index_state(),
        IndexState::Used,
        "{what}: it was dropped: {:?}",
        module.warnings()
    );
}

fn same(one: &str, other: &str, what: &str) {
    for (one, other) in one.lines().zip(other.lines()) {
        assert_eq!(one, other, "{what}");
    }
    assert_eq!(one.len(), other.len(), "{what}");
}

#[test]
fn an_index_answers_what_the_units_answer() {
    for level in ["-O0", "-O2"] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let fixture = compile("index.c", C, &[version, level]);
            compare(&fixture, &format!("C {version} {level}"));
            let folder = sources("index-shapes");
            build(&folder, "plain", &[version, level]);
            compare(
                &folder.fixture("main.cpp", "plain"),
                &format!("C++ {version} {level}"),
            );
            build(&folder, "types", &[version, level, "-fdebug-types-section"]);
            compare(
                &folder.fixture("main.cpp", "types"),
                &format!("C++ types {version} {level}"),
            );
            build(&folder, "split", &[version, level, "-gsplit-dwarf"]);
            compare(
                &folder.fixture("main.cpp", "split"),
                &format!("C++ split {version} {level}"),
            );
            build(&folder, "together", &[version, level, "-flto"]);
            compare(
                &folder.fixture("main.cpp", "together"),
                &format!("C++ together {version} {level}"),
            );
            build(&folder, "packed", &[version, level, "-gz"]);
            compare(
                &folder.fixture("main.cpp", "packed"),
                &format!("C++ packed {version} {level}"),
            );
        }
    }
}

#[test]
fn an_index_of_a_rust_program_answers_what_the_units_answer() {
    compare(&compile("index.rs", RUST, &["-g"]), "Rust");
}

#[test]
fn an_index_of_another_build_is_not_used() {
    let folder = sources("index-builds");
    let cache = cache(&folder, "cache");
    // Without a build id, the index is identified by file and modification time.
    build(&folder, "program", &["-Wl,--build-id=none"]);
    let fixture = folder.fixture("main.cpp", "program");
    let module = fixture.open();
    module.use_index_cache(&cache);
    assert_eq!(module.make_index(&mut |_, _| true), IndexState::Used);
    let again = fixture.open();
    again.use_index_cache(&cache);
    assert_eq!(again.load_index(), IndexState::Used);

    std::fs::remove_file(&fixture.binary).expect("removed");
    build(&folder, "program", &["-Wl,--build-id=none", "-O2"]);
    let module = fixture.open();
    module.use_index_cache(&cache);
    assert_ne!(module.load_index(), IndexState::Used);
    assert!(module.warnings().is_empty(), "{:?}", module.warnings());
}

#[test]
fn split_units_that_are_gone_or_others_drop_the_index() {
    let folder = sources("index-split-gone");
    let cache = cache(&folder, "cache");
    build(&folder, "split", &["-gsplit-dwarf"]);
    let fixture = folder.fixture("main.cpp", "split");
    let module = fixture.open();
    module.use_index_cache(&cache);
    assert_eq!(module.make_index(&mut |_, _| true), IndexState::Used);
    for entry in std::fs::read_dir(&folder.folder)
        .expect("a folder")
        .flatten()
    {
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "dwo")
        {
            std::fs::remove_file(entry.path()).expect("removed");
        }
    }
    let plain = answers(&fixture.open());
    let module = fixture.open();
    module.use_index_cache(&cache);
    module.load_index();
    same(&plain, &answers(&module), "without split units");
    // No index is made without the split units.
    assert_eq!(
        fixture.open().make_index(&mut |_, _| true),
        IndexState::Unneeded
    );
}

#[test]
fn making_it_can_be_stopped() {
    let fixture = compile("index.rs", RUST, &["-g"]);
    let module = fixture.open();
    let mut calls = 0;
    let state = module.make_index(&mut |_, _| {
        calls += 1;
        calls < 2
    });
    assert_eq!((state, calls), (IndexState::Cancelled, 2));
    assert!(!matches!(
        module.lookup_line(Path::new("index.rs"), 14),
        LineLookup::NoFile { .. }
    ));
    assert_eq!(module.make_index(&mut |_, _| true), IndexState::Used);
}

/// Changes, cuts off or adds some bytes of the file, 10,000 times. A module that uses it must give the same answers as without an index.
#[test]
fn a_damaged_index_never_gives_another_answer() {
    let fixture = compile("index.c", C, &["-g"]);
    let folder = TestFolder::new("index-damaged");
    let index_cache = cache(&folder, "cache");
    let module = fixture.open();
    module.use_index_cache(&index_cache);
    assert_eq!(module.make_index(&mut |_, _| true), IndexState::Used);
    let name = format!("{}.index", index_cache.entries().expect("entries")[0].name);
    let path = folder.path("cache").join(name);
    let whole = std::fs::read(&path).expect("an index");
    // The answers to a few queries that read each of the index's tables.
    let ask = |module: &Module| {
        let functions = module.find_functions(&NamePattern::new("fold"));
        let types = module.find_types(&NamePattern::new("l*"));
        let line = module.lookup_line(&fixture.source, 10);
        let at = functions
            .first()
            .and_then(|function| module.function_at(function.entry));
        format!("{functions:?} {types:?} {line:?} {at:?}")
    };
    let expected = ask(&fixture.open());
    // Marsaglia's xorshift, which gives the same numbers in each run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % end
    };
    let (mut used, mut refused) = (0, 0);
    for round in 0..10_000 {
        let mut damaged = whole.clone();
        match round % 4 {
            0 => damaged.truncate(below(whole.len())),
            1 => damaged.extend(vec![below(256) as u8; 1 + below(99)]),
            _ => {
                for _ in 0..1 + below(3) {
                    // Mostly in the header and the first tables.
                    let end = if below(2) == 0 {
                        whole.len().min(6000)
                    } else {
                        whole.len()
                    };
                    damaged[below(end)] = below(256) as u8;
                }
            }
        }
        std::fs::write(&path, &damaged).expect("written");
        let module = fixture.open();
        module.use_index_cache(&index_cache);
        let state = module.load_index();
        assert_eq!(ask(&module), expected, "round {round}");
        match state == IndexState::Used && module.warnings().is_empty() {
            true => used += 1,
            false => refused += 1,
        }
    }
    // Damage in parts that no query reads, or that changes nothing, is harmless.
    assert!(refused > 9_000, "{refused} of {}", used + refused);
}
