//! Directories for sockets and scripts that only this user can enter. A directory is removed when its [`PrivateFolder`] is dropped.
//!
//! A debugger that is killed leaves its directories behind. So each directory is locked (flock(2)) while it is in use, and
//! [`remove_abandoned`] removes those of this user that no process has locked.

use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The prefix of the directories' names.
const PREFIX: &str = "dapple-";
/// How old an unlocked directory must be before it is removed although a process with the id in its name exists: that process may be
/// another one by now, or may be about to lock the directory.
const SETTLED: Duration = Duration::from_secs(60);

/// A directory that is removed with its contents when this is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    /// Open only to keep the lock.
    _locked: File,
}

impl PrivateFolder {
    /// Creates a directory.
    ///
    /// # Errors
    /// The directory can't be created or locked.
    pub fn new() -> io::Result<PrivateFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = base();
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700))?;
                    let _locked = File::open(&path)?;
                    _locked.try_lock_shared()?;
                    return Ok(PrivateFolder { path, _locked });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn base() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    own.filter(|base| base.is_absolute() && base.is_dir())
        .unwrap_or_else(std::env::temp_dir)
}

/// Removes directories of this user that debuggers left behind when they were killed.
pub fn remove_abandoned() {
    let Ok(entries) = std::fs::read_dir(base()) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let process = name.to_str().and_then(process_in);
        // The lock is kept during the removal, so that only one of two debuggers removes the directory.
        if let Some(process) = process
            && let Some(_locked) = abandoned(&entry.path(), process)
            && let Err(error) = std::fs::remove_dir_all(entry.path())
        {
            tracing::debug!(%error, path = %entry.path().display(), "an old folder stays");
        }
    }
}

/// The id of the process that created the directory, from its name; `None` if the name isn't that of a [`PrivateFolder`].
fn process_in(name: &str) -> Option<i32> {
    let (process, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Locks a directory that no debugger uses any more. `None` if a debugger may still use it, or if it is another user's.
fn abandoned(path: &Path, process: i32) -> Option<File> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    let own = rustix::process::geteuid().as_raw();
    if !metadata.is_dir() || metadata.uid() != own {
        return None;
    }
    let folder = File::open(path).ok()?;
    folder.try_lock().ok()?;
    let process = rustix::process::Pid::from_raw(process)?;
    let is_there = rustix::process::test_kill_process(process).is_ok();
    let age = metadata.modified().ok()?.elapsed().unwrap_or_default();
    (!is_there || age >= SETTLED).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_are_looked_at() {
        assert_eq!(process_in("dapple-4711-0"), Some(4711));
        for name in [
            "dapple-4711",
            "dapple-x-0",
            "dapple-1-x",
            "other-1-0",
            "dapple-1-0-2",
        ] {
            assert_eq!(process_in(name), None, "{name}");
        }
    }

    #[test]
    fn a_folder_in_use_is_not_abandoned_and_goes_with_its_user() {
        let folder = PrivateFolder::new().expect("a folder");
        let path = folder.path().to_owned();
        let mode = std::fs::metadata(&path).expect("it is there").mode();
        assert_eq!(mode & 0o777, 0o700);
        // A locked directory is in use, even if no process has the id in its name.
        assert!(abandoned(&path, i32::MAX).is_none());
        drop(folder);
        assert!(!path.exists());
    }
}
