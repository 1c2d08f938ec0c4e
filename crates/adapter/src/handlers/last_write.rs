//! Who wrote this? The custom request `dapple/who`, for recorded programs.

use super::data_breakpoints::place;
use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{DataBreakpointInfoArguments, Source};
use dapple_engine::session::travel::{LastWrite, Write, WriteFrame};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Finds the last write of a variable before this moment. The session stays where it is.
#[derive(Debug)]
pub struct WhoRequest;

/// Which data. As the arguments of `dataBreakpointInfo`, which these are named after.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WhoArguments {
    /// The variable in the container; without a container, an expression.
    pub name: String,
    /// The container of the variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<i64>,
    /// The frame in which the expression is evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<i64>,
    /// The name is an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_address: Option<bool>,
    /// How many bytes; without it, as many as the type has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<i64>,
    /// The bookmark of a write that was found: the one before is to be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
}

/// The last write.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WhoResponse {
    /// A sentence that says what was found.
    pub text: String,
    /// The write. Absent: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<ShownWrite>,
}

/// A write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownWrite {
    /// What was written: a name, or an address.
    pub name: String,
    /// The thread that wrote it.
    pub thread_id: i64,
    /// The value before. Absent: it had none, because its function had just been called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The value after; the same if the write changed nothing.
    pub after: String,
    /// The system call that wrote it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// The thread's stack, the innermost frame first.
    pub stack: Vec<ShownWriteFrame>,
    /// Where `dapple/goToMoment` leads to this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<u32>,
}

/// A frame of a thread that wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownWriteFrame {
    /// The function, or an address.
    pub name: String,
    /// The source. Absent: it isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The line; 0: unknown. That of the innermost frame is the statement that wrote.
    pub line: i64,
    /// Where it goes on.
    pub instruction_pointer_reference: String,
}

impl Request for WhoRequest {
    const COMMAND: &'static str = "dapple/who";
    type Arguments = WhoArguments;
    type Response = WhoResponse;
}

/// Finds the last write.
pub fn who(
    adapter: &mut Adapter,
    arguments: WhoArguments,
    context: &mut Context,
) -> Result<WhoResponse, Failure> {
    let mut wanted = DataBreakpointInfoArguments::new(arguments.name);
    wanted.variables_reference = arguments.variables_reference;
    wanted.frame_id = arguments.frame_id;
    wanted.as_address = arguments.as_address;
    let place = place(adapter, &wanted)?.map_err(Failure::new)?;
    let length = arguments
        .bytes
        .map(|bytes| u64::try_from(bytes).unwrap_or(0));
    let token = context.cancelled().clone();
    let cancelled = Arc::new(move || token.is_cancelled());
    let found = adapter
        .stopped()?
        .last_write(place, length, arguments.before, Some(cancelled))
        .or_fail()?;
    Ok(match found {
        LastWrite::By(write) => {
            let write = shown(adapter, &write, context);
            WhoResponse {
                text: sentence(&write),
                write: Some(write),
            }
        }
        LastWrite::NotSinceCall => WhoResponse {
            text: "nothing has written it since its function was called".into(),
            write: None,
        },
        LastWrite::NotSinceBeginning => WhoResponse {
            text: "nothing has written it since the recording began".into(),
            write: None,
        },
    })
}

fn sentence(write: &ShownWrite) -> String {
    let ShownWrite {
        name,
        before,
        after,
        ..
    } = write;
    let place = write.stack.first().map(|frame| match &frame.source {
        Some(source) if frame.line != 0 => {
            let file = source.name.clone().unwrap_or_default();
            format!(" at {file}:{}", frame.line)
        }
        _ => format!(" in {}", frame.name),
    });
    let place = place.unwrap_or_default();
    let by = { write.system_call.as_ref() }.map(|call| format!(" by the system call {call}"));
    let by = by.unwrap_or_default();
    match before {
        None => format!("`{name}` got its first value {after}{place}{by}"),
        Some(before) if before == after => {
            format!("`{name}` was written{place}{by}, and stayed {after}")
        }
        Some(before) => format!("`{name}` changed from {before} to {after}{place}{by}"),
    }
}

fn shown(adapter: &Adapter, write: &Write, context: &Context) -> ShownWrite {
    let frame = |frame: &WriteFrame| shown_frame(adapter, frame, context);
    ShownWrite {
        name: write.name.clone(),
        thread_id: i64::from(write.thread.0),
        before: write.before.clone(),
        after: write.after.clone(),
        system_call: write.system_call.clone(),
        stack: write.stack.iter().map(frame).collect(),
        bookmark: write.bookmark,
    }
}

fn shown_frame(adapter: &Adapter, frame: &WriteFrame, context: &Context) -> ShownWriteFrame {
    let names = adapter.function_names;
    let client = context.conventions();
    let position = frame.position.as_ref();
    let source = position.map(|position| {
        let (_, is_here) = adapter.locate(&position.file);
        let mut source = adapter.source_map.source(&position.file, client);
        source.origin = adapter.origin(&position.file, is_here, frame.origin.clone());
        source
    });
    let line = position.map_or(0, |position| client.line_to_client(position.line.into()));
    ShownWriteFrame {
        name: match &frame.function {
            Some(function) => names.name(function),
            None => frame.address.to_string(),
        },
        source,
        line,
        instruction_pointer_reference: frame.address.to_string(),
    }
}
