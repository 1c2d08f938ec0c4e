//! Finds the separate file with a module's debug information: by its build id in the places that distributions use, and by
//! `.gnu_debuglink` there and beside the module.

use crate::companions::{Companion, Outcome, Search};
use crate::files::ElfFile;
use std::path::{Path, PathBuf};

const ROOT: &str = "/usr/lib/debug";

/// The debug information file of `main`, found by its build id or its `.gnu_debuglink`; `None` if `main` has DWARF itself, or if there is
/// no such file. Skips files of other builds. Adds the paths that it tried to `searches`.
pub(crate) fn separate_debug_file(main: &ElfFile, searches: &mut Vec<Search>) -> Option<ElfFile> {
    if main.has(".debug_info") {
        return None;
    }
    candidates(main).into_iter().find_map(|path| {
        if path == main.elf.path {
            return None;
        }
        let (outcome, file) = match debug_file_at(main, &path) {
            Ok(file) => (Outcome::Found, Some(file)),
            Err(outcome) => (outcome, None),
        };
        searches.push(Search {
            what: Companion::DebugFile,
            path,
            outcome,
        });
        file
    })
}

pub(crate) fn debug_file_at(main: &ElfFile, path: &Path) -> Result<ElfFile, Outcome> {
    let file = ElfFile::open_companion(path)?;
    match (&file.elf.build_id, &main.elf.build_id) {
        (Some(its), Some(wanted)) if its == wanted => {}
        (Some(_), Some(_)) => {
            let reason = "of another build: its build id is not the program's".to_owned();
            return Err(Outcome::Mismatched(reason));
        }
        // Computing the checksum reads the whole file, so it is only compared if one of the files has no build id.
        _ => check_link(main, &file)?,
    }
    if !file.has(".debug_info") && !file.has(".symtab") {
        let reason = "it has no debug information".to_owned();
        return Err(Outcome::Unusable(reason));
    }
    Ok(file)
}

fn check_link(main: &ElfFile, file: &ElfFile) -> Result<(), Outcome> {
    let mismatched = |reason| Err(Outcome::Mismatched(reason));
    let Some(link) = debug_link(main) else {
        return mismatched("nothing says that it is of the same build".to_owned());
    };
    let checksum = crc32fast::hash(&file.bytes);
    if checksum != link.checksum {
        return mismatched(format!(
            "of another build: its checksum is {checksum:08x}, wanted is {:08x}",
            link.checksum
        ));
    }
    Ok(())
}

fn candidates(main: &ElfFile) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    paths.extend(main.elf.build_id.as_deref().and_then(build_id_path));
    if let (Some(link), Some(folder)) = (debug_link(main), main.elf.path.parent()) {
        paths.push(folder.join(&link.name));
        paths.push(folder.join(".debug").join(&link.name));
        if let Ok(inside) = folder.strip_prefix("/") {
            paths.push(Path::new(ROOT).join(inside).join(&link.name));
        }
    }
    paths
}

/// The path at which distributions install the debug information of a build.
pub(crate) fn build_id_path(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = format!("{ROOT}/.build-id/{first:02x}/{rest}.debug");
    Some(PathBuf::from(path))
}

/// The path with symbolic links resolved; `None` if there is no such file.
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// The content of `.gnu_debuglink`: a zero-terminated file name and, at the next multiple of four, the CRC-32 of the
/// whole debug information file.
struct DebugLink {
    name: String,
    checksum: u32,
}

fn debug_link(main: &ElfFile) -> Option<DebugLink> {
    let section = main.elf.section(".gnu_debuglink")?;
    let bytes = main.bytes.get(section.file.clone())?;
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let name = std::str::from_utf8(&bytes[..end]).ok()?;
    let checksum = bytes.get((end + 1).next_multiple_of(4)..)?.first_chunk()?;
    (!name.is_empty() && !name.contains('/')).then(|| DebugLink {
        name: name.to_owned(),
        checksum: u32::from_le_bytes(*checksum),
    })
}
