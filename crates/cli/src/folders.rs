//! The user's directories for this program's files.

use std::path::PathBuf;

/// The directory `dapple` for one kind of files: in the directory that the XDG `variable` names, if that path is absolute, else in
/// `fallback` below the home directory. `None` if HOME is no absolute path either.
pub fn user_directory(variable: &str, fallback: &str) -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let base = std::env::var_os(variable)
        .map(PathBuf::from)
        .and_then(absolute);
    let home = || {
        std::env::var_os("HOME")
            .map(PathBuf::from)
            .and_then(absolute)
    };
    Some(
        base.or_else(|| home().map(|home| home.join(fallback)))?
            .join("dapple"),
    )
}

/// `$XDG_CACHE_HOME/dapple/build` or `~/.cache/dapple/build`: programs compiled from one source file.
pub fn programs() -> Option<PathBuf> {
    Some(user_directory("XDG_CACHE_HOME", ".cache")?.join("build"))
}
