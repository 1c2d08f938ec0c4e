//! Supplementary files (DWARF 5 §7.3.6, and GNU's predecessor): `dwz` moves what several files have in common into one.
//!
//! A file refers to its supplementary file in `.gnu_debugaltlink` (by path and build id) or `.debug_sup` (by path and a
//! checksum, which the supplementary file repeats). The supplementary file is opened when the module's DWARF is first
//! needed, since any string or type may be in it.

use crate::companions::{Companion, Outcome};
use crate::dwarf::{Reader, Source, bytes_path};
use crate::files::{ElfFile, Files};
use crate::locate::{build_id_path, real_path};
use gimli::{EndianSlice, LittleEndian, Reader as _, SectionId};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file's reference to its supplementary file.
struct Link<'a> {
    path: &'a Path,
    id: &'a [u8],
    kind: LinkKind,
}

#[derive(Clone, Copy)]
enum LinkKind {
    /// `.gnu_debugaltlink`: the id is a build id.
    Gnu,
    /// `.debug_sup`.
    Standard,
}

/// Opens the supplementary file of a module's debug information, if it has one, and makes `sections` refer to it.
/// `None`: the module has none, or the file isn't found, which adds a warning.
pub(crate) fn open<'a>(
    files: &'a Files,
    sections: &mut gimli::Dwarf<Reader<'a>>,
) -> Option<Arc<Source<'a>>> {
    let user = files.with_dwarf();
    let link = link_of(files, user)?;
    let mut looked = Vec::new();
    for path in candidates(user, &link) {
        match open_at(files, &path, &link) {
            Ok(file) => {
                files.note(Companion::Supplementary, &path, Outcome::Found);
                let load = |id: SectionId| -> Result<Reader<'a>, gimli::Error> {
                    let data = files.companion_section(file, id.name());
                    Ok(EndianSlice::new(data, LittleEndian))
                };
                sections.load_sup(load).ok()?;
                return Some(Arc::new(Source::new(
                    gimli::Dwarf::load(load).ok()?,
                    &file.elf.path,
                )));
            }
            Err(outcome) => {
                looked.push(outcome.at(&path));
                files.note(Companion::Supplementary, &path, outcome);
            }
        }
    }
    let reason = format!(
        "parts of the debug information are in {}, which was looked for at {}",
        link.path.display(),
        looked.join(", ")
    );
    files.warn(files.malformed(link.kind.section(), 0, reason));
    None
}

impl LinkKind {
    fn section(self) -> &'static str {
        match self {
            LinkKind::Gnu => ".gnu_debugaltlink",
            LinkKind::Standard => ".debug_sup",
        }
    }
}

fn link_of<'a>(files: &'a Files, user: &'a ElfFile) -> Option<Link<'a>> {
    let gnu = files.companion_section(user, LinkKind::Gnu.section());
    if let Some(end) = gnu.iter().position(|&byte| byte == 0) {
        return Some(Link {
            path: bytes_path(&gnu[..end]),
            id: &gnu[end + 1..],
            kind: LinkKind::Gnu,
        });
    }
    let standard = files.companion_section(user, LinkKind::Standard.section());
    if standard.is_empty() {
        return None;
    }
    match read_sup(standard) {
        Some((false, path, id)) => Some(Link {
            path: bytes_path(path),
            id,
            kind: LinkKind::Standard,
        }),
        Some((true, ..)) => None,
        None => {
            files.warn(files.malformed(LinkKind::Standard.section(), 0, "it can't be read"));
            None
        }
    }
}

/// Decodes `.debug_sup`: whether the file itself is the supplementary one, the path, and the checksum.
fn read_sup(section: &[u8]) -> Option<(bool, &[u8], &[u8])> {
    let mut rest = EndianSlice::new(section, LittleEndian);
    let version = rest.read_u16().ok()?;
    let supplementary = rest.read_u8().ok()?;
    let path = rest.read_null_terminated_slice().ok()?;
    let length = usize::try_from(rest.read_uleb128().ok()?).ok()?;
    let checksum = rest.slice().get(..length)?;
    (version == 5).then_some((supplementary == 1, path.slice(), checksum))
}

fn candidates(user: &ElfFile, link: &Link<'_>) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    // Paths are relative to the real folder; files under `.build-id` are symbolic links.
    let real = real_path(&user.elf.path);
    for user in [real.as_deref(), Some(&*user.elf.path)] {
        if let Some(folder) = user.and_then(Path::parent) {
            let path = folder.join(link.path);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    if let LinkKind::Gnu = link.kind {
        paths.extend(build_id_path(link.id));
    }
    paths
}

fn open_at<'a>(files: &'a Files, path: &Path, link: &Link<'_>) -> Result<&'a ElfFile, Outcome> {
    let file = files.open(path)?;
    let id = match link.kind {
        LinkKind::Gnu => file.elf.build_id.as_deref(),
        LinkKind::Standard => {
            let section = files.companion_section(file, LinkKind::Standard.section());
            read_sup(section).map(|(_, _, checksum)| checksum)
        }
    };
    match id {
        Some(id) if id == link.id => Ok(file),
        Some(_) => Err(Outcome::Mismatched(
            "of another build: its id is not the wanted one".to_owned(),
        )),
        None => Err(Outcome::Unusable("it has no id".to_owned())),
    }
}
