//! What the system's files say: the process or the core file, the memory map, the machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use dapple_engine::system_files::{self, AuxiliaryVector, CoreFile, Mapping};
use dapple_engine::{Address, Memory as _, ThreadId};

use super::Values;
use super::model::{Host, Subject};
use super::plain::Plain;

/// The longest command line, in characters.
const COMMAND: usize = 4000;
/// How many bytes of a command line the kernel writes into a core file (`ELF_PRARGSZ`, without the zero at the end).
const CORE_COMMAND: usize = 79;
/// How much of a loaded file is read for its build id, in bytes: the kernel dumps the first page of each.
const PAGE: usize = 4096;

/// What is known without the adapter.
pub struct Known {
    /// What the report is made from, without the program's path.
    pub subject: Subject,
    /// The address of the program's entry point.
    pub entry: Option<u64>,
    /// The memory map.
    pub mappings: Vec<Mapping>,
    /// The files that were loaded, by their first addresses, as a core file lists them.
    pub loaded: BTreeMap<u64, LoadedFile>,
}

/// A file that was loaded.
pub struct LoadedFile {
    /// The address behind its last byte.
    pub end: u64,
    /// Its path, when the process ran.
    pub path: String,
    /// Its build id, in hexadecimal digits.
    pub build_id: Option<String>,
}

/// What the files of a process say. Call while the process is stopped.
pub fn of_process(pid: i32, values: Values) -> Known {
    let id = ThreadId(pid);
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let command = (values == Values::Shown).then(|| system_files::command_line(id));
    Known {
        subject: Subject {
            core: None,
            written: None,
            process: Some(i64::from(pid)),
            program: program.map(|path| Plain::name(&path.to_string_lossy())),
            command: command.map(|line| Plain::line(&line, COMMAND)),
            command_is_cut: false,
        },
        entry: AuxiliaryVector::here(
            &std::fs::read(format!("/proc/{pid}/auxv")).unwrap_or_default(),
        )
        .entry,
        mappings: system_files::mappings(id),
        loaded: BTreeMap::new(),
    }
}

/// What a core file says.
pub fn of_core(file: &Path, values: Values) -> Known {
    let written = std::fs::metadata(file).and_then(|metadata| metadata.modified());
    let mut known = Known {
        subject: Subject {
            core: Some(Plain::name(&file.to_string_lossy())),
            written: written.ok().map(utc),
            process: None,
            program: None,
            command: None,
            command_is_cut: false,
        },
        entry: None,
        mappings: Vec::new(),
        loaded: BTreeMap::new(),
    };
    // The adapter has opened it: it is read again for what the protocol has no request for.
    let Ok(core) = CoreFile::open(file) else {
        return known;
    };
    let notes = &core.notes;
    known.subject.process = Some(i64::from(notes.process)).filter(|process| *process > 0);
    if values == Values::Shown && !notes.command.is_empty() {
        known.subject.command = Some(Plain::line(&notes.command, COMMAND));
        known.subject.command_is_cut = notes.command.len() >= CORE_COMMAND;
    }
    known.entry = AuxiliaryVector::parse(notes.machine, &notes.auxiliary).entry;
    known.mappings = core.mappings();
    known.loaded = loaded_files(&core);
    known
}

/// The ELF files of which the core file has the beginning.
fn loaded_files(core: &CoreFile) -> BTreeMap<u64, LoadedFile> {
    let mut loaded: BTreeMap<u64, LoadedFile> = BTreeMap::new();
    for part in &core.notes.files {
        let path = part.path.to_string_lossy();
        if part.offset != 0 {
            if let Some((_, file)) = loaded.range_mut(..part.start).next_back()
                && file.path == path
            {
                file.end = part.end;
            }
            continue;
        }
        let mut bytes = vec![0; PAGE];
        let count = core.read_some(Address(part.start), &mut bytes);
        bytes.truncate(count);
        if bytes.starts_with(b"\x7fELF") {
            let id = system_files::build_id(&bytes);
            let digits = |id: Vec<u8>| id.iter().map(|byte| format!("{byte:02x}")).collect();
            loaded.insert(
                part.start,
                LoadedFile {
                    end: part.end,
                    path: path.into_owned(),
                    build_id: id.map(digits),
                },
            );
        }
    }
    loaded
}

/// This machine, now.
pub fn host() -> Host {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let kernel = [
        read("/proc/sys/kernel/ostype"),
        read("/proc/sys/kernel/osrelease"),
        std::env::consts::ARCH.to_owned(),
    ];
    let words: Vec<&str> = kernel.iter().map(|word| word.trim()).collect();
    let release = read("/etc/os-release");
    let name = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map(|name| Plain::name(name.trim_matches('"')));
    Host {
        time: utc(SystemTime::now()),
        kernel: Plain::name(words.join(" ").trim()),
        system: name,
        made_by: Plain::name(concat!("dapple ", env!("CARGO_PKG_VERSION"))),
    }
}

/// `2026-01-31 12:00:00`, in UTC.
fn utc(time: SystemTime) -> Plain {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let (day, time) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant's civil_from_days: years begin in March, in eras of 400 years.
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    Plain::name(&format!(
        "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_time_is_a_date_of_the_calendar() {
        let at = |seconds| utc(UNIX_EPOCH + Duration::from_secs(seconds)).to_string();
        assert_eq!(at(0), "1970-01-01 00:00:00");
        assert_eq!(at(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(at(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(at(1_798_761_599), "2026-12-31 23:59:59");
    }
}
