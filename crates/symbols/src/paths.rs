//! Source paths as text: joining, normalising and comparing without asking the file system.

use std::path::{Component, Path, PathBuf};

/// Joins the parts and normalises the result. An absolute part discards the parts before it.
pub(crate) fn join(parts: &[&Path]) -> PathBuf {
    let mut joined = PathBuf::new();
    for part in parts {
        joined.push(part);
    }
    normalise(&joined)
}

/// Removes `.`, doubled slashes, and `..` with the folder before it. A `..` at the start of a relative path stays.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match normal.components().next_back() {
                Some(Component::Normal(_)) => {
                    normal.pop();
                }
                Some(Component::RootDir) => {}
                _ => normal.push(".."),
            },
            other => normal.push(other),
        }
    }
    normal
}

/// The number of components that the ends of both paths have in common.
pub(crate) fn common_suffix(one: &Path, other: &Path) -> usize {
    let normal = |component: &Component| matches!(component, Component::Normal(_));
    one.components()
        .rev()
        .zip(other.components().rev())
        .take_while(|(one, other)| one == other && normal(one))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join_lexically() {
        let cases: [(&[&str], &str); 6] = [
            (
                &["/home/ada/app", "src", "main.rs"],
                "/home/ada/app/src/main.rs",
            ),
            (&["/home/ada/app", "../lib", "./a.c"], "/home/ada/lib/a.c"),
            (
                &["/home/ada/app", "/usr/include", "stdio.h"],
                "/usr/include/stdio.h",
            ),
            (&["", "src", "main.c"], "src/main.c"),
            (&["", "..", "main.c"], "../main.c"),
            (&["/", "..", "main.c"], "/main.c"),
        ];
        for (parts, expected) in cases {
            let parts: Vec<&Path> = parts.iter().map(Path::new).collect();
            assert_eq!(join(&parts), Path::new(expected), "{parts:?}");
        }
    }

    #[test]
    fn suffixes_count_whole_components() {
        let count = |one: &str, other: &str| common_suffix(Path::new(one), Path::new(other));
        assert_eq!(count("/a/src/main.rs", "/b/src/main.rs"), 2);
        assert_eq!(count("/a/main.rs", "main.rs"), 1);
        assert_eq!(count("/a/main.rs", "ain.rs"), 0);
        assert_eq!(count("/main.rs", "/main.rs"), 1);
    }
}
