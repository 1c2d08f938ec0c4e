//! Messages to be sent.

use crate::envelope::Kind;
use crate::message::Raw;

/// A message to be sent; the [`Writer`](super::Writer) assigns its number. Its payload is encoded already.
pub type Outgoing = Kind<'static, Raw>;
