//! The operations of a session that all debuggers have.

use std::path::PathBuf;
use std::time::Duration;

/// The kind of a breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breakpoint {
    /// It stops.
    Plain,
    /// It has a condition on a local variable that never holds.
    False,
    /// It has such a condition on a field behind two pointers.
    Field,
    /// On a thread-local variable.
    ThreadLocal,
    /// On a text.
    Text,
    /// It has a hit count that is never reached.
    Counted,
    /// It logs a message with a variable, and doesn't stop.
    Log,
}

/// A program to debug.
#[derive(Debug, Clone)]
pub struct Debuggee {
    /// The executable.
    pub program: PathBuf,
    /// Its only argument.
    pub argument: u32,
    /// It is a Rust program. A debugger without support for Rust gets the scripts that come with rustc.
    pub rust: bool,
    /// Its source.
    pub source: PathBuf,
    /// The line of the first stop.
    pub begin: i64,
    /// Whether conditions may be decided in the program, where the debugger can do that.
    pub decides: bool,
    /// Whether Dapple records it, to run it backwards.
    pub recorded: bool,
}

/// A session. The program is stopped after the start, and after each operation unless it says otherwise.
pub trait Session {
    /// Replaces all breakpoints by these: line and kind.
    fn arm(&mut self, breakpoints: &[(i64, Breakpoint)]) -> anyhow::Result<()>;
    /// Runs to the next stop.
    fn go(&mut self) -> anyhow::Result<()>;
    /// Resumes the program, which runs on return.
    fn run(&mut self) -> anyhow::Result<()>;
    /// Stops the running program, and returns how long that took.
    fn pause(&mut self) -> anyhow::Result<Duration>;
    /// Steps over a line.
    fn next(&mut self) -> anyhow::Result<()>;
    /// Steps one instruction.
    fn step_instruction(&mut self) -> anyhow::Result<()>;
    /// Makes the requests of an editor at each stop: the stack, the scopes, their variables.
    fn refresh(&mut self) -> anyhow::Result<()>;
    /// The line at which the program is stopped.
    fn line(&mut self) -> anyhow::Result<i64>;
    /// Makes each write to a variable stop the program.
    fn watch(&mut self, variable: &str) -> anyhow::Result<()>;
    /// Runs to the program's end, and returns how many lines of its output arrived.
    fn lines_to_end(&mut self) -> anyhow::Result<usize>;
    /// How many log messages have arrived.
    fn logged(&mut self) -> usize;
}
