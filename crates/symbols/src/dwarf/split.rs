//! Split DWARF (DWARF 5 §7.3.2, and GNU's version for DWARF 4): a unit's entries are in a separate file.
//!
//! A program linked from `-gsplit-dwarf` objects has a skeleton unit for each unit, with addresses, lines and the name of a `.dwo` file.
//! That file, or the package that contains all split units (`.dwp`, beside the program or its separate debug file), is opened when the
//! unit's entries are first needed, and used if it has a unit with the skeleton's id. The opened file is not linked: the addresses in it
//! are indices into the program's `.debug_addr`.

use crate::companions::{Companion, Outcome};
use crate::dwarf::{Origin, Part, Reader, Source, bytes_path, place, read_unit_headers};
use crate::files::{ElfFile, Files};
use crate::paths::join;
use gimli::{DwoId, EndianSlice, LittleEndian, SectionId, constants as dw};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The state that a module's skeleton units share.
pub(crate) struct SplitFiles<'a> {
    files: &'a Files,
    package: OnceLock<Option<Package<'a>>>,
}

/// A `.dwp` file.
struct Package<'a> {
    path: &'a Path,
    units: gimli::DwarfPackage<Reader<'a>>,
}

/// A `.dwo` file. It has type units of its own for the types that it uses.
pub(crate) struct SplitObject<'a> {
    pub source: Arc<Source<'a>>,
    /// By signature: the number of the type unit, and the offset of the type in it.
    pub types: OnceLock<FxHashMap<u64, (u32, usize)>>,
}

/// The split unit that a skeleton unit refers to.
pub(crate) struct SplitUnit<'a> {
    shared: Arc<SplitFiles<'a>>,
    name: PathBuf,
    part: OnceLock<Option<Part<'a>>>,
}

impl<'a> SplitFiles<'a> {
    pub fn new(files: &'a Files) -> SplitFiles<'a> {
        SplitFiles {
            files,
            package: OnceLock::new(),
        }
    }

    /// The module's package, if it has one; opened on first use.
    fn package(&self) -> Option<&Package<'a>> {
        let open = || {
            let mut paths = vec![&self.files.main.elf.path];
            paths.extend(self.files.debug.as_ref().map(|debug| &debug.elf.path));
            paths.into_iter().find_map(|program| {
                let mut path = program.clone().into_os_string();
                path.push(".dwp");
                let path = PathBuf::from(path);
                match self.open_package(&path) {
                    Ok(package) => {
                        self.files.note(Companion::Package, &path, Outcome::Found);
                        Some(package)
                    }
                    Err(outcome) => {
                        self.files.note(Companion::Package, &path, outcome);
                        None
                    }
                }
            })
        };
        self.package.get_or_init(open).as_ref()
    }

    fn open_package(&self, path: &Path) -> Result<Package<'a>, Outcome> {
        let file = self.files.open(path)?;
        let load = |id: SectionId| -> Result<Reader<'a>, gimli::Error> {
            Ok(self.section(file, id.dwo_name()))
        };
        let empty = EndianSlice::new(&[], LittleEndian);
        let units = gimli::DwarfPackage::load(load, empty)
            .map_err(|error| Outcome::Unusable(format!("its index is broken: {error}")))?;
        Ok(Package {
            path: &file.elf.path,
            units,
        })
    }

    /// The package's sections for the type unit with this signature.
    pub fn package_type(&self, signature: u64, parent: &Source<'a>) -> Option<Arc<Source<'a>>> {
        let package = self.package()?;
        let signature = gimli::DebugTypeSignature(signature);
        let sections = package.units.find_tu(signature, &parent.sections);
        Some(Arc::new(Source::new(sections.ok()??, package.path)))
    }

    fn section(&self, file: &'a ElfFile, name: Option<&'static str>) -> Reader<'a> {
        let data = name.map_or(&[][..], |name| self.files.companion_section(file, name));
        EndianSlice::new(data, LittleEndian)
    }

    /// The unit with this id in the package.
    fn packaged(&self, package: &Package<'a>, own: &Part<'a>, id: DwoId) -> Option<Part<'a>> {
        let sections = package.units.find_cu(id, &own.source.sections).ok()??;
        let source = Arc::new(Source::new(sections, package.path));
        self.unit_of_id(source, Origin::Package, own, id).ok()
    }

    /// The unit with this id in a `.dwo` file.
    fn object(&self, path: &Path, own: &Part<'a>, id: DwoId) -> Result<Part<'a>, Outcome> {
        let file = self.files.open(path)?;
        let load = |id: SectionId| -> Result<Reader<'a>, gimli::Error> {
            Ok(self.section(file, id.dwo_name()))
        };
        let mut sections =
            gimli::Dwarf::load(load).map_err(|error| Outcome::Unusable(error.to_string()))?;
        sections.make_dwo(&own.source.sections);
        let source = Arc::new(Source::new(sections, &file.elf.path));
        let object = SplitObject {
            source: source.clone(),
            types: OnceLock::new(),
        };
        self.unit_of_id(source, Origin::SplitObject(Arc::new(object)), own, id)
    }

    fn unit_of_id(
        &self,
        source: Arc<Source<'a>>,
        origin: Origin<'a>,
        own: &Part<'a>,
        id: DwoId,
    ) -> Result<Part<'a>, Outcome> {
        let mut other = None;
        for header in read_unit_headers(self.files, &source) {
            // Skip type units, which are found by their signatures.
            if matches!(
                header.type_(),
                gimli::UnitType::Type { .. } | gimli::UnitType::SplitType { .. }
            ) {
                continue;
            }
            let mut part = match Part::read(header, source.clone(), origin.clone()) {
                Ok(part) => part,
                Err(error) => {
                    let reason = format!("this unit is left out: {error}");
                    self.files.warn(source.error(&header, 0, reason));
                    continue;
                }
            };
            if part.dw.dwo_id == Some(id) {
                part.dw.copy_relocated_attributes(&own.dw);
                return Ok(part);
            }
            other = part.dw.dwo_id.or(other);
        }
        Err(match other {
            Some(other) => Outcome::Mismatched(format!(
                "of another build: its id is {:016x}, wanted is {:016x}",
                other.0, id.0
            )),
            None => Outcome::Unusable("it has no split unit".to_owned()),
        })
    }
}

impl<'a> SplitUnit<'a> {
    /// The split unit of a skeleton unit; `None` if `own` is not a skeleton unit.
    pub fn of(own: &Part<'a>, shared: &Arc<SplitFiles<'a>>) -> Option<SplitUnit<'a>> {
        let root = own.dw.entry(own.dw.header.root_offset()).ok()?;
        let name = [dw::DW_AT_dwo_name, dw::DW_AT_GNU_dwo_name]
            .iter()
            .find_map(|&name| root.attr_value(name))?;
        let name = own.source.sections.attr_string(&own.dw, name).ok()?;
        Some(SplitUnit {
            shared: shared.clone(),
            name: bytes_path(name.slice()).to_owned(),
            part: OnceLock::new(),
        })
    }

    /// The split unit, opened on first use; `None`, with a warning, if it can't be read.
    pub fn part(&self, own: &Part<'a>) -> Option<&Part<'a>> {
        self.part.get_or_init(|| self.open(own)).as_ref()
    }

    fn open(&self, own: &Part<'a>) -> Option<Part<'a>> {
        let files = self.shared.files;
        let (section, offset) = place(&own.dw.header);
        let warn = |reason: String| {
            files.warn(files.malformed(section, offset as u64, reason));
            None
        };
        let name = self.name.display();
        let Some(id) = own.dw.dwo_id else {
            return warn(format!(
                "the unit's debug information is in {name}, but its id is not said"
            ));
        };
        let package = self.shared.package();
        let packaged =
            package.and_then(|package| Some((package, self.shared.packaged(package, own, id)?)));
        if let Some((package, part)) = packaged {
            let what = Companion::SplitUnit(self.name.clone());
            files.note(what, package.path, Outcome::Found);
            return Some(part);
        }
        let mut looked = Vec::new();
        if let Some(package) = package {
            let what = Companion::SplitUnit(self.name.clone());
            let outcome = Outcome::Mismatched(format!("no unit with id {:016x}", id.0));
            looked.push(outcome.at(package.path));
            files.note(what, package.path, outcome);
        }
        for path in self.candidates(own) {
            let found = self.shared.object(&path, own, id);
            let what = Companion::SplitUnit(self.name.clone());
            match found {
                Ok(part) => {
                    files.note(what, &path, Outcome::Found);
                    return Some(part);
                }
                Err(outcome) => {
                    looked.push(outcome.at(&path));
                    files.note(what, &path, outcome);
                }
            }
        }
        warn(format!(
            "the unit's functions, variables and types are in {name}, which was looked for at {}",
            looked.join(", ")
        ))
    }

    /// The paths that the file may have: where the compiler put it, and beside the program, for files that were moved
    /// together.
    fn candidates(&self, own: &Part<'a>) -> Vec<PathBuf> {
        let directory = own
            .dw
            .comp_dir
            .map_or(Path::new(""), |directory| bytes_path(directory.slice()));
        let mut paths = vec![join(&[directory, &self.name])];
        let mut add = |path: PathBuf| {
            if !paths.contains(&path) {
                paths.push(path);
            }
        };
        if let Some(folder) = self.shared.files.main.elf.path.parent() {
            if self.name.is_relative() {
                add(join(&[folder, &self.name]));
            }
            if let Some(base) = self.name.file_name() {
                add(join(&[folder, Path::new(base)]));
            }
        }
        paths
    }
}
