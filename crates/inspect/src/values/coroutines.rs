//! Activations of asynchronous functions. The body of a Rust `async fn`, async block or async closure is a function that runs each time the
//! future is polled, on any thread and any stack. What stays between the polls is its state, so the state's address identifies the
//! activation, as the canonical frame address does for other functions. The state of a C++ coroutine is its frame ([`frames`]).

pub mod frames;
pub mod made;
pub(crate) mod suspended;

use self::frames::CppFrame;
use super::rust::{active_variant, captures};
use super::view::{self, View};
use super::{Contents, NamedValue, Reader, Value, Variable, VariableKind};
use crate::Address;
use crate::frame::{Frame, FrameKind};
use crate::modules::LoadedModule;
use dapple_arch::Memory;
use dapple_symbols::FileAddress;
use dapple_symbols::functions::{Language, SourcePosition};
use dapple_symbols::types::{Aggregate, Type, TypeId, TypeKind, Variant};
use std::sync::Arc;

/// The most bytes of the number that tells the state.
const MOST_BYTES: u64 = 8;

/// Whether a function may be a coroutine's body, judged by its name. In methods, the compiler calls the bodies closures.
pub fn may_be_body(function: &str) -> bool {
    let parts = ["{async_", "{{closure}}", "{synthetic#"];
    parts.iter().any(|part| function.contains(part))
}

/// An activation of an asynchronous function.
#[derive(Debug, Clone)]
pub struct Activation {
    /// The address of its state. It is valid until the future is dropped: a future that was polled can't be moved.
    pub state: Address,
    /// The function whose body it is, as in [`Frame::function`].
    pub function: String,
    /// The address of the number that tells at which `await` it is suspended. Resuming reads it, as dropping does.
    pub discriminant: Address,
    /// The size of that number, in bytes: at most 8.
    pub size: u64,
    /// Where the function is declared.
    opening: Option<SourcePosition>,
    suspensions: Arc<[Suspension]>,
    /// In C++: what is known of its frame.
    pub frame: Option<CppFrame>,
}

/// A place where a coroutine can be suspended.
#[derive(Debug, Clone)]
struct Suspension {
    discriminants: Vec<(u128, u128)>,
    place: Option<SourcePosition>,
    /// In C++: the code that suspends it.
    code: Option<FileAddress>,
}

impl Activation {
    /// The activation in a frame that runs a coroutine's body. `None`: it runs another function, or the address of the state isn't known
    /// there.
    pub fn of_frame(reader: &Reader<'_>, frame: &Frame) -> Option<Activation> {
        let loaded = frame.physical.module.as_ref()?;
        let lookup = loaded.to_file(frame.physical.lookup);
        if frame.language == Language::Cpp {
            return Activation::of_cpp_frame(reader, loaded, frame);
        }
        let argument = (loaded.module).coroutine_argument_at(lookup, frame.inline_depth)?;
        let pinned = reader.variable(&argument, loaded, frame).value;
        let state = reader.word(&pinned.contents).ok()?;
        let state_type = pointee(loaded, pinned.type_id?)?;
        let function = frame.function.clone().unwrap_or_default();
        Activation::with_state(reader, loaded, state_type, Address(state), function)
    }

    /// The activation of a suspended future's frame.
    pub fn of_suspended(reader: &Reader<'_>, frame: &Frame) -> Option<Activation> {
        let FrameKind::Suspended(suspended) = &frame.kind else {
            return None;
        };
        if frame.language == Language::Cpp {
            return Activation::of_coroutine(reader, suspended.state);
        }
        let loaded = frame.physical.module.as_ref()?;
        let function = frame.function.clone().unwrap_or_default();
        Activation::with_state(reader, loaded, suspended.type_id, suspended.state, function)
    }

    fn with_state(
        reader: &Reader<'_>,
        loaded: &Arc<LoadedModule>,
        state_type: TypeId,
        state: Address,
        function: String,
    ) -> Option<Activation> {
        let type_ = loaded.module.type_of(state_type).ok()?;
        let part = aggregate(&type_)?.variants.as_ref()?;
        let member = part.discriminant.as_ref()?;
        let contents = Contents::Memory(state);
        let value = Value::new(
            Arc::clone(loaded),
            Some(state_type),
            Language::Rust,
            contents,
        );
        let number = reader.member(&value, member);
        let suspensions = part.variants.iter();
        let suspensions = suspensions.filter(|variant| is_suspension(loaded, variant));
        let suspensions = suspensions.map(|variant| Suspension {
            discriminants: variant.discriminants.clone(),
            place: variant.declaration.clone(),
            code: None,
        });
        Some(Activation {
            state,
            function,
            discriminant: number.contents.address()?,
            size: reader.size_of(&number).filter(|size| *size <= MOST_BYTES)?,
            opening: part.variants.first().and_then(|v| v.declaration.clone()),
            suspensions: suspensions.collect(),
            frame: None,
        })
    }

    /// The source position where the body begins; the code that dispatches to the suspended place has this line.
    pub fn opening(&self) -> Option<&SourcePosition> {
        self.opening.as_ref()
    }

    /// Whether the state is that of a suspended coroutine. While its body runs, the state is the one that it was resumed from. `false` also
    /// if the memory can't be read.
    pub fn is_suspended(&self, memory: &dyn Memory) -> bool {
        match &self.frame {
            Some(frame) => frame.is_resumable(self.state, memory),
            None => self.suspension(memory).is_some(),
        }
    }

    /// The source of the `await` that the coroutine is suspended at.
    pub fn suspended_at(&self, memory: &dyn Memory) -> Option<&SourcePosition> {
        self.suspension(memory)?.place.as_ref()
    }

    /// The number that tells the state.
    pub fn number(&self, memory: &dyn Memory) -> Option<u128> {
        let mut bytes = [0; MOST_BYTES as usize];
        let length = usize::try_from(self.size).ok()?;
        memory
            .read(self.discriminant, bytes.get_mut(..length)?)
            .ok()?;
        Some(u128::from(u64::from_le_bytes(bytes)))
    }

    fn suspension(&self, memory: &dyn Memory) -> Option<&Suspension> {
        let number = self.number(memory)?;
        self.suspensions.iter().find(|suspension| {
            let mut ranges = suspension.discriminants.iter();
            ranges.any(|(low, high)| (*low..=*high).contains(&number))
        })
    }
}

impl Reader<'_> {
    /// Whether a variable at `address`, on the stack of a coroutine's body, may have a value that was never written there: since the future
    /// was resumed, the body runs on another piece of stack, to which only what is kept in the state was brought over.
    pub(super) fn is_not_kept(&self, variable: &Variable, address: Address, frame: &Frame) -> bool {
        let physical = &frame.physical;
        let is_on_stack = || {
            let sp = physical.registers.sp();
            sp.zip(physical.cfa)
                .is_some_and(|(sp, cfa)| (sp..cfa).contains(&address))
        };
        let may_be_body = frame.function.as_deref().is_some_and(may_be_body);
        if variable.artificial || !may_be_body || !is_on_stack() {
            return false;
        }
        let state = Activation::of_frame(self, frame).and_then(|it| it.number(self.memory));
        let state = state.and_then(|state| usize::try_from(state).ok());
        let (Some(loaded), Some(state)) = (&physical.module, state) else {
            return false;
        };
        let size = || loaded.module.strip_aliases(variable.type_id?).ok()??.size;
        let slot = address.0..address.0.saturating_add(size().unwrap_or(1).max(1));
        let pc = loaded.to_file(physical.lookup);
        let base = |register| physical.registers.get(register);
        (loaded.module).is_unwritten_since_resumption(pc, state, &slot, &base)
    }
}

impl Reader<'_> {
    /// The variables of a suspended future: its arguments, and what is kept over the `await`.
    pub(crate) fn suspended_variables(&self, frame: &Frame) -> Vec<NamedValue> {
        let FrameKind::Suspended(suspended) = &frame.kind else {
            return Vec::new();
        };
        let Some(loaded) = &frame.physical.module else {
            return Vec::new();
        };
        if frame.language == Language::Cpp {
            return suspended::variables(self, loaded, frame, suspended.state);
        }
        let contents = Contents::Memory(suspended.state);
        let type_id = Some(suspended.type_id);
        let state = Value::new(Arc::clone(loaded), type_id, Language::Rust, contents);
        let View::Record(record) = self.view(&state, view::ALL) else {
            return Vec::new();
        };
        let arguments = self.arguments(&state);
        let fields = { record.fields }
            .into_iter()
            .filter(|field| !field.artificial && field.name != captures::AWAITING);
        let mut variables: Vec<NamedValue> = fields
            .map(|field| NamedValue {
                kind: Some(match arguments.contains(&field.name) {
                    true => VariableKind::Parameter,
                    false => VariableKind::Local,
                }),
                expression: Some(field.name.clone()),
                name: field.name,
                value: field.value,
            })
            .collect();
        variables.sort_by_key(|variable| variable.kind != Some(VariableKind::Parameter));
        for (name, found) in self.shadowing(&state) {
            let place = variables.iter().position(|it| it.name == name);
            variables.retain(|it| it.name != name);
            let place = place.unwrap_or(variables.len()).min(variables.len());
            variables.splice(place..place, found);
        }
        variables
    }

    /// The variables of a suspended Rust future of which several have one name, by that name; a shadowed one comes before the one that
    /// shadows it. In the debug information of the state, fields with one name have all become the first of them (LLVM takes members of a
    /// type for the same by their names); only their number is left. So where a name has more fields than an argument and what the
    /// argument was moved to have, the variables are those that the body has at the `await`.
    pub(crate) fn shadowing(&self, state: &Value) -> Vec<(String, Vec<NamedValue>)> {
        let arguments = self.arguments(state);
        let several = self.names_of_several(state, &arguments);
        if several.is_empty() {
            return Vec::new();
        }
        let size = self
            .size_of(state)
            .and_then(|size| i64::try_from(size).ok());
        let range = || {
            let start = state.contents.address()?;
            Some(start..start.offset(size?))
        };
        let Some((range, code)) = range().zip(self.suspending_code(state)) else {
            return Vec::new();
        };
        let all = suspended::rust_variables(self, &state.module, range, code);
        let of_name = |(name, count): (String, usize)| {
            let found: Vec<NamedValue> = all.iter().filter(|it| it.name == name).cloned().collect();
            (found.len() == count).then_some((name, found))
        };
        several.into_iter().filter_map(of_name).collect()
    }

    /// The names that several variables of a suspended future have, with the number of those variables.
    fn names_of_several(&self, state: &Value, arguments: &[String]) -> Vec<(String, usize)> {
        let members = || {
            let type_ = self.resolve(state)?.type_;
            let variant = active_variant(self, state, aggregate(&type_)?).ok()?;
            let payload = state.module.module.type_of(variant.member.type_id).ok()?;
            Some(aggregate(&payload)?.members.clone())
        };
        let mut counts: Vec<(String, usize)> = Vec::new();
        for name in members()
            .unwrap_or_default()
            .iter()
            .filter_map(|it| it.name.as_deref())
        {
            match counts.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name.to_owned(), 1)),
            }
        }
        // An argument has a field of its own beside that of the variable that it was moved to.
        for (name, count) in &mut counts {
            *count -= usize::from(arguments.contains(name));
        }
        counts.retain(|(_, count)| *count > 1);
        counts
    }

    /// The code of its body at which a suspended future goes on. `None`: it isn't known.
    fn suspending_code(&self, state: &Value) -> Option<Address> {
        let loaded = &state.module;
        let type_ = self.resolve(state)?.type_;
        let variant = active_variant(self, state, aggregate(&type_)?).ok()?;
        let number = usize::try_from(variant.discriminants.first()?.0).ok()?;
        let body = loaded.module.body_of_future(state.type_id?)?;
        let row = loaded.module.suspension_row(body.entry, number)?;
        Some(loaded.to_process(row.range.start))
    }

    /// The names of the arguments of an `async fn`, or of the variables that an async block has captured.
    fn arguments(&self, state: &Value) -> Vec<String> {
        let unresumed = || {
            let type_ = self.resolve(state)?.type_;
            let first = aggregate(&type_)?
                .variants
                .as_ref()?
                .variants
                .first()?
                .clone();
            let payload = state.module.module.type_of(first.member.type_id).ok()?;
            let members = aggregate(&payload)?.members.iter();
            Some(
                members
                    .filter_map(|member| Some(member.name.as_deref()?.to_owned()))
                    .collect(),
            )
        };
        unresumed().unwrap_or_default()
    }
}

/// The type that a `Pin<&mut T>` points to.
fn pointee(loaded: &LoadedModule, pinned: TypeId) -> Option<TypeId> {
    let pin = loaded.module.type_of(pinned).ok()?;
    let pointer = aggregate(&pin)?.members.first()?.type_id;
    match loaded.module.type_of(pointer).ok()?.kind {
        TypeKind::Pointer(_, target) => target,
        _ => None,
    }
}

/// Whether a variant of a state is of a suspended coroutine, not of one that hasn't begun, has returned, or has panicked.
fn is_suspension(loaded: &LoadedModule, variant: &Variant) -> bool {
    let payload = loaded.module.type_of(variant.member.type_id).ok();
    payload.is_some_and(|payload| {
        let name = captures::state_name(Some(&payload));
        !["Unresumed", "Returned", "Panicked"].contains(&name)
    })
}

fn aggregate(type_: &Type) -> Option<&Aggregate> {
    match &type_.kind {
        TypeKind::Aggregate(aggregate) => Some(aggregate),
        _ => None,
    }
}
