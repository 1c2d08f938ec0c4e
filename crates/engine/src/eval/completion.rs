//! What may follow where somebody types an expression: members, variables, types, registers.

use super::Parsed;
use super::under::expression_before;
use crate::frame::Frame;
use crate::modules::LoadedModule;
use crate::registers::named;
use crate::values::view::{LONG, View};
use crate::values::{Reader, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::types::TypeKind;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The most that is offered at once.
const MOST: usize = 300;
/// How many references and pointers members are looked for behind.
const MAX_STEPS: usize = 16;
/// How deep in base classes.
const MAX_BASES: usize = 4;

/// What may be put in place of the word at the caret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    /// Where the word begins, in bytes of the line.
    pub start: usize,
    /// What it may be, the nearest first.
    pub items: Vec<Completion>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What is written.
    pub text: String,
    /// Its type, where that says more.
    pub detail: Option<String>,
    /// What it is.
    pub kind: CompletionKind,
}

/// What can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionKind {
    /// A field.
    Member,
    /// A question that containers answer.
    Method,
    /// A variable of the frame.
    Local,
    /// A variable of the program's.
    Static,
    /// A constant of an enumeration.
    Constant,
    /// A type.
    Type,
    /// A register.
    Register,
}

/// What may follow `line`, which ends at the caret, in a frame.
pub(crate) fn complete(line: &str, frame: &Frame, reader: &Reader<'_>) -> Completions {
    let word = line
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(0, |at| {
            at + line[at..].chars().next().map_or(1, char::len_utf8)
        });
    let (before, typed) = line.split_at(word);
    let mut list = List {
        typed,
        frame,
        reader,
        seen: FxHashSet::default(),
        items: Vec::new(),
    };
    let link = ["->", "::", "."]
        .into_iter()
        .find_map(|link| Some((before.strip_suffix(link)?, link)));
    match link {
        _ if before.ends_with('$') => list.registers(),
        // A number's fraction, a range.
        Some((base, ".")) if base.ends_with('.') => {}
        Some((base, "::")) => {
            let path = base.rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            list.of_path(&base[path.map_or(0, |at| at + 1)..]);
        }
        Some((base, ".")) if list.lanes(base) => {}
        Some((base, _)) => {
            if let Some(base) = expression_before(base, base.len())
                && let Ok(parsed) = Parsed::new(base, frame.language)
                && let Ok(found) = parsed.value(frame, reader)
            {
                list.members(found.value);
            }
        }
        None if typed.starts_with(|c: char| c.is_ascii_digit()) => {}
        None => list.names(),
    }
    let mut items = list.items;
    items.sort_by_key(|item| item.kind);
    items.truncate(MOST);
    Completions { start: word, items }
}

struct List<'a> {
    typed: &'a str,
    frame: &'a Frame,
    reader: &'a Reader<'a>,
    seen: FxHashSet<String>,
    items: Vec<Completion>,
}

impl List<'_> {
    fn add(&mut self, text: &str, kind: CompletionKind, detail: impl FnOnce() -> String) {
        let is_meant = text.len() >= self.typed.len()
            && text
                .get(..self.typed.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(self.typed));
        if !is_meant || text.is_empty() || !self.seen.insert(text.to_owned()) {
            return;
        }
        let detail = detail();
        self.items.push(Completion {
            text: text.to_owned(),
            detail: (!detail.is_empty()).then_some(detail),
            kind,
        });
    }

    fn registers(&mut self) {
        let exception = self.reader.thrown.is_some().then(|| "exception".to_owned());
        for name in exception.into_iter().chain(named::names()) {
            self.add(&name, CompletionKind::Register, String::new);
        }
    }

    /// Whether a vector register stands there, which has lanes.
    fn lanes(&mut self, base: &str) -> bool {
        let register = base.rsplit_once('$').map(|(_, name)| name);
        let is_vector = register.is_some_and(|name| named::vector(name).is_some());
        for name in named::lane_names().filter(|_| is_vector) {
            self.add(name, CompletionKind::Member, String::new);
        }
        is_vector
    }

    fn members(&mut self, value: Value) {
        self.members_within(value, MAX_BASES);
    }

    fn members_within(&mut self, value: Value, bases: usize) {
        let mut value = value;
        for _ in 0..MAX_STEPS {
            let reader = self.reader;
            let view = reader.view(&value, LONG);
            let mut raw = value.clone();
            raw.raw = true;
            let methods: &[&str] = match &view {
                View::Sequence(_) | View::Entries(_) | View::Text { .. } => match value.language {
                    Language::Rust => &["len()", "is_empty()"],
                    _ => &["size()", "empty()"],
                },
                View::Record(record) => match record.name.as_deref() {
                    Some("Some" | "None") => &["is_some()", "is_none()"],
                    Some("Ok" | "Err") => &["is_ok()", "is_err()"],
                    _ => &[],
                },
                _ => &[],
            };
            for method in methods {
                self.add(method, CompletionKind::Method, String::new);
            }
            for view in [&view, &reader.view(&raw, LONG)] {
                if let View::Record(record) = view {
                    let own = record.fields.iter().filter(|f| !f.artificial && !f.base);
                    for field in own {
                        self.add(&field.name, CompletionKind::Member, || {
                            reader.type_name(&field.value)
                        });
                    }
                    for one in &record.statics {
                        let type_name = || {
                            let nowhere = crate::values::Contents::Memory(crate::Address(0));
                            reader.type_name(&value.sibling(Some(one.member.type_id), nowhere))
                        };
                        self.add(&one.name, CompletionKind::Member, type_name);
                    }
                    // What a base has is the object's own, too.
                    let Some(deeper) = bases.checked_sub(1) else {
                        continue;
                    };
                    for base in record.fields.iter().filter(|field| field.base) {
                        self.members_within(base.value.clone(), deeper);
                    }
                }
            }
            value = match view {
                View::Alias(target) => target,
                View::Pointer {
                    target: Some(target),
                    ..
                } => target,
                _ => return,
            };
        }
    }

    fn module(&self) -> Option<Arc<LoadedModule>> {
        self.frame.physical.module.clone()
    }

    fn of_path(&mut self, path: &str) {
        let Some(module) = self.module() else { return };
        let lookup = module.to_file(self.frame.physical.lookup);
        let prefix = format!("{path}::");
        for variable in module.module.statics_at(lookup) {
            let inside = variable.name.split_once(&prefix).map(|(_, rest)| rest);
            if let Some(rest) = inside {
                let first = rest.split("::").next().unwrap_or(rest).to_owned();
                self.add(&first, CompletionKind::Static, String::new);
            }
        }
        for found in module
            .module
            .find_types_near(lookup, &NamePattern::new(path))
        {
            let type_ = module.module.strip_aliases(found.id).ok().flatten();
            match type_.as_ref().map(|type_| &type_.kind) {
                Some(TypeKind::Enumeration { values, .. }) => {
                    for (name, _) in values {
                        self.add(name, CompletionKind::Constant, || found.short_name.clone());
                    }
                }
                Some(TypeKind::Aggregate(aggregate)) => {
                    let variants = aggregate.variants.iter().flat_map(|part| &part.variants);
                    for variant in variants {
                        let name = &variant.name;
                        self.add(name, CompletionKind::Constant, || found.short_name.clone());
                    }
                }
                _ => {}
            }
        }
    }

    fn names(&mut self) {
        let reader = self.reader;
        let locals = reader.variables(self.frame);
        for local in locals.iter().rev() {
            self.add(&local.name, CompletionKind::Local, || {
                reader.type_name(&local.value)
            });
        }
        if let Some(this) = locals.iter().find(|local| local.name == "this") {
            self.members(this.value.clone());
        }
        let Some(module) = self.module() else { return };
        let lookup = module.to_file(self.frame.physical.lookup);
        for variable in module.module.statics_at(lookup) {
            let last = variable.name.rsplit("::").next().unwrap_or_default();
            self.add(last, CompletionKind::Static, || {
                reader.type_name(&reader.variable(&variable, &module, self.frame).value)
            });
        }
        if self.typed.is_empty() {
            return;
        }
        let pattern = NamePattern::new(&format!("{}*", self.typed));
        for found in module.module.find_types_near(lookup, &pattern) {
            let name = found.short_name.rsplit("::").next().unwrap_or_default();
            let name = name.split('<').next().unwrap_or(name).to_owned();
            self.add(&name, CompletionKind::Type, || found.short_name.clone());
        }
        if self.frame.language != Language::Rust {
            let all = NamePattern::new("*");
            for found in module.module.find_types_near(lookup, &all) {
                let type_ = module.module.strip_aliases(found.id).ok().flatten();
                if let Some(TypeKind::Enumeration { values, .. }) = type_.as_ref().map(|t| &t.kind)
                {
                    for (name, _) in values {
                        self.add(name, CompletionKind::Constant, || found.short_name.clone());
                    }
                }
            }
        }
    }
}
