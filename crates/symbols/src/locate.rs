//! Finding the separate file with a module's debug information, where distributions put it.

use crate::companions::{Companion, Outcome, Search};
use crate::files::ElfFile;
use std::path::{Path, PathBuf};

const ROOT: &str = "/usr/lib/debug";

/// The file with the debug information of `main`, by its build id or its `.gnu_debuglink`.
/// One that belongs to another build is passed over.
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

fn debug_file_at(main: &ElfFile, path: &Path) -> Result<ElfFile, Outcome> {
    let file = ElfFile::open_companion(path)?;
    if file.elf.build_id.is_some() && file.elf.build_id != main.elf.build_id {
        let reason = "of another build: its build id is not the program's".to_owned();
        return Err(Outcome::Mismatched(reason));
    }
    if !file.has(".debug_info") && !file.has(".symtab") {
        let reason = "it has no debug information".to_owned();
        return Err(Outcome::Unusable(reason));
    }
    Ok(file)
}

fn candidates(main: &ElfFile) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if let Some((first, rest)) = main.elf.build_id.as_deref().and_then(<[u8]>::split_first) {
        let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        paths.push(PathBuf::from(format!(
            "{ROOT}/.build-id/{first:02x}/{rest}.debug"
        )));
    }
    if let (Some(name), Some(folder)) = (debug_link(main), main.elf.path.parent()) {
        paths.push(folder.join(&name));
        paths.push(folder.join(".debug").join(&name));
        if let Ok(inside) = folder.strip_prefix("/") {
            paths.push(Path::new(ROOT).join(inside).join(&name));
        }
    }
    paths
}

/// The file name in `.gnu_debuglink`, up to its terminating zero.
fn debug_link(main: &ElfFile) -> Option<String> {
    let section = main.elf.section(".gnu_debuglink")?;
    let bytes = main.bytes.get(section.file.clone())?;
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let name = std::str::from_utf8(&bytes[..end]).ok()?;
    (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
}
