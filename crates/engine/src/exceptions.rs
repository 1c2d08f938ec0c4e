//! What a stop by an exception or a signal is about, in the words of the language that has it.

/// When a stop like this happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BreakMode {
    /// Whether or not the program deals with it.
    #[default]
    Always,
    /// Only as nobody deals with it: it is the end of the program, or of a thread.
    Unhandled,
}

/// An exception, a panic or a signal that a thread has stopped for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exception {
    /// What it is: `SIGSEGV`, a C++ type's full name, `panic`.
    pub id: String,
    /// A sentence for people.
    pub description: String,
    /// When it stops.
    pub mode: BreakMode,
    /// What it says itself: `what()`, the panic's message; the facts of a signal.
    pub message: Option<String>,
    /// The type's full name.
    pub type_name: Option<String>,
    /// An expression that gives the exception's object in the thread's innermost frame with source.
    pub expression: Option<String>,
    /// The thread's stack, a line for each frame. Made when it is asked for.
    pub stack_trace: Option<String>,
    /// The exceptions that it was thrown for, the nearest first.
    pub inner: Vec<Exception>,
}
