//! System calls on the process's own memory map.

use super::description::Length::{Bits, LongElements, Pages};
use super::description::{Description, at, call, fixed, silent};
use super::kind::{self, Kind};

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    silent(9, "mmap").does(kind::maps),
    silent(10, "mprotect").does(kind::protects),
    silent(11, "munmap").does(kind::unmaps),
    silent(12, "brk").does(kind::breaks),
    silent(25, "mremap").does(kind::moves),
    silent(26, "msync"),
    call(27, "mincore", &[at(2, Pages(1))]),
    silent(28, "madvise").does(kind::advises),
    silent(149, "mlock"),
    silent(150, "munlock"),
    silent(151, "mlockall"),
    silent(152, "munlockall"),
    silent(216, "remap_file_pages").does(|_| Kind::NotRecordable("remap_file_pages")),
    silent(237, "mbind"),
    silent(238, "set_mempolicy"),
    call(239, "get_mempolicy", &[fixed(0, 4), at(1, Bits(2))]),
    silent(256, "migrate_pages"),
    // The state of each page, some of them even if the call fails.
    call(279, "move_pages", &[at(4, LongElements(4, 1)).always()]),
    silent(319, "memfd_create"),
    silent(324, "membarrier"),
    silent(325, "mlock2"),
    silent(329, "pkey_mprotect").does(kind::protects),
    silent(330, "pkey_alloc").does(|_| Kind::Registers),
    silent(331, "pkey_free"),
    silent(440, "process_madvise"),
    // A debugger can't read such memory.
    silent(447, "memfd_secret").does(|_| Kind::NotRecordable("memfd_secret")),
    silent(448, "process_mrelease"),
    silent(450, "set_mempolicy_home_node"),
    silent(453, "map_shadow_stack").does(kind::maps_shadow_stack),
    silent(462, "mseal"),
];
