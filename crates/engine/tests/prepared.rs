//! Expressions compiled for one place, checked against the general evaluator: wherever the quick form gives a number or a text, the
//! evaluator gives the same.

use crate::support;
use crate::support::{Fixture, fixture, fixture_by};
use dapple_engine::Memory;
use dapple_engine::eval::Parsed;
use dapple_engine::eval::prepared::{Prepared, Thread};
use dapple_engine::frame::Frame;
use dapple_engine::modules::Modules;
use dapple_engine::values::known::Known;
use dapple_engine::values::{Number, Reader};
use dapple_engine::{Address, Session};

/// The debuggee's memory.
struct Live<'a>(&'a Session);

impl Memory for Live<'_> {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        let bytes = self.0.read_memory(address, buffer.len()).unwrap().bytes;
        if bytes.len() < buffer.len() {
            return Err(Address(address.0.wrapping_add(bytes.len() as u64)));
        }
        buffer.copy_from_slice(&bytes);
        Ok(())
    }
}

/// The numbers of comparisons.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    expressions: usize,
    numbers: usize,
    texts: usize,
}

fn compare(text: &str, frame: &Frame, reader: &Reader<'_>, tally: &mut Tally) {
    let Ok(parsed) = Parsed::new(text, frame.language) else {
        return;
    };
    tally.expressions += 1;
    let address = frame.physical.pc;
    let Some(quick) = Prepared::new(&parsed, reader.modules, address, frame.inline_depth) else {
        return;
    };
    let here = Thread {
        id: frame.id.thread,
        registers: &frame.physical.registers,
        vectors: &|| frame.physical.vectors.clone(),
        memory: reader.memory,
    };
    if let Some(number) = quick.number(here) {
        let wanted = parsed.number(frame, reader);
        let wanted = wanted.unwrap_or_else(|error| panic!("`{text}` is {number:?}, but: {error}"));
        match (number, wanted) {
            // The pointee only matters in arithmetic, which the evaluator does.
            (Number::Pointer { address: a, .. }, Number::Pointer { address: b, .. }) => {
                assert_eq!(a, b, "`{text}`");
            }
            // Compares texts, because a NaN isn't equal to itself.
            _ => assert_eq!(format!("{number:?}"), format!("{wanted:?}"), "`{text}`"),
        }
        tally.numbers += 1;
    }
    if let Some(shown) = quick.text(here) {
        let wanted = parsed.value(frame, reader).unwrap();
        assert_eq!(shown, reader.render(&wanted.value).text, "`{text}`");
        tally.texts += 1;
    }
}

/// Every variable of the frame and its children, three levels deep, as expressions.
fn atoms(session: &Session, frame: &Frame) -> Vec<String> {
    let mut all = Vec::new();
    let mut level = session.variables(frame.id).unwrap();
    level.extend(session.statics(frame.id).unwrap());
    for _ in 0..3 {
        let mut next = Vec::new();
        for (named, rendered) in &level {
            let Some(expression) = &named.expression else {
                continue;
            };
            all.push(expression.clone());
            let count = (rendered.named + rendered.indexed).min(4);
            if count > 0 {
                let children = session.children(&named.value, Some(expression), 0..count);
                next.extend(children.unwrap());
            }
        }
        level = next;
    }
    all.truncate(100);
    all
}

/// Compares at a marked line: the variables and their combinations by operators.
fn check(fixture: &Fixture, stop: &str, more: &[&str]) -> Tally {
    const OPERATORS: [&str; 19] = [
        "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&",
        "||", "==",
    ];
    const LITERALS: [&str; 8] = ["0", "1", "-1", "3", "255", "1.5", "true", "100000"];
    let mut debuggee = fixture.launch();
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = session.stack(thread, 0..1).unwrap().frames.remove(0);
    let mut modules = Modules::default();
    modules.push(frame.physical.module.clone().expect("a module"));
    let memory = Live(session);
    let known = Known::default();
    let reader = Reader::new(&memory, &modules, &known);
    let mut tally = Tally::default();
    let atoms = atoms(session, &frame);
    assert!(atoms.len() > 2, "{atoms:?}");
    let mut seed = 7_u64;
    let mut pick = |count: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % count
    };
    let mut texts: Vec<String> = more.iter().map(|text| text.to_string()).collect();
    for atom in &atoms {
        texts.push(atom.clone());
        for prefix in ["-", "!", "~", "*", "&"] {
            texts.push(format!("{prefix}{atom}"));
        }
    }
    for _ in 0..80 {
        let left = &atoms[pick(atoms.len())];
        let right = match pick(2) {
            0 => LITERALS[pick(LITERALS.len())],
            _ => &atoms[pick(atoms.len())],
        };
        let (first, second) = (
            OPERATORS[pick(OPERATORS.len())],
            OPERATORS[pick(OPERATORS.len())],
        );
        texts.push(format!("{left} {first} {right}"));
        texts.push(format!(
            "({left} {first} {right}) {second} {}",
            atoms[pick(atoms.len())]
        ));
        texts.push(format!("{left}[{right}]"));
    }
    for text in &texts {
        compare(text, &frame, &reader, &mut tally);
    }
    tally
}

/// Checks that all of these expressions have a quick form that gives a number, at each of the marked lines.
fn are_quick(fixture: &Fixture, stops: &[&str], texts: &[&str]) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(stops);
    for _ in stops {
        let (thread, _) = debuggee.run_to_breakpoint();
        let session = debuggee.session();
        let frame = session.stack(thread, 0..1).unwrap().frames.remove(0);
        let mut modules = Modules::default();
        modules.push(frame.physical.module.clone().expect("a module"));
        let memory = Live(session);
        let known = Known::default();
        let reader = Reader::new(&memory, &modules, &known);
        for text in texts {
            let mut tally = Tally::default();
            compare(text, &frame, &reader, &mut tally);
            let program = fixture.binary.display();
            assert_eq!(tally.numbers, 1, "`{text}` in {program}: {tally:?}");
        }
    }
}

const MEASURED_IN_CPP: [&str; 12] = [
    "tree.size() == 5",
    "tree.empty()",
    "words.size() > 3",
    "table.size() == 5",
    "!table.empty()",
    "list.size() == 5",
    "triples.size() == 4",
    "name.size() == 4",
    "name == \"even\"",
    "longer.length()",
    "longer == \"even and too long for the object itself\"",
    "view == \"eve\" || view.empty()",
];

#[test]
fn lengths_of_cpp() {
    let stops = ["empty", "full"];
    are_quick(&fixture("measured.cpp", &[]), &stops, &MEASURED_IN_CPP);
    let Some(clang) = support::clang() else {
        return println!("there is no clang here");
    };
    let clang = clang.replace("clang", "clang++");
    for tools in &support::libraries::CLANG {
        let is_libcxx = tools.flags.contains(&"-stdlib=libc++");
        // Strings of libstdc++ that are only declared need the full evaluator.
        let is_declared = !is_libcxx && tools.flags.is_empty();
        if is_declared || (is_libcxx && !support::has_libcxx(&clang)) {
            continue;
        }
        let flags = [tools.flags, &["-std=c++17"]].concat();
        let fixture = fixture_by(&clang, "measured.cpp", &flags);
        // The containers of libc++ need the full evaluator.
        let first = if is_libcxx { 7 } else { 0 };
        are_quick(&fixture, &stops, &MEASURED_IN_CPP[first..]);
    }
}

#[test]
fn lengths_of_rust() {
    let texts = [
        "tree.len() == 5",
        "tree.is_empty()",
        "ordered.len() > 3",
        "table.len() == 5",
        "set.len() == 5",
        "!set.is_empty()",
        "queue.len() == 5",
        "near == Some(\"two\")",
        "near == None",
    ];
    are_quick(&fixture("measured.rs", &[]), &["empty", "full"], &texts);
}

/// Checks that at least this many expressions have a quick form.
#[track_caller]
fn assert_quick(tally: Tally, numbers: usize, texts: usize) {
    assert!(
        tally.numbers >= numbers && tally.texts >= texts,
        "{tally:?}"
    );
}

#[test]
fn c_without_optimisation() {
    let fixture = fixture("conditions.c", &[]);
    let more = [
        "i == -1",
        "point.many[i] < 3",
        "point.next->x == -7 && point.color == GREEN",
        "point.color == BLUE",
        "point.small",
        "point.inner.ratio < 0.5f",
        "nothing == 0",
        "nothing->x",
        "letter == 'a'",
        "(unsigned char)(point.tag + 10)",
        "(double)i / 3",
        "$rax & 0xff",
        "$sp == $fp",
        "point.many[7]",
        "last.next->x",
        "point.next.x",
        "point->x",
        "seen + total",
    ];
    assert_quick(check(&fixture, "loop", &more), 100, 80);
    assert_quick(
        check(&fixture, "visit", &["point->x == i", "(*point).x"]),
        50,
        20,
    );
    assert_quick(
        check(&support::fixture("values.c", &[]), "aggregates", &[]),
        100,
        100,
    );
}

#[test]
fn c_with_optimisation() {
    for flags in [["-O1", "-g"], ["-O2", "-gdwarf-4"]] {
        check(&fixture("conditions.c", &flags), "loop", &["i == 3"]);
    }
}

#[test]
fn cpp_sees_through_references() {
    let tally = check(&fixture("tour.cpp", &[]), "sum", &[]);
    assert!(tally.expressions > 100, "{tally:?}");
    let tally = check(&fixture("values.cpp", &[]), "language", &[]);
    assert!(tally.expressions > 100, "{tally:?}");
}

#[test]
fn rust_sees_through_references_and_types_its_literals() {
    let tally = check(
        &fixture("tour.rs", &[]),
        "sum",
        &["sum == 0", "sum - 1", "item.cents / 3"],
    );
    assert!(tally.numbers > 10, "{tally:?}");
    let tally = check(&fixture("values.rs", &[]), "scalars", &[]);
    assert!(tally.numbers > 10, "{tally:?}");
}
