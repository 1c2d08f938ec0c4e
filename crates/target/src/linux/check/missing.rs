//! Suggests the intended path when a file or directory is missing.

use crate::suggest::nearest;
use std::fs;
use std::path::{Path, PathBuf};

/// How many entries of a directory are compared.
const MOST_FILES: usize = 2000;

/// A message that says why there is no file; `asked` is the path as the user gave it, `path` the absolute one.
pub(super) fn why(asked: &Path, path: &Path) -> String {
    let text = asked.to_string_lossy();
    if let Some(folder) = first_missing(path) {
        return format!(
            "there is no such file; the folder {} does not exist",
            folder.display()
        );
    }
    if let Some(near) = similar(path, Path::is_file) {
        return format!("there is no such file; did you mean {}?", near.display());
    }
    let place = match path.parent() {
        Some(folder) if asked.is_relative() => format!(" in {}", folder.display()),
        _ => String::new(),
    };
    match command(&text) {
        Some(found) => format!(
            "there is no such file{place}; if you mean the command, give its whole path, {}",
            found.display()
        ),
        None => format!("there is no such file{place}"),
    }
}

/// A suffix for the message about a missing directory: what is missing of its path, or a similar name; empty if there is nothing to say.
pub(super) fn folder(asked: &Path) -> String {
    let Ok(path) = std::path::absolute(asked) else {
        return String::new();
    };
    if let Some(folder) = first_missing(&path) {
        return format!("; {} does not exist", folder.display());
    }
    similar(&path, Path::is_dir).map_or_else(String::new, |near| {
        format!("; did you mean {}?", near.display())
    })
}

/// The outermost missing parent directory of a path.
fn first_missing(path: &Path) -> Option<&Path> {
    let mut folders = path.ancestors().skip(1);
    let missing = folders.by_ref().take_while(|folder| !folder.is_dir());
    missing.last()
}

/// A sibling, file or directory as `is_one` requires, with a similar name.
fn similar(path: &Path, is_one: fn(&Path) -> bool) -> Option<PathBuf> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let entries = fs::read_dir(folder).ok()?.take(MOST_FILES);
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.filter(|name| is_one(&folder.join(name))).collect();
    nearest(name, names.iter().map(String::as_str)).map(|near| folder.join(near))
}

/// The path at which a shell would find a command.
fn command(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return None;
    }
    let folders = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}
