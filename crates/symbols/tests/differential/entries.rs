//! Parses the output of `llvm-dwarfdump --debug-info`: the entries with their attributes.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One debugging information entry.
#[derive(Debug, Default)]
pub struct Entry {
    pub tag: String,
    /// The index of the parent entry.
    parent: Option<usize>,
    /// Names without `DW_AT_`, and the values' text without its outer parentheses.
    attributes: Vec<(String, String)>,
}

/// All entries of a file in their order.
#[derive(Debug, Default)]
pub struct Entries {
    pub all: Vec<Entry>,
    by_offset: HashMap<u64, usize>,
    /// The names of the types in type units, by signature.
    by_signature: HashMap<u64, String>,
}

/// The printed position of a call site: file, line and column.
pub type Place = (PathBuf, u32, u32);

impl Entries {
    pub fn parse(text: &str) -> Entries {
        let mut entries = Entries::default();
        let mut open: Vec<usize> = Vec::new();
        for line in text.lines() {
            if let Some((offset, rest)) = line.split_once(": ").filter(|_| line.starts_with("0x")) {
                let tag = rest.trim_start();
                let Some(name) = tag.strip_prefix("DW_TAG_") else {
                    entries.by_signature.extend(named_type(tag));
                    continue;
                };
                open.truncate((rest.len() - tag.len()) / 2);
                let index = entries.all.len();
                entries.all.push(Entry {
                    tag: name.trim_end().to_owned(),
                    parent: open.last().copied(),
                    attributes: Vec::new(),
                });
                entries.by_offset.insert(hex(offset), index);
                open.push(index);
                continue;
            }
            let Some(entry) = entries.all.last_mut() else {
                continue;
            };
            match line.trim_start().strip_prefix("DW_AT_") {
                Some(attribute) => {
                    let (name, value) = attribute.split_once('\t').unwrap_or((attribute, ""));
                    entry
                        .attributes
                        .push((name.trim().to_owned(), value.trim().to_owned()));
                }
                // A list continues on further lines.
                None if line.starts_with(' ') => {
                    if let Some((_, value)) = entry.attributes.last_mut() {
                        value.push('\n');
                        value.push_str(line.trim());
                    }
                }
                None => {}
            }
        }
        entries
    }

    /// The entries with a tag.
    pub fn tagged<'s>(&'s self, tag: &'s str) -> impl Iterator<Item = &'s Entry> {
        self.all.iter().filter(move |entry| entry.tag == tag)
    }

    /// The entries of units, including skeleton units.
    pub fn units(&self) -> impl Iterator<Item = &Entry> {
        self.all.iter().filter(|entry| entry.tag.ends_with("_unit"))
    }

    /// The entry that this one completes (DWARF 5 §2.13.2, §3.3.8).
    fn continued(&self, entry: &Entry) -> Option<&Entry> {
        let origin = entry
            .own("abstract_origin")
            .or_else(|| entry.own("specification"))?;
        let offset = origin.split([' ', '"']).find(|part| !part.is_empty())?;
        Some(&self.all[*self.by_offset.get(&hex(offset))?])
    }

    /// The entry, the one it completes, and so on.
    fn chain<'s>(&'s self, entry: &'s Entry) -> impl Iterator<Item = &'s Entry> {
        std::iter::successors(Some(entry), |entry| self.continued(entry)).take(8)
    }

    /// The first text attribute of this name in that chain.
    pub fn text(&self, entry: &Entry, name: &str) -> Option<String> {
        let mut chain = self.chain(entry);
        chain.find_map(|entry| entry.own_text(name))
    }

    /// The name, qualified with the names of the entries that enclose the declaration.
    pub fn qualified_name(&self, entry: &Entry) -> Option<String> {
        let mut names = vec![self.text(entry, "name")?];
        let around = |entry| Some(&self.all[self.chain(entry).last()?.parent?]);
        let mut scope = around(entry);
        while let Some(entry) = scope.filter(|entry| !entry.tag.ends_with("_unit")) {
            let name = self.text(entry, "name");
            let by_signature = || {
                let signature = entry.own("signature")?;
                self.by_signature.get(&hex(signature)).cloned()
            };
            let name = name.or_else(by_signature);
            let anonymous = match entry.tag.as_str() {
                "namespace" => Some("(anonymous namespace)"),
                "class_type" => Some("{anonymous class}"),
                "structure_type" => Some("{anonymous struct}"),
                "union_type" => Some("{anonymous union}"),
                _ => None,
            };
            names.extend(name.or(anonymous.map(str::to_owned)));
            scope = around(entry);
        }
        names.reverse();
        Some(names.join("::"))
    }

    pub fn linkage_name(&self, entry: &Entry) -> Option<String> {
        self.text(entry, "linkage_name")
    }
}

/// The signature and the name of a type unit's type, from its header.
fn named_type(header: &str) -> Option<(u64, String)> {
    let (_, rest) = header.split_once(", name = '")?;
    let (name, rest) = rest.split_once("', type_signature = ")?;
    let signature = rest.split(',').next()?;
    (!name.is_empty()).then(|| (hex(signature), name.to_owned()))
}

impl Entry {
    fn own(&self, name: &str) -> Option<&str> {
        let (_, value) = self.attributes.iter().find(|(known, _)| known == name)?;
        let value = value.strip_prefix('(').unwrap_or(value);
        Some(value.strip_suffix(')').unwrap_or(value))
    }

    pub fn own_text(&self, name: &str) -> Option<String> {
        self.own(name).map(unquoted)
    }

    pub fn own_number(&self, name: &str) -> Option<u64> {
        let value = self.own(name)?;
        Some(match value.strip_prefix("0x") {
            Some(_) => hex(value.split_whitespace().next().unwrap_or(value)),
            None => value.parse().ok()?,
        })
    }

    /// The code ranges of the entry, without empty ones, in the printed order.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        let ranges: Vec<Range<u64>> = match (self.own("ranges"), self.own_number("low_pc")) {
            (Some(list), _) => list.lines().filter_map(printed_range).collect(),
            (None, Some(low)) => {
                let high = self.own_number("high_pc").unwrap_or(low);
                std::iter::once(low..high).collect()
            }
            (None, None) => Vec::new(),
        };
        ranges
            .into_iter()
            .filter(|range| range.start < range.end)
            .collect()
    }

    /// The position of an inlined call. A missing number is 0.
    pub fn call_site(&self) -> Option<Place> {
        let number = |name| self.own_number(name).unwrap_or(0) as u32;
        Some((
            super::llvm::normalise(Path::new(&self.own_text("call_file")?)),
            number("call_line"),
            number("call_column"),
        ))
    }
}

/// `[0x0000000000001180, 0x00000000000011bc)`
fn printed_range(line: &str) -> Option<Range<u64>> {
    let (start, end) = line.trim().strip_prefix('[')?.split_once(", ")?;
    let end = end.split(')').next()?;
    Some(hex(start)..hex(end))
}

fn unquoted(text: &str) -> String {
    let text = text.strip_prefix('"').unwrap_or(text);
    text.strip_suffix('"').unwrap_or(text).to_owned()
}

pub fn hex(text: &str) -> u64 {
    let digits = text.trim().trim_start_matches("0x");
    u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{text:?} is no hexadecimal number"))
}
