//! Completion of an expression being typed: members, variables, types, registers.

use super::builtins::{self, Receiver};
use super::expression_at::expression_before;
use super::run::absolute;
use super::{CALLED_FROM, Parsed};
use crate::frame::Frame;
use crate::modules::LoadedModule;
use crate::values::view::{LONG, View};
use crate::values::{Reader, Value, names};
use dapple_arch::registers::named;
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::FoundType;
use dapple_symbols::scopes::Variable;
use dapple_symbols::types::TypeKind;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The most that is offered at once.
const MOST: usize = 300;
/// The most references and pointers followed from a value to its members.
const MAX_STEPS: usize = 16;
/// The most types searched for one completion of a path.
const MOST_TYPES: usize = 20_000;
/// The most levels of base classes searched for members.
const MAX_BASES: usize = 4;

/// Completions of the word at the caret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    /// Where the word begins: its byte offset in the line.
    pub start: usize,
    /// The completions in the order of their kinds, locals of inner scopes first.
    pub items: Vec<Completion>,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The text that replaces the word.
    pub text: String,
    /// The type of what it names, where that adds information.
    pub detail: Option<String>,
    /// What the completion is.
    pub kind: CompletionKind,
}

/// Kinds of completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionKind {
    /// A field.
    Member,
    /// A method that is answered by reading memory, without a call.
    Method,
    /// A variable of the frame.
    Local,
    /// A static variable of the program.
    Static,
    /// A constant of an enumeration.
    Constant,
    /// A type.
    Type,
    /// A register.
    Register,
}

/// Completes `line`, which ends at the caret, in a frame.
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
        .find_map(|link| Some((before.trim_end().strip_suffix(link)?, link)));
    match link {
        _ if before.ends_with('$') => list.registers(),
        // The word is the end of a range, as in `0..count`: nothing is offered.
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

/// The kind of the value, for the methods that are answered without calling the program.
fn receiver(reader: &Reader<'_>, value: &Value, view: &View) -> Option<Receiver> {
    let type_ = || Some(reader.resolve(value)?.type_);
    let is_named = |name: &str| {
        type_().is_some_and(|type_| {
            type_.name.starts_with("std::") && names::base_name(&type_.name) == name
        })
    };
    match view {
        View::Entries(entries) if entries.has_keys => Some(Receiver::Map),
        View::Sequence(sequence) if !sequence.container && value.language != Language::Rust => None,
        View::Sequence(_) | View::Entries(_) => Some(Receiver::Sequence),
        View::Text { .. } => {
            let is_own = value.language == Language::Rust || is_named("basic_string");
            (is_own || is_named("string") || is_named("basic_string_view"))
                .then_some(Receiver::Text)
        }
        View::Record(record) => match record.name.as_deref() {
            Some("Some" | "None") => Some(Receiver::Option),
            Some("Ok" | "Err") => Some(Receiver::Result),
            _ => None,
        },
        _ if is_named("optional") => Some(Receiver::Optional),
        View::Pointer { .. } if is_named("unique_ptr") || is_named("shared_ptr") => {
            Some(Receiver::Owner)
        }
        _ => None,
    }
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

    fn machine(&self) -> dapple_arch::Machine {
        self.frame.physical.registers.machine()
    }

    fn registers(&mut self) {
        let exception = self.reader.thrown.is_some().then(|| "exception".to_owned());
        let others = ["thread".to_owned(), format!("{CALLED_FROM}(")];
        let named = named::names(self.machine());
        for name in exception.into_iter().chain(others).chain(named) {
            self.add(&name, CompletionKind::Register, String::new);
        }
    }

    /// Offers the lanes if `base` ends in a vector register. Returns whether it does.
    fn lanes(&mut self, base: &str) -> bool {
        let register = base.rsplit_once('$').map(|(_, name)| name);
        let is_vector = register.is_some_and(|name| named::vector(self.machine(), name).is_some());
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
            let receiver = receiver(reader, &value, &view);
            let methods = receiver.map_or(&[][..], |receiver| {
                builtins::offered(value.language, receiver)
            });
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
                    // Members of a base class are members of the object.
                    let Some(deeper) = bases.checked_sub(1) else {
                        continue;
                    };
                    for base in record.fields.iter().filter(|field| field.base) {
                        self.members_within(base.value.clone(), deeper);
                    }
                }
            }
            let Some(target) = view.target() else {
                return;
            };
            value = target;
        }
    }

    fn module(&self) -> Option<Arc<LoadedModule>> {
        self.frame.physical.module.clone()
    }

    fn of_path(&mut self, path: &str) {
        let Some(module) = self.module() else { return };
        let lookup = module.to_file(self.frame.physical.lookup);
        let mut prefixes = absolute(self.frame, &format!("{path}::"));
        if prefixes.is_empty() {
            prefixes.push(format!("{path}::"));
        }
        let inside = |name: &str, prefix: &str| -> Option<String> {
            // Paths inside template arguments don't count.
            let plain = name.split('<').next().unwrap_or(name);
            let start = match plain.strip_prefix(prefix) {
                Some(_) => prefix.len(),
                None => plain.find(&format!("::{prefix}"))? + 2 + prefix.len(),
            };
            let rest = name.get(start..)?;
            let first = rest.split("::").next().unwrap_or(rest);
            let first = first.split('<').next().unwrap_or(first);
            first
                .starts_with(|c: char| c.is_alphabetic() || c == '_')
                .then(|| first.to_owned())
        };
        let all = NamePattern::new("*");
        let types = module.module.find_types_near(lookup, &all);
        for prefix in &prefixes {
            for variable in self.statics(&module) {
                if let Some(first) = inside(&variable.name, prefix) {
                    self.add(&first, CompletionKind::Static, String::new);
                }
            }
            let pattern = NamePattern::new(prefix.trim_end_matches("::"));
            for found in module.module.find_types_near(lookup, &pattern) {
                self.of_type(&module, &found);
            }
            for found in types.iter().take(MOST_TYPES) {
                if let Some(first) = inside(&found.name, prefix) {
                    self.add(&first, CompletionKind::Type, || found.short_name.clone());
                }
            }
        }
    }

    /// The statics of the frame's unit that the linker has kept.
    fn statics(&self, module: &LoadedModule) -> Vec<Variable> {
        let lookup = module.to_file(self.frame.physical.lookup);
        let mut statics = module.module.statics_at(lookup);
        statics.retain(|variable| !variable.dropped);
        statics
    }

    /// Names after a type's `::`: constants, variants, static members.
    fn of_type(&mut self, module: &Arc<LoadedModule>, found: &FoundType) {
        let Some(type_) = module.module.strip_aliases(found.id).ok().flatten() else {
            return;
        };
        let aggregate = match &type_.kind {
            TypeKind::Enumeration { values, .. } => {
                for (name, _) in values {
                    self.add(name, CompletionKind::Constant, || found.short_name.clone());
                }
                return;
            }
            TypeKind::Aggregate(aggregate) => aggregate,
            _ => return,
        };
        for variant in aggregate.variants.iter().flat_map(|part| &part.variants) {
            let name = &variant.name;
            self.add(name, CompletionKind::Constant, || found.short_name.clone());
        }
        for one in &aggregate.statics {
            self.add(&one.name, CompletionKind::Static, String::new);
        }
        if type_.language != Language::Cpp {
            return;
        }
        for id in module.module.enumerations_in(type_.id) {
            let inner = module.module.strip_aliases(id).ok().flatten();
            if let Some(TypeKind::Enumeration { values, .. }) = inner.as_ref().map(|it| &it.kind) {
                for (name, _) in values {
                    self.add(name, CompletionKind::Constant, || found.short_name.clone());
                }
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
        for variable in self.statics(&module) {
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
