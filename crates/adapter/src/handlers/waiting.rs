//! Waiting for the effect of a reverse request, on a thread beside the session.

use crossbeam_channel::{Receiver, RecvTimeoutError};
use std::convert::Infallible;
use std::time::Duration;

/// Sleeps for this time, or until the session ends.
///
/// # Errors
/// The session has ended, or the client has refused the request.
pub(super) fn pause(
    time: Duration,
    session_end: &Receiver<Infallible>,
    refusal: &Receiver<String>,
) -> Result<(), String> {
    if let Ok(refused) = refusal.try_recv() {
        return Err(refused);
    }
    match session_end.recv_timeout(time) {
        Err(RecvTimeoutError::Timeout) => Ok(()),
        _ => Err("the session has ended meanwhile".into()),
    }
}
