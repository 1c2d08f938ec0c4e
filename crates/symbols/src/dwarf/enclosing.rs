//! Finds the scopes around an entry, which qualify its name.
//!
//! An entry doesn't refer to its parents. A scope's entries are contiguous, so scopes are stored as ranges of offsets,
//! and the scopes around an entry are found by binary search.

use crate::dwarf::DEPTH_LIMIT;
use gimli::constants as dw;

/// The scopes of a unit: namespaces, classes, enums, functions. Sorted by start; nested or disjoint.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scopes(pub Vec<Scope>);

/// A scope: its range of offsets in the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scope {
    pub start: usize,
    pub end: usize,
    /// The index of the enclosing scope.
    pub parent: Option<u32>,
}

impl Scopes {
    /// The offsets of the scopes around an entry, innermost first.
    pub fn around(&self, offset: usize) -> Vec<usize> {
        let mut around = Vec::new();
        let after = self.0.partition_point(|scope| scope.start < offset);
        let mut next = after.checked_sub(1);
        while around.len() < DEPTH_LIMIT as usize
            && let Some(scope) = next.and_then(|index| self.0.get(index))
        {
            if offset < scope.end {
                around.push(scope.start);
            }
            // A scope's parent starts before it, so this ends.
            next = scope.parent.map(|parent| parent as usize);
        }
        around
    }
}

/// Finds the scopes in a pass over a unit's entries.
#[derive(Default)]
pub(crate) struct OpenScopes {
    scopes: Vec<Scope>,
    /// The index and depth of the scopes that are open.
    open: Vec<(u32, isize)>,
}

impl OpenScopes {
    /// Call for each entry, in order, before its children.
    pub fn enter(&mut self, offset: usize, depth: isize, tag: gimli::DwTag, has_children: bool) {
        self.close(offset, depth);
        if has_children && is_scope(tag) {
            let parent = self.open.last().map(|&(parent, _)| parent);
            self.open.push((self.scopes.len() as u32, depth));
            self.scopes.push(Scope {
                start: offset,
                end: usize::MAX,
                parent,
            });
        }
    }

    /// Closes the scopes that an entry at `depth` is not in.
    fn close(&mut self, offset: usize, depth: isize) {
        while let Some(&(scope, scope_depth)) = self.open.last() {
            if scope_depth < depth {
                break;
            }
            self.scopes[scope as usize].end = offset;
            self.open.pop();
        }
    }

    /// The scopes of a unit whose entries end at `offset`.
    pub fn end(mut self, offset: usize) -> Scopes {
        self.close(offset, isize::MIN);
        Scopes(self.scopes)
    }

    /// The scopes of a unit whose further entries can't be read: open scopes have no end.
    pub fn broken(self) -> Scopes {
        Scopes(self.scopes)
    }
}

fn is_scope(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_namespace
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_subprogram
    )
}
