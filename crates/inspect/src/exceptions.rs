//! Describes what a thread stops for, in the terms of the program's language: exceptions, panics, sanitizer reports and signals. Holds the
//! filters that say which exceptions stop it.

pub mod cpp;
pub mod given_up;
pub mod handlers;
pub mod panicked;
pub mod pattern;
pub mod rust;
pub mod sanitizer;
pub mod thrown;

use crate::frame::Frame;
pub use pattern::{Choice, Patterns};
use std::path::Path;
use std::sync::Arc;
use thrown::Thrown;

/// Which exceptions stop the program. `None` for a kind: none of that kind does, and no breakpoint is inserted for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExceptionFilters {
    /// C++: every throw, caught or not. Patterns match types; a base class matches everything derived from it.
    pub cpp_throw: Option<Patterns>,
    /// C++: exceptions that the user's own code doesn't catch: nothing does, or only a library function.
    pub cpp_user_unhandled: Option<Patterns>,
    /// C++: caught exceptions, when they are caught.
    pub cpp_catch: Option<Patterns>,
    /// C++: exceptions that nothing catches, when the runtime gives up. If throws are intercepted as well, the stop is at the throw,
    /// predicted from the unwinder's tables.
    pub cpp_uncaught: Option<Patterns>,
    /// Rust: every panic. Patterns match its message and its location.
    pub rust_panic: Option<Patterns>,
    /// Rust: panics that only the standard library catches, at the end of the program or of a thread.
    pub rust_uncaught: Option<Patterns>,
    /// Rust: tasks that are dropped before their end. Patterns match the names of their functions.
    pub task_cancelled: Option<Patterns>,
    /// Rust: futures that are dropped before their end, also parts of tasks. Patterns as in `task_cancelled`.
    pub future_dropped: Option<Patterns>,
    /// Sanitizer reports. Patterns match the report's kind, its text and the sanitizer's name.
    pub sanitizers: Option<Patterns>,
}

/// The runtimes that a program contains, which decide what [`ExceptionFilters`] can apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Runtimes {
    /// The C++ runtime, which throws.
    pub cpp: bool,
    /// Rust's panic runtime.
    pub rust: bool,
    /// A sanitizer's runtime.
    pub sanitizers: bool,
}

/// When an exception stops the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BreakMode {
    /// Whether or not the program handles it.
    #[default]
    Always,
    /// Only if nothing handles it: it ends the program or a thread.
    Unhandled,
    /// Only if the user's own code doesn't handle it.
    UserUnhandled,
}

/// The stack of a thread that an exception has stopped, the innermost frame first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackTrace {
    /// Its frames, up to a limit.
    pub frames: Vec<TraceFrame>,
    /// Whether `frames` is the whole stack.
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
    /// Whether its source belongs to a standard library, the system or a dependency.
    pub is_others: bool,
}

impl TraceFrame {
    /// What is shown of a frame.
    pub(crate) fn of(frame: &Frame) -> TraceFrame {
        TraceFrame {
            function: match &frame.function {
                Some(name) => name.clone(),
                None => frame.physical.pc.to_string(),
            },
            position: frame
                .position
                .as_ref()
                .map(|at| (Arc::clone(&at.file), at.line)),
            module: frame.physical.module.as_ref().and_then(|module| {
                let name = module.module.path().file_name()?;
                Some(name.to_string_lossy().into_owned())
            }),
            is_others: frame.origin().is_some(),
        }
    }
}

/// An exception, a panic or a signal that a thread has stopped for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exception {
    /// Its kind: `SIGSEGV`, a C++ type's full name, `panic`, `heap-use-after-free`.
    pub id: String,
    /// A sentence for the user.
    pub description: String,
    /// When it stops the thread.
    pub mode: BreakMode,
    /// Its own message: `what()`, or the panic's message; the details of a signal; a sanitizer's whole report.
    pub message: Option<String>,
    /// The full name of the type, or the sanitizer's name.
    pub type_name: Option<String>,
    /// The thread's stack, or that of the suspended future that it is about. The former is unwound on request.
    pub stack_trace: Option<StackTrace>,
    /// The exceptions that caused it, the nearest first.
    pub inner: Vec<Exception>,
    /// An expression for the thrown value or the address of the failed access, which can be evaluated in each of the thread's frames.
    /// `None`: there is no such value. Determined on request.
    pub expression: Option<String>,
    /// Where the thrown value is.
    pub thrown: Option<Thrown>,
}
