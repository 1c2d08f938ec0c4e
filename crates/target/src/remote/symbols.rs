//! The program's symbols, for stubs that ask for them: the servers of debug probes know the threads of an RTOS by its variables.

use dapple_gdb_remote::{Client, Error};
use object::{Object, ObjectSymbol};
use std::collections::HashMap;
use std::path::Path;

/// The largest program that is read for this, in bytes. One without an operating system is much smaller.
const LARGEST: u64 = 256 << 20;

/// Offers the symbols of a program that is where its file says. The file is read if the stub asks for one.
///
/// # Errors
/// The connection's. A stub that refuses has no use for them.
pub(super) fn offer(client: &mut Client, program: &Path) -> Result<(), Error> {
    let mut known: Option<HashMap<Vec<u8>, u64>> = None;
    let offered = client.offer_symbols(|name| {
        let known = known.get_or_insert_with(|| addresses(program).unwrap_or_default());
        known.get(name).copied()
    });
    match offered {
        Ok(_) | Err(Error::Stub { .. } | Error::Unexpected { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn addresses(program: &Path) -> Option<HashMap<Vec<u8>, u64>> {
    let size = std::fs::metadata(program).ok()?.len();
    let bytes = (size <= LARGEST).then(|| std::fs::read(program).ok())??;
    let file = object::File::parse(&*bytes).ok()?;
    let defined = file.symbols().filter(ObjectSymbol::is_definition);
    let named =
        defined.filter_map(|symbol| Some((symbol.name_bytes().ok()?.to_vec(), symbol.address())));
    Some(named.collect())
}
