//! What a stop by an exception or a signal is about, in the words of the language that has it; and which exceptions stop.

pub mod cpp;
pub mod given_up;
pub mod handlers;
pub mod panicked;
pub mod pattern;
pub mod rust;
pub mod sanitizer;
pub mod thrown;

pub use pattern::{Choice, Patterns};
use std::path::Path;
use std::sync::Arc;
use thrown::Thrown;

/// Which exceptions stop the program; `None`: none of the kind. Nothing is inserted anywhere for kinds that don't.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExceptionFilters {
    /// C++: what is thrown, caught or not. Patterns are of types; a base class stands for all that is derived from it.
    pub cpp_throw: Option<Patterns>,
    /// C++: what the user's own code doesn't catch: nothing does, or a function of a library.
    pub cpp_user_unhandled: Option<Patterns>,
    /// C++: what is caught, where it is.
    pub cpp_catch: Option<Patterns>,
    /// C++: what nothing catches, as the runtime gives up; where throws stop, too, then at the throw, by the tables that the unwinder goes by.
    pub cpp_uncaught: Option<Patterns>,
    /// Rust: each panic. Patterns are of what it says, and of its place.
    pub rust_panic: Option<Patterns>,
    /// Rust: panics that only the standard library catches, at the end of the program or a thread.
    pub rust_uncaught: Option<Patterns>,
    /// Reports of sanitizers' runtimes. Patterns are of the report's kind, its text and the sanitizer's name.
    pub sanitizers: Option<Patterns>,
}

/// What a program has that exceptions come from, so that [`ExceptionFilters`] can mean anything there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Runtimes {
    /// What throws in C++.
    pub cpp: bool,
    /// Rust's panics.
    pub rust: bool,
    /// A sanitizer's runtime.
    pub sanitizers: bool,
}

/// When a stop like this happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BreakMode {
    /// Whether or not the program deals with it.
    #[default]
    Always,
    /// Only as nobody deals with it: it is the end of the program, or of a thread.
    Unhandled,
    /// Only as the user's own code doesn't deal with it.
    UserUnhandled,
}

/// The stack of a thread that an exception has stopped, the innermost frame first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackTrace {
    /// Its frames, as many as anybody reads.
    pub frames: Vec<TraceFrame>,
    /// Whether these are all.
    pub complete: bool,
}

/// A frame of a [`StackTrace`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFrame {
    /// The function, or the address where none is known.
    pub function: String,
    /// The source file as the debug information names it, and the line.
    pub position: Option<(Arc<Path>, u32)>,
    /// The name of the module's file, without its folder.
    pub module: Option<String>,
    /// Whether it is in source of a standard library or the system.
    pub in_library: bool,
}

/// An exception, a panic or a signal that a thread has stopped for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exception {
    /// What it is: `SIGSEGV`, a C++ type's full name, `panic`, `heap-use-after-free`.
    pub id: String,
    /// A sentence for people.
    pub description: String,
    /// When it stops.
    pub mode: BreakMode,
    /// What it says itself: `what()`, the panic's message; the facts of a signal; a sanitizer's whole report.
    pub message: Option<String>,
    /// The type's full name, or the sanitizer's.
    pub type_name: Option<String>,
    /// The thread's stack. Walked when it is asked for.
    pub stack_trace: Option<StackTrace>,
    /// The exceptions that it was thrown for, the nearest first.
    pub inner: Vec<Exception>,
    /// An expression that gives what was thrown, or the address that was accessed, in each of the thread's frames; `None` where that
    /// has no value. Found when it is asked for.
    pub expression: Option<String>,
    /// Where it is.
    pub thrown: Option<Thrown>,
}
