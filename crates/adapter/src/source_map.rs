//! Where sources are for the client: a program may have been built in a folder, or on a machine, that isn't here.
//!
//! The debug information names files as the compiler was given them. The argument `sourceMap` says which folders of those names are
//! which here; everything the client is told of goes through it one way, and what the client names the other.

use crate::argument_values::{path, string, wrong};
use crate::source_files::source_exists;
use crate::to_dap;
use dapple_dap::server::ClientConventions;
use dapple_dap::types::Source;
use dapple_engine::session::stepping::is_library_source;
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// Folders of the debug information with what they are here; nothing, where their sources are not to be looked for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SourceMap {
    folders: Vec<(PathBuf, Option<PathBuf>)>,
}

impl SourceMap {
    /// Reads `{"/build": "/home/me/project", "/rustc": null}`, or `[["/build", "/home/me/project"]]` as lldb-dap has it.
    ///
    /// # Errors
    /// A sentence that names the entry.
    pub fn read(name: &str, value: &Value) -> Result<SourceMap, String> {
        let expected = "an object from folders of the debug information to folders here";
        let mut map = SourceMap::default();
        match value {
            Value::Object(entries) => {
                for (from, to) in entries {
                    let name = format!("{name}.{from}");
                    match to {
                        Value::Null => map.folders.push((plain(Path::new(from)), None)),
                        to => map.add(from, path(&name, to)?, &name)?,
                    }
                }
            }
            Value::Array(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    let name = format!("{name}[{index}]");
                    let Some([from, to]) = entry.as_array().map(Vec::as_slice) else {
                        return Err(wrong(&name, "a pair of folders", entry));
                    };
                    map.add(string(&name, from)?, path(&name, to)?, &name)?;
                }
            }
            other => return Err(wrong(name, expected, other)),
        }
        Ok(map)
    }

    fn add(&mut self, from: &str, to: Option<PathBuf>, name: &str) -> Result<(), String> {
        let Some(to) = to.filter(|_| !from.is_empty()) else {
            return Err(format!(
                "`{name}`: a folder has a name; `.` is for relative ones"
            ));
        };
        if !to.is_absolute() {
            return Err(format!(
                "`{name}`: {} is not an absolute path",
                to.display()
            ));
        }
        self.folders
            .push((plain(Path::new(from)), Some(plain(&to))));
        Ok(())
    }

    /// What a file of the debug information is here.
    pub fn here<'p>(&self, file: &'p Path) -> Cow<'p, Path> {
        match self.mapped(file) {
            Some((from, Some(to))) => moved(file, from, to),
            Some((_, None)) | None => Cow::Borrowed(file),
        }
    }

    /// What the debug information calls a file of the client's.
    pub fn in_debuggee<'p>(&self, file: &'p Path) -> Cow<'p, Path> {
        let folders = self.folders.iter();
        let folders = folders.filter_map(|(from, to)| Some((to.as_deref()?, from)));
        match longest(file, folders) {
            Some((to, from)) => moved(file, to, from),
            None => Cow::Borrowed(file),
        }
    }

    /// Where a file of the debug information is here, and whether it can be opened there. Where none of the folders is on this
    /// machine, the client is on another: what is in them only the client knows.
    pub fn locate(&self, file: &Path) -> (PathBuf, bool) {
        let here = self.here(file).into_owned();
        let exists = match self.mapped(file) {
            Some((_, None)) => false,
            Some((_, Some(_))) => source_exists(&here) || !self.has_folder_here(),
            None => source_exists(&here),
        };
        (here, exists)
    }

    fn has_folder_here(&self) -> bool {
        let mut here = self.folders.iter().filter_map(|(_, to)| to.as_deref());
        here.any(Path::is_dir)
    }

    /// The folder that counts for a file of the debug information, and what is here for it. Of several for one folder, the
    /// first that has the file; where none has, the last.
    fn mapped(&self, file: &Path) -> Option<(&Path, Option<&Path>)> {
        let folders = self.folders.iter();
        let (from, last) = longest(file, folders.map(|(from, to)| (&**from, to.as_deref())))?;
        let mut same = self.folders.iter().filter(|(other, _)| other == from);
        if same.clone().nth(1).is_none() {
            return Some((from, last));
        }
        let has_it = |to: &Path| moved(file, from, to).is_file();
        let found = same.find_map(|(_, to)| to.as_deref().filter(|to| has_it(to)));
        Some((from, found.or(last)))
    }

    /// A file of the debug information, as the client is told of it.
    pub fn source(&self, file: &Path, client: &ClientConventions) -> Source {
        let (here, exists) = self.locate(file);
        to_dap::source(&here, exists, client)
    }

    /// A file in a client's list of sources, with the MD5 of what was compiled, where that is known; before it, whether it is behind the
    /// user's own. `None`: one that no folder is known of, or without a name.
    pub fn listed(
        &self,
        file: &Path,
        md5: Option<[u8; 16]>,
        client: &ClientConventions,
    ) -> Option<(bool, Source)> {
        let (here, exists) = self.locate(file);
        if here.is_relative() || here.file_name().is_none() {
            return None;
        }
        let mut source = to_dap::source(&here, exists, client);
        source.checksums = md5.map(|md5| vec![to_dap::md5(md5)]);
        Some((!exists || is_library_source(file), source))
    }
}

/// A folder's path without what stands for nothing. All of a relative one may.
fn plain(folder: &Path) -> PathBuf {
    let parts = folder.components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

/// The longest of the folders that a file is in, with what stands beside it.
fn longest<'m, T>(
    file: &Path,
    folders: impl Iterator<Item = (&'m Path, T)>,
) -> Option<(&'m Path, T)> {
    let inside = |folder: &Path| match folder.as_os_str().is_empty() {
        true => file.is_relative(),
        false => file.starts_with(folder),
    };
    folders
        .filter(|(folder, _)| inside(folder))
        .max_by_key(|(folder, _)| folder.components().count())
}

/// A file of one folder in another.
fn moved<'p>(file: &'p Path, from: &Path, to: &Path) -> Cow<'p, Path> {
    match file.strip_prefix(from) {
        Ok(rest) => Cow::Owned(to.join(rest)),
        Err(_) => Cow::Borrowed(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> SourceMap {
        SourceMap::read("sourceMap", &value).expect("valid")
    }

    #[test]
    fn the_longest_folder_is_replaced_and_only_whole_names_count() {
        let map = map(json!({"/build/": "/home/me", "/build/lib": "/usr/src/lib"}));
        for (theirs, here) in [
            ("/build/a.c", "/home/me/a.c"),
            ("/build/lib/b.c", "/usr/src/lib/b.c"),
            ("/build/library/c.c", "/home/me/library/c.c"),
            ("/builds/d.c", "/builds/d.c"),
            ("e.c", "e.c"),
        ] {
            assert_eq!(map.here(Path::new(theirs)), Path::new(here));
            assert_eq!(map.in_debuggee(Path::new(here)), Path::new(theirs));
        }
    }

    #[test]
    fn of_two_folders_for_one_that_counts_which_has_the_file() {
        for both in [
            json!([["/build", "/usr/none"], ["/build", "/etc"]]),
            json!([["/build", "/etc"], ["/build", "/usr/none"]]),
        ] {
            let map = map(both);
            let (passwd, other) = (Path::new("/build/passwd"), Path::new("/build/no.c"));
            assert_eq!(map.here(passwd), Path::new("/etc/passwd"));
            assert!(!map.locate(other).1);
            assert_eq!(map.in_debuggee(Path::new("/etc/passwd")), passwd);
        }
    }

    #[test]
    fn relative_names_have_a_folder_too() {
        let map = map(json!([[".", "/home/me"]]));
        assert_eq!(
            map.here(Path::new("src/a.c")),
            Path::new("/home/me/src/a.c")
        );
        assert_eq!(
            map.in_debuggee(Path::new("/home/me/src/a.c")),
            Path::new("src/a.c")
        );
        assert_eq!(map.here(Path::new("/usr/b.c")), Path::new("/usr/b.c"));
    }

    #[test]
    fn a_folder_may_be_nowhere() {
        let map = map(json!({"/build": "/", "/build/bin": null}));
        assert_eq!(
            map.locate(Path::new("/build/etc/passwd")),
            ("/etc/passwd".into(), true)
        );
        let shell = Path::new("/build/bin/sh");
        assert_eq!(map.locate(shell), (shell.to_owned(), false));
        assert_eq!(
            map.in_debuggee(Path::new("/bin/sh")),
            Path::new("/build/bin/sh")
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (value, part) in [
            (json!("x"), "`sourceMap` must be an object"),
            (json!({"/a": 1}), "`sourceMap./a` must be a string"),
            (json!({"/a": ""}), "a folder has a name"),
            (json!({"/a": "b"}), "b is not an absolute path"),
            (json!([["/a"]]), "`sourceMap[0]` must be a pair of folders"),
        ] {
            let error = SourceMap::read("sourceMap", &value).expect_err("refused");
            assert!(error.contains(part), "{value}: {error}");
        }
    }
}
