//! The beginning of a session, in two steps, between which the client sets its breakpoints.

use super::{Client, ClientError, Pending};
use crate::message::Request;
use crate::types::{ConfigurationDoneArguments, ConfigurationDoneRequest, InitializedEvent};

impl Client {
    /// Sends `launch` or `attach`, and waits for the event `initialized`, as long as for a response. Breakpoints can be set then;
    /// [`configured`](Self::configured) ends that.
    ///
    /// The request is not answered yet, since many adapters answer only after the configuration.
    ///
    /// ```
    /// # use dapple_dap::{Client, ClientError};
    /// use dapple_dap::types::*;
    ///
    /// # fn run(client: &Client) -> Result<(), ClientError> {
    /// client.request::<InitializeRequest>(InitializeRequestArguments::new("any"))?;
    /// let launch = client.start::<LaunchRequest>(LaunchRequestArguments::new())?;
    /// // Here the client sends `setBreakpoints` and the like.
    /// client.configured(launch)?;
    /// # Ok(())
    /// # }
    /// # let server = dapple_dap::Server::<()>::builder()
    /// #     .on::<LaunchRequest>(|_, _, context| {
    /// #         context.outbox().event::<InitializedEvent>(Empty);
    /// #         Ok(Empty)
    /// #     })
    /// #     .build();
    /// # let (connection, adapter) = dapple_dap::Connection::memory();
    /// # let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    /// # run(&Client::new(connection)).unwrap();
    /// # thread.join().unwrap();
    /// ```
    ///
    /// # Errors
    /// The request failed or may not be sent now, `initialized` was not received in time, or the adapter is gone.
    pub fn start<R: Request>(&self, arguments: R::Arguments) -> Result<Pending<R>, ClientError> {
        let pending = self.send::<R>(arguments)?;
        self.wait_for_caused::<InitializedEvent, R>(&pending, self.timeout)?;
        Ok(pending)
    }

    /// Ends the configuration, so that the program runs: sends `configurationDone`, if the adapter advertises it, and waits for the
    /// response to the request that [`start`](Self::start) has sent.
    ///
    /// # Errors
    /// One of the requests failed, or was not answered in time.
    pub fn configured<R: Request>(&self, started: Pending<R>) -> Result<R::Response, ClientError> {
        if self.supports::<ConfigurationDoneRequest>() {
            self.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new())?;
        }
        started.wait()
    }
}
