//! Dropping many things on another thread: each is a call of the allocator on memory that no cache has, and whoever lets the program
//! run on would wait for all of them.

use std::ops::{Deref, DerefMut};

/// From how many things on it is worth a thread.
const MANY: usize = 500;

/// Things that are dropped on another thread where they are many.
#[derive(Debug)]
pub(crate) struct DroppedBeside<T: Send + 'static>(Vec<T>);

impl<T: Send + 'static> Default for DroppedBeside<T> {
    fn default() -> Self {
        DroppedBeside(Vec::new())
    }
}

impl<T: Send + 'static> Deref for DroppedBeside<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Send + 'static> DerefMut for DroppedBeside<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: Send + 'static> Drop for DroppedBeside<T> {
    fn drop(&mut self) {
        if self.0.len() >= MANY {
            let things = std::mem::take(&mut self.0);
            // Where there can be no thread, they are dropped here.
            let _ = std::thread::Builder::new()
                .name("dropping".into())
                .spawn(move || drop(things));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DroppedBeside, MANY};
    use crossbeam_channel::Sender;
    use std::thread::ThreadId;

    struct Tells(Sender<ThreadId>);

    impl Drop for Tells {
        fn drop(&mut self) {
            let _ = self.0.send(std::thread::current().id());
        }
    }

    #[test]
    fn only_a_few_are_dropped_by_who_has_them() {
        let here = std::thread::current().id();
        for (count, by_this_thread) in [(MANY - 1, true), (MANY, false)] {
            let (send, dropped) = crossbeam_channel::unbounded();
            let mut things = DroppedBeside::default();
            things.extend((0..count).map(|_| Tells(send.clone())));
            drop((things, send));
            let by: Vec<ThreadId> = dropped.iter().collect();
            assert_eq!(by.len(), count);
            assert!(by.iter().all(|thread| (*thread == here) == by_this_thread));
        }
    }
}
