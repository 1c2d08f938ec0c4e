//! The cache folder for index files, one file for each build of a program.
//!
//! Several processes may use the folder at once, and each may be killed at any moment. A file is therefore written under
//! a unique name and renamed when it is complete, so readers only see complete files. Only the user may have write access
//! to the folder. Its size is limited: after each write, the least recently used files are removed until the rest fits.

use super::file::{IndexError, IndexFile};
use super::table;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

/// The file name extension of index files.
const SUFFIX: &str = ".index";
/// The file name extension of files that are being written.
const UNFINISHED: &str = ".part";
/// The age at which an unfinished file is considered abandoned.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The folder of index files.
#[derive(Debug)]
pub struct IndexCache {
    folder: PathBuf,
    /// The maximum size of all index files together, in bytes. The file just written stays even if it alone is larger.
    limit: u64,
}

/// A file of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedIndex {
    /// The file's name without extension, which identifies the build.
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// When the file was written or last used.
    pub used: SystemTime,
}

impl IndexCache {
    /// Two gigabytes: enough for some dozen indexes of large programs, or hundreds of small ones.
    pub const USUAL_LIMIT: u64 = 2 << 30;

    /// Opens the cache in a folder, which is created if it doesn't exist.
    ///
    /// # Errors
    /// The folder can't be created, belongs to another user, or other users can write to it.
    pub fn open(folder: PathBuf, limit: u64) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let metadata = fs::metadata(&folder)?;
        let own = fs::metadata("/proc/self")?.uid();
        if metadata.uid() != own || metadata.mode() & 0o022 != 0 {
            return Err(io::Error::other(format!(
                "{} can be written by other users; indexes are kept in no such folder",
                folder.display()
            )));
        }
        Ok(Self { folder, limit })
    }

    /// The path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes a broken index. Ignores errors: if the file can't be removed, it only fails again when it is next loaded.
    pub(crate) fn remove(&self, name: &str) {
        let _ = remove(&self.path(name));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{SUFFIX}"))
    }

    /// The index of a build; `Ok(None)` if there is none.
    ///
    /// # Errors
    /// The build's file can't be opened, has another format version or a damaged header, or was written with another key.
    pub(crate) fn load(&self, name: &str, key: &[u8]) -> Result<Option<IndexFile>, IndexError> {
        let path = self.path(name);
        if !path.exists() {
            return Ok(None);
        }
        let index = IndexFile::open(&path, Some(key))?;
        // The modification time records the last use; failing to set it is no error.
        let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Ok(Some(index))
    }

    /// Writes the index of a build, then removes the least recently used indexes until the cache is within its limit. An
    /// error of the removal is returned, too, although the index is stored by then.
    pub(crate) fn save(&self, name: &str, key: &[u8], tables: &[Vec<u8>]) -> io::Result<()> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.folder.join(format!(
            "{name}.{}.{number}{UNFINISHED}",
            std::process::id()
        ));
        let result = write_new(&unfinished, key, tables)
            .and_then(|()| fs::rename(&unfinished, self.path(name)));
        if result.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        result?;
        self.make_room(name)
    }

    /// All index files, the most recently used first.
    ///
    /// # Errors
    /// The folder can't be read.
    pub fn entries(&self) -> io::Result<Vec<CachedIndex>> {
        let mut entries = Vec::new();
        for (name, metadata) in self.files(SUFFIX)? {
            entries.push(CachedIndex {
                name,
                size: metadata.len(),
                used: metadata.modified()?,
            });
        }
        entries.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        Ok(entries)
    }

    /// The path of the program that an index was made of; `None` if the file can't be opened, is damaged, or has another
    /// format version.
    pub fn program_of(&self, index: &CachedIndex) -> Option<PathBuf> {
        let file = IndexFile::open(&self.path(&index.name), None).ok()?;
        let length = file.table_len(table::PROGRAM);
        let path = file.table(table::PROGRAM, 0..length).ok()?;
        Some(PathBuf::from(OsStr::from_bytes(path)))
    }

    /// Removes all index files and those unfinished files that are abandoned. Returns their total size in bytes.
    ///
    /// # Errors
    /// The folder can't be read, or a file can't be removed.
    pub fn clear(&self) -> io::Result<u64> {
        let mut freed = 0;
        for (suffix, age) in [(SUFFIX, Duration::ZERO), (UNFINISHED, ABANDONED)] {
            freed += self.remove_older(suffix, age)?;
        }
        Ok(freed)
    }

    /// Removes abandoned unfinished files, then the least recently used index files until the rest is within the limit.
    /// The index called `written` always stays.
    fn make_room(&self, written: &str) -> io::Result<()> {
        self.remove_older(UNFINISHED, ABANDONED)?;
        let mut size = 0;
        let (mut newest, mut rest): (Vec<_>, Vec<_>) = self
            .entries()?
            .into_iter()
            .partition(|entry| entry.name == written);
        newest.append(&mut rest);
        for entry in newest {
            size += entry.size;
            if size > self.limit && entry.name != written {
                remove(&self.path(&entry.name))?;
            }
        }
        Ok(())
    }

    fn remove_older(&self, suffix: &str, age: Duration) -> io::Result<u64> {
        let mut freed = 0;
        for (name, metadata) in self.files(suffix)? {
            let old = metadata.modified()?.elapsed().unwrap_or(Duration::ZERO) >= age;
            if old {
                remove(&self.folder.join(format!("{name}{suffix}")))?;
                freed += metadata.len();
            }
        }
        Ok(freed)
    }

    /// The files with this extension, each with its name without the extension. Skips files that disappear meanwhile.
    fn files(&self, suffix: &str) -> io::Result<Vec<(String, fs::Metadata)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_suffix(suffix)) else {
                continue;
            };
            match entry.metadata() {
                Ok(metadata) if metadata.is_file() => files.push((name.to_owned(), metadata)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }
}

fn write_new(path: &Path, key: &[u8], tables: &[Vec<u8>]) -> io::Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    IndexFile::write(&mut out, key, tables)?;
    let file = out.into_inner()?;
    // Set the time explicitly, because the kernel's own timestamps are coarser. The modification times decide which
    // index was used last.
    file.set_modified(SystemTime::now())
}

/// Removes a file that another process may have removed already.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    /// A folder that is removed when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("dapple-index-{}-{name}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        fn cache(&self, limit: u64) -> IndexCache {
            IndexCache::open(self.0.clone(), limit).expect("the folder can be made")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn names(cache: &IndexCache) -> Vec<String> {
        let entries = cache.entries().expect("the folder can be read");
        entries.into_iter().map(|entry| entry.name).collect()
    }

    fn tables(byte: u8) -> Vec<Vec<u8>> {
        vec![vec![byte; 200_000], vec![byte; 3]]
    }

    fn content(cache: &IndexCache, name: &str, key: &[u8]) -> Option<Vec<Vec<u8>>> {
        let index = cache.load(name, key).expect("it can be used")?;
        let table = |table| index.table(table, 0..index.table_len(table));
        let tables = [0, 1].map(|number| table(number).expect("it is whole").to_vec());
        Some(tables.to_vec())
    }

    /// Makes a file look as if it was last used `seconds` ago.
    fn age(cache: &IndexCache, name: &str, seconds: u64) {
        let then = SystemTime::now() - Duration::from_secs(seconds);
        let file = File::open(cache.path(name)).expect("it is there");
        file.set_modified(then).expect("it is ours");
    }

    #[test]
    fn what_is_saved_is_loaded_by_its_name_and_key() {
        let folder = Folder::new("saved");
        let cache = folder.cache(u64::MAX);
        assert_eq!(content(&cache, "a", b"1"), None);
        cache.save("a", b"1", &tables(1)).expect("it can be saved");
        cache.save("b", b"2", &tables(2)).expect("it can be saved");
        assert_eq!(content(&cache, "a", b"1"), Some(tables(1)));
        assert_eq!(content(&cache, "b", b"2"), Some(tables(2)));
        assert!(cache.load("a", b"2").is_err());
        cache
            .save("a", b"3", &tables(3))
            .expect("it can be replaced");
        assert_eq!(content(&cache, "a", b"3"), Some(tables(3)));
        let mode = fs::metadata(cache.path("a")).expect("it is there").mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(cache.clear().expect("it can be cleared") > 400_000);
        assert_eq!(names(&cache), [""; 0]);
    }

    #[test]
    fn the_files_used_longest_ago_make_room() {
        let folder = Folder::new("room");
        let cache = folder.cache(u64::MAX);
        for (name, seconds) in [("a", 30), ("b", 40), ("c", 20)] {
            cache.save(name, b"", &tables(0)).expect("it can be saved");
            age(&cache, name, seconds);
        }
        assert_eq!(names(&cache), ["c", "a", "b"]);
        assert!(content(&cache, "b", b"").is_some());
        assert_eq!(names(&cache), ["b", "c", "a"]);
        let size = cache.entries().expect("the folder can be read")[0].size;
        let bounded = folder.cache(3 * size);
        bounded.save("d", b"", &tables(0)).expect("it can be saved");
        assert_eq!(names(&cache), ["d", "b", "c"]);
        let tiny = folder.cache(1);
        tiny.save("e", b"", &tables(0)).expect("it can be saved");
        assert_eq!(names(&cache), ["e"]);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let folder = Folder::new("others");
        fs::create_dir(&folder.0).expect("it can be made");
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).expect("it is ours");
        let error = IndexCache::open(folder.0.clone(), 1)
            .unwrap_err()
            .to_string();
        assert!(error.contains("can be written by other users"), "{error}");
    }

    #[test]
    fn abandoned_files_are_removed_and_those_in_the_making_are_not() {
        let folder = Folder::new("abandoned");
        let cache = folder.cache(u64::MAX);
        let (old, new) = (folder.0.join("x.1.0.part"), folder.0.join("x.2.0.part"));
        fs::write(&old, "x").expect("it is ours");
        fs::write(&new, "x").expect("it is ours");
        let then = SystemTime::now() - 2 * ABANDONED;
        File::open(&old)
            .and_then(|file| file.set_modified(then))
            .expect("it is ours");
        cache.save("a", b"", &tables(0)).expect("it can be saved");
        assert!(!old.exists() && new.exists());
    }

    /// The environment variable with the folder that the writer of the next test writes to.
    const WRITER: &str = "DAPPLE_TEST_INDEX_WRITER";

    #[test]
    fn a_writer_killed_at_any_moment_leaves_a_whole_file_or_none() {
        if let Some(folder) = std::env::var_os(WRITER) {
            let cache = IndexCache::open(folder.into(), u64::MAX).expect("the folder is there");
            println!("ready");
            for byte in (1..=u8::MAX).cycle() {
                cache
                    .save("a", b"key", &tables(byte))
                    .expect("it can be saved");
            }
        }
        let folder = Folder::new("killed");
        let cache = folder.cache(u64::MAX);
        let mut seen = 0;
        for round in 0..200_u32 {
            let mut writer = Command::new(std::env::current_exe().expect("this is a program"))
                .args(["--exact", "--nocapture"])
                .arg(
                    concat!(
                        module_path!(),
                        "::a_writer_killed_at_any_moment_leaves_a_whole_file_or_none"
                    )
                    .split_once("::")
                    .map_or("", |(_, name)| name),
                )
                .env(WRITER, &folder.0)
                .stdout(Stdio::piped())
                .spawn()
                .expect("it can be started");
            let mut out = io::BufReader::new(writer.stdout.take().expect("it is piped"));
            let mut line = String::new();
            while !line.starts_with("ready") {
                line.clear();
                let read = io::BufRead::read_line(&mut out, &mut line).expect("it can be read");
                assert_ne!(read, 0, "the writer ended");
            }
            // Work of a different length each time, so that the writer is killed at different points.
            let work = (0..round * 2000).fold(0_u32, |sum, number| sum.rotate_left(3) ^ number);
            std::hint::black_box(work);
            writer.kill().expect("it runs until it is killed");
            writer.wait().expect("it is ours");
            if let Some(tables) = content(&cache, "a", b"key") {
                seen += 1;
                let byte = tables[1][0];
                assert_eq!(tables, self::tables(byte));
            }
        }
        assert!(seen > 100, "only {seen} of 200 writers wrote anything");
    }
}
