//! Checks a program before it is launched, so that the user gets a sentence instead of an errno.

mod missing;

use crate::Error;
use crate::launch::{LaunchOption, LaunchOptions};
use crate::linux::process;
use std::ffi::{CString, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Checks the program and the working directory of `options`, and returns the program's absolute path with symbolic links resolved.
pub fn program(options: &LaunchOptions) -> Result<PathBuf, Error> {
    let refuse = |reason: String| Error::LaunchOption {
        option: LaunchOption::Program,
        path: options.program.clone(),
        reason,
    };
    if options.program.as_os_str().is_empty() {
        return Err(refuse("no program was named".into()));
    }
    let path = std::path::absolute(&options.program).map_err(|e| refuse(e.to_string()))?;
    let path = fs::canonicalize(&path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => refuse(missing::why(&options.program, &path)),
        _ => refuse(e.to_string()),
    })?;
    let metadata = fs::metadata(&path).map_err(|e| refuse(e.to_string()))?;
    if metadata.is_dir() {
        return Err(refuse("it is a directory, not a program".into()));
    }
    if !metadata.is_file() {
        return Err(refuse("it is not a regular file".into()));
    }
    if !accessible(&path, libc::R_OK) {
        return Err(refuse("it can't be read: no permission".into()));
    }
    let mut head = Vec::new();
    let unreadable = |e: io::Error| refuse(format!("it can't be read: {e}"));
    let file = fs::File::open(&path).map_err(unreadable)?;
    (&file)
        .take(256)
        .read_to_end(&mut head)
        .map_err(unreadable)?;
    if !head.starts_with(ELF) && is_source(&path) {
        return Err(refuse(
            "it is a source file; compile it with debug information (-g), and launch what that makes".into(),
        ));
    }
    header(&head).map_err(refuse)?;
    segments(&file, &head, metadata.len()).map_err(refuse)?;
    if !accessible(&path, libc::X_OK) {
        return Err(refuse(
            "it is not executable (chmod +x would make it so)".into(),
        ));
    }
    if let Some(cwd) = &options.cwd {
        working_directory(cwd).map_err(|reason| Error::LaunchOption {
            option: LaunchOption::WorkingDirectory,
            path: cwd.clone(),
            reason,
        })?;
    }
    Ok(path)
}

/// Checks that a directory can be a program's working directory.
fn working_directory(cwd: &Path) -> Result<(), String> {
    match fs::metadata(cwd) {
        Ok(metadata) if !metadata.is_dir() => Err("it is no folder".into()),
        Ok(_) if !accessible(cwd, libc::X_OK) => Err("it can't be entered: no permission".into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("there is no such folder{}", missing::folder(cwd)))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// As [`program`], but for a program that is to be traced: also fails if `/proc` doesn't show the debugger's own process.
pub fn debuggee(options: &LaunchOptions) -> Result<PathBuf, Error> {
    let path = program(options)?;
    match process::out_of_sight() {
        None => Ok(path),
        Some(reason) => Err(Error::Launch {
            program: options.program.clone(),
            reason: reason.into(),
        }),
    }
}

/// The first bytes of an ELF file.
const ELF: &[u8] = b"\x7fELF";

/// Whether a file is source code, by its extension.
fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        ["c", "cc", "cpp", "cxx", "c++", "C", "h", "hh", "hpp", "rs"].contains(&extension)
    })
}

fn accessible(path: &Path, mode: i32) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: access(2) reads a nul-terminated string.
    unsafe { libc::access(path.as_ptr(), mode) == 0 }
}

/// Checks the ELF header in a file's first bytes, `head`; the error says why the debugger can't run the file.
fn header(head: &[u8]) -> Result<(), String> {
    if let Some(rest) = head.strip_prefix(b"#!") {
        let line = rest.split(|&b| b == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let interpreter = line.trim();
        return Err(if interpreter.is_empty() {
            "it is a script, not a native program".into()
        } else {
            format!(
                "it is a script; to debug its interpreter, launch {interpreter} with the script as argument"
            )
        });
    }
    if head.is_empty() {
        return Err("the file is empty".into());
    }
    if !head.starts_with(ELF) {
        return Err("it is not an ELF program".into());
    }
    let half = |at: usize| {
        head.get(at..at + 2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]))
    };
    match (head.get(4), head.get(5)) {
        (Some(1), _) => {
            return Err(
                "it is a 32-bit program; only 64-bit x86-64 programs can be debugged".into(),
            );
        }
        (Some(2), Some(1)) => {}
        (Some(2), Some(2)) => return Err(
            "it is a big-endian program of another machine; only x86-64 programs can be debugged"
                .into(),
        ),
        _ => return Err("its ELF header is broken or cut off".into()),
    }
    match half(18) {
        Some(62) => {}
        Some(other) => {
            let name = match other {
                3 => "i386",
                40 => "ARM",
                183 => "AArch64",
                243 => "RISC-V",
                21 => "PowerPC",
                _ => "another machine",
            };
            return Err(format!(
                "it is a program for {name} (ELF machine {other}); only x86-64 programs can be debugged"
            ));
        }
        None => return Err("its ELF header is broken or cut off".into()),
    }
    match half(16) {
        Some(2 | 3) => Ok(()),
        Some(1) => Err("it is an object file: link it first".into()),
        Some(4) => Err("it is a core file, not a program".into()),
        _ => Err("its ELF header is broken or cut off".into()),
    }
}

/// Checks that the file contains all of its segments, and that its interpreter exists.
fn segments(file: &fs::File, head: &[u8], length: u64) -> Result<(), String> {
    const LOAD: u32 = 1;
    const INTERPRETER: u32 = 3;
    /// The longest path (`PATH_MAX`).
    const MOST_BYTES: u64 = 4096;
    let broken = || "its ELF header is broken or cut off".to_owned();
    let number = |bytes: &[u8], at: usize, size: usize| {
        let mut number = [0; 8];
        number[..size].copy_from_slice(bytes.get(at..at + size)?);
        Some(u64::from_le_bytes(number))
    };
    let of_header = |at, size| number(head, at, size).ok_or_else(broken);
    let (table, size, count) = (of_header(32, 8)?, of_header(54, 2)?, of_header(56, 2)?);
    for index in 0..count {
        let mut segment = [0; 56];
        let at = table.checked_add(index * size).ok_or_else(broken)?;
        file.read_exact_at(&mut segment, at).map_err(|_| broken())?;
        let of_segment = |at, size| number(&segment, at, size).ok_or_else(broken);
        let (kind, start, bytes) = (of_segment(0, 4)?, of_segment(8, 8)?, of_segment(32, 8)?);
        let end = start.checked_add(bytes).ok_or_else(broken)?;
        if kind == u64::from(LOAD) && end > length {
            return Err(format!(
                "the file is cut off: it has {length} bytes, and parts of the program are behind them"
            ));
        }
        if kind == u64::from(INTERPRETER) && bytes <= MOST_BYTES {
            let mut name = vec![0; bytes as usize];
            file.read_exact_at(&mut name, start).map_err(|_| broken())?;
            let name: Vec<u8> = name.into_iter().take_while(|byte| *byte != 0).collect();
            let name = PathBuf::from(OsString::from_vec(name));
            if !name.exists() {
                return Err(format!("its interpreter {} is missing", name.display()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(class: u8, data: u8, kind: u16, machine: u16) -> Vec<u8> {
        let mut head = vec![0x7f, b'E', b'L', b'F', class, data, 1];
        head.resize(16, 0);
        head.extend(kind.to_le_bytes());
        head.extend(machine.to_le_bytes());
        head
    }

    #[test]
    fn each_kind_of_wrong_file_gets_its_own_sentence() {
        let cases: [(Vec<u8>, &str); 8] = [
            (b"#!/bin/sh -e\necho".to_vec(), "launch /bin/sh -e with"),
            (b"#!".to_vec(), "script"),
            (Vec::new(), "empty"),
            (b"int main;".to_vec(), "not an ELF"),
            (elf(1, 1, 2, 3), "32-bit"),
            (elf(2, 1, 3, 183), "AArch64"),
            (elf(2, 1, 1, 62), "object file"),
            (elf(2, 1, 3, 62)[..17].to_vec(), "cut off"),
        ];
        for (head, part) in cases {
            let sentence = header(&head).expect_err("must be refused");
            assert!(sentence.contains(part), "{sentence:?} should say {part:?}");
        }
        assert_eq!(header(&elf(2, 1, 3, 62)), Ok(()));
        assert_eq!(header(&elf(2, 1, 2, 62)), Ok(()));
    }
}
