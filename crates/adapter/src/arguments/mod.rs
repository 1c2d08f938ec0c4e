//! The arguments of `launch` and `attach`, which the protocol leaves to the adapter.
//!
//! `table`, with `aliases`, is the only list of arguments. Its rows read the values, and the [`schema`], the [`page`] for users and the suggestions of editors
//! are generated from it. A value is checked against the `shape` of its row before it is read. An unknown name gets a warning with the nearest
//! known name (`unknown`), because a misspelt argument would silently do nothing.

mod aliases;
mod attach;
mod built;
mod calls;
mod elsewhere;
mod given;
mod launch;
mod others;
pub mod page;
mod remote;
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
pub(crate) use elsewhere::REFUSED as NOT_THERE;
pub(crate) use given::{Common, goes_for_children};
pub(crate) use launch::{Console, LaunchArguments};
pub(crate) use show_disassembly::ShowDisassembly;
pub(crate) use shutdown::Shutdown;

use dapple_dap::message::Raw;
use given::Given;
use std::collections::BTreeMap;

/// A request that starts a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// `launch`: starts a program.
    Launch,
    /// `attach`: attaches to a process or opens a core file.
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

    /// The other request.
    fn other(self) -> Start {
        match self {
            Start::Launch => Start::Attach,
            Start::Attach => Start::Launch,
        }
    }
}

/// Checks arguments without starting a session. Returns warnings about ignored ones.
///
/// # Errors
/// A message about an invalid argument.
pub fn check(start: Start, arguments: &BTreeMap<String, Raw>) -> Result<Vec<String>, String> {
    Ok(Given::read(start, arguments)?.common.warnings)
}

/// The names of all documented arguments, with their requests.
pub fn documented() -> impl Iterator<Item = (Start, &'static str)> {
    [Start::Launch, Start::Attach]
        .into_iter()
        .flat_map(|start| {
            table::rows(start)
                .filter(|row| row.is_documented())
                .map(move |row| (start, row.name))
        })
}
