//! The report about a file, in the format of `--json`. Fields may be added, but none is renamed or removed. Addresses are strings
//! (`"0x1139"`), because not every JSON reader keeps 64-bit numbers.

use std::collections::BTreeMap;
use std::path::Path;

use dapple_symbols::companions::{Companion, Outcome};
use dapple_symbols::functions::{Language, SourcePosition};
use dapple_symbols::module::{DebugInfo, ModuleKind};
use dapple_symbols::sources::{PathMap, Source, SourceStatus};
use dapple_symbols::{FileAddress, Module};
use serde::Serialize;

/// The whole report.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The file, as the user named it.
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<SourceFile>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
}

/// The file as a whole.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// `executable` (at fixed addresses), `pie` or `library`.
    pub kind: &'static str,
    /// The build id in hexadecimal digits.
    pub build_id: Option<String>,
    /// `dwarf`, `symbols` (a symbol table only) or `none`.
    pub debug_info: &'static str,
    /// The separate file with the debug information.
    pub debug_file: Option<String>,
    pub units: Vec<Units>,
    pub sections: Vec<SectionSize>,
    /// The separate files that were searched for.
    pub companions: Vec<CompanionFile>,
    pub source_files: usize,
    pub warnings: Vec<String>,
}

/// Compilation units with the same language, DWARF version and producer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Units {
    pub language: &'static str,
    /// The DWARF version.
    pub version: u16,
    pub producer: String,
    pub count: usize,
    /// How many of them are type units.
    pub type_units: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SectionSize {
    pub file: String,
    pub name: String,
    /// The size in the file, in bytes.
    pub size: u64,
    /// The uncompressed size of a compressed section, in bytes.
    pub inflated_size: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompanionFile {
    /// `debugFile`, `package`, `splitUnit`, `miniDebugInfo` or `supplementary`.
    pub kind: &'static str,
    pub path: String,
    /// `found`, `missing`, `mismatched` or `unusable`.
    pub outcome: &'static str,
    pub reason: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceFile {
    /// The path that the compiler recorded.
    pub path: String,
    /// The MD5 checksum in hexadecimal digits.
    pub checksum: Option<String>,
    /// The path at which the file was found on this machine, mapped or not.
    pub found: Option<String>,
    /// `same`, `changed`, `missing`, or `unknown` if the file exists and there is no checksum to compare.
    pub status: &'static str,
}

/// A query and its answer.
#[derive(Serialize)]
pub struct Lookup {
    pub query: String,
    #[serde(flatten)]
    pub answer: Answer,
}

#[derive(Serialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Answer {
    Address {
        address: String,
        section: Option<String>,
        symbol: Option<SymbolOffset>,
        /// The compilation unit's source file.
        unit: Option<String>,
        language: Option<&'static str>,
        /// Inlined calls, innermost first, and then the function.
        frames: Vec<Frame>,
    },
    Line {
        locations: Vec<Location>,
    },
    Name {
        functions: Vec<Function>,
        types: Vec<Type>,
        variables: Vec<Variable>,
    },
    NotFound {
        message: String,
        /// Similar names.
        similar: Vec<String>,
    },
}

#[derive(Serialize)]
pub struct SymbolOffset {
    pub name: String,
    pub offset: u64,
}

#[derive(Serialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

#[derive(Serialize)]
pub struct Frame {
    pub function: String,
    pub inlined: bool,
    pub place: Option<Place>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    pub address: String,
    /// The line with code: the requested one, or the next one in the same function. The column is the one at which the stop is.
    pub place: Place,
    /// The line at which a breakpoint at `address` stops. It differs from `place.line` if, for instance, a function begins on that line.
    pub stop_line: u32,
    pub function: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    pub name: String,
    pub full_name: String,
    /// The types of the parameters, for C and C++ only.
    pub parameters: Option<String>,
    pub linkage_name: Option<String>,
    pub language: &'static str,
    /// `function`, `inlined` or `symbol`.
    pub instance: &'static str,
    /// The function into which an inlined copy is inlined.
    pub inlined_into: Option<String>,
    pub entry: String,
    /// The address for a breakpoint: after the prologue, or the entry of an inlined copy.
    pub breakpoint: String,
    /// The source position of the breakpoint.
    pub place: Option<Place>,
    pub declaration: Option<Place>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Type {
    pub name: String,
    pub full_name: String,
    pub language: &'static str,
    pub size: Option<u64>,
    pub only_declared: bool,
    pub declaration: Option<Place>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    pub name: String,
    pub type_name: Option<String>,
    pub language: &'static str,
    /// `None` for thread-locals and constants.
    pub address: Option<String>,
    pub declaration: Option<Place>,
}

pub fn language(language: Language) -> &'static str {
    match language {
        Language::C => "C",
        Language::Cpp => "C++",
        Language::Rust => "Rust",
        Language::Other => "other",
    }
}

pub fn hex(address: FileAddress) -> String {
    format!("{:#x}", address.0)
}

pub fn text(path: &Path) -> String {
    path.display().to_string()
}

pub fn place(position: &SourcePosition) -> Place {
    Place {
        file: text(&position.file),
        line: position.line,
        column: position.column,
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Gathers the summary, for which it searches for all separate files and reads every unit's header and root entry.
pub fn summary(module: &Module) -> Summary {
    let companions = module.search_everything();
    let mut units: BTreeMap<(&str, u16, String), (usize, usize)> = BTreeMap::new();
    for unit in module.units() {
        let counts = units
            .entry((language(unit.language), unit.version, unit.producer))
            .or_default();
        counts.0 += 1;
        counts.1 += usize::from(unit.is_type_unit);
    }
    let units = units.into_iter();
    Summary {
        kind: match module.kind() {
            ModuleKind::FixedExecutable => "executable",
            ModuleKind::PositionIndependentExecutable => "pie",
            ModuleKind::SharedObject => "library",
        },
        build_id: module.build_id().map(digits),
        debug_info: match module.debug_info() {
            DebugInfo::Dwarf => "dwarf",
            DebugInfo::SymbolsOnly => "symbols",
            DebugInfo::Stripped => "none",
        },
        debug_file: module.debug_file().as_deref().map(text),
        units: units
            .map(
                |((language, version, producer), (count, type_units))| Units {
                    language,
                    version,
                    producer,
                    count,
                    type_units,
                },
            )
            .collect(),
        sections: module
            .debug_sections()
            .into_iter()
            .map(|section| SectionSize {
                file: text(&section.file),
                name: section.name,
                size: section.file_size,
                inflated_size: section.inflated_size,
            })
            .collect(),
        companions: companions
            .into_iter()
            .map(|search| {
                let (outcome, reason) = match search.outcome {
                    Outcome::Found => ("found", None),
                    Outcome::Mismatched(reason) => ("mismatched", Some(reason)),
                    Outcome::Unusable(reason) => ("unusable", Some(reason)),
                    _ => ("missing", None),
                };
                CompanionFile {
                    kind: match search.what {
                        Companion::SplitUnit(_) => "splitUnit",
                        Companion::Package => "package",
                        Companion::MiniDebugInfo => "miniDebugInfo",
                        Companion::Supplementary => "supplementary",
                        _ => "debugFile",
                    },
                    path: text(&search.path),
                    outcome,
                    reason,
                }
            })
            .collect(),
        source_files: module.sources().len(),
        warnings: module.warnings().iter().map(ToString::to_string).collect(),
    }
}

/// Finds each of a program's sources on this machine, and compares it by its checksum.
pub fn sources(sources: &[Source], map: &PathMap) -> Vec<SourceFile> {
    let check = |source: &Source| {
        let checked = source.check(map);
        SourceFile {
            path: text(&source.path),
            checksum: source.checksum.as_ref().map(|checksum| digits(checksum)),
            found: checked.found.as_deref().map(text),
            status: match checked.status {
                SourceStatus::Same => "same",
                SourceStatus::Changed => "changed",
                SourceStatus::Missing => "missing",
                SourceStatus::Unknown => "unknown",
            },
        }
    };
    sources.iter().map(check).collect()
}
