//! Looks for this debugger in editors' configurations and reports where it was found. It warns only about VS Code's settings: if their
//! path to `dapple` leads to no program, or if they mention `dapple` and are no JSON.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Finding, home};
use crate::jsonc::without_comments;
use crate::programs::is_executable;

const CHECK: &str = "editors";

/// Where VS Code and its derivatives keep extensions, below the home directory.
const EXTENSIONS: [&str; 5] = [
    ".vscode/extensions",
    ".vscode-server/extensions",
    ".vscode-oss/extensions",
    ".cursor/extensions",
    ".local/share/code-server/extensions",
];

/// Where VS Code and its derivatives keep the user's settings, below the home directory.
const SETTINGS: [&str; 5] = [
    ".config/Code/User/settings.json",
    ".vscode-server/data/Machine/settings.json",
    ".config/VSCodium/User/settings.json",
    ".config/Cursor/User/settings.json",
    ".local/share/code-server/User/settings.json",
];

/// Other editors, each with the files and directories below the home directory in which its configuration would name the adapter.
const OTHERS: [(&str, &[&str]); 5] = [
    ("Neovim", &[".config/nvim"]),
    (
        "Vim",
        &[".vimrc", ".vim/vimrc", ".vim/plugin", ".vimspector.json"],
    ),
    (
        "Emacs",
        &[".emacs", ".emacs.d/init.el", ".config/emacs/init.el"],
    ),
    ("Helix", &[".config/helix/languages.toml"]),
    (
        "Zed",
        &[".config/zed/settings.json", ".config/zed/debug.json"],
    ),
];

/// Other editors' files in the current directory in which a project's configuration would name the adapter.
const HERE: [(&str, &str); 3] = [
    ("Vim", ".vimspector.json"),
    ("Helix", ".helix/languages.toml"),
    ("Zed", ".zed/debug.json"),
];

/// The limits of a search through one editor's configuration: number of files, depth, and bytes per file.
const MOST_FILES: usize = 2000;
const DEEPEST: usize = 6;
const LONGEST: u64 = 1 << 20;

/// Reports what was found.
pub fn check(report: &mut dyn FnMut(Finding)) {
    let mut findings = Vec::new();
    let mut found = |finding| findings.push(finding);
    if let Some(home) = home() {
        extensions(&home, &mut found);
        for path in SETTINGS {
            settings(&home.join(path), &mut found);
        }
        for (editor, places) in OTHERS {
            let files = places.iter().flat_map(|place| files(&home.join(place)));
            if let Some(file) = files.take(MOST_FILES).find(|file| names_us(file)) {
                found(Finding::ok(CHECK, format!("{editor}: {}", file.display())));
            }
        }
    }
    settings(Path::new(".vscode/settings.json"), &mut found);
    for (editor, file) in HERE {
        if names_us(Path::new(file)) {
            found(Finding::ok(CHECK, format!("{editor}: {file} here")));
        }
    }
    if findings.is_empty() {
        report(
            Finding::ok(
                CHECK,
                "none is set up to use this debugger, as far as can be seen",
            )
            .with_remedy(
                "docs/editors has a page for each, with what to install and what to write where",
            ),
        );
    }
    findings.into_iter().for_each(report);
}

/// Finds the extension for VS Code.
fn extensions(home: &Path, report: &mut dyn FnMut(Finding)) {
    for place in EXTENSIONS {
        let entries = fs::read_dir(home.join(place)).into_iter().flatten();
        for entry in entries.flatten() {
            let folder = entry.path();
            let ours = fs::read_to_string(folder.join("package.json"))
                .ok()
                .and_then(|text| serde_json::from_str::<Value>(&text).ok())
                .filter(|package| package["publisher"] == "dapple" && package["name"] == "dapple");
            if let Some(package) = ours {
                let version = package["version"].as_str().unwrap_or("of no version");
                report(Finding::ok(
                    CHECK,
                    format!("VS Code: extension {version} in {}", folder.display()),
                ));
            }
        }
    }
}

/// Checks the setting that locates the adapter.
fn settings(file: &Path, report: &mut dyn FnMut(Finding)) {
    let Some(text) = text_of(file) else {
        return;
    };
    let shown = file.display();
    let settings: Value = match serde_json::from_str(&without_comments(&text)) {
        Ok(settings) => settings,
        Err(_) if !text.contains("dapple") => return,
        Err(error) => {
            report(Finding::warning(
                CHECK,
                format!("VS Code: {shown} is no JSON: {error}"),
            ));
            return;
        }
    };
    let Some(path) = settings["dapple.path"]
        .as_str()
        .filter(|path| !path.is_empty())
    else {
        return;
    };
    let resolved = match (path.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    };
    // The values of the editor's variables (`${…}`) are unknown here, so a path that contains a variable counts as good.
    report(match path.contains("${") || is_executable(&resolved) {
        true => Finding::ok(
            CHECK,
            format!("VS Code: `dapple.path` is {path} in {shown}"),
        ),
        false => Finding::warning(
            CHECK,
            format!("VS Code: `dapple.path` in {shown} is {path}, which is no program"),
        )
        .with_remedy("give it the path of a `dapple`, or remove it to have the one on the PATH"),
    });
}

/// The files at or below a path, up to [`MOST_FILES`]. Below the path it skips hidden files and directories, symbolic links, and what is
/// deeper than [`DEEPEST`].
fn files(place: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut rest = vec![(place.to_owned(), 0)];
    while let Some((path, depth)) = rest.pop() {
        if files.len() >= MOST_FILES {
            break;
        }
        if path.is_file() {
            files.push(path);
        } else if depth < DEEPEST {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            let shown = |entry: &fs::DirEntry| {
                !entry.file_name().as_encoded_bytes().starts_with(b".")
                    && entry.file_type().is_ok_and(|kind| !kind.is_symlink())
            };
            rest.extend(entries.filter(shown).map(|entry| (entry.path(), depth + 1)));
        }
    }
    files
}

fn names_us(file: &Path) -> bool {
    text_of(file).is_some_and(|text| text.contains("dapple"))
}

fn text_of(file: &Path) -> Option<String> {
    let metadata = fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > LONGEST {
        return None;
    }
    fs::read_to_string(file).ok()
}
