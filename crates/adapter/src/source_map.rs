//! Maps source paths between the debug information and this machine (`sourceMap`).
//!
//! The debug information has the paths of the machine that built the program. Paths for the client are mapped to this machine, and paths from
//! the client are mapped back.

use crate::argument_values::{path, string, wrong};
use crate::far_sources::FarSources;
use crate::source_files::source_exists;
use crate::to_dap;
use dapple_dap::server::ClientConventions;
use dapple_dap::types::Source;
use dapple_engine::session::stepping;
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Pairs of folders: in the debug information, and on this machine. `None`: sources in the folder are not looked for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SourceMap {
    folders: Vec<(PathBuf, Option<PathBuf>)>,
    far: Far,
}

/// The files that a client on another machine gets by reference; `None`: the client is on this machine.
#[derive(Debug, Default, Clone)]
struct Far(Option<Arc<FarSources>>);

impl PartialEq for Far {
    /// Which files were given out is no part of what the user has mapped.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Far {}

impl SourceMap {
    /// Reads `{"/build": "/home/me/project", "/rustc": null}`, or `[["/build", "/home/me/project"]]` as in lldb-dap.
    ///
    /// # Errors
    /// A message that names the invalid entry.
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

    /// The same folders, for a client on another machine if there is `far`: they are folders there.
    pub fn for_client(self, far: Option<Arc<FarSources>>) -> SourceMap {
        SourceMap {
            far: Far(far),
            ..self
        }
    }

    /// The `sourceReference` of a file in the debug information, which a client on another machine gets beside its path.
    pub fn reference(&self, file: &Path) -> Option<i64> {
        let far = self.far.0.as_ref()?;
        let is_ours = self.mapped(file).is_none() && source_exists(file);
        is_ours.then(|| far.reference(file)).flatten()
    }

    /// The file on this machine that a client on another one knows by a reference.
    pub fn far_file(&self, reference: i64) -> Option<PathBuf> {
        self.far.0.as_ref()?.file(reference)
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

    /// The path on this machine of a file in the debug information; the same path if no mapping applies.
    pub fn here<'p>(&self, file: &'p Path) -> Cow<'p, Path> {
        match self.mapped(file) {
            Some((from, Some(to))) => moved(file, from, to),
            Some((_, None)) | None => Cow::Borrowed(file),
        }
    }

    /// The path in the debug information of a file on this machine; the same path if no mapping applies.
    pub fn in_debuggee<'p>(&self, file: &'p Path) -> Cow<'p, Path> {
        let folders = self.folders.iter();
        let folders = folders.filter_map(|(from, to)| Some((to.as_deref()?, from)));
        match longest(file, folders) {
            Some((to, from)) => moved(file, to, from),
            None => Cow::Borrowed(file),
        }
    }

    /// The path on this machine of a file in the debug information, and whether it can be opened. If none of the mapped folders exists here, the
    /// client is on another machine, and files in mapped folders are taken to exist there.
    pub fn locate(&self, file: &Path) -> (PathBuf, bool) {
        let here = self.here(file).into_owned();
        let exists = match self.mapped(file) {
            Some((_, None)) => false,
            Some((_, Some(_))) => {
                self.far.0.is_some() || source_exists(&here) || !self.has_folder_here()
            }
            None => source_exists(&here),
        };
        (here, exists)
    }

    fn has_folder_here(&self) -> bool {
        let mut here = self.folders.iter().filter_map(|(_, to)| to.as_deref());
        here.any(Path::is_dir)
    }

    /// The mapping that applies to a file in the debug information. Of several for the same folder, the first whose target has the file wins, else
    /// the last.
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

    /// A file in the debug information as a source in the protocol.
    pub fn source(&self, file: &Path, client: &ClientConventions) -> Source {
        let (here, exists) = self.locate(file);
        let mut source = to_dap::source(&here, exists, client);
        source.source_reference = self.reference(file);
        source
    }

    /// A file as an entry of `loadedSources`, with the MD5 of the compiled file if known. The boolean says whether it is listed after the user's own
    /// files. `None`: a file without a known folder or name.
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
        source.source_reference = self.reference(file);
        source.checksums = md5.map(|md5| vec![to_dap::md5(md5)]);
        source.origin = stepping::origin(file);
        Some((!exists || source.origin.is_some(), source))
    }
}

/// A folder without `.` components. A relative one may become empty.
fn plain(folder: &Path) -> PathBuf {
    let parts = folder.components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

/// The pair whose folder contains a file. Of several such pairs, the one with the longest folder.
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

/// The path of a file with its folder `from` replaced by `to`.
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
