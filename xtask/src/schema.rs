//! `schema diff`: compares the structure of two definition files.

use crate::codegen::DEFINITION;
use anyhow::{Context, Result};
use dapple_schema::Model;
use dapple_schema::diff::diff;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Prints one line for each difference, and fails if there is one. Without `second`, compares with the project's own definition.
pub(crate) fn compare(root: &Path, first: &str, second: Option<&str>) -> Result<ExitCode> {
    let ours = root.join(DEFINITION);
    let (a, b) = (
        read(Path::new(first))?,
        read(second.map_or(ours.as_path(), Path::new))?,
    );
    let differences = diff(&a, &b);
    for difference in &differences {
        println!("{difference}");
    }
    if differences.is_empty() {
        println!(
            "no structural difference ({} definitions)",
            a.definitions().len()
        );
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "{} structural differences, {first} against {}",
        differences.len(),
        second.unwrap_or(DEFINITION)
    );
    Ok(ExitCode::FAILURE)
}

fn read(path: &Path) -> Result<Model> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let model = Model::parse(&text).with_context(|| format!("cannot read {}", path.display()))?;
    for keyword in model.unknown_keywords() {
        eprintln!("warning: {}: {keyword}", path.display());
    }
    Ok(model)
}
