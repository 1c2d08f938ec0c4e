//! The beginning of a session, in two steps, between which the client sets its breakpoints.

use super::{AsyncClient, AsyncPending};
use crate::client::ClientError;
use crate::message::Request;
use crate::types::{ConfigurationDoneArguments, ConfigurationDoneRequest, InitializedEvent};

impl AsyncClient {
    /// Sends `launch` or `attach`, and waits for the event `initialized`, as long as for a response. Breakpoints can be set then;
    /// [`configured`](Self::configured) ends that. See [`Client::start`](crate::Client::start).
    ///
    /// # Errors
    /// The request failed or may not be sent now, `initialized` was not received in time, or the adapter is gone.
    pub async fn start<R: Request>(
        &self,
        arguments: R::Arguments,
    ) -> Result<AsyncPending<R>, ClientError> {
        let mut pending = self.send::<R>(arguments).await?;
        self.wait_for_caused::<InitializedEvent, R>(&mut pending, self.timeout)
            .await?;
        Ok(pending)
    }

    /// Ends the configuration, so that the program runs: sends `configurationDone`, if the adapter advertises it, and waits for the
    /// response to the request that [`start`](Self::start) has sent.
    ///
    /// # Errors
    /// One of the requests failed, or was not answered in time.
    pub async fn configured<R: Request>(
        &self,
        started: AsyncPending<R>,
    ) -> Result<R::Response, ClientError> {
        if self.supports::<ConfigurationDoneRequest>() {
            self.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new())
                .await?;
        }
        started.wait().await
    }
}
