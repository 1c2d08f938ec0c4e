//! The custom request `dapple/writeCore`: writes a core file of the stopped process.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Writes a core file of the process as it is now; it goes on to be debugged.
#[derive(Debug)]
pub struct WriteCoreRequest;

/// The arguments of [`WriteCoreRequest`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteCoreArguments {
    /// The absolute path of the file, which must not exist yet.
    pub path: PathBuf,
}

impl Request for WriteCoreRequest {
    const COMMAND: &'static str = "dapple/writeCore";
    type Arguments = WriteCoreArguments;
    type Response = Empty;
}

/// Writes the core file, which only the user can read.
pub fn write_core(
    adapter: &mut Adapter,
    arguments: WriteCoreArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    if !arguments.path.is_absolute() {
        let path = arguments.path.display();
        return Err(Failure::new(format!("`{path}` is no absolute path")));
    }
    let debuggee = adapter.partly_stopped()?;
    debuggee.write_core(&arguments.path).or_fail()?;
    Ok(Empty)
}
