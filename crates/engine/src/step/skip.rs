//! The skip list: code that steps don't enter unless asked to.

use dapple_inspect::exceptions::pattern::matches;
use dapple_symbols::sources::{is_dependency_source, is_library_source};
use std::path::Path;

/// The pattern that stands for the standard libraries and the system's headers.
const STD: &str = "std";
/// The pattern that stands for the packages that cargo has fetched or vendored.
const DEPENDENCIES: &str = "dependencies";

/// The files and functions that steps do not enter. Steps do enter other code that skipped code calls. A step that starts in skipped
/// code works as in any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkipList {
    std: bool,
    dependencies: bool,
    third_party: ThirdParty,
    files: Vec<String>,
    functions: Vec<String>,
}

/// Patterns of source files that are others' code, as the user says. They count as dependencies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThirdParty {
    files: Vec<String>,
}

impl ThirdParty {
    /// Parses patterns of source files, as [`SkipList::parse`] does.
    ///
    /// # Errors
    /// A sentence that says what is wrong with which pattern.
    pub fn parse<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<ThirdParty, String> {
        let list = SkipList::parse(patterns)?;
        let other = list.functions.first().map(String::as_str);
        let other = other.or(list.std.then_some(STD));
        match other.or(list.dependencies.then_some(DEPENDENCIES)) {
            Some(other) => Err(format!(
                "`{other}` is no path: `*/{other}/*` is what is in a folder"
            )),
            None => Ok(ThirdParty { files: list.files }),
        }
    }

    /// Whether a source file is such code.
    pub fn has_file(&self, file: &Path) -> bool {
        has_file(&self.files, file)
    }
}

impl Default for SkipList {
    /// The standard libraries.
    fn default() -> SkipList {
        SkipList {
            std: true,
            dependencies: false,
            third_party: ThirdParty::default(),
            files: Vec::new(),
            functions: Vec::new(),
        }
    }
}

impl SkipList {
    /// Skips nothing.
    pub fn nothing() -> SkipList {
        SkipList {
            std: false,
            ..SkipList::default()
        }
    }

    /// The standard libraries and dependencies.
    pub fn others() -> SkipList {
        SkipList {
            dependencies: true,
            ..SkipList::default()
        }
    }

    /// Sets which code counts as dependencies, besides what cargo has fetched or vendored.
    #[must_use]
    pub fn with_third_party(self, third_party: ThirdParty) -> SkipList {
        SkipList {
            third_party,
            ..self
        }
    }

    /// Parses patterns with `*` for any text and `?` for one character. `std` stands for the standard libraries and the system's
    /// headers, `dependencies` for the packages that cargo has fetched or vendored. A pattern with a `/` or a `.` means source files, by the whole path or its end. Any other means functions, by the whole
    /// qualified name or its end, without template arguments. Only these are skipped: an empty list skips nothing.
    ///
    /// # Errors
    /// A sentence that says what is wrong with which pattern.
    pub fn parse<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<SkipList, String> {
        let mut list = SkipList::nothing();
        for pattern in patterns {
            let text = pattern.trim();
            if text.is_empty() {
                return Err("there is an empty pattern".into());
            }
            if text.contains(char::is_control) {
                return Err(format!("`{}` has a control character", text.escape_debug()));
            }
            if text == STD {
                list.std = true;
            } else if text == DEPENDENCIES {
                list.dependencies = true;
            } else if text.contains(['/', '.']) {
                list.files.push(text.to_owned());
            } else if let Some(bad) = text.chars().find(|c| "()[]{};,\"'\\".contains(*c)) {
                return Err(format!(
                    "`{text}` is neither a path nor a function's name: a name has no `{bad}`"
                ));
            } else {
                list.functions.push(text.to_owned());
            }
        }
        Ok(list)
    }

    /// Whether code of a source file is skipped.
    pub(super) fn has_file(&self, file: &Path) -> bool {
        if self.std && is_library_source(file) {
            return true;
        }
        self.dependencies && self.is_dependency(file) || has_file(&self.files, file)
    }

    /// Whether a source file is a dependency's.
    pub(super) fn is_dependency(&self, file: &Path) -> bool {
        is_dependency_source(file) || self.third_party.has_file(file)
    }

    /// Whether a function is skipped; `name` is its qualified name.
    pub(super) fn has_function(&self, name: &str) -> bool {
        if self.functions.is_empty() {
            return false;
        }
        let plain = without_arguments(name);
        let ends = plain.match_indices("::").map(|(at, _)| &plain[at + 2..]);
        let ends: Vec<&str> = ends.chain([&*plain, name]).collect();
        self.functions
            .iter()
            .any(|pattern| ends.iter().any(|end| matches(pattern, end)))
    }
}

/// Whether a pattern matches a file's path or its end.
fn has_file(patterns: &[String], file: &Path) -> bool {
    if patterns.is_empty() {
        return false;
    }
    let text = file.to_string_lossy();
    let ends = text.match_indices('/').map(|(at, _)| &text[at + 1..]);
    let ends: Vec<&str> = ends.chain([&*text]).collect();
    patterns
        .iter()
        .any(|pattern| ends.iter().any(|end| matches(pattern, end)))
}

/// A function's qualified name without what is in angle brackets; Rust's `<T as Trait>::f` becomes `T::f`.
fn without_arguments(name: &str) -> String {
    let name = match name.strip_prefix('<').and_then(|rest| {
        let (of, method) = rest.rsplit_once(">::")?;
        Some((of.split(" as ").next().unwrap_or(of), method))
    }) {
        Some((of, method)) => format!("{of}::{method}"),
        None => name.to_owned(),
    };
    let mut plain = String::with_capacity(name.len());
    let mut depth = 0_u32;
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    // Rust's `Vec::<T>::push` has both separators left.
    plain.replace("::::", "::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(patterns: &[&str]) -> SkipList {
        SkipList::parse(patterns.iter().copied()).expect("good patterns")
    }

    #[test]
    fn functions_are_meant_by_their_path_or_its_end() {
        let skip = list(&["my::*", "parse", "Guard::~Guard", "get_?"]);
        for name in [
            "my::deep::f",
            "other::my::f",
            "lib::parse",
            "parse<int>",
            "Guard::~Guard",
        ] {
            assert!(skip.has_function(name), "{name}");
        }
        assert!(skip.has_function("<lib::Thing<u8> as Trait>::get_x"));
        assert!(skip.has_function("alloc::my::Vec<T>::push"));
        for name in ["parser", "tommy::f", "get_xy", "main"] {
            assert!(!skip.has_function(name), "{name}");
        }
    }

    #[test]
    fn files_are_meant_by_their_path_or_its_end() {
        let skip = list(&["vendor/*", "*.h", "/opt/x.c"]);
        for file in ["/home/ada/vendor/a/b.c", "/home/ada/list.h", "/opt/x.c"] {
            assert!(skip.has_file(Path::new(file)), "{file}");
        }
        for file in [
            "/home/ada/main.c",
            "/home/ada/myvendor/b.c",
            "/usr/include/x.hpp",
        ] {
            assert!(!skip.has_file(Path::new(file)), "{file}");
        }
    }

    #[test]
    fn the_standard_libraries_are_skipped_unless_other_patterns_are_given() {
        let header = Path::new("/usr/include/c++/12/vector");
        assert!(SkipList::default().has_file(header));
        assert!(list(&["std", "my::*"]).has_file(header));
        assert!(!list(&[]).has_file(header));
        assert!(!list(&["my::*"]).has_file(header));
    }

    #[test]
    fn dependencies_are_those_that_cargo_has_fetched() {
        for file in [
            "/home/ada/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tokio-1.54.1/src/lib.rs",
            "/home/ada/.cargo/git/checkouts/serde-0bb2a2e5/1d7378e/src/lib.rs",
        ] {
            assert!(list(&["dependencies"]).has_file(Path::new(file)), "{file}");
            assert!(!list(&["std"]).has_file(Path::new(file)), "{file}");
        }
        let own = Path::new("/home/ada/app/vendor/mine/src/lib.rs");
        assert!(!list(&["dependencies"]).has_file(own));
    }

    #[test]
    fn third_parties_are_dependencies() {
        let third = ThirdParty::parse(["third_party/*"]).expect("a good pattern");
        let file = Path::new("/home/ada/app/third_party/zlib/inflate.c");
        assert!(third.has_file(file));
        let list = list(&["dependencies"]).with_third_party(third.clone());
        assert!(list.has_file(file));
        assert!(!SkipList::default().with_third_party(third).has_file(file));
        assert_eq!(
            ThirdParty::parse(["third_party"]).expect_err("no path"),
            "`third_party` is no path: `*/third_party/*` is what is in a folder"
        );
    }

    #[test]
    fn a_bad_pattern_is_named() {
        let error = |pattern: &str| SkipList::parse(["std", pattern]).expect_err("bad");
        assert_eq!(error(" "), "there is an empty pattern");
        assert_eq!(
            error("f(int)"),
            "`f(int)` is neither a path nor a function's name: a name has no `(`"
        );
        assert_eq!(error("a\0b"), "`a\\0b` has a control character");
    }
}
