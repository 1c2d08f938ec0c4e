//! The targets of frame ids.

use dapple_engine::frame::{Frame, FrameId};

/// What is kept of a frame whose id the client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownFrame {
    /// The engine's id of the frame.
    pub id: FrameId,
    /// Whether debug information gives its source position.
    pub has_source: bool,
    /// Whether it is a call on a thread's stack, to which registers belong.
    pub is_call: bool,
}

// A stack may have 300,000 frames. All entries are removed before the response to a resuming request, so dropping one must run
// no code.
const _: () = assert!(!std::mem::needs_drop::<ShownFrame>());

impl ShownFrame {
    /// The entry for `frame`.
    pub fn of(frame: &Frame) -> ShownFrame {
        ShownFrame {
            id: frame.id,
            has_source: frame.position.is_some(),
            is_call: frame.is_call(),
        }
    }
}
