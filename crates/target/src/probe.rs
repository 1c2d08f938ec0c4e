//! Checks what the system permits a debugger to do, by trying it on processes created for the check. Settings alone are not enough: a
//! container's filter may still refuse the operation.
//!
//! Each function takes some milliseconds and leaves no process behind. Its error says why the operation is refused and what the user can do
//! about it.

use crate::linux::{probe, process};
use std::thread;

/// Checks that processes are visible: `/proc` is mounted and shows this process.
///
/// # Errors
/// Why not.
pub fn sight() -> Result<(), String> {
    process::out_of_sight().map_or(Ok(()), |reason| Err(reason.into()))
}

/// Checks that a program that the debugger launches can be traced.
///
/// # Errors
/// Why not.
pub fn launching() -> Result<(), String> {
    alone(probe::child)
}

/// Checks that the debugger can attach to a process of the same user that it did not launch.
///
/// # Errors
/// Why not.
pub fn attaching() -> Result<(), String> {
    alone(probe::stranger)
}

/// Checks that the debug registers, which data breakpoints need, report a write to a variable.
///
/// # Errors
/// Why not.
pub fn watching() -> Result<(), String> {
    alone(probe::watching)
}

/// Checks that address-space randomisation can be switched off for a program.
///
/// # Errors
/// Why not.
pub fn fixed_addresses() -> Result<(), String> {
    alone(probe::fixed_addresses)
}

/// Runs a check on a thread of its own, whose children and tracees are only those of the check.
fn alone(try_it: fn() -> Result<(), String>) -> Result<(), String> {
    let thread = thread::Builder::new()
        .name("probe".to_owned())
        .spawn(try_it);
    let thread = thread.map_err(|e| format!("there is no thread to try it on: {e}"))?;
    let failed = |_| Err("the trial itself has failed".to_owned());
    thread.join().unwrap_or_else(failed)
}
