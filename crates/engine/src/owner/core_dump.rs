//! Writes a core dump of the stopped process.

use super::Owner;
use crate::{Error, ThreadId};
use dapple_arch::Machine;
use dapple_inspect::inspect::Inspect;
use dapple_target::core_file::write::{WrittenProcess, WrittenThread};
use std::path::Path;

impl Owner {
    pub(crate) fn write_core(&mut self, path: &Path) -> Result<(), Error> {
        self.require_stopped()?;
        let machine = self.process().machine();
        if machine != Machine::X86_64 {
            let name = machine.name();
            let why =
                format!("core files can be written of x86-64's programs only, not of {name}'s");
            return Err(Error::Refused(why));
        }
        let mut ids: Vec<ThreadId> = self.live_threads().collect();
        // Readers take the first thread as the current one.
        ids.sort_by_key(|id| *id != self.current());
        let mut threads = Vec::new();
        for id in ids {
            let Some(registers) = self.registers(id) else {
                continue;
            };
            let signal = self.signal_of(id);
            let info = || self.process().signal_info(id).ok();
            threads.push(WrittenThread {
                id,
                signal,
                info: (signal != 0).then(info).flatten(),
                registers,
                vectors: self.process().vectors(id).ok(),
                extended: self.process().extended_state(id).unwrap_or_default(),
                name: self.process().thread_name(id),
            });
        }
        let refused = |error: std::io::Error| Error::System {
            operation: format!("cannot write {}", path.display()),
            reason: error.to_string(),
        };
        let written = WrittenProcess {
            process: self.process().id(),
            name: self.process().thread_name(self.process().id()),
            command: self.process().command_line(),
            threads,
            auxiliary: self.process().auxiliary_bytes().unwrap_or_default(),
            mappings: self.mappings(),
            own: self.process().own_mappings().map_err(refused)?,
            memory: self.memory(),
        };
        written.write(path).map_err(refused)
    }
}
