//! Values that the user has changed: what was told of them before is told anew.

use crate::adapter::Adapter;
use crate::to_dap;
use dapple_dap::server::Context;
use dapple_dap::types::{
    InvalidatedAreas, InvalidatedEvent, InvalidatedEventBody, MemoryEvent, MemoryEventBody,
};
use dapple_engine::Address;

impl Adapter {
    /// The user has written `count` bytes of memory.
    pub fn memory_changed(&mut self, address: Address, count: u64, context: &Context) {
        if context.client().supports_memory_event == Some(true) {
            let count = to_dap::saturated(count);
            let body = MemoryEventBody::new(address.to_string(), 0, count);
            context.outbox().event::<MemoryEvent>(body);
        }
        self.values_changed(context);
    }

    /// The user has changed values, in memory or registers. Any other may be shown from the same place.
    pub fn values_changed(&mut self, context: &Context) {
        self.forget_variables();
        if context.client().supports_invalidated_event == Some(true) {
            let areas = vec![InvalidatedAreas::Variables];
            let body = InvalidatedEventBody::new().with_areas(areas);
            context.outbox().event::<InvalidatedEvent>(body);
        }
    }
}
