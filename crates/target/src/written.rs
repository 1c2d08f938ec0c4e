//! Program output on its way to its consumer, with backpressure.
//!
//! Bytes count as in flight as long as a clone of their [`Written`] exists. While more than a limit are in flight, the reader of the
//! program's pipe waits ([`UnderWay::wait`]). So a program that writes faster than its output is consumed blocks, as with any reader of a
//! pipe, and the debugger's memory stays bounded.

use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How many bytes may be in flight before reading pauses.
const LIMIT: usize = 8 << 20;

/// A piece of output. It may begin and end inside a multi-byte character. Clones share the bytes.
#[derive(Debug, Clone)]
pub struct Written(Arc<Piece>);

#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    under_way: Arc<UnderWay>,
}

impl Deref for Written {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut state = self.under_way.lock();
        state.bytes -= self.bytes.len();
        self.under_way.less.notify_all();
    }
}

/// Counts the bytes of output in flight.
#[derive(Debug, Default)]
pub struct UnderWay {
    state: Mutex<State>,
    less: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: usize,
    /// Set by [`UnderWay::end`]: `wait` returns at once.
    over: bool,
}

impl UnderWay {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wraps bytes as output in flight and counts them. Never waits.
    pub fn send(self: &Arc<Self>, bytes: Vec<u8>) -> Written {
        self.lock().bytes += bytes.len();
        Written(Arc::new(Piece {
            bytes,
            under_way: Arc::clone(self),
        }))
    }

    /// Whether the bytes in flight are more than the limit.
    pub fn is_full(&self) -> bool {
        let state = self.lock();
        state.bytes > LIMIT && !state.over
    }

    /// Waits until the bytes in flight are within the limit.
    pub fn wait(&self) {
        let full = |state: &mut State| state.bytes > LIMIT && !state.over;
        drop(self.less.wait_while(self.lock(), full));
    }

    /// Makes all calls of `wait`, present and future, return at once.
    pub fn end(&self) {
        self.lock().over = true;
        self.less.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reads_on_waits_until_what_was_read_is_taken() {
        let under_way = Arc::new(UnderWay::default());
        let first = under_way.send(vec![0; LIMIT]);
        under_way.wait();
        let second = under_way.send(vec![0; 1]);
        let waits = {
            let under_way = Arc::clone(&under_way);
            std::thread::spawn(move || {
                under_way.wait();
                under_way.lock().bytes
            })
        };
        let copy = first.clone();
        drop(first);
        assert_eq!(copy.len(), LIMIT, "a clone keeps it on its way");
        drop(copy);
        assert!(waits.join().unwrap() <= LIMIT);
        drop(second);
        assert_eq!(under_way.lock().bytes, 0);
    }

    #[test]
    fn nobody_waits_after_the_end() {
        let under_way = Arc::new(UnderWay::default());
        let _all = under_way.send(vec![0; 2 * LIMIT]);
        under_way.end();
        under_way.wait();
    }
}
