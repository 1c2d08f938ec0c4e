//! Descriptions of types of widely used Rust crates and C++ libraries that Dapple brings along: one Natvis file for each crate, in
//! `crates/inspect/natvis`, and one for each library or part of a library, in `crates/inspect/natvis/libraries`.
//!
//! A file is found by the beginning of a type's path, and parsed when the first value of such a type is shown. It applies after the
//! user's files and those that a crate itself names. Which layouts a file describes is decided by the members that its entries use: a
//! file may have several entries for one type, for several versions.

use super::model::TypeEntry;
use super::parse;
use dapple_symbols::functions::Language;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The most namespaces of a path that may be a library's.
const MAX_NAMESPACES: usize = 3;

/// A table of files by the name of the crate in paths.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../natvis/", $name, ".natvis")))),*]
    };
}

/// A table of files by the namespace of their types.
macro_rules! library_files {
    ($($namespace:literal $name:literal)*) => {
        &[$(($namespace, $name, include_str!(concat!("../../natvis/libraries/", $name, ".natvis")))),*]
    };
}

/// The files of C++ libraries, sorted by the namespaces. The types of Qt are in no namespace.
const LIBRARIES: &[(&str, &str, &str)] = library_files! {
    "" "qt"
    "Eigen" "eigen"
    "absl" "absl"
    "boost" "boost"
    "boost::container" "boost_container"
    "boost::intrusive" "boost_intrusive"
    "boost::json" "boost_json"
    "boost::multi_index" "boost_multi_index"
    "boost::unordered" "boost_unordered"
    "fmt" "fmt"
    "glm" "glm"
    "google::protobuf" "protobuf"
    "gsl" "gsl"
    "nlohmann" "nlohmann"
    "rapidjson" "rapidjson"
    "tl" "tl"
};

/// What a file describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Package {
    /// A Rust crate, by its name in paths.
    Crate(&'static str),
    /// A C++ library, or a part of one.
    Library(&'static str),
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Package::Crate(name) => write!(f, "the crate `{name}`"),
            Package::Library(name) => write!(f, "the library `{}`", name.replace('_', "::")),
        }
    }
}

/// The package that a type is from, if there is a file for that package.
pub(super) fn package_of(type_name: &str, language: Language) -> Option<Package> {
    match language {
        Language::Rust => crate_of(type_name).map(Package::Crate),
        Language::Cpp => library_of(type_name).map(Package::Library),
        Language::C | Language::Other => None,
    }
}

/// The files, sorted by the names of the crates.
const FILES: &[(&str, &str)] = files! {
    "anyhow"
    "arc_swap"
    "archery"
    "arcstr"
    "arrayvec"
    "bit_vec"
    "bitvec"
    "bumpalo"
    "bytes"
    "camino"
    "chrono"
    "compact_str"
    "crossbeam_channel"
    "crossbeam_queue"
    "crossbeam_utils"
    "csv"
    "dashmap"
    "ecow"
    "enum_map"
    "enumset"
    "euclid"
    "eyre"
    "flume"
    "futures_channel"
    "generic_array"
    "glam"
    "half"
    "hashbrown"
    "heapless"
    "http"
    "im"
    "indexmap"
    "ipnet"
    "jiff"
    "jiff_core"
    "lasso"
    "linked_hash_map"
    "lock_api"
    "lru"
    "mime"
    "nalgebra"
    "ndarray"
    "num_bigint"
    "once_cell"
    "ordered_float"
    "parking_lot"
    "petgraph"
    "priority_queue"
    "regex"
    "rust_decimal"
    "semver"
    "serde_json"
    "slab"
    "slotmap"
    "smallvec"
    "smol_str"
    "string_cache"
    "thin_vec"
    "time"
    "tinyvec"
    "tokio"
    "toml"
    "tracing_core"
    "triomphe"
    "url"
};

/// The name of the crate that a type is from, if there is a file for that crate.
fn crate_of(type_name: &str) -> Option<&'static str> {
    // References to slices and other unsized values are types of their own.
    let path = type_name.strip_prefix('&').unwrap_or(type_name);
    let path = path.strip_prefix("mut ").unwrap_or(path);
    let end = path.find("::")?;
    let first = path.get(..end)?;
    let index = FILES.binary_search_by_key(&first, |(name, _)| name).ok()?;
    Some(FILES[index].0)
}

/// The name of the library that a type is from, if there is a file for that library. Of several files, the one for the longest namespace
/// counts: `boost::container` before `boost`.
fn library_of(type_name: &str) -> Option<&'static str> {
    let arguments = type_name.find(['<', '(', '{', ' ']);
    let path = &type_name[..arguments.unwrap_or(type_name.len())];
    let ends = path.match_indices("::").map(|(at, _)| &path[..at]);
    let mut ends: Vec<&str> = ends.take(MAX_NAMESPACES).collect();
    if ends.is_empty() && is_qt(path) {
        ends.push("");
    }
    let file = |namespace: &&str| {
        let found = LIBRARIES.binary_search_by_key(namespace, |(namespace, ..)| namespace);
        found.ok().map(|index| LIBRARIES[index].1)
    };
    ends.iter().rev().find_map(file)
}

/// Whether a name is as Qt's: `QString`.
fn is_qt(name: &str) -> bool {
    matches!(name.as_bytes(), [b'Q', second, _, ..] if second.is_ascii_uppercase())
}

/// Whether there is a file for a crate.
pub(super) fn has_file(name: &str) -> bool {
    FILES.binary_search_by_key(&name, |(name, _)| name).is_ok()
}

/// The entries of a package's file.
pub(super) fn entries(package: Package) -> Vec<Arc<TypeEntry>> {
    let (name, text) = match package {
        Package::Crate(name) => (
            name,
            FILES.iter().find(|file| file.0 == name).map(|file| file.1),
        ),
        Package::Library(name) => {
            let file = LIBRARIES.iter().find(|(_, file, _)| *file == name);
            (name, file.map(|(_, _, text)| *text))
        }
    };
    let path = format!("{name}.natvis");
    let file = parse::parse(text.unwrap_or_default(), Path::new(&path));
    file.types.into_iter().map(Arc::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_right_and_found() {
        assert!(FILES.is_sorted_by_key(|(name, _)| name));
        for (name, text) in FILES {
            let file = parse::parse(text, Path::new(name));
            assert_eq!(file.problems, [""; 0], "{name}");
            assert_eq!(crate_of(&format!("{name}::Type<T>")), Some(*name));
            assert!(!entries(Package::Crate(name)).is_empty(), "{name}");
        }
        assert_eq!(crate_of("unknown::Type"), None);
        assert_eq!(crate_of("u8"), None);
    }

    #[test]
    fn every_library_is_right_and_found() {
        assert!(LIBRARIES.is_sorted_by_key(|(namespace, ..)| namespace));
        for (namespace, name, text) in LIBRARIES {
            let file = parse::parse(text, Path::new(name));
            assert_eq!(file.problems, [""; 0], "{name}");
            let type_name = match *namespace {
                "" => "QType<T>".to_owned(),
                namespace => format!("{namespace}::Type<T::U>"),
            };
            assert_eq!(library_of(&type_name), Some(*name));
            assert!(!entries(Package::Library(name)).is_empty(), "{name}");
        }
        assert_eq!(library_of("Queue<boost::any>"), None);
        assert_eq!(library_of("std::vector<boost::any>"), None);
        assert_eq!(library_of("Eigen<int>"), None);
    }

    #[test]
    fn every_file_is_in_the_table() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("natvis");
        let files = |folder: &Path| {
            let files = std::fs::read_dir(folder).expect("the folder is there");
            let paths = files.map(|file| file.expect("a file").path());
            paths.filter(|path| path.is_file()).collect::<Vec<_>>()
        };
        for path in files(&folder) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            assert!(has_file(&name), "{}", path.display());
        }
        for path in files(&folder.join("libraries")) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_known = LIBRARIES.iter().any(|(_, file, _)| *file == name);
            assert!(is_known, "{}", path.display());
        }
    }
}
