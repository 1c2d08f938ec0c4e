//! Compares every line row, function and inlined call of the fixtures with the output of LLVM's tools.
//!
//! The fixtures are compiled in all ways of [`VARIANTS`]. For each program, the tests look up everything that the tools print, and check
//! that Dapple has nothing that the tools don't have.

#[path = "../support/mod.rs"]
mod support;

mod entries;
mod llvm;
mod rows;

use dapple_symbols::lines::LineRow;
use dapple_symbols::module::demangle;
use dapple_symbols::{FileAddress, Module};
use entries::{Entries, Entry, Place};
use rows::{Row, Sequence};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use support::{Fixture, clang, compile, compile_by};

/// A way of compiling: the compilers' flags.
struct Variant {
    name: &'static str,
    gcc: &'static [&'static str],
    rustc: &'static [&'static str],
}

const VARIANTS: [Variant; 5] = [
    Variant {
        name: "DWARF 4, -O0",
        gcc: &["-gdwarf-4", "-O0"],
        rustc: &["-Cdwarf-version=4"],
    },
    Variant {
        name: "DWARF 4, -O2",
        gcc: &["-gdwarf-4", "-O2"],
        rustc: &["-Cdwarf-version=4", "-Copt-level=2"],
    },
    Variant {
        name: "DWARF 5, -O0",
        gcc: &["-gdwarf-5", "-O0"],
        rustc: &["-Cdwarf-version=5"],
    },
    Variant {
        name: "DWARF 5, -O2",
        gcc: &["-gdwarf-5", "-O2"],
        rustc: &["-Cdwarf-version=5", "-Copt-level=2"],
    },
    Variant {
        name: "DWARF 5, -O2, compressed, a section for each function",
        gcc: &[
            "-gdwarf-5",
            "-O2",
            "-gz",
            "-ffunction-sections",
            "-Wl,--gc-sections",
        ],
        rustc: &[
            "-Cdwarf-version=5",
            "-Copt-level=2",
            "-Clink-arg=-Wl,--compress-debug-sections=zlib",
        ],
    },
];

/// Variants for clang only.
const OF_CLANG: [Variant; 2] = [
    Variant {
        name: "DWARF 5, -O1, type units, .debug_names",
        gcc: &["-gdwarf-5", "-O1", "-fdebug-types-section", "-gpubnames"],
        rustc: &[],
    },
    Variant {
        name: "DWARF 5, -O2, a section for each basic block",
        gcc: &["-gdwarf-5", "-O2", "-fbasic-block-sections=all"],
        rustc: &[],
    },
];

/// Link-time optimization: units refer to each other's entries.
const LINK_TIME: [Variant; 2] = [
    Variant {
        name: "DWARF 4, -O2, link-time optimisation",
        gcc: &["-gdwarf-4", "-O2", "-flto"],
        rustc: &[],
    },
    Variant {
        name: "DWARF 5, -O2, link-time optimisation",
        gcc: &["-gdwarf-5", "-O2", "-flto"],
        rustc: &[],
    },
];

/// Split DWARF. `llvm-dwarfdump` can't resolve the addresses of such entries, because these are in the program, so only the output of
/// `llvm-symbolizer` is compared.
const SPLIT: [Variant; 2] = [
    Variant {
        name: "DWARF 4, -O2, split",
        gcc: &["-gdwarf-4", "-O2", "-gsplit-dwarf"],
        rustc: &[],
    },
    Variant {
        name: "DWARF 5, -O2, split",
        gcc: &["-gdwarf-5", "-O2", "-gsplit-dwarf"],
        rustc: &[],
    },
];

/// The flags of gcc that clang doesn't know make no difference here.
fn build_by_clang(clang: &str, name: &str, variant: &Variant) -> Fixture {
    let flags = [variant.gcc, &["-w"]].concat();
    compile_by(clang, name, &text_of(name), &flags)
}

fn text_of(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Compiles a fixture of the repository.
fn build(name: &str, variant: &Variant) -> Fixture {
    // Links the Rust standard library dynamically, so that only the program's own code is compared.
    let rust = ["-g", "--edition=2024", "-Cprefer-dynamic"];
    let flags: Vec<&str> = match name.ends_with(".rs") {
        true => rust.iter().chain(variant.rustc).copied().collect(),
        false => variant.gcc.to_vec(),
    };
    compile(name, &text_of(name), &flags)
}

/// A program, and the output of LLVM's tools for it.
struct Compared {
    /// The name in messages.
    name: String,
    fixture: Fixture,
    module: Module,
    entries: Entries,
    sequences: Vec<Sequence>,
    /// The code of rows to which Dapple gives another line on purpose.
    corrected: Vec<Range<u64>>,
    failures: RefCell<Vec<String>>,
}

impl Compared {
    fn new(name: &str, variant: &Variant) -> Compared {
        let full = format!("{name}, {}", variant.name);
        Compared::corrected(full, name, variant, build(name, variant))
    }

    fn corrected(full: String, name: &str, variant: &Variant, fixture: Fixture) -> Compared {
        let mut compared = Compared::of(full, fixture);
        if name.ends_with(".cpp") && variant.gcc.contains(&"-O0") {
            compared.take_corrections();
        }
        if name.ends_with(".rs") {
            compared.take_constants();
        }
        compared
    }

    /// Without optimization, g++ gives parts of a statement the line of the function's closing brace, or of a lambda's opening brace.
    /// Dapple gives them the line of the statement, which follows. Replaces LLVM's rows by these corrections, and only by these.
    fn take_corrections(&mut self) {
        /// The most rows between such a part and the statement's row.
        const FURTHEST: usize = 12;
        let everywhere = FileAddress(0)..FileAddress(u64::MAX);
        let ours: Vec<Row> = self.module.rows_in(everywhere).iter().map(row).collect();
        let place = |row: &Row| (row.file.clone(), row.line, row.column);
        let mut number = 0;
        for sequence in &mut self.sequences {
            for index in 0..sequence.rows.len() {
                let (Some(ours), theirs) = (ours.get(number), &sequence.rows[index]) else {
                    return;
                };
                number += 1;
                let like_ours = Row {
                    file: ours.file.clone(),
                    line: ours.line,
                    column: ours.column,
                    ..theirs.clone()
                };
                let following = sequence.rows[index + 1..].iter().take(FURTHEST);
                let follows = following.map(place).any(|later| later == place(ours));
                if theirs != ours && like_ours == *ours && follows {
                    self.corrected.push(ours.address..ours.end);
                    sequence.rows[index] = like_ours;
                }
            }
        }
    }

    /// Without optimization, rustc stores constants at the start of a function, under the lines where they are written. Dapple counts them
    /// as prologue. Replaces LLVM's rows at a prologue's end by these corrections, and only by these.
    fn take_constants(&mut self) {
        /// The most rows of one function.
        const FURTHEST: usize = 32;
        let everywhere = FileAddress(0)..FileAddress(u64::MAX);
        let ours: Vec<Row> = self.module.rows_in(everywhere).iter().map(row).collect();
        let mut ours = ours.windows(2);
        let mut prologue_left = 0;
        for theirs in self
            .sequences
            .iter_mut()
            .flat_map(|one| &mut one.rows)
            .skip(1)
        {
            let Some([before, ours]) = ours.next() else {
                return;
            };
            prologue_left = match theirs.prologue_end {
                true => FURTHEST,
                false => usize::saturating_sub(prologue_left, 1),
            };
            let like_prologue = Row {
                file: before.file.clone(),
                line: before.line,
                column: before.column,
                is_stmt: false,
                prologue_end: false,
                ..theirs.clone()
            };
            let like_body = Row {
                prologue_end: true,
                ..theirs.clone()
            };
            if prologue_left > 0 && like_prologue == *ours {
                self.corrected.push(ours.address..ours.end);
                *theirs = like_prologue;
            } else if self
                .corrected
                .last()
                .is_some_and(|last| last.end == ours.address)
                && like_body == *ours
            {
                *theirs = like_body;
            }
        }
    }

    fn of(name: String, fixture: Fixture) -> Compared {
        let module = fixture.open();
        let entries = Entries::parse(&llvm::dump(&fixture.binary, "--debug-info"));
        let lines = llvm::dump(&fixture.binary, "--debug-line");
        let mut sequences = rows::parse(&lines, &entries);
        // Sequences that the linker dropped start at 0 or at another address without code.
        sequences.retain(|sequence| {
            sequence.range.start < sequence.range.end && is_code(&module, sequence.range.start)
        });
        Compared {
            name,
            fixture,
            module,
            entries,
            sequences,
            corrected: Vec::new(),
            failures: RefCell::default(),
        }
    }

    fn report(&self, what: &str, compared: usize, least: usize, differences: &[String]) {
        let mut failures = self.failures.borrow_mut();
        if !differences.is_empty() {
            let shown = differences[..differences.len().min(8)].join("\n  ");
            let (name, count) = (&self.name, differences.len());
            failures.push(format!(
                "{name}: {count} of {compared} {what} differ:\n  {shown}"
            ));
        }
        if compared < least {
            failures.push(format!(
                "{}: only {compared} {what} were compared",
                self.name
            ));
        }
    }

    fn compare_rows(&self) {
        let everywhere = FileAddress(0)..FileAddress(u64::MAX);
        let ours: Vec<Row> = self.module.rows_in(everywhere).iter().map(row).collect();
        let all = self.sequences.iter().flat_map(|sequence| &sequence.rows);
        let theirs: Vec<Row> = all.cloned().collect();
        let mut differences: Vec<String> = ours
            .iter()
            .zip(&theirs)
            .filter(|(ours, theirs)| ours != theirs)
            .map(|(ours, theirs)| format!("ours: {ours:?}, theirs: {theirs:?}"))
            .collect();
        if ours.len() != theirs.len() {
            differences.push(format!("we have {}, they {}", ours.len(), theirs.len()));
        }
        self.report("line rows", theirs.len(), 15, &differences);
    }

    /// The addresses where answers can change: the borders of rows, units, functions and inlined calls, and the bytes on both sides.
    /// Between two borders all bytes have the same answer, so these stand for every instruction.
    fn borders(&self) -> Vec<u64> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let tags = ["subprogram", "inlined_subroutine"].into_iter();
        let units: Vec<&Entry> = self.entries.units().collect();
        let inside = tags.map(|tag| self.entries.tagged(tag).collect());
        for entries in std::iter::once(units).chain(inside) {
            let entries = entries.into_iter();
            ranges.extend(entries.flat_map(|entry| code_only(&self.module, entry.ranges())));
        }
        let rows = self.sequences.iter().flat_map(|sequence| &sequence.rows);
        ranges.extend(rows.map(|row| row.address..row.end));
        let mut addresses: Vec<u64> = ranges
            .into_iter()
            .flat_map(|range| [range.start, range.end])
            .flat_map(|border| [border - 1, border, border + 1])
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    /// Compares the row of each address with a walk over all rows. Line tables extend over the padding between functions, so only the code
    /// that units claim counts (DWARF 5 §2.17).
    fn compare_row_look_ups(&self, addresses: &[u64]) {
        let units = self.entries.units();
        let mut claimed: Vec<Range<u64>> = units.flat_map(Entry::ranges).collect();
        claimed.sort_by_key(|range| range.start);
        let mut differences = Vec::new();
        for &address in addresses {
            let ours = self.module.row_at(FileAddress(address)).as_ref().map(row);
            let theirs = claimed
                .iter()
                .any(|range| range.contains(&address))
                .then(|| rows::row_at(&self.sequences, address))
                .flatten();
            if ours != theirs {
                differences.push(format!("{address:#x}: {ours:?}, a walk: {theirs:?}"));
            }
        }
        self.report("rows looked up", addresses.len(), 40, &differences);
    }

    fn compare_functions(&self) {
        let mut differences = Vec::new();
        let mut entries = BTreeSet::new();
        for entry in self.entries.tagged("subprogram") {
            let ranges = code_only(&self.module, entry.ranges());
            let Some(first) = ranges.first().cloned() else {
                continue;
            };
            entries.insert(first.start);
            let Some(ours) = self.module.function_at(FileAddress(first.start)) else {
                differences.push(format!("we have no function at {:#x}", first.start));
                continue;
            };
            let linkage = self.entries.linkage_name(entry);
            let mut name = full_name(&self.entries, entry);
            // clang's thunks have only a linkage name.
            if let (true, Some(linkage)) = (name.is_empty(), &linkage) {
                name = demangle(linkage);
            }
            let ours_ranges: Vec<Range<u64>> = ours.ranges.iter().map(plain).collect();
            let same = ours_ranges == ranges
                && ours.entry.0 == first.start
                && ours.linkage_name == linkage
                && ours.name == name;
            if !same {
                differences.push(format!(
                    "ours: {ours:?}, theirs: {name} {linkage:?} {ranges:x?}"
                ));
            }
        }
        // Dapple has no other functions: every byte of code is in one of LLVM's.
        for sequence in &self.sequences {
            for row in &sequence.rows {
                if let Some(ours) = self.module.function_at(FileAddress(row.address))
                    && !entries.contains(&ours.entry.0)
                {
                    differences.push(format!("they have no function {ours:?}"));
                }
            }
        }
        self.report("functions", entries.len(), 1, &differences);
    }

    /// Compares every inlined call that has code: its ranges and its call site.
    fn compare_inlined_calls(&self) -> usize {
        type Call = (Vec<(u64, u64)>, String, Option<Place>);
        let mut ours: BTreeSet<Call> = BTreeSet::new();
        let mut theirs: BTreeSet<Call> = BTreeSet::new();
        let pairs = |ranges: Vec<Range<u64>>| -> Vec<(u64, u64)> {
            ranges
                .iter()
                .map(|range| (range.start, range.end))
                .collect()
        };
        for entry in self.entries.tagged("subprogram") {
            for range in code_only(&self.module, entry.ranges()) {
                let range = FileAddress(range.start)..FileAddress(range.end);
                for call in self.module.inlined_in(range) {
                    let site = call.call_site.map(|site| {
                        let file = site.file.to_path_buf();
                        (file, site.line, site.column)
                    });
                    let ranges = pairs(call.ranges.iter().map(plain).collect());
                    ours.insert((ranges, call.name, site));
                }
            }
        }
        for entry in self.entries.tagged("inlined_subroutine") {
            let ranges = code_only(&self.module, entry.ranges());
            if !ranges.is_empty() {
                let name = full_name(&self.entries, entry);
                theirs.insert((pairs(ranges), name, entry.call_site()));
            }
        }
        let differences: Vec<String> = ours
            .symmetric_difference(&theirs)
            .map(|call| match ours.contains(call) {
                true => format!("only we have {call:x?}"),
                false => format!("only they have {call:x?}"),
            })
            .collect();
        self.report("inlined calls", theirs.len(), 0, &differences);
        theirs.len()
    }

    /// Compares the stack of inlined calls, with names and places.
    fn compare_frames(&self, addresses: &[u64]) {
        let known = |address: &u64| self.module.function_at(FileAddress(*address)).is_some();
        let addresses: Vec<u64> = addresses.iter().copied().filter(known).collect();
        let theirs = llvm::symbolize(&self.fixture.binary, &addresses);
        let mut differences = Vec::new();
        for (&address, theirs) in addresses.iter().zip(&theirs) {
            let ours = frames(&self.module, address);
            if !self.same_frames(address, &ours, theirs) {
                differences.push(format!("{address:#x}: {ours:?}, theirs: {theirs:?}"));
            }
        }
        self.report("addresses", addresses.len(), 30, &differences);
    }

    fn same_frames(&self, address: u64, ours: &[OurFrame], theirs: &[llvm::Frame]) -> bool {
        let places = |(level, (ours, theirs)): (usize, (&OurFrame, &llvm::Frame))| {
            let same = ours.place == (theirs.file.clone(), theirs.line, theirs.column);
            let name = is_name(&ours.name, &theirs.name, &theirs.linkage);
            name && (same || (level == 0 && self.is_statement_shown(address, &ours.place)))
        };
        ours.len() == theirs.len() && ours.iter().zip(theirs).enumerate().all(places)
    }

    /// Of several rows at an address, the symbolizer takes the last. So does Dapple, unless the last is no statement and another one is
    /// (DWARF 5 §6.2.2, `is_stmt`): gcc's -O2 writes such lists, and users expect the statement.
    fn is_statement_shown(&self, address: u64, ours: &Place) -> bool {
        if self.corrected.iter().any(|code| code.contains(&address)) {
            return true;
        }
        let walked = rows::row_at(&self.sequences, address);
        walked.is_some_and(|row| {
            row.is_stmt && row.address <= address && (row.file, row.line, row.column) == *ours
        })
    }
}

fn is_code(module: &Module, address: u64) -> bool {
    let within = |start: u64, size: u64| address >= start && address - start < size;
    let mut segments = module.segments().iter();
    segments.any(|segment| segment.executable && within(segment.address.0, segment.size))
}

/// The ranges without those that the linker dropped.
fn code_only(module: &Module, ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let ranges = ranges.into_iter();
    ranges
        .filter(|range| is_code(module, range.start))
        .collect()
}

fn plain(range: &Range<FileAddress>) -> Range<u64> {
    range.start.0..range.end.0
}

fn row(row: &LineRow) -> Row {
    Row {
        address: row.range.start.0,
        end: row.range.end.0,
        file: row.file.to_path_buf(),
        line: row.line,
        column: row.column,
        is_stmt: row.is_stmt,
        prologue_end: row.prologue_end,
    }
}

/// One of Dapple's frames, in the form of the symbolizer.
#[derive(Debug)]
struct OurFrame {
    name: String,
    place: Place,
}

/// The frames of an address, from the innermost outwards.
fn frames(module: &Module, address: u64) -> Vec<OurFrame> {
    let address = FileAddress(address);
    let row = module.row_at(address);
    let mut place = row.map_or_else(Place::default, |row| {
        (row.file.to_path_buf(), row.line, row.column)
    });
    let mut frames = Vec::new();
    for call in module.inlined_at(address).into_iter().rev() {
        let site = call.call_site.map_or_else(Place::default, |site| {
            (site.file.to_path_buf(), site.line, site.column)
        });
        let place = std::mem::replace(&mut place, site);
        frames.push(OurFrame {
            name: call.name,
            place,
        });
    }
    let function = module.function_at(address);
    frames.push(OurFrame {
        name: function.map_or_else(String::new, |function| function.name.clone()),
        place,
    });
    frames
}

/// The name that Dapple must give. In Rust, the namespace of an implementation is a number, so there the name is the demangled linkage
/// name, but with the closures at its end as in the debug information.
fn full_name(entries: &Entries, entry: &Entry) -> String {
    let name = entries.qualified_name(entry).unwrap_or_default();
    match entries.linkage_name(entry) {
        Some(linkage) if name.contains("{impl#") => with_closures_of(&demangle(&linkage), &name),
        _ => name,
    }
}

/// The demangled name, with `{{closure}}` at its end replaced by what the qualified name has there: `{closure#0}`, `{async_fn#0}`.
fn with_closures_of(demangled: &str, qualified: &str) -> String {
    let mut function = demangled;
    let mut count = 0;
    while let Some((outer, "{{closure}}")) = function.rsplit_once("::") {
        function = outer;
        count += 1;
    }
    let mut depth = 0;
    let outside: String = qualified
        .replace("->", "")
        .chars()
        .filter(|character| {
            depth += i32::from(*character == '<');
            let is_outside = depth == 0;
            depth -= i32::from(*character == '>');
            is_outside
        })
        .collect();
    let closures: Vec<&str> = outside.rsplit("::").take(count).collect();
    let closures = closures.into_iter().rev();
    let names: Vec<&str> = std::iter::once(function).chain(closures).collect();
    names.join("::")
}

/// Whether Dapple's full name fits the entry's short name and its linkage name.
fn is_name(ours: &str, short: &str, linkage: &str) -> bool {
    let namespace = ours.strip_suffix(short);
    let is_end = |namespace: &str| namespace.is_empty() || namespace.ends_with("::");
    let demangled = demangle(linkage);
    // Closures at the end have the debug information's names.
    let is_closure = |part: &&str| part.starts_with('{');
    let function = |name: &str| -> Vec<String> {
        let parts = name.rsplit("::").skip_while(is_closure);
        parts.map(str::to_owned).collect()
    };
    let closures = |name: &str| name.rsplit("::").take_while(is_closure).count();
    let innermost = short.split_inclusive('}').next().unwrap_or_default();
    let is_closure = closures(ours) > 0
        && closures(ours) == closures(&demangled)
        && function(ours) == function(&demangled)
        && ours.ends_with(innermost);
    namespace.is_some_and(is_end) || ours == demangled || is_closure
}

fn compare_all(names: &[&str]) {
    compare_built(names, &VARIANTS, Compared::new);
}

fn compare_built(names: &[&str], variants: &[Variant], build: impl Fn(&str, &Variant) -> Compared) {
    let mut inlined = 0;
    let mut failures = Vec::new();
    for variant in variants {
        for name in names {
            let compared = build(name, variant);
            compared.compare_rows();
            let borders = compared.borders();
            compared.compare_row_look_ups(&borders);
            compared.compare_functions();
            inlined += compared.compare_inlined_calls();
            compared.compare_frames(&borders);
            let warnings = compared.module.warnings();
            assert!(warnings.is_empty(), "{}: {warnings:?}", compared.name);
            failures.extend(compared.failures.into_inner());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(inlined >= 20, "only {inlined} inlined calls were compared");
}

#[test]
fn split_programs_are_read_as_llvm_reads_them() {
    compare_split(Compared::new);
}

fn compare_split(build: impl Fn(&str, &Variant) -> Compared) {
    let mut failures = Vec::new();
    for variant in &SPLIT {
        for name in ["step.c", "tour.c", "inline.cpp", "values.cpp"] {
            let compared = build(name, variant);
            assert_eq!(
                compared.entries.tagged("subprogram").count(),
                0,
                "not split"
            );
            let borders = compared.borders();
            compared.compare_rows();
            compared.compare_row_look_ups(&borders);
            compared.compare_frames(&borders);
            let warnings = compared.module.warnings();
            assert!(warnings.is_empty(), "{}: {warnings:?}", compared.name);
            failures.extend(compared.failures.into_inner());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn c_programs_are_read_as_llvm_reads_them() {
    compare_all(&[
        "step.c",
        "values.c",
        "recursion.c",
        "threads.c",
        "tour.c",
        "signals.c",
        "optimised.c",
    ]);
}

#[test]
fn cpp_programs_are_read_as_llvm_reads_them() {
    compare_all(&["inline.cpp", "step.cpp", "values.cpp", "tour.cpp"]);
}

#[test]
fn programs_optimised_by_the_linker_are_read_as_llvm_reads_them() {
    let names = [
        "step.c",
        "values.c",
        "tour.c",
        "inline.cpp",
        "values.cpp",
        "tour.cpp",
    ];
    compare_built(&names, &LINK_TIME, Compared::new);
}

#[test]
fn what_clang_compiles_is_read_as_llvm_reads_it() {
    if clang("").is_none() {
        return println!("there is no clang here");
    }
    let by_clang = |name: &str, variant: &Variant| {
        let clang = clang(name).expect("clang for C++, too");
        let fixture = build_by_clang(&clang, name, variant);
        Compared::of(format!("{name}, clang, {}", variant.name), fixture)
    };
    let c = [
        "step.c",
        "values.c",
        "recursion.c",
        "threads.c",
        "tour.c",
        "signals.c",
        "optimised.c",
    ];
    compare_built(&c, &VARIANTS, by_clang);
    let cpp = ["inline.cpp", "step.cpp", "values.cpp", "tour.cpp"];
    compare_built(&cpp, &VARIANTS, by_clang);
    compare_built(&cpp, &OF_CLANG, by_clang);
    compare_split(by_clang);
}

#[test]
fn rust_programs_are_read_as_llvm_reads_them() {
    compare_all(&["inline.rs", "step.rs", "values.rs", "tour.rs"]);
}

/// Those of gcc's default instruction set, Thumb, and of A32.
#[test]
fn programs_for_arm_are_read_as_llvm_reads_them() {
    let runs = std::process::Command::new("arm-linux-gnueabihf-g++")
        .arg("--version")
        .output();
    if !runs.is_ok_and(|output| output.status.success()) {
        return println!("there is no g++ for Arm here");
    }
    for set in ["-mthumb", "-marm"] {
        let by_gcc = |name: &str, variant: &Variant| {
            let compiler = match name.ends_with(".cpp") {
                true => "arm-linux-gnueabihf-g++",
                false => "arm-linux-gnueabihf-gcc",
            };
            let flags = [variant.gcc, &[set]].concat();
            let fixture = compile_by(compiler, name, &text_of(name), &flags);
            let full = format!("{name}, {set}, {}", variant.name);
            Compared::corrected(full, name, variant, fixture)
        };
        let variants = &VARIANTS[1..3];
        let names = ["step.c", "tour.c", "inline.cpp", "tour.cpp"];
        compare_built(&names, variants, by_gcc);
    }
}
