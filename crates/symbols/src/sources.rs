//! Source files: what a module was compiled from, where those files are on this machine, and whether they are unchanged.
//!
//! The debug information has paths of the machine that compiled. A [`PathMap`] maps them to paths on this machine. The
//! checksums of DWARF 5 show whether a file has changed since compilation. Only [`PathMap::find`], [`Source::check`], the
//! search for copies of a source ([`crate::source_copies`]) and the judgement whose code a source is access files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source file that a module's line tables name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path in the debug information, joined with the compilation directory and normalised lexically. Relative if that directory is
    /// unknown or relative itself.
    pub path: Arc<Path>,
    /// The MD5 of the compiled file (`DW_LNCT_MD5`, DWARF 5 §6.2.4.1); clang writes it. If LLVM has no checksum for one file
    /// of a unit, it writes none for the unit's other files either; that happens in rustc's units.
    pub checksum: Option<[u8; 16]>,
}

/// How a source file on this machine compares to what was compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceStatus {
    /// The checksums are equal.
    Same,
    /// The checksums differ: lines may be off.
    Changed,
    /// The file isn't on this machine, or can't be read.
    Missing,
    /// The file exists, but the debug information has no checksum to compare.
    Unknown,
}

/// The location and state of a source file on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedSource {
    /// The path on this machine; `None` if the file is missing or can't be read.
    pub found: Option<PathBuf>,
    /// How the file compares to what was compiled.
    pub status: SourceStatus,
}

/// Maps the paths that the compiler recorded to paths on this machine.
///
/// For a recorded path, these are tried in this order: the user's pairs, in order; for a path of the standard library
/// (`/rustc/HASH/library/…`), the installed Rust source; the recorded path itself.
#[derive(Debug, Clone, Default)]
pub struct PathMap {
    pairs: Vec<(PathBuf, PathBuf)>,
    rust_source: Option<PathBuf>,
}

impl PathMap {
    /// A map that leaves every path as it is.
    pub fn new() -> PathMap {
        PathMap::default()
    }

    /// Adds a pair: paths below `from` in the debug information are below `to` on this machine. Only whole components
    /// match. Earlier pairs take precedence.
    #[must_use]
    pub fn with_pair(mut self, from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> PathMap {
        self.pairs.push((from.into(), to.into()));
        self
    }

    /// Sets the folder of Rust's source: the one that contains `library`, in rustup's toolchains `lib/rustlib/src/rust`.
    /// The source must have the compiler's version; [`installed_rust_source`] finds such a folder.
    #[must_use]
    pub fn with_rust_source(mut self, folder: impl Into<PathBuf>) -> PathMap {
        self.rust_source = Some(folder.into());
        self
    }

    /// The paths on this machine that `path` may have, best first. Accesses no files.
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

    /// The path on this machine: the first candidate that is a file.
    pub fn find(&self, path: &Path) -> Option<PathBuf> {
        self.candidates(path)
            .into_iter()
            .find(|path| path.is_file())
    }
}

/// Whether a source file belongs to a standard library or the system, judged by its path.
pub fn is_library_source(file: &Path) -> bool {
    let text = file.to_string_lossy();
    text.starts_with("/rustc/")
        || text.starts_with("/usr/include/")
        || text.starts_with("/usr/lib/")
        || is_cross_header(&text)
        || text.contains("/lib/rustlib/src/rust/library/")
        || text.contains("/sysdeps/")
        || text.contains("/libsanitizer/")
        || text.contains("/compiler-rt/lib/")
}

/// Whether it is one of the headers for another processor, which Debian has in `/usr/TRIPLE/include`, such as `/usr/aarch64-linux-gnu/include`.
fn is_cross_header(file: &str) -> bool {
    let rest = file.strip_prefix("/usr/").unwrap_or_default();
    let mut parts = rest.split('/');
    let triple = parts.next().unwrap_or_default();
    triple.contains("-linux-") && parts.next() == Some("include")
}

/// Whether a source file is third-party code, judged by its path: [`is_library_source`] or [`is_dependency_source`].
pub fn is_others_source(file: &Path) -> bool {
    is_library_source(file) || is_dependency_source(file)
}

/// The folders into which cargo fetches sources, each with the number of folders between it and the package's.
const FETCHED: [(&str, usize); 3] = [
    // Dependencies of the standard library, in the paths of its official builds.
    ("/rust/deps/", 0),
    // Behind it comes the registry's name.
    ("/registry/src/", 1),
    ("/git/checkouts/", 0),
];

/// Whether a source file belongs to a package that was fetched by cargo (`~/.cargo/registry`, `~/.cargo/git`), judged by its path, or
/// is a copy made by `cargo vendor`. Looks for that copy's checksums.
pub fn is_dependency_source(file: &Path) -> bool {
    let text = file.to_string_lossy();
    FETCHED.iter().any(|(folder, _)| text.contains(folder)) || vendored(&text).is_some()
}

/// The folder of the package that `cargo vendor` has copied, in the path of one of its files. cargo puts a file with checksums beside
/// the `Cargo.toml` of each such package; other folders called `vendor` may have anybody's code.
fn vendored(file: &str) -> Option<&str> {
    const VENDOR: &str = "/vendor/";
    file.match_indices(VENDOR).find_map(|(at, _)| {
        let start = at + VENDOR.len();
        let (package, _) = file[start..].split_once('/')?;
        let folder = Path::new(&file[..start + package.len()]);
        let is_copy = folder.join(".cargo-checksum.json").is_file();
        is_copy.then_some(package)
    })
}

/// The folders of `/usr/include` with headers of the compiler, the C library and the kernel.
const STANDARD: [&str; 10] = [
    "c++",
    "bits",
    "sys",
    "gnu",
    "asm",
    "asm-generic",
    "linux",
    "arpa",
    "net",
    "netinet",
];

/// The library that has put a header into a folder of its own in `/usr/include`: `boost`. `None`: another file.
fn header_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("/usr/include/")?;
    let (first, behind) = rest.split_once('/')?;
    // Debian's folder for the processor: `x86_64-linux-gnu`.
    let (folder, _) = match first.contains("-linux-") {
        true => behind.split_once('/')?,
        false => (first, behind),
    };
    (!STANDARD.contains(&folder)).then_some(folder)
}

/// Whose code a source file is, for the user: the folder of an installed library's headers (`boost`), else `standard library`
/// ([`is_library_source`]), or the folder of a package that cargo has fetched or copied ([`is_dependency_source`]), `tokio-1.54.1`. `None`:
/// the user's own.
pub fn origin(file: &Path) -> Option<String> {
    let text = file.to_string_lossy();
    if is_library_source(file) {
        let library = header_of(&text).unwrap_or("standard library");
        return Some(library.to_owned());
    }
    FETCHED
        .iter()
        .find_map(|(folder, between)| {
            let (_, rest) = text.split_once(folder)?;
            let package = rest.split('/').nth(*between)?;
            Some(package.to_owned())
        })
        .or_else(|| vendored(&text).map(str::to_owned))
}

/// The part of the path behind `/rustc/HASH/`; `None` for other paths.
fn in_rust_source(path: &Path) -> Option<&Path> {
    rust_path(path).map(|(_, rest)| rest)
}

/// Splits `/rustc/HASH/library/…` into the hash (or a distribution's version) and the rest; `None` for other paths.
fn rust_path(path: &Path) -> Option<(&str, &Path)> {
    let rest = path.strip_prefix("/rustc").ok()?;
    let mut components = rest.components();
    let hash = components.next()?.as_os_str().to_str()?;
    let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Distributions' compilers have the version in place of the hash.
    let is_version = hash.starts_with(|first: char| first.is_ascii_digit()) && hash.contains('.');
    (is_hash || is_version).then_some((hash, components.as_path()))
}

/// The installed source of the standard library that `sources` were compiled with: in `toolchains`
/// (`~/.rustup/toolchains`), the source of the toolchain whose manifest names the compiler's commit. `None` if `sources`
/// has no file of the library with that commit in its path, or if no such toolchain has the component `rust-src`.
pub fn installed_rust_source(toolchains: &Path, sources: &[Source]) -> Option<PathBuf> {
    /// In bytes; real manifests have one or two megabytes.
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

/// The MD5 of a file. Reads instead of mapping, because editors truncate files while writing them.
pub(crate) fn md5_of(path: &Path) -> std::io::Result<[u8; 16]> {
    let mut context = md5::Context::new();
    std::io::copy(&mut File::open(path)?, &mut context)?;
    Ok(context.finalize().0)
}

impl Source {
    /// Finds the file on this machine and compares it with what was compiled. If there is a checksum, reads the candidates
    /// ([`PathMap::candidates`]) as a whole, up to the first unchanged one.
    pub fn check(&self, map: &PathMap) -> CheckedSource {
        let missing = CheckedSource {
            found: None,
            status: SourceStatus::Missing,
        };
        let mut changed = None;
        // A later candidate that is unchanged wins over an earlier one that has changed.
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
    fn headers_of_an_installed_library_are_that_librarys() {
        let standard = "standard library";
        for (file, expected) in [
            ("/usr/include/boost/asio/io_context.hpp", "boost"),
            ("/usr/include/x86_64-linux-gnu/qt5/QtCore/qlist.h", "qt5"),
            ("/usr/include/c++/12/bits/stl_vector.h", standard),
            ("/usr/include/x86_64-linux-gnu/c++/12/bits/gthr.h", standard),
            ("/usr/include/x86_64-linux-gnu/bits/stdio.h", standard),
            ("/usr/include/stdlib.h", standard),
        ] {
            assert_eq!(origin(Path::new(file)).as_deref(), Some(expected), "{file}");
        }
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
