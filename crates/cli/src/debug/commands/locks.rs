//! `info locks`: threads that wait for locks and for each other.

use anyhow::bail;
use dapple_adapter::LocksRequest;
use dapple_dap::message::Empty;

use crate::debug::results::{Item, Locks};
use crate::debug::session::Session;

/// Lists the threads that wait.
pub(super) fn show(session: &mut Session) -> anyhow::Result<()> {
    session.stop()?;
    if !session.is_own_adapter() {
        bail!("this adapter doesn't tell what threads wait for");
    }
    let found = session.request::<LocksRequest>(Empty)?;
    session.screen.show(Item::Locks(Locks::of(found)));
    Ok(())
}
