//! Broken files: whatever bytes are lost or changed, every query answers, without panic and in time.

mod support;

use dapple_symbols::location::{LocationContext, evaluate_cfi};
use dapple_symbols::names::NamePattern;
use dapple_symbols::types::{TypeId, TypeKind};
use dapple_symbols::{FileAddress, Module};
use std::path::Path;
use std::time::{Duration, Instant};
use support::compile;

const SOURCE: &str = r#"
#include <cstdio>
#include <string>
namespace ns {
struct Base { virtual ~Base() {} int base; };
struct Shape : Base { int width : 5; unsigned height : 7; Shape *next; double sides[4]; enum { Small, Large } kind; };
template <typename T> struct Box { T inside; union { int number; float fraction; }; };
static thread_local int counter;
static inline __attribute__((always_inline)) int square(int x) { int y = x * x; return y + counter; }
__attribute__((noinline)) int work(Shape *shape, int n) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        int part = square(i + shape->width);
        total += part;
    }
    return total;
}
}
ns::Box<ns::Shape> box;
int (*callback)(ns::Shape *, int) = ns::work;
int main(int argc, char **argv) {
    std::printf("%d\n", callback(&box.inside, argc));
    return ns::work(&box.inside, argc + 1);
}
"#;

/// The same numbers each time (Knuth's MMIX generator).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// A process that has something everywhere.
struct Everything;

impl LocationContext for Everything {
    fn register(&self, register: u16) -> Option<u64> {
        Some(0x1000 + u64::from(register))
    }
    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), u64> {
        buffer.fill(address as u8);
        Ok(())
    }
    fn cfa(&self) -> Option<u64> {
        Some(0x7000)
    }
    fn load_bias(&self) -> u64 {
        0x1000
    }
    fn thread_local(&self, offset: u64) -> Option<u64> {
        Some(offset)
    }
    fn caller(&self) -> Option<Box<dyn LocationContext + '_>> {
        Some(Box::new(Everything))
    }
}

/// Follows a type to everything below it.
fn explore(module: &Module, start: TypeId) {
    let mut seen = vec![start];
    let mut next = 0;
    while let Some(&id) = seen.get(next).filter(|_| next < 60) {
        next += 1;
        let _ = module.strip_aliases(id);
        let Ok(found) = module.type_of(id) else {
            continue;
        };
        assert!(!found.name.is_empty());
        let below: Vec<TypeId> = match &found.kind {
            TypeKind::Pointer(_, target) | TypeKind::Alias(_, target) => {
                target.iter().copied().collect()
            }
            TypeKind::Array { element, .. } => vec![*element],
            TypeKind::Aggregate(aggregate) => aggregate
                .members
                .iter()
                .map(|member| member.type_id)
                .collect(),
            TypeKind::Function { parameters, .. } => parameters.clone(),
            TypeKind::MemberPointer { target, class } => {
                target.iter().chain(class).copied().collect()
            }
            _ => Vec::new(),
        };
        for id in below {
            if !seen.contains(&id) {
                seen.push(id);
            }
        }
    }
}

/// Asks everything there is to ask.
fn interrogate(module: &Module, addresses: &[FileAddress], source: &Path) {
    let _ = (
        module.kind(),
        module.debug_info(),
        module.entry(),
        module.interpreter(),
        module.dynamic(),
        module.build_id(),
    );
    for &address in addresses {
        let _ = (
            module.symbol_at(address),
            module.section_at(address),
            module.bytes_at(address, 16),
        );
        let _ = (
            module.row_at(address),
            module.function_at(address),
            module.language_at(address),
        );
        let _ = (module.after_prologue(address), module.statics_at(address));
        let until = FileAddress(address.0.saturating_add(64));
        let _ = (
            module.rows_in(address..until),
            module.inlined_in(address..until),
        );
        if let Ok(Some(rules)) = module.unwind_rules(address) {
            for (_, rule) in &rules.registers {
                if let dapple_symbols::cfi::RegisterRule::Expression(bytes) = rule {
                    let _ = evaluate_cfi(bytes, Some(1), &Everything);
                }
            }
        }
        let depth = module.inlined_at(address).len();
        for inline_depth in 0..=depth.min(5) {
            for variable in module.variables_at(address, inline_depth) {
                let _ = module.locate(&variable, address, &Everything);
                variable
                    .type_id
                    .into_iter()
                    .for_each(|id| explore(module, id));
            }
        }
    }
    for name in ["work", "ns::square", "main", "nothing"] {
        let _ = (module.functions_named(name), module.symbol_named(name));
    }
    for name in ["box", "callback", "counter"] {
        for variable in module.statics_named(name) {
            let _ = module.locate(&variable, addresses[0], &Everything);
            variable
                .type_id
                .into_iter()
                .for_each(|id| explore(module, id));
        }
    }
    for name in [
        "wor*",
        "area::**",
        "work(ns::Shape*, int)",
        "Box<ns::Shape>",
        "counter",
        "wrok",
    ] {
        let pattern = NamePattern::new(name);
        let _ = (module.find_functions(&pattern), module.find_types(&pattern));
        let _ = (
            module.find_variables(&pattern),
            module.similar_names(&pattern),
        );
    }
    let _ = (
        module.breakpoint_locations(source, 0..=u32::MAX),
        module.sources(),
    );
    for line in [0, 6, 9, 10, 12, 13, 20, u32::MAX] {
        let _ = module.lookup_line(source, line);
    }
    let _ = (module.source_files(), module.warnings());
}

/// Where the interesting part of a file is: its debug sections stand together near its end.
fn damage_and_ask(flags: &[&str], rounds: usize) {
    let fixture = compile("robust.cpp", SOURCE, flags);
    let bytes = std::fs::read(&fixture.binary).unwrap();
    let module = fixture.open();
    let everything = FileAddress(0)..FileAddress(u64::MAX);
    let mut addresses: Vec<FileAddress> = module
        .rows_in(everything)
        .iter()
        .map(|row| row.range.start)
        .collect();
    addresses.dedup();
    let step = (addresses.len() / 8).max(1);
    let mut addresses: Vec<FileAddress> = addresses.into_iter().step_by(step).collect();
    addresses.extend([module.entry(), FileAddress(0), FileAddress(u64::MAX)]);
    interrogate(&module, &addresses, &fixture.source);
    assert!(module.warnings().is_empty(), "{:?}", module.warnings());

    let mut random = Random(42);
    // Sections are searched, so that small ones are hit as often as large ones.
    let sections = support::sections(&fixture.binary);
    let (mut opened, mut slowest) = (0, Duration::ZERO);
    for round in 0..rounds {
        let mut damaged = bytes.clone();
        match round % 8 {
            0 => damaged.truncate(random.below(bytes.len())),
            kind => {
                for _ in 0..kind {
                    let section = &sections[random.below(sections.len())];
                    let at = section.start + random.below(section.len());
                    damaged[at] = match random.below(4) {
                        0 => 0xff,
                        1 => 0,
                        2 => damaged[at] ^ (1 << random.below(8)),
                        _ => random.below(256) as u8,
                    };
                }
            }
        }
        let start = Instant::now();
        if let Ok(module) = Module::from_bytes("damaged", damaged) {
            interrogate(&module, &addresses, &fixture.source);
            opened += 1;
        }
        let spent = start.elapsed();
        slowest = slowest.max(spent);
        assert!(
            spent < Duration::from_secs(20),
            "round {round} took {spent:?}"
        );
    }
    assert!(
        opened > rounds / 2,
        "{opened} of {rounds} could be opened; the slowest took {slowest:?}"
    );
}

#[test]
fn damaged_files_of_dwarf_4_are_survived() {
    damage_and_ask(&["-gdwarf-4", "-O2"], 600);
}

#[test]
fn damaged_files_of_dwarf_5_are_survived() {
    damage_and_ask(&["-gdwarf-5", "-O0"], 600);
}

#[test]
fn damaged_files_with_type_units_are_survived() {
    damage_and_ask(
        &["-gdwarf-4", "-O1", "-fdebug-types-section", "-no-pie"],
        600,
    );
}

#[test]
fn damaged_compressed_sections_are_survived() {
    damage_and_ask(&["-gdwarf-5", "-O2", "-gz"], 400);
}
