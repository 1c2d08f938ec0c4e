//! Functions and inlined calls (DWARF 5 §3.3).

use crate::FileAddress;
use crate::demangle::{demangle, demangle_path};
use crate::dwarf::blocks::{BlockKind, Blocks};
use crate::dwarf::cpp_coroutines::WRAPPER;
use crate::dwarf::entries::Chain;
use crate::dwarf::index::FunctionEntry;
use crate::dwarf::{Dwarf, Unit};
use crate::names::group_end;
use gimli::{UnitOffset, constants as dw};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The source language of a unit (`DW_AT_language`), as far as display and expressions depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Any version of C.
    C,
    /// Any version of C++.
    Cpp,
    /// Rust.
    Rust,
    /// Any other language, including assembler.
    Other,
}

/// Identifies a concrete function in its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FunctionId {
    pub(crate) unit: u32,
    pub(crate) offset: usize,
}

/// A position in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePosition {
    /// The absolute path of the file.
    pub file: Arc<Path>,
    /// 1-based; 0 if unknown.
    pub line: u32,
    /// 1-based; 0 if unknown.
    pub column: u32,
}

/// A function with code of its own.
#[derive(Debug, Clone)]
pub struct Function {
    /// Identifies it in the module.
    pub id: FunctionId,
    /// The qualified name: `tour::area`, `ns::Shape::area`.
    pub name: String,
    /// The linkage (mangled) name.
    pub linkage_name: Option<String>,
    /// The ranges of its code; the range with the entry point comes first.
    pub ranges: Vec<Range<FileAddress>>,
    /// The entry point.
    pub entry: FileAddress,
    /// The position of its declaration.
    pub declaration: Option<SourcePosition>,
    /// Its unit's language.
    pub language: Language,
}

/// An inlined call: the callee's code is part of the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedCall {
    /// The callee's name, as in [`Function::name`].
    pub name: String,
    /// The ranges of this copy of the callee's code.
    pub ranges: Vec<Range<FileAddress>>,
    /// The position of the call in the caller.
    pub call_site: Option<SourcePosition>,
}

impl<'a> Dwarf<'a> {
    /// The function at `address`: its unit and entry.
    pub(crate) fn function_entry_at(&self, address: u64) -> Option<(&Unit<'a>, &FunctionEntry)> {
        self.units_at(address)
            .find_map(|unit| Some((unit, self.index(unit).function_at(address)?)))
    }

    pub(crate) fn function<'s>(
        &'s self,
        unit: &'s Unit<'a>,
        entry: &'s FunctionEntry,
    ) -> &'s Arc<Function> {
        entry.function.get_or_init(|| {
            let chain = self.chain(unit, UnitOffset(entry.offset));
            Arc::new(Function {
                id: FunctionId {
                    unit: unit.index,
                    offset: entry.offset,
                },
                name: self.function_name(&chain),
                linkage_name: self.linkage_name(&chain),
                ranges: entry.ranges.iter().map(file_range).collect(),
                entry: FileAddress(entry.ranges.first().map_or(0, |range| range.start)),
                declaration: self.declaration(&chain),
                language: unit.language(),
            })
        })
    }

    /// The qualified name. Rust's trait implementations are in namespaces such as `{impl#3}`, which have no meaning for
    /// users; the linkage name has the type and the trait.
    pub(crate) fn function_name(&self, chain: &Chain<'_, 'a>) -> String {
        let qualified = self.qualified_name(chain);
        let unclear = qualified
            .as_ref()
            .is_none_or(|name| name.contains("{impl#"));
        if unclear && let Some(linkage) = self.linkage_name(chain) {
            // clang's wrapper of a coroutine's `await_suspend` has only a linkage name: the coroutine's, with a suffix.
            if let Some((coroutine, _)) = linkage.split_once(WRAPPER) {
                return demangle_path(coroutine);
            }
            return self.with_own_closures(demangle(&linkage), chain);
        }
        qualified.unwrap_or_else(|| "{unnamed function}".to_owned())
    }

    /// In linkage names, closures and the bodies of async functions and blocks are all called `{{closure}}` or `{closure#0}`. Replaces
    /// those at the path's end by the debug information's names, which tell them apart: `{async_fn#0}`.
    fn with_own_closures(&self, demangled: String, chain: &Chain<'_, 'a>) -> String {
        let is_closure = |part: &str| {
            part == "{{closure}}" || part.starts_with("{closure#") && part.ends_with('}')
        };
        // The new mangling has the arguments that the compiler gives a closure: `{closure#0}::<i16>`.
        let arguments = demangled.rfind("}::<").map(|at| at + "}".len());
        let is_last =
            |at: &usize| group_end(demangled.as_bytes(), at + "::".len()) == demangled.len();
        let path = match arguments.filter(is_last) {
            Some(at) => &demangled[..at],
            None => &demangled,
        };
        let closures = path.rsplit("::").take_while(|part| is_closure(part));
        let count = closures.count();
        let Some((unit, entry)) = chain.links.last().filter(|_| count > 0) else {
            return demangled;
        };
        let scopes = self.scopes_around(unit, entry.offset().0);
        let scopes = scopes.iter().map(|&scope| self.text_of_name(unit, scope));
        let own = std::iter::once(self.chain_text(chain, dw::DW_AT_name)).chain(scopes);
        // A name has the generic arguments of its function: `{closure#0}<u8>`.
        let own = own.map(|name| {
            let name = std::str::from_utf8(name?).ok()?;
            name.starts_with('{')
                .then(|| name.split_inclusive('}').next())?
        });
        let Some(own) = own.take(count).collect::<Option<Vec<&str>>>() else {
            return demangled;
        };
        let function: Vec<&str> = path.rsplit("::").skip(count).collect();
        let parts = function.into_iter().rev().chain(own.into_iter().rev());
        parts.collect::<Vec<&str>>().join("::")
    }

    pub(crate) fn blocks(&self, unit: &Unit<'a>, function: usize) -> Arc<Blocks> {
        unit.blocks(function, || Blocks::parse(self, unit, function))
    }

    fn inlined_call(&self, unit: &Unit<'a>, blocks: &Blocks, block: u32) -> InlinedCall {
        let block = &blocks.blocks[block as usize];
        let chain = self.chain(unit, UnitOffset(block.offset));
        InlinedCall {
            name: self.function_name(&chain),
            ranges: block.ranges.iter().map(file_range).collect(),
            call_site: self.call_site(unit, block.offset),
        }
    }

    pub(crate) fn inlined_at(&self, address: u64) -> Vec<InlinedCall> {
        let Some((unit, function)) = self.function_entry_at(address) else {
            return Vec::new();
        };
        let blocks = self.blocks(unit, function.offset);
        blocks
            .inlined(address)
            .into_iter()
            .map(|block| self.inlined_call(unit, &blocks, block))
            .collect()
    }

    pub(crate) fn inlined_in(&self, range: Range<u64>) -> Vec<InlinedCall> {
        let Some((unit, function)) = self.function_entry_at(range.start) else {
            return Vec::new();
        };
        let blocks = self.blocks(unit, function.offset);
        let starts_inside = |block: u32| {
            let block = &blocks.blocks[block as usize];
            block.kind == BlockKind::Inlined
                && block.ranges.iter().any(|code| range.contains(&code.start))
        };
        let numbers = 0..blocks.blocks.len() as u32;
        numbers
            .filter(|&block| starts_inside(block))
            .map(|block| self.inlined_call(unit, &blocks, block))
            .collect()
    }
}

pub(crate) fn file_range(range: &Range<u64>) -> Range<FileAddress> {
    FileAddress(range.start)..FileAddress(range.end)
}
