//! Live processes, as this crate runs, copies and reads them.

mod checkpoints;
