//! What a module tells of functions: by address, by name, by expression, and what they take and give.

use super::Module;
use crate::FileAddress;
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
    /// The function whose code covers `address`, from DWARF. Symbol-table functions: [`Module::symbol_at`].
    pub fn function_at(&self, address: FileAddress) -> Option<Arc<Function>> {
        self.dwarf(|dwarf| {
            let (unit, entry) = dwarf.function_entry_at(address.0)?;
            Some(dwarf.function(unit, entry).clone())
        })
    }

    /// The inlined calls that cover `address`, outermost first.
    pub fn inlined_at(&self, address: FileAddress) -> Vec<InlinedCall> {
        self.dwarf(|dwarf| dwarf.inlined_at(address.0))
    }

    /// The inlined calls whose code starts inside `range` of the function, at any depth.
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

    /// Every place where a function of that name begins: functions with code, their copies inlined into others, and
    /// functions that only the symbol table has; by entry. A linker's name finds what is at its symbol.
    pub fn find_functions(&self, pattern: &NamePattern) -> Vec<FoundFunction> {
        self.functions_of_kinds(pattern, &[EntryKind::Function, EntryKind::InlinedCall])
    }

    /// As [`Module::find_functions`], but in a large module only one of the two is asked where that is enough: the answer, and
    /// whether it is all of it. With an index, the symbol table is not searched for more when functions with debug information
    /// are found. Without one yet, only what the symbol table leads to is told. Copies inlined into other functions have no
    /// symbol; where the compiler notes that it made such, or where no symbol is meant, the index is made first. Of a Rust `async fn` the
    /// function with its body is told, where it has one.
    pub fn find_functions_soon(&self, pattern: &NamePattern) -> (Vec<FoundFunction>, bool) {
        let (mut found, complete) = self.find_written_functions_soon(pattern);
        if found.is_empty() {
            found = self.query(|queries| queries.bodies_called(pattern));
        }
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

    /// Whether the compiler notes that it inlined the function (`DW_AT_inline`, DWARF 5 §3.3.8.1), in its unit.
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

    /// As [`Module::find_functions`], only what has code of its own, each function once; by entry.
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

    /// The functions at the symbols that the pattern means, without those known.
    fn functions_at_symbols(
        &self,
        pattern: &NamePattern,
        known: &FxHashSet<u64>,
    ) -> Vec<FoundFunction> {
        let mut found = Vec::new();
        let symbols = self.decoded(|decoded| symbol_functions(decoded, pattern, known));
        for symbol in symbols {
            if symbol.indirect {
                // The debug information there is of what chooses.
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
                // C's symbols don't tell.
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
                // A symbol inside of a function is another entry of it.
                _ => found.push(symbol),
            }
        }
        found
    }

    /// The types of that name: classes, structs, unions, enums, typedefs and base types, of any unit. One that several
    /// units define alike is there once; a declaration is there only where no unit has the definition.
    pub fn find_types(&self, pattern: &NamePattern) -> Vec<FoundType> {
        self.query(|queries| queries.types(pattern))
    }

    /// As [`Module::find_types`], but only those of the unit with the code at an address: no other is looked at, and no index is
    /// made or waited for.
    pub fn find_types_near(&self, address: FileAddress, pattern: &NamePattern) -> Vec<FoundType> {
        self.dwarf(|dwarf| {
            let Some(unit) = dwarf.units_at(address.0).next() else {
                return Vec::new();
            };
            let index = &OneUnit(dwarf, unit);
            Queries { dwarf, index }.types(pattern)
        })
    }

    /// As [`Module::find_types`], but only those of the unit of another type, without an index.
    pub fn find_types_beside(&self, other: TypeId, pattern: &NamePattern) -> Vec<FoundType> {
        self.dwarf(|dwarf| {
            let Some(unit) = dwarf.unit(other.unit) else {
                return Vec::new();
            };
            let index = &OneUnit(dwarf, unit);
            Queries { dwarf, index }.types(pattern)
        })
    }

    /// The globals and statics of that name, of any unit, and the statics in functions.
    pub fn find_variables(&self, pattern: &NamePattern) -> Vec<FoundVariable> {
        self.query(|queries| queries.variables(pattern))
    }

    /// For a name that isn't found: short names of functions, types and variables that may have been meant, nearest
    /// first, a handful at most; the user's own before a library's.
    pub fn similar_names(&self, pattern: &NamePattern) -> Vec<SimilarName> {
        self.query(|queries| queries.similar(pattern))
    }

    /// As [`Module::functions_matching`], of the symbol table alone, which is far less to read.
    pub fn symbols_matching(&self, expression: &NameExpression) -> Matches {
        self.decoded(|decoded| matching_symbols(decoded, expression))
    }

    /// The functions whose full names an expression matches: those with debug information, or else those of the symbol table.
    pub fn functions_matching(&self, expression: &NameExpression, whose: Whose) -> Matches {
        let mut matches = self.query(|queries| queries.matching(expression, whose));
        if matches.functions.is_empty() {
            matches = self.symbols_matching(expression);
        }
        Matches {
            functions: self.with_async_bodies(matches.functions),
            ..matches
        }
    }

    /// The same functions, with the bodies of `async fn`s in place of what makes their futures. One without a body, since nothing
    /// polls its future, stays.
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
        // The copies of what makes a future have one body.
        all.dedup_by(|a, b| a.future.is_some() && (a.entry, &a.instance) == (b.entry, &b.instance));
        all
    }

    /// What a function takes and returns; `None` where its entry can't be read, or says no type of a parameter.
    pub fn signature_of(&self, function: FunctionId) -> Option<Signature> {
        self.dwarf(|dwarf| dwarf.signature_of(function))
    }

    /// The enumerations that a class declares whose constants are its own: those that are no `enum class`.
    pub fn enumerations_in(&self, class: TypeId) -> Vec<TypeId> {
        self.dwarf(|dwarf| dwarf.enumerations_in(class))
    }

    /// The member functions of a name that a class declares itself, in order; those of its bases are theirs.
    pub fn methods_of(&self, class: TypeId, name: &str) -> Vec<Method> {
        self.dwarf(|dwarf| dwarf.methods_of(class, name))
    }

    /// The name of the virtual function that a class declares itself for an entry of its table, counted from the first function.
    pub fn virtual_function(&self, class: TypeId, slot: u64) -> Option<String> {
        self.dwarf(|dwarf| dwarf.virtual_function(class, slot))
    }

    /// The class that the function whose code covers `address` is a member of.
    pub fn class_of_function(&self, address: FileAddress) -> Option<TypeId> {
        self.dwarf(|dwarf| dwarf.class_of_function(address.0))
    }

    /// Where a type is declared.
    pub fn type_declaration(&self, id: TypeId) -> Option<SourcePosition> {
        self.dwarf(|dwarf| dwarf.type_declaration(id))
    }

    /// What a function returns.
    pub fn result_of(&self, function: FunctionId) -> Option<FunctionResult> {
        self.dwarf(|dwarf| dwarf.result_of(function))
    }

    /// Whether values of a class are passed by their address whatever their size (Itanium C++ ABI, §1.1, "non-trivial for the purposes
    /// of calls"): it has a copy constructor or a destructor that does something. As the compiler says (`DW_CC_pass_by_reference`),
    /// else as its methods, bases and members do.
    pub fn is_passed_by_reference(&self, id: TypeId) -> bool {
        self.dwarf(|dwarf| dwarf.is_passed_by_reference(id, DEEPEST))
    }
}
