//! C++20's coroutines. A compiler makes several functions of each, which all have its name:
//!
//! - The *start* is what callers call. It makes the frame, where the coroutine's parameters and locals are kept, and starts the body.
//!   g++'s start calls the body; clang's has a copy of the body up to where it first suspends.
//! - The *body* runs when the coroutine is resumed. It begins with a *dispatch*: jumps to where it was suspended, by a number in the frame.
//! - The *destroyer* runs the destructors and frees the frame. g++'s changes the number to an odd one and calls the body.
//! - clang's *wrappers* call the `await_suspend` of an awaiter.
//!
//! The frame begins with the addresses of the body and of the destroyer: that is all that compilers have agreed on. The first is null while
//! the coroutine is at its final suspension.

use crate::FileAddress;
use crate::dwarf::functions::{FunctionId, Language, SourcePosition};
use crate::dwarf::index::FunctionEntry;
use crate::dwarf::line_candidates::Instance;
use crate::dwarf::lines::Row;
use crate::dwarf::scopes::{Variable, VariableKind};
use crate::dwarf::types::{Aggregate, Member, TypeId, TypeKind};
use crate::dwarf::{Dwarf, Unit};
use dapple_arch::instructions::{
    FRAME_POINTER as BASE, INSTRUCTION_POINTER, STACK_POINTER, decoder,
};
use gimli::{UnitOffset, constants as dw};
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// g++'s name for the parameter of a body or destroyer, which points to the frame.
pub(crate) const FRAME_POINTER: &[u8] = b"frame_ptr";
/// g++'s name for the start's pointer to the frame.
const NEW_FRAME: &[u8] = b"_Coro_frameptr";
/// clang's name for the frame.
const FRAME: &[u8] = b"__coro_frame";
/// In the linkage names of clang's wrappers.
pub(crate) const WRAPPER: &str = ".__await_suspend_wrapper__";
/// How the variables begin that g++ adds.
const ADDED: &str = "_Coro_";
/// g++ keeps a coroutine's parameters between these variables.
const PARAMETERS: [&str; 2] = ["_Coro_self_handle", "_Coro_resume_index"];
/// The names of the frame's number.
const INDEXES: [&str; 2] = ["_Coro_resume_index", "__coro_index"];
/// The names of the frame's promise.
const PROMISES: [&str; 2] = ["_Coro_promise", "__promise"];
/// The number in g++'s frames for the initial suspension.
const INITIAL: u64 = 2;
/// The size of an address. The destroyer's is the frame's second.
const WORD: u64 = 8;
/// The most instructions of a dispatch.
const LONGEST_DISPATCH: usize = 4096;
/// The members of a promise that the language calls.
const PROMISE_MEMBERS: [&str; 9] = [
    "get_return_object",
    "get_return_object_on_allocation_failure",
    "initial_suspend",
    "final_suspend",
    "return_value",
    "return_void",
    "yield_value",
    "unhandled_exception",
    "await_transform",
];
/// The members of an awaiter, and what makes one.
const AWAITER_MEMBERS: [&str; 4] = [
    "await_ready",
    "await_suspend",
    "await_resume",
    "operator co_await",
];

/// What a compiler made a function for; see the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoroutinePart {
    /// Makes the frame.
    Start,
    /// Runs when the coroutine is resumed.
    Body,
    /// Runs when the coroutine is destroyed.
    Destroyer,
    /// Calls an awaiter's `await_suspend`.
    Wrapper,
}

/// A place where a C++ coroutine can be suspended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CppSuspension {
    /// The number in the frame while it is suspended there.
    pub number: u64,
    /// The code that suspends it; for the initial suspension, the body's entry.
    pub address: FileAddress,
    /// The position in the source.
    pub place: SourcePosition,
}

/// One of the functions of a C++ coroutine.
#[derive(Debug, Clone)]
pub struct CppCoroutine {
    /// What it is for.
    pub part: CoroutinePart,
    /// The variable with the frame, or with its address ([`CppCoroutine::points_to_frame`]). `None` in a wrapper.
    pub frame: Option<Variable>,
    /// Whether `frame` has the frame's address.
    pub points_to_frame: bool,
    /// The place and size of the number in the frame that tells at which suspension the coroutine is to go on.
    pub index: Option<Range<u64>>,
    /// Whether an odd number means that the coroutine is being destroyed, as with g++.
    pub has_odd_numbers: bool,
    /// The promise's place in the frame, and its type.
    pub promise: Option<(u64, TypeId)>,
    /// The position of the coroutine's declaration.
    pub opening: Option<SourcePosition>,
    /// The line of the body's opening brace, or of the declaration.
    pub opening_line: u32,
    /// The places where it can be suspended.
    pub suspensions: Arc<[CppSuspension]>,
    /// The first statement of the body, as far as this function has it. `None` if it isn't known.
    pub begin: Option<FileAddress>,
    /// For a start: the function with the body that it writes to the frame.
    pub body: Option<FileAddress>,
    /// The line of the closing brace, if code of any line has it.
    closing_line: Option<u32>,
    dispatch: Vec<Range<u64>>,
}

impl CppCoroutine {
    fn wrapper(opening: Option<SourcePosition>) -> CppCoroutine {
        CppCoroutine {
            part: CoroutinePart::Wrapper,
            frame: None,
            points_to_frame: false,
            index: None,
            has_odd_numbers: false,
            promise: None,
            opening,
            opening_line: 0,
            suspensions: Arc::new([]),
            begin: None,
            body: None,
            closing_line: None,
            dispatch: Vec::new(),
        }
    }

    /// Whether code on a line isn't the source's, in a function that has the body. `None`: the code has no line.
    pub fn is_made(&self, line: Option<u32>) -> bool {
        // With its body on one line, that of the opening, a coroutine would have no line left.
        let has_lines = self.begin.is_some() || (line.is_some() && line == self.closing_line);
        has_lines && line.is_none_or(|line| self.is_brace(line))
    }

    /// Whether this is a line of the opening, or with g++'s optimisation, one that isn't behind it and before the closing brace: code that
    /// the compiler adds has the brace's line, and some code of inlined functions isn't marked as such.
    pub fn is_brace(&self, line: u32) -> bool {
        let first = self.opening.as_ref().map_or(0, |opening| opening.line);
        let is_outside = |closing| line < first || line >= closing;
        (first..=self.opening_line).contains(&line) || self.closing_line.is_some_and(is_outside)
    }

    /// Whether the function has code of the source's body.
    pub fn has_body(&self) -> bool {
        match self.part {
            CoroutinePart::Body => true,
            CoroutinePart::Start => !self.points_to_frame,
            CoroutinePart::Destroyer | CoroutinePart::Wrapper => false,
        }
    }

    /// Whether the body has a dispatch.
    pub fn has_dispatch(&self) -> bool {
        !self.dispatch.is_empty()
    }

    /// Whether code belongs to the dispatch.
    pub fn is_dispatch(&self, address: FileAddress) -> bool {
        self.dispatch.iter().any(|code| code.contains(&address.0))
    }
}

/// What the frame's type says.
struct FrameType {
    index: Option<Range<u64>>,
    promise: Option<(u64, TypeId)>,
    /// g++ declares the frame on the line of the closing brace.
    closing: Option<u32>,
}

impl<'a> Dwarf<'a> {
    /// What the function whose code covers `address` is for. `None`: it is no C++ coroutine's.
    pub(crate) fn cpp_coroutine_at(&self, address: u64) -> Option<Arc<CppCoroutine>> {
        let (unit, function) = self.function_entry_at(address)?;
        self.cpp_coroutine(unit, function)
    }

    /// Cached with the function's blocks.
    pub(crate) fn cpp_coroutine(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
    ) -> Option<Arc<CppCoroutine>> {
        if unit.language() != Language::Cpp {
            return None;
        }
        let blocks = self.blocks(unit, function.offset);
        let found = || self.find_cpp_coroutine(unit, function).map(Arc::new);
        blocks.cpp_coroutine.get_or_init(found).clone()
    }

    fn find_cpp_coroutine(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
    ) -> Option<CppCoroutine> {
        let chain = self.chain(unit, UnitOffset(function.offset));
        let linkage = self.linkage_name(&chain).unwrap_or_default();
        let opening = self.declaration(&chain);
        if linkage.contains(WRAPPER) {
            return Some(CppCoroutine::wrapper(opening));
        }
        let (frame, name, count) = self.frame_variable(unit, function)?;
        let part = match name {
            NEW_FRAME => CoroutinePart::Start,
            FRAME_POINTER if !chain.flag(dw::DW_AT_artificial) => return None,
            // The destroyer has no variables of its own.
            FRAME_POINTER if count == 1 => CoroutinePart::Destroyer,
            FRAME_POINTER => CoroutinePart::Body,
            _ if linkage.ends_with(".resume") => CoroutinePart::Body,
            _ if linkage.ends_with(".destroy") || linkage.ends_with(".cleanup") => {
                CoroutinePart::Destroyer
            }
            _ => CoroutinePart::Start,
        };
        let is_gcc = name != FRAME;
        let frame_type = self.frame_type(frame.type_id?)?;
        // The type is declared where the coroutine is; its members' declarations have the opening line.
        let opening = opening.or_else(|| self.opening_by_promise(unit, function));
        let declared = opening.as_ref().map_or(0, |place| place.line);
        // clang gives the entry the line of the brace.
        let entry = function.ranges.first().and_then(|range| {
            let lines = self.lines(unit);
            lines.rows.get(lines.row_at(range.start)?)
        });
        let opening_line = entry.map_or(declared, |row| declared.max(row.line));
        let mut found = CppCoroutine {
            part,
            frame: Some(frame),
            points_to_frame: is_gcc,
            index: frame_type.index.clone(),
            has_odd_numbers: is_gcc,
            promise: frame_type.promise,
            opening,
            opening_line,
            suspensions: Arc::new([]),
            begin: None,
            body: None,
            // With optimisation, g++ gives all code that it adds the closing brace's line.
            closing_line: frame_type
                .closing
                .filter(|_| is_gcc && self.is_optimised(unit, function.offset)),
            dispatch: Vec::new(),
        };
        if let (CoroutinePart::Body, Some(index)) = (part, &frame_type.index) {
            found.dispatch = self.dispatch_code(function, index);
            let closing = frame_type.closing;
            found.suspensions = self.suspensions(unit, function, &found, closing).into();
        }
        if part == CoroutinePart::Start {
            found.body = self.body_written(function);
        }
        if part == CoroutinePart::Start && !is_gcc {
            found.dispatch = self.frame_making_code(function);
        }
        if found.has_body() {
            found.begin = self.first_statement(unit, function, &found, frame_type.closing);
        }
        Some(found)
    }

    /// The variable that has the frame or points to it, its name, and how many variables the function has beside those of inlined calls.
    fn frame_variable(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
    ) -> Option<(Variable, &'static [u8], usize)> {
        let blocks = self.blocks(unit, function.offset);
        let own = || {
            let all = blocks.variables.iter();
            all.filter(|variable| blocks.inlined_around(variable.block).is_none())
        };
        let (found, name) = own().find_map(|variable| {
            let chain = self.chain(unit, UnitOffset(variable.offset));
            let name = self.chain_text(&chain, dw::DW_AT_name)?;
            let names = match variable.parameter {
                true => &[FRAME_POINTER][..],
                false => &[NEW_FRAME, FRAME],
            };
            Some((variable, *names.iter().find(|known| **known == name)?))
        })?;
        let id = FunctionId {
            unit: unit.index,
            offset: function.offset,
        };
        let kind = VariableKind::Local;
        let variable = self.variable(unit, found.offset, kind, 0, Some(id))?;
        Some((variable, name, own().count()))
    }

    /// Reads the type of a frame, or of a pointer to it.
    fn frame_type(&self, id: TypeId) -> Option<FrameType> {
        let mut type_ = self.type_of(id).ok()?;
        while let TypeKind::Pointer(_, Some(target)) | TypeKind::Alias(_, Some(target)) = type_.kind
        {
            type_ = self.type_of(target).ok()?;
        }
        let TypeKind::Aggregate(Aggregate { members, .. }) = &type_.kind else {
            return None;
        };
        let called = |names: &[&str]| -> Option<&Member> {
            let is_called = |member: &&Member| {
                let name = member.name.as_deref();
                name.is_some_and(|name| names.contains(&name))
            };
            members.iter().find(is_called)
        };
        let index = called(&INDEXES).map(|member| {
            let size = match member.bits {
                // clang gives a number of a few bits the whole byte.
                Some(_) => 1,
                None => self.type_size(member.type_id).unwrap_or(1),
            };
            member.offset..member.offset.saturating_add(size.clamp(1, 8))
        });
        let promise = called(&PROMISES).map(|member| (member.offset, member.type_id));
        let closing = self.type_declaration(type_.id).map(|place| place.line);
        Some(FrameType {
            index,
            promise,
            closing,
        })
    }

    /// g++'s bodies have no position, but their promise has that of the coroutine.
    fn opening_by_promise(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
    ) -> Option<SourcePosition> {
        let blocks = self.blocks(unit, function.offset);
        let mut variables = blocks.variables.iter();
        variables.find_map(|variable| {
            let chain = self.chain(unit, UnitOffset(variable.offset));
            let name = self.chain_text(&chain, dw::DW_AT_name)?;
            let is_promise = PROMISES.iter().any(|known| known.as_bytes() == name);
            is_promise.then(|| self.declaration(&chain)).flatten()
        })
    }

    /// The code at the beginning of a body that jumps to where the coroutine was suspended: all up to the first read of the number, and what
    /// follows as long as it only compares and jumps.
    fn dispatch_code(&self, function: &FunctionEntry, index: &Range<u64>) -> Vec<Range<u64>> {
        let mut found: Vec<Range<u64>> = Vec::new();
        let Some(entry) = function.ranges.first() else {
            return found;
        };
        let mut queue = vec![(entry.start, false)];
        let mut is_any_read = false;
        let mut left = LONGEST_DISPATCH;
        while let Some((start, mut is_read)) = queue.pop() {
            let known = |at: u64, found: &[Range<u64>]| found.iter().any(|code| code.contains(&at));
            let Some(range) = function.ranges.iter().find(|range| range.contains(&start)) else {
                continue;
            };
            let mut end = start;
            for instruction in decoder(self.x86_code(&(start..range.end)), start) {
                let at = instruction.ip();
                let goes_on = match is_read {
                    true => is_selection(&instruction, index),
                    false => !instruction.is_invalid(),
                };
                if !goes_on || left == 0 || known(at, &found) {
                    break;
                }
                left -= 1;
                is_read |= reads(&instruction, index);
                is_any_read |= is_read;
                end = instruction.next_ip();
                match instruction.flow_control() {
                    FlowControl::Next => {}
                    FlowControl::ConditionalBranch => {
                        queue.push((instruction.near_branch_target(), is_read));
                    }
                    FlowControl::UnconditionalBranch => {
                        queue.push((instruction.near_branch_target(), is_read));
                        break;
                    }
                    _ => break,
                }
            }
            if start < end {
                found.push(start..end);
            }
        }
        // A coroutine with only one suspension may need no number.
        found.retain(|_| is_any_read);
        found
    }

    /// The places of the body that write the number to the frame before they suspend.
    fn suspensions(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
        coroutine: &CppCoroutine,
        closing: Option<u32>,
    ) -> Vec<CppSuspension> {
        let (Some(index), Some(opening)) = (&coroutine.index, &coroutine.opening) else {
            return Vec::new();
        };
        let lines = self.lines(unit);
        let mut found: Vec<CppSuspension> = Vec::new();
        if let Some(entry) = function
            .ranges
            .first()
            .filter(|_| coroutine.has_odd_numbers)
        {
            found.push(CppSuspension {
                number: INITIAL,
                address: FileAddress(entry.start),
                place: opening.clone(),
            });
        }
        for range in &function.ranges {
            let mut numbers: FxHashMap<Register, u64> = FxHashMap::default();
            for instruction in decoder(self.x86_code(range), range.start) {
                let Some(number) = written_number(&instruction, index, &mut numbers) else {
                    continue;
                };
                let row = lines.row_at(instruction.ip());
                let row = row.and_then(|row| lines.rows.get(row));
                let is_inside =
                    |row: &&Row| row.line > coroutine.opening_line && Some(row.line) != closing;
                if let Some(row) = row.filter(is_inside)
                    && let Some(file) = self.file_numbered(unit, u64::from(row.file))
                    && found
                        .iter()
                        .all(|known: &CppSuspension| known.number != number)
                {
                    let place = SourcePosition {
                        file,
                        line: row.line,
                        column: row.column,
                    };
                    found.push(CppSuspension {
                        number,
                        address: FileAddress(instruction.ip()),
                        place,
                    });
                }
            }
        }
        found
    }

    /// The body whose address a start computes, or calls.
    fn body_written(&self, function: &FunctionEntry) -> Option<FileAddress> {
        let range = function.ranges.first()?;
        let is_body = |address: u64| {
            let other = self.function_entry_at(address);
            other.is_some_and(|(unit, other)| {
                other.offset != function.offset
                    && other
                        .ranges
                        .first()
                        .is_some_and(|code| code.start == address)
                    && self
                        .cpp_coroutine(unit, other)
                        .is_some_and(|it| it.part == CoroutinePart::Body)
            })
        };
        let targets = decoder(self.x86_code(range), range.start);
        let mut targets = targets.into_iter().filter_map(|instruction| {
            let is_address = instruction.mnemonic() == Mnemonic::Lea
                && instruction.memory_base() == INSTRUCTION_POINTER;
            match instruction.flow_control() {
                FlowControl::Call => Some(instruction.near_branch_target()),
                _ if is_address => Some(instruction.ip_rel_memory_address()),
                // Code at a fixed address.
                _ if instruction.mnemonic() == Mnemonic::Mov
                    && instruction.op1_kind() == OpKind::Immediate32to64 =>
                {
                    Some(instruction.immediate(1))
                }
                _ => None,
            }
        });
        targets.find(|target| is_body(*target)).map(FileAddress)
    }

    /// The code of clang's start that makes the frame: up to the first call behind the write of the destroyer's address. It has lines of the
    /// body.
    fn frame_making_code(&self, function: &FunctionEntry) -> Vec<Range<u64>> {
        let Some(range) = function.ranges.first() else {
            return Vec::new();
        };
        let mut is_made = false;
        for instruction in decoder(self.x86_code(range), range.start) {
            let is_call = matches!(
                instruction.flow_control(),
                FlowControl::Call | FlowControl::IndirectCall
            );
            if is_made && is_call {
                return std::iter::once(range.start..instruction.ip()).collect();
            }
            is_made |= instruction.mnemonic() == Mnemonic::Mov
                && instruction.op0_kind() == OpKind::Memory
                && instruction.op1_kind() == OpKind::Register
                && instruction.memory_displacement64() == WORD
                && instruction.memory_size().size() as u64 == WORD
                && !matches!(instruction.memory_base(), STACK_POINTER | BASE);
        }
        Vec::new()
    }

    /// The first statement of the body behind the dispatch. `None`: the body is written on the line of its opening brace.
    fn first_statement(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
        coroutine: &CppCoroutine,
        closing: Option<u32>,
    ) -> Option<FileAddress> {
        let opening = coroutine.opening.as_ref()?;
        let lines = self.lines(unit);
        let range = function.ranges.first()?;
        let rows = lines.rows_in(lines.sequence_at(range.start)?, range.clone());
        let is_inside = |row: &&Row| {
            row.is_stmt
                && row.line > coroutine.opening_line
                && closing
                    .is_none_or(|closing| closing <= coroutine.opening_line || row.line <= closing)
                && !coroutine.is_dispatch(FileAddress(row.address))
                && self
                    .file_numbered(unit, u64::from(row.file))
                    .is_some_and(|file| file == opening.file)
        };
        // Code that runs when the body has thrown may have lower addresses.
        let first = rows
            .iter()
            .filter(is_inside)
            .min_by_key(|row| (row.line, row.address));
        Some(FileAddress(first?.address))
    }

    /// The coroutine that an instance of a line's code is a function of.
    pub(crate) fn cpp_coroutine_of(&self, instance: &Instance) -> Option<Arc<CppCoroutine>> {
        let &Instance::Code {
            unit,
            function,
            inlined: None,
        } = instance
        else {
            return None;
        };
        let unit = self.unit(unit)?;
        let entry = self.index(unit).function_with_offset(function)?;
        self.cpp_coroutine(unit, entry)
    }

    /// If a coroutine's body is among the instances of a line's code, removes the functions that the line isn't entered in.
    pub(crate) fn remove_coroutine_parts<T>(&self, instances: &mut BTreeMap<Instance, T>) {
        let is_body = |instance: &Instance| {
            self.cpp_coroutine_of(instance)
                .is_some_and(|coroutine| coroutine.part == CoroutinePart::Body)
        };
        if instances.len() > 1 && instances.keys().any(is_body) {
            instances.retain(|one, _| {
                let coroutine = self.cpp_coroutine_of(one);
                coroutine.is_none_or(|coroutine| coroutine.has_body())
            });
        }
    }

    /// In a g++ coroutine's body: says which variables are the source's. g++ marks those that it adds, but not all of them, and the
    /// coroutine's parameters as well.
    pub(crate) fn mark_coroutine_variables(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
        variables: &mut [Variable],
    ) {
        let is_added = |variable: &Variable| {
            variable.name.starts_with(ADDED) || variable.name.as_bytes() == FRAME_POINTER
        };
        if !variables.iter().any(is_added) || self.cpp_coroutine(unit, function).is_none() {
            return;
        }
        let mut is_parameter = false;
        let [before, behind] = PARAMETERS;
        for variable in variables {
            if is_added(variable) {
                variable.artificial = true;
                variable.kind = VariableKind::Local;
                is_parameter = (is_parameter || variable.name == before) && variable.name != behind;
            } else if is_parameter {
                variable.artificial = variable.name == "this";
                variable.kind = VariableKind::Parameter;
            }
        }
    }

    /// Whether the language calls the function at `address`, or the innermost inlined one, for a coroutine: a member of a promise, an awaiter that belongs to a type of
    /// coroutines, or the destructor of such a type.
    pub(crate) fn serves_coroutines(&self, address: u64) -> bool {
        let Some((unit, function)) = self.function_entry_at(address) else {
            return false;
        };
        if unit.language() != Language::Cpp {
            return false;
        }
        let blocks = self.blocks(unit, function.offset);
        let inlined = blocks.inlined(address);
        let inlined = inlined
            .last()
            .and_then(|&call| blocks.blocks.get(call as usize));
        let offset = inlined.map_or(function.offset, |call| call.offset);
        let chain = self.chain(unit, UnitOffset(offset));
        let name = self
            .chain_text(&chain, dw::DW_AT_name)
            .map(String::from_utf8_lossy);
        let Some((name, (unit, entry))) = name.zip(chain.links.last()) else {
            return false;
        };
        let base = name.split_once('<').map_or(&*name, |(base, _)| base);
        let is_of_promise = PROMISE_MEMBERS.contains(&base);
        if !is_of_promise && !AWAITER_MEMBERS.contains(&base) && !base.starts_with('~') {
            return false;
        }
        let scopes = self.scopes_around(unit, entry.offset().0);
        let classes = scopes.iter().take(3).map(|scope| UnitOffset(*scope));
        let classes = classes.take_while(|scope| {
            let tag = self.entry(unit, *scope).map(|entry| entry.tag());
            matches!(tag, Some(dw::DW_TAG_structure_type | dw::DW_TAG_class_type))
        });
        let mut classes = classes.peekable();
        match is_of_promise {
            true => classes.peek().is_some(),
            false => { classes }.any(|class| self.is_of_coroutines(unit, class)),
        }
    }

    /// Whether a class has a `promise_type`, or is one.
    fn is_of_coroutines(&self, unit: &Unit<'a>, class: UnitOffset<usize>) -> bool {
        let Some(entry) = self.entry(unit, class) else {
            return false;
        };
        let mut children = self.children(unit, &entry).into_iter();
        children.any(|child| {
            let name = self.own_name(unit, &child);
            let name = name.as_deref();
            match child.tag() {
                dw::DW_TAG_subprogram => name == Some("unhandled_exception"),
                _ => name == Some("promise_type"),
            }
        })
    }
}

/// Whether an instruction reads the number in the frame.
fn reads(instruction: &Instruction, index: &Range<u64>) -> bool {
    let is_write =
        instruction.mnemonic() == Mnemonic::Mov && instruction.op0_kind() == OpKind::Memory;
    let mut factory = InstructionInfoFactory::new();
    let mut used = factory.info(instruction).used_memory().iter();
    !is_write
        && instruction.mnemonic() != Mnemonic::Lea
        && used.any(|memory| {
            memory.displacement() == index.start
                && memory.index() == Register::None
                && memory.memory_size().size() as u64 <= 2 * (index.end - index.start)
        })
}

/// Whether an instruction behind the read of the number only serves to choose where to go on.
fn is_selection(instruction: &Instruction, index: &Range<u64>) -> bool {
    if reads(instruction, index) || instruction.flow_control() == FlowControl::ConditionalBranch {
        return true;
    }
    let of_stack = || {
        matches!(instruction.memory_base(), BASE | STACK_POINTER)
            && instruction.memory_index() == Register::None
    };
    match instruction.mnemonic() {
        Mnemonic::Mov => {
            instruction.op0_kind() == OpKind::Register
                && match instruction.op1_kind() {
                    OpKind::Register => true,
                    OpKind::Memory => of_stack(),
                    _ => false,
                }
        }
        Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd => {
            instruction.op1_kind() == OpKind::Register
        }
        Mnemonic::Test | Mnemonic::Cmp | Mnemonic::Sub | Mnemonic::And | Mnemonic::Bt => {
            instruction.op0_kind() == OpKind::Register
        }
        Mnemonic::Jmp | Mnemonic::Dec | Mnemonic::Cdqe | Mnemonic::Ud2 => true,
        _ => false,
    }
}

/// The number that an instruction writes to the frame. `numbers` has those in the registers.
fn written_number(
    instruction: &Instruction,
    index: &Range<u64>,
    numbers: &mut FxHashMap<Register, u64>,
) -> Option<u64> {
    let size = index.end - index.start;
    let is_constant = matches!(
        instruction.op1_kind(),
        OpKind::Immediate8 | OpKind::Immediate16 | OpKind::Immediate32
    );
    if instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Register {
        let register = instruction.op0_register().full_register();
        match instruction.mnemonic() == Mnemonic::Mov && is_constant {
            true => numbers.insert(register, instruction.immediate(1)),
            false => numbers.remove(&register),
        };
        return None;
    }
    let is_write = instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Memory
        && instruction.memory_displacement64() == index.start
        && instruction.memory_index() == Register::None
        && !matches!(
            instruction.memory_base(),
            STACK_POINTER | INSTRUCTION_POINTER
        )
        && instruction.memory_size().size() as u64 == size;
    match instruction.op1_kind() {
        OpKind::Register if is_write => {
            let register = instruction.op1_register().full_register();
            numbers.get(&register).copied()
        }
        _ if is_write && is_constant => {
            let bits = 64 - 8 * size.min(8);
            Some(instruction.immediate(1) & (u64::MAX >> bits))
        }
        _ => None,
    }
}
