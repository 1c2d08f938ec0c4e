//! How long something takes that the calling thread does: whatever else the machine has to do meanwhile, it takes as long.

use std::fmt::Write;
use std::time::Duration;

/// The time that this thread has been on a processor (`/proc/PID/schedstat`: the first number, in nanoseconds). The kernel counts it on at each
/// tick of its clock, some milliseconds.
fn worked() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the thread's times");
    let first = text.split(' ').next().expect("a number");
    Duration::from_nanos(first.parse().expect("nanoseconds"))
}

/// What something gives, and how long this thread has worked on it.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = worked();
    let answer = work();
    (answer, worked() - before)
}

/// The longest that each of many things took, by their names.
#[derive(Default)]
pub struct Longest(Vec<(Duration, String, u64)>);

impl Longest {
    /// Notes one, in the pattern of this number.
    pub fn note(&mut self, name: &str, pattern: u64, taken: Duration) {
        match self.0.iter_mut().find(|(_, known, _)| known == name) {
            Some(known) if known.0 >= taken => {}
            Some(known) => *known = (taken, name.to_owned(), pattern),
            None => self.0.push((taken, name.to_owned(), pattern)),
        }
    }

    /// The longest of all, in a line.
    pub fn shown(&mut self) -> String {
        self.0.sort_by(|a, b| b.cmp(a));
        let mut text = String::new();
        for (taken, name, pattern) in self.0.iter().take(8) {
            let _ = write!(text, " {name} {taken:.1?} (pattern {pattern})");
        }
        text
    }
}
