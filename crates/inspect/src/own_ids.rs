//! Where a thread finds its own id in memory: in a word near its thread pointer, which the C library keeps.
//!
//! glibc tells debuggers where (`nptl_db`): for the field of its thread descriptor, which begins at the thread pointer on x86-64, it has a
//! constant `_thread_db_pthread_tid` of three words: the field's size in bits, the number of its elements, and its offset in bytes. Other C
//! libraries tell nothing. Whether the word is a thread's id can be checked while the thread stands still: that of a thread that was made
//! without the library's help may be another thread's.

use crate::modules::Modules;
use crate::{Address, Memory, ThreadId};
use dapple_arch::registers::Registers;

/// The constant that describes the field.
const DESCRIPTION: &str = "_thread_db_pthread_tid";
/// The largest offset that is believed.
const MOST: u32 = 1 << 16;

/// The distance of a thread's id, a word of 4 bytes, from the thread pointer. `None`: the program's C library doesn't tell it.
pub fn distance(modules: &Modules, memory: &dyn Memory) -> Option<u64> {
    let address = modules.iter().find_map(|module| {
        let symbol = module.module.symbol_named(DESCRIPTION)?;
        Some(module.to_process(symbol.address))
    })?;
    let mut bytes = [0; 12];
    memory.read(address, &mut bytes).ok()?;
    let [bits, count, offset] = [0, 4, 8].map(|at| {
        let word = bytes[at..at + 4].try_into();
        word.map_or(0, u32::from_le_bytes)
    });
    ((bits, count) == (32, 1) && offset < MOST).then_some(offset.into())
}

/// Whether a thread has its id at a distance from its thread pointer.
pub fn has_own_id(
    thread: ThreadId,
    registers: &Registers,
    distance: u64,
    memory: &dyn Memory,
) -> bool {
    let Some(base) = registers.thread_pointer().filter(|base| *base != 0) else {
        return false;
    };
    let mut bytes = [0; 4];
    let address = Address(base.wrapping_add(distance));
    let ThreadId(id) = thread;
    memory.read(address, &mut bytes).is_ok() && i32::from_le_bytes(bytes) == id
}
