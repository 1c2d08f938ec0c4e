//! Recognises the end node of a tree or list, which has no element, and steps back from there.

use crate::pages::PageCache;
use crate::values::Reader;

/// More levels than a red-black tree can have in 64 bits of address space.
const MAX_DEPTH: usize = 130;
/// The longest list that is walked to tell its end node from an element.
const MAX_LIST: u64 = 1 << 16;

/// The position of each link among the first four words of a tree's node.
pub(super) struct TreeLinks {
    parent: usize,
    left: usize,
    right: usize,
    /// Whether the header has only one word, the link to the root. That word is where a node has its left link.
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
    /// Whether a node is the header, which is the position after the last element.
    pub(super) fn is_header(&self, reader: &Reader<'_>, node: u64) -> bool {
        let Ok(words) = reader.words::<4>(node) else {
            return false;
        };
        if self.is_libcxx {
            let parent = reader.words::<2>(words[2]);
            return !parent.is_ok_and(|links| links.contains(&node));
        }
        // The header is red, and its parent's parent is itself. The latter also holds for the root, but the root is black.
        let is_red = words[0] & 0xffff_ffff == 0;
        let grandparent = reader.words::<2>(words[1]).map(|parent| parent[1]);
        is_red && (words[1] == 0 || grandparent == Ok(node))
    }

    /// The node before a node. Before the first node comes the header; before the header comes the last node.
    pub(super) fn before(&self, reader: &Reader<'_>, node: u64) -> Option<u64> {
        let pages = PageCache::new(reader.memory);
        let walker = reader.over(&pages);
        let words = |node: u64| walker.words::<4>(node).ok();
        let is_header = self.is_header(reader, node);
        if is_header && !self.is_libcxx {
            // The right link of libstdc++'s header leads to the last node.
            return Some(words(node)?[self.right]);
        }
        // libc++'s header has only one word.
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

/// Whether an iterator is at the list's end node. After its links, the end node has the number of elements, so a walk of that many nodes
/// comes back to it. An element may begin with the same number, but a walk from that element meets the end node. `false` for both in that
/// case.
pub(super) fn is_list(reader: &Reader<'_>, at: u64, next: usize, back: usize) -> bool {
    let pages = PageCache::new(reader.memory);
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
