//! Rust's closures: finds a closure's function, and how the function takes the captured values.
//!
//! The debug information may describe the function without its first argument, the closure. A closure that can be called more than once
//! is passed by address. One that consumes its captures (`FnOnce`) is passed by value. The debug information doesn't tell these two kinds
//! apart: if a closure has captured by value anything that isn't certainly `Copy`, it is unknown how it is passed. Behind `dyn Fn` and
//! `dyn FnMut` all closures are passed by address.

use super::{Candidate, Object};
use crate::calls::Image;
use crate::eval::a_type;
use crate::eval::run::{MAX_STEPS, Runner};
use crate::values::view::LONG;
use crate::values::{Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::Instance;
use dapple_symbols::types::{PointerKind, Type, TypeId, TypeKind};

/// Prefixes of the names of a closure's type and function.
const TYPE: &str = "{closure_env#";
const FUNCTION: &str = "{closure#";
/// Prefix of the name of a capture by reference.
const BY_REFERENCE: &str = "_ref__";

impl Runner<'_> {
    /// The function of a closure, or of the closure that a value leads to. `None`: the value is not a closure.
    pub(super) fn closure_behind(&self, value: &Value) -> Option<Candidate> {
        let mut value = value.clone();
        let mut through = Through::Itself;
        for _ in 0..MAX_STEPS {
            // The value of `&closure`, computed here, has no type.
            if let Some(type_) = self.reader.resolve(&value).map(|resolved| resolved.type_) {
                if type_.language != Language::Rust {
                    return None;
                }
                let is_struct = matches!(type_.kind, TypeKind::Aggregate(_));
                if is_struct && names::base_name(&type_.name).starts_with(TYPE) {
                    return Some(self.closure_called(&value, &type_, through));
                }
                if through != Through::Itself
                    && let Some(found) = self.behind(&value)
                {
                    return Some(found);
                }
                through = through.or(&type_.name);
            }
            value = self.reader.view(&value, LONG).target()?;
        }
        None
    }

    fn closure_called(&self, value: &Value, type_: &Type, through: Through) -> Candidate {
        let own = type_.name.replace(TYPE, FUNCTION);
        let shown = dapple_symbols::names::short_name(&own);
        let refused = |why: &str| Candidate {
            name: shown.clone(),
            language: Language::Rust,
            code: Err(why.to_owned()),
            known: None,
            object: None,
        };
        if through == Through::Once {
            return refused("it can be called once only, and the program has to do that");
        }
        if through == Through::Itself
            && let Some(captured) = self.may_be_given_away(value, type_)
        {
            let why = format!(
                "it has captured `{captured}` by value, and may give it away: then it can be called once only"
            );
            return refused(&why);
        }
        let module = &value.module;
        let plain = names::path_name(&own);
        let found = module.module.find_functions(&NamePattern::new(plain));
        let mut bodies = found.into_iter().filter_map(|found| {
            let is_meant = found.name == own || names::path_name(&found.name) == plain;
            let Instance::Function(id) = found.instance else {
                return None;
            };
            is_meant.then_some((found.entry, id, found.name == own))
        });
        let body = match (bodies.next(), bodies.next()) {
            (Some(one), None) => one,
            (None, _) => {
                return refused(
                    "it has no code of its own: it was inlined wherever it is called, or never called",
                );
            }
            (Some(first), Some(second)) => {
                let exact = [first, second].into_iter().chain(bodies);
                let mut exact = exact.filter(|(.., is_exact)| *is_exact);
                match (exact.next(), exact.next()) {
                    (Some(one), None) => one,
                    _ => return refused("which of its instances is meant is not known"),
                }
            }
        };
        let (entry, id, _) = body;
        let Some(function) = module.module.function_at(entry) else {
            return refused("its code is not known");
        };
        let mut candidate = self.of_function(module, &function);
        if let Some(known) = &mut candidate.known
            && let Some(signature) = module.module.signature_of(id)
            && let Some(first) = signature.parameters.first()
            && self.is_closure_or_pointer(value, first.type_id, type_.id)
        {
            known.parameters.remove(0);
        }
        let object = match type_.size {
            Some(0) => Ok(Image::pointing_to(vec![0; 8])),
            size => self.address_or_copy(value, size),
        };
        match object {
            Ok(image) => Candidate {
                object: Some(Object::Environment(image)),
                ..candidate
            },
            Err(why) => Candidate {
                code: Err(why),
                ..candidate
            },
        }
    }

    fn is_closure_or_pointer(&self, value: &Value, id: TypeId, closure: TypeId) -> bool {
        let strip = |id| value.module.module.strip_aliases(id).ok().flatten();
        let Some(type_) = strip(id) else {
            return false;
        };
        match type_.kind {
            TypeKind::Pointer(_, Some(to)) => strip(to).is_some_and(|to| to.id == closure),
            _ => type_.id == closure,
        }
    }

    /// The name of a capture by value that isn't certainly `Copy`.
    fn may_be_given_away(&self, value: &Value, type_: &Type) -> Option<String> {
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        let moved = aggregate.members.iter().find(|member| {
            let name = member.name.as_deref().unwrap_or_default();
            let type_ = value.module.module.strip_aliases(member.type_id);
            let is_copy = type_.ok().flatten().is_some_and(|type_| is_copy(&type_));
            !name.starts_with(BY_REFERENCE) && !is_copy
        });
        moved.map(|member| member.name.as_deref().unwrap_or("?").to_owned())
    }

    /// The fault of calling a value that is not a function and doesn't lead to one.
    pub(super) fn no_function_is(&self, value: &Value) -> String {
        format!("is no function, it is {}", a_type(self.type_of(value)))
    }
}

/// How a closure was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Through {
    Itself,
    /// Through `dyn Fn` or `dyn FnMut`: it is passed by address.
    Many,
    /// Through `dyn FnOnce`.
    Once,
}

impl Through {
    fn or(self, type_name: &str) -> Through {
        let is_of = |name: &str| {
            let name = format!("dyn core::ops::function::{name}<");
            let places: [&str; 6] = [
                "&",
                "&mut ",
                "alloc::boxed::Box<",
                "alloc::rc::Rc<",
                "alloc::sync::Arc<",
                "",
            ];
            places.iter().any(|place| {
                let rest = type_name.strip_prefix(place);
                let rest = rest.map(|rest| rest.strip_prefix('(').unwrap_or(rest));
                rest.is_some_and(|rest| rest.starts_with(&name))
            })
        };
        match self {
            Through::Itself if is_of("Fn") || is_of("FnMut") => Through::Many,
            Through::Itself if is_of("FnOnce") => Through::Once,
            other => other,
        }
    }
}

/// Whether a type is certainly `Copy`.
fn is_copy(type_: &Type) -> bool {
    match &type_.kind {
        TypeKind::Base(_) => true,
        // A `Box` is described as a pointer, too.
        TypeKind::Pointer(PointerKind::Pointer, _) => {
            type_.name.starts_with(['&', '*']) && !type_.name.starts_with("&mut ")
        }
        TypeKind::Aggregate(_) => matches!(&*type_.name, "&str") || type_.name.starts_with("&["),
        _ => false,
    }
}
