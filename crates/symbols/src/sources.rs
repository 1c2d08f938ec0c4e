//! Source files: what a module was compiled from, where that is on this machine, and whether it is still the same.
//!
//! The debug information has the paths of the machine that compiled. A [`PathMap`] leads from those to this one, and
//! the checksums of DWARF 5 tell a file that was changed since. Asking a module reads no source; only
//! [`PathMap::find`] and [`Source::check`] look at files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source file that a module's line tables name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path that the compiler saw: absolute where the compilation directory makes it so, normalised lexically.
    pub path: Arc<Path>,
    /// The MD5 of what was compiled (`DW_LNCT_MD5`, DWARF 5 §6.2.4.1); clang tells it. LLVM leaves out all of a
    /// unit's where one file has none, as in rustc's units.
    pub checksum: Option<[u8; 16]>,
}

/// How a source file on this machine compares to what was compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceStatus {
    /// Its checksum is that of what was compiled.
    Same,
    /// It isn't what was compiled: lines may be off.
    Changed,
    /// It isn't here, or can't be read.
    Missing,
    /// It is here; the debug information has no checksum to compare.
    Unknown,
}

/// A source file with where and in what state it is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedSource {
    /// The file on this machine; `None` where it is missing.
    pub found: Option<PathBuf>,
    /// How it compares.
    pub status: SourceStatus,
}

/// Where the compiler's paths are on this machine.
///
/// A path is tried in this order: the user's pairs, the first that fits; the standard library's path
/// (`/rustc/HASH/library/…`) in the Rust source that is installed; the path as it is.
#[derive(Debug, Clone, Default)]
pub struct PathMap {
    pairs: Vec<(PathBuf, PathBuf)>,
    rust_source: Option<PathBuf>,
}

impl PathMap {
    /// A map that leads every path to itself.
    pub fn new() -> PathMap {
        PathMap::default()
    }

    /// Adds a pair: what is below `from` in the debug information is below `to` here. Whole components count.
    /// Earlier pairs go first.
    #[must_use]
    pub fn with_pair(mut self, from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> PathMap {
        self.pairs.push((from.into(), to.into()));
        self
    }

    /// Says where Rust's source is: the folder that has `library`, in rustup's toolchains `lib/rustlib/src/rust`.
    /// It has to be the compiler's own version, which the checksums show.
    #[must_use]
    pub fn with_rust_source(mut self, folder: impl Into<PathBuf>) -> PathMap {
        self.rust_source = Some(folder.into());
        self
    }

    /// The paths that `path` may have here, best first; no file is looked at.
    pub fn candidates(&self, path: &Path) -> Vec<PathBuf> {
        let below = |path: &Path, from: &Path, to: &Path| {
            let rest = path.strip_prefix(from).ok()?;
            Some(match rest.as_os_str().is_empty() {
                true => to.to_owned(),
                false => to.join(rest),
            })
        };
        let mut candidates: Vec<PathBuf> = self
            .pairs
            .iter()
            .filter_map(|(from, to)| below(path, from, to))
            .collect();
        if let (Some(source), Some(rest)) = (&self.rust_source, in_rust_source(path)) {
            candidates.push(source.join(rest));
        }
        candidates.push(path.to_owned());
        candidates
    }

    /// The file on this machine: the first candidate that is one.
    pub fn find(&self, path: &Path) -> Option<PathBuf> {
        self.candidates(path)
            .into_iter()
            .find(|path| path.is_file())
    }
}

/// Whether a source file is a standard library's or the system's, by where the compilers have them.
pub fn is_library_source(file: &Path) -> bool {
    let text = file.to_string_lossy();
    text.starts_with("/rustc/")
        || text.starts_with("/usr/include/")
        || text.starts_with("/usr/lib/")
        || text.contains("/lib/rustlib/src/rust/library/")
        || text.contains("/sysdeps/")
        || text.contains("/libsanitizer/")
        || text.contains("/compiler-rt/lib/")
}

/// As [`is_library_source`], and those of packages that cargo has fetched (`~/.cargo/registry`, `~/.cargo/git`): whether
/// somebody else has written it, by where it is.
pub fn is_others_source(file: &Path) -> bool {
    // What the standard library is made with, as its compilers name it.
    const FETCHED: [&str; 3] = ["/rust/deps/", "/registry/src/", "/git/checkouts/"];
    let text = file.to_string_lossy();
    is_library_source(file) || FETCHED.iter().any(|folder| text.contains(folder))
}

/// What is behind `/rustc/HASH/`.
fn in_rust_source(path: &Path) -> Option<&Path> {
    rust_path(path).map(|(_, rest)| rest)
}

/// `/rustc/HASH/library/…` as hash and rest.
fn rust_path(path: &Path) -> Option<(&str, &Path)> {
    let rest = path.strip_prefix("/rustc").ok()?;
    let mut components = rest.components();
    let hash = components.next()?.as_os_str().to_str()?;
    let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    // A distribution's compiler has its version there.
    let is_version = hash.starts_with(|first: char| first.is_ascii_digit()) && hash.contains('.');
    (is_hash || is_version).then_some((hash, components.as_path()))
}

/// The source of the standard library that `sources` were compiled with, among rustup's toolchains
/// (`~/.rustup/toolchains`): that of the toolchain whose manifest names the compiler's commit. `None` where the program
/// has none of the library, or the component `rust-src` isn't installed.
pub fn installed_rust_source(toolchains: &Path, sources: &[Source]) -> Option<PathBuf> {
    /// Real ones have a megabyte or two.
    const LONGEST_MANIFEST: u64 = 64 << 20;
    let (hash, _) = sources.iter().find_map(|source| rust_path(&source.path))?;
    // `version = "1.95.0 (59807616e 2026-04-14)"`
    let commit = format!("({} ", hash.get(..9)?);
    let finder = memchr::memmem::Finder::new(commit.as_bytes());
    let mut toolchains: Vec<PathBuf> = std::fs::read_dir(toolchains)
        .ok()?
        .filter_map(|toolchain| Some(toolchain.ok()?.path()))
        .collect();
    toolchains.sort();
    toolchains.into_iter().find_map(|toolchain| {
        let library = toolchain.join("lib/rustlib");
        let source = library.join("src/rust");
        let manifest = library.join("multirust-channel-manifest.toml");
        if !source.join("library").is_dir() || manifest.metadata().ok()?.len() > LONGEST_MANIFEST {
            return None;
        }
        let manifest = std::fs::read(manifest).ok()?;
        finder.find(&manifest).is_some().then_some(source)
    })
}

/// Not mapped: editors shorten files while they write them.
pub(crate) fn md5_of(path: &Path) -> std::io::Result<[u8; 16]> {
    let mut context = md5::Context::new();
    std::io::copy(&mut File::open(path)?, &mut context)?;
    Ok(context.finalize().0)
}

impl Source {
    /// Finds the file on this machine and compares it with what was compiled. Reads all of it where there is a checksum.
    pub fn check(&self, map: &PathMap) -> CheckedSource {
        let missing = CheckedSource {
            found: None,
            status: SourceStatus::Missing,
        };
        let mut changed = None;
        // A candidate that is the same is better than an earlier one that is not.
        for path in map.candidates(&self.path) {
            if !path.is_file() {
                continue;
            }
            let status = match self.checksum {
                None => SourceStatus::Unknown,
                Some(checksum) => match md5_of(&path) {
                    Ok(found) if found == checksum => SourceStatus::Same,
                    Ok(_) => SourceStatus::Changed,
                    Err(_) => continue,
                },
            };
            let checked = CheckedSource {
                found: Some(path),
                status,
            };
            if status != SourceStatus::Changed {
                return checked;
            }
            changed.get_or_insert(checked);
        }
        changed.unwrap_or(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_mapped_by_whole_components() {
        let map = PathMap::new()
            .with_pair("/build/app", "/home/ada/app")
            .with_pair("/build", "/elsewhere")
            .with_rust_source("/rust/src");
        let first = |path: &str| map.candidates(Path::new(path)).remove(0);
        assert_eq!(
            first("/build/app/src/main.rs"),
            Path::new("/home/ada/app/src/main.rs")
        );
        assert_eq!(first("/build/apple.c"), Path::new("/elsewhere/apple.c"));
        assert_eq!(first("/build/app"), Path::new("/home/ada/app"));
        assert_eq!(first("/other/a.c"), Path::new("/other/a.c"));
        assert_eq!(
            first("/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/lib.rs"),
            Path::new("/rust/src/library/core/src/lib.rs")
        );
        assert_eq!(
            first("/rustc/1.85.0/library/core/src/lib.rs"),
            Path::new("/rust/src/library/core/src/lib.rs")
        );
        assert_eq!(first("/rustc/mine/a.rs"), Path::new("/rustc/mine/a.rs"));
    }

    #[test]
    fn library_sources_are_told_by_their_place() {
        assert!(is_library_source(Path::new(
            "/rustc/0123/library/core/src/option.rs"
        )));
        assert!(is_library_source(Path::new(
            "/usr/include/c++/12/bits/stl_vector.h"
        )));
        assert!(!is_library_source(Path::new(
            "/home/ada/project/src/main.rs"
        )));
    }
}
