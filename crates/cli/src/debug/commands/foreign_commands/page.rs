//! The page `docs/terminal-commands.md`, made of the tables.

use std::fmt::Write;

use super::Meaning::{Advice, Differs, Missing, Ours, Same};
use super::{Group, Meaning, gdb, lldb, others};

const HEAD: &str = "\
<!-- Written by `dapple debug --command-table`: a test compares them. -->
# Commands of gdb, lldb and delve

What these debuggers' commands are called in [`dapple debug`](terminal.md). What is in the left column can be typed as it is: it works, or says what stands in the right column.
Words can be shortened as long as they are clear: `info sh`, `th b`, `fr v`. `help COMMAND` explains those of the right column.

Where the right column begins with \"none\", nothing does that; the rest of the sentence says why, or what comes nearest.
";

/// The page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for (name, groups) in [("gdb", gdb::GROUPS), ("lldb", lldb::GROUPS)] {
        // Writing to a string can't fail.
        let _ = write!(page, "\n## {name}\n");
        for group in groups {
            let _ = write!(page, "\n### {}: {}\n\n", name, group.title);
            table(&mut page, name, group);
        }
    }
    page += "\n## delve\n\nMost of its commands are gdb's. These are its own, and those that it means in another way:\n\n";
    for group in others::DELVE {
        table(&mut page, "delve", group);
    }
    page += "\n## nnd\n\nnnd has windows and keys in place of commands. What its keys do:\n\n";
    page += "| key | nnd | `dapple debug` |\n| --- | --- | --- |\n";
    for row in others::NND {
        let keys = row.keys.split(", ").filter(|key| !key.is_empty());
        let keys: Vec<String> = keys.map(code).collect();
        let here = row.here.replace('|', "\\|");
        let _ = writeln!(page, "| {} | {} | {here} |", keys.join(", "), row.what);
    }
    page
}

fn table(page: &mut String, name: &str, group: &Group) {
    let _ = write!(page, "| {name} | `dapple debug` |\n| --- | --- |\n");
    for (names, meaning) in group.rows {
        // Settings are named without `set` and `show`, which the title has.
        let theirs: Vec<String> = names.split(", ").map(code).collect();
        let _ = writeln!(
            page,
            "| {} | {} |",
            theirs.join(", "),
            here(names, *meaning)
        );
    }
}

/// A word as code. In a table, `|` has to be escaped also there.
fn code(word: &str) -> String {
    format!("`{}`", word.replace('|', "\\|"))
}

fn here(names: &str, meaning: Meaning) -> String {
    match meaning {
        Ours => {
            let mut ours: Vec<String> = names.split(", ").map(our_name).collect();
            ours.dedup();
            ours.iter()
                .map(|name| code(name))
                .collect::<Vec<_>>()
                .join(", ")
        }
        Same(command) => code(command),
        Differs(text) | Advice(text) => text.replace('|', "\\|"),
        Missing(text) => format!("none: {}", text.replace('|', "\\|")),
    }
}

/// The whole name of a command of ours.
fn our_name(name: &str) -> String {
    let found = crate::debug::commands::find(name);
    found.map_or_else(|_| name.to_owned(), |command| command.name.to_owned())
}
