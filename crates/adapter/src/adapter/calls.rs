//! Options of inferior calls in a request's expression.

use crate::adapter::Adapter;
use dapple_dap::server::Context;
use dapple_engine::calls::CallOptions;
use std::sync::Arc;

impl Adapter {
    /// The settings for calls in a request's expression. A call ends when the request is cancelled.
    pub fn call_options(&self, context: &Context) -> CallOptions {
        let token = context.cancelled().clone();
        CallOptions {
            time_limit: self.calls.time_limit,
            threads: self.calls.threads,
            cancelled: Some(Arc::new(move || token.is_cancelled())),
            ..CallOptions::default()
        }
    }
}
