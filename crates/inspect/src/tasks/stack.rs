//! Frames of suspended futures. The variables of such a frame are in the future's state; no register belongs to it.

use super::awaits::{Body, Node};
use crate::ThreadId;
use crate::frame::{Frame, FrameId, FrameKind, Suspended, nowhere};
use crate::modules::LoadedModule;
use crate::values::{Reader, Value};
use dapple_symbols::FileAddress;
use dapple_symbols::functions::{Function, Language};
use dapple_symbols::types::TypeId;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// The most frames of one task.
const MOST_FRAMES: usize = 2000;
/// The label between futures that are awaited at the same time.
const BESIDE: &str = "at the same time:";

/// A body by the id of its module and the type of the state. `None`: it isn't found.
type ByState = FxHashMap<(u64, TypeId), Option<Arc<Function>>>;

/// The bodies of asynchronous functions, by the id of the module and the type of the state. They are kept from stop to stop.
#[derive(Debug, Default)]
pub(crate) struct Bodies(RefCell<ByState>);

impl Bodies {
    /// The body of a future's function. `None`: it isn't found.
    pub(super) fn body(&self, loaded: &LoadedModule, state: TypeId) -> Option<Arc<Function>> {
        let find = || loaded.module.body_of_future(state);
        let mut known = self.0.borrow_mut();
        known.entry((loaded.id, state)).or_insert_with(find).clone()
    }

    /// The entry of the body of a future's function. `None`: it isn't found.
    pub(super) fn entry(&self, loaded: &LoadedModule, state: TypeId) -> Option<FileAddress> {
        self.body(loaded, state).map(|body| body.entry)
    }

    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

/// The frames of a future, innermost first.
pub(crate) fn frames(
    reader: &Reader<'_>,
    bodies: &Bodies,
    task: ThreadId,
    stop: u64,
    nodes: &[Node],
) -> Vec<Frame> {
    let mut maker = Maker {
        reader,
        bodies,
        task,
        stop,
        frames: Vec::new(),
    };
    maker.add(nodes);
    maker.frames
}

struct Maker<'a> {
    reader: &'a Reader<'a>,
    bodies: &'a Bodies,
    task: ThreadId,
    stop: u64,
    frames: Vec<Frame>,
}

impl Maker<'_> {
    fn add(&mut self, nodes: &[Node]) {
        for (index, node) in nodes.iter().enumerate() {
            if self.frames.len() >= MOST_FRAMES {
                return;
            }
            if index > 0 {
                self.label(BESIDE.to_owned());
            }
            match node {
                Node::Wait(waited) => self.label(format!("waiting for {}", waited.wait.text)),
                Node::Body(body, below) => {
                    self.add(below);
                    if body.position.is_none() && below.is_empty() {
                        self.label("not started".to_owned());
                    }
                    self.body(body);
                }
            }
        }
    }

    fn label(&mut self, text: String) {
        let Some(module) = self.reader.modules.iter().next() else {
            return;
        };
        let frame = self.frame(module, FrameKind::Label, text);
        self.frames.push(frame);
    }

    fn body(&mut self, body: &Body) {
        let Value { module, .. } = &body.state;
        let (Some(address), Some(type_id)) = (body.state.contents.address(), body.state.type_id)
        else {
            return;
        };
        let suspended = Suspended {
            state: address,
            type_id,
        };
        let kind = FrameKind::Suspended(Arc::new(suspended));
        let mut frame = self.frame(module, kind, body.function.clone());
        frame.position.clone_from(&body.position);
        self.frames.push(frame);
    }

    fn frame(&self, module: &Arc<LoadedModule>, kind: FrameKind, function: String) -> Frame {
        let mut physical = nowhere(module);
        let mut function = function;
        if let FrameKind::Suspended(suspended) = &kind
            && let Some(body) = self.bodies.body(module, suspended.type_id)
        {
            physical.lookup = module.to_process(body.entry);
            // As in frames of threads: the type's name has `{impl#0}` in place of the type of a method.
            function.clone_from(&body.name);
        }
        Frame {
            id: FrameId {
                stop: self.stop,
                thread: self.task,
                index: self.frames.len(),
            },
            physical: physical.into(),
            inline_depth: 0,
            function: Some(function),
            position: None,
            language: Language::Rust,
            kind,
        }
    }
}
