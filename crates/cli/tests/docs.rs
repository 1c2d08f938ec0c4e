//! Checks that the sessions in `docs/` show what their commands print.
//!
//! `DAPPLE_DOCS=write cargo test -p dapple-cli --test docs` writes the commands' output into the pages.

use std::path::PathBuf;

use crate::support::{Run, dapple, normalised, root, scratch, words};

/// All pages of the documentation.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the pages") {
            let path = entry.expect("a page").path();
            match path.extension() {
                Some(extension) if extension == "md" => pages.push(path),
                None if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    pages.sort();
    pages
}

/// The output of a command line, in the form of the pages.
fn answer(command: &str) -> String {
    let line = command
        .strip_prefix("dapple ")
        .unwrap_or_else(|| panic!("the pages show `dapple`: {command}"));
    let mut run = dapple();
    run.env("XDG_RUNTIME_DIR", scratch("run-docs"));
    // Output that depends on the standard library's version must not be in the pages.
    let run = Run::of(run.args(words(line)));
    let mut shown = run.stdout;
    shown.push_str(&run.stderr);
    shown.replace(&root().display().to_string(), "/home/me/dapple")
}

#[test]
fn sessions_are_as_they_are_shown() {
    let writes = std::env::var_os("DAPPLE_DOCS").is_some();
    // Those of a run that was ended in the middle.
    answer("dapple session end --all");
    let (mut sessions, mut wrong) = (0, Vec::new());
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        let mut parts = text.split("```console\n");
        let mut written = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (block, rest) = part.split_once("```").expect("a block is closed");
            let (mut shown, mut printed) = (String::new(), String::new());
            for line in block.lines() {
                match line.strip_prefix("$ ") {
                    Some(command) => {
                        sessions += 1;
                        shown += &format!("{line}\n");
                        printed += &format!("{line}\n{}", answer(command));
                    }
                    None => shown += &normalised(&format!("{line}\n")),
                }
            }
            if shown != printed {
                let page = page.display();
                wrong.push(format!("{page}:\n--- shown\n{shown}--- printed\n{printed}"));
            }
            written += &format!("```console\n{printed}```{rest}");
        }
        if writes {
            std::fs::write(&page, written).expect("a page can be written");
        }
    }
    assert!(
        sessions > 8,
        "the pages show sessions: {sessions} were found"
    );
    assert!(writes || wrong.is_empty(), "{}", wrong.join("\n"));
}
