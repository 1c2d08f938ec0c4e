//! One debugger on one program, by verbs that all of them have.

use std::path::PathBuf;
use std::time::Duration;

/// What a line is given besides a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breakpoint {
    /// A stop.
    Plain,
    /// A condition that never holds.
    False,
    /// A hit count that is never reached.
    Counted,
    /// A message with a variable in it, and no stop.
    Log,
}

/// A program to debug.
#[derive(Debug, Clone)]
pub struct Debuggee {
    /// The executable.
    pub program: PathBuf,
    /// Its only argument.
    pub argument: u32,
    /// It is Rust's: a debugger that doesn't know that gets what rustc comes with for it.
    pub rust: bool,
    /// Its source.
    pub source: PathBuf,
    /// The line of the first stop.
    pub begin: i64,
}

/// A session. It is stopped when it has been started, and after each verb that doesn't say otherwise.
pub trait Session {
    /// Replaces all breakpoints by these: line and kind.
    fn arm(&mut self, breakpoints: &[(i64, Breakpoint)]) -> anyhow::Result<()>;
    /// Runs to the next stop.
    fn go(&mut self) -> anyhow::Result<()>;
    /// Lets it run; it runs after this.
    fn run(&mut self) -> anyhow::Result<()>;
    /// Stops the running program; how long that took.
    fn pause(&mut self) -> anyhow::Result<Duration>;
    /// Steps over a line.
    fn next(&mut self) -> anyhow::Result<()>;
    /// Steps an instruction.
    fn step_instruction(&mut self) -> anyhow::Result<()>;
    /// Asks what an editor asks at each stop: the stack, the scopes, their variables.
    fn refresh(&mut self) -> anyhow::Result<()>;
    /// The line where it is stopped.
    fn line(&mut self) -> anyhow::Result<i64>;
    /// Stops at each write of a variable.
    fn watch(&mut self, variable: &str) -> anyhow::Result<()>;
    /// Runs to the program's end; how many lines of the program's output came until then.
    fn lines_to_end(&mut self) -> anyhow::Result<usize>;
    /// How many log messages have come.
    fn logged(&mut self) -> usize;
}
