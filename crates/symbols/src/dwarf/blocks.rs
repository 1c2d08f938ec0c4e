//! The inside of a function: its tree of lexical blocks and inlined calls, with their variables and call sites. Parsed
//! from the function's entries on first use.

use crate::dwarf::coroutines::Dispatch;
use crate::dwarf::cpp_coroutines::CppCoroutine;
use crate::dwarf::entries::unsigned;
use crate::dwarf::let_chains::BindingRanges;
use crate::dwarf::{DEPTH_LIMIT, Dwarf, Reader, Unit};
use gimli::{Attribute, UnitOffset, constants as dw};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// The function itself, always the first block.
    Function,
    Lexical,
    Inlined,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub kind: BlockKind,
    pub offset: usize,
    /// The index of the enclosing block; for the first block, its own index.
    pub parent: u32,
    pub ranges: Vec<Range<u64>>,
    /// `Some` for an inlined call that has code.
    pub call: Option<CallLine>,
}

/// The line and the entry address of an inlined call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallLine {
    /// A line in the file that the call's entry names; 0 if unknown.
    pub line: u32,
    pub entry: u64,
}

impl Block {
    fn new<'a>(
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        kind: BlockKind,
        offset: usize,
        parent: u32,
        attributes: &[Attribute<Reader<'a>>],
    ) -> Block {
        let ranges = dwarf.kept_code_ranges(unit.part(), attributes);
        let entry = match kind {
            BlockKind::Inlined => dwarf.inlined_entry(unit, attributes, &ranges),
            BlockKind::Function | BlockKind::Lexical => None,
        };
        Block {
            kind,
            offset,
            parent,
            call: entry.map(|entry| CallLine {
                line: call_line(attributes),
                entry,
            }),
            ranges,
        }
    }

    /// Whether one of the block's ranges starts at `address`: any range may be the first that is executed.
    pub fn begins_at(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.start == address)
    }

    pub fn covers(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }
}

#[derive(Debug)]
pub(crate) struct BlockVariable {
    pub offset: usize,
    pub block: u32,
    pub parameter: bool,
}

/// A call site's entry, and the address after the call.
#[derive(Debug)]
pub(crate) struct CallSite {
    pub return_address: u64,
    pub offset: usize,
}

/// A function's blocks in entry order, so that a parent comes before its children.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub blocks: Vec<Block>,
    pub variables: Vec<BlockVariable>,
    pub call_sites: Vec<CallSite>,
    /// See [`Dwarf::binding_ranges`].
    pub binding_ranges: OnceLock<Vec<BindingRanges>>,
    /// See [`Dwarf::coroutine_dispatch`].
    pub dispatch: OnceLock<Option<Dispatch>>,
    /// See [`Dwarf::cpp_coroutine`].
    pub cpp_coroutine: OnceLock<Option<Arc<CppCoroutine>>>,
}

/// The blocks of one logical frame.
pub(crate) struct FrameBlocks {
    /// The block of the function or inlined call, and the lexical blocks in it around the address, outermost first.
    pub blocks: Vec<u32>,
    /// The inlined call in them that covers the address.
    pub call: Option<u32>,
}

impl Blocks {
    /// The blocks around an address of the function itself (`inline_depth` 0), or of the n-th inlined call that covers it, counted from the
    /// outermost. `None`: there are not so many.
    pub fn of_frame(&self, address: u64, inline_depth: usize) -> Option<FrameBlocks> {
        let path = self.path(address);
        // A frame's blocks reach from its function or inlined call to the next inlined call.
        let is_inlined = |&at: &usize| self.blocks[path[at] as usize].kind == BlockKind::Inlined;
        let inlined = (1..path.len()).filter(is_inlined);
        let mut starts = std::iter::once(0).chain(inlined).skip(inline_depth);
        let start = starts.next()?;
        let end = starts.next();
        Some(FrameBlocks {
            blocks: path.get(start..end.unwrap_or(path.len()))?.to_vec(),
            call: end.map(|end| path[end]),
        })
    }

    pub fn parse<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, function: usize) -> Blocks {
        let mut blocks = Blocks::default();
        if let Err((offset, reason)) = blocks.read(dwarf, unit, function) {
            dwarf.warn_unit(
                unit,
                UnitOffset(offset),
                format!("the rest of the function is left out: {reason}"),
            );
        }
        blocks
    }

    fn read<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        function: usize,
    ) -> Result<(), (usize, String)> {
        let start = UnitOffset(function);
        let mut raw = unit
            .dw()
            .entries_raw(Some(start))
            .map_err(|error| (function, error.to_string()))?;
        let mut attributes = Vec::new();
        // Open blocks with their depths. The entries of a nested function are skipped.
        let mut open: Vec<(u32, isize)> = Vec::new();
        let mut nested: Option<isize> = None;
        while !raw.is_empty() {
            let (offset, depth) = (raw.next_offset().0, raw.next_depth());
            if depth <= 0 && !self.blocks.is_empty() {
                break;
            }
            if depth > DEPTH_LIMIT {
                return Err((offset, "entries are nested too deeply".to_owned()));
            }
            let broken = |error: gimli::Error| (offset, error.to_string());
            let Some(abbreviation) = raw.read_abbreviation().map_err(broken)? else {
                continue;
            };
            while open.pop_if(|(_, above)| *above >= depth).is_some() {}
            nested.take_if(|above| *above >= depth);
            let tag = abbreviation.tag();
            let kind = match self.blocks.is_empty() {
                true => Some(BlockKind::Function),
                false => kind_of_block(tag),
            };
            let (block, block_depth) = open.last().map_or((0, None), |&(at, of)| (at, Some(of)));
            let is_call = matches!(tag, dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site);
            match nested.is_none() && (kind.is_some() || is_call) {
                true => raw.read_attributes(abbreviation.attributes(), &mut attributes),
                false => raw.skip_attributes(abbreviation.attributes()),
            }
            .map_err(broken)?;
            match (kind, tag) {
                _ if nested.is_some() => {}
                (Some(kind), _) => {
                    if abbreviation.has_children() {
                        open.push((self.blocks.len() as u32, depth));
                    }
                    let added = Block::new(dwarf, unit, kind, offset, block, &attributes);
                    self.blocks.push(added);
                }
                // Parameters of call sites and of function types are nested deeper than the block's own variables.
                (None, dw::DW_TAG_formal_parameter | dw::DW_TAG_variable)
                    if block_depth.is_some_and(|block_depth| block_depth + 1 == depth) =>
                {
                    self.variables.push(BlockVariable {
                        offset,
                        block,
                        parameter: tag == dw::DW_TAG_formal_parameter,
                    });
                }
                _ if is_call => {
                    let after = return_address(unit, &attributes);
                    self.call_sites.extend(after.map(|return_address| CallSite {
                        return_address,
                        offset,
                    }));
                }
                (None, dw::DW_TAG_subprogram) if abbreviation.has_children() => {
                    nested = Some(depth);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The blocks that cover `address`, outermost first. The function's own block is always included.
    pub fn path(&self, address: u64) -> Vec<u32> {
        let mut path = Vec::new();
        if self.blocks.is_empty() {
            return path;
        }
        path.push(0);
        // In entry order, a block extends the path if it covers the address and its parent is the last block of the path.
        // Another child of the same parent that covers the address would contradict the first, and is ignored.
        for (number, block) in self.blocks.iter().enumerate().skip(1) {
            let number = number as u32;
            if Some(&self.covering_parent(block.parent)) == path.last() && block.covers(address) {
                path.push(number);
            }
        }
        path
    }

    /// A block's parent, skipping parents without any code (gcc makes them around inlined calls).
    fn covering_parent(&self, mut parent: u32) -> u32 {
        while parent != 0 && self.blocks[parent as usize].ranges.is_empty() {
            // A parent's index is less than its child's, so this ends.
            parent = self.blocks[parent as usize].parent;
        }
        parent
    }

    /// The innermost inlined call that contains a block, or the block itself if it is an inlined call. `None`: the block
    /// is in the function's own code.
    pub fn inlined_around(&self, mut block: u32) -> Option<u32> {
        while block != 0 {
            if self.blocks[block as usize].kind == BlockKind::Inlined {
                return Some(block);
            }
            block = self.blocks[block as usize].parent;
        }
        None
    }

    /// The inlined calls among the blocks of [`Blocks::path`].
    pub fn inlined(&self, address: u64) -> Vec<u32> {
        let mut path = self.path(address);
        path.retain(|&block| self.blocks[block as usize].kind == BlockKind::Inlined);
        path
    }
}

fn kind_of_block(tag: dw::DwTag) -> Option<BlockKind> {
    match tag {
        dw::DW_TAG_lexical_block => Some(BlockKind::Lexical),
        dw::DW_TAG_inlined_subroutine => Some(BlockKind::Inlined),
        _ => None,
    }
}

/// The address that a call site's call returns to.
fn return_address(unit: &Unit<'_>, attributes: &[Attribute<Reader<'_>>]) -> Option<u64> {
    let after = attributes.iter().find(|attribute| {
        matches!(
            attribute.name(),
            dw::DW_AT_call_return_pc | dw::DW_AT_low_pc
        )
    })?;
    let address = unit.sections().attr_address(unit.dw(), after.value());
    address.ok().flatten().or_else(|| unsigned(&after.value()))
}

fn call_line(attributes: &[Attribute<Reader<'_>>]) -> u32 {
    let line = attributes
        .iter()
        .find(|attribute| attribute.name() == dw::DW_AT_call_line);
    let line = line.and_then(|line| unsigned(&line.value()));
    line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0)
}
