//! Tells the client (`invalidated`, `memory`) when the user has changed values or their presentation, so that it asks for them again.

use crate::adapter::Adapter;
use crate::to_dap;
use dapple_dap::server::Context;
use dapple_dap::types::{
    InvalidatedAreas, InvalidatedEvent, InvalidatedEventBody, MemoryEvent, MemoryEventBody,
};
use dapple_engine::Address;
use dapple_engine::session::assigning::Changed;
use dapple_engine::session::memory::MemoryWrite;

impl Adapter {
    /// Call when the user has written bytes of memory.
    pub fn memory_changed(&mut self, address: Address, written: MemoryWrite, context: &Context) {
        send_memory(address, written.count as u64, context);
        let mut areas = vec![InvalidatedAreas::Variables];
        if written.moves_frames {
            areas.insert(0, InvalidatedAreas::Stacks);
        }
        self.values_changed(areas, context);
    }

    /// Call when the user has assigned to something, or an expression has called functions.
    pub fn assigned(&mut self, changed: &Changed, context: &Context) {
        if *changed == Changed::default() {
            return;
        }
        for range in &changed.memory {
            let count = range.end.0.saturating_sub(range.start.0);
            send_memory(range.start, count, context);
        }
        self.values_changed(
            vec![match changed.moved {
                true => InvalidatedAreas::All,
                false => InvalidatedAreas::Variables,
            }],
            context,
        );
    }

    /// Call when the stub has carried out a command of the user's, which may have changed anything: a reset of the board, for example.
    pub fn stub_commanded(&mut self, context: &Context) {
        self.values_changed(vec![InvalidatedAreas::All], context);
    }

    /// Call when the Natvis files have changed.
    pub fn presentation_changed(&mut self, context: &Context) {
        self.values_changed(vec![InvalidatedAreas::Variables], context);
    }

    /// Call when values or their presentation have changed. All shown values may be affected, because they may overlap.
    fn values_changed(&mut self, areas: Vec<InvalidatedAreas>, context: &Context) {
        self.forget_variables();
        // The written memory may be code.
        self.disassembled.code_changes();
        if context.client().supports_invalidated_event == Some(true) {
            let body = InvalidatedEventBody::new().with_areas(areas);
            context.outbox().event::<InvalidatedEvent>(body);
        }
    }
}

fn send_memory(address: Address, count: u64, context: &Context) {
    if context.client().supports_memory_event == Some(true) {
        let count = to_dap::saturated(count);
        let body = MemoryEventBody::new(address.to_string(), 0, count);
        context.outbox().event::<MemoryEvent>(body);
    }
}
