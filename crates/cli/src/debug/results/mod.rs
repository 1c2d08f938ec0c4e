//! What commands and stops show, as objects.
//!
//! A terminal gets their text. With `--json`, stdout gets the objects themselves: one [`Record`] a line, and nothing else. Both say the same, since the
//! text is made of the objects. A command that has no object of its own yet shows a [`Item::Text`].
//!
//! The form of the records is a promise: `dapple debug --json-schema` prints it, and a test compares it with `docs/debug.schema.json`. Fields may be
//! added. A field that is missing is not known, or doesn't apply.

mod breakpoints;
mod errors;
mod history;
mod locks;
mod machine;
mod places;
mod stacks;
mod stopping;
mod stops;
mod tasks;
mod values;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};

use super::style::{Role, Style};

pub use breakpoints::Breakpoint;
pub use errors::{Failure, FailureKind};
pub use history::{History, Write};
pub use locks::Locks;
pub use machine::{Instruction, Instructions, Memory, Module};
pub use places::{Frame, Listing, Thread, ThreadLine};
pub use stacks::{Folded, Label, Row, Stack};
pub use stopping::{Access, ExceptionFilter, ProcessLine, Watchpoint, process_name};
pub use stops::{Cause, Stop, StoppedProcess};
pub use tasks::{Task, Tasks};
pub use values::{Display, LINES, Returned, Value, Values};

/// A line of `--json`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "camelCase")]
pub enum Record {
    /// A command was carried out, or has failed. There is one for each command, after all that it has shown.
    Command(Ran),
    /// The program has stopped. It comes when that happens, which may be after the record of the command that let it run.
    Stop(Box<Stop>),
    /// The program has written something.
    Output(Output),
    /// The program has ended.
    Exited(Exited),
    /// The program runs on, without a command.
    Resumed(Resumed),
    /// Something was shown between commands, such as a breakpoint that was found in a library.
    Notice(Notice),
    /// The session is over. Nothing follows.
    End(End),
}

/// A record, and what a terminal shows of it.
#[derive(Serialize)]
pub struct WithText<'r> {
    #[serde(flatten)]
    record: &'r Record,
    /// An output has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Record {
    /// The record with its text. The message of a command that has failed is not in it.
    pub fn with_text(&self) -> WithText<'_> {
        let style = Style::plain();
        let lines = |items: &[Item]| {
            let texts = items
                .iter()
                .map(|item| item.text(style).trim_end().to_owned());
            texts.collect::<Vec<_>>().join("\n")
        };
        let text = match self {
            Record::Command(ran) => Some(lines(&ran.items)),
            Record::Stop(stop) => Some(format!("{}\n{}", stop.text(style), lines(&stop.items))),
            Record::Output(_) => None,
            Record::Exited(exited) => Some(exited.text()),
            Record::Resumed(_) => Some("the program runs on".to_owned()),
            Record::Notice(notice) => Some(lines(&notice.items)),
            Record::End(end) => end.error.as_ref().map(|error| error.message.clone()),
        };
        WithText { record: self, text }
    }
}

impl Exited {
    /// `program exited with code 3`.
    pub fn text(&self) -> String {
        let who = match self.process {
            Some(number) => format!("process {number}"),
            None => "program".to_owned(),
        };
        match self.code {
            Some(code) => format!("{who} exited with code {code}"),
            None => format!("{who} has ended"),
        }
    }
}

/// A command that was run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ran {
    /// The command as it was given.
    pub command: String,
    /// Who has given it. Missing: `--ex`, `--script` or stdin. The lines of `source` and of defined commands follow the record of that command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// Why it has failed. Missing: it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// What it shows.
    pub items: Vec<Item>,
    /// What the program does now.
    pub state: State,
}

/// What the program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// It has not been started yet.
    NotStarted,
    /// It runs. The record of its next stop or end follows.
    Running,
    /// It is stopped.
    Stopped,
    /// It has ended.
    Ended,
}

/// Text that the program has written.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Where it was written.
    pub stream: Stream,
    /// The text as it came. It may be a part of a line.
    pub text: String,
}

/// Where text was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Stream {
    /// The program's standard output.
    Stdout,
    /// The program's standard error.
    Stderr,
}

/// The program's end.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exited {
    /// Its exit code. For the end by a signal, adapters say 128 and the signal's number, or its negative number. Missing: the adapter has not said
    /// it, or is gone itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The number of the process, in a program that has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
}

/// A program that runs on.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    /// The number of the process, in a program that has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
}

/// Who has given a command, if not who reads the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum By {
    /// A file: that of `source`, or the one that is read at the start.
    File,
    /// The `commands` of a breakpoint.
    Breakpoint,
    /// A command that was made by `define`.
    Defined,
}

/// What was shown between commands.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// It.
    pub items: Vec<Item>,
}

/// The end of the session.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct End {
    /// The exit code of `dapple debug`.
    pub code: u8,
    /// Why it has failed. Missing: it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Something that is shown.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Item {
    /// A text.
    Text(Text),
    /// What could be typed next, for people who don't know it yet.
    Hint(Text),
    /// Something has failed beside the command itself.
    Problem(Failure),
    /// The place of a frame.
    Frame(Frame),
    /// Lines of a source file.
    Source(Listing),
    /// A thread's stack.
    Stack(Stack),
    /// Values, such as the variables of a frame.
    Values(Values),
    /// A value that the user has asked for.
    Value(Value),
    /// A value that is shown at each stop.
    Display(Display),
    /// What a function has returned that was left.
    Returned(Returned),
    /// A thread.
    Thread(Thread),
    /// A thread and where it is, in a list of threads.
    ThreadLine(ThreadLine),
    /// A breakpoint that was set or changed, or is in a list.
    Breakpoint(Breakpoint),
    /// A value that is watched, in a list of breakpoints.
    Watchpoint(Watchpoint),
    /// A kind of exceptions or signals that was switched on or off, or is in a list.
    ExceptionFilter(ExceptionFilter),
    /// A process, in a list of processes.
    ProcessLine(ProcessLine),
    /// The last write of a value.
    Write(Write),
    /// A write of a value, in a list of writes.
    WriteLine(Write),
    /// Where the session is in the history of a recorded program.
    History(History),
    /// The instruction that is next.
    Instruction(Instruction),
    /// Instructions.
    Instructions(Instructions),
    /// Memory.
    Memory(Memory),
    /// The program or a library, in a list of what is loaded.
    Module(Module),
    /// Threads that wait for locks.
    Locks(Locks),
    /// The tasks of asynchronous executors.
    Tasks(Tasks),
    /// A task that was selected.
    Task(Task),
}

/// A text, for people.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// Its lines.
    pub text: String,
}

impl Item {
    /// Its lines for a terminal.
    pub fn text(&self, style: Style) -> String {
        match self {
            Item::Text(text) => text.text.clone(),
            Item::Hint(hint) => style.paint(Role::Aside, &hint.text),
            Item::Problem(failure) => {
                let prefix = style.paint(Role::Error, "dapple:");
                format!("{prefix} {}", failure.message.trim_end())
            }
            Item::Frame(frame) => frame.text(style),
            Item::Source(listing) => listing.text(style),
            Item::Stack(stack) => stack.text(style),
            Item::Values(values) => values.text(style),
            Item::Value(value) => value.text(style),
            Item::Display(display) => display.text(style),
            Item::Returned(returned) => returned.text(style),
            Item::Thread(thread) => thread.text(),
            Item::ThreadLine(line) => line.text(style),
            Item::Breakpoint(breakpoint) => breakpoint.text.clone(),
            Item::Watchpoint(watchpoint) => watchpoint.text(),
            Item::ExceptionFilter(filter) => filter.text(),
            Item::ProcessLine(process) => process.text(style),
            Item::Write(write) => write.text(),
            Item::WriteLine(write) => write.line(style),
            Item::History(history) => history.text(),
            Item::Instruction(instruction) => instruction.text(style),
            Item::Instructions(instructions) => instructions.text(style),
            Item::Memory(memory) => memory.lines.join("\n"),
            Item::Module(module) => module.text(style),
            Item::Locks(locks) => locks.text(style),
            Item::Tasks(tasks) => tasks.text(style),
            Item::Task(task) => task.text(style),
        }
    }
}

/// The schema of a [`Record`], as JSON.
pub fn schema() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Record>();
    let text = serde_json::to_string_pretty(&schema);
    text.expect("a schema is JSON") + "\n"
}
