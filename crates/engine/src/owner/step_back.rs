//! Steps back: the places in the code to which they may go.

use super::Owner;
use crate::{Address, ThreadId};
use dapple_arch::instructions::decode;
use dapple_inspect::frame::Frame;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;

/// How far a step back goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepBack {
    /// To the beginning of the line that ran before in this function; at its beginning, to the line that has called it.
    Line,
    /// To the instruction that ran before in this function; at its first one, to the call.
    Instruction,
}

/// Places in the code, each of which counts in one frame.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The line of each; for instructions, the address counts as the line.
    pub(super) all: FxHashMap<Address, u64>,
    /// The frames: where each begins on the stack. The innermost first.
    pub(super) frames: Vec<Address>,
}

impl Owner {
    /// The places to which a step back may go.
    pub(super) fn places_before(
        &mut self,
        thread: ThreadId,
        how: StepBack,
    ) -> Result<Places, String> {
        let frames: Vec<Frame> = { self.frames_now(thread) }
            .filter(|frame| frame.inline_depth == 0)
            .take(2)
            .collect();
        let mut places = Places::default();
        for frame in &frames {
            let (Some(cfa), Some(module)) = (frame.physical.cfa, frame.physical.module.clone())
            else {
                break;
            };
            places.frames.push(cfa);
            let found = self.places_of(frame, &module, how);
            places.all.extend(found);
        }
        match places.all.is_empty() {
            true => Err("there is no line before in this function".into()),
            false => Ok(places),
        }
    }

    fn places_of(
        &self,
        frame: &Frame,
        module: &Arc<LoadedModule>,
        how: StepBack,
    ) -> Vec<(Address, u64)> {
        let at = module.to_file(frame.physical.lookup);
        let Some(function) = module.module.function_at(at) else {
            return Vec::new();
        };
        let file = frame
            .position
            .as_ref()
            .map(|position| position.file.clone());
        let mut found = Vec::new();
        for range in &function.ranges {
            match how {
                StepBack::Line => {
                    for row in module.module.rows_in(range.clone()) {
                        let is_same = file.as_deref().is_none_or(|file: &Path| *file == *row.file);
                        if row.is_stmt
                            && row.line != 0
                            && is_same
                            && row.range.start != function.entry
                        {
                            found.push((module.to_process(row.range.start), row.line.into()));
                        }
                    }
                }
                StepBack::Instruction => {
                    let range = module.to_process(range.start)..module.to_process(range.end);
                    found.extend(self.instructions_in(range).map(|at| (at, at.0)));
                }
            }
        }
        found
    }

    pub(super) fn instructions_in(
        &self,
        range: std::ops::Range<Address>,
    ) -> impl Iterator<Item = Address> + use<> {
        let mut code = vec![0; (range.end.0 - range.start.0) as usize];
        let length = self.memory().read_some(range.start, &mut code);
        let mut at = 0;
        std::iter::from_fn(move || {
            let address = range.start.offset(at as i64);
            let instruction = decode(address, code.get(at..length)?)?;
            at += instruction.len();
            Some(address)
        })
    }
}
