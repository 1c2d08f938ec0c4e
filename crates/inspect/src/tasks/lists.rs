//! Walks through the lists of tasks, as far as they are wanted.

use super::cells::{self, Cell, CellKind};
use super::parts;
use crate::Address;
use crate::values::{Contents, Reader, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most tasks of a process.
const MOST_TASKS: usize = 4_000_000;

/// A walk through lists of tasks.
#[derive(Debug, Default)]
pub(super) struct Walk {
    lists: Vec<Value>,
    /// The next list, and the next task of the present one: its header's type is that of the list's pointer.
    next_list: usize,
    next: Option<Value>,
    seen: FxHashSet<u64>,
    /// Whether a task was found that isn't understood, so that those behind it in its list are missing.
    pub is_broken: bool,
}

/// The kinds of tasks, by the addresses of their tables of functions.
pub(super) type Kinds = FxHashMap<u64, Option<Arc<CellKind>>>;

/// A task, by its header.
pub(super) fn cell_of(reader: &Reader<'_>, kinds: &mut Kinds, header: Value) -> Option<Cell> {
    let table = cells::table_address(reader, &header)?;
    let kind = kinds
        .entry(table)
        .or_insert_with(|| CellKind::of(reader, &header).map(Arc::new));
    Some(Cell {
        kind: Arc::clone(kind.as_ref()?),
        header,
    })
}

impl Walk {
    pub fn through(lists: Vec<Value>) -> Walk {
        Walk {
            lists,
            ..Walk::default()
        }
    }

    /// Whether there may be more tasks.
    pub fn has_more(&self) -> bool {
        (self.next.is_some() || self.next_list < self.lists.len()) && self.seen.len() < MOST_TASKS
    }

    /// The next task.
    pub fn advance(&mut self, reader: &Reader<'_>, kinds: &mut Kinds) -> Option<Cell> {
        while self.has_more() {
            let Some(header) = self.next.take() else {
                let list = self.lists.get(self.next_list)?;
                self.next_list += 1;
                self.next = first(reader, list);
                continue;
            };
            let address = header.contents.address()?.0;
            if !self.seen.insert(address) {
                continue;
            }
            let Some(cell) = cell_of(reader, kinds, header) else {
                self.is_broken = true;
                continue;
            };
            match cell.next(reader) {
                Some(0) => {}
                Some(next) => {
                    let contents = Contents::Memory(Address(next));
                    self.next = Some(cell.header.sibling(cell.header.type_id, contents));
                }
                None => self.is_broken = true,
            }
            return Some(cell);
        }
        None
    }
}

/// The first task of a list. `None`: the list is empty.
fn first(reader: &Reader<'_>, list: &Value) -> Option<Value> {
    parts::pointee(reader, &reader.field(list, "head")?)
}
