//! Programs that are installed.

use std::path::{Path, PathBuf};

/// The file that the shell would run for a command, if there is one on the PATH.
pub fn on_path(command: &str) -> Option<PathBuf> {
    folders()
        .into_iter()
        .map(|folder| folder.join(command))
        .find(|file| is_executable(file))
}

/// The folders of the PATH.
pub fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).collect()
}

/// Whether this process may execute a file.
pub fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}
