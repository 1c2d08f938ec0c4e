//! Dapple's own adapter on a thread of this process, with a client that is joined to it in memory.

use std::thread::{self, JoinHandle};

use anyhow::Context;
use dapple_adapter::{OwnStdin, ProcessGroup, ServeOptions};
use dapple_dap::client::Client;
use dapple_dap::transport;

/// Starts the adapter. Programs that it launches share this process's terminal, and therefore its process group. The thread ends once the client
/// is dropped.
///
/// # Errors
/// No thread can be started.
pub fn start(options: transport::Options) -> anyhow::Result<(Client, JoinHandle<()>)> {
    let (ours, theirs) = options.memory();
    let options = ServeOptions {
        process_group: ProcessGroup::Shared,
        own_stdin: OwnStdin::Free,
        index_cache: crate::cache::open_if_possible(),
        programs: crate::folders::programs(),
        ..ServeOptions::default()
    };
    let host = thread::Builder::new()
        .name("adapter".to_owned())
        .spawn(move || {
            if let Err(error) = dapple_adapter::serve(theirs, options) {
                tracing::error!(%error, "the debug adapter has ended");
            }
        });
    let host = host.context("can't start a thread for the adapter")?;
    Ok((Client::new(ours), host))
}
