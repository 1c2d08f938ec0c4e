//! How a recorded program has begun, and another process that begins in the same state.

use super::file::Recording;
use super::file::records::{Beginning, Bytes, RecordedMapping};
use super::{Journal, processor, start};
use crate::launch::{LaunchOptions, ProcessGroup, Sink, Stdin};
use crate::linux::checkpoint::{Checkpoint, Original};
use crate::linux::injected::{self, lost};
use crate::linux::memory::ProcessMemory;
use crate::linux::{process, ptrace};
use crate::memory_map::Mapping;
use crate::{Address, ThreadId};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The most that a stack may have in the beginning: arguments and environment (execve(2) allows a quarter of the stack, at most 6 MiB).
const MOST_STACK: u64 = 8 << 20;

impl Beginning {
    /// Asks a process that [`start::prepare`] has made ready. `arguments`: without the program's name.
    ///
    /// # Errors
    /// The end of a sentence that says why it can't be recorded.
    pub(super) fn of(
        thread: ThreadId,
        program: &Path,
        arguments: &[OsString],
    ) -> Result<Beginning, String> {
        let registers = ptrace::registers(thread).map_err(lost)?;
        let mappings = process::mappings(thread);
        let sp = registers.sp();
        let stack = stack_of(&mappings, sp).ok_or("it has no stack")?;
        let length = (stack.end - sp).min(MOST_STACK) as usize;
        let mut bytes = vec![0; length];
        let memory = ProcessMemory::open(thread).map_err(lost)?;
        let read = memory.read(Address(sp), &mut bytes);
        read.map_err(|at| format!("its stack can't be read at {at}"))?;
        let folder = std::env::current_dir().map_err(|error| error.to_string())?;
        let environment = std::env::vars_os().map(|(name, value)| {
            let mut entry = name.as_bytes().to_vec();
            entry.push(b'=');
            entry.extend(value.as_bytes());
            Bytes(entry)
        });
        Ok(Beginning {
            program: Bytes::of(program),
            arguments: arguments.iter().map(Bytes::of).collect(),
            environment: environment.collect(),
            folder: Bytes::of(folder),
            process: thread,
            registers,
            stack: bytes,
            mappings: mappings.into_iter().map(recorded).collect(),
            processor: processor::present(),
        })
    }
}

impl Recording {
    /// How to start the program so that it begins as it was recorded, without input and output.
    pub fn launch_options(&self) -> LaunchOptions {
        let beginning = &self.beginning;
        let mut env: Vec<(OsString, Option<OsString>)> =
            std::env::vars_os().map(|(name, _)| (name, None)).collect();
        env.extend(beginning.environment.iter().map(|entry| {
            let text = &entry.0;
            let split = text.iter().position(|byte| *byte == b'=');
            let (name, value) = text.split_at(split.unwrap_or(text.len()));
            let value = Bytes(value.get(1..).unwrap_or_default().to_vec());
            (Bytes(name.to_vec()).to_text(), Some(value.to_text()))
        }));
        LaunchOptions {
            program: beginning.program(),
            args: beginning.arguments(),
            env,
            stdin: Stdin::Null,
            stdout: Sink::Null,
            stderr: Sink::Null,
            process_group: ProcessGroup::Own,
            ..LaunchOptions::default()
        }
    }

    /// Makes a process begin as the recorded one, which has just executed the program and is stopped there; and a copy of it, to be run. The
    /// process itself only stands for the recorded one, and must never run. Returns the beginning, to go back to, and what has come from
    /// outside. The journal can be taken only once.
    ///
    /// # Errors
    /// The end of a sentence that says what is different here.
    pub fn begin(&mut self, thread: ThreadId) -> Result<(Checkpoint, Journal), String> {
        self.check_files()?;
        let here = processor::present();
        let there = &self.beginning.processor;
        if here != *there {
            return Err(format!(
                "it was recorded on another processor, for which libraries have other code: {} there, {} here",
                there.name(),
                here.name()
            ));
        }
        start::prepare(thread)?;
        self.restore(thread)?;
        let journal = self.take_journal(thread)?;
        let checkpoint = Checkpoint::take(&[Original::ask(thread)?], thread)?;
        Ok((checkpoint, journal))
    }

    /// Gives a process the memory and registers of the recorded one.
    fn restore(&self, thread: ThreadId) -> Result<(), String> {
        let beginning = &self.beginning;
        let now: Vec<RecordedMapping> =
            { process::mappings(thread).into_iter().map(recorded) }.collect();
        let same = |name: &str, mappings: &[RecordedMapping]| -> Vec<RecordedMapping> {
            let those = mappings.iter().filter(|it| it.name == name);
            those.cloned().collect()
        };
        for mapping in now.iter().chain(&beginning.mappings) {
            let name = mapping.name.as_str();
            let [here, there] = [now.as_slice(), beginning.mappings.as_slice()]
                .map(|mappings| same(name, mappings));
            match name {
                _ if here == there => {}
                STACK => {}
                _ if is_of_kernel(name) => unmap(thread, &here)?,
                _ => return Err(elsewhere(name, &here, &there)),
            }
        }
        let sp = beginning.registers.sp();
        let mappings = process::mappings(thread);
        let end = sp.saturating_add(beginning.stack.len() as u64);
        if stack_of(&mappings, sp).is_none_or(|stack| stack.end != end) {
            return Err("this system has its stack elsewhere".into());
        }
        let memory = ProcessMemory::open(thread).map_err(lost)?;
        let written = memory.write(Address(sp), &beginning.stack);
        written.map_err(|error| format!("its stack can't be written: {error}"))?;
        ptrace::set_registers(thread, &beginning.registers).map_err(lost)
    }
}

/// What the kernel calls the first thread's stack.
const STACK: &str = "[stack]";

/// Whether a mapping is one of the kernel's, which the program doesn't know of.
fn is_of_kernel(name: &str) -> bool {
    name.starts_with("[v")
}

fn unmap(thread: ThreadId, mappings: &[RecordedMapping]) -> Result<(), String> {
    for mapping in mappings.iter().filter(|it| it.name != "[vsyscall]") {
        let arguments = [mapping.start, mapping.end - mapping.start, 0, 0, 0, 0];
        injected::answered(thread, libc::SYS_munmap, arguments, None)?;
    }
    Ok(())
}

/// The end of a sentence: files are mapped elsewhere.
fn elsewhere(name: &str, here: &[RecordedMapping], there: &[RecordedMapping]) -> String {
    let place = |mappings: &[RecordedMapping]| match mappings.first() {
        Some(first) => format!("at {}", Address(first.start)),
        None => "nowhere".to_owned(),
    };
    let what = match name {
        "" => "memory",
        name => name,
    };
    format!(
        "this system maps {what} {}, and it was {}",
        place(here),
        place(there)
    )
}

fn stack_of(mappings: &[Mapping], sp: u64) -> Option<std::ops::Range<u64>> {
    let mut all = mappings.iter().map(|mapping| mapping.start..mapping.end);
    all.find(|range| range.contains(&sp))
}

fn recorded(mapping: Mapping) -> RecordedMapping {
    RecordedMapping {
        start: mapping.start,
        end: mapping.end,
        rights: [mapping.read, mapping.write, mapping.execute],
        offset: mapping.offset,
        name: mapping.name,
    }
}
