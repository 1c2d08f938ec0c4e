//! How the client writes source positions.
//!
//! [`ClientConventions`] converts lines, columns and paths between the form that the client announced in `initialize` and the
//! adapter's: lines and columns from 1, files by path.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::path::{Path, PathBuf};

use crate::types::{InitializeRequestArguments, InitializeRequestArgumentsPathFormat};

/// How the client counts lines and columns and names files. Converts to and from the adapter's form, which counts from 1 and names
/// files by path.
///
/// ```
/// use dapple_dap::server::{ClientConventions, PathFormat};
///
/// let zero_based = ClientConventions {
///     lines_start_at_1: false,
///     columns_start_at_1: false,
///     path_format: PathFormat::Uri,
/// };
/// assert_eq!(zero_based.line_to_client(7), 6);
/// assert_eq!(zero_based.path_to_client("/src/a b.c".as_ref()), "file:///src/a%20b.c");
/// assert_eq!(zero_based.path_from_client("file:///src/a%20b.c"), std::path::Path::new("/src/a b.c"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientConventions {
    /// The client's first line is 1, not 0.
    pub lines_start_at_1: bool,
    /// The client's first column is 1, not 0.
    pub columns_start_at_1: bool,
    /// How the client names files.
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

    /// Converts the adapter's line to the client's.
    pub fn line_to_client(&self, line: i64) -> i64 {
        if self.lines_start_at_1 {
            line
        } else {
            line.saturating_sub(1)
        }
    }

    /// Converts the client's line to the adapter's.
    pub fn line_from_client(&self, line: i64) -> i64 {
        if self.lines_start_at_1 {
            line
        } else {
            line.saturating_add(1)
        }
    }

    /// Converts the adapter's column to the client's.
    pub fn column_to_client(&self, column: i64) -> i64 {
        if self.columns_start_at_1 {
            column
        } else {
            column.saturating_sub(1)
        }
    }

    /// Converts the client's column to the adapter's.
    pub fn column_from_client(&self, column: i64) -> i64 {
        if self.columns_start_at_1 {
            column
        } else {
            column.saturating_add(1)
        }
    }

    /// Converts a path to the client's form. Bytes that are not UTF-8 are replaced unless the client takes URIs.
    pub fn path_to_client(&self, path: &Path) -> String {
        match self.path_format {
            PathFormat::Path => path.to_string_lossy().into_owned(),
            PathFormat::Uri => path_to_uri(path),
        }
    }

    /// Converts the client's text to a path. `file:` URIs are accepted whatever the client announced.
    pub fn path_from_client(&self, text: &str) -> PathBuf {
        uri_to_path(text).unwrap_or_else(|| PathBuf::from(text))
    }
}

/// The path of a `file:` URI on this machine; `None` for anything else. On Windows a URI of another host is a path of the network.
pub fn uri_to_path(text: &str) -> Option<PathBuf> {
    let scheme = text.get(..5)?;
    if !scheme.eq_ignore_ascii_case("file:") {
        return None;
    }
    let rest = &text[5..];
    let (host, path) = match rest.strip_prefix("//") {
        Some(authority) => authority.split_at(authority.find('/')?),
        None => ("", rest),
    };
    if !path.starts_with('/') {
        return None;
    }
    let host = match host.eq_ignore_ascii_case("localhost") {
        true => "",
        false => host,
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    system::path(host, percent_decode_str(path).collect())
}

/// The `file:` URI of an absolute path. A relative path has none and is returned as it is.
pub fn path_to_uri(path: &Path) -> String {
    if !path.is_absolute() {
        return path.to_string_lossy().into_owned();
    }
    let (host, path) = system::host_and_path(path);
    // All but unreserved characters (RFC 3986 §2.3) and the slash.
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    let path = percent_encode(&path, RESERVED);
    format!("file://{host}{path}")
}

/// Paths as bytes, as they are on Unix.
#[cfg(unix)]
mod system {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    pub(super) fn path(host: &str, path: Vec<u8>) -> Option<PathBuf> {
        let path = std::ffi::OsString::from_vec(path);
        host.is_empty().then(|| PathBuf::from(path))
    }

    pub(super) fn host_and_path(path: &Path) -> (&str, Vec<u8>) {
        ("", path.as_os_str().as_bytes().to_vec())
    }
}

/// Paths as text with drives and hosts, as they are on Windows.
#[cfg(not(unix))]
mod system {
    use std::path::{Path, PathBuf};

    pub(super) fn path(host: &str, path: Vec<u8>) -> Option<PathBuf> {
        let path = String::from_utf8(path).ok()?;
        Some(super::windows::path(host, &path).into())
    }

    pub(super) fn host_and_path(path: &Path) -> (String, Vec<u8>) {
        let (host, path) = super::windows::host_and_path(&path.to_string_lossy());
        (host, path.into_bytes())
    }
}

/// The form of paths on Windows.
#[cfg(any(not(unix), test))]
mod windows {
    /// The path of a URI's decoded path, such as `/c:/a`.
    pub(super) fn path(host: &str, path: &str) -> String {
        let drive = path.as_bytes().get(1..3);
        let has_drive =
            drive.is_some_and(|drive| drive[0].is_ascii_alphabetic() && drive[1] == b':');
        let path = path.replace('/', "\\");
        match host {
            "" if has_drive => path[1..].to_owned(),
            "" => path,
            host => format!("\\\\{host}{path}"),
        }
    }

    /// The host and the path of a URI for an absolute path.
    pub(super) fn host_and_path(path: &str) -> (String, String) {
        // `\\?\` in front of a path only says that it is not to be changed.
        let path = match path.strip_prefix("\\\\?\\UNC\\") {
            Some(of_network) => format!("\\\\{of_network}"),
            None => path.strip_prefix("\\\\?\\").unwrap_or(path).to_owned(),
        };
        let path = path.replace('\\', "/");
        match path.strip_prefix("//").map(|path| path.split_once('/')) {
            Some(Some((host, path))) => (host.to_owned(), format!("/{path}")),
            Some(None) => (path[2..].to_owned(), "/".to_owned()),
            None => (String::new(), format!("/{path}")),
        }
    }
}

/// The column of a byte in a line: from 1 and in UTF-16 code units, as clients count. A byte within a character has the next
/// character's column. Past the line's end, each byte counts as one unit.
pub fn utf16_column(line: &str, byte: usize) -> i64 {
    let mut units = 0usize;
    for (at, character) in line.char_indices() {
        if at >= byte {
            return to_column(units);
        }
        units += character.len_utf16();
    }
    to_column(units.saturating_add(byte.saturating_sub(line.len())))
}

/// The byte offset of a column in a line. Columns count from 1 in UTF-16 code units. For a column past the line's end, the line's
/// length is returned.
pub fn byte_of_column(line: &str, column: i64) -> usize {
    let wanted = usize::try_from(column.saturating_sub(1)).unwrap_or(0);
    let mut units = 0usize;
    for (at, character) in line.char_indices() {
        if units >= wanted {
            return at;
        }
        units += character.len_utf16();
    }
    line.len()
}

fn to_column(units: usize) -> i64 {
    i64::try_from(units).unwrap_or(i64::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        // One byte, one unit; two bytes, one unit; four bytes, two units.
        let line = "aü😀b";
        let columns: Vec<_> = [0, 1, 3, 7, 8, 10]
            .map(|byte| utf16_column(line, byte))
            .into();
        assert_eq!(columns, [1, 2, 3, 5, 6, 8]);
        let bytes: Vec<_> = [-5, 1, 2, 3, 5, 6, 100]
            .map(|column| byte_of_column(line, column))
            .into();
        assert_eq!(bytes, [0, 0, 1, 3, 7, 8, 8]);
        assert_eq!(byte_of_column(line, i64::MIN), 0);
    }

    #[test]
    #[cfg(unix)]
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
    fn paths_of_windows_have_drives_or_hosts() {
        for (path, host, in_uri) in [
            ("C:\\a b\\c", "", "/C:/a b/c"),
            ("\\\\server\\share\\c", "server", "/share/c"),
        ] {
            assert_eq!(
                windows::host_and_path(path),
                (host.to_owned(), in_uri.to_owned())
            );
            assert_eq!(windows::path(host, in_uri), path);
        }
        let verbatim = ["\\\\?\\C:\\a", "\\\\?\\UNC\\server\\share"].map(windows::host_and_path);
        let expected = [("", "/C:/a"), ("server", "/share")];
        assert_eq!(
            verbatim,
            expected.map(|(host, path)| (host.to_owned(), path.to_owned()))
        );
        assert_eq!(windows::path("", "/no-drive"), "\\no-drive");
    }

    #[test]
    #[cfg(not(unix))]
    fn uris_of_windows_become_paths_and_back() {
        let path = Path::new("C:\\a b\\ü.c");
        assert_eq!(path_to_uri(path), "file:///C%3A/a%20b/%C3%BC.c");
        assert_eq!(uri_to_path(&path_to_uri(path)).as_deref(), Some(path));
        assert_eq!(uri_to_path("file:///c:/a"), Some("c:\\a".into()));
    }

    #[test]
    #[cfg(unix)]
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
