//! Maps and sets of the crate `im`: tries of hashes, and B-trees, whose nodes are shared between versions of a collection.

use super::tables::{EntryPart, collected, offset};
use super::{Flaw, OrUnknownLayout, argument_of, broken, payload, variant_name};
use crate::Address;
use crate::values::entries::{Entry, Page};
use crate::values::view::{ALL, Limit, SHORT, View};
use crate::values::{Contents, Reader, Value, contents};

/// The deepest node. A hash has 32 bits, of which each level uses five; a B-tree has at least half of 64 keys in a node.
const DEEPEST: usize = 16;
/// The most places of an element in a node.
const MAX_PLACES: u64 = 1 << 10;
/// The most nodes visited.
const MAX_NODES: usize = 1 << 20;

/// `im::HashMap`, `HashSet`, `OrdMap` and `OrdSet`.
pub(super) fn view(
    reader: &Reader<'_>,
    value: &Value,
    is_sorted: bool,
    given: EntryPart,
    limit: Limit,
) -> Result<View, Flaw> {
    let length = reader.word(&reader.field(value, "size").known()?.contents)?;
    let mut walk = Walk {
        reader,
        given,
        page: Page::new(limit, given == EntryPart::Entries),
        length,
        nodes: 0,
    };
    let root = target(reader, &reader.field(value, "root").known()?)?;
    match is_sorted {
        true => walk.sorted(&root, 0)?,
        false => walk.hashed(&root, 0)?,
    }
    collected(walk.page, length, None).map(View::Entries)
}

/// The node that a reference leads to: `PoolRef`, a struct with an `Arc` or `Rc` in it.
fn target(reader: &Reader<'_>, reference: &Value) -> Result<Value, Flaw> {
    let owner = reader.field(reference, "__0").known()?;
    reader.view(&owner, SHORT).target().known()
}

struct Walk<'r, 'm> {
    reader: &'r Reader<'m>,
    given: EntryPart,
    page: Page,
    length: u64,
    nodes: usize,
}

impl Walk<'_, '_> {
    fn enter(&mut self, depth: usize) -> Result<(), Flaw> {
        self.nodes += 1;
        match depth > DEEPEST || self.nodes > MAX_NODES {
            true => broken("its nodes lead to each other without end"),
            false => Ok(()),
        }
    }

    /// Offers a pair of key and value, or a set's key in a struct, to the page.
    fn offer(&mut self, element: &Value) -> Result<(), Flaw> {
        let part = |name: &str| self.reader.field(element, name).known();
        let first = part("__0")?;
        let entry = match self.given {
            EntryPart::Entries => Entry {
                key: Some(first),
                value: part("__1")?,
            },
            _ => Entry {
                key: None,
                value: first,
            },
        };
        self.page.next(|| Some(entry)).known()
    }

    /// Entries at the places whose bits are set: an element, several with the same hash, or a node.
    fn hashed(&mut self, node: &Value, depth: usize) -> Result<(), Flaw> {
        self.enter(depth)?;
        let reader = self.reader;
        let chunk = reader.field(node, "data").known()?;
        let bits = reader.find(&chunk, "map").known()?;
        let bits = reader.find_integer(&bits).known()?;
        let size = reader.size_of(&bits).known()?.min(8);
        let bits = contents::extract_bits(&reader.bytes(&bits.contents, size)?, 0, 64) as u64;
        let place = Places::new(reader, &chunk)?;
        for index in (0..64).filter(|index| bits >> index & 1 == 1) {
            if self.page.is_full(self.length) {
                break;
            }
            let entry = place.at(index);
            let held = payload(reader, &entry).known()?;
            match &*variant_name(reader, &entry)? {
                "Value" => self.offer(&held)?,
                "Node" => self.hashed(&target(reader, &held)?, depth + 1)?,
                _ => {
                    let node = reader.view(&held, SHORT).target().known()?;
                    let all = reader.field(&node, "data").known()?;
                    let View::Sequence(all) = reader.view(&all, ALL) else {
                        return Err(Flaw::Layout);
                    };
                    for index in 0..all.length.min(MAX_PLACES) {
                        self.offer(&all.at(index))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Before each key is the child with the smaller ones; after the last is one more child.
    fn sorted(&mut self, node: &Value, depth: usize) -> Result<(), Flaw> {
        self.enter(depth)?;
        let reader = self.reader;
        let part = |name: &str| -> Result<(Places, u64, u64), Flaw> {
            let chunk = reader.field(node, name).known()?;
            let word = |name: &str| -> Result<u64, Flaw> {
                Ok(reader.word(&reader.field(&chunk, name).known()?.contents)?)
            };
            let (left, right) = (word("left")?, word("right")?);
            match left <= right && right <= MAX_PLACES {
                true => Ok((Places::new(reader, &chunk)?, left, right)),
                false => broken(format!("a node with the elements {left} to {right}")),
            }
        };
        let (keys, first, end) = part("keys")?;
        let (children, first_child, end_child) = part("children")?;
        for index in 0..=end - first {
            if self.page.is_full(self.length) {
                break;
            }
            let child = first_child + index;
            if child < end_child {
                let child = children.at(child);
                if variant_name(reader, &child)? == "Some" {
                    let child = payload(reader, &child).known()?;
                    self.sorted(&target(reader, &child)?, depth + 1)?;
                }
            }
            if first + index < end && !self.page.is_full(self.length) {
                self.offer(&keys.at(first + index))?;
            }
        }
        Ok(())
    }
}

/// The places of a chunk, which follow each other in its field `data`.
struct Places {
    element: Value,
    start: u64,
    size: u64,
}

impl Places {
    fn new(reader: &Reader<'_>, chunk: &Value) -> Result<Places, Flaw> {
        let start = offset(&reader.field(chunk, "data").known()?)?;
        let element = chunk.sibling(argument_of(reader, chunk), Contents::Memory(Address(0)));
        let size = reader.size_of(&element).known()?;
        Ok(Places {
            element,
            start,
            size,
        })
    }

    fn at(&self, index: u64) -> Value {
        let mut element = self.element.clone();
        let at = self.start.wrapping_add(index.wrapping_mul(self.size));
        element.contents = Contents::Memory(Address(at));
        element
    }
}
