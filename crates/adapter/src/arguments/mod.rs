//! The arguments of `launch` and `attach`: what there is, what each means, and a sentence for each that is wrong.
//!
//! They are the adapter's own (the protocol leaves them open), so they come as JSON. `table` is the one list: what is read goes through its
//! rows, and the [`schema`], the [`page`] for users and what editors offer are made of them. A value is first held against its row's
//! `shape`, so that whoever takes it finds what the shape says. A misspelt name would silently do nothing; each unknown one gets a warning
//! with the nearest known (`unknown`).

mod aliases;
mod attach;
mod built;
mod calls;
mod given;
mod launch;
mod others;
pub mod page;
mod row;
pub mod schema;
mod show_disassembly;
mod shutdown;
mod stdio;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use attach::{AttachArguments, HANDED_OVER, Target};
pub(crate) use calls::CallSettings;
pub(crate) use given::{Common, goes_for_children};
pub(crate) use launch::{Console, LaunchArguments};
pub(crate) use show_disassembly::ShowDisassembly;
pub(crate) use shutdown::Shutdown;

use dapple_dap::message::Raw;
use given::Given;
use std::collections::BTreeMap;

/// What a request is called, and which rows of the table are for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Of a program.
    Launch,
    /// To a process, or what it has left.
    Attach,
}

impl Start {
    /// The request's name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Start::Launch => "launch",
            Start::Attach => "attach",
        }
    }

    /// The other.
    fn other(self) -> Start {
        match self {
            Start::Launch => Start::Attach,
            Start::Attach => Start::Launch,
        }
    }
}

/// What a request with these arguments would be told: sentences about what is ignored.
///
/// # Errors
/// A sentence about what is wrong.
pub fn check(start: Start, arguments: &BTreeMap<String, Raw>) -> Result<Vec<String>, String> {
    Ok(Given::read(start, arguments)?.common.warnings)
}

/// The names of all arguments that users are told of, with the request they are for.
pub fn documented() -> impl Iterator<Item = (Start, &'static str)> {
    [Start::Launch, Start::Attach]
        .into_iter()
        .flat_map(|start| {
            table::rows(start)
                .filter(|row| row.is_told())
                .map(move |row| (start, row.name))
        })
}
