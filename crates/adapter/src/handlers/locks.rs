//! Threads that wait for locks and for each other: the custom request `dapple/locks`.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_engine::locks::{Evidence, ThreadWait};
use serde::{Deserialize, Serialize};

/// Lists the threads that wait for locks, for other threads to end, or to be woken.
#[derive(Debug)]
pub struct LocksRequest;

/// The threads that wait.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LocksResponse {
    /// The threads.
    pub threads: Vec<ShownThreadWait>,
    /// Circles of threads that wait for each other: the ids of the threads, each waiting for the next, and the last for the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<Vec<i64>>,
    /// Why threads may be missing: sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A thread that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownThreadWait {
    /// Its id.
    pub thread_id: i64,
    /// Its name.
    pub name: String,
    /// What it waits for: `a mutex`.
    pub text: String,
    /// The address of the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The static variable that the lock is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The function in the user's code that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The file in which it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line at which it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// The threads that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<ShownHolder>,
}

/// A thread that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownHolder {
    /// Its id.
    pub thread_id: i64,
    /// Whether it has ended; the lock still has its id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_ended: bool,
    /// The function with a guard of the lock among its variables. Absent: the lock itself has the thread's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard_in: Option<String>,
}

impl Request for LocksRequest {
    const COMMAND: &'static str = "dapple/locks";
    type Arguments = Empty;
    type Response = LocksResponse;
}

/// Lists the threads that wait.
pub fn locks(
    adapter: &mut Adapter,
    _arguments: Empty,
    context: &mut Context,
) -> Result<LocksResponse, Failure> {
    let found = adapter.partly_stopped()?.locks().or_fail()?;
    let threads = found.waits.iter();
    let problem = |count: usize| {
        format!("{count} threads were not looked at: there are too many, or they run")
    };
    Ok(LocksResponse {
        threads: threads.map(|wait| shown(adapter, wait, context)).collect(),
        deadlocks: { found.deadlocks.iter() }
            .map(|circle| circle.iter().map(|thread| i64::from(thread.0)).collect())
            .collect(),
        problems: (found.skipped > 0)
            .then(|| problem(found.skipped))
            .into_iter()
            .collect(),
    })
}

fn shown(adapter: &Adapter, wait: &ThreadWait, context: &Context) -> ShownThreadWait {
    let names = adapter.function_names;
    let holders = wait.holders.iter().map(|holder| ShownHolder {
        thread_id: i64::from(holder.thread.0),
        has_ended: !holder.exists,
        guard_in: match &holder.evidence {
            Evidence::Guard(function) => Some(names.name(function)),
            Evidence::Owner | Evidence::Joined => None,
        },
    });
    let path = |file: &std::path::Path| adapter.locate(file).0.display().to_string();
    ShownThreadWait {
        thread_id: i64::from(wait.thread.0),
        name: wait.name.clone(),
        text: wait.kind.text().to_owned(),
        address: wait.lock.map(|lock| format!("{:#x}", lock.0)),
        variable: wait.variable.clone(),
        function: wait.function.as_deref().map(|name| names.name(name)),
        path: wait.place.as_ref().map(|at| path(&at.file)),
        line: { wait.place.as_ref() }
            .map(|at| context.conventions().line_to_client(i64::from(at.line))),
        holders: holders.collect(),
    }
}
