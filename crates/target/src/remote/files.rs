//! Files of the stub's machine: the program and its libraries with their symbols, and what `/proc` says of the process.
//!
//! A module is opened here if this machine has it, too: under the folder that the user has named (`sysroot`), or at the same path. Whether it
//! is the same file is decided by what the stub gives of it: its size, and its first bytes, in which ELF files have their build id. One that
//! isn't here is fetched into a private folder, and removed with it.

use crate::private_folder::PrivateFolder;
use dapple_gdb_remote::client::File;
use dapple_gdb_remote::{Client, Error};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How much of the beginning of two files is compared, in bytes: the headers of an ELF file and its notes.
const COMPARED: usize = 4096;
/// The largest file that is fetched, in bytes.
const MOST_FETCHED: u64 = 2 << 30;
/// How much is fetched by one call.
const PIECE: usize = 1 << 20;
/// The largest file of `/proc` that is read, in bytes.
const MOST_PROC: usize = 16 << 20;

/// The stub's files that were looked for.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// A folder of this machine with a copy of the other one's system.
    sysroot: Option<PathBuf>,
    /// Where each file is to be opened.
    known: BTreeMap<PathBuf, PathBuf>,
    fetched: Option<PrivateFolder>,
    /// Whether the stub gives no files.
    gives_none: bool,
}

impl Files {
    pub(super) fn new(sysroot: Option<PathBuf>) -> Files {
        Files {
            sysroot,
            ..Files::default()
        }
    }

    /// A path of this machine at which a file can be opened that is at `path` for the process. Where there is no such file, `path` itself.
    ///
    /// # Errors
    /// Those that end the connection.
    pub(super) fn visible(&mut self, client: &mut Client, path: &Path) -> Result<PathBuf, Error> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let found = self.find(client, path)?;
        self.known.insert(path.to_owned(), found.clone());
        Ok(found)
    }

    fn find(&mut self, client: &mut Client, path: &Path) -> Result<PathBuf, Error> {
        let inside = path.strip_prefix("/").unwrap_or(path);
        if let Some(copy) = self.sysroot.as_ref().map(|root| root.join(inside))
            && copy.is_file()
        {
            return Ok(copy);
        }
        let theirs = match self.open(client, path)? {
            Some(theirs) => theirs,
            None => return Ok(path.to_owned()),
        };
        let status = answered(client.file_status(theirs))?.flatten();
        let size = status.map(|status| status.size);
        let same = answered(is_same(client, theirs, size, path))?;
        let found = match (same, size) {
            (Some(true), _) => Ok(path.to_owned()),
            (_, Some(size)) if size <= MOST_FETCHED => self.fetch(client, theirs, path, size),
            _ => Ok(path.to_owned()),
        };
        answered(client.close(theirs))?;
        Ok(found.unwrap_or_else(|error| {
            tracing::warn!(%error, path = %path.display(), "a file of the stub's machine can't be fetched");
            path.to_owned()
        }))
    }

    fn open(&mut self, client: &mut Client, path: &Path) -> Result<Option<File>, Error> {
        if self.gives_none {
            return Ok(None);
        }
        let opened = answered(client.open(path.as_os_str().as_bytes()))?;
        // It doesn't know the packet.
        self.gives_none = opened == Some(None);
        Ok(opened.flatten())
    }

    fn fetch(
        &mut self,
        client: &mut Client,
        theirs: File,
        path: &Path,
        size: u64,
    ) -> Result<PathBuf, String> {
        let folder = match &self.fetched {
            Some(folder) => folder,
            None => {
                let folder = PrivateFolder::new().map_err(|error| error.to_string())?;
                self.fetched.insert(folder)
            }
        };
        // Two libraries may have the same name in different folders.
        let place = folder.path().join(self.known.len().to_string());
        let name = path.file_name().ok_or("it has no name")?;
        std::fs::create_dir_all(&place).map_err(|error| error.to_string())?;
        let place = place.join(name);
        let mut file = std::fs::File::create(&place).map_err(|error| error.to_string())?;
        let mut piece = vec![0; PIECE];
        let mut done = 0;
        while done < size {
            let count = client
                .read_file(theirs, done, &mut piece)
                .map_err(|error| error.to_string())?;
            if count == 0 {
                break;
            }
            file.write_all(&piece[..count])
                .map_err(|error| error.to_string())?;
            done += count as u64;
        }
        Ok(place)
    }

    /// The whole of a small file, such as one of `/proc`. `None`: the stub doesn't give it.
    ///
    /// # Errors
    /// Those that end the connection.
    pub(super) fn whole(
        &mut self,
        client: &mut Client,
        path: &str,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some(file) = self.open(client, Path::new(path))? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let mut piece = vec![0; 64 << 10];
        let read = loop {
            match client.read_file(file, bytes.len() as u64, &mut piece) {
                Ok(0) => break Ok(()),
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
                Err(error) => break Err(error),
            }
            if bytes.len() > MOST_PROC {
                break Ok(());
            }
        };
        let read = answered(read)?;
        answered(client.close(file))?;
        Ok(read.map(|()| bytes))
    }
}

/// What the stub has answered. `None`: it has refused, or what it has said is no answer.
fn answered<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.ends_connection() => Err(error),
        Err(_) => Ok(None),
    }
}

/// Whether this machine's file at `path` is the stub's.
fn is_same(
    client: &mut Client,
    theirs: File,
    size: Option<u64>,
    path: &Path,
) -> Result<bool, Error> {
    // Opening a pipe would wait for who writes to it.
    let metadata = std::fs::metadata(path).ok().filter(|it| it.is_file());
    if metadata.is_none_or(|it| size.is_some_and(|size| it.len() != size)) {
        return Ok(false);
    }
    let Ok(mut ours) = std::fs::File::open(path) else {
        return Ok(false);
    };
    let mut our_bytes = Vec::new();
    let read = (&mut ours)
        .take(COMPARED as u64)
        .read_to_end(&mut our_bytes);
    let mut their_bytes = vec![0; COMPARED];
    let count = client.read_file(theirs, 0, &mut their_bytes)?;
    Ok(read.is_ok() && our_bytes == their_bytes[..count])
}
