//! Which node is no element's: what stands behind the last one of a tree or list, and how to go back from there.

use crate::pages::Pages;
use crate::values::Reader;

/// A tree with more levels has more nodes than there are addresses.
const MAX_DEPTH: usize = 130;
/// The longest list that is gone round to tell its end from its elements.
const MAX_LIST: u64 = 1 << 16;

/// Which of the first four words of a tree's node is which link.
pub(super) struct TreeLinks {
    parent: usize,
    left: usize,
    right: usize,
    /// Whether the header has nothing but the link to the root, in place of a left one.
    is_libcxx: bool,
}

pub(super) const LIBSTDCXX: TreeLinks = TreeLinks {
    parent: 1,
    left: 2,
    right: 3,
    is_libcxx: false,
};
pub(super) const LIBCXX: TreeLinks = TreeLinks {
    parent: 2,
    left: 0,
    right: 1,
    is_libcxx: true,
};

impl TreeLinks {
    /// Whether a node is the header, behind the last element.
    pub(super) fn is_header(&self, reader: &Reader<'_>, node: u64) -> bool {
        let Ok(words) = reader.words::<4>(node) else {
            return false;
        };
        if self.is_libcxx {
            let parent = reader.words::<2>(words[2]);
            return !parent.is_ok_and(|links| links.contains(&node));
        }
        // The header is red, and its parent's parent; so is the root its parent's, but black.
        let is_red = words[0] & 0xffff_ffff == 0;
        let grandparent = reader.words::<2>(words[1]).map(|parent| parent[1]);
        is_red && (words[1] == 0 || grandparent == Ok(node))
    }

    /// The node before one; before the first it is the header.
    pub(super) fn before(&self, reader: &Reader<'_>, node: u64) -> Option<u64> {
        let pages = Pages::new(reader.memory);
        let walker = reader.over(&pages);
        let words = |node: u64| walker.words::<4>(node).ok();
        let is_header = self.is_header(reader, node);
        if is_header && !self.is_libcxx {
            // Its right link is the last node.
            return Some(words(node)?[self.right]);
        }
        // libc++'s header has no more than one word.
        let [left] = match is_header {
            true => walker.words::<1>(node).ok()?,
            false => [words(node)?[self.left]],
        };
        if left != 0 {
            let mut last = left;
            for _ in 0..MAX_DEPTH {
                match words(last)?[self.right] {
                    0 => return Some(last),
                    right => last = right,
                }
            }
            return None;
        }
        if is_header {
            return Some(node);
        }
        let mut node = node;
        for _ in 0..MAX_DEPTH {
            let parent = words(node)?[self.parent];
            if self.is_header(reader, parent) {
                return Some(parent);
            }
            if words(parent)?[self.left] != node {
                return Some(parent);
            }
            node = parent;
        }
        None
    }
}

/// Whether what a list's iterator is at is the list itself, behind its last element: that has the number of elements behind its
/// links, and is passed after so many. An element that holds such a number is no list, since the list is among the others then.
pub(super) fn is_list(reader: &Reader<'_>, at: u64, next: usize, back: usize) -> bool {
    let pages = Pages::new(reader.memory);
    let walker = reader.over(&pages);
    let Ok([.., count]) = walker.words::<3>(at) else {
        return false;
    };
    if count > MAX_LIST {
        return false;
    }
    let Ok(own) = walker.words::<2>(at) else {
        return false;
    };
    let (mut before, mut node) = (at, own[next]);
    for _ in 0..count {
        let Ok(words) = walker.words::<3>(node) else {
            return false;
        };
        if node == at || words[back] != before || words[2] == count {
            return false;
        }
        (before, node) = (node, words[next]);
    }
    node == at
}
