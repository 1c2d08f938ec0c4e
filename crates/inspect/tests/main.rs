//! Programs with debug information that are looked at without running: a test supplies registers and memory.

mod decisions;
mod expressions;
mod support;
mod texts;
mod truth;
