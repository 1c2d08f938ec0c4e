//! A module's queries about functions: by address, by name, by expression, and their parameters and results.

use super::Module;
use crate::FileAddress;
use crate::dwarf::cpp_coroutines::{CoroutinePart, CppCoroutine};
use crate::dwarf::functions::Function;
use crate::dwarf::functions::FunctionId;
use crate::dwarf::functions::InlinedCall;
use crate::dwarf::functions::Language;
use crate::dwarf::functions::SourcePosition;
use crate::dwarf::name_index::AnyIndex;
use crate::dwarf::name_index::EntryKind;
use crate::dwarf::name_index::OneUnit;
use crate::dwarf::queries::FoundFunction;
use crate::dwarf::queries::FoundType;
use crate::dwarf::queries::FoundVariable;
use crate::dwarf::queries::Instance;
use crate::dwarf::queries::Queries;
use crate::dwarf::queries::listing::ListedNames;
use crate::dwarf::queries::matching::Matches;
use crate::dwarf::queries::matching::Whose;
use crate::dwarf::queries::matching::matching_symbols;
use crate::dwarf::queries::similar::SimilarName;
use crate::dwarf::queries::symbol_functions;
use crate::dwarf::results::DEEPEST;
use crate::dwarf::results::FunctionResult;
use crate::dwarf::signatures::Method;
use crate::dwarf::signatures::Signature;
use crate::dwarf::types::TypeId;
use crate::dwarf::types::TypeKind;
use crate::indexing::IndexState;
use crate::names::NameExpression;
use crate::names::NamePattern;
use gimli::AttributeValue;
use gimli::UnitOffset;
use gimli::constants as dw;
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;

impl Module {
    /// The function whose code covers `address`, from DWARF. For functions of the symbol table, see
    /// [`Module::symbol_at`].
    pub fn function_at(&self, address: FileAddress) -> Option<Arc<Function>> {
        self.dwarf(|dwarf| {
            let (unit, entry) = dwarf.function_entry_at(address.0)?;
            Some(dwarf.function(unit, entry).clone())
        })
    }

    /// The name of the function whose code covers `address` as its entry has it (`DW_AT_name`): without a path. In Rust it has all generic
    /// arguments, which [`Function::name`] lacks where one of them is defined in an `impl`.
    pub fn entry_name_at(&self, address: FileAddress) -> Option<String> {
        self.dwarf(|dwarf| {
            let (unit, entry) = dwarf.function_entry_at(address.0)?;
            let chain = dwarf.chain(unit, UnitOffset(entry.offset));
            let name = dwarf.chain_text(&chain, dw::DW_AT_name)?;
            Some(String::from_utf8_lossy(name).into_owned())
        })
    }

    /// The function that runs the body of a Rust future (of an `async fn`, async block or closure), by the type of its state. `None`: it
    /// isn't found, or has no code of its own because it was inlined.
    pub fn body_of_future(&self, state: TypeId) -> Option<Arc<Function>> {
        // Where it is written, for a search before there is an index: the body may be in another unit than the type.
        let opening = self.type_of(state).ok().and_then(|type_| {
            let TypeKind::Aggregate(aggregate) = &type_.kind else {
                return None;
            };
            let first = aggregate.variants.as_ref()?.variants.first()?;
            first.declaration.clone()
        });
        let file = opening.as_ref().map(|at| &*at.file);
        let bodies = self.dwarf(|dwarf| dwarf.bodies(state, file));
        let mut own = { bodies }.into_iter();
        let own = own.find(|body| matches!(body.instance, Instance::Function(_)))?;
        self.function_at(own.entry)
    }

    /// The inlined calls that cover `address`, outermost first.
    pub fn inlined_at(&self, address: FileAddress) -> Vec<InlinedCall> {
        self.dwarf(|dwarf| dwarf.inlined_at(address.0))
    }

    /// The inlined calls whose code starts inside `range`, at any depth. Only calls in the function that covers the start
    /// of `range`.
    pub fn inlined_in(&self, range: Range<FileAddress>) -> Vec<InlinedCall> {
        self.dwarf(|dwarf| dwarf.inlined_in(range.start.0..range.end.0))
    }

    /// The language of the unit that covers `address`.
    pub fn language_at(&self, address: FileAddress) -> Language {
        self.dwarf(|dwarf| {
            dwarf
                .units_at(address.0)
                .next()
                .map_or(Language::Other, |unit| unit.language())
        })
    }

    fn query<T>(&self, ask: impl for<'s, 'a> FnOnce(&Queries<'s, 'a>) -> T) -> T {
        self.dwarf(|dwarf| {
            ask(&Queries {
                dwarf,
                index: &AnyIndex(dwarf),
            })
        })
    }

    /// The functions whose names match `pattern`, sorted by the address of their entry: functions with code, each copy
    /// inlined into another function, and functions that only the symbol table has. A linkage name finds the function at
    /// its symbol.
    pub fn find_functions(&self, pattern: &NamePattern) -> Vec<FoundFunction> {
        self.functions_of_kinds(pattern, &[EntryKind::Function, EntryKind::InlinedCall])
    }

    /// Like [`Module::find_functions`], but in a large module queries only the index or only the symbol table if that
    /// suffices. Returns the functions, and whether they are complete.
    ///
    /// With an index, the symbol table is not searched if the index finds functions with code of their own. If the index is
    /// not made yet, finds the functions at symbols, and says that they are not complete. But copies inlined into other
    /// functions have no symbol. So if no symbol matches, or if the debug information says that a function found was inlined
    /// somewhere, makes the index first. In place of a Rust `async fn`, returns the function that has its body, if there is
    /// one.
    pub fn find_functions_soon(&self, pattern: &NamePattern) -> (Vec<FoundFunction>, bool) {
        let (mut found, complete) = self.find_written_functions_soon(pattern);
        if found.is_empty() {
            found = self.query(|queries| queries.bodies_called(pattern));
        }
        let found = self.with_coroutine_bodies(found);
        (self.with_async_bodies(found), complete)
    }

    fn find_written_functions_soon(&self, pattern: &NamePattern) -> (Vec<FoundFunction>, bool) {
        let state = self.index_state();
        if state == IndexState::Used {
            let kinds = [EntryKind::Function, EntryKind::InlinedCall];
            let mut found = self.query(|queries| queries.functions(pattern, &kinds));
            let own = |function: &FoundFunction| matches!(function.instance, Instance::Function(_));
            if found.iter().any(own) {
                found.sort_by_key(|function| function.entry);
                return (found, true);
            }
        }
        if state == IndexState::Missing {
            let mut found = self.functions_at_symbols(pattern, &FxHashSet::default());
            let alone = |function: &FoundFunction| match function.instance {
                Instance::Function(id) => !self.is_inlined_somewhere(id),
                _ => true,
            };
            if !found.is_empty() && found.iter().all(alone) {
                found.sort_by_key(|function| function.entry);
                return (found, false);
            }
        }
        (self.find_functions(pattern), true)
    }

    /// Whether the function's entry says that the compiler inlined it somewhere in its unit (`DW_AT_inline`, DWARF 5
    /// §3.3.8.1).
    fn is_inlined_somewhere(&self, function: FunctionId) -> bool {
        self.dwarf(|dwarf| {
            let Some(unit) = dwarf.unit(function.unit) else {
                return false;
            };
            let chain = dwarf.chain(unit, UnitOffset(function.offset));
            matches!(
                chain.attribute(dw::DW_AT_inline),
                Some((
                    _,
                    AttributeValue::Inline(dw::DW_INL_inlined | dw::DW_INL_declared_inlined)
                ))
            )
        })
    }

    /// Like [`Module::find_functions`], but only functions with debug information and code of their own, each once.
    pub fn functions_named(&self, name: &str) -> Vec<Arc<Function>> {
        let found = self.functions_of_kinds(&NamePattern::new(name), &[EntryKind::Function]);
        let mut functions: Vec<Arc<Function>> = found
            .into_iter()
            .filter_map(|found| {
                let function = self.function_at(found.entry)?;
                (function.entry == found.entry).then_some(function)
            })
            .collect();
        functions.dedup_by_key(|function| function.entry);
        functions
    }

    fn functions_of_kinds(&self, pattern: &NamePattern, kinds: &[EntryKind]) -> Vec<FoundFunction> {
        let mut found = self.query(|queries| queries.functions(pattern, kinds));
        let known = found.iter().map(|function| function.entry.0).collect();
        found.extend(self.functions_at_symbols(pattern, &known));
        found.sort_by_key(|function| function.entry);
        found
    }

    /// The functions at symbols that match the pattern, without those whose addresses are in `known`.
    fn functions_at_symbols(
        &self,
        pattern: &NamePattern,
        known: &FxHashSet<u64>,
    ) -> Vec<FoundFunction> {
        let mut found = Vec::new();
        let symbols = self.decoded(|decoded| symbol_functions(decoded, pattern, known));
        for symbol in symbols {
            if symbol.indirect {
                // The debug information at this address is that of the resolver.
                found.push(symbol);
                continue;
            }
            let function = self.dwarf(|dwarf| {
                let (unit, entry) = dwarf.function_entry_at(symbol.entry.0)?;
                let offset = entry.offset;
                let chain = dwarf.chain(unit, UnitOffset(offset));
                let queries = Queries {
                    dwarf,
                    index: &AnyIndex(dwarf),
                };
                let name = dwarf.function_name(&chain);
                let parameters = queries.parameters(&chain);
                // C's symbols don't contain parameter types.
                let is_meant = pattern.parameters().is_none()
                    || queries.takes_parameters(pattern, &chain, parameters.as_deref());
                let kind = EntryKind::Function;
                let function =
                    queries.found_function(unit, offset, &chain, name, kind, parameters)?;
                Some((function, is_meant))
            });
            match function {
                Some((function, is_meant)) if function.entry == symbol.entry => {
                    found.extend(is_meant.then_some(function));
                }
                // A symbol inside a function is another entry point of it.
                _ => found.push(symbol),
            }
        }
        found
    }

    /// The types whose names match `pattern`: classes, structs, unions, enums, typedefs and base types, of any unit. Equal
    /// definitions in several units are returned once; a declaration only if no unit has the definition.
    pub fn find_types(&self, pattern: &NamePattern) -> Vec<FoundType> {
        self.query(|queries| queries.types(pattern))
    }

    /// Like [`Module::find_types`], but only for the unit that covers `address`. Reads no other unit, and neither makes
    /// nor waits for an index.
    pub fn find_types_near(&self, address: FileAddress, pattern: &NamePattern) -> Vec<FoundType> {
        self.dwarf(|dwarf| {
            let Some(unit) = dwarf.units_at(address.0).next() else {
                return Vec::new();
            };
            let index = &OneUnit(dwarf, unit);
            Queries { dwarf, index }.types(pattern)
        })
    }

    /// The definition of the type whose whole name matches `pattern`: in the unit that covers `address`, else in any unit, which takes far
    /// longer. `None`: there are only declarations.
    pub fn find_definition(&self, address: FileAddress, pattern: &NamePattern) -> Option<TypeId> {
        let defined = |all: Vec<FoundType>| all.into_iter().find(|found| !found.only_declared);
        let near = defined(self.find_types_near(address, pattern));
        let found = near.or_else(|| defined(self.find_types(pattern)))?;
        Some(found.id)
    }

    /// Like [`Module::find_types_near`], but for the unit of the type `other`.
    pub fn find_types_beside(&self, other: TypeId, pattern: &NamePattern) -> Vec<FoundType> {
        self.dwarf(|dwarf| {
            let Some(unit) = dwarf.unit(other.unit) else {
                return Vec::new();
            };
            let index = &OneUnit(dwarf, unit);
            Queries { dwarf, index }.types(pattern)
        })
    }

    /// The globals and statics whose names match `pattern`, of any unit, including statics in functions.
    pub fn find_variables(&self, pattern: &NamePattern) -> Vec<FoundVariable> {
        self.query(|queries| queries.variables(pattern))
    }

    /// The variables of static storage whose full names match an expression: the user's own if any match.
    pub fn variables_matching(&self, expression: &NameExpression) -> ListedNames {
        self.query(|queries| queries.variables_matching(expression))
    }

    /// The types whose full names match an expression: the user's own if any match.
    pub fn types_matching(&self, expression: &NameExpression) -> ListedNames {
        self.query(|queries| queries.types_matching(expression))
    }

    /// Suggestions for a name that isn't found: a handful of similar short names of functions, types and variables. The
    /// user's own names come first, then those of libraries; in both groups, the nearest come first.
    pub fn similar_names(&self, pattern: &NamePattern) -> Vec<SimilarName> {
        self.query(|queries| queries.similar(pattern))
    }

    /// Like [`Module::functions_matching`], but from the symbol table alone, which is far less to read.
    pub fn symbols_matching(&self, expression: &NameExpression) -> Matches {
        self.decoded(|decoded| matching_symbols(decoded, expression))
    }

    /// The functions with debug information whose full names match an expression, as far as `whose` includes them. If there
    /// are none, all functions of the symbol table whose names match.
    pub fn functions_matching(&self, expression: &NameExpression, whose: Whose) -> Matches {
        let mut matches = self.query(|queries| queries.matching(expression, whose));
        if matches.functions.is_empty() {
            matches = self.symbols_matching(expression);
        }
        Matches {
            functions: self.with_async_bodies(self.with_coroutine_bodies(matches.functions)),
            ..matches
        }
    }

    /// Replaces each `async fn`, which only makes a future, by the functions that have its body. If nothing polls the future,
    /// there is no such function, and the `async fn` stays.
    pub(crate) fn with_async_bodies(&self, found: Vec<FoundFunction>) -> Vec<FoundFunction> {
        let mut all: Vec<FoundFunction> = Vec::with_capacity(found.len());
        for function in found {
            let bodies = function.future.map(|future| {
                let file = function.declaration.as_ref().map(|place| &*place.file);
                self.dwarf(|dwarf| dwarf.bodies(future, file))
            });
            match bodies.filter(|bodies| !bodies.is_empty()) {
                None => all.push(function),
                Some(bodies) => all.extend(bodies.into_iter().map(|body| FoundFunction {
                    name: body.name,
                    instance: body.instance,
                    entry: body.entry,
                    breakpoint: body.breakpoint,
                    ranges: body.ranges,
                    ..function.clone()
                })),
            }
        }
        all.sort_by_key(|function| function.entry);
        // Copies of an `async fn` share one body.
        all.dedup_by(|a, b| a.future.is_some() && (a.entry, &a.instance) == (b.entry, &b.instance));
        all
    }

    /// Replaces the functions of C++ coroutines by those that have their bodies: see
    /// [`cpp_coroutines`](crate::cpp_coroutines).
    fn with_coroutine_bodies(&self, found: Vec<FoundFunction>) -> Vec<FoundFunction> {
        let coroutine = |function: &FoundFunction| match function.instance {
            Instance::Function(_) if function.language == Language::Cpp => {
                self.cpp_coroutine_at(function.entry)
            }
            _ => None,
        };
        let parts: Vec<_> = found.iter().map(coroutine).collect();
        let mut all: Vec<FoundFunction> = Vec::with_capacity(found.len());
        for (function, part) in found.iter().zip(&parts) {
            let Some(part) = part else {
                all.push(function.clone());
                continue;
            };
            if part.has_body() {
                // Only the start has the parameters of the source.
                let is_start = |other: &Option<Arc<CppCoroutine>>| {
                    other.as_ref().is_some_and(|other| {
                        other.part == CoroutinePart::Start && other.opening == part.opening
                    })
                };
                let start = parts.iter().position(is_start);
                let start = start.and_then(|at| found.get(at)).unwrap_or(function);
                all.push(FoundFunction {
                    short_name: start.short_name.clone(),
                    parameters: start.parameters.clone(),
                    declaration: part.opening.clone(),
                    ..function.clone()
                });
            } else if part.part == CoroutinePart::Start {
                // The body may not have been found, as it has other parameters.
                let bodies = self.find_functions(&NamePattern::new(&function.name));
                let is_body = |other: &FoundFunction| {
                    let is_known = { all.iter().chain(&found) }.any(|it| it.entry == other.entry);
                    !is_known
                        && coroutine(other)
                            .is_some_and(|it| it.has_body() && it.opening == part.opening)
                };
                let bodies: Vec<_> = bodies.into_iter().filter(is_body).collect();
                all.extend(bodies.into_iter().map(|body| FoundFunction {
                    short_name: function.short_name.clone(),
                    parameters: function.parameters.clone(),
                    declaration: part.opening.clone(),
                    ..body
                }));
            }
        }
        match all.is_empty() {
            true => found,
            false => all,
        }
    }

    /// A function's parameters and result; `None` if its entry can't be read, or if a parameter has no type.
    pub fn signature_of(&self, function: FunctionId) -> Option<Signature> {
        self.dwarf(|dwarf| dwarf.signature_of(function))
    }

    /// The enumerations declared in `class`, without `enum class`: their constants are in the scope of the class.
    pub fn enumerations_in(&self, class: TypeId) -> Vec<TypeId> {
        self.dwarf(|dwarf| dwarf.enumerations_in(class))
    }

    /// The member functions with this name that a class itself declares, in order; without those of its bases.
    pub fn methods_of(&self, class: TypeId, name: &str) -> Vec<Method> {
        self.dwarf(|dwarf| dwarf.methods_of(class, name))
    }

    /// The name of the virtual function that a class itself declares for a slot of its virtual table, counted from the
    /// first function; `None` if the function there is inherited unchanged.
    pub fn virtual_function(&self, class: TypeId, slot: u64) -> Option<String> {
        self.dwarf(|dwarf| dwarf.virtual_function(class, slot))
    }

    /// The class that the function whose code covers `address` is a member of.
    pub fn class_of_function(&self, address: FileAddress) -> Option<TypeId> {
        self.dwarf(|dwarf| dwarf.class_of_function(address.0))
    }

    /// The position of a type's declaration.
    pub fn type_declaration(&self, id: TypeId) -> Option<SourcePosition> {
        self.dwarf(|dwarf| dwarf.type_declaration(id))
    }

    /// The type of a function's result, and whether the function keeps to the calling convention; `None` if there is no such function.
    pub fn result_of(&self, function: FunctionId) -> Option<FunctionResult> {
        self.dwarf(|dwarf| dwarf.result_of(function))
    }

    /// Whether values of a class are passed by address whatever their size (Itanium C++ ABI, §1.1, "non-trivial for the purposes of
    /// calls"): it has a non-trivial copy or move constructor or destructor, or a virtual method or base, or a base or member of such a
    /// class. Taken from `DW_AT_calling_convention` (`DW_CC_pass_by_reference`) if present, otherwise from its methods, bases and members.
    pub fn is_passed_by_reference(&self, id: TypeId) -> bool {
        self.dwarf(|dwarf| dwarf.is_passed_by_reference(id, DEEPEST))
    }
}
