//! The rows of lists that fold what is alike: frames of libraries, and threads that are at the same place.

use std::collections::HashMap;

use crate::debug::results::{Frame, ThreadLine};

use super::model::Entry;

/// So many frames of libraries in a row are one row, as at the prompt.
const FRAMES: usize = 3;
/// So many threads at the same place are one row.
const THREADS: usize = 3;

/// A row of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackRow {
    /// The frame or text with this number.
    Entry(usize),
    /// Frames of libraries: the first, and how many.
    Folded(usize, usize),
}

/// The rows of a stack. `opened`: the first frames of runs that are not folded.
pub fn of_stack(entries: &[Entry], selected: usize, opened: &[usize]) -> Vec<StackRow> {
    let mut rows = Vec::with_capacity(entries.len());
    let mut at = 0;
    while at < entries.len() {
        let rest = entries[at..].iter().enumerate();
        let run = rest.take_while(|(offset, entry)| is_library(entry) && at + offset != selected);
        let count = run.count();
        // A run that begins further in was opened as a whole.
        let end = at + count;
        if count >= FRAMES && !opened.iter().any(|opened| (at..end).contains(opened)) {
            rows.push(StackRow::Folded(at, count));
        } else {
            let end = end.max(at + 1);
            rows.extend((at..end).map(StackRow::Entry));
        }
        at = end.max(at + 1);
    }
    rows
}

fn is_library(entry: &Entry) -> bool {
    match entry {
        Entry::Frame(frame) => frame.subtle && (frame.origin.is_some() || frame.path.is_none()),
        Entry::Label(_) => false,
    }
}

/// A row of the list of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadRow {
    /// The thread at this place in the list; whether it is one of several at a place.
    Thread(usize, bool),
    /// So many threads are where this one is.
    Together(usize, usize),
}

/// Where a thread is, if it is to be one row with others.
pub type Spot = (String, Option<String>, Option<usize>);

/// Where a frame is.
pub fn spot(frame: Option<&Frame>) -> Spot {
    let Some(frame) = frame else {
        return (String::new(), None, None);
    };
    (frame.function.clone(), frame.path.clone(), frame.line)
}

/// The rows of a list of threads. `opened`: the spots whose threads are a row each.
pub fn of_threads(threads: &[ThreadLine], opened: &[Spot]) -> Vec<ThreadRow> {
    let mut spots: HashMap<Spot, Vec<usize>> = HashMap::new();
    let mut order: Vec<Spot> = Vec::new();
    let mut rows = Vec::new();
    for (at, line) in threads.iter().enumerate() {
        if line.selected {
            rows.push(ThreadRow::Thread(at, false));
            continue;
        }
        let spot = spot(line.frame.as_ref());
        let together = spots.entry(spot.clone()).or_default();
        if together.is_empty() {
            order.push(spot);
        }
        together.push(at);
    }
    for spot in order {
        let Some(together) = spots.get(&spot) else {
            continue;
        };
        if together.len() < THREADS {
            rows.extend(together.iter().map(|at| ThreadRow::Thread(*at, false)));
            continue;
        }
        rows.push(ThreadRow::Together(together[0], together.len()));
        if opened.contains(&spot) {
            rows.extend(together.iter().map(|at| ThreadRow::Thread(*at, true)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug::results::Thread;
    use dapple_dap::types::StackFrame;

    fn entry(is_library: bool) -> Entry {
        let mut frame = Frame::of(&StackFrame::new(1, "f", 0, 0));
        frame.subtle = is_library;
        Entry::Frame(Box::new(frame))
    }

    #[test]
    fn frames_of_libraries_are_one_row_but_for_the_selected_one() {
        let stack: Vec<Entry> = "ollllolloL".chars().map(|c| entry(c != 'o')).collect();
        use StackRow::{Entry as E, Folded};
        let folded = [E(0), Folded(1, 4), E(5), E(6), E(7), E(8), E(9)];
        assert_eq!(of_stack(&stack, 0, &[]), folded);
        let opened: Vec<_> = (0..10).map(E).collect();
        assert_eq!(of_stack(&stack, 0, &[1]), opened);
        assert_eq!(of_stack(&stack, 2, &[]), opened);
        assert_eq!(of_stack(&[], 0, &[]), []);
    }

    #[test]
    fn threads_at_the_same_place_are_one_row_but_for_the_selected_one() {
        let thread = |id: i64, name: &str| ThreadLine {
            thread: Thread {
                id,
                name: String::new(),
            },
            selected: id == 2,
            frame: Some(Frame::of(&StackFrame::new(1, name, 0, 0))),
        };
        let threads: Vec<ThreadLine> = (0..6).map(|id| thread(id, "wait")).collect();
        let threads: Vec<ThreadLine> = threads.into_iter().chain([thread(6, "main")]).collect();
        use ThreadRow::{Thread as One, Together};
        let folded = [One(2, false), Together(0, 5), One(6, false)];
        assert_eq!(of_threads(&threads, &[]), folded);
        let spot = spot(threads[0].frame.as_ref());
        let opened = of_threads(&threads, &[spot]);
        assert_eq!(opened.len(), 8);
        assert_eq!(opened[2], One(0, true));
    }
}
