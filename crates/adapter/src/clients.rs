//! What single clients need, told by their ids: where the protocol leaves them a choice, and theirs is known.

use dapple_dap::server::Failure;
use dapple_dap::types::InitializeRequestArguments;

/// Whether it is VS Code, or one of the editors made of it, which use its id.
pub fn is_vscode(client: &InitializeRequestArguments) -> bool {
    client.client_id.as_deref() == Some("vscode")
}

/// A failure as a client shows it. VS Code's dialogs, notifications and views are plain text, where marks for code are only noise.
pub fn failure(client: &InitializeRequestArguments, failure: Failure) -> Failure {
    if !is_vscode(client) || !failure.sentence().contains('`') {
        return failure;
    }
    let sentence = failure.sentence().replace('`', "'");
    failure.with_sentence(sentence)
}
