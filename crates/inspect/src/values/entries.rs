//! Elements that lie apart, in lists, trees and tables: only a page of them is made, however many there are.
//!
//! What walks a container gives each element to a [`Page`] in its turn, which makes values of those on the page alone and
//! says when it is full. So what is behind the page is never looked at, and what is before it costs a step each.

use super::Value;
use super::view::Limit;
use dapple_symbols::location::Unavailable;

/// A page of the elements of a library's container that lie apart, and how many there are in all.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    entries: Vec<Entry>,
    /// The position of the first of them.
    first: u64,
    /// Whether they have keys.
    pub has_keys: bool,
    /// Whether their order is the user's.
    pub is_list: bool,
    /// How many there are in all.
    pub length: u64,
    /// Whether there are more, which nobody has counted.
    pub is_longer: bool,
    /// What is shown in place of a list of them.
    pub text: Option<String>,
    /// Why those behind the last one can't be had, where they can't.
    pub broken: Option<Unavailable>,
}

/// An element; a map's has a key.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: Option<Value>,
    pub value: Value,
}

/// The elements asked for, being collected by a walk over all.
#[derive(Debug)]
pub(crate) struct Page {
    entries: Vec<Entry>,
    has_keys: bool,
    /// The position of the next element.
    at: u64,
    first: u64,
    end: u64,
}

impl Page {
    /// An empty page of as much as is asked for, of a map or a container without keys.
    pub(crate) fn new(limit: Limit, has_keys: bool) -> Page {
        Page {
            entries: Vec::new(),
            has_keys,
            at: 0,
            first: limit.first,
            end: limit.first.saturating_add(limit.entries as u64),
        }
    }

    /// The position of the next element.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Whether no other element is wanted, of `length` in all.
    pub(crate) fn is_full(&self, length: u64) -> bool {
        self.at >= self.end.min(length) || self.first >= length || self.first >= self.end
    }

    /// Whether the next element is the first of the page.
    pub(crate) fn begins(&self) -> bool {
        self.at == self.first
    }

    /// How many elements come before the page.
    pub(crate) fn before(&self) -> u64 {
        self.first.saturating_sub(self.at)
    }

    /// Passes over elements that come before the page.
    pub(crate) fn skip(&mut self, count: u64) {
        self.at = self.at.saturating_add(count);
    }

    /// Passes over the next element, or takes it if it is on the page. `None`: it can't be had.
    pub(crate) fn next(&mut self, entry: impl FnOnce() -> Option<Entry>) -> Option<()> {
        if (self.first..self.end).contains(&self.at) {
            self.entries.push(entry()?);
        }
        self.at += 1;
        Some(())
    }

    /// What was collected, of `length` elements.
    pub(crate) fn of(self, length: u64) -> Entries {
        Entries {
            has_keys: self.has_keys,
            entries: self.entries,
            first: self.first,
            is_list: false,
            length,
            is_longer: false,
            text: None,
            broken: None,
        }
    }

    /// What was collected before a walk failed, and why it has. `None`: nothing makes sense, not even the first element.
    pub(crate) fn until(self, length: u64, why: &str) -> Option<Entries> {
        (self.at > 0).then(|| Entries {
            broken: Some(Unavailable::Unsupported(why.to_owned())),
            ..self.of(length)
        })
    }
}

impl Entries {
    /// The first elements of the page, one after another.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// How many of the container's elements end with the page.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(self.entries.len() as u64)
    }

    /// The element at a position of the page.
    pub(crate) fn at(&self, position: u64) -> Option<&Entry> {
        let index = position.checked_sub(self.first)?;
        self.entries.get(usize::try_from(index).ok()?)
    }
}

impl Limit {
    /// As much of a container's elements as are asked for.
    pub(crate) fn page(self, first: u64, end: u64) -> Limit {
        let count = end.saturating_sub(first);
        Limit {
            first,
            entries: usize::try_from(count).map_or(self.entries, |count| count.min(self.entries)),
            ..self
        }
    }
}
