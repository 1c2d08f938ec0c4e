//! Numbers for things, and the client's way to write places.
//!
//! [`References`] hands out the integers by which a client names frames, variables and the like. A number is never used
//! for two things in one session, so a stale one is told from a wrong one and never means something else.
//! [`ClientConventions`] converts lines, columns and paths between the client's conventions and ours.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::types::{InitializeRequestArguments, InitializeRequestArgumentsPathFormat};

/// Why a reference names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It named something until the debuggee was resumed.
    #[error("reference {0} is stale: the debuggee ran since it was given out")]
    Stale(i64),
    /// It was never given out.
    #[error("there is no reference {0}")]
    Unknown(i64),
}

/// A table of things that a client names by number: greater than 0, at most `i32::MAX`, ascending.
///
/// ```
/// use dapple_dap::server::{ReferenceError, References};
///
/// let mut frames = References::new();
/// let main = frames.insert("main")?;
/// assert_eq!(frames.get(main), Ok(&"main"));
/// frames.clear_generation();
/// assert_eq!(frames.get(main), Err(ReferenceError::Stale(main)));
/// assert_eq!(frames.get(77), Err(ReferenceError::Unknown(77)));
/// # Ok::<(), dapple_dap::server::Exhausted>(())
/// ```
#[derive(Debug, Clone)]
pub struct References<T> {
    /// Things of this stop, `first..first + current.len()` by number, with gaps where a lasting one was inserted.
    current: HashMap<i64, T>,
    /// Things that outlive a resume.
    lasting: HashMap<i64, T>,
    last: i64,
}

/// All numbers of a session are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "all {} references of this session are used up; start a new session",
    i32::MAX
)]
pub struct Exhausted;

impl<T> Default for References<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> References<T> {
    /// An empty table.
    pub fn new() -> Self {
        Self {
            current: HashMap::new(),
            lasting: HashMap::new(),
            last: 0,
        }
    }

    /// Adds a thing that lives until [`clear_generation`](Self::clear_generation).
    ///
    /// # Errors
    /// No number is left.
    pub fn insert(&mut self, thing: T) -> Result<i64, Exhausted> {
        let reference = self.next()?;
        self.current.insert(reference, thing);
        Ok(reference)
    }

    /// Adds a thing that lives until the table is dropped.
    ///
    /// # Errors
    /// No number is left.
    pub fn insert_lasting(&mut self, thing: T) -> Result<i64, Exhausted> {
        let reference = self.next()?;
        self.lasting.insert(reference, thing);
        Ok(reference)
    }

    /// What a reference names.
    ///
    /// # Errors
    /// It names nothing any more, or never did.
    pub fn get(&self, reference: i64) -> Result<&T, ReferenceError> {
        self.current
            .get(&reference)
            .or_else(|| self.lasting.get(&reference))
            .ok_or_else(|| self.missing(reference))
    }

    /// As [`get`](Self::get), to change it.
    ///
    /// # Errors
    /// It names nothing any more, or never did.
    pub fn get_mut(&mut self, reference: i64) -> Result<&mut T, ReferenceError> {
        let missing = self.missing(reference);
        self.current
            .get_mut(&reference)
            .or_else(|| self.lasting.get_mut(&reference))
            .ok_or(missing)
    }

    /// Drops all things but the lasting ones: the debuggee is resumed.
    pub fn clear_generation(&mut self) {
        self.current.clear();
    }

    /// How many references name something.
    pub fn len(&self) -> usize {
        self.current.len() + self.lasting.len()
    }

    /// True if no reference names anything.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn missing(&self, reference: i64) -> ReferenceError {
        if (1..=self.last).contains(&reference) {
            ReferenceError::Stale(reference)
        } else {
            ReferenceError::Unknown(reference)
        }
    }

    fn next(&mut self) -> Result<i64, Exhausted> {
        if self.last >= i64::from(i32::MAX) {
            return Err(Exhausted);
        }
        self.last += 1;
        Ok(self.last)
    }
}

/// How the client counts lines and columns and names files. Here lines and columns count from 1 and files are named by
/// path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientConventions {
    /// Its first line is 1, not 0.
    pub lines_start_at_1: bool,
    /// Its first column is 1, not 0.
    pub columns_start_at_1: bool,
    /// How it names files.
    pub path_format: PathFormat,
}

/// How a client names files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathFormat {
    /// By path.
    #[default]
    Path,
    /// By URI, such as `file:///home/me/a%20b.c`.
    Uri,
}

impl Default for ClientConventions {
    fn default() -> Self {
        Self {
            lines_start_at_1: true,
            columns_start_at_1: true,
            path_format: PathFormat::Path,
        }
    }
}

impl ClientConventions {
    /// The conventions that a client announced.
    pub fn of(client: &InitializeRequestArguments) -> Self {
        Self {
            lines_start_at_1: client.lines_start_at1.unwrap_or(true),
            columns_start_at_1: client.columns_start_at1.unwrap_or(true),
            path_format: match client.path_format {
                Some(InitializeRequestArgumentsPathFormat::Uri) => PathFormat::Uri,
                _ => PathFormat::Path,
            },
        }
    }

    /// A line of ours, for the client.
    pub fn line_to_client(&self, line: i64) -> i64 {
        if self.lines_start_at_1 {
            line
        } else {
            line.saturating_sub(1)
        }
    }

    /// A line of the client's, for us.
    pub fn line_from_client(&self, line: i64) -> i64 {
        if self.lines_start_at_1 {
            line
        } else {
            line.saturating_add(1)
        }
    }

    /// A column of ours, for the client.
    pub fn column_to_client(&self, column: i64) -> i64 {
        if self.columns_start_at_1 {
            column
        } else {
            column.saturating_sub(1)
        }
    }

    /// A column of the client's, for us.
    pub fn column_from_client(&self, column: i64) -> i64 {
        if self.columns_start_at_1 {
            column
        } else {
            column.saturating_add(1)
        }
    }

    /// A path of ours, for the client. A path that is not UTF-8 loses what is not, unless the client takes URIs.
    pub fn path_to_client(&self, path: &Path) -> String {
        match self.path_format {
            PathFormat::Path => path.to_string_lossy().into_owned(),
            PathFormat::Uri => path_to_uri(path),
        }
    }

    /// A path of the client's, for us. `file://` URIs are understood whatever was announced.
    pub fn path_from_client(&self, text: &str) -> PathBuf {
        uri_to_path(text).unwrap_or_else(|| PathBuf::from(text))
    }
}

/// The path of a `file:` URI on this machine; `None` for anything else.
pub fn uri_to_path(text: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let scheme = text.get(..5)?;
    if !scheme.eq_ignore_ascii_case("file:") {
        return None;
    }
    let rest = &text[5..];
    let path = match rest.strip_prefix("//") {
        Some(authority) => {
            let slash = authority.find('/')?;
            let (host, path) = authority.split_at(slash);
            if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
                return None;
            }
            path
        }
        None => rest,
    };
    if !path.starts_with('/') {
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or(path);
    Some(PathBuf::from(std::ffi::OsString::from_vec(percent_decode(
        path.as_bytes(),
    ))))
}

/// Decodes `%20` and the like. What is no two hexadecimal digits stays as it is.
fn percent_decode(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match (text[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                // Two digits below 16 make a byte.
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    bytes
}

/// The `file:` URI of an absolute path. A relative path has none and is given as it is.
pub fn path_to_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    if !path.is_absolute() {
        return path.to_string_lossy().into_owned();
    }
    let mut uri = "file://".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        // Unreserved characters and the slash, RFC 3986 §2.3.
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lasting_reference_survives_a_resume_and_numbers_are_not_used_again() {
        let mut table = References::new();
        let [passing, lasting] =
            [table.insert("a"), table.insert_lasting("b")].map(|result| result.expect("room"));
        table.clear_generation();
        assert_eq!(table.get(lasting), Ok(&"b"));
        assert_eq!(table.get_mut(passing), Err(ReferenceError::Stale(passing)));
        assert!(table.insert("c").expect("room") > lasting);
        for unknown in [0, -1, 99, i64::MAX, i64::MIN] {
            assert_eq!(table.get(unknown), Err(ReferenceError::Unknown(unknown)));
        }
    }

    #[test]
    fn references_end_at_the_largest_number_clients_take() {
        let mut table = References {
            last: i64::from(i32::MAX) - 1,
            ..References::new()
        };
        assert_eq!(table.insert(()), Ok(i64::from(i32::MAX)));
        assert_eq!(table.insert(()), Err(Exhausted));
        assert_eq!(table.insert_lasting(()), Err(Exhausted));
    }

    #[test]
    fn uris_become_paths_and_back() {
        let path = Path::new("/home/me/a b%20ü.c");
        assert_eq!(path_to_uri(path), "file:///home/me/a%20b%2520%C3%BC.c");
        assert_eq!(uri_to_path(&path_to_uri(path)).as_deref(), Some(path));
        assert_eq!(uri_to_path("FILE://localhost/a%2fb"), Some("/a/b".into()));
        assert_eq!(uri_to_path("file:/a%zz%4"), Some("/a%zz%4".into()));
        for other in [
            "/a/b",
            "file",
            "file:",
            "file:a",
            "file://host/a",
            "http://a/b",
            "fileé:/a",
            "",
        ] {
            assert_eq!(uri_to_path(other), None, "{other}");
        }
    }

    #[test]
    fn a_client_that_counts_from_zero_gets_what_it_expects() {
        let client = ClientConventions {
            lines_start_at_1: false,
            columns_start_at_1: false,
            path_format: PathFormat::Uri,
        };
        assert_eq!(
            (client.line_from_client(0), client.line_to_client(1)),
            (1, 0)
        );
        assert_eq!(
            (client.column_from_client(4), client.column_to_client(5)),
            (5, 4)
        );
        assert_eq!(client.path_to_client(Path::new("/a b")), "file:///a%20b");
        assert_eq!(client.line_from_client(i64::MAX), i64::MAX);
        assert_eq!(
            ClientConventions::default().path_from_client("file:///a%20b"),
            PathBuf::from("/a b")
        );
    }
}
