//! Reads the lists of features and their tests: Markdown tables whose last cell names tests as `CRATE/FILE: NAME`.

use std::path::{Path, PathBuf};

/// The cells of each row of the table under a title.
pub fn rows(list: &str, title: &str) -> Vec<Vec<String>> {
    let section = list.split("\n## ").find(|part| part.starts_with(title));
    let section = section.unwrap_or_else(|| panic!("the list has no {title}"));
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    // Skips the table's head and the line under it.
    rows.skip(2).map(cells).collect()
}

/// The folder of the workspace's crates.
pub fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of a test file, given as `CRATE/FILE`.
pub fn text_of(file: &str) -> String {
    let (of, name) = file.split_once('/').unwrap_or(("", file));
    let path = crates().join(of).join("tests").join(format!("{name}.rs"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Checks that the tests in a row's last cell exist. Returns their files.
pub fn files_of_tests(row: &[String]) -> Vec<String> {
    let tests = row.last().expect("a row has cells");
    let check = |test: &str| {
        let (file, name) = test
            .split_once(": ")
            .unwrap_or_else(|| panic!("{test} is no `CRATE/FILE: NAME`"));
        let text = text_of(file);
        let mut tests = text.split("#[test]").skip(1);
        assert!(
            tests.any(|text| text.trim_start().starts_with(&format!("fn {name}("))),
            "{}: there is no test `{name}` in {file}",
            row[0]
        );
        file.to_owned()
    };
    tests.split(", ").map(check).collect()
}
