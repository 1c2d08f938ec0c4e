//! Queries by name across all units: functions with every place where they begin, types, and variables.
//!
//! Each query looks up the base name in a `NameIndex`, composes the full names of the entries found, and keeps those that
//! match the [`NamePattern`].

pub mod listing;
pub mod matching;
pub(crate) mod similar;

use crate::FileAddress;
use crate::decoded::Decoded;
use crate::demangle::{demangle, demangle_path};
use crate::dwarf::async_functions::{FIRST_BODY, written_name};
use crate::dwarf::entries::Chain;
use crate::dwarf::functions::{FunctionId, Language, SourcePosition, file_range};
use crate::dwarf::name_index::{EntryKind, EntryPlace, NameIndex};
use crate::dwarf::scopes::{Variable, VariableKind};
use crate::dwarf::thread_statics::STORAGE;
use crate::dwarf::types::TypeId;
use crate::dwarf::{Dwarf, Reader, Unit};
use crate::names::{NamePattern, short_name};
use crate::symbols::FunctionSymbol;
use gimli::{AttributeValue, Expression, Operation, UnitOffset, constants as dw};
use rustc_hash::FxHashSet;
pub use similar::{SimilarName, sort_out};
use std::ops::Range;

/// What kind of code a function's name led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instance {
    /// A function with code of its own; several functions of one name are overloads, monomorphisations or clones.
    Function(FunctionId),
    /// A copy inlined into the named function.
    Inlined {
        /// The full name of the function that contains the copy.
        into: String,
        /// The position of the call.
        call_site: Option<SourcePosition>,
    },
    /// A function of the symbol table, without debug information.
    Symbol,
}

/// A place where a function begins.
#[derive(Debug, Clone)]
pub struct FoundFunction {
    /// The full name, with namespaces and arguments, as [`crate::dwarf::functions::Function::name`].
    pub name: String,
    /// The name for display; see [`short_name`].
    pub short_name: String,
    /// The types of the function's parameters, for C and C++: `int, const char *`. Empty: the function has none. `None`: they are
    /// unknown, or the language is another one.
    pub parameters: Option<String>,
    /// The linkage (mangled) name.
    pub linkage_name: Option<String>,
    /// The unit's language; for a symbol, the language of its mangling.
    pub language: Language,
    /// The position of its declaration.
    pub declaration: Option<SourcePosition>,
    /// The kind of code.
    pub instance: Instance,
    /// The entry point.
    pub entry: FileAddress,
    /// The address for a breakpoint: behind the prologue, where the frame is set up. For an inlined copy, which has no
    /// prologue, the entry.
    pub breakpoint: FileAddress,
    /// The ranges of its code, from DWARF or the symbol's size; empty if neither is known.
    pub ranges: Vec<Range<FileAddress>>,
    /// Whether the code at `entry` is the resolver of an indirect function (`STT_GNU_IFUNC`), which chooses the
    /// implementation at run time. A breakpoint belongs at the chosen implementation; see [`crate::Module::indirect_slots`].
    pub indirect: bool,
    /// For a Rust `async fn`: the type of the future that it makes. The function's body runs when that future is polled.
    pub future: Option<TypeId>,
}

/// A type that a name led to.
#[derive(Debug, Clone)]
pub struct FoundType {
    /// Identifies it in the module.
    pub id: TypeId,
    /// The full name, as [`crate::dwarf::types::Type::name`].
    pub name: String,
    /// The name for display; see [`short_name`].
    pub short_name: String,
    /// Its unit's language.
    pub language: Language,
    /// Size in bytes.
    pub size: Option<u64>,
    /// The position of its declaration.
    pub declaration: Option<SourcePosition>,
    /// Whether no unit has a definition of the type.
    pub only_declared: bool,
}

/// A variable of static storage that a name led to.
#[derive(Debug, Clone)]
pub struct FoundVariable {
    /// The variable, with its full name.
    pub variable: Variable,
    /// The address; `None` for thread-locals, constants, and variables that the linker discarded.
    pub address: Option<FileAddress>,
    /// Its unit's language.
    pub language: Language,
}

/// Queries on a module, using any kind of index.
pub(crate) struct Queries<'s, 'a> {
    pub dwarf: &'s Dwarf<'a>,
    pub index: &'s dyn NameIndex,
}

impl<'s, 'a> Queries<'s, 'a> {
    /// The entries of a kind whose base name may match the pattern, in unit order.
    fn candidates(&self, pattern: &NamePattern, kind: EntryKind) -> Vec<(&'s Unit<'a>, usize)> {
        let takes =
            |base: &[u8]| std::str::from_utf8(base).is_ok_and(|base| pattern.takes_base(base));
        match pattern.has_glob_base() {
            true => self.called(kind, &mut |base| takes(base)),
            false => self.with_units(self.index.entries_named(pattern.base().as_bytes(), kind)),
        }
    }

    /// All entries of a kind, in unit order.
    fn all(&self, kind: EntryKind) -> Vec<(&'s Unit<'a>, usize)> {
        self.called(kind, &mut |_| true)
    }

    /// The entries whose base name `wanted` accepts, in unit order.
    fn called(
        &self,
        kind: EntryKind,
        wanted: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Vec<(&'s Unit<'a>, usize)> {
        let mut places = Vec::new();
        for base in self.index.base_names(kind, wanted) {
            places.extend(self.index.entries_named(&base, kind));
        }
        places.sort_unstable();
        self.with_units(places)
    }

    fn with_units(&self, places: Vec<EntryPlace>) -> Vec<(&'s Unit<'a>, usize)> {
        let dwarf = self.dwarf;
        let with_unit = |place: EntryPlace| Some((dwarf.unit(place.unit)?, place.offset));
        places.into_iter().filter_map(with_unit).collect()
    }

    pub fn functions(&self, pattern: &NamePattern, kinds: &[EntryKind]) -> Vec<FoundFunction> {
        let mut found = Vec::new();
        let written = WrittenParts::of(pattern.text());
        for &kind in kinds {
            for (unit, offset) in self.candidates(pattern, kind) {
                let chain = self.dwarf.chain(unit, UnitOffset(offset));
                // Composing a name means finding all its scopes. The mangled name is cheaper to check, so filter by it
                // first.
                let mangled = self.dwarf.chain_text(&chain, dw::DW_AT_linkage_name);
                if mangled.is_some_and(|name| is_mangled(name) && !written.all_in(name)) {
                    continue;
                }
                let name = self.dwarf.function_name(&chain);
                if !self.is_meant(pattern, &chain, &name) {
                    continue;
                }
                let parameters = self.parameters(&chain);
                if pattern.parameters().is_some()
                    && !self.takes_parameters(pattern, &chain, parameters.as_deref())
                {
                    continue;
                }
                found.extend(self.found_function(unit, offset, &chain, name, kind, parameters));
            }
        }
        found
    }

    /// The bodies of the Rust `async fn`s that match the pattern, for functions whose future-making code is optimised away.
    pub(crate) fn bodies_called(&self, pattern: &NamePattern) -> Vec<FoundFunction> {
        let mut found = Vec::new();
        for kind in [EntryKind::Function, EntryKind::InlinedCall] {
            for (unit, offset) in self.with_units(self.index.entries_named(FIRST_BODY, kind)) {
                let chain = self.dwarf.chain(unit, UnitOffset(offset));
                let name = self.dwarf.function_name(&chain);
                if written_name(&name).is_some_and(|name| pattern.matches(name)) {
                    found.extend(self.found_function(unit, offset, &chain, name, kind, None));
                }
            }
        }
        found
    }

    fn is_meant(&self, pattern: &NamePattern, chain: &Chain<'_, 'a>, name: &str) -> bool {
        let last = chain.links.last();
        if last.is_some_and(|(unit, _)| unit.language() == Language::Cpp) {
            return pattern.matches(name) || self.is_meant_otherwise(pattern, chain, name);
        }
        // Rust's legacy mangling has `Vec<T,A>::push`; only the entry's own name has the actual arguments: `push<i32,
        // Global>`.
        pattern.matches(name)
            || chain
                .links
                .last()
                .is_some_and(|(unit, _)| unit.language() == Language::Rust)
                && self
                    .dwarf
                    .chain_text(chain, dw::DW_AT_name)
                    .is_some_and(|own| {
                        pattern.matches_instance(name, &String::from_utf8_lossy(own))
                    })
    }

    /// Whether the pattern matches another name of a C++ function: the name without inline namespaces, which users may
    /// omit (C++20 §9.8.2), or for a lambda its linkage name, which unlike the DWARF name identifies the lambda.
    fn is_meant_otherwise(&self, pattern: &NamePattern, chain: &Chain<'_, 'a>, name: &str) -> bool {
        if name.contains("{anonymous ") || name.contains("<lambda") {
            let linkage = self.dwarf.linkage_name(chain);
            return linkage.is_some_and(|linkage| pattern.matches(&demangle(&linkage)));
        }
        let without = || self.dwarf.name_without_inline_namespaces(chain);
        name.contains("::") && without().is_some_and(|name| pattern.matches(&name))
    }

    pub(crate) fn takes_parameters(
        &self,
        pattern: &NamePattern,
        chain: &Chain<'_, 'a>,
        parameters: Option<&str>,
    ) -> bool {
        // Compilers and demanglers write types differently; accept either, since users copy both.
        let demangled = || {
            let linkage = demangle(&self.dwarf.linkage_name(chain)?);
            let (_, rest) = linkage.split_once('(')?;
            let (list, _) = rest.rsplit_once(')')?;
            Some(list.to_owned())
        };
        parameters.is_some_and(|parameters| pattern.takes_parameters(parameters))
            || demangled().is_some_and(|parameters| pattern.takes_parameters(&parameters))
    }

    /// The types of a function's parameters, for C and C++.
    pub(crate) fn parameters(&self, chain: &Chain<'_, 'a>) -> Option<String> {
        let (unit, entry) = self.dwarf.with_parameters(chain)?;
        if !matches!(unit.language(), Language::C | Language::Cpp) {
            return None;
        }
        let parameters = self.dwarf.parameters(unit, entry).into_iter();
        let names = parameters
            .filter(|(_, artificial)| !artificial)
            .map(|(id, _)| self.dwarf.type_name(id));
        Some(names.collect::<Vec<String>>().join(", "))
    }

    pub(crate) fn found_function(
        &self,
        unit: &Unit<'a>,
        offset: usize,
        chain: &Chain<'_, 'a>,
        name: String,
        kind: EntryKind,
        parameters: Option<String>,
    ) -> Option<FoundFunction> {
        let dwarf = self.dwarf;
        let (_, own) = chain.links.first()?;
        let ranges = dwarf.code_ranges(unit.part(), own.attrs());
        let start = ranges.first()?.start;
        let (instance, entry, breakpoint) = match kind {
            EntryKind::InlinedCall => {
                let instance = dwarf.inlined_instance(chain, start);
                let entry = dwarf.inlined_entry(unit, own.attrs(), &ranges)?;
                (instance, entry, entry)
            }
            _ => {
                let id = FunctionId {
                    unit: unit.index,
                    offset,
                };
                (Instance::Function(id), start, dwarf.body_start(start))
            }
        };
        Some(FoundFunction {
            short_name: short_name(&name),
            name,
            parameters,
            linkage_name: dwarf.linkage_name(chain),
            language: unit.language(),
            declaration: dwarf.declaration(chain),
            instance,
            entry: FileAddress(entry),
            breakpoint: FileAddress(breakpoint),
            ranges: ranges.iter().map(file_range).collect(),
            indirect: false,
            future: dwarf.future_made(chain),
        })
    }

    pub fn types(&self, pattern: &NamePattern) -> Vec<FoundType> {
        let mut found: Vec<FoundType> = Vec::new();
        let mut seen = FxHashSet::default();
        for kind in [EntryKind::Type, EntryKind::DeclaredType] {
            for (unit, offset) in self.candidates(pattern, kind) {
                let chain = self.dwarf.chain(unit, UnitOffset(offset));
                let Some(name) = self.dwarf.qualified_name(&chain) else {
                    continue;
                };
                let tag = chain.links.first().map(|(_, entry)| entry.tag().0);
                let only_declared = kind == EntryKind::DeclaredType;
                // Users may omit inline namespaces (C++20 §9.8.2).
                let without = || self.dwarf.name_without_inline_namespaces(&chain);
                let is_meant = pattern.matches(&name)
                    || (name.contains("::")
                        && without().is_some_and(|name| pattern.matches(&name)));
                if !is_meant
                    || (only_declared && found.iter().any(|known| ends_in(&known.name, &name)))
                {
                    continue;
                }
                let declaration = self.dwarf.declaration(&chain);
                let place = declaration
                    .as_ref()
                    .map(|place| (place.file.clone(), place.line));
                let size = chain
                    .links
                    .first()
                    .and_then(|(_, entry)| entry.attr_value(dw::DW_AT_byte_size)?.udata_value());
                // Every unit that includes a header defines the header's types; return one of the equal definitions.
                let place = place.filter(|_| !only_declared);
                if !seen.insert((name, tag, place, size)) {
                    continue;
                }
                let id = TypeId {
                    unit: unit.index,
                    offset,
                };
                let name = self.dwarf.type_name(id);
                let decoded = self.dwarf.strip_aliases(id).ok().flatten();
                found.push(FoundType {
                    id,
                    short_name: short_name(&name),
                    name,
                    language: unit.language(),
                    size: size.or_else(|| decoded.and_then(|decoded| decoded.size)),
                    declaration,
                    only_declared,
                });
            }
        }
        found
    }

    pub fn variables(&self, pattern: &NamePattern) -> Vec<FoundVariable> {
        let mut found: Vec<FoundVariable> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut candidates = self.candidates(pattern, EntryKind::Variable);
        if candidates.is_empty() {
            let storage = self.index.entries_named(STORAGE, EntryKind::Variable);
            candidates = self.with_units(storage);
        }
        for (unit, offset) in candidates {
            let variable = self
                .dwarf
                .variable(unit, offset, VariableKind::Static, 0, None);
            let Some(variable) = variable.filter(|variable| pattern.matches(&variable.name)) else {
                continue;
            };
            let address = self.dwarf.static_address(unit, offset);
            let place = variable
                .declaration
                .as_ref()
                .map(|place| (place.file.clone(), place.line));
            if seen.insert((variable.name.clone(), address, place)) {
                found.push(FoundVariable {
                    variable,
                    address: address.map(FileAddress),
                    language: unit.language(),
                });
            }
        }
        found
    }
}

impl<'a> Dwarf<'a> {
    /// The [`Instance`] for an inlined copy that starts at `start`.
    pub(crate) fn inlined_instance(&self, chain: &Chain<'_, 'a>, start: u64) -> Instance {
        let into = self
            .function_entry_at(start)
            .map(|(unit, entry)| self.function(unit, entry).name.clone());
        let call_site = self.position(
            chain,
            dw::DW_AT_call_file,
            dw::DW_AT_call_line,
            dw::DW_AT_call_column,
        );
        Instance::Inlined {
            into: into.unwrap_or_default(),
            call_site,
        }
    }

    /// The address of a variable whose location is only an address, or an address plus constants. `None`: the location is of another
    /// kind, or the linker discarded the variable.
    pub(crate) fn static_address(&self, unit: &Unit<'a>, offset: usize) -> Option<u64> {
        let entry = self.entry(unit, UnitOffset(offset))?;
        let AttributeValue::Exprloc(expression) = entry.attr_value(dw::DW_AT_location)? else {
            return None;
        };
        let address = self.address_in(unit, expression)?;
        self.may_be_variable(address).then_some(address)
    }

    /// The address that a location expression gives, as in [`Dwarf::static_address`], without checking that a variable can be there.
    pub(crate) fn address_in(
        &self,
        unit: &Unit<'a>,
        expression: Expression<Reader<'a>>,
    ) -> Option<u64> {
        let mut operations = expression.operations(unit.dw().encoding());
        let mut address = match operations.next().ok()?? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => unit.sections().address(unit.dw(), index).ok()?,
            _ => return None,
        };
        while let Some(operation) = operations.next().ok()? {
            match operation {
                Operation::PlusConstant { value } => address = address.checked_add(value)?,
                _ => return None,
            }
        }
        Some(address)
    }
}

/// Whether a type's full name is `name`, optionally preceded by its keyword as in C.
fn ends_in(full: &str, name: &str) -> bool {
    full.strip_suffix(name)
        .is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

/// The parts of a path that must occur literally in the mangled name of every match. Empty if the path has anything but
/// plain identifiers, or names of the standard library, which manglings abbreviate.
struct WrittenParts<'p>(Vec<memchr::memmem::Finder<'p>>);

impl<'p> WrittenParts<'p> {
    fn of(path: &'p str) -> WrittenParts<'p> {
        // In binaries, items of Rust's `std` often have their names in `core` or `alloc`.
        const ABBREVIATED: [&str; 6] = [
            "std",
            "allocator",
            "string",
            "istream",
            "ostream",
            "iostream",
        ];
        let plain = |part: &str| {
            !part.is_empty()
                && !ABBREVIATED.contains(&part.trim_start_matches("basic_"))
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let path = path.trim_start_matches("::");
        let path = path.strip_prefix("crate::").unwrap_or(path);
        let path = path.strip_prefix("self::").unwrap_or(path);
        let parts = path.split("::");
        WrittenParts(match parts.clone().all(plain) {
            true => parts
                .map(|part| memchr::memmem::Finder::new(part.as_bytes()))
                .collect(),
            false => Vec::new(),
        })
    }

    fn all_in(&self, symbol: &[u8]) -> bool {
        self.0.iter().all(|part| part.find(symbol).is_some())
    }
}

fn is_mangled(name: &[u8]) -> bool {
    name.starts_with(b"_Z") || name.starts_with(b"_R")
}

/// The functions of the symbol table that match, without those at a `known` address, which DWARF has.
pub(crate) fn symbol_functions(
    decoded: &Decoded<'_>,
    pattern: &NamePattern,
    known: &FxHashSet<u64>,
) -> Vec<FoundFunction> {
    let base = pattern.base();
    // Mangled names contain plain identifiers literally.
    let plain = !base.is_empty()
        && base
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !pattern.has_glob_base();
    let is_code = |address| decoded.files().main.elf.is_code(address);
    let mut found: Vec<FoundFunction> = Vec::new();
    let symbols: Vec<FunctionSymbol<'_>> = match plain {
        true => decoded.symbols().functions_with(base.as_bytes()),
        false => decoded.symbols().functions().collect(),
    };
    let written = WrittenParts::of(pattern.text());
    for function in symbols {
        let FunctionSymbol { name, address, .. } = function;
        if known.contains(&address) || !is_code(address) || !written.all_in(name) {
            continue;
        }
        let symbol = String::from_utf8_lossy(name);
        let path = demangle_path(&symbol);
        let linkage = *symbol == *pattern.text();
        // Lambdas differ by their parameters, which the path doesn't contain.
        let is_lambda = || path.contains("{lambda") && pattern.matches(&demangle(&symbol));
        if !linkage && !pattern.matches(&path) && !is_lambda() {
            continue;
        }
        let full = demangle(&symbol);
        let parameters = parameters_behind(&path, &full);
        if !linkage
            && !parameters
                .as_deref()
                .is_none_or(|list| pattern.takes_parameters(list))
        {
            continue;
        }
        // The symbol is an alias of the same function.
        if found
            .last()
            .is_some_and(|last| last.entry.0 == address && last.name == path)
        {
            continue;
        }
        found.push(at_symbol(decoded, &function, path, &full, parameters));
    }
    found
}

/// The function at a symbol. `path` is the demangled name without parameters, `full` the complete one.
fn at_symbol(
    decoded: &Decoded<'_>,
    symbol: &FunctionSymbol<'_>,
    path: String,
    full: &str,
    parameters: Option<String>,
) -> FoundFunction {
    let (address, size) = (symbol.address, symbol.size);
    let name = String::from_utf8_lossy(symbol.name);
    let language = match &*name {
        _ if path == *name => Language::Other,
        name if name.starts_with("_R") || !full.ends_with([')', ']']) => Language::Rust,
        _ => Language::Cpp,
    };
    let end = address.checked_add(size).filter(|_| size > 0);
    FoundFunction {
        short_name: short_name(&path),
        name: path,
        parameters,
        linkage_name: Some(name.into_owned()),
        language,
        declaration: None,
        instance: Instance::Symbol,
        entry: FileAddress(address),
        breakpoint: FileAddress(decoded.dwarf().after_prologue(address)),
        ranges: end
            .map(|end| FileAddress(address)..FileAddress(end))
            .into_iter()
            .collect(),
        indirect: symbol.indirect,
        future: None,
    }
}

/// The parameters that follow the path in a demangled name.
fn parameters_behind(path: &str, full: &str) -> Option<String> {
    let rest = full.strip_prefix(path)?;
    let (parameters, _) = rest.strip_prefix('(')?.rsplit_once(')')?;
    Some(parameters.to_owned())
}
