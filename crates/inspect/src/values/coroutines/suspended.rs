//! The variables of a suspended coroutine as its body has them, and a C++ coroutine's frame in a call stack.
//!
//! The debug information tells where variables are while the body runs: they are found through the body's pointer to the coroutine's state,
//! which is in a slot of the stack. A suspended coroutine has no stack. So its variables are located as on a stack that can't exist, in
//! which the slot is the only memory. What is located on that stack itself isn't kept while the coroutine is suspended. In optimised code,
//! where the pointer is in a register, variables have no value.

use super::Activation;
use crate::Address;
use crate::frame::{Frame, FrameId, FrameKind, Suspended, nowhere};
use crate::modules::LoadedModule;
use crate::values::{Contents, NamedValue, Reader};
use dapple_arch::Memory;
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// The canonical frame address of the stack that can't exist: the processor knows no such address.
const STACK: u64 = 1 << 60;
/// How large that stack is in both directions, in bytes.
const SIZE: u64 = 1 << 24;
/// The distance from the canonical frame address to the frame pointer: the return address and the caller's frame pointer are between.
const TO_FRAME_POINTER: u64 = 16;

fn is_on_stack(address: Address) -> bool {
    (STACK - SIZE..STACK + SIZE).contains(&address.0)
}

/// The memory, and the one slot of the stack.
struct WithSlot<'a> {
    memory: &'a dyn Memory,
    /// What is in the slot: the address of the coroutine's state.
    state: Address,
    /// Where the slot is. `None`: not known yet, everywhere on the stack.
    slot: Option<Address>,
    /// The last address on the stack that was read.
    read: Cell<Option<Address>>,
}

impl<'a> WithSlot<'a> {
    fn anywhere(memory: &'a dyn Memory, state: Address) -> WithSlot<'a> {
        WithSlot {
            memory,
            state,
            slot: None,
            read: Cell::new(None),
        }
    }
}

impl Memory for WithSlot<'_> {
    fn address_size(&self) -> u64 {
        self.memory.address_size()
    }

    fn read(&self, address: Address, bytes: &mut [u8]) -> Result<(), Address> {
        if !is_on_stack(address) {
            return self.memory.read(address, bytes);
        }
        let is_slot = self.slot.is_none_or(|slot| slot == address);
        if !is_slot || bytes.len() as u64 != self.address_size() {
            return Err(address);
        }
        bytes.copy_from_slice(&self.state.0.to_le_bytes()[..bytes.len()]);
        self.read.set(Some(address));
        Ok(())
    }
}

/// The frame of a suspended coroutine in a call stack; without a position if it isn't known where it is suspended. `None`: it has ended.
pub(crate) fn frame(reader: &Reader<'_>, coroutine: &Activation, id: FrameId) -> Option<Frame> {
    let cpp = coroutine.frame.as_ref()?;
    if !cpp.is_resumable(coroutine.state, reader.memory) {
        return None;
    }
    let module = cpp.module();
    let suspension = coroutine.suspension(reader.memory);
    let code = suspension.and_then(|suspension| suspension.code);
    let code = code.unwrap_or_else(|| module.to_file(cpp.resume));
    let known = module.module.cpp_coroutine_at(code)?;
    let mut physical = nowhere(module);
    physical.lookup = module.to_process(code);
    let suspended = Suspended {
        state: coroutine.state,
        type_id: known.frame.as_ref()?.type_id?,
    };
    Some(Frame {
        id,
        physical: physical.into(),
        inline_depth: 0,
        function: Some(coroutine.function.clone()),
        position: suspension.and_then(|suspension| suspension.place.clone()),
        language: Language::Cpp,
        kind: FrameKind::Suspended(Arc::new(suspended)),
    })
}

/// The variables of the C++ coroutine whose own frame is at `state`.
pub(super) fn variables(
    reader: &Reader<'_>,
    loaded: &Arc<LoadedModule>,
    frame: &Frame,
    state: Address,
) -> Vec<NamedValue> {
    let lookup = loaded.to_file(frame.physical.lookup);
    let Some(coroutine) = loaded.module.cpp_coroutine_at(lookup) else {
        return Vec::new();
    };
    let Some(pointer) = &coroutine.frame else {
        return Vec::new();
    };
    let running = running(frame, frame.physical.lookup);
    let anywhere = WithSlot::anywhere(reader.memory, state);
    let located = reader.over(&anywhere).variable(pointer, loaded, &running);
    let slot = match coroutine.points_to_frame {
        true => located.value.contents.address(),
        false => anywhere.read.get(),
    };
    let Some(slot) = slot.filter(|slot| is_on_stack(*slot)) else {
        return Vec::new();
    };
    let memory = WithSlot {
        slot: Some(slot),
        ..anywhere
    };
    let mut variables = reader.over(&memory).variables(&running);
    for variable in &mut variables {
        let contents = &mut variable.value.contents;
        if contents.address().is_some_and(is_on_stack) {
            *contents = Contents::Unavailable(Unavailable::NotKept);
        }
    }
    variables
}

/// The variables that the Rust coroutine with this state keeps in it, at an address of its body. rustc has the pointer in several slots, so
/// the bounds of the state tell what is found through it.
pub(super) fn rust_variables(
    reader: &Reader<'_>,
    module: &Arc<LoadedModule>,
    state: Range<Address>,
    code: Address,
) -> Vec<NamedValue> {
    let memory = WithSlot::anywhere(reader.memory, state.start);
    let frame = Frame::detached(nowhere(module), Language::Rust);
    let variables = reader.over(&memory).variables(&running(&frame, code));
    let is_kept = |variable: &NamedValue| {
        let address = variable.value.contents.address();
        address.is_some_and(|address| state.contains(&address))
    };
    variables.into_iter().filter(is_kept).collect()
}

/// A frame of the coroutine as if its body ran at an address, on the stack that can't exist.
fn running(frame: &Frame, code: Address) -> Frame {
    let mut physical = (*frame.physical).clone();
    physical.lookup = code;
    physical.cfa = Some(Address(STACK));
    physical.registers.set_fp(Some(STACK - TO_FRAME_POINTER));
    physical.registers.set_sp(Some(STACK - SIZE / 2));
    Frame {
        kind: FrameKind::Call,
        physical: physical.into(),
        ..frame.clone()
    }
}
