//! Translates types of the engine into types of the protocol.
//!
//! Pure functions: ids, references and facts about files are arguments. Lines, columns and paths of the results are converted by the client's
//! conventions.

mod stopped;

use crate::function_names::FunctionNames;
use crate::styling;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dapple_dap::message::IntegerOrString;
use dapple_dap::server::{ClientConventions, Failure};
use dapple_dap::types::{
    Breakpoint, BreakpointReason, Checksum, ChecksumAlgorithm, DisassembledInstruction,
    DisassembledInstructionPresentationHint, ExceptionBreakMode, ExceptionDetails,
    ExceptionInfoResponse, ExitedEventBody, InitializeRequestArguments, Module,
    OutputEventCategory, ProcessEventBody, ProcessEventStartMethod, Source, SourcePresentationHint,
    StackFrame, StackFramePresentationHint, StepInTarget, Thread, Variable,
    VariablePresentationHint, VariablePresentationHintAttributes, VariablePresentationHintKind,
};
use dapple_engine::Error;
use dapple_engine::disassembly::Instruction;
use dapple_engine::event::{ExitStatus, PresentationProblem, Stream};
use dapple_engine::exceptions::{BreakMode, Exception};
use dapple_engine::frame::{Frame, FrameKind};
use dapple_engine::launch::LaunchOption;
use dapple_engine::modules::{DebugInfo, ModuleInfo};
use dapple_engine::registers::shown::ShownRegister;
use dapple_engine::session::stepping::StepTarget;
use dapple_engine::session::watching::{DataBreakpointState, DataRefusal};
use dapple_engine::session::{
    Asked, BreakpointState, ProcessInfo, Resolution, SourcePosition, Start, ThreadInfo,
};
use dapple_engine::values::{NamedValue, Rendered, VariableKind};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
pub use stopped::{Hit, stopped};

/// An error of the engine as the failure of a request.
pub fn failure(error: &Error) -> Failure {
    match error {
        Error::NotStopped => not_stopped(),
        Error::LaunchOption {
            option,
            path,
            reason,
        } => {
            let argument = match option {
                LaunchOption::Program => "program",
                LaunchOption::WorkingDirectory => "cwd",
                LaunchOption::Stdin => "stdin",
                LaunchOption::Stdout => "stdout",
                LaunchOption::Stderr => "stderr",
            };
            let path = path.display();
            Failure::new(format!("launch: `{argument}` {path}: {reason}")).show_user()
        }
        Error::Core { core, reason } => {
            let core = core.display();
            Failure::new(format!("attach: `coreFile` {core}: {reason}")).show_user()
        }
        other => Failure::new(other.to_string()).show_user(),
    }
}

/// Converts errors of the engine by [`failure`]. A bare `?` would compile, but use the general conversion, which doesn't ask the client to show
/// the error to the user.
pub trait OrFail<T> {
    /// Converts the error by [`failure`].
    ///
    /// # Errors
    /// Those of the engine.
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T> OrFail<T> for Result<T, Error> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| failure(&error))
    }
}

/// The failure of a request that needs a stopped program.
pub fn not_stopped() -> Failure {
    Failure::not_stopped()
}

/// A thread.
pub fn thread(thread: &ThreadInfo) -> Thread {
    let name = match thread.name.as_str() {
        "" => format!("thread {}", thread.id),
        name => name.to_owned(),
    };
    Thread::new(i64::from(thread.id.0), name)
}

/// The body of a `process` event.
pub fn process(process: &ProcessInfo) -> ProcessEventBody {
    let body = ProcessEventBody::new(process.program.display().to_string())
        .with_is_local_process(process.start != Start::Remote)
        .with_start_method(match process.start {
            Start::Launched => ProcessEventStartMethod::Launch,
            Start::Attached | Start::PostMortem | Start::Remote => ProcessEventStartMethod::Attach,
        })
        .with_pointer_size(64);
    match process.start {
        // Another process may have its id by now, or has it on this system.
        Start::PostMortem | Start::Remote => body,
        Start::Launched | Start::Attached => body.with_system_process_id(i64::from(process.pid)),
    }
}

/// A source file. A file that isn't on this machine keeps its path, but is deemphasized, so that clients don't open it by themselves.
pub fn source(path: &Path, exists: bool, client: &ClientConventions) -> Source {
    let source = Source::new()
        .with_name(file_name(path))
        .with_path(client.path_to_client(path));
    if exists {
        source
    } else {
        source.with_presentation_hint(SourcePresentationHint::Deemphasize)
    }
}

/// A problem in a Natvis file, with the name of the launch argument if that gave the file.
pub fn presentation_problem(problem: &PresentationProblem, given: &[PathBuf]) -> String {
    match problem {
        PresentationProblem::Unreadable { file, .. } if given.contains(file) => {
            format!("`visualizerFile`: {problem}")
        }
        other => other.to_string(),
    }
}

/// The checksum of a source.
pub fn md5(sum: [u8; 16]) -> Checksum {
    let digits = sum.iter().map(|byte| format!("{byte:02x}"));
    Checksum::new(ChecksumAlgorithm::Md5, digits.collect::<String>())
}

/// The last component of a path, or the whole path if it has none.
pub fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// A source file of a frame.
pub struct Located {
    /// Its path on this machine.
    pub path: PathBuf,
    /// It exists there.
    pub is_here: bool,
    /// Whose code it is, if not the user's.
    pub origin: Option<String>,
    /// The reference by which a client on another machine gets its text.
    pub reference: Option<i64>,
}

/// A frame with this `id`, whose source is `found`. `aside` deemphasizes the frame even if its source exists.
pub fn frame(
    frame: &Frame,
    id: i64,
    aside: bool,
    found: Option<&Located>,
    names: FunctionNames,
    client: &ClientConventions,
) -> StackFrame {
    let (line, column) = frame.position.as_ref().map_or((0, 0), |position| {
        (
            known(position.line, |line| client.line_to_client(line)),
            known(position.column, |column| client.column_to_client(column)),
        )
    });
    let mut shown = StackFrame::new(id, frame_name(frame, names), line, column);
    if let FrameKind::Label = frame.kind {
        return shown.with_presentation_hint(StackFramePresentationHint::Label);
    }
    if frame.is_call() {
        shown.instruction_pointer_reference = Some(frame.physical.pc.to_string());
    }
    if let Some(module) = &frame.physical.module {
        shown = shown.with_module_id(module_id(module.id));
    }
    match found {
        Some(found) => {
            let mut file = source(&found.path, found.is_here && !aside, client);
            file.origin.clone_from(&found.origin);
            file.source_reference = found.reference;
            shown = shown.with_source(file);
            if !found.is_here || aside {
                shown = shown.with_presentation_hint(StackFramePresentationHint::Subtle);
            }
        }
        None => shown = shown.with_presentation_hint(StackFramePresentationHint::Subtle),
    }
    shown
}

/// A call that can be stepped into, with the id of its target.
pub fn step_in_target(target: &StepTarget, id: i64, client: &ClientConventions) -> StepInTarget {
    let mut shown = StepInTarget::new(id, target.name.clone());
    if let Some(position) = &target.position {
        if position.line != 0 {
            shown = shown.with_line(client.line_to_client(i64::from(position.line)));
        }
        if position.column != 0 {
            shown = shown.with_column(client.column_to_client(i64::from(position.column)));
        }
    }
    if let Some(end) = &target.end {
        shown = shown
            .with_end_line(client.line_to_client(i64::from(end.line)))
            .with_end_column(client.column_to_client(i64::from(end.column)));
    }
    shown
}

/// Converts a line or column. 0 means unknown in the debug information and in the protocol, also to clients that count from 0.
fn known(value: u32, map: impl FnOnce(i64) -> i64) -> i64 {
    match value {
        0 => 0,
        value => map(i64::from(value)),
    }
}

fn frame_name(frame: &Frame, names: FunctionNames) -> String {
    match (&frame.function, &frame.physical.module) {
        (Some(text), _) if matches!(frame.kind, FrameKind::Label) => text.clone(),
        (Some(name), _) => names.name(name),
        (None, Some(module)) => {
            format!(
                "{} in {}",
                frame.physical.pc,
                file_name(module.module.path())
            )
        }
        (None, None) => frame.physical.pc.to_string(),
    }
}

fn module_id(id: u64) -> IntegerOrString {
    i64::try_from(id).map_or_else(|_| id.to_string().into(), IntegerOrString::from)
}

/// A module.
pub fn module(info: &ModuleInfo) -> Module {
    let status = match info.debug_info {
        DebugInfo::Dwarf => "debug information loaded",
        DebugInfo::SymbolsOnly => "no debug information, symbols only",
        DebugInfo::Stripped => "no symbols",
    };
    Module::new(module_id(info.id), file_name(&info.path))
        .with_path(info.path.display().to_string())
        .with_symbol_status(status)
        .with_address_range(format!("{}-{}", info.range.0, info.range.1))
}

/// A breakpoint of the engine.
pub fn breakpoint(
    state: &BreakpointState,
    id: i64,
    source: Option<Source>,
    client: &ClientConventions,
) -> Breakpoint {
    let shown = match &state.resolution {
        Resolution::Resolved {
            position,
            addresses,
            functions,
            remark,
        } => {
            let mut shown = Breakpoint::new(true);
            let texts = [places(addresses.len(), functions), remark.clone()];
            let texts: Vec<String> = texts.into_iter().flatten().collect();
            if !texts.is_empty() {
                shown = shown.with_message(texts.join("; "));
            }
            if let Some(position) = position {
                shown = shown.with_line(client.line_to_client(i64::from(position.line)));
                if position.column > 0 {
                    shown = shown.with_column(client.column_to_client(i64::from(position.column)));
                }
            }
            match addresses.first() {
                Some(address) => shown.with_instruction_reference(address.to_string()),
                None => shown,
            }
        }
        Resolution::Pending(message) => {
            let hint = source_map_hint(state).unwrap_or_default();
            unverified(&format!("{message}{hint}"), BreakpointReason::Pending)
        }
        Resolution::Failed(message) => unverified(message, BreakpointReason::Failed),
    };
    let shown = match &state.asked {
        Asked::Line { line, .. } if !shown.verified => {
            shown.with_line(client.line_to_client(i64::from(*line)))
        }
        Asked::Address(address) => shown.with_instruction_reference(address.to_string()),
        _ => shown,
    };
    let shown = shown.with_id(id);
    match source {
        Some(source) => shown.with_source(source),
        None => shown,
    }
}

/// A hint at `sourceMap` for a breakpoint whose file seems to be in another folder in the debug information. `None`: the debug information has
/// no file of this name, or several.
fn source_map_hint(state: &BreakpointState) -> Option<String> {
    let Asked::Line { file, .. } = &state.asked else {
        return None;
    };
    let same_name = |other: &&PathBuf| other.file_name() == file.file_name();
    let [other] = state.similar.iter().filter(same_name).collect::<Vec<_>>()[..] else {
        return None;
    };
    let (theirs, here) = (other.parent()?.display(), file.parent()?.display());
    Some(format!(
        "; if that is the same file, \"sourceMap\": {{\"{theirs}\": \"{here}\"}} says so"
    ))
}

/// A message for a function breakpoint with several locations, because clients show only one.
fn places(count: usize, functions: &[String]) -> Option<String> {
    /// The most functions that are named.
    const LIMIT: usize = 5;
    if count < 2 || functions.is_empty() {
        return None;
    }
    let named = functions.iter().take(LIMIT).map(|name| cut(name));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if functions.len() > LIMIT { ", …" } else { "" };
    Some(format!("{count} places: {named}{more}"))
}

/// A name in a list, shortened if it is long.
fn cut(name: &str) -> String {
    const LONGEST: usize = 100;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

/// A breakpoint that isn't set, with the reason.
pub fn unverified(message: &str, reason: BreakpointReason) -> Breakpoint {
    Breakpoint::new(false)
        .with_message(message)
        .with_reason(reason)
}

/// The message when LeakSanitizer is kept from looking for leaks.
pub const LEAKS: &str = "LeakSanitizer can't look for leaks while the program is debugged, so it was kept from trying; run the program without debugging \
     (`noDebug`) to have leaks reported";

/// A data breakpoint of the engine.
pub fn data_breakpoint(state: &DataBreakpointState, id: i64) -> Breakpoint {
    match &state.refused {
        None => Breakpoint::new(true).with_id(id),
        Some(DataRefusal::Pending(why)) => unverified(why, BreakpointReason::Pending).with_id(id),
        Some(DataRefusal::Failed(why) | DataRefusal::Gone(why)) => {
            unverified(why, BreakpointReason::Failed).with_id(id)
        }
    }
}

/// The name of a stream as an output category.
pub fn category(stream: Stream) -> OutputEventCategory {
    match stream {
        Stream::Stdout => OutputEventCategory::Stdout,
        Stream::Stderr => OutputEventCategory::Stderr,
    }
}

/// The body of an `exited` event. The exit code of a killed program is 128 plus the signal's number, as in a shell.
pub fn exited(status: ExitStatus) -> ExitedEventBody {
    ExitedEventBody::new(i64::from(match status {
        ExitStatus::Code(code) => code,
        ExitStatus::Signal(number) => number.saturating_add(128),
    }))
}

/// A variable's value, with ANSI colours if the client shows them well ([`styling::is_wanted_in_values`]).
pub fn value_text(text: &str, client: &InitializeRequestArguments) -> String {
    match styling::is_wanted_in_values(client) {
        true => styling::value(text),
        false => text.to_owned(),
    }
}

/// A variable. `reference` is 0 for one without children.
pub fn variable(
    named: &NamedValue,
    rendered: &Rendered,
    reference: i64,
    client: &InitializeRequestArguments,
) -> Variable {
    let text = value_text(&rendered.text, client);
    let mut shown = Variable::new(named.name.clone(), text, reference);
    if client.supports_variable_type == Some(true) && !rendered.type_name.is_empty() {
        shown = shown.with_type(rendered.type_name.clone());
    }
    if let Some(expression) = &named.expression {
        shown = shown.with_evaluate_name(expression.clone());
    }
    if let Some(hint) = hint(named) {
        shown = shown.with_presentation_hint(hint);
    }
    if let Some(address) = rendered.memory {
        shown = shown.with_memory_reference(address.to_string());
    }
    if let Some((named, indexed)) = counts(rendered) {
        shown = shown
            .with_named_variables(named)
            .with_indexed_variables(indexed);
    }
    shown
}

/// The presentation hint of a variable that isn't plain data.
fn hint(named: &NamedValue) -> Option<VariablePresentationHint> {
    let value = &named.value;
    let kind = match (value.raw, value.base) {
        (true, _) => Some(VariablePresentationHintKind::Virtual),
        (_, true) => Some(VariablePresentationHintKind::BaseClass),
        _ => None,
    };
    let mut attributes = Vec::new();
    if named.kind == Some(VariableKind::Static) {
        attributes.push(VariablePresentationHintAttributes::Static);
    }
    // A raw view can't be set, only its fields can.
    if value.raw || value.is_unavailable() {
        attributes.push(VariablePresentationHintAttributes::ReadOnly);
    }
    if kind.is_none() && attributes.is_empty() {
        return None;
    }
    let mut hint = VariablePresentationHint::new();
    hint.kind = kind;
    hint.attributes = (!attributes.is_empty()).then_some(attributes);
    Some(hint)
}

/// The numbers of named and indexed children, for paging; `None` if there is nothing to page.
pub fn counts(rendered: &Rendered) -> Option<(i64, i64)> {
    (rendered.indexed > 0).then(|| (saturated(rendered.named), saturated(rendered.indexed)))
}

/// A count as the protocol's integer, at most `i32::MAX`.
pub fn saturated(count: u64) -> i64 {
    i64::from(i32::try_from(count).unwrap_or(i32::MAX))
}

/// Instructions with their lines. Of consecutive instructions in one file, only the first names the file.
pub fn instructions(
    instructions: &[Instruction],
    mut source: impl FnMut(&SourcePosition) -> Source,
    client: &ClientConventions,
) -> Vec<DisassembledInstruction> {
    let mut last = None;
    let shown = instructions.iter().map(|instruction| {
        let mut shown =
            DisassembledInstruction::new(instruction.address.to_string(), &*instruction.text);
        if !instruction.bytes.is_empty() {
            shown = shown.with_instruction_bytes(hex_pairs(&instruction.bytes));
        }
        if let Some(symbol) = &instruction.symbol {
            shown = shown.with_symbol(symbol.clone());
        }
        if !instruction.is_valid {
            shown = shown.with_presentation_hint(DisassembledInstructionPresentationHint::Invalid);
        }
        let file = instruction.position.as_ref().map(|at| &at.file);
        if let Some(at) = &instruction.position {
            if last != file {
                shown = shown.with_location(source(at));
            }
            shown = shown.with_line(client.line_to_client(i64::from(at.line)));
            if at.column != 0 {
                shown = shown.with_column(client.column_to_client(i64::from(at.column)));
            }
        }
        last = file;
        shown
    });
    shown.collect()
}

fn hex_pairs(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

/// Bytes in base64.
pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// A register of a frame, or a group of them.
pub fn register(
    register: &ShownRegister,
    reference: i64,
    client: &InitializeRequestArguments,
) -> Variable {
    let text = value_text(&register.text, client);
    let mut shown = Variable::new(&*register.name, text, reference);
    if let Some(expression) = &register.expression {
        shown = shown.with_evaluate_name(expression.clone());
    }
    if let Some(address) = register.memory {
        shown = shown.with_memory_reference(address.to_string());
    }
    shown
}

/// Renames shadowed variables and removes their expressions: only the last variable of a name can be used in expressions, and clients tell
/// variables apart by their names.
pub fn mark_shadowed<'a>(variables: impl DoubleEndedIterator<Item = &'a mut NamedValue>) {
    let mut seen = HashMap::new();
    for variable in variables.rev() {
        let count = seen.entry(variable.name.clone()).or_insert(0_usize);
        if *count > 0 {
            let nth = if *count > 1 {
                format!(" {count}")
            } else {
                String::new()
            };
            variable.name.push_str(&format!(" (shadowed{nth})"));
            variable.expression = None;
        }
        *count += 1;
    }
}

/// The details of an exception or signal. `stack_trace` is the thread's stack as text.
pub fn exception_info(exception: &Exception, stack_trace: Option<String>) -> ExceptionInfoResponse {
    let mode = match exception.mode {
        BreakMode::Always => ExceptionBreakMode::Always,
        BreakMode::Unhandled => ExceptionBreakMode::Unhandled,
        BreakMode::UserUnhandled => ExceptionBreakMode::UserUnhandled,
    };
    ExceptionInfoResponse::new(exception.id.clone(), mode)
        .with_description(exception.description.clone())
        .with_details(exception_details(exception, stack_trace))
}

fn exception_details(exception: &Exception, stack_trace: Option<String>) -> ExceptionDetails {
    let mut details = ExceptionDetails::new();
    details.message = exception.message.clone();
    details.full_type_name = exception.type_name.clone();
    details.type_name = exception.type_name.as_deref().map(base_name);
    details.stack_trace = stack_trace;
    details.evaluate_name = exception.expression.clone();
    if !exception.inner.is_empty() {
        let inner = exception.inner.iter();
        let inner = inner.map(|inner| exception_details(inner, None));
        details.inner_exception = Some(inner.collect());
    }
    details
}

/// A type's name without its namespaces: `std::vector<ns::T>` → `vector<ns::T>`.
fn base_name(name: &str) -> String {
    let path = name.find(['<', '(']).map_or(name, |end| &name[..end]);
    let start = path.rfind("::").map_or(0, |at| at + 2);
    name[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_long_name_is_cut_between_characters_and_an_ordinary_one_is_not() {
        let ordinary = "functions::Stack<alloc::string::String>::put<alloc::string::String>";
        assert_eq!(cut(ordinary), ordinary);
        assert_eq!(cut(&"ä".repeat(100)), "ä".repeat(100));
        assert_eq!(cut(&"ä".repeat(101)), format!("{}…", "ä".repeat(100)));
    }
}
