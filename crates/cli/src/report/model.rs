//! What a report says. Text, JSON and HTML are written from this alone.
//!
//! The form of the JSON is a promise: `dapple report --json-schema` prints it, and a test compares it with `docs/report.schema.json`. Fields may be
//! added. A field that is missing is not known, or doesn't apply.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

use super::plain::Plain;

/// A report of a crashed program or a running process.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// What the report is made from.
    pub subject: Subject,
    /// Why the program crashed. Missing: it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The machine on which the report was made, which may be another one than that of the crash.
    pub host: Host,
    /// Whether the report was made with `--no-values`.
    pub without_values: bool,
    /// What could not be found or read, and what else there is to know, a sentence each.
    pub notes: Vec<Plain>,
    /// The thread that crashed, or the main thread of a process that has not.
    pub thread: Thread,
    /// The variables of that thread's innermost frames of the user's own code.
    pub variables: Vec<FrameVariables>,
    /// Whether there are more frames of the user's own code.
    #[serde(skip_serializing_if = "is_false")]
    pub more_variables: bool,
    /// The registers of that thread.
    pub registers: Vec<Register>,
    /// The instructions around the one at which that thread is.
    pub instructions: Vec<Instruction>,
    /// The stacks of all threads. Threads whose stacks are equal have one together. The first is that of `thread`.
    pub stacks: Vec<Stack>,
    /// How many threads are left out, because there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_threads: usize,
    /// The program and its libraries.
    pub modules: Vec<Module>,
    /// How many modules are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_modules: usize,
    /// The memory map.
    pub mappings: Vec<Mapping>,
    /// How many mappings are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_mappings: usize,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// What a report is made from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// The core file. Missing: a running process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<Plain>,
    /// When the core file was written, in UTC: `2026-01-31 12:00:00`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Plain>,
    /// The process's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<i64>,
    /// The program's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Plain>,
    /// The command line, words separated by spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Plain>,
    /// Whether the core file has only the beginning of the command line.
    #[serde(skip_serializing_if = "is_false")]
    pub command_is_cut: bool,
}

/// Why a program has crashed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// The signal: `SIGSEGV`.
    pub id: Plain,
    /// The reason: `SIGSEGV: read of address 0x0, a null pointer`. With `--no-values` without addresses and messages.
    pub sentence: Plain,
    /// The type of the exception that nothing has caught.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<Plain>,
    /// Further details: the exception's message, or the facts of the signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Plain>,
}

/// The machine on which a report was made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// When, in UTC: `2026-01-31 12:00:00`.
    pub time: Plain,
    /// The kernel: `Linux 6.1.0 x86_64`.
    pub kernel: Plain,
    /// The distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Plain>,
    /// What has made the report: `dapple 0.1.0`.
    pub made_by: Plain,
}

/// A thread.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Its id.
    pub id: i64,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Plain>,
}

/// The stack of one thread, or of several whose stacks are equal.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stack {
    /// The threads.
    pub threads: Vec<Thread>,
    /// The frames, the innermost first.
    pub frames: Vec<Frame>,
    /// Whether there are more frames further out.
    #[serde(skip_serializing_if = "is_false")]
    pub more_frames: bool,
    /// Why the stack can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Plain>,
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// Its number, from 0, the innermost.
    pub index: usize,
    /// The function. Missing: it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<Plain>,
    /// The source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Plain>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// The address of the next instruction. Missing for calls that were inlined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Plain>,
    /// The path of the module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<Plain>,
    /// How far `address` is from the module's beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_offset: Option<Plain>,
    /// Whether it is the user's own code, and not that of a library.
    #[serde(skip_serializing_if = "is_false")]
    pub own: bool,
    /// Whether it is no call, but a text between two parts of an asynchronous stack.
    #[serde(skip_serializing_if = "is_false")]
    pub label: bool,
}

/// The variables of a frame.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrameVariables {
    /// The number of the frame.
    pub frame: usize,
    /// Its function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<Plain>,
    /// The function's arguments.
    pub arguments: Vec<Variable>,
    /// Its local variables.
    pub locals: Vec<Variable>,
    /// Whether there are more.
    #[serde(skip_serializing_if = "is_false")]
    pub more: bool,
}

/// A variable.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Its name.
    pub name: Plain,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<Plain>,
    /// Its value. A long one is cut, and ends in `…`.
    pub value: Plain,
    /// The fields of what it is or points to, or the elements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Variable>,
    /// Whether there are more parts.
    #[serde(skip_serializing_if = "is_false")]
    pub more_parts: bool,
}

/// A register.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Register {
    /// Its name.
    pub name: Plain,
    /// Its value.
    pub value: Plain,
}

/// An instruction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Instruction {
    /// Its address.
    pub address: Plain,
    /// The function or variable that it is in, with the distance from its beginning: `main+0x4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Plain>,
    /// The instruction, in Intel's syntax.
    pub text: Plain,
    /// Whether the thread is there.
    #[serde(skip_serializing_if = "is_false")]
    pub current: bool,
}

/// The program or a library.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Module {
    /// Its file.
    pub path: Plain,
    /// Its build id, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<Plain>,
    /// Where it is loaded, the first address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Plain>,
    /// The address behind its last byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Plain>,
    /// What is known of its names and lines: `debug information loaded`, `no symbols`, `not found`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbols: Option<Plain>,
    /// The file with its debug information, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_file: Option<Plain>,
    /// The compiler, as the debug information names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler: Option<Plain>,
}

/// A range of the process's memory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mapping {
    /// The first address.
    pub start: Plain,
    /// The address behind its last byte.
    pub end: Plain,
    /// What is permitted: `r-x`.
    pub rights: Plain,
    /// The offset in the file.
    pub offset: Plain,
    /// The file, `[stack]`, `[heap]`. Missing: anonymous memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Plain>,
}

/// The schema of a [`Report`], as JSON.
pub fn schema() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Report>();
    let text = serde_json::to_string_pretty(&schema);
    text.expect("a schema is JSON") + "\n"
}
