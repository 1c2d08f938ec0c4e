//! Behaviour for particular clients, by their ids, where the protocol leaves a choice and it is known what suits the client.

use crate::to_dap;
use dapple_dap::server::Failure;
use dapple_dap::types::{InitializeRequestArguments, Thread};
use dapple_engine::session::ThreadInfo;
use std::borrow::Cow;
use std::collections::HashMap;

/// Whether the client is VS Code, or an editor derived from it that uses its id.
pub fn is_vscode(client: &InitializeRequestArguments) -> bool {
    client.client_id.as_deref() == Some("vscode")
}

/// Whether the client is the terminal debugger, which has its own messages for exits and its own thread numbers.
pub fn is_terminal(client: &InitializeRequestArguments) -> bool {
    client.client_id.as_deref() == Some("dapple")
}

/// A message in the client's format. VS Code shows plain text in dialogs, notifications, console and views, so backquotes become apostrophes.
pub fn plain<'a>(client: &InitializeRequestArguments, sentence: &'a str) -> Cow<'a, str> {
    match is_vscode(client) && sentence.contains('`') {
        true => sentence.replace('`', "'").into(),
        false => sentence.into(),
    }
}

/// A failure with its message in the client's format.
pub fn failure(client: &InitializeRequestArguments, failure: Failure) -> Failure {
    match plain(client, failure.sentence()) {
        Cow::Owned(sentence) => failure.with_sentence(sentence),
        Cow::Borrowed(_) => failure,
    }
}

/// Threads in the form of the protocol. If several have the same name, their ids are added to it, because most clients show only names. The
/// terminal debugger shows numbers of its own.
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
