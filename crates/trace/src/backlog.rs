//! What was forwarded and is not looked at yet.
//!
//! Forwarding must never wait for those who look, so the memory for the bytes between is bounded. Beyond that bound they go to a file
//! without a name, in order, and are read back from there. Only if that file can't be written, bytes are lost; the count of them is kept.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dapple_dap::lifecycle::Side;

/// Bytes that were forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// When they were read, since the backlog was made.
    pub time: Duration,
    /// The side that sent them.
    pub from: Side,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many bytes of this side were lost before these.
    pub lost: u64,
}

/// Makes the file for what exceeds the bound.
type MakeFile = Box<dyn Fn() -> io::Result<File> + Send>;

/// Bytes that wait to be looked at, in order. Clones are the same backlog.
#[derive(Clone)]
pub struct Backlog {
    shared: Arc<Shared>,
    start: Instant,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    queue: VecDeque<Chunk>,
    /// The bytes in `queue`.
    bytes: usize,
    limit: usize,
    make_file: Option<MakeFile>,
    overflow: Option<Overflow>,
    /// How many bytes of each side were lost and are not reported yet.
    lost: [u64; 2],
    closed: bool,
}

/// The file with what exceeds the bound: chunks one after another, each with a head.
struct Overflow {
    file: File,
    read: u64,
    written: u64,
}

/// When bytes are seen at the latest whose sender can't be woken for, since passing them on takes long.
const LATEST: Duration = Duration::from_millis(100);

/// The bytes of a chunk's head in the file: the time in nanoseconds, the lost bytes, the length, the side.
const HEAD: usize = 8 + 8 + 8 + 1;

impl std::fmt::Debug for Backlog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backlog").finish_non_exhaustive()
    }
}

impl Backlog {
    /// An empty backlog. `limit` is how many bytes are kept in memory; what exceeds them is lost.
    pub fn new(limit: usize) -> Self {
        Self::with(limit, None)
    }

    /// As [`new`](Self::new), but what exceeds the limit goes to a file that `make_file` opens, for reading and writing.
    pub fn with_file(
        limit: usize,
        make_file: impl Fn() -> io::Result<File> + Send + 'static,
    ) -> Self {
        Self::with(limit, Some(Box::new(make_file)))
    }

    fn with(limit: usize, make_file: Option<MakeFile>) -> Self {
        let state = State {
            queue: VecDeque::new(),
            bytes: 0,
            limit,
            make_file,
            overflow: None,
            lost: [0, 0],
            closed: false,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changed: Condvar::new(),
            }),
            start: Instant::now(),
        }
    }

    /// Adds bytes that a side has sent just now. Who waits for them in [`next`](Self::next) is not woken by that but by
    /// [`wake`](Self::wake), or sees them a moment later.
    pub fn push(&self, from: Side, bytes: &[u8]) {
        let time = self.start.elapsed();
        let mut state = self.lock();
        let lost = state.lost[from as usize];
        if state.push(time, from, bytes, lost) {
            state.lost[from as usize] = 0;
        } else {
            state.lost[from as usize] = lost.saturating_add(bytes.len() as u64);
        }
    }

    /// Wakes who waits in [`next`](Self::next).
    pub fn wake(&self) {
        self.shared.changed.notify_one();
    }

    /// Ends the backlog: [`next`](Self::next) returns what is left, then `None`.
    pub fn close(&self) {
        self.lock().closed = true;
        self.shared.changed.notify_all();
    }

    /// Waits for the next bytes. `None` once the backlog is closed and empty.
    pub fn next(&self) -> Option<Chunk> {
        let mut state = self.lock();
        loop {
            if let Some(chunk) = state.queue.pop_front() {
                state.bytes -= chunk.bytes.len();
                return Some(chunk);
            }
            match state.read_back() {
                Ok(Some(chunk)) => return Some(chunk),
                Ok(None) => {}
                Err(_) => state.give_up(),
            }
            if state.closed {
                return state.rest(self.start.elapsed());
            }
            let waited = self.shared.changed.wait_timeout(state, LATEST);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Adds a chunk; false if there is no room for it.
    fn push(&mut self, time: Duration, from: Side, bytes: &[u8], lost: u64) -> bool {
        // Once a file is in use, all that comes goes there, to stay in order.
        if self.overflow.is_none() && self.bytes.saturating_add(bytes.len()) <= self.limit {
            self.bytes += bytes.len();
            self.queue.push_back(Chunk {
                time,
                from,
                bytes: bytes.to_vec(),
                lost,
            });
            return true;
        }
        if self.overflow.is_none() {
            let file = self.make_file.as_ref().and_then(|make| make().ok());
            self.overflow = file.map(|file| Overflow {
                file,
                read: 0,
                written: 0,
            });
        }
        let overflow = self.overflow.as_mut();
        overflow.is_some_and(|overflow| overflow.write(time, from, bytes, lost).is_ok())
    }

    /// The next chunk of the file. When all were read, memory is used again.
    fn read_back(&mut self) -> io::Result<Option<Chunk>> {
        let Some(overflow) = &mut self.overflow else {
            return Ok(None);
        };
        if overflow.read == overflow.written {
            self.overflow = None;
            return Ok(None);
        }
        overflow.read().map(Some)
    }

    /// Counts what is left in a file that can't be read as lost.
    fn give_up(&mut self) {
        if let Some(overflow) = self.overflow.take() {
            // Which side sent it isn't known any more; the adapter sends most.
            let lost = &mut self.lost[Side::Adapter as usize];
            *lost = lost.saturating_add(overflow.written - overflow.read);
        }
    }

    /// A chunk without bytes that reports what was lost at the end.
    fn rest(&mut self, time: Duration) -> Option<Chunk> {
        let sides = [Side::Client, Side::Adapter];
        let from = *sides.iter().find(|&&side| self.lost[side as usize] > 0)?;
        Some(Chunk {
            time,
            from,
            bytes: Vec::new(),
            lost: std::mem::take(&mut self.lost[from as usize]),
        })
    }
}

impl Overflow {
    fn write(&mut self, time: Duration, from: Side, bytes: &[u8], lost: u64) -> io::Result<()> {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let mut record = Vec::with_capacity(HEAD + bytes.len());
        for number in [nanoseconds, lost, bytes.len() as u64] {
            record.extend(number.to_ne_bytes());
        }
        record.push(from as u8);
        record.extend(bytes);
        self.file.write_all_at(&record, self.written)?;
        self.written += record.len() as u64;
        Ok(())
    }

    fn read(&mut self) -> io::Result<Chunk> {
        let mut head = [0; HEAD];
        self.file.read_exact_at(&mut head, self.read)?;
        let number = |index: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&head[index * 8..index * 8 + 8]);
            u64::from_ne_bytes(bytes)
        };
        let length = number(2).min(self.written - self.read);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        self.file
            .read_exact_at(&mut bytes, self.read + HEAD as u64)?;
        self.read += HEAD as u64 + length;
        Ok(Chunk {
            time: Duration::from_nanos(number(0)),
            from: match head[HEAD - 1] {
                0 => Side::Client,
                _ => Side::Adapter,
            },
            bytes,
            lost: number(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> io::Result<File> {
        let path = std::env::temp_dir().join(format!(
            "backlog-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let mut options = File::options();
        let file = options
            .create_new(true)
            .read(true)
            .write(true)
            .open(&path)?;
        std::fs::remove_file(path)?;
        Ok(file)
    }

    /// What a closed backlog returns: each chunk's text, and what was lost before.
    fn rest(backlog: &Backlog) -> Vec<(String, u64)> {
        backlog.close();
        std::iter::from_fn(|| backlog.next())
            .map(|chunk| {
                (
                    String::from_utf8_lossy(&chunk.bytes).into_owned(),
                    chunk.lost,
                )
            })
            .collect()
    }

    #[test]
    fn what_exceeds_the_memory_comes_from_the_file_in_order() {
        let backlog = Backlog::with_file(10, file);
        let mut pushed = Vec::new();
        for number in 0..50 {
            let text = format!("chunk {number}");
            let from = if number % 3 == 0 {
                Side::Client
            } else {
                Side::Adapter
            };
            backlog.push(from, text.as_bytes());
            pushed.push((text, 0));
            // Amid it, some is read: the file is emptied, and memory is used again.
            if number == 20 {
                for expected in pushed.drain(..) {
                    let chunk = backlog.next().expect("it was pushed");
                    assert_eq!(chunk.bytes, expected.0.as_bytes());
                }
            }
        }
        assert_eq!(rest(&backlog), pushed);
    }

    #[test]
    fn without_a_file_the_loss_is_counted() {
        let backlog = Backlog::new(4);
        for text in ["ab", "cd", "lost", "too"] {
            backlog.push(Side::Adapter, text.as_bytes());
        }
        assert_eq!(backlog.next().expect("the first").bytes, b"ab");
        assert_eq!(backlog.next().expect("the second").bytes, b"cd");
        backlog.push(Side::Client, b"x");
        backlog.push(Side::Adapter, b"ef");
        backlog.push(Side::Adapter, b"gh");
        assert_eq!(
            rest(&backlog),
            [
                ("x".to_owned(), 0),
                ("ef".to_owned(), 7),
                (String::new(), 2)
            ]
        );
    }
}
