//! Walks through linked nodes, whatever library made them, as far as the page that is wanted.
//!
//! They end in any memory: each node of a tree and of a doubly linked list is asked whether it points back to where the
//! walk came from, which no node that is met a second time does, and a single list that goes round is noticed.

use crate::pages::Pages;
use crate::values::entries::{Entry, Page};
use crate::values::halts::{State, Walk};
use crate::values::{Reader, view::Reason};

/// A tree with more levels has more nodes than there are addresses.
const MAX_DEPTH: usize = 130;
/// Nodes of one walk.
const MAX_STEPS: u64 = 1 << 24;

/// A red-black tree. Its nodes begin with links, which are told by their positions among the first four words.
pub(super) struct Tree {
    pub root: u64,
    /// What the root has for its parent, if that's known.
    pub header: Option<u64>,
    pub parent: usize,
    pub left: usize,
    pub right: usize,
    pub length: u64,
}

/// A list, its nodes linked by their first words.
pub(super) struct Chain {
    pub first: u64,
    /// The word that points to the next node.
    pub next: usize,
    /// The word that points back, and where the first node's does.
    pub back: Option<(usize, u64)>,
    /// What is behind the last node: null, or the list itself.
    pub end: u64,
    pub length: Option<u64>,
}

/// How a walk along a list ended.
pub(super) enum End {
    /// With the page, or with the list where its length isn't known.
    Reached,
    /// There are more than were counted.
    TooLong,
}

fn unreadable(pages: &Pages<'_>, reason: &Reason) -> String {
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

/// Gives the nodes in order to the page. `Err`: why no further.
pub(super) fn tree(
    reader: &Reader<'_>,
    tree: &Tree,
    page: &mut Page,
    entry: &dyn Fn(u64) -> Option<Entry>,
) -> Result<(), String> {
    let pages = Pages::new(reader.memory);
    let walker = reader.over(&pages);
    // Nodes whose left side has been seen, with their right links.
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
    )) = reader.halt_before(walk, page.before())
    {
        page.skip(position);
        (first, path, next, parent) = (position, seen, node, of);
    }
    for found in first.. {
        let is_full = page.is_full(tree.length);
        if is_full || page.begins() {
            reader.keep_halt(walk, found, || State::Tree {
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

/// Gives the nodes to the page, and counts them all where nobody else has. `Err`: why no further.
pub(super) fn chain(
    reader: &Reader<'_>,
    chain: &Chain,
    most: u64,
    page: &mut Page,
    entry: &dyn Fn(u64) -> Option<Entry>,
) -> Result<(u64, End), String> {
    let pages = Pages::new(reader.memory);
    let walker = reader.over(&pages);
    let mut node = chain.first;
    let mut behind = chain.back.map(|(_, list)| list);
    // Brent's way to notice a round: a mark that is moved after 1, 2, 4, … steps.
    let (mut mark, mut until) = (0, 1);
    let mut found = 0;
    let walk = Walk::Chain(chain.first, chain.end, chain.next);
    // Where nobody knows how many there are, they are counted.
    let known = chain
        .length
        .and_then(|_| reader.halt_before(walk, page.before()));
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
        if page.begins() || chain.length.is_some_and(|length| page.is_full(length)) {
            reader.keep_halt(walk, found, || State::Chain {
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
