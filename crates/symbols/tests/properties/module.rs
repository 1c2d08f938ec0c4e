//! A module answers every query, whatever its bytes are.

use dapple_symbols::cfi::{CfaRule, RegisterRule};
use dapple_symbols::location::{LocationContext, Place, evaluate_cfi};
use dapple_symbols::names::NamePattern;
use dapple_symbols::types::{TypeId, TypeKind};
use dapple_symbols::{Error, FileAddress, Module};
use std::ops::Range;
use std::path::Path;

pub const EVERYWHERE: Range<FileAddress> = FileAddress(0)..FileAddress(u64::MAX);

/// A process whose registers and memory are all readable.
pub struct Everything;

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
    fn thread_local(&self, offset: u64) -> Result<u64, &'static str> {
        Ok(offset)
    }
    fn caller(&self) -> Option<Box<dyn LocationContext + '_>> {
        Some(Box::new(Everything))
    }
}

/// Opens the bytes as a file, and makes all queries.
pub fn any_bytes_are_answered_for(bytes: &[u8]) {
    let module = match Module::from_bytes("any", bytes.to_vec()) {
        Ok(module) => module,
        Err(error) => return assert_tells_where(&error),
    };
    let mut addresses: Vec<FileAddress> = module
        .rows_in(EVERYWHERE)
        .iter()
        .map(|row| row.range.start)
        .collect();
    addresses.dedup();
    let step = addresses.len().div_ceil(12).max(1);
    let mut addresses: Vec<FileAddress> = addresses.into_iter().step_by(step).collect();
    addresses.extend([module.entry(), FileAddress(0), FileAddress(u64::MAX)]);
    let sources = module.source_files();
    let source = sources
        .iter()
        .find(|path| path.ends_with("seed.cpp"))
        .or_else(|| sources.first());
    ask_everything(
        &module,
        &addresses,
        source.map_or(Path::new("seed.cpp"), |path| path),
    );
}

/// Checks that an error names the file and gives a reason.
fn assert_tells_where(error: &Error) {
    let text = error.to_string();
    let (file, reason) = text.split_once(": ").expect("a file and a reason");
    assert!(!file.is_empty() && !reason.is_empty(), "{text}");
}

/// Visits a type and all types that it refers to.
fn explore(module: &Module, start: TypeId) {
    let mut seen = vec![start];
    let mut next = 0;
    while let Some(&id) = seen.get(next).filter(|_| next < 60) {
        next += 1;
        let _ = module.strip_aliases(id);
        let found = match module.type_of(id) {
            Ok(found) => found,
            Err(error) => {
                assert_tells_where(&error);
                continue;
            }
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

fn ask_at(module: &Module, address: FileAddress) {
    let _ = (
        module.symbol_at(address),
        module.section_at(address),
        module.bytes_at(address, 16),
    );
    if let Some(row) = module.row_at(address) {
        assert!(row.range.contains(&address), "{row:?} for {address:?}");
    }
    let _ = (module.function_at(address), module.language_at(address));
    let _ = (module.after_prologue(address), module.statics_at(address));
    let _ = module.unit_at(address);
    let until = FileAddress(address.0.saturating_add(64));
    let _ = (
        module.rows_in(address..until),
        module.inlined_in(address..until),
    );
    let _ = module.instruction_set(address);
    match module.unwind_rules(address) {
        Ok(Some(rules)) => {
            assert!(rules.range.contains(&address), "{rules:?} for {address:?}");
            if let CfaRule::Expression(bytes) = &rules.cfa {
                let _ = evaluate_cfi(bytes, None, &Everything);
            }
            for (_, rule) in &rules.registers {
                if let RegisterRule::Expression(bytes) | RegisterRule::ValueExpression(bytes) = rule
                {
                    let _ = evaluate_cfi(bytes, Some(1), &Everything);
                }
            }
        }
        Ok(None) => {}
        Err(error) => assert_tells_where(&error),
    }
    match module.exception_table(address) {
        Ok(Some(table)) => assert!(table.range.contains(&address), "{table:?}"),
        Ok(None) => {}
        Err(error) => assert_tells_where(&error),
    }
    let depth = module.inlined_at(address).len();
    for inline_depth in 0..=depth.min(5) {
        for variable in module.variables_at(address, inline_depth) {
            let _ = module.array_lengths(&variable, address, &Everything);
            let pieces = module.locate(&variable, address, &Everything);
            for piece in pieces.into_iter().flatten() {
                if let Place::ImplicitPointer { pointee, .. } = &piece.place {
                    let _ = module.locate_pointee(pointee, address, &Everything);
                }
            }
            variable
                .type_id
                .into_iter()
                .for_each(|id| explore(module, id));
        }
    }
}

/// Makes all queries.
pub fn ask_everything(module: &Module, addresses: &[FileAddress], source: &Path) {
    let _ = (
        module.kind(),
        module.debug_info(),
        module.entry(),
        module.interpreter(),
        module.dynamic(),
        module.build_id(),
    );
    let _ = (module.units(), module.debug_sections(), module.debug_file());
    for &address in addresses {
        ask_at(module, address);
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
    let _ = module.source_files();
    module.warnings().iter().for_each(assert_tells_where);
}
