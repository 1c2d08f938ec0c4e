//! Reads `/proc` about a process, and sends it signals.

use crate::ThreadId;
use crate::memory_map::Mapping;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directory in `/proc` that shows a process's memory, mappings and executable: usually that of its main thread. If the main thread has
/// ended while the process goes on (`pthread_exit` in `main`), its directory shows none of them, and this is another thread's directory.
pub fn folder(process: ThreadId) -> PathBuf {
    let own = PathBuf::from(format!("/proc/{process}"));
    let has_ended = |folder: &Path| state_in(folder).is_none_or(|state| "ZX".contains(state));
    if !has_ended(&own) {
        return own;
    }
    let tasks = std::fs::read_dir(own.join("task")).into_iter().flatten();
    let mut folders = tasks.filter_map(|task| Some(task.ok()?.path()));
    folders.find(|folder| !has_ended(folder)).unwrap_or(own)
}

/// The state that a folder in `/proc` shows, proc_pid_stat(5). `None`: the thread is gone.
fn state_in(folder: &Path) -> Option<char> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    // It follows the name in parentheses.
    stat.rsplit(')').next()?.trim_start().chars().next()
}

fn state(thread: ThreadId) -> Option<char> {
    state_in(&PathBuf::from(format!("/proc/{thread}")))
}

/// Whether a thread sleeps until something happens.
pub fn sleeps(thread: ThreadId) -> bool {
    state(thread) == Some('S')
}

/// Whether a thread hasn't ended, nor is stopped.
pub fn runs(thread: ThreadId) -> bool {
    state(thread).is_some_and(|state| !"ZXt".contains(state))
}

/// Why no process at all is visible, and what the user can do; `None` if processes are visible.
pub fn out_of_sight() -> Option<&'static str> {
    let own = Path::new("/proc/self");
    if own.exists() {
        return None;
    }
    Some(match own.is_symlink() {
        false => {
            "/proc is not mounted here, and the debugger reaches a program's memory only through it: \
             `mount -t proc proc /proc`"
        }
        true => {
            "/proc shows the processes of another namespace than the debugger's, which is not in it: \
             `mount -t proc proc /proc` in its own"
        }
    })
}

/// A process's auxiliary vector in the kernel's format.
pub fn auxiliary_bytes(process: ThreadId) -> io::Result<Vec<u8>> {
    std::fs::read(folder(process).join("auxv"))
}

/// The path of the executable that a process runs. If the executable was removed or replaced meanwhile, the kernel appends ` (deleted)`.
pub fn executable(process: ThreadId) -> io::Result<PathBuf> {
    std::fs::read_link(folder(process).join("exe"))
}

/// A path at which the debugger can open a file that is at `path` for the process, which may be in a container.
pub fn visible(process: ThreadId, path: &Path) -> PathBuf {
    let folder = folder(process);
    let mounts = |folder: &Path| std::fs::read_link(folder.join("ns/mnt"));
    let same = match (mounts(Path::new("/proc/self")), mounts(&folder)) {
        (Ok(own), Ok(its)) => own == its,
        _ => true,
    };
    match path.strip_prefix("/") {
        Ok(inside) if !same => folder.join("root").join(inside),
        _ => path.to_owned(),
    }
}

/// A path at which the executable of a process can be opened, even if it was replaced or removed since the process started it.
pub fn running_executable(process: ThreadId) -> PathBuf {
    let link = folder(process).join("exe");
    let same = |path: &PathBuf| match (std::fs::metadata(path), std::fs::metadata(&link)) {
        (Ok(a), Ok(b)) => a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    };
    match executable(process).map(|path| visible(process, &path)) {
        Ok(path) if same(&path) => path,
        _ => link,
    }
}

/// A thread's name; empty if it has just ended.
pub fn thread_name(thread: ThreadId) -> String {
    let name = std::fs::read(format!("/proc/{thread}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&name)
        .trim_end_matches('\n')
        .to_owned()
}

/// A process's command line, words separated by spaces, or its name if the command line is empty. Empty if there is no such process.
pub fn command_line(process: ThreadId) -> String {
    let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = words
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(String::from_utf8_lossy)
        .collect();
    match words.is_empty() {
        true => thread_name(process),
        false => words.join(" "),
    }
}

/// Whether the program has a handler for `signal`.
pub fn catches(process: ThreadId, signal: i32) -> bool {
    has_signal(process, "SigCgt:", signal)
}

/// Whether the program ignores `signal`.
pub fn ignores(process: ThreadId, signal: i32) -> bool {
    has_signal(process, "SigIgn:", signal)
}

/// Whether a signal is in one of the masks of `/proc/PID/status`.
/// The signals that a thread blocks now, also those that it only blocks in the call that it is in. `None`: it has ended.
pub fn blocked_signals(thread: ThreadId) -> Option<u64> {
    signals(thread, "SigBlk:")
}

fn has_signal(process: ThreadId, mask: &str, signal: i32) -> bool {
    let mask = signals(process, mask).unwrap_or(0);
    (1..=64).contains(&signal) && mask >> (signal - 1) & 1 == 1
}

fn signals(thread: ThreadId, mask: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix(mask))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// The largest size of a file that the process may write, in bytes. `None`: any, or it can't be read.
pub fn most_file_size(process: ThreadId) -> Option<u64> {
    let limits = std::fs::read_to_string(folder(process).join("limits")).ok()?;
    let rest = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max file size"))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The memory map, sorted by address; empty if it can't be read.
pub fn mappings(process: ThreadId) -> Vec<Mapping> {
    parse_mappings(&std::fs::read(folder(process).join("maps")).unwrap_or_default())
}

/// The mappings of a file `/proc/PID/maps`.
pub(crate) fn parse_mappings(maps: &[u8]) -> Vec<Mapping> {
    let maps = String::from_utf8_lossy(maps);
    maps.lines().filter_map(parse_mapping).collect()
}

fn parse_mapping(line: &str) -> Option<Mapping> {
    // `start-end rights offset device inode   name`, proc_pid_maps(5); the name may contain spaces.
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let rights = fields.next()?;
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        read: rights.contains('r'),
        write: rights.contains('w'),
        execute: rights.contains('x'),
        offset: u64::from_str_radix(fields.next()?, 16).ok()?,
        name: fields.nth(2).unwrap_or_default().trim_start().to_owned(),
    })
}

/// What becomes of a mapping when its process forks, and whether others see what is written there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindOfMemory {
    /// Others see it.
    pub is_shared: bool,
    /// A child doesn't get it (`MADV_DONTFORK`).
    pub is_not_copied: bool,
    /// A child gets zeros (`MADV_WIPEONFORK`).
    pub is_wiped: bool,
}

/// The memory map, and of what kind each mapping is (`/proc/PID/smaps`, proc(5)).
pub fn kinds_of_memory(process: ThreadId) -> io::Result<Vec<(Mapping, KindOfMemory)>> {
    let maps = std::fs::read(folder(process).join("smaps"))?;
    let mut all: Vec<(Mapping, KindOfMemory)> = Vec::new();
    for line in String::from_utf8_lossy(&maps).lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            let has = |flag: &str| flags.split_whitespace().any(|it| it == flag);
            if let Some((_, kind)) = all.last_mut() {
                kind.is_not_copied = has("dc");
                kind.is_wiped = has("wf");
            }
        } else if let Some(mapping) = parse_mapping(line) {
            let rights = line.split(' ').nth(1).unwrap_or_default();
            let kind = KindOfMemory {
                is_shared: rights.ends_with('s'),
                ..KindOfMemory::default()
            };
            all.push((mapping, kind));
        }
    }
    Ok(all)
}

/// The starts of those mappings that have anonymous memory, including mappings of files that were written to (`/proc/PID/smaps`, proc(5)).
pub fn own_mappings(process: ThreadId) -> io::Result<BTreeSet<u64>> {
    let maps = std::fs::read(folder(process).join("smaps"))?;
    Ok(parse_own_mappings(&maps))
}

/// The starts of the mappings with memory of the process's own in a file `/proc/PID/smaps`.
pub(crate) fn parse_own_mappings(maps: &[u8]) -> BTreeSet<u64> {
    let mut own = BTreeSet::new();
    let mut start = 0;
    for line in String::from_utf8_lossy(maps).lines() {
        if let Some(mapping) = parse_mapping(line) {
            start = mapping.start;
        } else if let Some(size) = line.strip_prefix("Anonymous:")
            && size.trim() != "0 kB"
        {
            own.insert(start);
        }
    }
    own
}

/// Sends a signal to the whole process.
pub fn signal(process: ThreadId, signal: i32) -> io::Result<()> {
    // SAFETY: kill(2) takes numbers only.
    if unsafe { libc::kill(process.0, signal) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Sends a signal to one thread alone, which this process traces.
pub fn signal_thread(thread: ThreadId, signal: i32) -> io::Result<()> {
    // SAFETY: tkill(2) takes numbers only. A thread that is traced keeps its id until its end was waited for.
    let sent = unsafe { libc::syscall(libc::SYS_tkill, thread.0, signal) };
    if sent == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The path of an open file, if it has one.
pub fn file(process: ThreadId, descriptor: i32) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/{process}/fd/{descriptor}")).ok()?;
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_its_name_with_the_spaces_in_it() {
        let line = "7f00-7f10 rw-p 00000000 08:01 17         /tmp/a b";
        let mapping = parse_mapping(line).expect("a mapping");
        assert_eq!((mapping.start, mapping.end), (0x7f00, 0x7f10));
        assert!(mapping.read && mapping.write && !mapping.execute);
        assert_eq!(mapping.name, "/tmp/a b");
        let anonymous = parse_mapping("7f00-7f10 ---p 00000000 00:00 0 ").expect("a mapping");
        assert_eq!(anonymous.name, "");
    }
}

/// How much memory a process uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// The bytes of memory that it doesn't share with files.
    pub resident: u64,
    /// The bytes of all pages that it was given so far, or got of its own because it wrote them.
    pub faulted: u64,
}

/// How much memory a process uses (proc_pid_statm(5), `minflt` of proc_pid_stat(5)).
pub fn memory_use(process: ThreadId) -> Option<MemoryUse> {
    /// The size of a page.
    const PAGE: u64 = 4096;
    let folder = folder(process);
    let sizes = fs::read_to_string(folder.join("statm")).ok()?;
    let mut sizes = sizes.split_whitespace().skip(1);
    let mut pages = || sizes.next()?.parse::<u64>().ok();
    let (resident, shared) = (pages()?, pages()?);
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let faults: u64 = fields.split_whitespace().nth(7)?.parse().ok()?;
    Some(MemoryUse {
        resident: resident.saturating_sub(shared) * PAGE,
        faulted: faults * PAGE,
    })
}
