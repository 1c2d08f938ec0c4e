//! Variables in scope and their locations, with a process whose registers and memory are given by the test.

mod support;

use dapple_symbols::location::{LocationContext, Piece, Place, Unavailable, evaluate_cfi};
use dapple_symbols::scopes::{Variable, VariableKind};
use dapple_symbols::{FileAddress, Module};
use std::collections::HashMap;
use support::compile;

const CFA: u64 = 0x7fff_0000;
const BIAS: u64 = 0x5555_0000_0000;

/// A frame with given registers.
#[derive(Default)]
struct Frame {
    registers: HashMap<u16, u64>,
    caller: Option<HashMap<u16, u64>>,
}

impl LocationContext for Frame {
    fn register(&self, register: u16) -> Option<u64> {
        self.registers.get(&register).copied()
    }
    fn read(&self, address: u64, _: &mut [u8]) -> Result<(), u64> {
        Err(address)
    }
    fn cfa(&self) -> Option<u64> {
        Some(CFA)
    }
    fn load_bias(&self) -> u64 {
        BIAS
    }
    fn thread_local(&self, offset: u64) -> Result<u64, &'static str> {
        Ok(0x6000_0000 + offset)
    }
    fn caller(&self) -> Option<Box<dyn LocationContext + '_>> {
        let registers = self.caller.clone()?;
        Some(Box::new(Frame {
            registers,
            caller: None,
        }))
    }
}

fn names(variables: &[Variable]) -> Vec<&str> {
    variables
        .iter()
        .map(|variable| variable.name.as_str())
        .collect()
}

fn named<'v>(variables: &'v [Variable], name: &str) -> &'v Variable {
    variables
        .iter()
        .rfind(|variable| variable.name == name)
        .unwrap_or_else(|| panic!("{name} of {:?}", names(variables)))
}

fn place(
    module: &Module,
    variable: &Variable,
    address: FileAddress,
    frame: &Frame,
) -> Result<Place, Unavailable> {
    let pieces = module.locate(variable, address, frame)?;
    assert_eq!(pieces.len(), 1, "{pieces:?}");
    Ok(pieces[0].place.clone())
}

const BLOCKS: &str = r#"
int global = 1;
static __thread int mine = 2;
int work(int count, const char *text) {
    static int calls;
    int total = count; // stop: first
    calls++;
    for (int i = 0; i < count; i++) {
        int total = i * 2; // stop: inner
        mine += total + *text; // stop: shadowed
    }
    int last = total; // stop: last
    return last + calls; // stop: end
}
int main(void) { return work(3, "x") + global + mine; }
"#;

#[test]
fn scopes_nest_and_later_declarations_are_hidden() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let fixture = compile("blocks.c", BLOCKS, &[version, "-O0"]);
        let module = fixture.open();
        let visible = |marker| module.variables_at(fixture.address(&module, marker), 0);
        assert_eq!(
            names(&visible("first")),
            ["count", "text", "calls", "total"]
        );
        assert_eq!(
            names(&visible("shadowed")),
            ["count", "text", "calls", "total", "i", "total"]
        );
        assert_eq!(
            names(&visible("end")),
            ["count", "text", "calls", "total", "last"]
        );
        let shadowed = visible("shadowed");
        assert_eq!(
            shadowed
                .iter()
                .map(|variable| variable.depth)
                .collect::<Vec<_>>(),
            [0, 0, 0, 0, 1, 2]
        );
        assert_eq!(shadowed[0].kind, VariableKind::Parameter);
        assert_eq!(shadowed[3].kind, VariableKind::Local);
        assert_eq!(
            shadowed[5].declaration.as_ref().unwrap().line,
            fixture.line("inner")
        );
        assert_eq!(
            names(&module.variables_at(FileAddress(0), 0)),
            Vec::<&str>::new()
        );
        assert!(
            module
                .variables_at(fixture.address(&module, "first"), 1)
                .is_empty()
        );
    }
}

#[test]
fn unoptimised_locals_are_below_their_frame() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let fixture = compile("blocks.c", BLOCKS, &[version, "-O0"]);
        let module = fixture.open();
        let address = fixture.address(&module, "shadowed");
        let variables = module.variables_at(address, 0);
        let mut places = Vec::new();
        for name in ["count", "text", "i"] {
            match place(&module, named(&variables, name), address, &Frame::default()) {
                Ok(Place::Memory(at)) => places.push(at),
                other => panic!("{name}: {other:?}"),
            }
        }
        assert!(
            places.iter().all(|at| (CFA - 128..CFA).contains(at)),
            "{places:x?}"
        );
        let calls = module
            .symbol_at(address)
            .map(|_| named(&variables, "calls"))
            .unwrap();
        let Ok(Place::Memory(calls)) = place(&module, calls, address, &Frame::default()) else {
            panic!()
        };
        assert!(
            module
                .symbol_at(FileAddress(calls - BIAS))
                .unwrap()
                .name
                .starts_with("calls")
        );
    }
}

#[test]
fn statics_are_found_and_relocated() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let fixture = compile("blocks.c", BLOCKS, &[version, "-O0"]);
        let module = fixture.open();
        let address = fixture.address(&module, "first");
        let statics = module.statics_at(address);
        assert_eq!(names(&statics), ["global", "mine"]);
        assert!(
            statics
                .iter()
                .all(|variable| variable.kind == VariableKind::Static)
        );
        let expected = BIAS + module.symbol_named("global").unwrap().address.0;
        assert_eq!(
            place(&module, &statics[0], address, &Frame::default()),
            Ok(Place::Memory(expected))
        );
        let mine = place(&module, &statics[1], address, &Frame::default());
        assert_eq!(mine, Ok(Place::Memory(0x6000_0000)), "thread-local");
        assert_eq!(names(&module.statics_named("global")), ["global"]);
        assert!(module.statics_named("lobal").is_empty());
    }
}

const OPTIMISED: &str = r#"
struct pair { long first, second; };
volatile long sink;
__attribute__((noinline)) long use(long x) { sink = x; return sink; }
__attribute__((noinline)) long work(long value, struct pair pair, long gone) {
    long constant = 42;
    long sum = pair.first + pair.second;
    use(sum); // stop: call
    return use(constant + value); // stop: after
}
int main(int argc, char **argv) {
    struct pair pair = { argc, 2 };
    long result = work(77, pair, argc * 3L); // stop: caller
    return (int)(result + sink);
}
"#;

#[test]
fn optimised_variables_are_in_registers_and_pieces() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let fixture = compile(
            "optimised.c",
            OPTIMISED,
            &[version, "-O2", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-ipa-ra"],
        );
        let module = fixture.open();
        let work = module.functions_named("work")[0].clone();
        let variables = module.variables_at(work.entry, 0);
        let frame = Frame::default();
        let register = |number| Place::Register {
            register: number,
            bit_offset: 0,
        };
        assert_eq!(
            place(&module, named(&variables, "value"), work.entry, &frame),
            Ok(register(5))
        );
        let pair = module
            .locate(named(&variables, "pair"), work.entry, &frame)
            .unwrap();
        let halves = [4, 1].map(|number| Piece {
            bits: Some(64),
            place: register(number),
        });
        assert_eq!(pair, halves);
        let after = fixture.address(&module, "after");
        let later = module.variables_at(after, 0);
        let value = place(&module, named(&later, "constant"), after, &frame);
        assert_eq!(value, Ok(Place::Bytes(42u64.to_le_bytes().to_vec())));
    }
}

/// `gone` was in a register that the body reuses. The call site in `main` says which value was passed.
#[test]
fn entry_values_come_from_the_callers_call_site() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let flags = [version, "-O2", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-ipa-ra"];
        let fixture = compile("optimised.c", OPTIMISED, &flags);
        let module = fixture.open();
        let work = module.functions_named("work")[0].clone();
        // Finds the instruction after the call of `work` in `main`, by trying each address as the return address.
        let main = module.functions_named("main")[0].clone();
        let end = work.ranges[0].end;
        let at = FileAddress(end.0 - 1);
        let variables = module.variables_at(at, 0);
        let gone = named(&variables, "gone");
        assert!(
            module.locate(gone, at, &Frame::default()).is_err(),
            "without a caller it's lost"
        );
        let code = main.ranges[0].clone();
        let mut found = Vec::new();
        for after in code.start.0 + 1..=code.end.0 {
            // `argc` may be in any register that the call site computes with.
            let registers: HashMap<u16, u64> = (0..16)
                .map(|register| (register, 5))
                .chain([(16, BIAS + after)])
                .collect();
            let frame = Frame {
                registers: HashMap::new(),
                caller: Some(registers),
            };
            if let Ok(pieces) = module.locate(gone, at, &frame) {
                found.push((after, pieces));
            }
        }
        // Only the address directly after the call has an answer.
        assert!(found.len() <= 1, "{found:?}");
        let value = named(&variables, "value");
        let mut values = Vec::new();
        for after in code.start.0 + 1..=code.end.0 {
            let frame = Frame {
                registers: HashMap::new(),
                caller: Some(HashMap::from([(16, BIAS + after)])),
            };
            if let Ok(pieces) = module.locate(value, at, &frame) {
                values.extend(pieces);
            }
        }
        let passed = Piece {
            bits: None,
            place: Place::Bytes(77u64.to_le_bytes().to_vec()),
        };
        assert_eq!(values, [passed], "{version}");
    }
}

const INLINED: &str = r#"
static volatile int sink;
static inline __attribute__((always_inline)) int inner(int x) {
    int doubled = x * 2;
    sink = doubled; // stop: inner
    return doubled;
}
static inline __attribute__((always_inline)) int outer(int a) {
    int before = a + 1;
    int after = inner(before); // stop: outer
    int later = after + 1;
    return later;
}
int main(int argc, char **argv) {
    int result = outer(argc); // stop: main
    int unused = result;
    return unused;
}
"#;

#[test]
fn each_inlined_frame_has_its_own_variables() {
    let fixture = compile("inlined.c", INLINED, &["-g", "-O0"]);
    let module = fixture.open();
    let address = fixture.address(&module, "inner");
    let calls = module.inlined_at(address);
    assert_eq!(
        calls
            .iter()
            .map(|call| call.name.as_str())
            .collect::<Vec<_>>(),
        ["outer", "inner"]
    );
    let lines: Vec<u32> = calls
        .iter()
        .map(|call| call.call_site.as_ref().unwrap().line)
        .collect();
    assert_eq!(lines, [fixture.line("main"), fixture.line("outer")]);
    let visible = |depth| module.variables_at(address, depth);
    assert_eq!(names(&visible(0)), ["argc", "argv", "result"]);
    assert_eq!(names(&visible(1)), ["a", "before", "after"]);
    assert_eq!(names(&visible(2)), ["x", "doubled"]);
    assert!(visible(3).is_empty());
    for variable in visible(2) {
        let place = place(&module, &variable, address, &Frame::default());
        assert!(
            matches!(place, Ok(Place::Memory(at)) if at < CFA),
            "{}: {place:?}",
            variable.name
        );
    }
    let function = module.function_at(address).unwrap();
    let inside = module.inlined_in(function.ranges[0].clone());
    assert_eq!(inside.len(), 2);
    assert!(
        module
            .inlined_in(function.entry..FileAddress(function.entry.0 + 1))
            .is_empty()
    );
}

const RUST: &str = r#"
static GREETING: &str = "hi";
mod deep { pub static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(3); }
struct Area { width: u32 }
impl Area {
    #[inline(never)]
    fn scaled(&self, by: u32) -> u32 {
        self.width * by // stop: method
    }
}
impl std::fmt::Display for Area {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.width) // stop: trait
    }
}
#[inline(never)]
fn bind(words: &mut Vec<String>) -> usize {
    let mut total = 0;
    if let Some(word) = words.first() { // stop: match
        total += word.len(); // stop: bound
    }
    if let Some(word) = words.get(total).map(String::len) { total += word; } // stop: one line
    while let Some(word) = words.pop() { total += word.len(); } // stop: loop
    let one = total; let two = one + 1; // stop: both
    one + two
}
fn main() {
    bind(&mut vec!["one".to_owned()]);
    let value = 1;
    let value = value + 1; // stop: shadow
    let add = |x: i32| x + value; // stop: closure
    let area = Area { width: add(3) as u32 };
    println!("{} {} {} {:?}", area.scaled(2), GREETING, area, deep::COUNT); // stop: end
}
"#;

#[test]
fn rust_variables_and_names_are_rusts() {
    for flags in [&["-g"][..], &["-g", "-Cdwarf-version=5"]] {
        let fixture = compile("scopes.rs", RUST, flags);
        let module = fixture.open();
        let end = fixture.address(&module, "end");
        let visible = module.variables_at(end, 0);
        assert_eq!(names(&visible)[..4], ["value", "value", "add", "area"]);
        let shadow = module.variables_at(fixture.address(&module, "shadow"), 0);
        assert_eq!(names(&shadow), ["value"]);
        let at = |address| names(&module.variables_at(address, 0)).join(" ");
        let first = |marker| at(fixture.address(&module, marker));
        // The variables at the line's first and last row in the order of addresses.
        let last = |marker| {
            let function = module
                .function_at(fixture.address(&module, marker))
                .unwrap();
            let rows = module.rows_in(function.ranges[0].clone());
            let line = fixture.line(marker);
            let mut rows = rows.iter().filter(|row| row.line == line);
            at(rows.next_back().unwrap().range.start)
        };
        assert_eq!(first("match"), "words total");
        assert_eq!(first("bound"), "words total word");
        assert_eq!(first("one line"), "words total");
        assert_eq!(last("one line"), "words total word");
        assert_eq!(first("loop"), "words total");
        assert_eq!(last("both"), "words total one");
        let method = fixture.address(&module, "method");
        assert_eq!(
            module.function_at(method).unwrap().name,
            "scopes::Area::scaled"
        );
        assert_eq!(names(&module.variables_at(method, 0)), ["self", "by"]);
        let display = module
            .function_at(fixture.address(&module, "trait"))
            .unwrap();
        assert_eq!(display.name, "<scopes::Area as core::fmt::Display>::fmt");
        assert_eq!(module.functions_named("Area::fmt").len(), 1);
        assert_eq!(module.functions_named("scopes::main").len(), 1);
        let count = module.statics_named("deep::COUNT");
        assert_eq!(names(&count), ["scopes::deep::COUNT"]);
        assert!(
            matches!(place(&module, &count[0], end, &Frame::default()), Ok(Place::Memory(at)) if at > BIAS)
        );
        for variable in &visible[..4] {
            let frame = Frame {
                registers: HashMap::from([(7, CFA - 0x400), (6, CFA - 16)]),
                caller: None,
            };
            assert!(
                matches!(place(&module, variable, end, &frame), Ok(Place::Memory(_))),
                "{}",
                variable.name
            );
        }
    }
}

#[test]
fn functions_and_variables_of_cpp_have_their_namespaces() {
    let text = r#"
namespace ns {
struct Shape { int width; int area(int scale) const; template <typename T> T as() const; };
int Shape::area(int scale) const { return width * scale; } // stop: method
template <typename T> T Shape::as() const { return static_cast<T>(width); } // stop: template
namespace { int hidden(int x) { return x + 1; } } // stop: hidden
int value = 3;
}
int main() {
    ns::Shape shape{4};
    auto lambda = [&](int by) { return shape.area(by); }; // stop: lambda
    return lambda(2) + (int)shape.as<double>() + ns::hidden(ns::value);
}
"#;
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let fixture = compile("spaces.cpp", text, &[version, "-O0"]);
        let module = fixture.open();
        let name = |marker| {
            module
                .function_at(fixture.address(&module, marker))
                .unwrap()
                .name
                .clone()
        };
        assert_eq!(name("method"), "ns::Shape::area");
        assert_eq!(name("template"), "ns::Shape::as<double>");
        assert_eq!(name("hidden"), "ns::(anonymous namespace)::hidden");
        let lambda: Vec<String> = fixture
            .addresses(&module, "lambda")
            .iter()
            .map(|&address| module.function_at(address).unwrap().name.clone())
            .collect();
        assert!(
            lambda.iter().any(|name| name.ends_with("::operator()")),
            "{lambda:?}"
        );
        let method = module.functions_named("area")[0].clone();
        assert_eq!(method.linkage_name.as_deref(), Some("_ZNK2ns5Shape4areaEi"));
        let line = method.declaration.as_ref().unwrap().line;
        assert_eq!(
            line,
            fixture.line("method"),
            "the definition's line, not the declaration's"
        );
        let this = &module.variables_at(fixture.address(&module, "method"), 0)[0];
        assert_eq!(
            (this.name.as_str(), this.artificial, this.kind),
            ("this", true, VariableKind::Parameter)
        );
        assert_eq!(module.functions_named("Shape::as").len(), 1);
        assert_eq!(names(&module.statics_named("value")), ["ns::value"]);
    }
}

#[test]
fn broken_expressions_have_reasons() {
    let frame = Frame::default();
    assert_eq!(
        evaluate_cfi(&[0x77, 0x08], Some(1), &frame),
        Err(Unavailable::RegisterLost(7))
    );
    // DW_OP_plus_uconst 8 on the initial value.
    assert_eq!(evaluate_cfi(&[0x23, 0x08], Some(0x100), &frame), Ok(0x108));
    assert_eq!(
        evaluate_cfi(&[0x06], Some(0x100), &frame),
        Err(Unavailable::Unreadable(0x100))
    );
    // DW_OP_skip back to itself.
    let endless = evaluate_cfi(&[0x2f, 0xfd, 0xff], Some(1), &frame);
    assert!(
        matches!(endless, Err(Unavailable::Unsupported(_))),
        "{endless:?}"
    );
    assert!(matches!(
        evaluate_cfi(&[0xff], None, &frame),
        Err(Unavailable::Unsupported(_))
    ));
}
