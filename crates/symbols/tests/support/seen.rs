//! A program's functions, lines and variables at the marked lines, as text, for comparing different storages of the same debug information.

use super::Fixture;
use dapple_symbols::location::LocationContext;
use dapple_symbols::types::{TypeId, TypeKind};
use dapple_symbols::{FileAddress, Module};
use std::fmt::Write;

/// A frame in which only addresses are known.
struct Frame;

impl LocationContext for Frame {
    fn register(&self, register: u16) -> Option<u64> {
        Some(0x1000 * u64::from(register + 1))
    }
    fn read(&self, address: u64, _: &mut [u8]) -> Result<(), u64> {
        Err(address)
    }
    fn cfa(&self) -> Option<u64> {
        Some(0x7fff_0000)
    }
    fn load_bias(&self) -> u64 {
        0x5555_0000_0000
    }
    fn thread_local(&self, offset: u64) -> Result<u64, &'static str> {
        Ok(0x6000_0000 + offset)
    }
}

/// Functions, lines, inlined calls, and variables with their types and locations, at each of the marked lines.
pub fn seen(module: &Module, fixture: &Fixture, marks: &[&str]) -> String {
    let mut text = String::new();
    for mark in marks {
        let addresses = fixture.addresses(module, mark);
        writeln!(text, "{mark}: {} addresses", addresses.len()).unwrap();
        for address in addresses {
            at(&mut text, module, address);
        }
    }
    text
}

fn at(text: &mut String, module: &Module, address: FileAddress) {
    match module.function_at(address) {
        Some(function) => {
            let line = function.declaration.as_ref().map_or(0, |place| place.line);
            let (name, linkage) = (&function.name, &function.linkage_name);
            let language = function.language;
            writeln!(text, "  in {name} ({linkage:?}), line {line}, {language:?}").unwrap();
        }
        None => writeln!(text, "  in no function").unwrap(),
    }
    let row = module.row_at(address).expect("a row");
    let file = row.file.file_name().expect("a file").to_string_lossy();
    writeln!(text, "  at {file}:{}", row.line).unwrap();
    let calls = module.inlined_at(address);
    for call in &calls {
        let line = call.call_site.as_ref().map_or(0, |place| place.line);
        writeln!(text, "  inlined {} from line {line}", call.name).unwrap();
    }
    for depth in 0..=calls.len() {
        for variable in module.variables_at(address, depth) {
            let line = variable.declaration.as_ref().map_or(0, |place| place.line);
            let place = module.locate(&variable, address, &Frame);
            let (name, kind) = (&variable.name, variable.kind);
            let of = described(module, variable.type_id, 0);
            writeln!(
                text,
                "  {depth} {kind:?} {name}, line {line}: {of} {place:?}"
            )
            .unwrap();
        }
    }
    for variable in module.statics_at(address) {
        let place = module.locate(&variable, address, &Frame).is_ok();
        let of = described(module, variable.type_id, 0);
        writeln!(text, "  static {}: {of} placed: {place}", variable.name).unwrap();
    }
}

fn described(module: &Module, id: Option<TypeId>, depth: usize) -> String {
    let Some(id) = id else {
        return "void".to_owned();
    };
    let found = module.type_of(id).expect("a type");
    let mut text = format!("{} [{:?}]", found.name, found.size);
    match &found.kind {
        TypeKind::Aggregate(aggregate) if depth < 4 => {
            assert!(!aggregate.declaration, "{text} is only declared");
            for member in &aggregate.members {
                let inner = described(module, Some(member.type_id), depth + 1);
                write!(text, " {{{:?}@{} {inner}}}", member.name, member.offset).unwrap();
            }
        }
        TypeKind::Pointer(_, target) if depth < 4 => {
            write!(text, " → {}", described(module, *target, depth + 1)).unwrap();
        }
        TypeKind::Enumeration { values, .. } => write!(text, " {values:?}").unwrap(),
        _ => {}
    }
    text
}
