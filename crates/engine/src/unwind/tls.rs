//! Where a thread's own variables are.

use crate::Address;
use crate::memory::Memory;
use crate::modules::{LoadedModule, Modules};

/// The farthest a static TLS block is taken to lie below the thread pointer.
const MAX_DISTANCE: u64 = 1 << 24;

/// The address of `offset` in `module`'s TLS block of the thread whose `fs` base is given.
///
/// The program's own block is the first entry of the thread's vector (glibc's `tcbhead_t.dtv`, entries of 16 bytes);
/// it lies right below the thread pointer (variant II of the ELF TLS layout), which is checked.
/// Other modules' numbers are known to the dynamic linker only, so they get `None`.
pub(super) fn address(
    module: &LoadedModule,
    fs_base: u64,
    offset: u64,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<Address> {
    if modules.iter().next()?.id != module.id {
        return None;
    }
    let vector = memory.read_u64(Address(fs_base.checked_add(8)?)).ok()?;
    let block = memory.read_u64(Address(vector.checked_add(16)?)).ok()?;
    let distance = fs_base.checked_sub(block)?;
    (distance <= MAX_DISTANCE && offset < distance).then(|| Address(block.wrapping_add(offset)))
}
