//! Documents and other objects of the stub: `qXfer`, in pieces that fit its packets.

use super::{Client, Pieces, not_supported};
use crate::description::{self, Description};
use crate::documents::{self, Library, MemoryRegion, SvrLibraries};
use crate::error::{Error, Result, Support, shown};
use crate::features::Feature;
use crate::hex;

/// The largest list of libraries, in bytes.
const MAX_LIBRARIES: usize = 8 << 20;
/// The largest auxiliary vector, signal information and path, in bytes.
const MAX_SMALL: usize = 64 << 10;

impl Client {
    /// Reads an object (`qXfer:OBJECT:read:ANNEX`) of at most `limit` bytes. `None` if the stub doesn't know the packet.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if it has more bytes; [`Error::Stub`] if there is no such object now; [`Error::Unexpected`]; else those of the connection.
    pub fn transfer(&mut self, object: &str, annex: &str, limit: usize) -> Result<Option<Vec<u8>>> {
        let whole = self.whole_deadline();
        let mut read = Vec::new();
        let mut pieces = Pieces::default();
        let most = self.most_transferred();
        loop {
            let asked = self.transferring(object, annex, read.len());
            let asked = asked.as_bytes();
            let deadline = self.next_deadline(whole);
            let Some(answer) = self.query_until(asked, deadline)? else {
                return match read.is_empty() {
                    true => Ok(None),
                    false => Err(not_supported(asked)),
                };
            };
            let Some((kind @ (b'm' | b'l'), data)) = answer.split_first() else {
                return Err(Error::unexpected(asked, &answer));
            };
            if data.len() > most {
                return Err(Error::wrong(asked, format!("{} bytes", data.len())));
            }
            if read.len() + data.len() > limit {
                return Err(Error::TooLong {
                    what: shown(asked),
                    limit,
                });
            }
            read.extend_from_slice(data);
            pieces.another(asked, read.len())?;
            match (kind, data) {
                (b'l', _) => return Ok(Some(read)),
                (_, []) => return Err(Error::wrong(asked, "no bytes, and more to come")),
                _ => {}
            }
        }
    }

    /// How many bytes are asked for at a time: gdb asks for one less than a packet, for the letter in front.
    fn most_transferred(&self) -> usize {
        self.room().saturating_sub(1).max(1)
    }

    /// The packet that reads an object, from an offset on.
    pub(super) fn transferring(&self, object: &str, annex: &str, offset: usize) -> String {
        let most = self.most_transferred();
        format!("qXfer:{object}:read:{annex}:{offset:x},{most:x}")
    }

    /// The target description with the files that it includes (`qXfer:features:read`). `None` if the stub gives none.
    ///
    /// # Errors
    ///
    /// [`Error::Document`]; else those of [`Client::transfer`].
    pub fn description(&mut self) -> Result<Option<Description>> {
        if !self.has(Feature::ReadFeatures) {
            return Ok(None);
        }
        description::read(|file| {
            let text = self.transfer("features", file, description::MAX_SIZE)?;
            text.ok_or_else(|| not_supported(format!("qXfer:features:read:{file}").as_bytes()))
        })
        .map(Some)
    }

    /// The auxiliary vector, as the kernel has made it: pairs of words in the debuggee's size and byte order (`qXfer:auxv:read`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::transfer`].
    pub fn auxv(&mut self) -> Result<Option<Vec<u8>>> {
        self.transfer("auxv", "", MAX_SMALL)
    }

    /// The path of a process's program on the stub's machine (`qXfer:exec-file:read`). Without a process, that of the chosen thread's.
    ///
    /// # Errors
    ///
    /// Those of [`Client::transfer`].
    pub fn exec_file(&mut self, process: Option<u64>) -> Result<Option<Vec<u8>>> {
        let annex = process.map_or_else(String::new, |process| format!("{process:x}"));
        self.transfer("exec-file", &annex, MAX_SMALL)
    }

    /// What the kernel knows of the chosen thread's signal, as the debuggee's `siginfo_t` (`qXfer:siginfo:read`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::transfer`]; [`Error::Stub`] if there was no signal.
    pub fn siginfo(&mut self) -> Result<Option<Vec<u8>>> {
        self.transfer("siginfo", "", MAX_SMALL)
    }

    /// Replaces what [`Client::siginfo`] gives (`qXfer:siginfo:write`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`]; [`Error::Unexpected`] if not all was written.
    pub fn write_siginfo(&mut self, info: &[u8]) -> Result<Support> {
        let mut packet = b"qXfer:siginfo:write::0:".to_vec();
        packet.extend_from_slice(info);
        match self.query(&packet)? {
            None => Ok(Support::NotSupported),
            Some(count) if hex::number(&count) == Some(info.len() as u64) => Ok(Support::Done),
            Some(other) => Err(Error::unexpected(&packet, &other)),
        }
    }

    /// Loaded libraries of a program with the ELF format (`qXfer:libraries-svr4:read`).
    ///
    /// # Errors
    ///
    /// [`Error::Document`]; else those of [`Client::transfer`].
    pub fn svr_libraries(&mut self) -> Result<Option<SvrLibraries>> {
        let document = self.transfer("libraries-svr4", "", MAX_LIBRARIES)?;
        document
            .map(|text| documents::svr_libraries(&text))
            .transpose()
    }

    /// Loaded libraries of another program (`qXfer:libraries:read`).
    ///
    /// # Errors
    ///
    /// [`Error::Document`]; else those of [`Client::transfer`].
    pub fn libraries(&mut self) -> Result<Option<Vec<Library>>> {
        let document = self.transfer("libraries", "", MAX_LIBRARIES)?;
        document.map(|text| documents::libraries(&text)).transpose()
    }

    /// What memory there is, as stubs of devices tell it (`qXfer:memory-map:read`).
    ///
    /// # Errors
    ///
    /// [`Error::Document`]; else those of [`Client::transfer`].
    pub fn memory_map(&mut self) -> Result<Option<Vec<MemoryRegion>>> {
        let document = self.transfer("memory-map", "", MAX_LIBRARIES)?;
        document
            .map(|text| documents::memory_map(&text))
            .transpose()
    }

    /// Facts about the stub's machine, such as `processes` and `modules`, as a document (`qXfer:osdata:read`). An empty annex gives the list of them.
    ///
    /// # Errors
    ///
    /// Those of [`Client::transfer`].
    pub fn osdata(&mut self, annex: &str) -> Result<Option<Vec<u8>>> {
        self.transfer("osdata", annex, MAX_LIBRARIES)
    }
}
