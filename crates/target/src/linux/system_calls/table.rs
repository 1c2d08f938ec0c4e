//! All system calls by number, from the lists by subject.

use super::description::Description;
use super::{
    basics, events, file_calls, ipc, keys, mappings, process_calls, signal_calls, socket_calls,
    times,
};

/// The lists, each in the order of the numbers.
pub(super) const LISTS: [&[Description]; 10] = [
    file_calls::CALLS,
    socket_calls::CALLS,
    events::CALLS,
    mappings::CALLS,
    process_calls::CALLS,
    signal_calls::CALLS,
    times::CALLS,
    ipc::CALLS,
    keys::CALLS,
    basics::CALLS,
];

/// The description of the call with a number.
pub(super) fn find(number: u64) -> Option<&'static Description> {
    let number = u32::try_from(number).ok()?;
    LISTS.iter().find_map(|list| {
        let index = list.binary_search_by_key(&number, |call| call.number);
        index.ok().map(|index| &list[index])
    })
}
