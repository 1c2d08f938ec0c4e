//! The `scopes` request, and the values in each scope.

use super::stack_trace::frame;
use crate::adapter::{Adapter, Listing, Reference, ScopeKind};
use crate::to_dap::OrFail;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{Scope, ScopePresentationHint, ScopesArguments, ScopesResponse};
use dapple_engine::frame::FrameId;
use dapple_engine::session::values::VariableList;
use dapple_engine::values::{NamedValue, Rendered, VariableKind};

/// Lists the scopes of a frame.
pub fn scopes(
    adapter: &mut Adapter,
    arguments: ScopesArguments,
    _: &mut Context,
) -> Result<ScopesResponse, Failure> {
    let frame = frame(adapter, arguments.frame_id)?;
    let mut scopes = Vec::new();
    // In one scope by default, because most clients expand only the first scope, or the one named "Locals".
    let in_one = !adapter.separate_scopes;
    let returned = returned(adapter, frame)?;
    let shown = adapter.frames.get(arguments.frame_id).ok();
    let has_source = shown.is_some_and(|frame| frame.has_source);
    let is_call = shown.is_some_and(|frame| frame.is_call);
    if in_one && (has_source || !returned.is_empty()) {
        scopes.push(scope(adapter, "Locals", frame, ScopeKind::All)?);
    } else if !returned.is_empty() {
        scopes.push(scope(adapter, "Return Value", frame, ScopeKind::Returned)?);
    }
    if has_source && !in_one {
        let listing = adapter.variables(frame)?;
        let arguments = listing
            .iter()
            .filter(|(named, _)| is_in(named, ScopeKind::Arguments))
            .count();
        if arguments > 0 {
            scopes.push(scope(adapter, "Arguments", frame, ScopeKind::Arguments)?);
        }
        scopes.push(scope(adapter, "Locals", frame, ScopeKind::Locals)?);
    }
    if has_source {
        scopes.push(scope(adapter, "Statics", frame, ScopeKind::Statics)?);
    }
    if is_call {
        scopes.push(scope(adapter, "Registers", frame, ScopeKind::Registers)?);
    }
    Ok(ScopesResponse::new(scopes))
}

fn scope(
    adapter: &mut Adapter,
    name: &str,
    frame: FrameId,
    kind: ScopeKind,
) -> Result<Scope, Failure> {
    let reference = adapter.references.insert(Reference::Scope(frame, kind))?;
    let expensive = matches!(kind, ScopeKind::Statics | ScopeKind::Registers);
    let scope = Scope::new(name, reference, expensive);
    Ok(match kind {
        ScopeKind::Returned => scope.with_presentation_hint(ScopePresentationHint::ReturnValue),
        ScopeKind::Arguments => scope.with_presentation_hint(ScopePresentationHint::Arguments),
        ScopeKind::Locals | ScopeKind::All => {
            scope.with_presentation_hint(ScopePresentationHint::Locals)
        }
        ScopeKind::Registers => scope.with_presentation_hint(ScopePresentationHint::Registers),
        ScopeKind::Statics => scope,
    })
}

/// Whether a variable belongs in a scope of this kind.
fn is_in(named: &NamedValue, kind: ScopeKind) -> bool {
    let is_parameter = named.kind == Some(VariableKind::Parameter);
    match kind {
        ScopeKind::Arguments => is_parameter,
        ScopeKind::Locals => !is_parameter,
        ScopeKind::All | ScopeKind::Statics => true,
        ScopeKind::Returned | ScopeKind::Registers => false,
    }
}

/// The return value of the function that a step has just finished in this frame: one value or none.
fn returned(adapter: &Adapter, frame: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Failure> {
    let returned = adapter.debuggee()?.returned(frame).or_fail()?;
    Ok(returned.into_iter().collect())
}

/// A value with its text.
type Shown = (NamedValue, Rendered);

/// A value of a scope, with its index in a list of variables, by which its declaration is found. A return value has no
/// index.
pub(super) type Placed<T> = (Option<(VariableList, usize)>, T);

/// The values of any scope but the registers. `page` picks the wanted ones; only those are copied.
pub(super) fn in_scope(
    adapter: &mut Adapter,
    frame: FrameId,
    kind: ScopeKind,
    page: impl FnOnce(Vec<Placed<&Shown>>) -> Vec<Placed<&Shown>>,
) -> Result<Vec<Placed<Shown>>, Failure> {
    let mut returned = match kind {
        ScopeKind::Returned | ScopeKind::All => returned(adapter, frame)?,
        _ => Vec::new(),
    };
    if kind == ScopeKind::All {
        // Between variables, the name `f()` alone would not show that this is a return value.
        for (named, _) in &mut returned {
            named.name = format!("returned by {}", named.name);
        }
    }
    let (list, listing): (_, Listing) = match kind {
        ScopeKind::Returned => (VariableList::Visible, Listing::default()),
        ScopeKind::Statics => {
            let statics = adapter.debuggee()?.statics(frame).or_fail()?;
            (VariableList::Statics, statics.into())
        }
        _ => (VariableList::Visible, adapter.variables(frame)?),
    };
    let here = listing.iter().enumerate();
    let here = here.filter(|(_, (named, _))| is_in(named, kind));
    let mut values: Vec<Placed<&Shown>> = here
        .map(|(index, value)| (Some((list, index)), value))
        .collect();
    let parameters = values
        .iter()
        .take_while(|(_, (named, _))| is_in(named, ScopeKind::Arguments))
        .count();
    values.splice(
        parameters..parameters,
        returned.iter().map(|value| (None, value)),
    );
    let wanted = page(values).into_iter();
    Ok(wanted
        .map(|(place, value)| (place, value.clone()))
        .collect())
}
