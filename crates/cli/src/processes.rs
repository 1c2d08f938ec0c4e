//! `dapple processes`: the user's processes as JSON, for an editor that asks for those of another machine (`dapple on PLACE processes`).
//!
//! The editor's extension lists those of its own machine in the same way (`editors/vscode/src/processes.ts`).

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

/// The most bytes of a command line.
const LONGEST: usize = 400;
/// The most processes.
const MOST: usize = 20_000;

/// The options of `dapple processes`: none.
#[derive(Args)]
pub struct Options {}

#[derive(Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct Process {
    pid: u32,
    /// What the kernel calls it: the first 15 bytes of its executable's name, or what it has named itself.
    name: String,
    command_line: String,
    /// When it has started, in clock ticks since the system has.
    started: u64,
}

/// Writes the processes that could be debugged, the newest first.
pub fn run(_: &Options) -> anyhow::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let entries = fs::read_dir("/proc").context("can't list the processes")?;
    let entries = entries.flatten().take(MOST);
    let mut found: Vec<Process> = { entries }
        .filter_map(|entry| read(&entry.path(), user))
        .filter(|process| process.pid != std::process::id())
        .collect();
    found.sort_by_key(|process| std::cmp::Reverse((process.started, process.pid)));
    let text = serde_json::to_string(&found)?;
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

/// A process of the user, root's are all. `None` for kernel threads, and for what has ended.
fn read(folder: &Path, user: u32) -> Option<Process> {
    let pid = folder.file_name()?.to_str()?.parse().ok()?;
    if user != 0 && fs::metadata(folder).ok()?.uid() != user {
        return None;
    }
    let status = fs::read(folder.join("stat")).ok()?;
    let (name, state, started) = read_status(&String::from_utf8_lossy(&status))?;
    let mut line = fs::read(folder.join("cmdline")).ok()?;
    line.truncate(LONGEST);
    let line = String::from_utf8_lossy(&line);
    let command_line = line.trim_end_matches('\0').replace('\0', " ");
    let is_there = !matches!(state, 'Z' | 'X') && !command_line.is_empty();
    is_there.then_some(Process {
        pid,
        name,
        command_line,
        started,
    })
}

/// The name, the state and the start of a process by its line in `/proc/PID/stat` (proc(5)). The name is in parentheses, and may have any character.
fn read_status(line: &str) -> Option<(String, char, u64)> {
    let (open, close) = (line.find('(')?, line.rfind(')')?);
    let name = line.get(open + 1..close)?.to_owned();
    let mut fields = line.get(close + 2..)?.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((name, state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_parentheses_and_blanks() {
        let line = "12 (a) (b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        let expected = ("a) (b) c".to_owned(), 'S', 4711);
        assert_eq!(read_status(line), Some(expected));
        for wrong in ["", ")(", "12 (a", "12 (a) S"] {
            assert_eq!(read_status(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn this_process_is_one_of_the_users() {
        let user = rustix::process::geteuid().as_raw();
        let own = read(Path::new("/proc/self"), user);
        assert_eq!(own, None, "its folder is no number");
        let own = read(
            &Path::new("/proc").join(std::process::id().to_string()),
            user,
        );
        let own = own.expect("this process");
        assert!(own.pid == std::process::id() && own.started > 0, "{own:?}");
    }
}
