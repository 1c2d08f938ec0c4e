//! Tests with lists as the dynamic linker leaves them in memory, changed step by step.

use super::*;
use std::cell::Cell;

const LIST: u64 = 0x1000;
/// The distance between entries, in bytes.
const ENTRY: u64 = 0x100;

fn entry(index: u64) -> u64 {
    0x10_000 + index * ENTRY
}

/// Memory from address 0 on, which counts how often it is read.
#[derive(Default)]
struct Pages {
    bytes: Vec<u8>,
    reads: Cell<u32>,
}

impl Memory for Pages {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        self.reads.set(self.reads.get() + 1);
        let start = usize::try_from(address.0).map_err(|_| address)?;
        let end = start.checked_add(buffer.len()).ok_or(address)?;
        let bytes = self.bytes.get(start..end);
        buffer.copy_from_slice(bytes.ok_or(address)?);
        Ok(())
    }
}

impl Pages {
    fn new() -> Pages {
        let bytes = vec![0; 1 << 20];
        let mut pages = Pages {
            bytes,
            ..Pages::default()
        };
        pages.put(LIST, &1_u64.to_le_bytes());
        pages
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.bytes[at as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    /// Writes a list that has the entries with these indexes, in this order.
    fn link(&mut self, entries: &[u64]) {
        self.put(LIST + 8, &entry(entries[0]).to_le_bytes());
        for (position, index) in entries.iter().enumerate() {
            let at = entry(*index);
            let next = entries.get(position + 1).map_or(0, |next| entry(*next));
            let words = [index << 20, at + 64, 0x5000 + index, next];
            self.put(at, &words.map(u64::to_le_bytes).concat());
            self.put(at + 64, format!("/lib/{index}.so\0").as_bytes());
        }
    }

    fn state(&mut self, state: u32) {
        self.put(LIST + 24, &state.to_le_bytes());
    }
}

fn names(maps: &[LinkMap]) -> Vec<String> {
    let name = |map: &LinkMap| String::from_utf8_lossy(&map.name).into_owned();
    maps.iter().map(name).collect()
}

/// What one reading returns, as a text: a word for the kind of the result, and the entries' names.
fn look(loader: &mut Loader, pages: &Pages) -> String {
    match loader.look(pages) {
        None => "nothing".to_owned(),
        Some(Lists::Longer(maps)) => format!("longer {}", names(&maps).join(" ")),
        Some(Lists::Whole(maps)) => format!("whole {}", names(&maps).join(" ")),
    }
}

#[test]
fn what_is_added_is_read_and_nothing_else() {
    let mut pages = Pages::new();
    let mut loader = Loader::at(Some(Address(LIST)));
    let many: Vec<u64> = (0..1000).collect();
    pages.link(&many);
    assert!(look(&mut loader, &pages).starts_with("whole /lib/0.so /lib/1.so "));
    pages.state(1);
    assert_eq!(look(&mut loader, &pages), "nothing");
    let more: Vec<u64> = (0..1002).collect();
    pages.link(&more);
    pages.state(0);
    pages.reads.set(0);
    assert_eq!(
        look(&mut loader, &pages),
        "longer /lib/1000.so /lib/1001.so"
    );
    assert!(
        pages.reads.get() < 20,
        "{} reads for two entries",
        pages.reads.get()
    );
    assert_eq!(look(&mut loader, &pages), "longer ");
}

#[test]
fn what_is_taken_out_is_missed_in_a_whole_list() {
    let mut pages = Pages::new();
    let mut loader = Loader::at(Some(Address(LIST)));
    pages.link(&[0, 1, 2]);
    assert_eq!(
        look(&mut loader, &pages),
        "whole /lib/0.so /lib/1.so /lib/2.so"
    );
    pages.state(2);
    assert_eq!(look(&mut loader, &pages), "nothing");
    pages.link(&[0, 2]);
    pages.state(0);
    assert_eq!(look(&mut loader, &pages), "whole /lib/0.so /lib/2.so");
    assert_eq!(look(&mut loader, &pages), "longer ");
}

#[test]
fn an_end_that_is_not_the_known_one_has_all_read_again() {
    let mut pages = Pages::new();
    let mut loader = Loader::at(Some(Address(LIST)));
    pages.link(&[0, 1]);
    look(&mut loader, &pages);
    // The last entry is freed and another is allocated in its place, without a notification.
    let at = entry(1);
    pages.put(at, &0x7770_0000_u64.to_le_bytes());
    assert_eq!(look(&mut loader, &pages), "whole /lib/0.so /lib/1.so");
    pages.link(&[3, 1]);
    assert_eq!(look(&mut loader, &pages), "whole /lib/3.so /lib/1.so");
}

#[test]
fn a_list_that_goes_round_or_leads_nowhere_has_an_end() {
    let mut pages = Pages::new();
    let mut loader = Loader::at(Some(Address(LIST)));
    pages.link(&[0, 1]);
    pages.put(entry(1) + 24, &entry(0).to_le_bytes());
    match loader.look(&pages) {
        Some(Lists::Whole(maps)) => assert_eq!(maps.len(), MOST_MODULES),
        other => panic!("{other:?}"),
    }
    pages.put(entry(1) + 24, &u64::MAX.to_le_bytes());
    assert_eq!(look(&mut loader, &pages), "nothing");
    assert_eq!(look(&mut loader, &pages), "nothing");
    pages.link(&[0, 1]);
    assert_eq!(look(&mut loader, &pages), "whole /lib/0.so /lib/1.so");
}
