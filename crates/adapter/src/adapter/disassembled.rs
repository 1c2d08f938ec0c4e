//! Sources for frames without source files: the disassembly of their functions.
//!
//! A source is kept until the session ends, because a client may show it that long; its text is made for each `source` request. If other code
//! is at the same addresses after modules were loaded or unloaded, that code gets a source of its own.

use crate::adapter::Adapter;
use crate::arguments::ShowDisassembly;
use crate::to_dap;
use crate::to_dap::OrFail;
use dapple_dap::server::{ClientConventions, Context, Exhausted, Failure, References};
use dapple_dap::types::{Source, SourcePresentationHint, StackFrame};
use dapple_engine::disassembly::{Instruction, Names, Window};
use dapple_engine::frame::Frame;
use dapple_engine::session::SourcePosition;
use dapple_engine::{Address, Error, Session};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The largest function in bytes that is shown whole. Of a larger function, and of code in no known function, only a window is shown.
const LARGEST: u64 = 1 << 16;
/// How many instructions the window has before the frame's instruction, and as many from that instruction on.
const AROUND: usize = 200;

/// The disassembly sources that the client may know.
#[derive(Debug, Default)]
pub struct Disassembled {
    sources: References<Listing>,
    /// The newest source for each start address.
    last: BTreeMap<Address, i64>,
    /// The sources of the code that is in memory now, by start address.
    current: BTreeMap<Address, i64>,
}

/// A disassembly source.
#[derive(Debug, PartialEq)]
struct Listing {
    name: String,
    /// The address of the instruction on each line.
    addresses: Vec<Address>,
    /// The end of the last instruction.
    end: Address,
}

impl Listing {
    fn of(name: String, instructions: &[Instruction]) -> Option<Listing> {
        let last = instructions.last()?;
        Some(Listing {
            name,
            addresses: instructions.iter().map(|one| one.address).collect(),
            end: Address(last.address.0.saturating_add(last.bytes.len() as u64)),
        })
    }

    /// The line (from 1) of the instruction that contains a byte; `None` if the byte is outside.
    fn line_of(&self, byte: Address) -> Option<usize> {
        let line = self.addresses.partition_point(|address| *address <= byte);
        (line > 0 && byte < self.end).then_some(line)
    }
}

impl Disassembled {
    /// Call when code in memory may have changed: code is disassembled again when it is next shown.
    pub fn code_changes(&mut self) {
        self.current.clear();
    }

    /// Adds code that is in memory now. Unchanged code keeps its source.
    fn add(&mut self, listing: Listing) -> Result<(), Exhausted> {
        let Some(start) = listing.addresses.first().copied() else {
            return Ok(());
        };
        let same = |id: &i64| self.sources.get(*id).is_ok_and(|last| *last == listing);
        let id = match self.last.get(&start).copied().filter(same) {
            Some(id) => id,
            None => self.sources.insert_lasting(listing)?,
        };
        self.last.insert(start, id);
        self.current.insert(start, id);
        Ok(())
    }

    /// The address of the instruction on a line (from 1) of a source; `None` if there is no such source or line.
    pub fn instruction(&self, reference: i64, line: u32) -> Option<Address> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let listing = self.sources.get(reference).ok()?;
        listing.addresses.get(index).copied()
    }

    /// The source with this reference in the form of the protocol, if there is one.
    pub fn source(&self, reference: i64) -> Option<Source> {
        let listing = self.sources.get(reference).ok()?;
        let name = format!("{} (disassembly)", listing.name);
        // VS Code shows the first frame whose source is not deemphasized, for example at an exception.
        Some(
            Source::new()
                .with_name(name)
                .with_source_reference(reference)
                .with_presentation_hint(SourcePresentationHint::Deemphasize),
        )
    }

    /// The source that contains a byte of code, and the line.
    fn find(&self, byte: Address) -> Option<(i64, usize)> {
        let (_, id) = self.current.range(..=byte).next_back()?;
        let listing = self.sources.get(*id).ok()?;
        Some((*id, listing.line_of(byte)?))
    }
}

/// Whose code a source is that is others' by the argument `thirdParty`.
const THIRD_PARTY: &str = "third-party code";

impl Adapter {
    /// Gives a frame a source that the client can open, if there is one. `is_here`: whether the client can open the source file that the debug
    /// information names. `None`: the debug information names no file.
    ///
    /// # Errors
    /// The session has used up its numbers.
    pub fn open_frame(
        &mut self,
        frame: &Frame,
        is_here: Option<bool>,
        shown: &mut StackFrame,
        context: &Context,
    ) -> Result<(), Failure> {
        if !frame.is_call() {
            return Ok(());
        }
        // The terminal debugger shows source positions also of files that are missing, and steps by instructions only on command.
        let is_terminal = self.for_terminal;
        let wants_disassembly = match self.show_disassembly {
            _ if is_terminal => is_here.is_none(),
            ShowDisassembly::Never => false,
            ShowDisassembly::Auto => is_here != Some(true),
            ShowDisassembly::Always => true,
        };
        if is_here == Some(false)
            && !is_terminal
            && self.show_disassembly != ShowDisassembly::Always
            && let Some(source) = self.fetched_source(frame)
        {
            shown.source = Some(source);
            if frame.id.index == 0 {
                self.in_disassembly.remove(&frame.id.thread);
            }
            return Ok(());
        }
        let position = frame.position.as_ref().filter(|_| is_here == Some(false));
        let origin = position.map(|at| format!("{}:{}", at.file.display(), at.line));
        let disassembled = match wants_disassembly {
            true => self.disassembled(frame)?,
            false => None,
        };
        let is_disassembly = disassembled.is_some();
        match (disassembled, &mut shown.source) {
            (Some((mut source, line)), shown_source) => {
                if let Some(shown_source) = shown_source.as_ref().filter(|_| origin.is_none()) {
                    source.presentation_hint = shown_source.presentation_hint.clone();
                }
                source.origin = origin;
                *shown_source = Some(source);
                shown.line = context.conventions().line_to_client(line);
                shown.column = 0;
            }
            // Editors show an error for a path that does not exist.
            (None, Some(shown_source)) if origin.is_some() && !is_terminal => {
                shown_source.path = None;
                shown_source.origin = origin;
            }
            _ => {}
        }
        if frame.id.index == 0 {
            match is_disassembly && !is_terminal {
                true => self.in_disassembly.insert(frame.id.thread),
                false => self.in_disassembly.remove(&frame.id.thread),
            };
        }
        Ok(())
    }

    /// The disassembly source of a frame, and the line (from 1) of its instruction; `None` if its code can't be read.
    ///
    /// # Errors
    /// The session has used up its numbers.
    pub fn disassembled(&mut self, frame: &Frame) -> Result<Option<(Source, i64)>, Failure> {
        let byte = frame.physical.lookup;
        Ok(self.disassembled_at(byte, |_| frame.function.clone())?)
    }

    /// As [`Adapter::disassembled`], but for the function around `byte` in place of a frame's. `name` finds that function's name.
    fn disassembled_at(
        &mut self,
        byte: Address,
        name: impl FnOnce(&Session) -> Option<String>,
    ) -> Result<Option<(Source, i64)>, Exhausted> {
        if self.disassembled.find(byte).is_none() {
            let name = self.debuggee.as_ref().and_then(name);
            let name = name.map(|name| self.function_names.name(&name));
            let name = name.unwrap_or_else(|| byte.to_string());
            let listed = match &self.debuggee {
                Some(debuggee) => list(debuggee, byte),
                None => Ok(Vec::new()),
            };
            // The code can't be read.
            let Some(listing) = Listing::of(name, &listed.unwrap_or_default()) else {
                return Ok(None);
            };
            self.disassembled.add(listing)?;
        }
        let found = self.disassembled.find(byte);
        Ok(found.and_then(|(id, line)| {
            let source = self.disassembled.source(id)?;
            Some((source, to_dap::saturated(line as u64)))
        }))
    }

    /// The path of a source file for the client, and whether the client can open it.
    pub fn locate(&self, file: &Path) -> (PathBuf, bool) {
        let (here, exists) = self.source_map.locate(file);
        // The client may be on another machine. It has the files that it has set breakpoints in, except those from debuginfod servers.
        let is_here = exists || self.breakpoints.has_named(&here) && !self.fetched.has(file);
        (here, is_here)
    }

    /// The reference by which the client gets a source file in place of its path, if it is on another machine. It has the files itself that it has
    /// set breakpoints in by their paths.
    pub fn source_reference(&self, file: &Path) -> Option<i64> {
        let reference = self.source_map.reference(file)?;
        (!self.breakpoints.has_named(file)).then_some(reference)
    }

    /// Whose code a source file of a frame is, unless it is the user's. `is_here`: whether the client can open it. `of_frame`: what its frame says.
    pub fn origin(&self, file: &Path, is_here: bool, of_frame: Option<String>) -> Option<String> {
        // A relative path that leads to a file was mapped by the user, who has the source.
        let origin = of_frame.filter(|_| !is_here || file.is_absolute());
        let is_third = || self.third_party.has_file(file);
        origin.or_else(|| is_third().then(|| THIRD_PARTY.to_owned()))
    }

    /// The source and line (from 1) of a position outside of stack traces. If the client can't open the file, the source is the disassembly of
    /// `code`; without a disassembly, the source has no path, only a name and its `origin`.
    pub fn shown_source(
        &mut self,
        at: &SourcePosition,
        code: Option<Address>,
        client: &ClientConventions,
    ) -> (Source, i64) {
        let (here, is_here) = self.locate(&at.file);
        let mut source = to_dap::source(&here, is_here, client);
        source.source_reference = self.source_reference(&at.file);
        let line = i64::from(at.line);
        // The terminal debugger shows positions also of files that are missing.
        if is_here || self.for_terminal {
            return (source, line);
        }
        source.path = None;
        source.origin = Some(format!("{}:{}", at.file.display(), at.line));
        let wants_code = self.show_disassembly != ShowDisassembly::Never;
        let Some(code) = code.filter(|_| wants_code) else {
            return (source, line);
        };
        match self.disassembled_at(code, |debuggee| symbol_at(debuggee, code)) {
            Ok(Some((mut listing, line))) => {
                listing.origin = source.origin;
                (listing, line)
            }
            // The code can't be read, or the session has used up its numbers.
            Ok(None) | Err(_) => (source, line),
        }
    }

    /// The text of a disassembly source.
    ///
    /// # Errors
    /// There is no such source, no debuggee, or its code is not in memory any more.
    pub fn disassembly(&self, reference: i64) -> Result<String, Failure> {
        let Ok(listing) = self.disassembled.sources.get(reference) else {
            return Err(Failure::new(format!("there is no source {reference}")));
        };
        let start = listing.addresses.first().copied().unwrap_or_default();
        let instructions = self
            .debuggee()?
            .disassemble_range(start..listing.end)
            .or_fail()?;
        if instructions.is_empty() {
            let name = &listing.name;
            return Err(Failure::new(format!(
                "the code of {name} at {start} is not in memory any more"
            )));
        }
        Ok(text(&instructions))
    }
}

/// The name of the function that contains a byte of code, from the symbol table.
fn symbol_at(debuggee: &Session, byte: Address) -> Option<String> {
    let only = Window {
        address: byte,
        first: 0,
        count: 1,
        names: Names::Symbols,
    };
    let found = debuggee.disassemble(only).ok()?;
    let symbol = found.first()?.symbol.as_deref()?;
    // Cuts off the offset, and keeps the `+` of `operator+`.
    let name = symbol.rsplit_once("+0x").map_or(symbol, |(name, _)| name);
    Some(name.to_owned())
}

/// The instructions of the function that contains a byte, or of a window around the byte.
fn list(debuggee: &Session, byte: Address) -> Result<Vec<Instruction>, Error> {
    let piece = debuggee.code_around(byte)?;
    let piece = piece.filter(|piece| piece.end.0 - piece.start.0 <= LARGEST);
    if let Some(piece) = piece {
        return debuggee.disassemble_range(piece);
    }
    let mut around = debuggee.disassemble(Window {
        address: byte,
        first: -(AROUND as i64),
        count: 2 * AROUND,
        names: Names::None,
    })?;
    // On both sides, cuts the window off at the first bytes that are no instruction.
    let here = around.partition_point(|one| one.address < byte);
    let behind = around.iter().skip(here).position(|one| !one.is_valid);
    if let Some(count) = behind {
        around.truncate(here + count);
    }
    let before = around.iter().take(here).rposition(|one| !one.is_valid);
    Ok(around.split_off(before.map_or(0, |last| last + 1)))
}

fn text(instructions: &[Instruction]) -> String {
    let start = instructions.first().map_or(Address(0), |one| one.address);
    let mut text = String::new();
    for one in instructions {
        let distance = one.address.0.wrapping_sub(start.0);
        // Writing to a string never fails.
        let _ = writeln!(text, "{} <+{distance:#06x}>  {}", one.address, one.text);
    }
    text
}
