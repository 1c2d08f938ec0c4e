//! What is sent to another machine: this program in a form that runs there, or a program of the user's.
//!
//! A program that is linked dynamically runs only where the same libraries are. So a static one beside ours is preferred, unless it is older.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};

/// The variable that names the file to send in place of this program.
pub const VARIABLE: &str = "DAPPLE_FAR_BINARY";

/// A file to be sent, open for reading.
#[derive(Debug)]
pub struct Parcel {
    /// The file.
    pub file: File,
    /// The name that it gets there.
    pub name: String,
    /// Its SHA-256, in hexadecimal digits.
    pub hash: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Parcel {
    /// Opens a file to be sent as `name`.
    ///
    /// # Errors
    /// It can't be read.
    pub fn of(path: &Path, name: &str) -> anyhow::Result<Parcel> {
        let cannot = || format!("can't send {}", path.display());
        let mut file = File::open(path).with_context(cannot)?;
        if !file.metadata().with_context(cannot)?.is_file() {
            bail!("can't send {}: it is no file", path.display());
        }
        let mut digest = Sha256::new();
        let (mut size, mut buffer) = (0, vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    digest.update(&buffer[..count]);
                    size += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).with_context(cannot),
            }
        }
        file.rewind().with_context(cannot)?;
        let digits = digest.finalize();
        let hash = digits.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = name.to_owned();
        Ok(Parcel {
            file,
            name,
            hash,
            size,
        })
    }

    /// This program, in the form that is most likely to run there. `given`: what the user says is to be sent.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn dapple(given: Option<&Path>) -> anyhow::Result<Parcel> {
        let given = given.map(Path::to_owned);
        let given = given.or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
        Parcel::of(&given.unwrap_or_else(chosen), "dapple")
    }
}

/// Our own executable, or the static one beside it.
fn chosen() -> PathBuf {
    // It can be opened even if the file was replaced meanwhile.
    let running = PathBuf::from("/proc/self/exe");
    if is_static(&running).unwrap_or(false) {
        return running;
    }
    let Ok(own) = std::env::current_exe() else {
        return running;
    };
    let written = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let folder = own.parent().unwrap_or(Path::new("/"));
    // The second is where the repository's `cargo xtask dist` puts it, seen from cargo's own folders.
    let beside = [folder.join("dapple-static"), folder.join("../dist/dapple")];
    let is_fit = |path: &PathBuf| {
        written(path) >= written(&running)
            && written(path).is_some()
            && is_static(path).unwrap_or(false)
    };
    beside.into_iter().find(is_fit).unwrap_or(running)
}

/// Whether an executable needs no dynamic loader: it has no program header of the type PT_INTERP (elf(5)).
fn is_static(path: &Path) -> io::Result<bool> {
    const INTERPRETER: u32 = 3;
    let mut file = File::open(path)?;
    let mut header = [0; 64];
    file.read_exact(&mut header)?;
    // 64 bits, little-endian.
    if header[..6] != *b"\x7fELF\x02\x01" {
        return Ok(false);
    }
    let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let mut offset = [0; 8];
    offset.copy_from_slice(&header[32..40]);
    let (size, count) = (usize::from(short(54)), usize::from(short(56)));
    file.seek(io::SeekFrom::Start(u64::from_le_bytes(offset)))?;
    let mut entries = vec![0; size * count];
    file.read_exact(&mut entries)?;
    let mut kinds = entries.chunks_exact(size.max(4)).map(|entry| {
        let mut kind = [0; 4];
        kind.copy_from_slice(&entry[..4]);
        u32::from_le_bytes(kind)
    });
    Ok(count > 0 && !kinds.any(|kind| kind == INTERPRETER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_what_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "abc").expect("a file");
        let mut parcel = Parcel::of(&path, "name").expect("a parcel");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((&*parcel.hash, parcel.size), (expected, 3));
        let mut text = String::new();
        parcel.file.read_to_string(&mut text).expect("the text");
        assert_eq!(text, "abc");
        assert!(Parcel::of(folder.path(), "name").is_err(), "a folder");
    }

    #[test]
    fn what_is_no_executable_is_not_static() {
        assert!(!is_static(Path::new("/proc/self/status")).unwrap_or(false));
        // The test is linked as the binary is.
        let own = is_static(Path::new("/proc/self/exe")).expect("an executable");
        assert_eq!(own, cfg!(target_feature = "crt-static"));
    }
}
