//! Elements of lists, trees and tables, which aren't contiguous: only one page of them is made, however many there are.
//!
//! A walk through a container offers each element to a [`Page`], which makes values of those on the page only and says when it is full.
//! So elements after the page are visited only where they have to be counted, and those before it cost no more than a step each.

use super::Value;
use super::view::Limit;
use dapple_symbols::location::Unavailable;

/// A page of a library container's elements, and how many there are in all.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    entries: Vec<Entry>,
    /// The position of the page's first element.
    first: u64,
    /// Whether the elements have keys.
    pub has_keys: bool,
    /// Whether the container is a list, in which the order of elements matters.
    pub is_list: bool,
    /// The number of elements in the container.
    pub length: u64,
    /// Whether there are more than `length`, which weren't counted.
    pub is_longer: bool,
    /// A text to show instead of the elements.
    pub text: Option<String>,
    /// Why the elements after the page's last one can't be read, if so.
    pub broken: Option<Unavailable>,
}

/// An element; it has a key if it is a map's.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: Option<Value>,
    pub value: Value,
}

/// The requested elements, collected by a walk through the container.
#[derive(Debug)]
pub(crate) struct Page {
    entries: Vec<Entry>,
    has_keys: bool,
    /// The position of the next element that the walk offers.
    at: u64,
    first: u64,
    end: u64,
}

impl Page {
    /// An empty page for the limit's range, of a container with or without keys.
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

    /// Whether no further element of a container with `length` elements is wanted.
    pub(crate) fn is_full(&self, length: u64) -> bool {
        self.at >= self.end.min(length) || self.first >= length || self.first >= self.end
    }

    /// Whether the next element is the first of the page.
    pub(crate) fn begins(&self) -> bool {
        self.at == self.first
    }

    /// How many more elements come before the page.
    pub(crate) fn before(&self) -> u64 {
        self.first.saturating_sub(self.at)
    }

    /// Counts elements that come before the page, without visiting them.
    pub(crate) fn skip(&mut self, count: u64) {
        self.at = self.at.saturating_add(count);
    }

    /// Counts the next element. If it is on the page, `entry` makes what is collected. `None`: `entry` has failed, and the element isn't
    /// counted.
    pub(crate) fn next(&mut self, entry: impl FnOnce() -> Option<Entry>) -> Option<()> {
        if (self.first..self.end).contains(&self.at) {
            self.entries.push(entry()?);
        }
        self.at += 1;
        Some(())
    }

    /// The collected elements, of a container with `length`.
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

    /// The elements collected before the walk failed, with the reason. `None`: not even the first element could be read.
    pub(crate) fn until(self, length: u64, why: &str) -> Option<Entries> {
        (self.at > 0).then(|| Entries {
            broken: Some(Unavailable::Unsupported(why.to_owned())),
            ..self.of(length)
        })
    }
}

impl Entries {
    /// The elements on the page.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The position after the page's last element.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(self.entries.len() as u64)
    }

    /// The element at a position in the container, if it is on the page.
    pub(crate) fn at(&self, position: u64) -> Option<&Entry> {
        let index = position.checked_sub(self.first)?;
        self.entries.get(usize::try_from(index).ok()?)
    }
}

impl Limit {
    /// The limit for the entries at positions `first..end`, within this one.
    pub(crate) fn page(self, first: u64, end: u64) -> Limit {
        let count = end.saturating_sub(first);
        Limit {
            first,
            entries: usize::try_from(count).map_or(self.entries, |count| count.min(self.entries)),
            ..self
        }
    }
}
