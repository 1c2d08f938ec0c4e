//! The functions that a name alone may mean.

use super::callee::MOST_FOUND;
use super::{Candidate, Object};
use crate::Address;
use crate::calls::Image;
use crate::eval::run::Runner;
use crate::modules::LoadedModule;
use crate::values::Value;
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::{FoundFunction, Instance};
use dapple_symbols::signatures::Signature;
use dapple_symbols::sources::is_others_source;
use std::sync::Arc;

/// The distance of a function that is in none of the scopes around the frame's function.
const FAR: usize = usize::MAX;

/// The functions of a name whose code has no described parameters.
#[derive(Default)]
struct Undescribed {
    symbols: Vec<(Arc<LoadedModule>, FoundFunction)>,
    inlined: Option<FoundFunction>,
}

impl Undescribed {
    fn add(&mut self, module: &Arc<LoadedModule>, found: FoundFunction, name: &str) {
        match &found.instance {
            Instance::Function(_) => self.symbols.push((Arc::clone(module), found)),
            Instance::Inlined { .. } => {
                self.inlined.get_or_insert(found);
            }
            Instance::Symbol => {
                let is_meant = found.name == name
                    || found.linkage_name.as_deref() == Some(name)
                    || found.language != Language::Other;
                if is_meant {
                    self.symbols.push((Arc::clone(module), found));
                }
            }
        }
    }
}

/// Whether the debug information describes the parameters of a function's code.
fn is_described(found: &FoundFunction) -> bool {
    // The debug information of an indirect function (IFUNC) describes its resolver; that of assembly code describes no parameters.
    let is_function = matches!(found.instance, Instance::Function(_));
    is_function && !found.indirect && found.language != Language::Other
}

/// The functions of a name in a module. The symbol table marks the indirect ones.
fn functions_in(
    module: &LoadedModule,
    pattern: &NamePattern,
    (name, is_global): (&str, bool),
) -> Vec<FoundFunction> {
    let mut all = module.module.find_functions(pattern);
    if all.is_empty() {
        return all;
    }
    all.retain(|found| !is_global || found.name == name);
    all.truncate(MOST_FOUND);
    let last = name.rsplit("::").next().unwrap_or(name);
    let choosers = module.module.functions_with(last);
    for found in &mut all {
        let mut choosers = choosers.iter().filter(|symbol| symbol.indirect);
        found.indirect |= choosers.any(|symbol| symbol.address == found.entry);
    }
    all
}

impl Runner<'_> {
    /// The functions that a name means: those with debug information in the first module that has any, beginning with the frame's
    /// ([`Runner::keep_nearest`] selects among them). If no module has any, one function without debug information. Member functions
    /// are called on `this`.
    pub(super) fn functions_called(&self, name: &str, this: Option<&Value>) -> Vec<Candidate> {
        // `::f` is the function outside all namespaces.
        let is_global = name.starts_with("::");
        let name = name.trim_start_matches("::");
        let pattern = NamePattern::new(name);
        let others = self.reader.modules.iter();
        let others = others.filter(|module| module.id != self.module.id);
        let mut undescribed = Undescribed::default();
        for module in [&self.module].into_iter().chain(others) {
            let mut known: Vec<(usize, FoundFunction)> = Vec::new();
            for found in functions_in(module, &pattern, (name, is_global)) {
                match is_described(&found) {
                    true => known.push((self.distance(&found, name), found)),
                    false => undescribed.add(module, found, name),
                }
            }
            if known.is_empty() {
                continue;
            }
            self.keep_nearest(&mut known, name);
            let functions = known.iter().filter_map(|(_, found)| {
                let function = module.module.function_at(found.entry)?;
                let candidate = self.of_function(module, &function);
                let signature = module.module.signature_of(function.id);
                Some(self.bound(candidate, signature.as_ref(), this))
            });
            return functions.collect();
        }
        self.of_undescribed(undescribed).into_iter().collect()
    }

    /// Keeps those functions of `known` that the name means here. The program's own hide those of libraries, those of the nearest
    /// scope hide others, and in C those of the frame's file hide others. Of several with the same code, one is kept.
    fn keep_nearest(&self, known: &mut Vec<(usize, FoundFunction)>, name: &str) {
        let is_own = |found: &FoundFunction| {
            let place = found.declaration.as_ref();
            place.is_none_or(|place| !is_others_source(&place.file))
        };
        if !name.contains("::") && known.iter().any(|(_, found)| is_own(found)) {
            known.retain(|(_, found)| is_own(found));
        }
        let nearest = known.iter().map(|(distance, _)| *distance).min();
        known.retain(|(distance, _)| Some(*distance) == nearest);
        let here = self.frame.position.as_ref().map(|position| &position.file);
        let is_here = |found: &FoundFunction| {
            let place = found.declaration.as_ref();
            place.is_some_and(|place| Some(&place.file) == here)
        };
        if known.iter().any(|(_, found)| is_here(found)) && self.frame.language == Language::C {
            known.retain(|(_, found)| is_here(found));
        }
        let mut entries = Vec::new();
        known.retain(|(_, found)| {
            let is_new = !entries.contains(&found.entry);
            entries.push(found.entry);
            is_new
        });
    }

    /// The first function that has code, otherwise one that was inlined everywhere.
    fn of_undescribed(&self, undescribed: Undescribed) -> Option<Candidate> {
        let Some((module, found)) = undescribed.symbols.first() else {
            return undescribed.inlined.map(|found| Candidate {
                name: found.short_name,
                language: found.language,
                code: Err(
                    "it has no code of its own: it was inlined wherever it is called".to_owned(),
                ),
                known: None,
                object: None,
            });
        };
        let chosen = match found.indirect {
            true => self.chosen_code(module, found),
            false => Some(module.to_process(found.entry)),
        };
        let unchosen = || "which code it has is chosen when the program first calls it".to_owned();
        Some(Candidate {
            name: found.short_name.clone(),
            language: Language::C,
            code: chosen.ok_or_else(unchosen),
            known: None,
            object: None,
        })
    }

    /// The implementation of an indirect function (IFUNC) that some module's slot has been resolved to.
    fn chosen_code(&self, module: &LoadedModule, found: &FoundFunction) -> Option<Address> {
        let own = module.module.indirect_slots(found.entry);
        let name = found.linkage_name.as_deref().unwrap_or(&found.name);
        let slots = own.into_iter().map(|slot| module.to_process(slot.address));
        let others = self.reader.modules.iter().flat_map(|other| {
            let slots = other.module.slots_of(name).into_iter();
            slots.map(|slot| other.to_process(slot.address))
        });
        slots.chain(others).find_map(|slot| {
            let code = Address(self.reader.memory.read_address(slot).ok()?);
            let there = self.reader.modules.at(code)?;
            // Before it is resolved, the slot points to the calling module's own PLT.
            (there.id == module.id).then_some(code)
        })
    }

    /// How many scopes around the frame's function have to be left to reach a function, or [`FAR`].
    fn distance(&self, found: &FoundFunction, name: &str) -> usize {
        let plain = |text: &str| {
            let end = text.find(['<', '(']).filter(|end| *end > 0);
            text[..end.unwrap_or(text.len())].to_owned()
        };
        let (full, name) = match name.contains('<') {
            true => (found.name.clone(), name.to_owned()),
            false => (plain(&found.name), plain(name)),
        };
        let mut scope = plain(self.frame.function.as_deref().unwrap_or_default());
        let mut steps = 0;
        loop {
            if full == name && scope.is_empty() {
                return steps;
            }
            if !scope.is_empty() && full == format!("{scope}::{name}") {
                return steps;
            }
            if scope.is_empty() {
                return FAR;
            }
            scope = match scope.rsplit_once("::") {
                Some((outer, _)) => outer.to_owned(),
                None => String::new(),
            };
            steps += 1;
        }
    }

    /// Binds a member function called by its name alone to `this`. Without `this`, it can't be called.
    fn bound(
        &self,
        candidate: Candidate,
        signature: Option<&Signature>,
        this: Option<&Value>,
    ) -> Candidate {
        let first = signature.and_then(|signature| signature.parameters.first());
        if !first.is_some_and(|first| first.artificial) {
            return candidate;
        }
        let object = this.and_then(|this| self.reader.word(&this.contents).ok());
        match object {
            Some(address) => Candidate {
                object: Some(Object::Pointer(Image::of(address.to_le_bytes().to_vec()))),
                ..candidate
            },
            None => Candidate {
                code: Err("it is a member function; call it on an object, `object.f()`".to_owned()),
                ..candidate
            },
        }
    }
}
