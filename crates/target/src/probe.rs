//! What a debugger needs of the system, tried on processes that are made for it: what a setting or a container's filter says is one thing, what
//! the kernel then does another.
//!
//! Each function takes some milliseconds, leaves no process behind, and answers with the reason, and what the user can do, where it is refused.

use crate::linux::{probe, process};
use std::thread;

/// Processes can be looked at: `/proc` is there and shows this one.
///
/// # Errors
/// Why not.
pub fn sight() -> Result<(), String> {
    process::out_of_sight().map_or(Ok(()), |reason| Err(reason.into()))
}

/// A program that the debugger has started can be traced.
///
/// # Errors
/// Why not.
pub fn launching() -> Result<(), String> {
    alone(probe::child)
}

/// A process of the same user can be attached to that the debugger has not started.
///
/// # Errors
/// Why not.
pub fn attaching() -> Result<(), String> {
    alone(probe::stranger)
}

/// The processor tells when a program writes to a variable: for data breakpoints.
///
/// # Errors
/// Why not.
pub fn watching() -> Result<(), String> {
    alone(probe::watching)
}

/// A program can be given the same addresses in each run.
///
/// # Errors
/// Why not.
pub fn fixed_addresses() -> Result<(), String> {
    alone(probe::fixed_addresses)
}

/// On a thread of its own, whose children and tracees are those of the trial alone.
fn alone(try_it: fn() -> Result<(), String>) -> Result<(), String> {
    let thread = thread::Builder::new()
        .name("probe".to_owned())
        .spawn(try_it);
    let thread = thread.map_err(|e| format!("there is no thread to try it on: {e}"))?;
    let failed = |_| Err("the trial itself has failed".to_owned());
    thread.join().unwrap_or_else(failed)
}
