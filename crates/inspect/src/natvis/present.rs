//! Chooses the entry for a value's type, and makes the value's text.

use super::evaluate::{Evaluator, MAX_NESTING, Wanted};
use super::model::{Expand, Place, Synthetic, Text, TypeEntry};
use super::patterns::Name;
use crate::eval::scope::{Argument, Failure};
use crate::values::view::{Limit, Shows, View};
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
    if presentation.is_empty() {
        return None;
    }
    let candidates = candidates(reader, value, type_, aggregate);
    if candidates.is_empty() {
        return None;
    }
    if reader.nesting >= MAX_NESTING {
        return Some(View::Leaf("…".to_owned()));
    }
    candidates
        .iter()
        .find_map(|candidate| candidate.view(reader, value, limit))
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
        // Nearer classes come first. In one class, higher priorities do, and then exact patterns before those with a `*`.
        found.sort_by_key(|(candidate, exact): &(Candidate, bool)| {
            let first = std::cmp::Reverse(candidate.entry.priority);
            (candidate.path.len(), first, !exact)
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
        for entry in entries.iter().filter(|e| path.is_empty() || e.inheritable) {
            let mut patterns = entry.patterns.iter();
            let captures = patterns.find_map(|it| Some((it.captures(&name)?, it.is_exact())));
            if let Some((captures, exact)) = captures {
                let arguments = captures.into_iter();
                let arguments = arguments.map(|text| argument(value, aggregate, text));
                let candidate = Candidate {
                    entry: Arc::clone(entry),
                    arguments: arguments.collect(),
                    path: path.to_vec(),
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

    fn view(&self, reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
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
                    let unknown = reader.parts(&first).unknown;
                    presentation.set_usable(used, unknown.is_none());
                    if let Some((place, message)) = unknown {
                        presentation.tell(&place, &message);
                        return None;
                    }
                }
                Some(view)
            }
            Err((place, failure)) => {
                if failure.is_unknown {
                    presentation.set_usable(used, false);
                    presentation.tell(&place, &failure.message);
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
        let text = line(evaluator, object, &entry.texts, limit)?;
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
                    shows: Shows::Target,
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
    if presentation.is_empty() || value.raw || reader.is_plain {
        return None;
    }
    let type_ = reader.resolve(value)?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
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
