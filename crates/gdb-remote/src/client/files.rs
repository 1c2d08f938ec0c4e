//! Files on the stub's machine, read only: `vFile` (gdb manual, "Host I/O Packets").

use super::{Client, Pieces, not_supported};
use crate::error::{Error, Result, StubError, Support, shown};
use crate::hex;

/// An open file of the stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    descriptor: u64,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// The type and the permissions, in the numbers of gdb's File-I/O protocol, which are those of Linux.
    pub mode: u32,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last modification, in seconds since 1970.
    pub modified: u32,
}

/// The size of the protocol's `struct stat`, in bytes.
const STATUS: usize = 64;

/// An answer `FRESULT;ATTACHMENT`.
struct Done {
    result: u64,
    attachment: Vec<u8>,
}

impl Client {
    /// Chooses the process whose root directory paths begin at (`vFile:setfs`). Without one, it is the stub's.
    ///
    /// # Errors
    ///
    /// [`Error::Stub`] with [`StubError::File`], [`Error::Unexpected`]; else those of the connection.
    pub fn choose_file_system(&mut self, process: Option<u64>) -> Result<Support> {
        let packet = format!("vFile:setfs:{:x}", process.unwrap_or_default());
        Ok(match self.file_request(packet.as_bytes())? {
            Some(_) => Support::Done,
            None => Support::NotSupported,
        })
    }

    /// Opens a file for reading (`vFile:open`). `None` if the stub has no file operations.
    ///
    /// # Errors
    ///
    /// Those of [`Client::choose_file_system`].
    pub fn open(&mut self, path: &[u8]) -> Result<Option<File>> {
        let packet = format!("vFile:open:{},0,0", hex::encode(path));
        let done = self.file_request(packet.as_bytes())?;
        Ok(done.map(|done| File {
            descriptor: done.result,
        }))
    }

    /// Reads from an open file (`vFile:pread`) at an offset in bytes. Gives how many bytes were read: less than asked for at the end of the file only.
    ///
    /// # Errors
    ///
    /// Those of [`Client::choose_file_system`], and [`Error::NotSupported`].
    pub fn read_file(&mut self, file: File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let whole = self.whole_deadline();
        let most = self.room().saturating_sub(32).max(1);
        let mut done = 0;
        let mut pieces = Pieces::default();
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = offset.checked_add(done as u64) else {
                break;
            };
            let asked = rest.len().min(most);
            let packet = format!("vFile:pread:{:x},{asked:x},{at:x}", file.descriptor);
            let packet = packet.as_bytes();
            let deadline = self.next_deadline(whole);
            let answer = self
                .query_until(packet, deadline)?
                .ok_or_else(|| not_supported(packet))?;
            let answered = file_answer(packet, &answer)?;
            let read = answered.attachment;
            if answered.result != read.len() as u64 || read.len() > asked {
                return Err(Error::unexpected(packet, &answer));
            }
            if read.is_empty() {
                break;
            }
            if let Some(part) = rest.get_mut(..read.len()) {
                part.copy_from_slice(&read);
            }
            done += read.len();
            pieces.another(packet, done)?;
        }
        Ok(done)
    }

    /// What is known of an open file (`vFile:fstat`). `None` if the stub doesn't know the packet.
    ///
    /// # Errors
    ///
    /// Those of [`Client::choose_file_system`].
    pub fn file_status(&mut self, file: File) -> Result<Option<FileStatus>> {
        let packet = format!("vFile:fstat:{:x}", file.descriptor);
        let Some(done) = self.file_request(packet.as_bytes())? else {
            return Ok(None);
        };
        let status: [u8; STATUS] = done
            .attachment
            .try_into()
            .map_err(|other: Vec<u8>| Error::unexpected(packet.as_bytes(), &other))?;
        // Big-endian: device, inode, mode, links, user, group and device of 4 bytes each, then 8 bytes of size, block size and blocks each, and
        // three times of 4.
        Ok(Some(FileStatus {
            mode: word(&status, 8),
            size: u64::from(word(&status, 28)) << 32 | u64::from(word(&status, 32)),
            modified: word(&status, 56),
        }))
    }

    /// Where a symbolic link leads to (`vFile:readlink`). `None` if the stub doesn't know the packet.
    ///
    /// # Errors
    ///
    /// Those of [`Client::choose_file_system`].
    pub fn read_link(&mut self, path: &[u8]) -> Result<Option<Vec<u8>>> {
        let packet = format!("vFile:readlink:{}", hex::encode(path));
        let done = self.file_request(packet.as_bytes())?;
        Ok(done.map(|done| done.attachment))
    }

    /// Closes an open file (`vFile:close`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::choose_file_system`].
    pub fn close(&mut self, file: File) -> Result<Support> {
        let packet = format!("vFile:close:{:x}", file.descriptor);
        Ok(match self.file_request(packet.as_bytes())? {
            Some(_) => Support::Done,
            None => Support::NotSupported,
        })
    }

    fn file_request(&mut self, packet: &[u8]) -> Result<Option<Done>> {
        let answer = self.query(packet)?;
        answer
            .map(|answer| file_answer(packet, &answer))
            .transpose()
    }
}

/// The big-endian number of 4 bytes at an offset.
fn word(status: &[u8; STATUS], at: usize) -> u32 {
    status
        .iter()
        .skip(at)
        .take(4)
        .fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// Reads `FRESULT`, `F-1,ERRNO`, or one of them with `;ATTACHMENT`.
fn file_answer(asked: &[u8], answer: &[u8]) -> Result<Done> {
    let unexpected = || Error::unexpected(asked, answer);
    let rest = answer.strip_prefix(b"F").ok_or_else(unexpected)?;
    let mut parts = rest.splitn(2, |byte| *byte == b';');
    let head = parts.next().unwrap_or_default();
    let attachment = parts.next().unwrap_or_default().to_vec();
    if let Some(failed) = head.strip_prefix(b"-1") {
        let number = failed.strip_prefix(b",").and_then(hex::number);
        return Err(Error::Stub {
            asked: shown(asked),
            error: StubError::File(
                number
                    .and_then(|number| u32::try_from(number).ok())
                    .unwrap_or_default(),
            ),
        });
    }
    Ok(Done {
        result: hex::number(head).ok_or_else(unexpected)?,
        attachment,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_file_operations_are_read() {
        let read = |answer: &[u8]| {
            file_answer(b"vFile:", answer)
                .map(|done| (done.result, done.attachment))
                .map_err(|error| error.to_string())
        };
        assert_eq!(read(b"F1f"), Ok((31, Vec::new())));
        assert_eq!(read(b"F3;a;b"), Ok((3, b"a;b".to_vec())));
        assert_eq!(
            read(b"F-1,2"),
            Err("the stub answers `vFile:` with file error 2".to_owned())
        );
        for other in ["", "F", "Fx", "OK", "F;a"] {
            assert!(read(other.as_bytes()).is_err(), "{other}");
        }
    }
}
