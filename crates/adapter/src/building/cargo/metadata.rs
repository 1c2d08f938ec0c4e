//! The packages of the workspace (`cargo metadata --no-deps`).
//!
//! The crate `cargo_metadata` isn't used here: it completes a `rust-version` of `1.85` to `1.85.0`, while cargo gives programs `1.85`,
//! and it fails on the whole output if one field is unexpected.

use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The workspace.
#[derive(Debug, Default, Deserialize)]
pub struct Metadata {
    /// Its packages.
    #[serde(default)]
    pub packages: Vec<Package>,
    /// The ids of the default members.
    #[serde(default)]
    workspace_default_members: Vec<String>,
}

/// A package.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Package {
    /// The id, in cargo's notation.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// The program that `cargo run` runs by default.
    pub default_run: Option<String>,
    #[serde(default)]
    pub authors: Vec<String>,
    pub description: Option<String>,
    pub homepage: Option<String>,
    pub repository: Option<String>,
    pub license: Option<String>,
    pub license_file: Option<String>,
    pub rust_version: Option<String>,
    pub readme: Option<String>,
}

impl Metadata {
    /// The package of an artifact.
    pub fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }

    /// The selected packages: the named ones, else the one with this manifest, else the default members.
    pub fn meant(&self, named: &[String], manifest: Option<&Path>) -> Vec<&Package> {
        let packages = self.packages.iter();
        if !named.is_empty() {
            // The name may have a version or a URL with it.
            let is_named = |package: &&Package| {
                named.iter().any(|spec| {
                    let name = spec.rsplit(['/', '#']).next().unwrap_or(spec);
                    name.split(['@', ':']).next() == Some(&package.name) || *spec == package.id
                })
            };
            return packages.filter(is_named).collect();
        }
        let own = manifest.and_then(|manifest| manifest.canonicalize().ok());
        let is_own =
            |package: &&Package| own.is_some() && package.manifest_path.canonicalize().ok() == own;
        match packages.clone().find(is_own) {
            Some(own) => vec![own],
            None => packages
                .filter(|package| self.workspace_default_members.contains(&package.id))
                .collect(),
        }
    }
}

/// The manifest of the package or workspace that contains a folder.
pub fn manifest_of(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .map(|folder| folder.join("Cargo.toml"))
        .find(|manifest| manifest.is_file())
}
