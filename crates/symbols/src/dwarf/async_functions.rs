//! Finds the bodies of Rust's `async fn`s.
//!
//! rustc makes two functions of each: `fetch`, which only makes the future, and `fetch::{async_fn#0}`, which runs the
//! body and is called again at each resumption. The latter begins with a jump to the suspension point. The first call
//! jumps to code that moves the arguments to their places in the body, and continues with the body. The future's type,
//! `fetch::{async_fn_env#0}`, is in the same namespace `fetch`. The body is compiled where the future is first polled,
//! which may be in another crate's unit than the function. Async blocks and closures begin where they are written. What
//! all of them have in common is in [`coroutines`].

use crate::FileAddress;
use crate::dwarf::coroutines;
use crate::dwarf::entries::Chain;
use crate::dwarf::functions::{FunctionId, Language, file_range};
use crate::dwarf::lines::Row;
use crate::dwarf::name_index::{AnyIndex, EntryKind, NameIndex, OneUnit};
use crate::dwarf::queries::Instance;
use crate::dwarf::types::TypeId;
use crate::dwarf::{Dwarf, Unit};
use crate::indexing::IndexState;
use gimli::{UnitOffset, constants as dw};
use std::ops::Range;
use std::path::Path;

pub(crate) const FUTURE: &str = "{async_fn_env#";
pub(crate) const BODY: &str = "{async_fn#";

/// The base name of a body. The number counts within the `async fn`, which has one body.
pub(crate) const FIRST_BODY: &[u8] = b"{async_fn#0}";

/// The name of the `async fn` that the body of this name belongs to. In Rust's legacy mangling, a body is named like any
/// closure. `None`: the name is neither a body's nor a closure's.
pub(crate) fn written_name(body: &str) -> Option<&str> {
    ["::{async_fn#", "::{{closure}}"]
        .into_iter()
        .find_map(|mark| Some(&body[..body.rfind(mark)?]))
}

impl<'a> Dwarf<'a> {
    /// The type of the future that a function makes. `None`: the function isn't a Rust `async fn`.
    pub(crate) fn future_made(&self, chain: &Chain<'_, 'a>) -> Option<TypeId> {
        self.coroutine_made(chain, FUTURE)
    }

    /// The type that a Rust function returns, if its name starts with `start`.
    fn coroutine_made(&self, chain: &Chain<'_, 'a>, start: &str) -> Option<TypeId> {
        let (unit, _) = chain.links.last()?;
        if unit.language() != Language::Rust {
            return None;
        }
        let (unit, value) = chain.attribute(dw::DW_AT_type)?;
        let future = self.type_id(unit, value)?;
        let name = self.text_of_name(self.unit(future.unit)?, future.offset)?;
        name.starts_with(start.as_bytes()).then_some(future)
    }

    /// Whether the function at an address only makes the future of an `async fn` or async closure.
    pub(crate) fn makes_future(&self, address: u64) -> bool {
        let Some((unit, function)) = self.function_entry_at(address) else {
            return false;
        };
        let chain = self.chain(unit, UnitOffset(function.offset));
        let makes = |start| self.coroutine_made(&chain, start).is_some();
        makes(FUTURE) || makes(coroutines::CLOSURE_STATE)
    }

    pub(crate) fn text_of_name(&self, unit: &Unit<'a>, offset: usize) -> Option<&'a [u8]> {
        let entry = self.entry(unit, UnitOffset(offset))?;
        self.text(unit, entry.attr_value(dw::DW_AT_name)?)
    }

    /// The bodies of the `async fn` that makes `future`, and the bodies' copies inlined into other functions. Without an
    /// index, searches first the future's own unit. If it has no body, searches the other units that name `file`, in
    /// which the function is written.
    pub(crate) fn bodies(&self, future: TypeId, file: Option<&Path>) -> Vec<Body> {
        let Some(unit) = self.unit(future.unit) else {
            return Vec::new();
        };
        if self.index_state() != IndexState::Missing {
            return self.bodies_among(&AnyIndex(self), unit, future);
        }
        let own = self.bodies_among(&OneUnit(self, unit), unit, future);
        if !own.is_empty() {
            return own;
        }
        let named = file.map(|file| self.units_with_file(file));
        named
            .unwrap_or_default()
            .iter()
            .filter(|named| named.unit.index != unit.index)
            .flat_map(|named| self.bodies_among(&OneUnit(self, named.unit), unit, future))
            .collect()
    }

    /// The bodies that are found in `index`.
    fn bodies_among(&self, index: &dyn NameIndex, unit: &Unit<'a>, future: TypeId) -> Vec<Body> {
        let name = self.text_of_name(unit, future.offset).unwrap_or_default();
        // `{async_fn_env#0}` → `{async_fn#0}`; blocks and closures likewise.
        let name = String::from_utf8_lossy(name).replacen("_env#", "#", 1);
        let scopes = self.scope_names(unit, future.offset);
        let base = crate::names::base_of(&name).as_bytes();
        let mut bodies = Vec::new();
        for kind in [EntryKind::Function, EntryKind::InlinedCall] {
            for place in index.entries_named(base, kind) {
                let Some(unit) = self.unit(place.unit) else {
                    continue;
                };
                let chain = self.chain(unit, UnitOffset(place.offset));
                let is_body = self.chain_text(&chain, dw::DW_AT_name) == Some(name.as_bytes())
                    && chain.links.last().is_some_and(|(unit, entry)| {
                        self.scope_names(unit, entry.offset().0) == scopes
                    });
                let body = is_body.then(|| self.body(unit, &chain, kind)).flatten();
                bodies.extend(body);
            }
        }
        bodies
    }

    /// The names of the scopes around an entry, innermost first.
    fn scope_names(&self, unit: &Unit<'a>, offset: usize) -> Vec<Option<&'a [u8]>> {
        let scopes = self.scopes_around(unit, offset);
        let names = scopes.iter().map(|&scope| self.text_of_name(unit, scope));
        names.collect()
    }

    fn body(&self, unit: &Unit<'a>, chain: &Chain<'_, 'a>, kind: EntryKind) -> Option<Body> {
        let (_, own) = chain.links.first()?;
        let ranges = self.code_ranges(unit.part(), own.attrs());
        let start = ranges.first()?.start;
        let (instance, entry, breakpoint) = match kind {
            EntryKind::InlinedCall => {
                let entry = self.inlined_entry(unit, own.attrs(), &ranges)?;
                (self.inlined_instance(chain, start), entry, entry)
            }
            _ => {
                let id = FunctionId {
                    unit: unit.index,
                    offset: own.offset().0,
                };
                (Instance::Function(id), start, self.body_start(start))
            }
        };
        Some(Body {
            name: self.function_name(chain),
            instance,
            entry: FileAddress(entry),
            breakpoint: FileAddress(breakpoint),
            ranges: ranges.iter().map(file_range).collect(),
        })
    }

    /// The address for a breakpoint on the function that starts at `entry`: behind its prologue, and in the body of an
    /// `async fn` also behind the code that moves its arguments. In optimised code, which mixes that code with the body,
    /// the address may be in the middle of it.
    pub(crate) fn body_start(&self, entry: u64) -> u64 {
        let after_prologue = self.after_prologue(entry);
        self.async_body_start(entry, after_prologue)
            .or_else(|| Some(self.cpp_coroutine_at(entry)?.begin?.0))
            .unwrap_or(after_prologue)
    }

    /// The start of the body, behind the code that moves the arguments. `None` if the function is not the body of an
    /// `async fn`, or no such row is found. The row at the end of the prologue has the position of the body's opening
    /// brace, and the rows of the code that moves arguments have positions before it. The first row behind the brace is
    /// taken, by address.
    fn async_body_start(&self, entry: u64, after_prologue: u64) -> Option<u64> {
        let (unit, function) = self.function_entry_at(entry)?;
        let is_body = unit.language() == Language::Rust
            && unit.optimised() != Some(true)
            && self.is_async_body(unit, function.offset);
        let code = function.ranges.first().filter(|_| is_body)?;
        let lines = self.lines(unit);
        let first = lines.row_at(after_prologue)?;
        let (brace, rest) = lines.rows.get(first..)?.split_first()?;
        let is_in_body = |row: &&Row| {
            row.line != 0
                && (row.file != brace.file || (row.line, row.column) > (brace.line, brace.column))
        };
        let rows = rest.iter().take_while(|row| code.contains(&row.address));
        let start = { rows }.find(is_in_body)?;
        Some(start.address)
    }

    /// Whether the function of this entry is the body of an `async fn`.
    pub(crate) fn is_async_body(&self, unit: &Unit<'a>, function: usize) -> bool {
        self.is_called(unit, function, &[BODY])
    }

    /// Whether the name of a function, or of an inlined copy, starts with one of these. Its scopes aren't part of it.
    pub(crate) fn is_called(&self, unit: &Unit<'a>, function: usize, starts: &[&str]) -> bool {
        let chain = self.chain(unit, UnitOffset(function));
        let name = self.chain_text(&chain, dw::DW_AT_name);
        name.is_some_and(|name| {
            starts
                .iter()
                .any(|start| name.starts_with(start.as_bytes()))
        })
    }
}

/// A function or inlined copy with the body of an `async fn`.
pub(crate) struct Body {
    pub name: String,
    pub instance: Instance,
    pub entry: FileAddress,
    pub breakpoint: FileAddress,
    pub ranges: Vec<Range<FileAddress>>,
}
