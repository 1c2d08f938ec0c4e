//! CPU time of the calling thread. The machine's other load doesn't change it.

use std::fmt::Write;
use std::time::Duration;

/// The CPU time of this thread (the first number in `/proc/PID/schedstat`, in nanoseconds). The kernel updates it at each timer tick, every
/// few milliseconds.
fn worked() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the thread's times");
    let first = text.split(' ').next().expect("a number");
    Duration::from_nanos(first.parse().expect("nanoseconds"))
}

/// The result of `work`, and the CPU time that this thread spent on it.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = worked();
    let answer = work();
    (answer, worked() - before)
}

/// The longest time of each of many pieces of work, by their names.
#[derive(Default)]
pub struct Longest(Vec<(Duration, String, u64)>);

impl Longest {
    /// Records a time, and the number of the pattern that took it.
    pub fn note(&mut self, name: &str, pattern: u64, taken: Duration) {
        match self.0.iter_mut().find(|(_, known, _)| known == name) {
            Some(known) if known.0 >= taken => {}
            Some(known) => *known = (taken, name.to_owned(), pattern),
            None => self.0.push((taken, name.to_owned(), pattern)),
        }
    }

    /// The longest times of all, in one line.
    pub fn shown(&mut self) -> String {
        self.0.sort_by(|a, b| b.cmp(a));
        let mut text = String::new();
        for (taken, name, pattern) in self.0.iter().take(8) {
            let _ = write!(text, " {name} {taken:.1?} (pattern {pattern})");
        }
        text
    }
}
