//! What the numbers of frames stand for.

use dapple_engine::frame::{Frame, FrameId};

/// What is kept of a frame that the client knows by a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownFrame {
    /// Which one it is.
    pub id: FrameId,
    /// Something says where in a source it is.
    pub has_source: bool,
}

// A stack may have 300,000 frames, and the answer to what lets the program run on waits until all are forgotten.
const _: () = assert!(!std::mem::needs_drop::<ShownFrame>());

impl ShownFrame {
    /// What is kept of `frame`.
    pub fn of(frame: &Frame) -> ShownFrame {
        ShownFrame {
            id: frame.id,
            has_source: frame.position.is_some(),
        }
    }
}
