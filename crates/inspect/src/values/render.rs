//! The one-line text of a value, and the number of its children.

use super::entries::Entries;
use super::pointees::FREED;
use super::view::{LONG, Limit, Record, Resolved, SHORT, Sequence, Shows, Style, View};
use super::{
    Contents, Format, Reader, Rendered, Value, cpp, names, rust, scalars::Number, short_reasons,
};
use crate::Address;
use crate::natvis::{Elements, Parts, Wanted};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{AliasKind, PointerKind, TypeId, TypeKind};

/// The length of a summary, in bytes, from which on it is cut before its next part.
const LINE: usize = 120;
/// How deep a summary descends into fields.
const DEPTH: usize = 4;
/// The most values that a summary visits.
const VALUES: usize = 200;
/// How many references to references are followed.
pub(super) const ALIASES: usize = 8;

/// A summary being written.
struct Line {
    text: String,
    values: usize,
}

/// How the text of a pointer's target is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetText {
    /// After the note about the target.
    Besides,
    /// Without the note.
    Alone,
    /// The target is unreadable.
    Unreadable,
}

impl Line {
    fn is_full(&self) -> bool {
        self.text.len() >= LINE || self.values >= VALUES
    }

    fn cut(&mut self) {
        if !self.text.ends_with('…') {
            self.text.push('…');
        }
    }
}

impl Reader<'_> {
    /// The text, type and child counts of a value. Bounded in time and size whatever is in memory.
    pub fn render(&self, value: &Value) -> Rendered {
        self.known.presentation().begin_value();
        let view = self.view(value, LONG);
        let mut line = Line {
            text: String::new(),
            values: 0,
        };
        self.write(&view, value, 0, &mut line);
        let (named, indexed) = self.count_of(value, &view);
        let text = match value.whole {
            true => self.whole(value),
            false => line.text,
        };
        Rendered {
            text,
            type_name: self.type_name(value),
            named,
            indexed,
            memory: self.memory_of(&view, value),
            code: self.code_of(&view, value),
        }
    }

    /// The address of the function that a value is or points to.
    fn code_of(&self, view: &View, value: &Value) -> Option<Address> {
        let address = match view {
            View::Pointer {
                address,
                target: None,
                ..
            } => Address(*address),
            View::Leaf(_) | View::Missing(_) => value.contents.address()?,
            // A reference to a function.
            View::Alias(target) if self.is_function(target) => target.contents.address()?,
            _ => return None,
        };
        let module = self.modules.at(address)?;
        module.has_code_at(address).then_some(address)
    }

    fn is_function(&self, value: &Value) -> bool {
        let type_ = self.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| matches!(type_.kind, TypeKind::Function { .. }))
    }

    /// A key's text as the name of its entry. It is shorter, and lacks the parts that only a value shown on its own has.
    pub(crate) fn label(&self, key: &Value) -> String {
        self.label_within(key, SHORT)
    }

    /// As [`Reader::label`], with texts as long as `limit` allows.
    pub(crate) fn label_within(&self, key: &Value, limit: Limit) -> String {
        let mut line = Line {
            text: String::new(),
            values: 0,
        };
        self.write(&self.view(key, limit), key, 1, &mut line);
        line.text
    }

    /// The type's name, as source code has it.
    pub(crate) fn type_name(&self, value: &Value) -> String {
        // The value is a part of a Rust string.
        if value.repeated.is_some()
            && value.format == Format::Text
            && value.language == Language::Rust
        {
            return "str".to_owned();
        }
        if let Some(length) = value.repeated {
            let mut one = value.clone();
            one.repeated = None;
            let name = self.type_name(&one);
            return match value.language {
                Language::Rust => format!("[{name}; {length}]"),
                _ => format!("{name} [{length}]"),
            };
        }
        if let Contents::Number(number) = value.contents {
            return match number {
                Number::Pointer {
                    target: Some(target),
                    ..
                } => {
                    let target = value.sibling(Some(target), value.contents.clone());
                    let mut target = target;
                    target.contents = Contents::Memory(Address(0));
                    let name = self.type_name(&target);
                    if value.language == Language::Rust {
                        format!("&{name}")
                    } else {
                        format!("{name} *").replace("* *", "**")
                    }
                }
                number => number.type_name(value.language).to_owned(),
            };
        }
        if let Contents::Made(made) = &value.contents {
            return made.type_name();
        }
        if let Some(Wanted::Synthetic(..)) = value.natvis_format.as_deref() {
            return String::new();
        }
        let Some(id) = value.type_id else {
            return String::new();
        };
        let Ok(type_) = value.module.module.type_of(id) else {
            return String::new();
        };
        let name = match type_.language {
            Language::Cpp => self.outer_name(value, id, 0),
            _ => None,
        };
        let name = name.unwrap_or_else(|| names::shorten(&type_.name, type_.language));
        if value.dimension == 0 {
            return name;
        }
        // A row of a C array: leave out the first dimensions.
        match name.split_once('[') {
            Some((element, dimensions)) => {
                let rest: Vec<&str> = dimensions.split('[').skip(value.dimension.into()).collect();
                format!("{element}[{}", rest.join("["))
            }
            None => name,
        }
    }

    /// If a type's name is a library's internal typedef, the name of the typedef's target, which says more; also for references and
    /// pointers to such a type. `None`: the type's own name is fine.
    fn outer_name(&self, value: &Value, id: TypeId, depth: usize) -> Option<String> {
        let type_ = value.module.module.type_of(id).ok()?;
        if depth > ALIASES {
            return None;
        }
        let inner = |id: Option<TypeId>| self.outer_name(value, id?, depth + 1);
        match &type_.kind {
            TypeKind::Alias(AliasKind::Typedef, target) if names::is_internal(&type_.name) => {
                let target = (*target)?;
                inner(Some(target)).or_else(|| {
                    let target = value.module.module.type_of(target).ok()?;
                    Some(names::shorten(&target.name, target.language))
                })
            }
            TypeKind::Alias(AliasKind::Const, target) => {
                let name = inner(*target)?;
                Some(match name.ends_with(['*', '&', ')']) {
                    true => return None,
                    false if name.starts_with("const ") => name,
                    false => format!("const {name}"),
                })
            }
            TypeKind::Pointer(kind, target) => {
                let name = inner(*target).filter(|name| !name.ends_with([')', ']']))?;
                let sign = match kind {
                    PointerKind::Pointer => "*",
                    PointerKind::Reference => "&",
                    PointerKind::RvalueReference => "&&",
                };
                let space = if name.ends_with('*') { "" } else { " " };
                Some(match (name.ends_with('&'), kind) {
                    // References to references collapse.
                    (true, PointerKind::Pointer) => return None,
                    (true, _) if name.ends_with("&&") && sign == "&&" => name,
                    (true, _) => format!("{}&", name.trim_end_matches('&')),
                    _ => format!("{name}{space}{sign}"),
                })
            }
            _ => None,
        }
    }

    /// The numbers of named and indexed children of a value.
    fn count_of(&self, value: &Value, view: &View) -> (u64, u64) {
        let (seen, extras) = match view {
            View::Alias(_) => {
                let (_, seen, extras) = self.seen_through(value, SHORT);
                (Some(seen), extras)
            }
            _ => (None, self.extras(value, view)),
        };
        let seen = seen.as_ref().unwrap_or(view);
        let (named, indexed) = self.count(seen);
        if extras.is_empty() {
            return (named, indexed);
        }
        let own = named - u64::from(seen.has_raw_form());
        (own + extras.len() as u64, indexed)
    }

    /// The numbers of named and indexed children of a view.
    pub(super) fn count(&self, view: &View) -> (u64, u64) {
        match view {
            View::Leaf(_) | View::Missing(_) | View::Alias(_) => (0, 0),
            View::Pointer {
                address, target, ..
            } => match target {
                Some(target) if *address != 0 => match self.pointee_record(target) {
                    Some(record) => (record.children(), 0),
                    None => (u64::from(self.is_readable_value(target)), 0),
                },
                _ => (0, 0),
            },
            View::Text { .. } | View::Broken(_) => (1, 0),
            View::Sequence(sequence) => (u64::from(sequence.container), sequence.length),
            View::Entries(entries) => (1, entries.length),
            View::Record(record) => (record.children(), 0),
            View::Presented(presented) => {
                let parts = self.parts(presented);
                let named = parts.fields.len() as u64 + u64::from(parts.raw);
                (named, parts.elements())
            }
        }
    }

    /// The fields of a pointer's target, which are shown as the pointer's own children. `None`: the target is no plain aggregate, or
    /// unreadable.
    pub(super) fn pointee_record(&self, target: &Value) -> Option<Record> {
        match self.view(target, SHORT) {
            View::Record(record) if self.is_readable_value(target) => Some(record),
            _ => None,
        }
    }

    pub(super) fn is_readable_value(&self, value: &Value) -> bool {
        let size = self.size_of(value).unwrap_or(0).min(1);
        self.bytes(&value.contents, size).is_ok()
    }

    fn memory_of(&self, view: &View, value: &Value) -> Option<Address> {
        match view {
            View::Pointer { address, .. } => Some(Address(*address)),
            View::Text {
                address: Some(address),
                ..
            } => Some(Address(*address)),
            View::Alias(target) => target.contents.address(),
            View::Sequence(sequence) => sequence.element.contents.address(),
            _ => value.contents.address(),
        }
    }

    fn write(&self, view: &View, value: &Value, depth: usize, line: &mut Line) {
        line.values += 1;
        match view {
            View::Text {
                address: Some(address),
                ..
            } if self.is_freed(*address) => line.text.push_str(FREED),
            // The value on its own shows the whole reason.
            View::Missing(reason) | View::Broken(reason) if depth > 0 => {
                line.text.push_str(&short_reasons::brief(reason));
            }
            View::Leaf(text)
            | View::Text { text, .. }
            | View::Missing(text)
            | View::Broken(text) => line.text.push_str(text),
            View::Pointer {
                address,
                target,
                note,
                shows,
            } => {
                let note = note.as_deref();
                self.write_pointer(*address, target.as_ref(), (note, shows), depth, line);
            }
            View::Alias(target) => {
                if !self.write_target(target, value, depth, line) {
                    return;
                }
            }
            View::Sequence(sequence) => self.write_sequence(sequence, value, depth, line),
            View::Entries(entries) => self.write_entries(entries, value, depth, line),
            View::Record(record) => self.write_record(record, value, depth, line),
            View::Presented(presented) => match &presented.text {
                Some(text) => line.text.push_str(text),
                None => self.write_parts(&self.parts(presented), value, depth, line),
            },
        }
        if let Some(note) = rust::note(self, value, view, depth == 0) {
            line.text.push(' ');
            line.text.push_str(&note);
        }
    }

    fn write_pointer(
        &self,
        address: u64,
        target: Option<&Value>,
        (note, shows): (Option<&str>, &Shows),
        depth: usize,
        line: &mut Line,
    ) {
        line.text.push_str(&format!("{address:#x}"));
        if self.is_freed(address) {
            line.text.push(' ');
            line.text.push_str(FREED);
            return;
        }
        let target = target.filter(|_| address != 0);
        let target_text = match shows {
            Shows::Address => target.and_then(|target| {
                let own = || self.pointee(target, note, depth);
                self.line_of(target).or_else(own)
            }),
            Shows::Target | Shows::Counted(_) => target.map(|_| TargetText::Besides),
        };
        // If the target's text stands alone, it already includes the dynamic type, and no note is needed.
        if let Some(note) = note.filter(|_| target_text != Some(TargetText::Alone)) {
            line.text.push(' ');
            line.text.push_str(note);
        }
        if let Some(target) = target.filter(|_| target_text.is_some()) {
            line.text.push(' ');
            if target_text == Some(TargetText::Unreadable) {
                line.text.push_str("<cannot be read>");
            } else if depth >= DEPTH || line.is_full() {
                line.cut();
            } else {
                self.write_child(target, depth, line, SHORT);
            }
        }
        if let Shows::Counted(count) = shows {
            line.text.push_str(&format!(" ({count})"));
        }
    }

    /// Writes the target that a value stands for. Returns `false` if a mark was written in place of the target; no note follows a mark.
    fn write_target(&self, target: &Value, value: &Value, depth: usize, line: &mut Line) -> bool {
        // References can be cyclic. Most of them increase the depth, each counts as a visited value, and both are limited.
        if depth >= DEPTH + ALIASES || line.values >= VALUES {
            line.cut();
            return false;
        }
        if self.is_in_freed(target) {
            line.text.push_str(FREED);
            return false;
        }
        if depth > 0 && rust::is_hidden_in_summaries(self, value) {
            line.text.push_str("(Weak)");
            return false;
        }
        let limit = if depth == 0 { LONG } else { SHORT };
        let held_by_natvis = || {
            let is_held = matches!(target.natvis_format.as_deref(), Some(Wanted::Held));
            is_held.then(|| self.type_name(target))
        };
        if let Some(name) = cpp::held(self, value, target).or_else(held_by_natvis) {
            line.text.push_str(&format!("<{name}> "));
        }
        let view = self.view(target, limit);
        if let View::Sequence(_) | View::Alias(_) | View::Text { .. } = view {
            self.write(&view, target, depth, line);
        } else {
            self.write(&view, target, depth + usize::from(depth > 0), line);
        }
        true
    }

    /// How a pointer's target is shown if its text says more than its fields do: if it has a natvis presentation, or its type is of C++'s
    /// standard library. `None`: other targets.
    fn line_of(&self, target: &Value) -> Option<TargetText> {
        let Resolved { type_, .. } = self.resolve(target)?;
        if !matches!(type_.kind, TypeKind::Aggregate(_)) {
            return None;
        }
        match self.view(target, SHORT) {
            View::Presented(presented) => presented.text.map(|_| TargetText::Besides),
            View::Record(_) => None,
            _ => cpp::is_library(&type_).then_some(TargetText::Alone),
        }
    }

    fn write_child(&self, child: &Value, depth: usize, line: &mut Line, limit: Limit) {
        let view = self.view(child, limit);
        self.write(&view, child, depth + 1, line);
    }

    fn write_sequence(&self, sequence: &Sequence, value: &Value, depth: usize, line: &mut Line) {
        if let Some(text) = &sequence.text {
            line.text.push_str(text);
            return;
        }
        let is_rust = self.is_rust(value);
        if sequence.container && depth == 0 {
            line.text.push_str(&format!("len = {} ", sequence.length));
        }
        if sequence.container && sequence.length > 0 && self.is_in_freed(&sequence.at(0)) {
            line.text.push_str(FREED);
            return;
        }
        line.text.push(if is_rust { '[' } else { '{' });
        for index in 0..sequence.length {
            if index > 0 {
                line.text.push_str(", ");
            }
            if line.is_full() || depth > DEPTH {
                line.cut();
                break;
            }
            let element = sequence.at(index);
            if element.contents.address().is_some() && !self.is_readable_value(&element) {
                // The remaining elements are unreadable, too.
                self.write_child(&element, depth, line, SHORT);
                break;
            }
            self.write_child(&element, depth, line, SHORT);
        }
        line.text.push(if is_rust { ']' } else { '}' });
    }

    fn write_entries(&self, entries: &Entries, value: &Value, depth: usize, line: &mut Line) {
        let is_rust = self.is_rust(value);
        if let Some(text) = &entries.text {
            line.text.push_str(text);
            return;
        }
        if depth == 0 {
            let sign = if entries.is_longer { '>' } else { '=' };
            line.text
                .push_str(&format!("len {sign} {} ", entries.length));
        }
        if let Some(first) = entries.iter().next()
            && self.is_in_freed(first.key.as_ref().unwrap_or(&first.value))
        {
            line.text.push_str(FREED);
            return;
        }
        // As Rust's `{:?}` writes maps, sets and lists.
        let (open, close) = match is_rust && entries.is_list {
            true => ('[', ']'),
            false => ('{', '}'),
        };
        line.text.push(open);
        for (position, entry) in entries.iter().enumerate() {
            if position > 0 {
                line.text.push_str(", ");
            }
            if line.is_full() || depth > DEPTH {
                line.cut();
                break;
            }
            match &entry.key {
                Some(key) if is_rust => {
                    self.write_child(key, depth, line, SHORT);
                    line.text.push_str(": ");
                }
                Some(key) => {
                    line.text.push('[');
                    self.write_child(key, depth, line, SHORT);
                    line.text.push_str("] = ");
                }
                None => {}
            }
            self.write_child(&entry.value, depth, line, SHORT);
        }
        let is_cut = line.text.ends_with('…');
        if let Some(reason) = entries.broken.as_ref().filter(|_| !is_cut) {
            line.text.push_str(", ");
            let reason = self.reason(reason);
            line.text.push_str(&match depth {
                0 => reason.into(),
                _ => short_reasons::brief(&reason),
            });
        } else if !is_cut && (entries.is_longer || entries.end() < entries.length) {
            line.text.push_str(", …");
        }
        line.text.push(close);
    }

    fn write_record(&self, record: &Record, value: &Value, depth: usize, line: &mut Line) {
        if let Style::Range | Style::RangeInclusive = record.style {
            self.write_range(record, depth, line);
            return;
        }
        let is_rust = self.is_rust(value);
        let name = record.name.as_deref().unwrap_or_default();
        line.text.push_str(name);
        if let Some(whole) = &record.whole
            && let View::Record(of_whole) = self.view(whole, SHORT)
            && of_whole.whole.is_none()
        {
            self.write_record(&of_whole, whole, depth, line);
            return;
        }
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
        line.text.push_str(open);
        // A library's wrapper doesn't count as depth.
        let inside = match record.raw && depth > 0 {
            true => depth - 1,
            false => depth,
        };
        for (position, field) in fields.iter().enumerate() {
            if position > 0 {
                line.text.push_str(", ");
            }
            if line.is_full() || depth >= DEPTH {
                line.cut();
                break;
            }
            if record.style == Style::Named {
                line.text.push_str(&field.name);
                line.text.push_str(if is_rust { ": " } else { " = " });
            }
            self.write_child(&field.value, inside, line, SHORT);
        }
        let is_single = is_rust && record.style == Style::Tuple && name.is_empty();
        if is_single && fields.len() == 1 {
            line.text.push(',');
        }
        line.text.push_str(close);
    }

    /// Writes the children of a natvis presentation that has no text.
    fn write_parts(&self, parts: &Parts, value: &Value, depth: usize, line: &mut Line) {
        if let ([], [group]) = (&parts.fields[..], &parts.groups[..]) {
            return match &group.elements {
                Elements::Together(sequence) => self.write_sequence(sequence, value, depth, line),
                Elements::Apart(entries) => self.write_entries(entries, value, depth, line),
            };
        }
        if let ([only], []) = (&parts.fields[..], &parts.groups[..])
            && only.name == "[elements]"
            && let View::Missing(reason) = self.view(&only.value, SHORT)
        {
            line.text.push_str(&match depth {
                0 => reason.as_str().into(),
                _ => short_reasons::brief(&reason),
            });
            return;
        }
        let sign = if self.is_rust(value) { ": " } else { " = " };
        line.text.push('{');
        for (position, field) in parts.fields.iter().enumerate() {
            if position > 0 {
                line.text.push_str(", ");
            }
            if line.is_full() || depth >= DEPTH {
                line.cut();
                break;
            }
            line.text.push_str(&field.name);
            line.text.push_str(sign);
            self.write_child(&field.value, depth, line, SHORT);
        }
        for (position, group) in parts.groups.iter().enumerate() {
            if position > 0 || !parts.fields.is_empty() {
                line.text.push_str(", ");
            }
            if line.is_full() || depth >= DEPTH {
                line.cut();
                break;
            }
            match &group.elements {
                Elements::Together(sequence) => {
                    self.write_sequence(sequence, value, depth + 1, line);
                }
                Elements::Apart(entries) => self.write_entries(entries, value, depth + 1, line),
            }
        }
        line.text.push('}');
    }

    fn write_range(&self, record: &Record, depth: usize, line: &mut Line) {
        let end = |name: &str| record.fields.iter().find(|field| field.name == name);
        if let Some(start) = end("start") {
            self.write_child(&start.value, depth, line, SHORT);
        }
        line.text.push_str("..");
        if record.style == Style::RangeInclusive {
            line.text.push('=');
        }
        if let Some(end) = end("end") {
            self.write_child(&end.value, depth, line, SHORT);
        }
    }

    fn is_rust(&self, value: &Value) -> bool {
        match self.resolve(value) {
            Some(resolved) => resolved.type_.language == Language::Rust,
            None => value.language == Language::Rust,
        }
    }
}

impl View {
    /// Whether its children include the raw form.
    fn has_raw_form(&self) -> bool {
        match self {
            View::Text { .. } | View::Broken(_) | View::Entries(_) | View::Presented(_) => true,
            View::Sequence(sequence) => sequence.container,
            View::Record(record) => record.raw,
            View::Leaf(_) | View::Missing(_) | View::Alias(_) | View::Pointer { .. } => false,
        }
    }
}

impl Record {
    /// The contents of a cell or lock of Rust's library.
    pub(crate) fn inside(&self) -> Option<&Value> {
        const CELLS: [&str; 8] = [
            "Cell", "RefCell", "OnceCell", "LazyCell", "Mutex", "RwLock", "OnceLock", "LazyLock",
        ];
        match self.fields.as_slice() {
            [only]
                if self.raw
                    && self
                        .name
                        .as_deref()
                        .is_some_and(|name| CELLS.contains(&name)) =>
            {
                Some(&only.value)
            }
            _ => None,
        }
    }

    /// The number of children, including the raw form.
    pub(super) fn children(&self) -> u64 {
        (self.fields.len() + self.statics.len()) as u64 + u64::from(self.raw)
    }
}
