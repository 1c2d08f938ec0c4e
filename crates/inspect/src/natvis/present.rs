//! Chooses the entry for a value's type, and makes the value's text.

use super::builtin::{self, Package};
use super::evaluate::{Evaluator, MAX_NESTING, Wanted, reason};
use super::model::{Expand, ItemKind, Place, Synthetic, Text, TypeEntry};
use super::patterns::{Name, Pattern};
use crate::eval::scope::{Argument, Failure};
use crate::values::view::{Field, Limit, Record, SHORT, Shows, Style, View};
use crate::values::{Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Aggregate, Member, Type, TypeKind};
use std::sync::Arc;

/// The deepest base class searched for an entry.
const MAX_BASES: usize = 8;
/// The most base classes looked at.
const MAX_VISITS: usize = 64;

/// An entry that applies to a type.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    entry: Arc<TypeEntry>,
    arguments: Arc<[Argument]>,
    /// The path from the object to the base class that the entry applies to.
    path: Vec<Member>,
    /// The package, if the entry is one that Dapple brings along.
    builtin: Option<Package>,
}

/// A value with its entry.
#[derive(Debug, Clone)]
pub(crate) struct Presented {
    /// The value's text. `None`: it consists of the children.
    pub text: Option<String>,
    /// The value that the expressions are evaluated in.
    pub(super) object: Value,
    pub(super) by: By,
    /// The view that was requested.
    pub(super) view: Option<Arc<str>>,
    pub(super) arguments: Arc<[Argument]>,
    /// The requested part of the children.
    pub(crate) limit: Limit,
}

/// What determines how a value is shown.
#[derive(Debug, Clone)]
pub(super) enum By {
    Entry(Arc<TypeEntry>),
    Synthetic(Arc<Synthetic>),
}

impl By {
    pub(super) fn expand(&self) -> Option<&Expand> {
        match self {
            By::Entry(entry) => entry.expand.as_ref(),
            By::Synthetic(synthetic) => synthetic.expand.as_ref(),
        }
    }

    pub(super) fn is_synthetic(&self) -> bool {
        matches!(self, By::Synthetic(_))
    }
}

/// The view of a value according to its entry. `None`: there is no entry for it, or none that can be used.
pub(crate) fn view(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let presentation = reader.known.presentation();
    if value.raw || reader.is_plain {
        return None;
    }
    if type_.language == Language::Rust && !names::is_rust_std(&type_.name) {
        presentation.load_embedded(&value.module);
    }
    let builtin = builtin_of(type_);
    if presentation.is_empty() && builtin.is_none() {
        return None;
    }
    let candidates = candidates(reader, value, type_, aggregate);
    if candidates.is_empty() {
        return None;
    }
    if reader.nesting >= MAX_NESTING {
        return Some(View::Leaf("…".to_owned()));
    }
    let mut unknown = None;
    let mut views = candidates.iter();
    let view = views.find_map(|candidate| candidate.view(reader, value, limit, &mut unknown));
    if let (None, Some((place, what)), Some(package)) = (&view, unknown, builtin) {
        presentation.tell_unknown_version(package, &place, &what);
    }
    view
}

/// The package that a type is from, if Dapple has a description of the package.
fn builtin_of(type_: &Type) -> Option<Package> {
    builtin::package_of(&type_.name, type_.language)
}

fn candidates(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
) -> Arc<[Candidate]> {
    let presentation = reader.known.presentation();
    let version = reader.modules.version();
    presentation.candidates(version, &value.module, type_.id, |entries| {
        let mut found = Vec::new();
        let mut visits = 0;
        let own = (type_, aggregate);
        collect(value, own, entries, &[], &mut found, &mut visits);
        if let Some(package) = builtin_of(type_) {
            let first = found.len();
            let module = value.module.id;
            let entries = presentation.builtin(package);
            let entries = entries
                .iter()
                .filter(|entry| presentation.is_for_version(entry, module, package));
            let entries: Vec<_> = entries.cloned().collect();
            collect(value, own, &entries, &[], &mut found, &mut 0);
            for (candidate, _) in &mut found[first..] {
                candidate.builtin = Some(package);
            }
        }
        // Nearer classes come first. In one class, higher priorities do, and then exact patterns before those with a `*`.
        found.sort_by_key(|(candidate, exact): &(Candidate, bool)| {
            let first = std::cmp::Reverse(candidate.entry.priority);
            let is_builtin = candidate.builtin.is_some();
            (is_builtin, candidate.path.len(), first, !exact)
        });
        found.into_iter().map(|(candidate, _)| candidate).collect()
    })
}

fn collect(
    value: &Value,
    (type_, aggregate): (&Type, &Aggregate),
    entries: &[Arc<TypeEntry>],
    path: &[Member],
    found: &mut Vec<(Candidate, bool)>,
    visits: &mut usize,
) {
    *visits += 1;
    if *visits > MAX_VISITS {
        return;
    }
    if let Some(name) = Name::new(&type_.name) {
        // Patterns usually leave out the inline namespaces that a library has for its versions.
        let without = (type_.language == Language::Cpp && type_.name.contains("::")).then(|| {
            let module = &value.module.module;
            module.type_name_without_inline_namespaces(type_.id)
        });
        let without = without.flatten().and_then(|name| Name::new(&name));
        let captures_of = |pattern: &Pattern| {
            let without = || pattern.captures(without.as_ref()?);
            pattern.captures(&name).or_else(without)
        };
        for entry in entries.iter().filter(|e| path.is_empty() || e.inheritable) {
            let mut patterns = entry.patterns.iter();
            let captures = patterns.find_map(|it| Some((captures_of(it)?, it.is_exact())));
            if let Some((captures, exact)) = captures {
                let own = Argument {
                    text: (*type_.name).into(),
                    of: Some((Arc::clone(&value.module), Some(type_.id))),
                };
                let arguments = captures.into_iter();
                let arguments = arguments.map(|text| argument(value, aggregate, text));
                let arguments = std::iter::once(own).chain(arguments);
                let candidate = Candidate {
                    entry: Arc::clone(entry),
                    arguments: arguments.collect(),
                    path: path.to_vec(),
                    builtin: None,
                };
                found.push((candidate, exact));
            }
        }
    }
    if path.len() >= MAX_BASES {
        return;
    }
    for member in aggregate.members.iter().filter(|member| member.base) {
        let base = value.module.module.strip_aliases(member.type_id);
        let Ok(Some(base)) = base else {
            continue;
        };
        if let TypeKind::Aggregate(inner) = &base.kind {
            let mut path = path.to_vec();
            path.push(member.clone());
            collect(value, (&base, inner), entries, &path, found, visits);
        }
    }
}

/// The argument that a `*` matched, with its type if it is one of the class's arguments.
fn argument(value: &Value, aggregate: &Aggregate, text: String) -> Argument {
    let module = &value.module;
    let wanted = Name::new(&text);
    let mut types = aggregate.type_arguments.iter();
    let of = types.find_map(|(_, id)| {
        let is_it = match id {
            Some(id) => {
                let type_ = module.module.type_of(*id).ok()?;
                *type_.name == *text || (wanted.is_some() && Name::new(&type_.name) == wanted)
            }
            None => text == "void",
        };
        is_it.then(|| (Arc::clone(module), *id))
    });
    Argument {
        text: text.into(),
        of,
    }
}

impl Candidate {
    fn object(&self, reader: &Reader<'_>, value: &Value) -> Value {
        let whole = Value {
            natvis_format: None,
            ..value.clone()
        };
        let path = self.path.iter();
        path.fold(whole, |value, member| reader.member(&value, member))
    }

    /// Records that the entry can't be used for a type: a message for the user, or for the caller if the entry is one that Dapple brings
    /// along.
    fn tell(
        &self,
        reader: &Reader<'_>,
        (place, message): (Place, String),
        unknown: &mut Option<(Place, String)>,
    ) {
        match self.builtin {
            Some(_) => *unknown = Some((place, message)),
            None => reader.known.presentation().tell(&place, &message),
        }
    }

    /// The view by this entry. If the entry names what the type doesn't have, and Dapple brings it along, `unknown` says so.
    fn view(
        &self,
        reader: &Reader<'_>,
        value: &Value,
        limit: Limit,
        unknown: &mut Option<(Place, String)>,
    ) -> Option<View> {
        let entry = &self.entry;
        let presentation = reader.known.presentation();
        let used = (Arc::as_ptr(entry) as usize, value.module.id, value.type_id?);
        if presentation.is_usable(used) == Some(false) {
            return None;
        }
        let wanted = match value.natvis_format.as_deref() {
            Some(Wanted::View(view)) => Some(Arc::clone(view)),
            _ => None,
        };
        let object = self.object(reader, value);
        let evaluator = Evaluator::new(reader, &object, &self.arguments, wanted.clone());
        if !evaluator.applies(&object, &entry.guard) {
            return None;
        }
        let view = self.presented(&evaluator, &object, wanted, limit, reader);
        // Dapple's own descriptions show nothing where a condition can't be answered: another text could be wrong.
        let unanswered = evaluator
            .unanswered
            .take()
            .filter(|_| self.builtin.is_some());
        let view = match unanswered {
            Some(failure) => Err((entry.place.clone(), failure)),
            None => view,
        };
        match view {
            Ok(view) => {
                if let (View::Presented(presented), None) = (&view, presentation.is_usable(used)) {
                    // The entry can be used only if the type has all names that the entry uses. The names in its children are checked by
                    // making the first child.
                    let first = Limit {
                        first: 0,
                        entries: 1,
                        ..limit
                    };
                    let first = Presented {
                        limit: first,
                        ..Presented::clone(presented)
                    };
                    let missing = reader.parts(&first).unknown;
                    presentation.set_usable(used, missing.is_none());
                    if let Some(missing) = missing {
                        self.tell(reader, missing, unknown);
                        return None;
                    }
                }
                Some(view)
            }
            Err((place, failure)) => {
                if failure.is_unknown {
                    presentation.set_usable(used, false);
                    self.tell(reader, (place, failure.message), unknown);
                }
                None
            }
        }
    }

    fn presented(
        &self,
        evaluator: &Evaluator<'_>,
        object: &Value,
        view: Option<Arc<str>>,
        limit: Limit,
        reader: &Reader<'_>,
    ) -> Result<View, (Place, Failure)> {
        let entry = &self.entry;
        let chosen = evaluator.chosen(object, &entry.transparent);
        let chosen = chosen.map_err(|failure| (entry.place.clone(), failure))?;
        if let Some(code) = chosen {
            let target = evaluator.value(object, code);
            let target = target.map_err(|failure| (code.place.clone(), failure))?;
            return Ok(View::Alias(target));
        }
        let text = line(evaluator, object, &entry.texts, limit)?;
        if let (None, Some(expand)) = (&text, &entry.expand)
            && let Some(name) = &expand.record
        {
            return record(evaluator, object, name, expand);
        }
        let nothing = |place: &Place| {
            let failure = super::evaluate::failure("it says nothing here");
            (place.clone(), failure)
        };
        if text.is_none() && entry.expand.is_none() {
            let Some(code) = &entry.pointer else {
                return Err(nothing(&entry.place));
            };
            let pointer = evaluator.plain(object, code);
            let mut pointer = pointer.map_err(|failure| (code.place.clone(), failure))?;
            pointer.raw = true;
            let counts = line(evaluator, object, &entry.pointer_notes, limit)?;
            return Ok(match reader.deeper().view(&pointer, limit) {
                View::Pointer {
                    address,
                    target,
                    note,
                    ..
                } => View::Pointer {
                    address,
                    target,
                    note: note.filter(|note| !note.starts_with('<')),
                    shows: counts.map_or(Shows::Target, Shows::Counted),
                },
                other => other,
            });
        }
        Ok(View::Presented(Box::new(Presented {
            text,
            object: object.clone(),
            by: By::Entry(Arc::clone(entry)),
            view,
            arguments: Arc::clone(&self.arguments),
            limit,
        })))
    }
}

/// The named children as the fields of a struct. Numbers as names make a tuple.
fn record(
    evaluator: &Evaluator<'_>,
    object: &Value,
    name: &str,
    expand: &Expand,
) -> Result<View, (Place, Failure)> {
    let mut fields = Vec::new();
    for item in &expand.items {
        let ItemKind::Single { name, value } = &item.kind else {
            continue;
        };
        if !evaluator.applies(object, &item.guard) {
            continue;
        }
        let value = match evaluator.value(object, value) {
            Ok(value) => value,
            Err(_) if item.guard.optional => continue,
            Err(failure) if failure.is_unknown => return Err((item.place.clone(), failure)),
            Err(failure) => reason(object, &failure.message),
        };
        fields.push(Field {
            name: evaluator.name(object, name, SHORT),
            value,
            base: false,
            artificial: false,
        });
    }
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let is_tuple = !fields.is_empty() && fields.iter().all(|field| is_number(&field.name));
    Ok(View::Record(Record {
        name: Some(name.to_owned()),
        style: if is_tuple { Style::Tuple } else { Style::Named },
        fields,
        statics: Vec::new(),
        raw: true,
        reachable: false,
        whole: None,
    }))
}

/// The first text that applies. `None`: none does.
fn line(
    evaluator: &Evaluator<'_>,
    object: &Value,
    texts: &[Text],
    limit: Limit,
) -> Result<Option<String>, (Place, Failure)> {
    for text in texts {
        if !evaluator.applies(object, &text.guard) {
            continue;
        }
        match evaluator.text(object, &text.parts, limit, text.guard.optional) {
            Ok(line) => return Ok(Some(line)),
            Err(_) if text.guard.optional => {}
            Err(failure) => return Err((text.place.clone(), failure)),
        }
    }
    Ok(None)
}

/// The view of a synthetic child.
pub(super) fn synthetic(
    reader: &Reader<'_>,
    object: &Value,
    synthetic: &Arc<Synthetic>,
    arguments: &Arc<[Argument]>,
    limit: Limit,
) -> Option<View> {
    if reader.nesting >= MAX_NESTING {
        return Some(View::Leaf("…".to_owned()));
    }
    let evaluator = Evaluator::new(reader, object, arguments, None);
    let text = match line(&evaluator, object, &synthetic.texts, limit) {
        Ok(text) => text,
        Err((place, failure)) => {
            if failure.is_unknown {
                evaluator.presentation.tell(&place, &failure.message);
            }
            Some(format!("<{}>", failure.message))
        }
    };
    Some(View::Presented(Box::new(Presented {
        text,
        object: object.clone(),
        by: By::Synthetic(Arc::clone(synthetic)),
        view: None,
        arguments: Arc::clone(arguments),
        limit,
    })))
}

/// The pointer that a value stands for, according to its entry (`SmartPointer`).
pub(crate) fn pointer_in(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let presentation = reader.known.presentation();
    if value.raw || reader.is_plain {
        return None;
    }
    let type_ = reader.resolve(value)?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    if presentation.is_empty() && builtin_of(&type_).is_none() {
        return None;
    }
    let candidates = candidates(reader, value, &type_, aggregate);
    let mut pointers = candidates
        .iter()
        .filter_map(|candidate| Some((candidate, candidate.entry.pointer.as_ref()?)));
    pointers.find_map(|(candidate, code)| {
        let object = candidate.object(reader, value);
        let evaluator = Evaluator::new(reader, &object, &candidate.arguments, None);
        evaluator.plain(&object, code).ok()
    })
}
