//! Queries by name, compared with `nm` and with what users expect.

mod support;

use dapple_symbols::Module;
use dapple_symbols::names::{NameExpression, NamePattern};
use dapple_symbols::queries::listing::ListedNames;
use dapple_symbols::queries::{FoundFunction, Instance};
use std::collections::BTreeSet;
use std::path::Path;
use support::{Fixture, compile, run};

const SHAPES: &str = r#"
#include <cstdio>
#include <string>
#include <vector>
namespace ns {
struct Shape {
    int side;
    explicit Shape(int s);
    virtual ~Shape();
    int area() const;
    int area(int scale) const;
    static int count;
};
int Shape::count = 0;
Shape::Shape(int s) : side(s) { count++; }
Shape::~Shape() { count--; }
int Shape::area() const { return side * side; }
int Shape::area(int scale) const { return side * side * scale; }
struct Solid : virtual Shape {
    explicit Solid(int s);
    int operator()(int x) const { return x + side; }
    bool operator<(const Solid &other) const { return side < other.side; }
};
Solid::Solid(int s) : Shape(s) {}
template <typename T> __attribute__((noipa)) T larger(T a, T b) { return a > b ? a : b; }
namespace {
__attribute__((noipa)) int helper(int x) { return x + 1; }
}
int use(int x) {
    static int calls = 0;
    calls++;
    return helper(x) + calls;
}
}
static inline __attribute__((always_inline)) int twice(int x) {
    volatile int y = x;
    return y * 2;
}
int largest = 7;
extern "C" int plain(int a) { return twice(a) + 1; }
int main(int argc, char **) {
    ns::Shape shape(argc);
    ns::Solid solid(argc), other(2);
    std::vector<int> numbers;
    numbers.push_back(argc);
    std::vector<std::string> words;
    words.push_back("word");
    int total = shape.area() + shape.area(2) + twice(argc) + ns::use(argc);
    total += ns::larger(1, argc) + int(ns::larger(1.5, 2.5)) + solid(1) + (solid < other);
    std::printf("%d %d %zu\n", total, largest, words.size());
    return plain(argc);
}
"#;

fn cpp(flags: &[&str]) -> Fixture {
    compile("shapes.cpp", SHAPES, flags)
}

fn find(module: &Module, name: &str) -> Vec<FoundFunction> {
    module.find_functions(&NamePattern::new(name))
}

fn names(found: &[FoundFunction]) -> BTreeSet<String> {
    found
        .iter()
        .map(|function| match &function.parameters {
            Some(parameters) => format!("{}({parameters})", function.short_name),
            None => function.short_name.clone(),
        })
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The addresses of the functions that `nm -C` shows under names for which `wanted` is true.
fn nm(binary: &Path, wanted: impl Fn(&str) -> bool) -> BTreeSet<u64> {
    let listing = run("nm", &["-C", binary.to_str().unwrap()]);
    let functions = listing.lines().filter_map(|line| {
        let (address, rest) = line.split_once(' ')?;
        let (kind, name) = rest.split_once(' ')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        (matches!(kind, "t" | "T" | "W" | "w") && wanted(name)).then_some(address)
    });
    let found: BTreeSet<u64> = functions.collect();
    assert!(!found.is_empty(), "nm has none of them");
    found
}

/// The entry addresses of the functions that aren't inlined copies.
fn entries(found: &[FoundFunction]) -> BTreeSet<u64> {
    let own = |function: &&FoundFunction| !matches!(function.instance, Instance::Inlined { .. });
    found
        .iter()
        .filter(own)
        .map(|function| function.entry.0)
        .collect()
}

#[test]
fn cpp_functions_are_found_by_path_end_arguments_and_parameters() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        for level in ["-O0", "-O1"] {
            let fixture = cpp(&[version, level, "-fno-inline-functions"]);
            let module = fixture.open();
            let overloads = ["ns::Shape::area()", "ns::Shape::area(int)"];
            for (name, expected) in [
                ("area", &overloads[..]),
                ("Shape::area", &overloads),
                ("ns::Shape::area", &overloads),
                ("::ns::Shape::area", &overloads),
                ("ns::Shape::area(int)", &overloads[1..]),
                ("area()", &overloads[..1]),
                ("area(long)", &[]),
                ("rea", &[]),
                ("::Shape::area", &[]),
                (
                    "larger",
                    &[
                        "ns::larger<double>(double, double)",
                        "ns::larger<int>(int, int)",
                    ],
                ),
                ("ns::larger<int>", &["ns::larger<int>(int, int)"]),
                ("larger<long>", &[]),
                ("ns::helper", &["ns::(anonymous namespace)::helper(int)"]),
                ("Solid::operator()", &["ns::Solid::operator()(int)"]),
                ("operator()(int)", &["ns::Solid::operator()(int)"]),
                ("plain", &["plain(int)"]),
                ("ns::us*", &["ns::use(int)"]),
            ] {
                assert_eq!(
                    names(&find(&module, name)),
                    set(expected),
                    "{name} {version} {level}"
                );
            }
            let less = find(&module, "Solid::operator<");
            assert_eq!(
                names(&less),
                set(&["ns::Solid::operator<(const ns::Solid &)"])
            );
        }
    }
}

#[test]
fn every_instance_of_a_cpp_function_is_where_nm_has_it() {
    let fixture = cpp(&["-g", "-O0"]);
    let module = fixture.open();
    let binary = &fixture.binary;
    assert_eq!(
        entries(&find(&module, "std::vector<int>::push_back")),
        nm(binary, |name| name.starts_with(
            "std::vector<int, std::allocator<int> >::push_back("
        )),
    );
    // The functions of both element types.
    let both = find(&module, "vector::push_back");
    assert_eq!(
        entries(&both),
        nm(binary, |name| name.starts_with("std::vector<")
            && name.contains("::push_back(")),
    );
    assert_eq!(
        names(&find(&module, "std::vector<std::string>::push_back")).len(),
        names(&both).len() - names(&find(&module, "std::vector<int>::push_back")).len()
    );
    // A class with a virtual base has a constructor for complete objects and one for base objects.
    let constructors = nm(binary, |name| name == "ns::Solid::Solid(int)");
    assert_eq!(entries(&find(&module, "Solid::Solid")), constructors);
    let destructors = nm(binary, |name| name == "ns::Shape::~Shape()");
    assert_eq!(entries(&find(&module, "~Shape")), destructors);
    assert_eq!(destructors.len(), 2, "complete and deleting");
    // By the linkage name, too.
    let main = nm(binary, |name| name == "main");
    assert_eq!(entries(&find(&module, "main")), main);
    let area = find(&module, "_ZNK2ns5Shape4areaEi");
    assert_eq!(names(&area), set(&["ns::Shape::area(int)"]));
}

#[test]
fn a_breakpoint_goes_behind_the_prologue_and_inlined_copies_have_their_own() {
    let fixture = cpp(&["-g", "-O1"]);
    let module = fixture.open();
    let copies = find(&module, "twice");
    let into: BTreeSet<&str> = copies
        .iter()
        .map(|copy| match &copy.instance {
            Instance::Inlined { into, call_site } => {
                let site = call_site.as_ref().expect("a call is written somewhere");
                assert!(
                    site.line > 0 && site.file.ends_with("shapes.cpp"),
                    "{site:?}"
                );
                into.as_str()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(into, BTreeSet::from(["main", "plain"]));
    for copy in &copies {
        let inlined = module.inlined_at(copy.breakpoint);
        assert!(
            inlined.iter().any(|call| call.name == "twice"),
            "{:?}: {inlined:?}",
            copy.breakpoint
        );
    }
    let fixture = cpp(&["-g", "-O0"]);
    let module = fixture.open();
    for name in ["main", "ns::use", "larger<int>"] {
        for function in find(&module, name) {
            assert_eq!(
                function.breakpoint,
                module.after_prologue(function.entry),
                "{name}"
            );
            assert!(
                function.breakpoint > function.entry,
                "{name} has a prologue"
            );
        }
    }
}

#[test]
fn functions_without_debug_information_are_found_by_their_symbols() {
    let fixture = cpp(&["-O0"]);
    let module = fixture.open();
    let found = find(&module, "Shape::area");
    assert!(
        found
            .iter()
            .all(|function| function.instance == Instance::Symbol)
    );
    assert_eq!(
        names(&found),
        set(&["ns::Shape::area()", "ns::Shape::area(int)"])
    );
    assert_eq!(
        names(&find(&module, "area(int)")),
        set(&["ns::Shape::area(int)"])
    );
    assert_eq!(
        entries(&find(&module, "std::vector<int>::push_back")),
        nm(&fixture.binary, |name| {
            name.starts_with("std::vector<int, std::allocator<int> >::push_back(")
        }),
    );
    assert_eq!(find(&module, "main").len(), 1);
}

const ORDERS: &str = r#"
mod orders {
    use std::fmt;
    pub struct Order { pub id: u32 }
    pub fn parse(text: &str) -> Order { Order { id: text.len() as u32 } }
    pub fn price(order: &Order) -> u32 { order.id * TAX.load(std::sync::atomic::Ordering::Relaxed) }
    pub static TAX: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(3);
    impl fmt::Display for Order {
        fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, "{}", self.id) }
    }
    impl Order {
        #[inline(never)]
        pub fn first<T: Copy>(&self, all: &[T]) -> T { all[0] }
    }
}
fn main() {
    let order = orders::parse("four");
    let mut numbers: Vec<i32> = Vec::new();
    numbers.push(1);
    let mut words: Vec<String> = Vec::new();
    words.push(order.to_string());
    let closure = |x: i32| x + 1;
    println!("{} {} {} {} {}", order, orders::price(&order), order.first(&[1u8]), order.first(&[2i64]), closure(3));
}
"#;

#[test]
fn rust_functions_are_found_under_both_manglings() {
    for mangling in ["legacy", "v0"] {
        let flag = format!("-Csymbol-mangling-version={mangling}");
        // The legacy mangling is the default, and its flag isn't stable.
        let mangled: &[&str] = if mangling == "v0" { &[&flag] } else { &[] };
        let fixture = compile(
            "orders.rs",
            ORDERS,
            &[&["-g", "--edition=2021"], mangled].concat(),
        );
        let module = fixture.open();
        for (name, expected) in [
            ("orders::parse", &["orders::orders::parse"][..]),
            ("::orders::orders::parse", &["orders::orders::parse"]),
            ("orders::orders::pr*", &["orders::orders::price"]),
            (
                "Order::fmt",
                &["<orders::orders::Order as core::fmt::Display>::fmt"],
            ),
        ] {
            assert_eq!(
                names(&find(&module, name)),
                set(expected),
                "{name}, {mangling}"
            );
        }
        let first = |name: &str| find(&module, name).len();
        assert_eq!(first("Order::first"), 2, "{mangling}");
        assert_eq!(first("Order::first<u8>"), 1, "{mangling}");
        assert_eq!(first("Order::first<u16>"), 0, "{mangling}");
        // The program's own two, and those in the standard library.
        assert!(first("Vec::push") >= 2, "{mangling}");
        let of_strings = find(&module, "Vec<String>::push");
        assert_eq!(entries(&of_strings).len(), 1, "{mangling}: {of_strings:#?}");
        // The program's own `main`, not the C `main` that calls it.
        let main = find(&module, "orders::main");
        assert_eq!(main.len(), 1, "{mangling}: {main:#?}");
        assert!(main[0].breakpoint > main[0].entry);
    }
}

#[test]
fn types_and_variables_are_found_across_units() {
    let parts = "struct hidden { int a; long b; };\n\
        struct hidden first;\n\
        static int local = 3;\n\
        int get(struct hidden *h) { return h->a + local; }\n";
    let part = compile("part.c", parts, &["-g", "-c"]);
    let text = "typedef struct hidden hidden_t;\n\
        extern struct hidden first;\n\
        struct never;\n\
        int get(struct hidden *h);\n\
        static int local = 4;\n\
        _Thread_local int mine = 5;\n\
        hidden_t *pointer; struct never *nothing;\n\
        int main(void) { static int calls; calls += mine; return get(&first) + local + calls; }\n";
    let fixture = compile("whole.c", text, &["-g", part.binary.to_str().unwrap()]);
    let module = fixture.open();
    let types = |name: &str| module.find_types(&NamePattern::new(name));
    for name in ["hidden", "struct hidden"] {
        let found = types(name);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].name, "struct hidden");
        assert_eq!(found[0].size, Some(16));
        assert!(!found[0].only_declared);
        let declaration = found[0].declaration.as_ref().expect("it is declared");
        assert!(
            declaration.file.ends_with("part.c") && declaration.line == 1,
            "{declaration:?}"
        );
    }
    let never = types("never");
    assert!(never.len() == 1 && never[0].only_declared, "{never:#?}");
    assert_eq!(
        types("hidden_t")[0].size,
        Some(16),
        "a typedef of what another unit defines"
    );
    let variables = |name: &str| module.find_variables(&NamePattern::new(name));
    let symbol = |name: &str| module.symbol_named(name).map(|symbol| symbol.address);
    let first = variables("first");
    assert_eq!(first.len(), 1, "{first:#?}");
    assert_eq!(first[0].address, symbol("first"));
    let locals = variables("local");
    let files: BTreeSet<String> = locals
        .iter()
        .map(|found| {
            found
                .variable
                .declaration
                .as_ref()
                .unwrap()
                .file
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(
        files,
        BTreeSet::from(["part.c".to_owned(), "whole.c".to_owned()])
    );
    let mine = variables("mine");
    assert!(mine.len() == 1 && mine[0].address.is_none(), "{mine:#?}");
    assert_eq!(variables("calls").len(), 1, "a static in a function");
}

#[test]
fn cpp_types_and_members_are_found() {
    let module = cpp(&["-g", "-O0"]).open();
    let types = |name: &str| module.find_types(&NamePattern::new(name));
    assert_eq!(types("ns::Shape").len(), 1);
    assert_eq!(types("Shape")[0].name, "ns::Shape");
    let vectors: BTreeSet<String> = types("std::vector")
        .into_iter()
        .map(|found| found.short_name)
        .collect();
    assert_eq!(
        vectors,
        set(&["std::vector<int>", "std::vector<std::string>"])
    );
    assert_eq!(types("std::vector<int>").len(), 1);
    assert_eq!(types("int").len(), 1);
    let count = module.find_variables(&NamePattern::new("Shape::count"));
    assert_eq!(count.len(), 1, "{count:#?}");
    assert_eq!(count[0].variable.name, "ns::Shape::count");
    assert!(count[0].address.is_some());
    let calls = module.find_variables(&NamePattern::new("ns::use::calls"));
    assert_eq!(calls.len(), 1, "{calls:#?}");
}

fn expression(text: &str) -> NameExpression {
    NameExpression::new(text).expect("an expression")
}

fn listed(found: &ListedNames) -> Vec<&str> {
    found.names.iter().map(|one| &*one.name).collect()
}

#[test]
fn variables_and_types_are_listed_by_an_expression_the_users_own_first() {
    let fixture = cpp(&["-g"]);
    let module = fixture.open();
    let variables = module.variables_matching(&expression("^(ns::Shape::count|largest)$|calls"));
    let found: Vec<(&str, Option<&str>)> = { variables.names.iter() }
        .map(|one| (&*one.name, one.type_name.as_deref()))
        .collect();
    let int = Some("int");
    assert!(
        found.contains(&("ns::Shape::count", int)) && found.contains(&("largest", int)),
        "{found:?}"
    );
    assert!(found.iter().any(|(name, _)| name.contains("calls")));
    assert_eq!((found.len(), variables.are_own), (3, true), "{found:?}");
    let lines = variables.names.iter().map(|one| &one.declaration);
    assert!(lines.flatten().all(|place| place.line > 0));

    let types = module.types_matching(&expression("^ns::|^std::"));
    assert_eq!(listed(&types), ["ns::Shape", "ns::Solid"]);
    assert!(
        types.are_own && types.of_libraries > 10,
        "{}",
        types.of_libraries
    );
    let theirs = module.types_matching(&expression("^std::"));
    assert!(!theirs.are_own && theirs.of_libraries == 0);
    assert_eq!(theirs.names.len() + theirs.omitted, types.of_libraries);
    assert_eq!(
        listed(&module.types_matching(&expression("^nonesuch"))),
        Vec::<&str>::new()
    );
}

#[test]
fn names_beyond_a_limit_are_counted() {
    let line = |number: u32| format!("int number_{number:04} = {number};\n");
    let text: String = (0..1010).map(line).collect();
    let fixture = compile(
        "many.c",
        &(text + "int main(void) { return 0; }\n"),
        &["-g"],
    );
    let found = fixture.open().variables_matching(&expression("^number_"));
    assert_eq!((found.names.len(), found.omitted), (1000, 10));
    assert!(found.names.is_sorted_by_key(|one| &one.name));
}

#[test]
fn names_that_are_not_there_have_similar_ones() {
    let module = cpp(&["-g", "-O0"]).open();
    let similar = |name: &str| -> Vec<String> {
        let similar = module.similar_names(&NamePattern::new(name)).into_iter();
        similar.map(|similar| similar.name).collect()
    };
    assert_eq!(
        similar("ns::Shape::aera").first().map(String::as_str),
        Some("ns::Shape::area")
    );
    assert_eq!(
        similar("nz::Shape::area").first().map(String::as_str),
        Some("ns::Shape::area")
    );
    assert!(
        similar("largst").contains(&"largest".to_owned()),
        "{:?}",
        similar("largst")
    );
    assert_eq!(similar("zzzzzzzzzzzzzzzzzz"), Vec::<String>::new());
}

#[test]
fn what_dwz_moved_is_found_as_before() {
    // Two copies of the program's units, so that dwz has something to share.
    let part = compile(
        "shared.cpp",
        &SHAPES.replace("int main(", "int other("),
        &["-g", "-c"],
    );
    let text = format!("namespace second {{ int run(); }}\n{SHAPES}");
    let flags = ["-g", "-Wl,-z,muldefs", part.binary.to_str().unwrap()];
    let fixture = compile("whole.cpp", &text, &flags);
    let moved = fixture.binary.with_extension("dwz");
    std::fs::copy(&fixture.binary, &moved).unwrap();
    run("dwz", &[moved.to_str().unwrap()]);
    let entries = run("readelf", &["--debug-dump=info", moved.to_str().unwrap()]);
    assert!(entries.contains("DW_TAG_partial_unit"), "dwz moved nothing");
    let (before, after) = (fixture.open(), Module::open(&moved).unwrap());
    for name in [
        "Shape",
        "ns::Shape",
        "std::vector",
        "int",
        "ns::Solid",
        "helper",
    ] {
        let pattern = NamePattern::new(name);
        let types = |module: &Module| -> BTreeSet<(String, Option<u64>)> {
            let found = module.find_types(&pattern).into_iter();
            found.map(|found| (found.name, found.size)).collect()
        };
        assert_eq!(types(&after), types(&before), "{name}");
        let functions = |module: &Module| -> BTreeSet<(String, u64)> {
            let found = find(module, name).into_iter();
            found.map(|found| (found.name, found.entry.0)).collect()
        };
        assert_eq!(functions(&after), functions(&before), "{name}");
    }
    let shape = NamePattern::new("ns::Shape");
    assert_eq!(
        after.find_types(&shape).len(),
        before.find_types(&shape).len()
    );
    assert!(!after.find_types(&shape).is_empty());
}
