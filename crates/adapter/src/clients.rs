//! What single clients need, told by their ids: where the protocol leaves them a choice, and theirs is known.

use crate::to_dap;
use dapple_dap::server::Failure;
use dapple_dap::types::{InitializeRequestArguments, Thread};
use dapple_engine::session::ThreadInfo;
use std::borrow::Cow;
use std::collections::HashMap;

/// Whether it is VS Code, or one of the editors made of it, which use its id.
pub fn is_vscode(client: &InitializeRequestArguments) -> bool {
    client.client_id.as_deref() == Some("vscode")
}

/// Whether it is the terminal debugger, which tells ends and numbers of threads in its own words.
pub fn is_terminal(client: &InitializeRequestArguments) -> bool {
    client.client_id.as_deref() == Some("dapple")
}

/// A sentence as a client shows it. VS Code's dialogs, notifications, console and views are plain text, where marks for code are only noise.
pub fn plain<'a>(client: &InitializeRequestArguments, sentence: &'a str) -> Cow<'a, str> {
    match is_vscode(client) && sentence.contains('`') {
        true => sentence.replace('`', "'").into(),
        false => sentence.into(),
    }
}

/// A failure as a client shows it.
pub fn failure(client: &InitializeRequestArguments, failure: Failure) -> Failure {
    match plain(client, failure.sentence()) {
        Cow::Owned(sentence) => failure.with_sentence(sentence),
        Cow::Borrowed(_) => failure,
    }
}

/// Threads as a client lists them. Most show the name alone, so those that share one get their number, too.
pub fn threads(client: &InitializeRequestArguments, threads: &[ThreadInfo]) -> Vec<Thread> {
    let mut named: HashMap<&str, usize> = HashMap::new();
    for thread in threads {
        *named.entry(&thread.name).or_default() += 1;
    }
    let shows_numbers = is_terminal(client);
    let listed = threads.iter().map(|thread| {
        let mut shown = to_dap::thread(thread);
        let is_shared = named.get(&*thread.name).is_some_and(|count| *count > 1);
        if is_shared && !thread.name.is_empty() && !shows_numbers {
            shown.name = format!("{} ({})", thread.name, thread.id);
        }
        shown
    });
    listed.collect()
}
