//! Walks through linked nodes of both libraries, as far as the requested page.
//!
//! Each walk ends, whatever is in memory. In a tree and in a doubly linked list each node has to point back to where the walk came from,
//! which a node met a second time doesn't. In a singly linked list, cycles are detected.

use crate::pages::PageCache;
use crate::values::entries::{Entry, Page};
use crate::values::walk_positions::{State, Walk};
use crate::values::{Reader, view::Reason};

/// More levels than a red-black tree can have in 64 bits of address space.
const MAX_DEPTH: usize = 130;
/// The most nodes that one walk visits.
const MAX_STEPS: u64 = 1 << 24;

/// A red-black tree. The links are identified by their indices among a node's first four words.
pub(super) struct Tree {
    pub root: u64,
    /// The root's parent, if known.
    pub header: Option<u64>,
    pub parent: usize,
    pub left: usize,
    pub right: usize,
    pub length: u64,
}

/// A list; links are among a node's first words.
pub(super) struct Chain {
    pub first: u64,
    /// The index of the word that points to the next node.
    pub next: usize,
    /// The index of the word that points to the previous node, and the value of that word in the first node.
    pub back: Option<(usize, u64)>,
    /// What follows the last node: null, or the list itself.
    pub end: u64,
    pub length: Option<u64>,
}

/// How a walk along a list ended.
pub(super) enum End {
    /// At the end of the page, or of a list whose length isn't stored.
    Reached,
    /// There are more elements than the walk may count.
    TooLong,
}

fn unreadable(pages: &PageCache<'_>, reason: &Reason) -> String {
    match reason {
        _ if pages.are_used_up() => too_far(),
        Reason::Unreadable(at) => format!("its links lead to {at:#x}, which cannot be read"),
        _ => "its links cannot be read".to_owned(),
    }
}

fn too_far() -> String {
    "too far in to be walked to".to_owned()
}

fn short(found: u64, length: u64) -> String {
    format!("it ends after {found} of {length} elements")
}

/// Offers the tree's nodes to the page, in order. `Err`: why the walk ended early.
pub(super) fn tree(
    reader: &Reader<'_>,
    tree: &Tree,
    page: &mut Page,
    entry: &dyn Fn(u64) -> Option<Entry>,
) -> Result<(), String> {
    let pages = PageCache::new(reader.memory);
    let walker = reader.over(&pages);
    // Nodes whose left subtree is being visited, with their right links.
    let mut path: Vec<(u64, u64)> = Vec::new();
    let (mut next, mut parent) = (tree.root, tree.header);
    let walk = Walk::Tree(tree.root, tree.header, [tree.parent, tree.left, tree.right]);
    let mut first = 0;
    if let Some((
        position,
        State::Tree {
            path: seen,
            next: node,
            parent: of,
        },
    )) = reader.position_before(walk, page.before())
    {
        page.skip(position);
        (first, path, next, parent) = (position, seen, node, of);
    }
    for found in first.. {
        let is_full = page.is_full(tree.length);
        if is_full || page.begins() {
            reader.keep_position(walk, found, || State::Tree {
                path: path.clone(),
                next,
                parent,
            });
        }
        if is_full {
            return Ok(());
        }
        if found > MAX_STEPS {
            return Err(too_far());
        }
        while next != 0 {
            let words: [u64; 4] = walker
                .words(next)
                .map_err(|reason| unreadable(&pages, &reason))?;
            if parent.is_some_and(|parent| words[tree.parent] != parent) {
                return Err(format!("its node at {next:#x} has another parent"));
            }
            if path.len() >= MAX_DEPTH {
                return Err("its nodes go too deep".to_owned());
            }
            path.push((next, words[tree.right]));
            parent = Some(next);
            next = words[tree.left];
        }
        let Some((node, right)) = path.pop() else {
            return Err(short(found, tree.length));
        };
        page.next(|| entry(node))
            .ok_or_else(|| "its elements have another form".to_owned())?;
        (next, parent) = (right, Some(node));
    }
    Ok(())
}

/// Offers the nodes to the page. If the number of elements isn't stored, the walk goes on after the page to count them, up to `most`.
/// Returns the number of elements and how the walk ended. `Err`: why it ended early.
pub(super) fn chain(
    reader: &Reader<'_>,
    chain: &Chain,
    most: u64,
    page: &mut Page,
    entry: &dyn Fn(u64) -> Option<Entry>,
) -> Result<(u64, End), String> {
    let pages = PageCache::new(reader.memory);
    let walker = reader.over(&pages);
    let mut node = chain.first;
    let mut behind = chain.back.map(|(_, list)| list);
    // Brent's cycle detection: the remembered node is moved after 1, 2, 4, … steps.
    let (mut mark, mut until) = (0, 1);
    let mut found = 0;
    let walk = Walk::Chain(chain.first, chain.end, chain.next);
    // A walk through a list without a stored length has to count all elements, so it doesn't start at a known position.
    let known = chain
        .length
        .and_then(|_| reader.position_before(walk, page.before()));
    if let Some((
        position,
        State::Chain {
            node: at,
            behind: last,
            mark: marked,
            until: moved,
        },
    )) = known
    {
        page.skip(position);
        (found, node, behind, mark, until) = (position, at, last, marked, moved);
    }
    loop {
        let has_ended = |length| page.begins() || page.is_full(length);
        if chain.length.is_some_and(has_ended) {
            reader.keep_position(walk, found, || State::Chain {
                node,
                behind,
                mark,
                until,
            });
        }
        match chain.length {
            Some(length) if page.is_full(length) => return Ok((length, End::Reached)),
            Some(length) if node == chain.end => return Err(short(found, length)),
            None if node == chain.end => return Ok((found, End::Reached)),
            None if found >= most && page.is_full(u64::MAX) => return Ok((found, End::TooLong)),
            _ if found >= MAX_STEPS => return Err(too_far()),
            _ => {}
        }
        let words: [u64; 2] = walker
            .words(node)
            .map_err(|reason| unreadable(&pages, &reason))?;
        if let Some((back, _)) = chain.back
            && behind != Some(words[back])
        {
            return Err(format!("its node at {node:#x} doesn't point back"));
        }
        if node == mark {
            return Err(format!("it goes round at {node:#x}"));
        }
        if found == until {
            (mark, until) = (node, until * 2);
        }
        page.next(|| entry(node))
            .ok_or_else(|| "its elements have another form".to_owned())?;
        behind = Some(node);
        node = words[chain.next];
        found += 1;
    }
}
