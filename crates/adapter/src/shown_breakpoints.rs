//! Breakpoints in the form of the protocol, with sources that the client can open.

use crate::adapter::Adapter;
use crate::to_dap;
use dapple_dap::server::{ClientConventions, Outbox};
use dapple_dap::types::{Breakpoint, BreakpointEvent, BreakpointEventBody, BreakpointEventReason};
use dapple_engine::session::{Asked, BreakpointState, Resolution};

impl Adapter {
    /// A breakpoint with its source from the debug information.
    pub fn located(
        &mut self,
        state: &BreakpointState,
        id: i64,
        client: &ClientConventions,
    ) -> Breakpoint {
        let Resolution::Resolved {
            position: Some(at),
            addresses,
            ..
        } = &state.resolution
        else {
            return to_dap::breakpoint(state, id, None, client);
        };
        let (source, line) = self.shown_source(at, addresses.first().copied(), client);
        let is_listing = source.source_reference.is_some();
        let mut shown = to_dap::breakpoint(state, id, Some(source), client);
        if is_listing {
            shown.line = Some(client.line_to_client(line));
            shown.column = None;
        }
        shown
    }

    /// Reports that a breakpoint was moved, resolved or lost, if the client knows it.
    pub fn send_breakpoint(
        &mut self,
        state: &BreakpointState,
        outbox: &Outbox,
        client: &ClientConventions,
    ) {
        let Some(id) = self.breakpoints.known_id(state.id) else {
            return;
        };
        let shown = match &state.asked {
            Asked::Line { .. } => {
                let source = self.breakpoints.source_of(id);
                to_dap::breakpoint(state, id, source, client)
            }
            Asked::Function { .. } | Asked::Address(_) => self.placed(state, id, client),
        };
        let reason = BreakpointEventReason::Changed;
        outbox.event::<BreakpointEvent>(BreakpointEventBody::new(reason, shown));
    }

    /// A function or instruction breakpoint with its place: on the line of disassembly where it was set, else in its source.
    pub fn placed(
        &mut self,
        state: &BreakpointState,
        id: i64,
        client: &ClientConventions,
    ) -> Breakpoint {
        let Some((reference, line)) = self.breakpoints.listed_at(id) else {
            return self.located(state, id, client);
        };
        let source = self.disassembled.source(reference);
        let mut shown = to_dap::breakpoint(state, id, source, client);
        shown.line = Some(client.line_to_client(i64::from(line)));
        shown.column = None;
        shown
    }
}
