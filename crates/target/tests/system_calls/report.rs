//! What was seen of a program's calls, and what was wrong.

use super::snapshot::Snapshot;
use dapple_target::Address;
use dapple_target::linux::system_calls::{Call, Effects, Kind, Unknown};
use dapple_target::wait_event::What;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The most bytes that a call may be said to write beyond its result, without having changed one.
const MOST_IN_VAIN: u64 = 70_000;

/// What was seen of a program's calls.
#[derive(Default, Debug)]
pub struct Report {
    pub calls: usize,
    pub compared: usize,
    pub changed: usize,
    /// How often each call, or command of one, was compared, and how many bytes it has changed.
    pub seen: BTreeMap<&'static str, (usize, usize)>,
    /// What the table doesn't say, or says wrongly.
    pub wrong: Vec<String>,
    pub unknown: Vec<String>,
    /// Calls that took long while other threads could have run. The table says that they don't wait for threads.
    pub slow: BTreeSet<&'static str>,
    pub exit: Option<What>,
}

impl Report {
    /// Judges a call by the memory before and after it. `others`: what may have changed without it.
    pub fn judge(
        &mut self,
        call: &Call,
        result: i64,
        effects: Result<Effects, Unknown>,
        snapshots: Option<&(Snapshot, Snapshot)>,
        others: Vec<Range<Address>>,
    ) {
        self.calls += 1;
        let name = call.name().unwrap_or("?");
        let Effects { written, what } = match effects {
            Ok(effects) => effects,
            Err(unknown) => {
                self.unknown.push(unknown.to_string());
                return;
            }
        };
        let (Some((before, after)), Some(replaced)) = (snapshots, replaced(&what)) else {
            return;
        };
        let changed = before.changes(after);
        let is_covered = |at: &u64| {
            let mut covered = written.iter().chain(&others).chain([&replaced]);
            covered.any(|range| range.contains(&Address(*at)))
        };
        let wrong: Vec<u64> = changed
            .iter()
            .filter(|at| !is_covered(at))
            .copied()
            .collect();
        self.compared += 1;
        self.changed += changed.len();
        let seen = self.seen.entry(name).or_default();
        *seen = (seen.0 + 1, seen.1 + changed.len());
        if let Some(first) = wrong.first() {
            self.wrong.push(format!(
                "{name}{:x?} = {result} has written {} bytes from {first:#x} on, not {written:?}",
                call.arguments(),
                wrong.len(),
            ));
        }
        let said: u64 = written
            .iter()
            .map(|range| range.end.0 - range.start.0)
            .sum();
        let largest = u64::try_from(result)
            .unwrap_or(0)
            .saturating_add(MOST_IN_VAIN);
        if said > largest && changed.is_empty() {
            self.wrong.push(format!(
                "{name}{:x?} = {result} is said to write {said} bytes, and has changed none",
                call.arguments(),
            ));
        }
    }
}

/// Memory whose contents the call has replaced by changing mappings. `None`: it can't be compared, because another process has run in it.
fn replaced(what: &Kind) -> Option<Range<Address>> {
    let nothing = Address(0)..Address(0);
    match what {
        Kind::Maps(mapped) => Some(mapped.range.clone()),
        Kind::Moves { to, .. } => Some(to.clone()),
        Kind::Unmaps(range) | Kind::Protects { range, .. } | Kind::Advises { range, .. } => {
            Some(range.clone())
        }
        Kind::MakesProcess(created) if created.flags & libc::CLONE_VM as u64 != 0 => None,
        Kind::Executes => None,
        _ => Some(nothing),
    }
}
