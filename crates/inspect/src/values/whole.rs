//! The complete text of a value in the syntax of its language, for copying and for the format `,full`.
//!
//! Texts and containers are complete, up to a bound for the whole text; if it is exceeded, a last line says what is missing. Pointers are
//! addresses, except for texts and owners.

use super::entries::Entries;
use super::view::{Limit, Record, Sequence, Shows, Style, View};
use super::{Reader, Value, names};
use crate::natvis::{Elements, Parts};
use crate::pages::PageCache;
use dapple_symbols::functions::Language;

/// The bound of the text, in bytes.
const MOST: usize = 4 << 20;
/// How many bytes may follow after the bound: the last element and closing brackets.
const ENDS: usize = 4 << 10;
/// How deep fields, elements and references are followed.
const DEEPEST: usize = 64;

/// Limits for a complete text.
const ALL: Limit = Limit {
    text: MOST,
    first: 0,
    entries: 2_000_000,
};

/// Rust's library types that are written as made from their elements: `HashMap::from([…])`.
const FROM: [&str; 7] = [
    "HashMap",
    "BTreeMap",
    "HashSet",
    "BTreeSet",
    "BinaryHeap",
    "VecDeque",
    "LinkedList",
];

/// The text that is being written.
#[derive(Default)]
struct Whole {
    text: String,
    /// What was left out, in words. A level replaces the words of the levels inside it, so those of the outermost level remain.
    left_out: Option<String>,
}

impl Whole {
    fn is_full(&self) -> bool {
        self.text.len() >= MOST
    }

    fn leave_out(&mut self, what: impl Into<String>) {
        if !self.text.ends_with('…') {
            self.text.push('…');
        }
        self.left_out = Some(what.into());
    }

    fn separate(&mut self, position: usize) {
        if position > 0 {
            self.text.push_str(", ");
        }
    }
}

impl Reader<'_> {
    /// The complete text of a value.
    pub(super) fn whole(&self, value: &Value) -> String {
        let pages = PageCache::new(self.memory);
        let reader = self.over(&pages);
        let mut whole = Whole::default();
        reader.put(value, 0, &mut whole);
        let Whole { mut text, left_out } = whole;
        let mut left_out = left_out;
        if text.len() > MOST + ENDS {
            let cut = (0..=MOST).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(cut.unwrap_or(0));
            text.push('…');
            left_out = left_out.or_else(|| Some("the rest of a text".to_owned()));
        }
        if let Some(what) = left_out {
            text.push_str(&format!("\n… left out at {} MiB: {what}", MOST >> 20));
        }
        text
    }

    fn put(&self, value: &Value, depth: usize, whole: &mut Whole) {
        if depth > DEEPEST {
            whole.leave_out(format!("what is deeper than {DEEPEST} levels"));
            return;
        }
        match self.view(value, ALL) {
            View::Leaf(text) | View::Missing(text) => whole.text.push_str(without_code(&text)),
            View::Text { text, .. } | View::Broken(text) => {
                if text.ends_with('…') {
                    whole.left_out = Some("the rest of a text".to_owned());
                }
                whole.text.push_str(&text);
            }
            View::Pointer {
                address,
                target,
                note,
                shows,
            } => match (note, target, shows) {
                (Some(text), _, _) if text.starts_with('"') => whole.text.push_str(&text),
                (_, Some(target), Shows::Target | Shows::Counted(_)) if address != 0 => {
                    self.put(&target, depth + 1, whole);
                }
                (Some(note), _, Shows::Address) => {
                    whole.text.push_str(&format!("{address:#x} {note}"));
                }
                _ => whole.text.push_str(&format!("{address:#x}")),
            },
            View::Alias(target) => self.put(&target, depth + 1, whole),
            View::Sequence(sequence) => self.put_sequence(&sequence, value, depth, whole),
            View::Entries(entries) => self.put_entries(&entries, value, depth, whole),
            View::Record(record) => self.put_record(&record, value, depth, whole),
            View::Presented(presented) => match &presented.text {
                Some(text) => whole.text.push_str(text),
                None => self.put_parts(&self.parts(&presented), value, depth, whole),
            },
        }
    }

    fn put_sequence(&self, sequence: &Sequence, value: &Value, depth: usize, whole: &mut Whole) {
        if let Some(text) = &sequence.text {
            whole.text.push_str(text);
            return;
        }
        let (open, close) = match self.is_of_rust(value) {
            true => ('[', ']'),
            false => ('{', '}'),
        };
        whole.text.push(open);
        for index in 0..sequence.length {
            whole.separate(index as usize);
            if whole.is_full() {
                let last = sequence.length - 1;
                whole.leave_out(format!("elements {index} to {last} of {}", sequence.length));
                break;
            }
            let element = sequence.at(index);
            let is_lost = element.contents.address().is_some() && !self.is_readable_value(&element);
            self.put(&element, depth + 1, whole);
            if is_lost {
                // The remaining elements are probably unreadable, too.
                break;
            }
        }
        whole.text.push(close);
    }

    fn put_entries(&self, entries: &Entries, value: &Value, depth: usize, whole: &mut Whole) {
        if let Some(text) = &entries.text {
            whole.text.push_str(text);
            return;
        }
        let is_rust = self.is_of_rust(value);
        let name = self
            .resolve(value)
            .map(|resolved| resolved.type_.name.clone());
        let name = name.as_deref().map(names::base_name).unwrap_or_default();
        let is_made = is_rust && FROM.contains(&name);
        let (open, close) = match (is_made, is_rust && entries.is_list) {
            (true, _) => (format!("{name}::from(["), "])"),
            (false, true) => ("[".to_owned(), "]"),
            (false, false) => ("{".to_owned(), "}"),
        };
        whole.text.push_str(&open);
        let mut count = 0;
        for entry in entries.iter() {
            whole.separate(count as usize);
            if whole.is_full() {
                break;
            }
            count += 1;
            let Some(key) = &entry.key else {
                self.put(&entry.value, depth + 1, whole);
                continue;
            };
            let (before, between, behind) = match (is_made, is_rust) {
                (true, _) => ("(", ", ", ")"),
                (false, true) => ("", ": ", ""),
                (false, false) => ("{", ", ", "}"),
            };
            whole.text.push_str(before);
            self.put(key, depth + 1, whole);
            whole.text.push_str(between);
            self.put(&entry.value, depth + 1, whole);
            whole.text.push_str(behind);
        }
        if let Some(reason) = entries.broken.as_ref().filter(|_| !whole.is_full()) {
            whole.separate(count as usize);
            whole.text.push_str(&self.reason(reason));
        } else if count < entries.length || entries.is_longer {
            let length = entries.length;
            whole.leave_out(format!("the entries behind the first {count} of {length}"));
        }
        whole.text.push_str(close);
    }

    fn put_record(&self, record: &Record, value: &Value, depth: usize, whole: &mut Whole) {
        let name = record.name.as_deref().unwrap_or_default();
        if let Style::Range | Style::RangeInclusive = record.style {
            return self.put_range(record, depth, whole);
        }
        if let Some(object) = &record.whole
            && let View::Record(of_object) = self.view(object, ALL)
            && of_object.whole.is_none()
        {
            // C++ has the class's name before the braces.
            whole.text.push_str(name.trim().trim_matches(['<', '>']));
            return self.put_record(&of_object, object, depth + 1, whole);
        }
        let is_rust = self.is_of_rust(value);
        whole.text.push_str(name);
        let fields: Vec<_> = record
            .fields
            .iter()
            .filter(|field| !field.artificial)
            .collect();
        if fields.is_empty() && is_rust && !name.is_empty() {
            return;
        }
        let (open, close) = match (record.style, is_rust) {
            (Style::Tuple, _) => ("(", ")"),
            (Style::Named, true) if name.is_empty() => ("{ ", " }"),
            (_, true) => (" { ", " }"),
            (_, false) => ("{", "}"),
        };
        whole.text.push_str(open);
        for (position, field) in fields.iter().enumerate() {
            whole.separate(position);
            if whole.is_full() {
                whole.leave_out(format!("the fields from `{}` on", field.name));
                break;
            }
            match (record.style, is_rust) {
                (Style::Named, true) => whole.text.push_str(&format!("{}: ", field.name)),
                // A designated initializer can't name a base.
                (Style::Named, false) if !field.base => {
                    whole.text.push_str(&format!(".{} = ", field.name));
                }
                _ => {}
            }
            self.put(&field.value, depth + 1, whole);
        }
        if is_rust && record.style == Style::Tuple && name.is_empty() && fields.len() == 1 {
            whole.text.push(',');
        }
        whole.text.push_str(close);
    }

    fn put_range(&self, record: &Record, depth: usize, whole: &mut Whole) {
        let end = |name: &str| record.fields.iter().find(|field| field.name == name);
        if let Some(start) = end("start") {
            self.put(&start.value, depth + 1, whole);
        }
        whole.text.push_str("..");
        if record.style == Style::RangeInclusive {
            whole.text.push('=');
        }
        if let Some(end) = end("end") {
            self.put(&end.value, depth + 1, whole);
        }
    }

    /// The children of a natvis presentation without a text.
    fn put_parts(&self, parts: &Parts, value: &Value, depth: usize, whole: &mut Whole) {
        let elements = |elements: &Elements, whole: &mut Whole| match elements {
            Elements::Together(sequence) => self.put_sequence(sequence, value, depth + 1, whole),
            Elements::Apart(entries) => self.put_entries(entries, value, depth + 1, whole),
        };
        if let ([], [group]) = (&parts.fields[..], &parts.groups[..]) {
            return elements(&group.elements, whole);
        }
        whole.text.push('{');
        for (position, field) in parts.fields.iter().enumerate() {
            whole.separate(position);
            whole.text.push_str(&format!(".{} = ", field.name));
            self.put(&field.value, depth + 1, whole);
        }
        for (position, group) in parts.groups.iter().enumerate() {
            whole.separate(position + parts.fields.len());
            elements(&group.elements, whole);
        }
        whole.text.push('}');
    }

    fn is_of_rust(&self, value: &Value) -> bool {
        match self.resolve(value) {
            Some(resolved) => resolved.type_.language == Language::Rust,
            None => value.language == Language::Rust,
        }
    }
}

/// Only the character of a text such as `65 'A'`. Returns other texts unchanged.
fn without_code(text: &str) -> &str {
    match text.split_once(' ') {
        Some((code, character))
            if character.starts_with('\'')
                && code
                    .trim_start_matches('-')
                    .bytes()
                    .all(|b| b.is_ascii_digit()) =>
        {
            character
        }
        _ => text,
    }
}
