//! From lines to addresses: the locations for breakpoints.
//!
//! The units that name a file are found by their line-program headers alone, comparing raw base names before any path is
//! built. Only the line programs of those units are then run.

use crate::FileAddress;
use crate::dwarf::functions::Language;
use crate::dwarf::line_candidates::{Candidate, Instance, NamedBy, Reach};
use crate::dwarf::lines::{LineLocation, LineLookup, Lines, Row};
use crate::dwarf::roots::NumberedFile;
use crate::dwarf::stray_rows;
use crate::dwarf::{Dwarf, Unit};
use crate::files::Files;
use crate::indexing::is_large;
use crate::paths::{common_suffix, normalise};
use gimli::{UnitOffset, constants as dw};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// Whether `run` is another copy of the code of `lowest`, the line's lowest run of rows, and needs a breakpoint as well.
/// rustc runs the destructors of a block's variables at its closing brace: once where the block ends, and once for each
/// way that a panic leaves it. The code for panics may have the lower addresses; code of the block's lines then follows
/// it. In contrast, what a line does when its own arithmetic panics has higher addresses than the line's other code, and is
/// no copy. Columns tell these cases apart: a brace has one column (a function's return has the column behind it), while
/// parts of a statement have several. A macro's code has one column, too; for it, see `is_continued_at`.
fn is_copy(lowest: &Candidate<'_, '_>, run: &Candidate<'_, '_>, lines: &Lines) -> bool {
    let (Some(first), Some(index)) = (lowest.row(), run.row()) else {
        return false;
    };
    if !run.begins_run() || run.named.unit.language() != Language::Rust {
        return false;
    }
    let (Some(sequence), Some(row)) = (lines.sequence_at(run.address), lines.rows.get(index))
    else {
        return false;
    };
    let file = row.file;
    let rows = lines.rows.get(sequence.rows.clone()).unwrap_or(&[]);
    let this = |row: &&Row| row.line == run.line && row.file == file;
    let columns = rows.iter().filter(this).map(|row| row.column);
    let Some((left, right)) = columns.clone().min().zip(columns.max()) else {
        return false;
    };
    if left == 0 || right - left > 1 {
        return false;
    }
    // A row of the function's opening line is no evidence, because unwinding resumes there.
    let opening = rows.first().map_or(0, |row| row.line);
    let body = |row: &Row| row.line > opening && row.line < run.line && row.file == file;
    lines.rows.get(first..index).unwrap_or(&[]).iter().any(body)
}

/// The files with one base name, by unit.
pub(crate) type FilesCalled = Arc<Vec<(u32, NumberedFile)>>;

/// The maximum of base names whose files are cached.
const FILES_KEPT: usize = 64;

/// How many lines further down code is searched for if a line has none; lines further away are in other functions.
const SLIDE_LIMIT: u32 = 1000;

/// Where a later line's function begins, relative to the line without code.
enum Place {
    /// At the line or before it: the line is inside the function.
    Around,
    /// As `Around`, but only according to the unit's functions; the debug information of the code doesn't confirm it. For
    /// example, a constructor's initialisers are on lines of its class, whose other functions may be in other units.
    PerhapsAround,
    /// Behind the line.
    Behind,
}

impl<'a> Dwarf<'a> {
    /// The units whose line table names `file` best: by the whole path, or else the longest common suffix.
    fn units_naming(&self, file: &Path) -> Vec<NamedBy<'_, 'a>> {
        let file = normalise(file);
        let Some(base) = file.file_name().map(OsStrExt::as_bytes) else {
            return Vec::new();
        };
        let mut best = match file.is_absolute() {
            // An absolute path whose folder has another name is more likely a different file with the same base name.
            true => file.components().count().saturating_sub(1).min(2),
            false => 1,
        };
        let mut found: Vec<(u32, &Path, Vec<u32>)> = Vec::new();
        let files_with_base = self.files_called(base);
        for (unit, NumberedFile { number, path }) in files_with_base.iter() {
            let score = match *path == file {
                true => usize::MAX,
                false => common_suffix(path, &file),
            };
            if score < best {
                continue;
            }
            if score > best {
                found.clear();
                best = score;
            }
            // `files_with_base` is sorted by unit.
            match found
                .iter_mut()
                .rev()
                .take_while(|(known, ..)| known == unit)
                .find(|(_, known, _)| known == path)
            {
                Some((.., numbers)) => numbers.push(*number),
                None => found.push((*unit, path, vec![*number])),
            }
        }
        let named = found.into_iter().filter_map(|(unit, path, numbers)| {
            Some(NamedBy {
                unit: self.unit(unit)?,
                path: path.into(),
                numbers,
            })
        });
        named.collect()
    }

    /// Like [`Dwarf::units_naming`], but first checks cheaply whether the module can name the file; most modules don't.
    pub(crate) fn units_with_file(&self, file: &Path) -> Vec<NamedBy<'_, 'a>> {
        match may_name(self.files, file) {
            true => self.units_naming(file),
            false => Vec::new(),
        }
    }

    /// Whether the module may have a source file with this base name. Always `true` for large modules.
    pub(crate) fn may_name(&self, file: &Path) -> bool {
        may_name(self.files, file)
    }

    /// All files with this base name in the line-program headers, by unit. Cached, because the breakpoints of a file are
    /// looked up repeatedly.
    pub(crate) fn files_called(&self, base: &[u8]) -> FilesCalled {
        let known = |files: &FxHashMap<Vec<u8>, FilesCalled>| files.get(base).cloned();
        if let Some(found) = known(
            &self
                .files_called
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        ) {
            return found;
        }
        let indexed = self.ask_index_if_there(|index| index.files_called(base));
        let found: FilesCalled = Arc::new(indexed.unwrap_or_else(|| {
            let files = self.for_each_unit(|unit| {
                let part = self.root(unit);
                part.map_or(Vec::new(), |part| part.files(|name| name == base))
            });
            let numbered = files.into_iter().enumerate();
            numbered
                .flat_map(|(unit, files)| files.into_iter().map(move |file| (unit as u32, file)))
                .collect()
        }));
        let mut kept = self
            .files_called
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= FILES_KEPT {
            kept.clear();
        }
        kept.insert(base.to_vec(), found.clone());
        found
    }

    pub(crate) fn lookup_line(&self, file: &Path, line: u32) -> LineLookup {
        let named = self.units_naming(file);
        if named.is_empty() {
            return LineLookup::NoFile {
                similar: self.similar_files(file),
            };
        }
        let rows = |named, wanted| self.row_candidates(named, wanted);
        let on_line = named.iter().flat_map(|named| rows(named, line..=line));
        let mut exact: Vec<Candidate> = on_line.collect();
        let mut later_calls = Vec::new();
        let (next, last) = (line.saturating_add(1), line.saturating_add(SLIDE_LIMIT));
        let has_statement = exact.iter().any(Candidate::is_statement);
        for named in &named {
            let calls = match has_statement {
                true => self.call_candidates(named, &(line..=line), Reach::Near),
                false => self.call_candidates(named, &(line..=last), Reach::Everywhere),
            };
            for call in calls {
                match call.line == line {
                    true => exact.push(call),
                    false => later_calls.push(call),
                }
            }
        }
        if !exact.is_empty() {
            return LineLookup::Found(self.one_per_instance(self.best(exact)));
        }
        let first = |named| rows(named, next..=u32::MAX).next();
        let after = named.iter().filter_map(first).map(|row| row.line);
        let after = after.chain(later_calls.iter().map(|call| call.line)).min();
        let nearest = |named| rows(named, 0..=line.saturating_sub(1)).next_back();
        let before = named.iter().filter_map(nearest).map(|row| row.line).max();
        let later_rows = named.iter().flat_map(|named| rows(named, next..=last));
        let mut later: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
        for candidate in later_rows.chain(later_calls) {
            later.entry(candidate.line).or_default().push(candidate);
        }
        let mut inside = Vec::new();
        for candidates in later.into_values() {
            let (mut here, mut behind) = (Vec::new(), Vec::new());
            for candidate in candidates {
                match self.place_of(&candidate, line) {
                    Some(Place::Around) => here.push(candidate),
                    Some(Place::PerhapsAround) if inside.is_empty() => here.push(candidate),
                    Some(Place::Behind) => behind.push(candidate),
                    Some(Place::PerhapsAround) | None => {}
                }
            }
            let found = self.one_per_instance(self.best(here));
            if !found.is_empty() {
                // Functions don't overlap, so code that begins between two lines of a function is inside it, such as a
                // lambda or the methods of a local class.
                return LineLookup::Found(match inside.is_empty() {
                    true => found,
                    false => inside,
                });
            }
            if inside.is_empty() && !behind.is_empty() {
                inside = self.one_per_instance(self.best(behind));
            }
        }
        LineLookup::NoCode { before, after }
    }

    /// The locations of the code on a line that starts at `column`, or at the nearest column before. Empty if there is no
    /// such code, or if its column is the line's first with code: a breakpoint there is the same as one on the line.
    pub(crate) fn lookup_column(&self, file: &Path, line: u32, column: u32) -> Vec<LineLocation> {
        let named = self.units_with_file(file);
        let mut on_line = Vec::new();
        for named in &named {
            on_line.extend(self.row_candidates(named, line..=line));
            on_line.extend(self.call_candidates(named, &(line..=line), Reach::Near));
        }
        on_line.retain(|candidate| candidate.column > 0);
        let columns = on_line.iter().map(|candidate| candidate.column);
        let (first, nearest) = (
            columns.clone().min(),
            columns.filter(|at| *at <= column).max(),
        );
        if nearest == first {
            return Vec::new();
        }
        on_line.retain(|candidate| Some(candidate.column) == nearest);
        self.one_per_instance(self.best(on_line))
    }

    /// The best candidates on a line: its statements, and inlined calls in functions without a statement of the line. If
    /// there are none, other instructions of the line. In unoptimised code, which is in source order, gcc puts a line's
    /// statement behind the calls inlined for it, so calls before the statement are kept as well: the line begins with
    /// them.
    fn best<'n>(&self, mut all: Vec<Candidate<'n, 'a>>) -> Vec<Candidate<'n, 'a>> {
        let parts = all.extract_if(.., |candidate| candidate.is_part());
        let parts: Vec<_> = parts.collect();
        if all.is_empty() {
            return parts;
        }
        let statements: Vec<(u32, u64)> = all
            .iter()
            .filter(|candidate| candidate.is_statement())
            .map(|statement| (statement.named.unit.index, statement.address))
            .collect();
        all.retain(|candidate| {
            let Some((function, block)) = candidate.call() else {
                return true;
            };
            let unit = candidate.named.unit;
            let blocks = self.blocks(unit, function);
            let around = blocks.blocks.get(block as usize);
            let in_order = unit.optimised() == Some(false);
            let covered = |statement: &(u32, u64)| {
                statement.0 == unit.index && around.is_some_and(|b| b.covers(statement.1))
            };
            let mut statements = statements.iter().filter(|statement| covered(statement));
            statements.all(|statement| in_order && candidate.address < statement.1)
        });
        all
    }

    /// Where the function that contains a candidate's line begins, relative to `line`. `None`: no function of the file contains the
    /// candidate's line. Several functions inlined into each other may cover the candidate's address. Perhaps none of them contains the
    /// line: rows without code of their own have the address of another line's code.
    fn place_of(&self, candidate: &Candidate<'_, 'a>, line: u32) -> Option<Place> {
        let (unit, file) = (candidate.named.unit, &candidate.named.path);
        let around = self.around(candidate);
        let functions = around
            .iter()
            .flat_map(|around| std::iter::once(around.function).chain(around.inlined()));
        let declared = functions.filter_map(|offset| {
            let declaration = self.declaration(&self.chain(unit, UnitOffset(offset)))?;
            let here = declaration.file == *file && declaration.line <= candidate.line;
            here.then_some(declaration.line)
        });
        let declared = declared.max();
        let begins = self.written_in(unit, file, candidate.line).max(declared)?;
        Some(match (begins <= line, declared) {
            (true, Some(_)) => Place::Around,
            (true, None) => Place::PerhapsAround,
            (false, _) => Place::Behind,
        })
    }

    /// A line often has several runs of code (the parts of a `for` statement), but a breakpoint should stop once on
    /// entering the line. Returns the lowest address in each function instance; on the function's opening line, the end
    /// of its prologue. Returns several where that isn't enough: the copies that [`is_copy`] finds, and in optimised
    /// functions the addresses at which execution enters the line.
    fn one_per_instance(&self, candidates: Vec<Candidate<'_, 'a>>) -> Vec<LineLocation> {
        let mut instances: BTreeMap<Instance, Vec<Candidate>> = BTreeMap::new();
        for candidate in candidates {
            instances
                .entry(self.instance_of(&candidate))
                .or_default()
                .push(candidate);
        }
        // Prefer the file's own code on its last line: the compiler also uses that line for the function that initialises
        // the file's objects.
        let own = |instance: &Instance, all: &[Candidate<'_, 'a>]| {
            !self.is_initialiser(instance, all.first())
        };
        if instances.iter().any(|(instance, all)| own(instance, all)) {
            instances.retain(|instance, all| own(instance, all));
        }
        self.remove_future_makers(&mut instances);
        self.remove_coroutine_parts(&mut instances);
        self.remove_heads(&mut instances);
        let mut found = Vec::new();
        for (instance, mut candidates) in instances {
            let begin = self.remove_resumptions(&instance, &mut candidates);
            let Some(lowest) = candidates.iter().min_by_key(|candidate| candidate.address) else {
                continue;
            };
            let lines = self.lines(lowest.named.unit);
            let entered = self.entered(&instance, &candidates, begin);
            for candidate in &candidates {
                let is_copy = || {
                    is_copy(lowest, candidate, lines)
                        && !self.is_continued_at(lowest, candidate, lines)
                };
                let is_entered = match entered.is_empty() || candidate.row().is_none() {
                    true => std::ptr::eq(candidate, lowest),
                    false => entered.contains(&candidate.address),
                };
                if is_entered || is_copy() {
                    found.push(self.location(candidate, &instance));
                }
            }
        }
        found.sort_by_key(|location| location.address);
        found.dedup_by_key(|location| location.address);
        found
    }

    /// If the body of an `async fn` is among the instances, removes the functions that only make an `async fn`'s future.
    fn remove_future_makers(&self, instances: &mut BTreeMap<Instance, Vec<Candidate<'_, 'a>>>) {
        let entry = |instance: &Instance| match *instance {
            Instance::Code {
                unit,
                function,
                inlined,
            } => Some((self.unit(unit)?, inlined.unwrap_or(function))),
            Instance::Sequence(_) => None,
        };
        let is_body = |instance: &Instance| {
            entry(instance).is_some_and(|(unit, entry)| {
                unit.language() == Language::Rust && self.is_async_body(unit, entry)
            })
        };
        if instances.len() > 1 && instances.keys().any(is_body) {
            instances.retain(|instance, _| {
                entry(instance).is_none_or(|(unit, entry)| {
                    let chain = self.chain(unit, UnitOffset(entry));
                    self.future_made(&chain).is_none()
                })
            });
        }
    }

    /// If the line has other code, removes the bodies of Rust's async blocks and closures that only open on it, as on the line of
    /// `spawn(async move {`.
    fn remove_heads(&self, instances: &mut BTreeMap<Instance, Vec<Candidate<'_, 'a>>>) {
        let is_head = |instance: &Instance, candidates: &[Candidate<'_, 'a>]| {
            let Instance::Code { unit, function, .. } = *instance else {
                return false;
            };
            let dispatch = { self.unit(unit) }
                .filter(|unit| !self.is_async_body(unit, function))
                .and_then(|unit| self.coroutine_dispatch(unit, function));
            dispatch.is_some_and(|dispatch| {
                let mut places = candidates.iter().map(|candidate| candidate.address);
                places.all(|address| dispatch.head.contains(&address))
            })
        };
        if instances
            .iter()
            .any(|(instance, all)| !is_head(instance, all))
        {
            instances.retain(|instance, all| !is_head(instance, all));
        }
    }

    /// On a line with an `await` in an unoptimised body, removes the code at which the future is resumed, and that which runs each time it is
    /// polled, if the line has other code: a breakpoint is to stop when the line is entered. Returns where the body begins, if code was removed.
    fn remove_resumptions(
        &self,
        instance: &Instance,
        candidates: &mut Vec<Candidate<'_, 'a>>,
    ) -> Option<u64> {
        let (&Instance::Code { unit, function, .. }, 2..) = (instance, candidates.len()) else {
            return None;
        };
        if let Some(coroutine) = self.cpp_coroutine_of(instance) {
            let is_entry = |candidate: &Candidate<'_, 'a>| {
                let address = FileAddress(candidate.address);
                match coroutine
                    .begin
                    .filter(|_| coroutine.is_made(Some(candidate.line)))
                {
                    // On the opening line: where the body begins.
                    Some(begin) => address <= begin,
                    None => !coroutine.is_dispatch(address),
                }
            };
            if candidates.iter().any(is_entry) {
                candidates.retain(is_entry);
            }
            let is_optimised = self.is_optimised(self.unit(unit)?, function);
            return coroutine.begin.filter(|_| is_optimised).map(|at| at.0);
        }
        let dispatch = self.coroutine_dispatch(self.unit(unit)?, function)?;
        let is_fn = self.is_async_body(self.unit(unit)?, function);
        let is_entry = |candidate: &Candidate<'_, 'a>| {
            let mut resumed = dispatch.resumptions.iter();
            let is_head = !is_fn && dispatch.head.contains(&candidate.address);
            !is_head && !resumed.any(|code| code.contains(&candidate.address))
        };
        let before = candidates.len();
        if candidates.iter().any(is_entry) {
            candidates.retain(is_entry);
        }
        (candidates.len() < before).then_some(dispatch.begin)
    }

    /// Whether a function is known to be optimised. Clang's producer doesn't contain the switches. But only when it optimises, clang marks
    /// functions whose calls are all described.
    pub(crate) fn is_optimised(&self, unit: &Unit<'a>, function: usize) -> bool {
        let describes = |name| self.chain(unit, UnitOffset(function)).flag(name);
        unit.optimised().unwrap_or_else(|| {
            describes(dw::DW_AT_call_all_calls) || describes(dw::DW_AT_GNU_all_call_sites)
        })
    }

    /// The addresses among a line's rows at which execution first enters the line, from the function's entry if it is optimised, or from
    /// `begin`. Empty if neither is the case, the function is too large, or the line has one row only.
    fn entered(
        &self,
        instance: &Instance,
        candidates: &[Candidate<'_, 'a>],
        begin: Option<u64>,
    ) -> Vec<u64> {
        let (&Instance::Code { function, .. }, Some(of)) = (instance, candidates.first()) else {
            return Vec::new();
        };
        let unit = of.named.unit;
        let rows = candidates.iter().filter(|one| one.row().is_some());
        let places: Vec<u64> = rows.map(|one| one.address).collect();
        if places.len() < 2 || (begin.is_none() && !self.is_optimised(unit, function)) {
            return Vec::new();
        }
        let Some(function) = self.index(unit).function_with_offset(function) else {
            return Vec::new();
        };
        let lines = self.lines(unit);
        let mut others = FxHashSet::default();
        let rows = function.ranges.iter().flat_map(|range| {
            let sequence = lines.sequence_at(range.start);
            sequence.map_or(&[][..], |sequence| lines.rows_in(sequence, range.clone()))
        });
        // Of several rows at an address, the last one has the instruction.
        for row in rows.filter(|row| row.is_stmt && row.line != 0) {
            match row.line == of.line && of.named.numbers.contains(&row.file) {
                true => others.remove(&row.address),
                false => others.insert(row.address),
            };
        }
        self.line_entry_addresses(&function.ranges, begin, &places, &others)
    }

    /// Whether the line's code before `run` ends in a jump to `run`, or to code without a line directly before `run`. Then
    /// `run` is no copy. The code in between belongs to another line, such as code for that line's arithmetic panics. If
    /// `run` is where the line's own arithmetic panics, a conditional jump leads there.
    fn is_continued_at(
        &self,
        lowest: &Candidate<'_, 'a>,
        run: &Candidate<'_, 'a>,
        lines: &Lines,
    ) -> bool {
        let (Some(first), Some(index)) = (lowest.row(), run.row()) else {
            return false;
        };
        let rows = lines.rows.get(first..=index).unwrap_or(&[]);
        let is_own = |row: &Row| row.line == run.line || row.line == 0;
        let nobodys = rows.iter().rev().skip(1).take_while(|row| row.line == 0);
        let start = nobodys.last().map_or(run.address, |row| row.address);
        let leads_here = |target: u64| (start..=run.address).contains(&target);
        rows.windows(2)
            .filter(|pair| is_own(&pair[0]) && !is_own(&pair[1]))
            .any(|pair| {
                let end = pair[1].address;
                let code = self.code(&(pair[0].address..end));
                let set = self.instruction_set(pair[0].address);
                let jump = stray_rows::jump(set, code).map(|by| (end, by));
                let before = stray_rows::jump_before_last(set, code)
                    .map(|(from, by)| (pair[0].address.wrapping_add(from as u64), by));
                let mut jumps = jump.into_iter().chain(before);
                jumps.any(|(from, by)| leads_here(from.wrapping_add_signed(by)))
            })
    }

    /// Whether this is a function that g++ generates to initialise a file's objects. Its own code has the file's last
    /// line.
    fn is_initialiser(&self, instance: &Instance, of: Option<&Candidate<'_, 'a>>) -> bool {
        let Instance::Code {
            function,
            inlined: None,
            ..
        } = instance
        else {
            return false;
        };
        let Some(candidate) = of else {
            return false;
        };
        let unit = candidate.named.unit;
        if !matches!(unit.language(), Language::Cpp) {
            return false;
        }
        let chain = self.chain(unit, UnitOffset(*function));
        let name = self.chain_text(&chain, dw::DW_AT_name).unwrap_or_default();
        let named = [
            &b"_GLOBAL__"[..],
            b"__static_initialization_and_destruction",
        ];
        chain.flag(dw::DW_AT_artificial) && named.iter().any(|prefix| name.starts_with(prefix))
    }

    fn location(&self, candidate: &Candidate<'_, 'a>, instance: &Instance) -> LineLocation {
        let named = candidate.named;
        let around = self.around(candidate);
        let behind = match candidate.call() {
            Some(_) => candidate.address,
            None => self.past_prologue(instance, candidate.address),
        };
        let optimised = named.unit.optimised() != Some(false);
        let address = match (optimised, &around) {
            // In optimised code, the end of the prologue may be inside an inlined call, and show another function's
            // lines.
            (true, Some(around)) if around.is_inside_call(behind) => candidate.address,
            _ => behind,
        };
        let mut location = LineLocation {
            address: FileAddress(address),
            file: named.path.clone(),
            line: candidate.line,
            stop_line: candidate.line,
            column: candidate.column,
            calls_around: 0,
        };
        let moved = address != candidate.address;
        if let Some(around) = around {
            // A prologue is outside of inlined calls.
            let own = if moved { 0 } else { around.calls.len() };
            let calls = around.blocks.inlined(address);
            let next = calls.get(own).copied();
            let next = next.and_then(|call| around.blocks.blocks.get(call as usize));
            location.calls_around = calls.len();
            if let Some(next) = next.filter(|next| next.begins_at(address)) {
                location.calls_around = own;
                let site = self.call_site(named.unit, next.offset).filter(|_| moved);
                if let Some(site) = site.filter(|site| site.file == named.path && site.line != 0) {
                    (location.stop_line, location.column) = (site.line, site.column);
                }
                return location;
            }
        }
        let lines = self.lines(named.unit);
        let row = lines.row_at(address).and_then(|row| lines.rows.get(row));
        let here = |row: &&Row| moved && row.line != 0 && named.numbers.contains(&row.file);
        if let Some(row) = row.filter(here) {
            (location.stop_line, location.column) = (row.line, row.column);
        }
        location
    }

    /// `address`, or the end of the prologue that contains it.
    fn past_prologue(&self, instance: &Instance, address: u64) -> u64 {
        let &Instance::Code {
            unit,
            function,
            inlined: None,
        } = instance
        else {
            return address;
        };
        let entry = self.unit(unit).and_then(|unit| {
            let function = self.index(unit).function_with_offset(function)?;
            let first = function.ranges.first()?;
            first.contains(&address).then_some(first.start)
        });
        match entry {
            Some(entry) => self.body_start(entry).max(address),
            None => address,
        }
    }

    /// A few files whose names differ from that of `file` only in the extension or in case. Empty for large modules, where the search takes
    /// too long.
    pub(crate) fn files_nearly_called(&self, file: &Path) -> Vec<PathBuf> {
        let Some(wanted) = stem(file).filter(|_| !is_large(self.files)) else {
            return Vec::new();
        };
        let files = self.units().flat_map(|unit| self.unit_files(unit).iter());
        let nearly = files.filter(|other| stem(other).as_ref() == Some(&wanted));
        a_few(nearly.map(|other| other.to_path_buf()).collect())
    }

    fn similar_files(&self, file: &Path) -> Vec<PathBuf> {
        let base = file.file_name().map(OsStrExt::as_bytes).unwrap_or(&[]);
        let files_with_base = self.files_called(base);
        a_few(
            files_with_base
                .iter()
                .map(|(_, file)| file.path.clone())
                .collect(),
        )
    }
}

/// The first few files in order, without duplicates.
fn a_few(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    const LIMIT: usize = 5;
    files.sort();
    files.dedup();
    files.truncate(LIMIT);
    files
}

/// The part of a file name in which nearly equal names agree: without extension, in lower case.
fn stem(file: &Path) -> Option<String> {
    Some(file.file_stem()?.to_string_lossy().to_lowercase())
}

/// Whether a file's base name occurs in any section that may have file names. All libraries of a program are asked for
/// each breakpoint; for most of them this is enough to answer, before any unit is read.
pub(crate) fn may_name(files: &Files, file: &Path) -> bool {
    let Some(base) = file.file_name().map(OsStrExt::as_bytes) else {
        return false;
    };
    // In large modules, searching all strings costs more than reading the units' headers.
    if is_large(files) {
        return true;
    }
    let finder = memchr::memmem::Finder::new(base);
    let terminated = |section: &[u8]| {
        finder
            .find_iter(section)
            .any(|at| section.get(at + base.len()) == Some(&0))
    };
    [".debug_line", ".debug_line_str", ".debug_str"]
        .iter()
        .any(|name| terminated(files.debug_section(name)))
}
