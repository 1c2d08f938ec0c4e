//! A page cache of the debuggee's memory, for walks through lists, trees and stacks: a page in the cache isn't read again.

use crate::Address;
use dapple_arch::Memory;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

const PAGE: u64 = 4096;
/// How many pages a walk keeps at a time: 64 MiB.
const KEPT: usize = 1 << 14;
/// How many pages a request keeps at a time.
const FEW: usize = 64;
/// How many pages one walk may read: half a GiB, which takes some tenths of a second.
const MOST: u32 = 1 << 17;

type Page = Box<[u8; PAGE as usize]>;

thread_local! {
    /// Buffers of finished requests, for the next request to reuse.
    static SPARE: RefCell<Vec<Page>> = const { RefCell::new(Vec::new()) };
}

/// A page buffer with arbitrary contents.
fn spare() -> Page {
    let spare = SPARE.with_borrow_mut(Vec::pop);
    spare.unwrap_or_else(|| Box::new([0; PAGE as usize]))
}

/// The memory of a stopped debuggee, cached for one walk or request.
pub(crate) struct PageCache<'a> {
    memory: &'a dyn Memory,
    /// By page number. `None`: some of the page can't be read.
    pages: RefCell<FxHashMap<u64, Option<Page>>>,
    left: Cell<u32>,
    /// How many pages are kept at a time.
    kept: usize,
}

impl<'a> PageCache<'a> {
    pub(crate) fn new(memory: &'a dyn Memory) -> PageCache<'a> {
        PageCache::with(memory, MOST, KEPT)
    }

    /// A cache for one request. The number of pages read has no limit: a request's values lie close together, and each is read in parts.
    pub(crate) fn of_request(memory: &'a dyn Memory) -> PageCache<'a> {
        PageCache::with(memory, u32::MAX, FEW)
    }

    fn with(memory: &'a dyn Memory, left: u32, kept: usize) -> PageCache<'a> {
        PageCache {
            memory,
            pages: RefCell::new(FxHashMap::default()),
            left: Cell::new(left),
            kept,
        }
    }

    /// Whether the limit of pages is reached, so that no further page can be read.
    pub(crate) fn are_used_up(&self) -> bool {
        self.left.get() == 0
    }

    fn within(&self, number: u64, offset: usize, buffer: &mut [u8]) -> Result<(), Address> {
        let start = Address(number * PAGE);
        let mut pages = self.pages.borrow_mut();
        if !pages.contains_key(&number) {
            let left = self.left.get();
            self.left.set(left.saturating_sub(1));
            if left == 0 {
                return Err(start.offset(offset as i64));
            }
            if pages.len() >= self.kept {
                pages.clear();
            }
            let mut bytes = spare();
            let read = self.memory.read(start, &mut bytes[..]);
            pages.insert(number, read.is_ok().then_some(bytes));
        }
        match pages.get(&number) {
            Some(Some(page)) => {
                if let Some(part) = page.get(offset..offset + buffer.len()) {
                    buffer.copy_from_slice(part);
                }
                Ok(())
            }
            _ => self.memory.read(start.offset(offset as i64), buffer),
        }
    }
}

impl Drop for PageCache<'_> {
    fn drop(&mut self) {
        SPARE.with_borrow_mut(|spare| {
            let room = FEW.saturating_sub(spare.len());
            let read = self.pages.get_mut().drain().filter_map(|(_, page)| page);
            spare.extend(read.take(room));
        });
    }
}

impl Memory for PageCache<'_> {
    fn address_size(&self) -> u64 {
        self.memory.address_size()
    }

    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        if buffer.len() as u64 > PAGE {
            return self.memory.read(address, buffer);
        }
        let offset = address.0 % PAGE;
        let first = ((PAGE - offset) as usize).min(buffer.len());
        let (head, tail) = buffer.split_at_mut(first);
        self.within(address.0 / PAGE, offset as usize, head)?;
        if !tail.is_empty() {
            let next = (address.0 / PAGE).checked_add(1);
            let next = next
                .filter(|next| *next <= u64::MAX / PAGE)
                .ok_or(Address(u64::MAX))?;
            self.within(next, 0, tail)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of one and a half pages.
    struct Literal(Cell<usize>);

    impl Memory for Literal {
        fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
            self.0.set(self.0.get() + 1);
            for (at, byte) in (address.0..).zip(buffer) {
                if !(PAGE..PAGE * 5 / 2).contains(&at) {
                    return Err(Address(at));
                }
                *byte = at as u8;
            }
            Ok(())
        }
    }

    #[test]
    fn pages_are_read_once_and_what_is_cut_off_as_far_as_it_goes() {
        let memory = Literal(Cell::new(0));
        let pages = PageCache::new(&memory);
        let mut bytes = [0; 8];
        for at in PAGE..PAGE * 2 - 8 {
            pages.read(Address(at), &mut bytes).expect("it is there");
            assert_eq!(bytes[0], at as u8);
        }
        assert_eq!(memory.0.get(), 1);
        // Across a page border, into a page that is only half readable.
        pages
            .read(Address(PAGE * 2 - 4), &mut bytes)
            .expect("it is there");
        assert_eq!(bytes[7], 3);
        let end = PAGE * 5 / 2;
        pages
            .read(Address(end - 8), &mut bytes)
            .expect("it is there");
        assert_eq!(pages.read(Address(end - 4), &mut bytes), Err(Address(end)));
        assert!(pages.read(Address(PAGE - 1), &mut bytes).is_err());
        assert!(pages.read(Address(u64::MAX - 3), &mut bytes).is_err());
    }

    #[test]
    fn a_walk_ends_where_it_has_read_enough() {
        struct Endless;
        impl Memory for Endless {
            fn read(&self, _: Address, _: &mut [u8]) -> Result<(), Address> {
                Ok(())
            }
        }
        let pages = PageCache::new(&Endless);
        let read = |page: u64| pages.read(Address(page * PAGE), &mut [0; 8]);
        assert!((0..u64::from(MOST)).all(|page| read(page).is_ok()));
        assert!(read(u64::from(MOST)).is_err());
        assert!(pages.are_used_up());
    }
}
