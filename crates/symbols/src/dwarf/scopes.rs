//! Lexical scopes and the variables in them (DWARF 5 §3.5, §4.1).

use crate::dwarf::blocks::{Block, BlockKind, Blocks, FrameBlocks};
use crate::dwarf::entries::Chain;
use crate::dwarf::functions::{FunctionId, Language, SourcePosition};
use crate::dwarf::let_chains::BindingRanges;
use crate::dwarf::lines::Row;
use crate::dwarf::name_index::{EntryKind, EntryPlace};
use crate::dwarf::thread_statics::{STORAGE, written_name};
use crate::dwarf::types::{StaticMember, TypeId};
use crate::dwarf::{Dwarf, Unit};
use crate::names::{NamePattern, base_of};
use gimli::{AttributeValue, UnitOffset, constants as dw};
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::Arc;

/// The kind of a variable in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableKind {
    /// A formal parameter.
    Parameter,
    /// A local.
    Local,
    /// A static or global.
    Static,
}

/// A variable in scope. Its location depends on the address: [`crate::Module::locate`].
#[derive(Debug, Clone)]
pub struct Variable {
    /// The name; qualified for statics.
    pub name: String,
    /// The type; `None` if the debug information lacks it.
    pub type_id: Option<TypeId>,
    /// The kind.
    pub kind: VariableKind,
    /// The position of the declaration.
    pub declaration: Option<SourcePosition>,
    /// The nesting depth of its lexical block in the function: 0 for the function's own block.
    pub depth: u32,
    /// Whether the compiler adds the variable, such as C++'s `this` and Rust's closure environment.
    pub artificial: bool,
    /// Whether the linker has discarded the variable because nothing uses it: it has no value.
    pub dropped: bool,
    pub(crate) unit: u32,
    pub(crate) offset: usize,
    /// The function that contains the variable, for its frame base.
    pub(crate) function: Option<FunctionId>,
}

/// The current position in a frame's source; variables declared after it are not in scope yet.
struct Here {
    file: Arc<Path>,
    line: u32,
}

impl<'a> Dwarf<'a> {
    pub(crate) fn variables_at(&self, address: u64, inline_depth: usize) -> Vec<Variable> {
        let Some((unit, function)) = self.function_entry_at(address) else {
            return Vec::new();
        };
        let blocks = self.blocks(unit, function.offset);
        let Some(FrameBlocks {
            blocks: frame,
            call,
        }) = blocks.of_frame(address, inline_depth)
        else {
            return Vec::new();
        };
        let here = match call {
            Some(call) => self.call_place(unit, &blocks, call),
            None => self.row_place(address),
        };
        let id = FunctionId {
            unit: unit.index,
            offset: function.offset,
        };
        let binding_ranges = blocks
            .binding_ranges
            .get_or_init(|| self.binding_ranges(unit, function, &blocks));
        let is_unbound_pattern = |variable: &Variable, block: u32| {
            let block = &blocks.blocks[block as usize];
            let inside = binding_ranges
                .iter()
                .find(|it| it.offset == variable.offset);
            let is_unbound = |it: &BindingRanges| !it.bound.iter().any(|at| at.contains(&address));
            unit.language() == Language::Rust
                && (inside.is_some_and(is_unbound)
                    || self.is_unbound_pattern(unit, block, variable, address))
        };
        let mut variables = Vec::new();
        for (depth, &block) in frame.iter().enumerate() {
            for variable in blocks
                .variables
                .iter()
                .filter(|variable| variable.block == block)
            {
                let kind = if variable.parameter {
                    VariableKind::Parameter
                } else {
                    VariableKind::Local
                };
                let Some(variable) =
                    self.variable(unit, variable.offset, kind, depth as u32, Some(id))
                else {
                    continue;
                };
                let language = unit.language();
                if !declared_later(&variable, here.as_ref(), language)
                    && !is_unbound_pattern(&variable, block)
                {
                    variables.push(variable);
                }
            }
        }
        if let (Language::Rust, Some(&start)) = (unit.language(), frame.first()) {
            let offset = blocks.blocks[start as usize].offset;
            self.remove_moved_arguments(unit, offset, &mut variables);
        }
        if unit.language() == Language::Cpp && inline_depth == 0 {
            self.mark_coroutine_variables(unit, function, &mut variables);
        }
        variables
    }

    /// Whether a pattern's variable is not bound yet. rustc opens the block of `if let Some(x) = f()` before the call of
    /// `f`: the matched expression is behind the pattern in the line, but computed first. The block of a plain `let`
    /// starts when its value is computed.
    fn is_unbound_pattern(
        &self,
        unit: &Unit<'a>,
        block: &Block,
        variable: &Variable,
        address: u64,
    ) -> bool {
        let (Some(start), Some(declaration)) = (block.ranges.first(), &variable.declaration) else {
            return false;
        };
        let lines = self.lines(unit);
        let (Some(first), Some(here)) = (lines.row_at(start.start), lines.row_at(address)) else {
            return false;
        };
        let Some(rows) = lines.rows.get(first..=here) else {
            return false;
        };
        let (column, line) = (rows[0].column, declaration.line);
        let code = |row: &&Row| row.line != 0;
        // If the line has code before the block, then either the matched expression is in that code, or this is another
        // kind of block.
        let begins = lines.rows[..first].iter().rev().find(code);
        // Variables of optimised code have location lists, which say when they have values.
        let place = self.entry(unit, UnitOffset(variable.offset));
        let place = place.and_then(|entry| entry.attr_value(dw::DW_AT_location));
        variable.kind == VariableKind::Local
            && block.kind == BlockKind::Lexical
            && matches!(place, Some(AttributeValue::Exprloc(_)))
            && begins.is_none_or(|row| row.line != line || row.file != rows[0].file)
            && (rows.iter().filter(code)).all(|row| row.line == line && row.column >= column)
    }

    fn row_place(&self, address: u64) -> Option<Here> {
        self.units_at(address).find_map(|unit| {
            let lines = self.lines(unit);
            let row = &lines.rows[lines.row_at(address)?];
            Some(Here {
                file: self.file_numbered(unit, u64::from(row.file))?,
                line: row.line,
            })
        })
    }

    fn call_place(&self, unit: &Unit<'a>, blocks: &Blocks, call: u32) -> Option<Here> {
        let chain = self.chain(unit, UnitOffset(blocks.blocks[call as usize].offset));
        let site = self.position(
            &chain,
            dw::DW_AT_call_file,
            dw::DW_AT_call_line,
            dw::DW_AT_call_column,
        )?;
        Some(Here {
            file: site.file,
            line: site.line,
        })
    }

    /// The variable of an entry. `None`: the entry has no name, or is only a declaration.
    pub(crate) fn variable(
        &self,
        unit: &Unit<'a>,
        offset: usize,
        kind: VariableKind,
        depth: u32,
        function: Option<FunctionId>,
    ) -> Option<Variable> {
        let chain = self.chain(unit, UnitOffset(offset));
        let (_, own) = chain.links.first()?;
        if own.attr_value(dw::DW_AT_declaration) == Some(AttributeValue::Flag(true)) {
            return None;
        }
        self.variable_of(&chain, (unit.index, offset), kind, depth, function)
    }

    fn variable_of(
        &self,
        chain: &Chain<'_, 'a>,
        (unit, offset): (u32, usize),
        kind: VariableKind,
        depth: u32,
        function: Option<FunctionId>,
    ) -> Option<Variable> {
        let name = match kind {
            VariableKind::Static => {
                let name = self.qualified_name(chain)?;
                match written_name(&name) {
                    Some(written) => written.to_owned(),
                    None => name,
                }
            }
            _ => String::from_utf8_lossy(self.chain_text(chain, dw::DW_AT_name)?).into_owned(),
        };
        let artificial = chain.flag(dw::DW_AT_artificial)
            || name.ends_with("{vtable}")
            || name.ends_with("{vtable_type}");
        Some(Variable {
            type_id: chain
                .attribute(dw::DW_AT_type)
                .and_then(|(unit, value)| self.type_id(unit, value)),
            kind,
            declaration: self.declaration(chain),
            depth,
            artificial,
            dropped: self.is_dropped(chain),
            unit,
            offset,
            function,
            name,
        })
    }

    /// Whether a variable's address can't be one of the program's: the linker has discarded the variable.
    fn is_dropped(&self, chain: &Chain<'_, 'a>) -> bool {
        let location = chain.attribute(dw::DW_AT_location);
        let Some((unit, AttributeValue::Exprloc(expression))) = location else {
            return location.is_none() && self.is_storage_without_symbol(chain);
        };
        if self.is_dropped_thread_local(chain, unit, expression) {
            return true;
        }
        let first = expression.0.slice().first();
        first.is_some_and(|&first| {
            matches!(
                dw::DwOp(first),
                dw::DW_OP_addr | dw::DW_OP_addrx | dw::DW_OP_GNU_addr_index
            )
        }) && self
            .address_in(unit, expression)
            .is_some_and(|address| !self.may_be_variable(address))
    }

    /// Whether a variable can be at this file address.
    pub(crate) fn may_be_variable(&self, address: u64) -> bool {
        self.files.main.elf.may_be_variable(address)
    }

    /// The type a `DW_AT_type` refers to.
    pub(crate) fn type_id(
        &self,
        unit: &Unit<'a>,
        value: AttributeValue<crate::dwarf::Reader<'a>>,
    ) -> Option<TypeId> {
        let (unit, offset) = self.resolve(unit, value)?;
        Some(TypeId {
            unit: unit.index,
            offset: offset.0,
        })
    }

    pub(crate) fn statics_of(&self, unit: &Unit<'a>) -> Vec<Variable> {
        let statics = |unit| self.index(unit).statics.iter().map(move |&at| (unit, at));
        self.with_imports(unit)
            .into_iter()
            .flat_map(statics)
            .filter_map(|(unit, at)| self.variable(unit, at, VariableKind::Static, 0, None))
            .collect()
    }

    /// A unit and all units that it imports, directly or indirectly (DWARF 5 §3.2.5), each once. `dwz` moves entries
    /// without an address of their own to partial units, including thread-locals and constants.
    pub(crate) fn with_imports<'s>(&'s self, unit: &'s Unit<'a>) -> Vec<&'s Unit<'a>> {
        let mut units = vec![unit];
        let mut seen: FxHashSet<u32> = [unit.index].into_iter().collect();
        let mut next = 0;
        while let Some(&unit) = units.get(next) {
            next += 1;
            for &offset in &self.index(unit).imports {
                let import = self.entry(unit, UnitOffset(offset));
                let import = import.and_then(|entry| entry.attr_value(dw::DW_AT_import));
                if let Some((imported, _)) = import.and_then(|import| self.resolve(unit, import))
                    && seen.insert(imported.index)
                {
                    units.push(imported);
                }
            }
        }
        units
    }

    /// The variable of a static's entry, or of a constant that is only declared, as gcc describes constants in
    /// namespaces.
    fn static_or_constant(&self, unit: &Unit<'a>, offset: usize) -> Option<Variable> {
        let kind = VariableKind::Static;
        self.variable(unit, offset, kind, 0, None).or_else(|| {
            let chain = self.chain(unit, UnitOffset(offset));
            chain.attribute(dw::DW_AT_const_value)?;
            self.variable_of(&chain, (unit.index, offset), kind, 0, None)
        })
    }

    /// The variable of a static member: its definition in the class's unit, a constant in the class itself, or a
    /// definition in another unit.
    pub(crate) fn static_member(&self, member: &StaticMember) -> Option<Variable> {
        let unit = self.unit(member.entry.unit)?;
        let declaration = member.entry.offset;
        let kind = VariableKind::Static;
        let here = (unit.index, declaration);
        if let Some(defined) = self.index(unit).defined_static(self, unit, here) {
            return self.variable(unit, defined, kind, 0, None);
        }
        let chain = self.chain(unit, UnitOffset(declaration));
        if chain.attribute(dw::DW_AT_const_value).is_some() {
            return self.variable_of(&chain, here, kind, 0, None);
        }
        let name = self.qualified_name(&chain)?;
        let found = self.statics_named(&format!("::{name}"));
        found.into_iter().find(|found| found.name == name)
    }

    pub(crate) fn statics_named(&self, name: &str) -> Vec<Variable> {
        let wanted = NamePattern::new(name);
        if wanted.has_glob_base() {
            return self.statics_among(&wanted, None);
        }
        let found = self.statics_among(&wanted, Some(wanted.base().as_bytes()));
        match found.is_empty() {
            true => self.statics_among(&wanted, Some(STORAGE)),
            false => found,
        }
    }

    /// The statics with this base name (any, if `None`) that match `wanted`.
    fn statics_among(&self, wanted: &NamePattern, base: Option<&[u8]>) -> Vec<Variable> {
        if let Some(base) = base
            && let Some(places) =
                self.ask_index(|index| index.entries_named(self, base, EntryKind::Variable))
        {
            let variable = |place: EntryPlace| {
                let unit = self.unit(place.unit)?;
                let outside = self
                    .index(unit)
                    .statics
                    .binary_search(&place.offset)
                    .is_ok();
                let variable = outside.then(|| self.static_or_constant(unit, place.offset))??;
                wanted.matches(&variable.name).then_some(variable)
            };
            return places.into_iter().filter_map(variable).collect();
        }
        let mut found = Vec::new();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let importers = self.units().filter(|unit| !unit.is_partial());
        for unit in importers.flat_map(|unit| self.with_imports(unit)) {
            if !seen.insert(unit.index) {
                continue;
            }
            for &offset in &self.index(unit).statics {
                let chain = self.chain(unit, UnitOffset(offset));
                let own = self
                    .chain_text(&chain, dw::DW_AT_name)
                    .map(String::from_utf8_lossy);
                let is_meant = own.is_some_and(|own| match base {
                    Some(base) => base_of(&own).as_bytes() == base,
                    None => wanted.takes_base(base_of(&own)),
                });
                if !is_meant {
                    continue;
                }
                let variable = self.static_or_constant(unit, offset);
                found.extend(variable.filter(|variable| wanted.matches(&variable.name)));
            }
        }
        found
    }
}

/// Whether a local is declared after the current line. This is for C and C++, where a block has all its locals from its
/// start; in Rust each `let` opens its own block.
fn declared_later(variable: &Variable, here: Option<&Here>, language: Language) -> bool {
    let (Some(here), Some(declaration)) = (here, &variable.declaration) else {
        return false;
    };
    variable.kind == VariableKind::Local
        && matches!(language, Language::C | Language::Cpp)
        && here.line != 0
        && declaration.line > here.line
        && declaration.file == here.file
}
