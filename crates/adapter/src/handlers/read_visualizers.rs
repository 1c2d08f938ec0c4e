//! Reads the user's Natvis files again during a session: by the custom request `dapple/readVisualizers`, or by `natvis reload` in the
//! debug console.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The console command. It is no expression in any language.
pub const TYPED: &str = "natvis reload";

/// Reads the Natvis files again.
#[derive(Debug)]
pub struct ReadVisualizersRequest;

/// The arguments of [`ReadVisualizersRequest`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ReadVisualizersArguments {
    /// The files to use from now on, in place of `visualizerFile`, until a `restart` with new arguments. Without them, the same files are
    /// read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<PathBuf>>,
}

impl Request for ReadVisualizersRequest {
    const COMMAND: &'static str = "dapple/readVisualizers";
    type Arguments = ReadVisualizersArguments;
    type Response = Empty;
}

/// Replaces the list of Natvis files, if one is given, and reads the files. Works before the launch and while the program runs. Errors in
/// a file are printed as output. A client that supports the `invalidated` event is told to ask for values again.
pub fn read_visualizers(
    adapter: &mut Adapter,
    arguments: ReadVisualizersArguments,
    context: &mut Context,
) -> Result<Empty, Failure> {
    if let Some(files) = arguments.files {
        adapter.visualizers = files;
        adapter.visualizers_requested = true;
    }
    read(adapter, context)?;
    Ok(Empty)
}

fn read(adapter: &mut Adapter, context: &Context) -> Result<(), Failure> {
    if let Some(debuggee) = &adapter.debuggee {
        debuggee
            .set_presentation(adapter.visualizers.clone())
            .or_fail()?;
    }
    adapter.presentation_changed(context);
    Ok(())
}

/// Runs the console command. Returns what is said.
pub fn typed(adapter: &mut Adapter, context: &Context) -> Result<String, Failure> {
    read(adapter, context)?;
    Ok(said(adapter.visualizers.len()))
}

fn said(files: usize) -> String {
    match files {
        0 => "no Natvis file is given (`visualizerFile`); those of Rust crates are read again"
            .to_owned(),
        1 => "the Natvis file was read again".to_owned(),
        count => format!("{count} Natvis files were read again"),
    }
}
