//! Descriptions of types of widely used Rust crates that Dapple brings along: one Natvis file for each crate, in `crates/inspect/natvis`.
//!
//! A file is found by the first segment of a type's path, and parsed when the first value of such a type is shown. It applies after the
//! user's files and those that a crate itself names. Which layouts a file describes is decided by the members that its entries use: a
//! file may have several entries for one type, for several versions of the crate.

use super::model::TypeEntry;
use super::parse;
use std::path::Path;
use std::sync::Arc;

/// A table of files by the name of the crate in paths.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../natvis/", $name, ".natvis")))),*]
    };
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
pub(super) fn crate_of(type_name: &str) -> Option<&'static str> {
    // References to slices and other unsized values are types of their own.
    let path = type_name.strip_prefix('&').unwrap_or(type_name);
    let path = path.strip_prefix("mut ").unwrap_or(path);
    let end = path.find("::")?;
    let first = path.get(..end)?;
    let index = FILES.binary_search_by_key(&first, |(name, _)| name).ok()?;
    Some(FILES[index].0)
}

/// Whether there is a file for a crate.
pub(super) fn has_file(name: &str) -> bool {
    FILES.binary_search_by_key(&name, |(name, _)| name).is_ok()
}

/// The entries of a crate's file.
pub(super) fn entries(name: &str) -> Vec<Arc<TypeEntry>> {
    let Ok(index) = FILES.binary_search_by_key(&name, |(name, _)| name) else {
        return Vec::new();
    };
    let path = format!("{name}.natvis");
    let file = parse::parse(FILES[index].1, Path::new(&path));
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
            assert!(!entries(name).is_empty(), "{name}");
        }
        assert_eq!(crate_of("unknown::Type"), None);
        assert_eq!(crate_of("u8"), None);
    }

    #[test]
    fn every_file_is_in_the_table() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("natvis");
        for file in std::fs::read_dir(folder).expect("the folder is there") {
            let path = file.expect("a file").path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            assert!(has_file(&name), "{}", path.display());
        }
    }
}
