//! The functions that a call's callee may mean: by name, through a pointer, or as a method of an object.

use super::{Candidate, Known, Object};
use crate::Address;
use crate::calls::Image;
use crate::eval::Fault;
use crate::eval::a_type;
use crate::eval::ir::{Expression, Kind, Unary};
use crate::eval::run::{MAX_STEPS, Runner};
use crate::modules::LoadedModule;
use crate::values::view::LONG;
use crate::values::{Contents, Number, Value, names, results};
use dapple_symbols::functions::{Function, Language};
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::Instance;
use dapple_symbols::signatures::Signature;
use dapple_symbols::types::{PointerKind, TypeId, TypeKind};
use std::sync::Arc;

/// How many levels of base classes are searched.
const MAX_BASES: usize = 16;
/// The most functions of one name looked at.
pub(super) const MOST_FOUND: usize = 1000;
/// The largest object that is copied to be called on, in bytes.
const MOST_BYTES: u64 = 1 << 16;
/// Marks a clone by GCC that has other parameters than its original.
const CLONE: &str = ".constprop.";

impl Runner<'_> {
    /// The functions that the callee may mean; at least one.
    pub(super) fn callee(&self, callee: &Expression) -> Result<Vec<Candidate>, Fault> {
        if let Kind::Member {
            base,
            name,
            name_at,
            arrow,
        } = &callee.kind
        {
            let value = self.object_of(base, *name_at, *arrow)?;
            return self.methods_called(value, base, (name, *name_at), *arrow);
        }
        if let Some(found) = self.member_function_pointed(callee) {
            return found.map(|found| vec![found]);
        }
        // `(*f)(x)` is `f(x)` (C 2011 §6.3.2.1).
        if let Kind::Unary {
            operator: Unary::Dereference,
            operand,
        } = &callee.kind
            && let Some(found) = self.behind(&self.value(operand)?)
        {
            return Ok(vec![found]);
        }
        let Some(name) = Self::is_name(callee) else {
            let value = self.value(callee)?;
            let found = self.behind(&value).or_else(|| self.closure_behind(&value));
            return match found {
                Some(found) => Ok(vec![found]),
                None => {
                    self.check_available(&value, callee)?;
                    Err(self.no_function(callee, &value))
                }
            };
        };
        let locals = self.locals();
        let variable = self.variable_called(name, &locals);
        let found = variable.as_ref().and_then(|value| {
            let closure = || self.closure_behind(value);
            self.behind(value).or_else(closure)
        });
        if let Some(found) = found {
            return Ok(vec![found]);
        }
        let is_local = locals.iter().any(|local| local.name == name);
        if let Some(value) = variable.as_ref().filter(|_| is_local) {
            // A local hides functions of its name. If it is an object, its call operator is called.
            let found = self.methods_behind(value, "operator()", false);
            return match found.is_empty() {
                false => Ok(found),
                true => Err(self.no_function(callee, value)),
            };
        }
        let this = locals.iter().find(|local| local.name == "this");
        let this = this.map(|this| self.variable(this, &self.module));
        if let Some(this) = &this {
            let found = self.methods_behind(this, name, false);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let mut found = self.functions_called(name, this.as_ref());
        if found.is_empty() {
            let mut paths = self.absolute(name).into_iter();
            let paths = paths
                .by_ref()
                .map(|path| self.functions_called(&path, this.as_ref()));
            found = paths
                .into_iter()
                .find(|found| !found.is_empty())
                .unwrap_or_default();
        }
        match (found.is_empty(), variable) {
            (false, _) => Ok(found),
            (true, Some(value)) => Err(self.no_function(callee, &value)),
            (true, None) => Err(self.fault(callee, "is no function that is known")),
        }
    }

    /// The member function at `code`, called on `object`.
    pub(in super::super) fn method_at(
        &self,
        code: Address,
        object: Address,
        type_: (&Arc<LoadedModule>, TypeId),
    ) -> Option<Candidate> {
        let found = self.at_address(code, Some(type_))?;
        let image = Image::of(object.0.to_le_bytes().to_vec());
        Some(Candidate {
            object: Some(Object::Pointer(image)),
            ..found
        })
    }

    pub(in super::super) fn no_function(&self, callee: &Expression, value: &Value) -> Fault {
        self.fault(callee, &self.no_function_is(value))
    }

    /// The function that a value is or points to.
    pub(super) fn behind(&self, value: &Value) -> Option<Candidate> {
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            if let Contents::Number(Number::Pointer { address, target }) = value.contents {
                let type_id = target.filter(|id| {
                    let type_ = value.module.module.strip_aliases(*id).ok().flatten();
                    type_.is_some_and(|type_| matches!(type_.kind, TypeKind::Function { .. }))
                });
                return match type_id {
                    Some(id) => self.at_address(Address(address), Some((&value.module, id))),
                    None => self.at_address(Address(address), None),
                };
            }
            let type_ = self.reader.resolve(&value)?.type_;
            match &type_.kind {
                TypeKind::Function { .. } => {
                    let address = value.contents.address()?;
                    return self.at_address(address, Some((&value.module, type_.id)));
                }
                TypeKind::Pointer(_, Some(target)) => {
                    let address = self.reader.word(&value.contents).ok()?;
                    value = value.sibling(Some(*target), Contents::Memory(Address(address)));
                }
                _ => return None,
            }
        }
        None
    }

    /// The function at an address. `type_` is the function type that a pointer to it points to. The signature is taken from the
    /// function's debug information if there is some and it has as many parameters as `type_`, otherwise from `type_`.
    fn at_address(
        &self,
        address: Address,
        type_: Option<(&Arc<LoadedModule>, TypeId)>,
    ) -> Option<Candidate> {
        let module = self.reader.modules.at(address);
        let function = module.and_then(|module| {
            let function = module.module.function_at(module.to_file(address))?;
            (module.to_process(function.entry) == address).then_some((module, function))
        });
        let kind = type_.and_then(|(module, id)| {
            let type_ = module.module.type_of(id).ok()?;
            match &type_.kind {
                TypeKind::Function { result, parameters } => Some((
                    Arc::clone(module),
                    type_.language,
                    *result,
                    parameters.clone(),
                )),
                _ => None,
            }
        });
        if let Some((module, function)) = &function {
            let own = self.of_function(module, function);
            let agrees = kind.as_ref().is_none_or(|(.., parameters)| {
                let known = own.known.as_ref();
                known.is_some_and(|known| known.parameters.len() == parameters.len())
            });
            if agrees {
                return Some(own);
            }
        }
        let (module, language, result, parameters) = kind?;
        let symbol = self.reader.modules.at(address).and_then(|module| {
            let symbol = module.module.symbol_at(module.to_file(address))?;
            Some(symbol.name)
        });
        Some(Candidate {
            name: symbol.unwrap_or_else(|| address.to_string()),
            language,
            code: match address.0 {
                0 => Err("it is a null pointer".to_owned()),
                _ => Ok(address),
            },
            known: Some(Known {
                module,
                parameters,
                variadic: false,
                result,
            }),
            object: None,
        })
    }

    pub(super) fn of_function(&self, module: &Arc<LoadedModule>, function: &Function) -> Candidate {
        let signature = module.module.signature_of(function.id);
        let is_clone = || {
            let symbol = module.module.symbol_at(function.entry);
            symbol.is_some_and(|symbol| symbol.name.contains(CLONE))
        };
        let is_unusual = signature.as_ref().is_none_or(|s| s.result.unconventional)
            || results::is_changed(module, function)
            || is_clone();
        let known = signature.map(|signature| known(module, &signature));
        Candidate {
            name: dapple_symbols::names::short_name(&function.name),
            language: function.language,
            code: match is_unusual {
                true => Err("the compiler has changed how it is called".to_owned()),
                false => Ok(module.to_process(function.entry)),
            },
            known: known.filter(|_| function.language != Language::Other),
            object: None,
        }
    }

    // Methods

    /// The methods of a name that an object has, or that the object which it refers to has.
    pub(in super::super) fn methods_called(
        &self,
        value: Value,
        base: &Expression,
        (name, name_at): (&str, usize),
        arrow: bool,
    ) -> Result<Vec<Candidate>, Fault> {
        let found = self.methods_behind(&value, name, arrow);
        if !found.is_empty() {
            return Ok(found);
        }
        if let Some(whole) = self.whole_behind(&value) {
            let found = self.cpp_methods(&whole, name, 0);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        if let Some(member) = self.find_member(&value, name)
            && let Some(found) = self
                .behind(&member)
                .or_else(|| self.closure_behind(&member))
        {
            return Ok(vec![found]);
        }
        self.check_available(&value, base)?;
        let why = format!(
            "`{}` has no function `{name}` that is known, it is {}",
            self.source(base),
            a_type(self.type_of(&value))
        );
        Err(Fault::new(name_at, why))
    }

    fn methods_behind(&self, value: &Value, name: &str, arrow: bool) -> Vec<Candidate> {
        let mut value = value.clone();
        for step in 0..MAX_STEPS {
            // The operand of `->` has to be dereferenced first, unless it is a pointer, which the next step follows.
            if !(arrow && step == 0) {
                let found = match self.language_of(&value) {
                    Language::Rust => self.rust_methods(&value, name),
                    _ => self.cpp_methods(&value, name, 0),
                };
                if !found.is_empty() {
                    return found;
                }
            }
            let Some(target) = self.reader.view(&value, LONG).target() else {
                break;
            };
            value = target;
        }
        Vec::new()
    }

    pub(in super::super) fn cpp_methods(
        &self,
        value: &Value,
        name: &str,
        depth: usize,
    ) -> Vec<Candidate> {
        let Some(type_) = self.reader.resolve(value).map(|resolved| resolved.type_) else {
            return Vec::new();
        };
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return Vec::new();
        };
        // `object.Base::method()` calls `Base`'s method, even if it is overridden.
        let qualified = name.rsplit_once("::");
        let (class, last) = qualified.unwrap_or(("", name));
        let is_meant = qualified.is_none()
            || type_.name.as_ref() == class
            || names::base_name(&type_.name) == class;
        let methods = match is_meant {
            true => value.module.module.methods_of(type_.id, last),
            false => Vec::new(),
        };
        if !methods.is_empty() {
            let class = names::shorten(&type_.name, type_.language);
            let candidates = methods.into_iter().map(|method| {
                let first = method.signature.parameters.first();
                let takes_object = first.is_some_and(|first| first.artificial);
                let object = takes_object.then(|| self.address_or_copy(value, type_.size));
                let code = match (&object, method.table_slot) {
                    (Some(Ok(_)), Some(slot)) if qualified.is_none() => {
                        self.virtual_code(value, slot)
                    }
                    _ => self
                        .code_of(&value.module, method.linkage_name.as_deref())
                        .or_else(|why| self.code_of_closure(value, type_.id, last).ok_or(why)),
                };
                let (object, code) = match object {
                    Some(Err(why)) => (None, Err(why)),
                    Some(Ok(image)) => (Some(Object::Pointer(image)), code),
                    None => (None, code),
                };
                Candidate {
                    name: format!("{class}::{last}"),
                    language: Language::Cpp,
                    code,
                    known: Some(known(&value.module, &method.signature)),
                    object,
                }
            });
            return candidates.collect();
        }
        if depth >= MAX_BASES {
            return Vec::new();
        }
        let bases = aggregate.members.iter().filter(|member| member.base);
        bases
            .map(|base| self.cpp_methods(&self.reader.member(value, base), name, depth + 1))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    }

    /// A lambda's code. It has no linkage name, so the function is found by the type of its first parameter.
    fn code_of_closure(&self, value: &Value, class: TypeId, name: &str) -> Option<Address> {
        let module = &value.module;
        let found = module.module.find_functions(&NamePattern::new(name));
        let mut found = found.into_iter().take(MOST_FOUND);
        found.find_map(|found| {
            let Instance::Function(id) = found.instance else {
                return None;
            };
            let signature = module.module.signature_of(id)?;
            let first = signature.parameters.first().filter(|it| it.artificial)?;
            let pointer = module.module.strip_aliases(first.type_id).ok()??;
            let TypeKind::Pointer(_, Some(target)) = pointer.kind else {
                return None;
            };
            let own = module.module.strip_aliases(target).ok()??;
            (own.id == class).then(|| module.to_process(found.entry))
        })
    }

    /// An object's address, or that of a copy if it isn't in memory.
    pub(super) fn address_or_copy(
        &self,
        value: &Value,
        size: Option<u64>,
    ) -> Result<Image, String> {
        if let Some(address) = value.contents.address() {
            return Ok(Image::of(address.0.to_le_bytes().to_vec()));
        }
        let size = size.filter(|size| *size <= MOST_BYTES);
        let size = size.ok_or("its object is too large to be copied")?;
        match self.reader.bytes(&value.contents, size) {
            Ok(bytes) => Ok(Image::pointing_to(bytes)),
            Err(reason) => {
                let reason = self.reader.reason(&reason);
                let reason = reason.trim_matches(['<', '>']);
                Err(format!("its object is not available: {reason}"))
            }
        }
    }

    /// The function in entry `slot` of an object's virtual table.
    fn virtual_code(&self, object: &Value, slot: u64) -> Result<Address, String> {
        let read = |address: u64| {
            let word = self.reader.memory.read_address(Address(address));
            word.map_err(|at| format!("there is no memory at {at} for its object's virtual table"))
        };
        let address = object.contents.address();
        let address = address.ok_or("it is virtual, and its object has no address")?;
        let table = read(address.0)?;
        let entry = slot
            .checked_mul(self.reader.address_size())
            .and_then(|at| table.checked_add(at));
        let code = Address(read(entry.unwrap_or(0))?);
        match self.reader.modules.at(code) {
            Some(_) => Ok(code),
            None => Err("its object has no virtual table with it; is it constructed?".to_owned()),
        }
    }

    /// The code of a linkage name, searched first in the module that declares it.
    fn code_of(
        &self,
        first: &Arc<LoadedModule>,
        linkage_name: Option<&str>,
    ) -> Result<Address, String> {
        let others = self.reader.modules.iter();
        let others = others.filter(|module| module.id != first.id);
        let mut all = [first].into_iter().chain(others);
        let found = linkage_name.and_then(|name| {
            all.find_map(|module| {
                let symbol = module.module.symbol_named(name)?;
                Some(module.to_process(symbol.address))
            })
        });
        found.ok_or_else(|| {
            "it has no code of its own: it was inlined wherever it is called, or never called"
                .to_owned()
        })
    }

    /// Rust's methods of a value's own type: functions whose first parameter is called `self`, and has that type or is a reference to it.
    pub(in crate::eval::run) fn rust_methods(&self, value: &Value, name: &str) -> Vec<Candidate> {
        let Some(type_) = self.reader.resolve(value).map(|resolved| resolved.type_) else {
            return Vec::new();
        };
        let others = self.reader.modules.iter();
        let others = others.filter(|module| module.id != value.module.id);
        let pattern = NamePattern::new(name);
        let mut candidates = Vec::new();
        for module in [&value.module].into_iter().chain(others) {
            let found = module.module.find_functions(&pattern);
            for found in found.into_iter().take(MOST_FOUND) {
                let Instance::Function(id) = found.instance else {
                    continue;
                };
                let Some(signature) = module.module.signature_of(id) else {
                    continue;
                };
                let first = signature.parameters.first();
                let Some(first) = first.filter(|first| first.name.as_deref() == Some("self"))
                else {
                    continue;
                };
                let Some(own) = module.module.strip_aliases(first.type_id).ok().flatten() else {
                    continue;
                };
                let target = match own.kind {
                    TypeKind::Pointer(PointerKind::Pointer, Some(to)) => {
                        module.module.strip_aliases(to).ok().flatten()
                    }
                    _ => None,
                };
                let by_reference = target.is_some_and(|target| target.name == type_.name);
                if !by_reference && own.name != type_.name {
                    continue;
                }
                let Some(function) = module.module.function_at(found.entry) else {
                    continue;
                };
                let object = match by_reference {
                    true => self.address_or_copy(value, type_.size).map(Object::Pointer),
                    false => self.whole_object(value, type_.size),
                };
                let candidate = self.of_function(module, &function);
                candidates.push(match object {
                    Ok(object) => Candidate {
                        object: Some(object),
                        ..candidate
                    },
                    Err(why) => Candidate {
                        code: Err(why),
                        ..candidate
                    },
                });
            }
            if !candidates.is_empty() {
                break;
            }
        }
        candidates
    }

    fn whole_object(&self, value: &Value, size: Option<u64>) -> Result<Object, String> {
        if self.is_owner(value) {
            return Err(
                "it takes its object itself, which the program would drop once more".to_owned(),
            );
        }
        let size = size.filter(|size| *size <= MOST_BYTES);
        let size = size.ok_or("its object is too large to be copied")?;
        let bytes = self.reader.bytes(&value.contents, size);
        let reason = |reason| {
            let reason = self.reader.reason(&reason);
            let reason = reason.trim_matches(['<', '>']).to_owned();
            format!("its object is not available: {reason}")
        };
        bytes.map(Object::Whole).map_err(reason)
    }
}

fn known(module: &Arc<LoadedModule>, signature: &Signature) -> Known {
    let parameters = signature.parameters.iter();
    Known {
        module: Arc::clone(module),
        parameters: parameters.map(|parameter| parameter.type_id).collect(),
        variadic: signature.variadic,
        result: signature.result.type_id,
    }
}
