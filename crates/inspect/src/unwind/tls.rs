//! Finds thread-local variables.
//!
//! Each thread has a dynamic thread vector: the addresses of its TLS blocks, one a module ("ELF Handling For Thread-Local Storage", 2).
//! Its address is near the thread pointer (`tcbhead_t.dtv` of glibc). A module's index in the vector is in its `link_map`, at an
//! offset that glibc publishes for libthread_db(3) in a variable. musl publishes nothing, so there only the program's block is found.

use crate::Address;
use crate::modules::{LoadedModule, Modules};
use dapple_arch::{Machine, Memory};

/// The largest plausible distance of the program's block below the thread pointer, in bytes.
const MAX_DISTANCE: u64 = 1 << 24;
/// The largest plausible distance of the program's block behind the thread pointer: a block may be aligned to pages.
const MAX_ALIGNMENT: u64 = 1 << 16;
/// An upper bound of module numbers.
const MOST_MODULES: u64 = 1 << 20;
/// The program's index in the vector.
const PROGRAM: u64 = 1;

/// An upper bound of chained slot arrays: each has room for dozens of modules.
const MOST_LISTS: usize = 1 << 10;

const UNUSED: &str = "this thread has not used it yet";
const NOT_FOUND: &str = "the thread's local storage can't be found";

/// The address of `offset` in `module`'s TLS block of the thread with the thread pointer `thread`.
pub(super) fn address(
    module: &LoadedModule,
    thread: u64,
    offset: u64,
    modules: &Modules,
    memory: &dyn Memory,
) -> Result<Address, &'static str> {
    let word = |address: Option<u64>| memory.read_address(Address(address?)).ok();
    let machine = modules.machine();
    // An entry is the block's address, and the pointer to free the block by.
    let entry = 2 * memory.address_size();
    // That of a block that is not allocated until the thread uses a variable in it (`TLS_DTV_UNALLOCATED`).
    let unallocated = u64::MAX >> (64 - 8 * memory.address_size());
    let vector = word(place_of_vector(machine, thread)).ok_or(NOT_FOUND)?;
    let block_of = |number: u64| word(vector.checked_add(number * entry)).ok_or(NOT_FOUND);
    let block = if modules.iter().next().is_some_and(|it| it.id == module.id) {
        let block = block_of(PROGRAM)?;
        // On x86-64 the program's block ends at the thread pointer (variant II of the layout), on others it begins behind it (variant I). If it
        // doesn't, the word that was read is no vector's address.
        let is_there = match machine {
            Machine::X86_64 => {
                let distance = thread.wrapping_sub(block);
                distance <= MAX_DISTANCE && offset < distance
            }
            _ => block.wrapping_sub(thread) <= MAX_ALIGNMENT,
        };
        if !is_there {
            return Err(NOT_FOUND);
        }
        block
    } else {
        let number = number_of(module, modules, memory).ok_or(NOT_FOUND)?;
        // A thread updates its vector only when it uses a variable. Until then, the entry of a module that was loaded later is beyond the
        // vector's end, empty, or has the block of a module that has been unloaded. The vector's length is the entry before it.
        let length = word(vector.checked_sub(entry)).ok_or(NOT_FOUND)?;
        let generation = word(Some(vector)).ok_or(NOT_FOUND)?;
        let loaded = generation_of(module, number, modules, memory);
        if number > length || loaded.is_some_and(|loaded| loaded > generation) {
            return Err(UNUSED);
        }
        match block_of(number)? {
            0 => return Err(UNUSED),
            block if block == unallocated => return Err(UNUSED),
            block => block,
        }
    };
    block.checked_add(offset).map(Address).ok_or(NOT_FOUND)
}

/// Where a thread's control block has the vector's address: on aarch64 and arm at the thread pointer, on riscv64 the block is before it (`tcbhead_t` of
/// glibc).
fn place_of_vector(machine: Machine, thread: u64) -> Option<u64> {
    match machine {
        Machine::X86_64 => thread.checked_add(8),
        Machine::Aarch64 | Machine::Arm => Some(thread),
        Machine::Riscv64 => thread.checked_sub(16),
    }
}

/// A module's index in the vectors (`l_tls_modid`).
fn number_of(module: &LoadedModule, modules: &Modules, memory: &dyn Memory) -> Option<u64> {
    let field = modules.iter().find_map(|module| module.tls_fields())?;
    let number = memory.read_address(module.link_map?.offset(field.number.into()));
    let number = number.ok()?;
    (1..=MOST_MODULES).contains(&number).then_some(number)
}

/// The generation in which a module was given its number. It compares with a vector's first word. `None`: unknown.
///
/// The dynamic linker keeps the generations in chained arrays (`dtv_slotinfo_list`: length, next, and for each number the generation and
/// the `link_map`).
fn generation_of(
    module: &LoadedModule,
    number: u64,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<u64> {
    let size = memory.address_size();
    let word = |address: u64| memory.read_address(Address(address)).ok();
    let field = modules.iter().find_map(|module| module.tls_fields())?;
    let mut modules = modules.iter();
    let state = modules.find_map(|module| module.dynamic_linkers_state())?;
    let mut list = word(state.offset(field.slots?.into()).0)?;
    let mut index = number;
    for _ in 0..MOST_LISTS {
        let length = word(list)?;
        if index < length {
            let slot = list.checked_add(2 * size + 2 * size * index)?;
            let owner = word(slot.checked_add(size)?)?;
            let is_owner = Some(Address(owner)) == module.link_map;
            return is_owner.then(|| word(slot))?;
        }
        index -= length;
        list = word(list.checked_add(size)?)?;
    }
    None
}
