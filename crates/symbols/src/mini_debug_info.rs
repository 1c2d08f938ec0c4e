//! MiniDebugInfo: the symbol table that distributions leave in stripped files, as an ELF file compressed with xz in
//! the section `.gnu_debugdata` (GDB manual, "Debugging information in a special section").

use crate::elf::Elf;
use crate::files::ElfFile;
use crate::mapping::Bytes;
use lzma_rust2::XzReader;
use std::io::Read;

/// The limit of the inflated size, in bytes: more than the symbols of any known file.
const SIZE_LIMIT: u64 = 128 << 20;
/// xz's strongest presets need a dictionary of 64 MiB.
const MEMORY_LIMIT_KIB: u32 = 80 << 10;

pub(crate) const SECTION: &str = ".gnu_debugdata";

/// The ELF file inside `main`; `Ok(None)` if `main` has no such section. The error says why the section can't be used.
pub(crate) fn read(main: &ElfFile) -> Result<Option<ElfFile>, String> {
    let Some(section) = main.elf.section(SECTION) else {
        return Ok(None);
    };
    let compressed = main.bytes.get(section.file.clone()).unwrap_or(&[]);
    let mut bytes = Vec::new();
    XzReader::new_mem_limit(compressed, false, MEMORY_LIMIT_KIB)
        .take(SIZE_LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("the symbols in it can't be inflated: {error}"))?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(format!(
            "the symbols in it take more than {SIZE_LIMIT} bytes"
        ));
    }
    let elf = Elf::parse_companion(&main.elf.path, &bytes)
        .map_err(|error| format!("what is in it can't be read: {error}"))?;
    let file = ElfFile::new(Bytes::Owned(bytes.into_boxed_slice()), elf);
    Ok(Some(file))
}
