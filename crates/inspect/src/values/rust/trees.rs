//! Rust's B-trees, and the remaining items of iterators over them. A walk goes no further than the requested elements.

use super::tables::{EntryPart, MAX_STEPS, Slots, collected, offset, stuck};
use super::{Flaw, OrUnknownLayout, broken, held};
use crate::Address;
use crate::pages::PageCache;
use crate::values::entries::{Entry, Page};
use crate::values::view::{Limit, View};
use crate::values::{Contents, Reader, Value, contents};
use dapple_symbols::types::TypeKind;

/// A B-tree with more levels wouldn't fit into memory.
const MAX_HEIGHT: u64 = 24;
/// No node has more entries.
const MAX_KEYS: u64 = 64;
/// How many entries a walk counts at most, over a range without a stored length.
const MAX_COUNTED: u64 = 10_000;

/// The layout of a B-tree's nodes: offsets in a node, and strides.
struct Tree {
    slots: Slots,
    count: u64,
    /// The offset of the parent's address in a node.
    parent: u64,
    /// The offset of the node's index among its parent's edges.
    position: u64,
    keys: u64,
    key_stride: u64,
    values: u64,
    value_stride: u64,
    /// The offset of the edges in an inner node, whose beginning is laid out like a leaf node.
    edges: u64,
}

/// `BTreeMap` and `BTreeSet`.
pub(super) fn tree(
    reader: &Reader<'_>,
    value: &Value,
    is_set: bool,
    limit: Limit,
) -> Result<View, Flaw> {
    let map = match is_set {
        true => reader.field(value, "map").known()?,
        false => value.clone(),
    };
    let length = reader.word(&reader.field(&map, "length").known()?.contents)?;
    let mut page = Page::new(limit, !is_set);
    if length == 0 {
        return Ok(View::Entries(page.of(0)));
    }
    if length > super::MAX_OBJECT {
        return broken(format!("its length is {length}"));
    }
    let Some(root) = super::payload(reader, &reader.field(&map, "root").known()?) else {
        return broken(format!("{length} entries without a root"));
    };
    let given = match is_set {
        true => EntryPart::Keys,
        false => EntryPart::Entries,
    };
    let height = Tree::height(reader, &root)?;
    let (node, tree) = Tree::at(reader, &root, height, given)?;
    let pages = PageCache::new(reader.memory);
    let walk = reader.over(&pages);
    let end = tree.walk(&walk, node, length, &mut page);
    let flaw = end.err().map(|flaw| stuck(reader, &pages, flaw));
    Ok(View::Entries(collected(page, length, flaw)?))
}

/// The remaining items of an iterator over a tree.
pub(super) fn rest(
    reader: &Reader<'_>,
    value: &Value,
    given: EntryPart,
    limit: Limit,
) -> Result<View, Flaw> {
    // An iterator over a range doesn't store a length.
    let length = match reader.find(value, "length") {
        Some(length) => Some(reader.word(&length.contents)?),
        None => None,
    };
    if let Some(length) = length.filter(|length| *length > super::MAX_OBJECT) {
        return broken(format!("its length is {length}"));
    }
    let mut page = Page::new(limit, given == EntryPart::Entries);
    let front = super::payload(reader, &reader.find(value, "front").known()?);
    let (Some(front), 1..) = (front, length.unwrap_or(u64::MAX)) else {
        return match length.unwrap_or(0) {
            0 => Ok(View::Entries(page.of(0))),
            length => broken(format!("{length} entries and no first one")),
        };
    };
    let (edge, tree) = Tree::edge(reader, &front, given)?;
    let pages = PageCache::new(reader.memory);
    let walk = reader.over(&pages);
    let edge = match edge {
        Edge::Root(root) => tree.first_edge(&walk, root)?,
        Edge::Leaf(edge) => edge,
    };
    let back = match length {
        Some(_) => None,
        None => match super::payload(reader, &reader.find(value, "back").known()?) {
            Some(back) => match Tree::edge(reader, &back, given)?.0 {
                Edge::Leaf((place, position)) => Some((place.node, position)),
                Edge::Root(_) => return Err(Flaw::Layout),
            },
            None => return broken("a first entry and no last one"),
        },
    };
    let most = length.unwrap_or(MAX_COUNTED);
    let end = tree.walk_on(&walk, edge, back, most, &mut page);
    let (at_end, flaw) = match end {
        Ok(at_end) => (at_end, None),
        Err(flaw) => (false, Some(stuck(reader, &pages, flaw))),
    };
    let length = length.unwrap_or(page.position());
    let mut entries = match flaw {
        None => collected(page, length, None)?,
        Some(why) => collected(page, length.saturating_add(1), Some(why))?,
    };
    entries.is_longer = back.is_some() && !at_end && entries.broken.is_none();
    Ok(tree.slots.shown(entries, true))
}

/// Where an iterator starts: before the first entry below a root, if it hasn't descended from there yet, or before the entry of a leaf
/// with this index.
enum Edge {
    Root(Place),
    Leaf((Place, u64)),
}

/// A node of a B-tree, and its position in the tree.
struct Place {
    node: u64,
    /// The number of levels below the node.
    height: u64,
    /// The parent, and the index of the node's edge in it. `None`: the node is a root, or the parent is unknown.
    above: Option<(u64, u64)>,
}

impl Tree {
    /// The number of levels below a `NodeRef`'s node.
    fn height(reader: &Reader<'_>, node: &Value) -> Result<u64, Flaw> {
        match reader.word(&reader.find(node, "height").known()?.contents)? {
            height @ 0..=MAX_HEIGHT => Ok(height),
            height => broken(format!("{height} levels")),
        }
    }

    /// The node of a `NodeRef`, and the layout of the tree's nodes.
    fn at(
        reader: &Reader<'_>,
        node: &Value,
        height: u64,
        given: EntryPart,
    ) -> Result<(Place, Tree), Flaw> {
        let pointer = reader.find_pointer(node).known()?;
        let TypeKind::Pointer(_, leaf) = reader.resolve(&pointer).known()?.type_.kind else {
            return Err(Flaw::Layout);
        };
        let leaf = pointer.sibling(leaf, Contents::Memory(Address(0)));
        let place = Place {
            node: reader.word(&pointer.contents)?,
            height,
            above: None,
        };
        Ok((place, Tree::of(reader, &leaf, given)?))
    }

    /// The position of a `Handle` or a `LazyLeafHandle`, and the layout of the tree's nodes.
    fn edge(reader: &Reader<'_>, handle: &Value, given: EntryPart) -> Result<(Edge, Tree), Flaw> {
        let is_lazy = reader.field(handle, "idx").is_none();
        let handle = match is_lazy {
            true => super::payload(reader, handle).known()?,
            false => handle.clone(),
        };
        let Some(position) = reader.field(&handle, "idx") else {
            let height = Tree::height(reader, &handle)?;
            let (root, tree) = Tree::at(reader, &handle, height, given)?;
            return Ok((Edge::Root(root), tree));
        };
        let position = reader.word(&position.contents)?;
        // The edge is one of a leaf, whose height is 0. The stored height may be optimized out.
        let node = reader.field(&handle, "node").known()?;
        let (leaf, tree) = Tree::at(reader, &node, 0, given)?;
        match position <= MAX_KEYS {
            true => Ok((Edge::Leaf((leaf, position)), tree)),
            false => broken(format!("it is at entry {position} of a node")),
        }
    }

    /// A two-byte number in a node.
    fn number(&self, reader: &Reader<'_>, node: u64, offset: u64) -> Result<u64, Flaw> {
        let at = Contents::Memory(Address(node.wrapping_add(offset)));
        let bytes = reader.bytes(&at, 2)?;
        Ok(contents::extract_bits(&bytes, 0, 16) as u64)
    }

    /// The number of entries in a node.
    fn count(&self, reader: &Reader<'_>, node: u64) -> Result<u64, Flaw> {
        match self.number(reader, node, self.count)? {
            count @ 1..=MAX_KEYS => Ok(count),
            count => broken(format!("{count} entries in a node")),
        }
    }

    /// The child that a node's edge with the index `position` leads to.
    fn below(&self, reader: &Reader<'_>, place: &Place, position: u64) -> Result<Place, Flaw> {
        let [node] = reader.words(
            place
                .node
                .wrapping_add(self.edges + reader.address_size() * position),
        )?;
        Ok(Place {
            node,
            height: place.height.saturating_sub(1),
            above: Some((place.node, position)),
        })
    }

    /// The entry of a node at an index.
    fn entry(&self, node: u64, position: u64) -> Entry {
        let key = self.keys + position * self.key_stride;
        let value = self.values + position * self.value_stride;
        self.slots
            .entry(node.wrapping_add(key), node.wrapping_add(value))
    }

    /// The edge before the first entry below a node: a leaf and an index.
    fn first_edge(&self, reader: &Reader<'_>, node: Place) -> Result<(Place, u64), Flaw> {
        let mut place = node;
        while place.height > 0 {
            place = self.below(reader, &place, 0)?;
        }
        Ok((place, 0))
    }

    /// Walks from a leaf's edge to the edge `back`, but over about `length` entries at most. Returns whether it has reached `back`.
    fn walk_on(
        &self,
        reader: &Reader<'_>,
        (mut place, mut position): (Place, u64),
        back: Option<(u64, u64)>,
        length: u64,
        page: &mut Page,
    ) -> Result<bool, Flaw> {
        for _ in 0..MAX_STEPS {
            if place.height == 0 && back == Some((place.node, position)) {
                return Ok(true);
            }
            let is_done = match back {
                // With `back`, no length is stored: the walk has to count the entries, also those after the page.
                Some(_) => page.position() >= length,
                None => page.is_full(length),
            };
            if is_done {
                return Ok(false);
            }
            let count = self.count(reader, place.node)?;
            if position >= count {
                let [parent] = reader.words(place.node.wrapping_add(self.parent))?;
                if parent == 0 {
                    return Ok(false);
                }
                position = self.number(reader, place.node, self.position)?;
                place.height += 1;
                if place.height > MAX_HEIGHT || position > MAX_KEYS {
                    return broken(format!("{} levels", place.height));
                }
                let [edge] = reader
                    .words(parent.wrapping_add(self.edges + reader.address_size() * position))?;
                if edge != place.node {
                    return broken(format!("its node at {:#x} has another parent", place.node));
                }
                place.node = parent;
                continue;
            }
            let rest = count - position;
            let is_last = back.is_some_and(|(node, _)| node == place.node);
            if place.height == 0 && rest <= page.before() && !is_last {
                page.skip(rest);
                position = count;
                continue;
            }
            let (node, at) = (place.node, position);
            page.next(|| Some(self.entry(node, at))).known()?;
            position += 1;
            if place.height > 0 {
                let below = self.below(reader, &place, position)?;
                (place, position) = self.first_edge(reader, below)?;
            }
        }
        broken("too far in to be walked to")
    }

    /// The layout of the nodes. `leaf` is a leaf node at address 0, so the addresses of its parts are offsets.
    fn of(reader: &Reader<'_>, leaf: &Value, given: EntryPart) -> Result<Tree, Flaw> {
        let array = |name: &str| -> Result<(u64, u64, Value), Flaw> {
            let array = reader.field(leaf, name).known()?;
            let type_ = reader.resolve(&array).known()?.type_;
            let TypeKind::Array { element, .. } = &type_.kind else {
                return Err(Flaw::Layout);
            };
            let element = array.sibling(Some(*element), array.contents.clone());
            let stride = reader.size_of(&element).known()?;
            Ok((offset(&array)?, stride, held(reader, element)))
        };
        let (keys, key_stride, key) = array("keys")?;
        let (values, value_stride, value) = array("vals")?;
        Ok(Tree {
            slots: Slots {
                given,
                key,
                value: Some(value),
            },
            count: offset(&reader.field(leaf, "len").known()?)?,
            parent: offset(&reader.field(leaf, "parent").known()?)?,
            position: offset(&reader.field(leaf, "parent_idx").known()?)?,
            keys,
            key_stride,
            values,
            value_stride,
            edges: reader
                .size_of(leaf)
                .and_then(|size| size.checked_next_multiple_of(reader.address_size()))
                .known()?,
        })
    }

    /// Walks a node and its children in order. Each node below the root must link back to its parent, so that no node is visited twice.
    fn walk(
        &self,
        reader: &Reader<'_>,
        place: Place,
        length: u64,
        page: &mut Page,
    ) -> Result<(), Flaw> {
        let Place {
            node,
            height,
            above,
        } = place;
        let at = |offset: u64| Contents::Memory(Address(node.wrapping_add(offset)));
        if let Some((parent, position)) = above
            && (reader.word(&at(self.parent))? != parent
                || self.number(reader, node, self.position)? != position)
        {
            return broken(format!("its node at {node:#x} has another parent"));
        }
        let count = self.count(reader, node)?;
        if height == 0 && count <= page.before() {
            page.skip(count);
            return Ok(());
        }
        let edges = match height {
            0 => Vec::new(),
            _ => reader.bytes(&at(self.edges), reader.address_size() * (count + 1))?,
        };
        let mut edges = edges.chunks_exact(reader.address_size() as usize);
        for position in 0..=count {
            if page.is_full(length) {
                return Ok(());
            }
            if let Some(edge) = edges.next() {
                let below = Place {
                    node: edge
                        .iter()
                        .rev()
                        .fold(0, |at, byte| at << 8 | u64::from(*byte)),
                    height: height - 1,
                    above: Some((node, position)),
                };
                self.walk(reader, below, length, page)?;
            }
            if position < count && !page.is_full(length) {
                page.next(|| Some(self.entry(node, position))).known()?;
            }
        }
        Ok(())
    }
}
