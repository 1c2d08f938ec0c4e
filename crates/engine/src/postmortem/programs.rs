//! Finds where the files of a core file's process are now.
//!
//! This module decides in which order places are tried. The caller checks whether a file is the build that ran. A file that neither the
//! user (by path or name) nor the core file names must be proven to be that build.

use std::path::{Path, PathBuf};

/// What the kernel adds to the path of a file that is no longer there.
const DELETED: &str = " (deleted)";

/// What must be known of a file before it stands for the one that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// Its build id must be that of the build that ran.
    Needed,
    /// Its build id must not differ; it may have none. Enough for a file that the user (by path or name) or the core file names.
    Said,
}

/// The program that is looked for.
pub(super) struct Sought<'a> {
    /// What the user has given: a path or a name.
    pub(super) given: Option<&'a Path>,
    /// The path that it had when it ran.
    pub(super) was: Option<&'a Path>,
    pub(super) core: &'a Path,
}

/// Opens a file in place of the one that ran. `Err` says why that can't be done.
type Open<'a> = dyn FnMut(&Path, Proof) -> Result<(), String> + 'a;

impl Sought<'_> {
    /// Finds where the program is now, and opens it.
    pub(super) fn find(&self, open: &mut Open<'_>) -> Result<PathBuf, String> {
        match (self.given, self.was) {
            (Some(given), _) if is_name(given) => self.find_by_name(given, open),
            (Some(given), _) => open(given, Proof::Said).map(|()| given.to_owned()),
            (None, Some(was)) => {
                let why = match as_it_was(was, open) {
                    Ok(path) => return Ok(path),
                    Err(why) => why,
                };
                // Core files are often sent together with their program.
                let name = without_deleted(was).file_name().map(PathBuf::from);
                let beside = name.map(|name| self.beside(&name));
                match beside {
                    Some(beside) if open(&beside, Proof::Needed).is_ok() => Ok(beside),
                    _ => Err(format!("{why}; say where the program is (`program`)")),
                }
            }
            (None, None) => Err("it doesn't say what program it is of; name it (`program`)".into()),
        }
    }

    /// The first file of this name that `open` accepts. `Err`: why it refused the first one that exists, or that there is none.
    fn find_by_name(&self, name: &Path, open: &mut Open<'_>) -> Result<PathBuf, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = vec![name.to_owned()];
        let is_called = |was: &&Path| without_deleted(was).file_name() == name.file_name();
        places.extend(self.was.filter(is_called).map(without_deleted));
        places.push(self.beside(name));
        places.extend(std::env::split_paths(&path).map(|folder| folder.join(name)));
        let mut first = None;
        for place in places.into_iter().filter(|place| place.is_file()) {
            match open(&place, Proof::Said) {
                Ok(()) => return Ok(place),
                Err(why) => {
                    first.get_or_insert(why);
                }
            }
        }
        Err(first.unwrap_or_else(|| {
            format!(
                "no program `{}` is here, where it was when it ran, beside the core file or in PATH; give its path",
                name.display()
            )
        }))
    }

    fn beside(&self, name: &Path) -> PathBuf {
        self.core.parent().unwrap_or(Path::new("")).join(name)
    }
}

/// Opens a file that the process had mapped, at its path in the core file. If that fails and the path is marked as deleted, opens the
/// file that is at the path without the mark now; this one must be the same build.
pub(super) fn as_it_was(was: &Path, open: &mut Open<'_>) -> Result<PathBuf, String> {
    let why = match open(was, Proof::Said) {
        Ok(()) => return Ok(was.to_owned()),
        Err(why) => why,
    };
    let now = without_deleted(was);
    if now == was {
        return Err(why);
    }
    open(&now, Proof::Needed).map(|()| now)
}

/// Whether this is only a name, which has to be looked for.
fn is_name(path: &Path) -> bool {
    path.components().count() == 1 && path.file_name() == Some(path.as_os_str())
}

fn without_deleted(path: &Path) -> PathBuf {
    let text = path.to_str().and_then(|text| text.strip_suffix(DELETED));
    text.map_or_else(|| path.to_owned(), PathBuf::from)
}
