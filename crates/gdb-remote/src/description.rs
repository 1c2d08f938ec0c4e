//! Target descriptions: which registers a stub's threads have (gdb manual, appendix "Target Descriptions").
//!
//! [`read`] joins `target.xml` with the files that it includes, which a function brings. Their number, depth and size are bounded, and a file that
//! includes itself is an error. The order of registers in the packet `g` is that of their numbers, without gaps,
//! unless the description says `offset`, as lldb-server's do; there, registers may be parts of others.

mod types;

pub use types::{Field, Type, TypeKind};

use crate::error::{Error, Result};
use crate::xml::{self, Element};
use std::collections::BTreeMap;

/// The most files of a description.
const MAX_FILES: usize = 64;
/// The most files that include each other in a row.
const MAX_DEPTH: usize = 8;
/// The largest size of all files, in bytes.
pub(crate) const MAX_SIZE: usize = 4 << 20;
/// The most registers.
const MAX_REGISTERS: usize = 16_384;
/// The largest register, in bits.
const MAX_BITS: u64 = 65_536;
/// The most bytes of all registers.
const MAX_REGISTERS_SIZE: usize = 1 << 20;
/// The place of a register for which the description does not say it, until all registers are known.
const UNKNOWN: usize = usize::MAX;

/// What a stub says of its debuggee's registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The processor, by BFD's name: `i386:x86-64`, `aarch64`, `riscv:rv64`.
    pub architecture: Option<String>,
    /// The system, by gdb's name: `GNU/Linux`.
    pub osabi: Option<String>,
    /// Other architectures that the debuggee may switch to.
    pub compatible: Vec<String>,
    /// The features, in their order.
    pub features: Vec<Feature>,
    /// All registers, by rising number.
    pub registers: Vec<Register>,
}

/// A set of registers with a name that debuggers know, such as `org.gnu.gdb.i386.core`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feature {
    /// The name. Empty in descriptions of lldb-server.
    pub name: String,
    /// The types that its registers use.
    pub types: BTreeMap<String, Type>,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The name.
    pub name: String,
    /// The number in packets such as `p`.
    pub number: u64,
    /// The size in bits, 1 to 65536.
    pub bits: u64,
    /// Where the value begins in the packet `g`, in bytes: less than 4 GiB for each. Stubs may leave out registers at the end of that packet.
    pub offset: usize,
    /// The type's name: one of the feature's types, or a predefined one such as `int` (then by the size), `code_ptr`, `ieee_double`.
    pub type_name: String,
    /// The group: `general`, `float`, `vector` or another.
    pub group: Option<String>,
    /// Whether the value is to be kept across inferior calls.
    pub is_saved: bool,
    /// The index of its feature.
    pub feature: usize,
}

impl Register {
    /// How many bytes the value takes in packets.
    #[must_use]
    pub fn size(&self) -> usize {
        // At most 8 KiB.
        usize::try_from(self.bits.div_ceil(8)).unwrap_or_default()
    }

    /// The value's bytes in what the packet `g` has brought, in the debuggee's byte order. `None` if the packet is too short, or the stub doesn't
    /// know the value.
    #[must_use]
    pub fn value_in(&self, all: &[Option<u8>]) -> Option<Vec<u8>> {
        let end = self.offset.checked_add(self.size())?;
        all.get(self.offset..end)?.iter().copied().collect()
    }
}

impl Description {
    /// Finds a register by name.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.iter().find(|register| register.name == name)
    }

    /// The size of the packet `g` with all registers, in bytes of values.
    #[must_use]
    pub fn registers_size(&self) -> usize {
        let ends = self.registers.iter().map(|it| it.offset + it.size());
        ends.max().unwrap_or_default()
    }

    /// The type of a register, if its feature declares it.
    #[must_use]
    pub fn type_of(&self, register: &Register) -> Option<&Type> {
        self.features
            .get(register.feature)?
            .types
            .get(&register.type_name)
    }
}

/// Reads a description. `file` brings the files by name, `target.xml` first.
///
/// # Errors
///
/// [`Error::Document`] if a file is not what it has to be, or a limit is reached; else the errors of `file`.
pub fn read(mut file: impl FnMut(&str) -> Result<Vec<u8>>) -> Result<Description> {
    let mut reader = Reader {
        description: Description::default(),
        file: &mut file,
        files: 0,
        size: 0,
        next_number: 0,
    };
    let mut path = Vec::new();
    let root = reader.open("target.xml", &mut path)?;
    if root.name != "target" {
        return Err(broken(
            "target.xml",
            format!("its element is `{:.40}`", root.name),
        ));
    }
    for child in &root.children {
        reader.take("target.xml", child, &mut path)?;
    }
    let mut description = reader.description;
    place(&mut description)?;
    Ok(description)
}

fn broken(file: &str, reason: impl Into<String>) -> Error {
    Error::Document {
        document: format!("target description {file:.80}"),
        reason: reason.into(),
    }
}

/// Sorts the registers, and says where they are in the packet `g`.
fn place(description: &mut Description) -> Result<()> {
    description
        .registers
        .sort_by_key(|register| register.number);
    let mut offset = 0;
    let mut last = None;
    for register in &mut description.registers {
        if last == Some(register.number) {
            let reason = format!("two registers have the number {}", register.number);
            return Err(broken("target.xml", reason));
        }
        last = Some(register.number);
        if register.offset == UNKNOWN {
            register.offset = offset;
        }
        offset = register.offset + register.size();
        if offset > MAX_REGISTERS_SIZE {
            let reason = format!("the registers take more than {MAX_REGISTERS_SIZE} bytes");
            return Err(broken("target.xml", reason));
        }
    }
    Ok(())
}

struct Reader<'a> {
    description: Description,
    file: &'a mut dyn FnMut(&str) -> Result<Vec<u8>>,
    files: usize,
    size: usize,
    next_number: u64,
}

impl Reader<'_> {
    /// Reads a file. `path` has the names of the files that include it.
    fn open(&mut self, name: &str, path: &mut Vec<String>) -> Result<Element> {
        if path.iter().any(|outer| outer == name) {
            return Err(broken(name, "it includes itself"));
        }
        if path.len() == MAX_DEPTH {
            let reason = format!("more than {MAX_DEPTH} files include each other");
            return Err(broken(name, reason));
        }
        if self.files == MAX_FILES {
            return Err(broken(
                name,
                format!("there are more than {MAX_FILES} files"),
            ));
        }
        self.files += 1;
        let text = (self.file)(name)?;
        self.size = self.size.saturating_add(text.len());
        if self.size > MAX_SIZE {
            return Err(broken(
                name,
                format!("the files have more than {MAX_SIZE} bytes"),
            ));
        }
        let root = xml::parse(&text).map_err(|reason| broken(name, reason))?;
        path.push(name.to_owned());
        Ok(root)
    }

    /// Takes an element of a target.
    fn take(&mut self, file: &str, element: &Element, path: &mut Vec<String>) -> Result<()> {
        let text = || Some(element.text.trim().to_owned());
        match element.name.as_str() {
            "architecture" => self.description.architecture = text(),
            "osabi" => self.description.osabi = text(),
            "compatible" => self.description.compatible.extend(text()),
            "feature" => self.feature(file, element, path)?,
            // QEMU's files for ARM have further features in a `target` of their own.
            "include" => self.include(file, element, path, Reader::take_included)?,
            _ => {}
        }
        Ok(())
    }

    /// Takes the outermost element of a file that a target includes.
    fn take_included(&mut self, file: &str, root: &Element, path: &mut Vec<String>) -> Result<()> {
        match root.name.as_str() {
            "target" => root
                .children
                .iter()
                .try_for_each(|child| self.take(file, child, path)),
            _ => self.take(file, root, path),
        }
    }

    fn include(
        &mut self,
        file: &str,
        element: &Element,
        path: &mut Vec<String>,
        take: fn(&mut Self, &str, &Element, &mut Vec<String>) -> Result<()>,
    ) -> Result<()> {
        let name = element
            .need("href")
            .map_err(|reason| broken(file, reason))?;
        let root = self.open(name, path)?;
        take(self, name, &root, path)?;
        path.pop();
        Ok(())
    }

    fn feature(&mut self, file: &str, element: &Element, path: &mut Vec<String>) -> Result<()> {
        self.description.features.push(Feature {
            name: element.attribute("name").unwrap_or_default().to_owned(),
            types: BTreeMap::new(),
        });
        self.members(file, element, path)
    }

    /// Takes what is in a feature.
    fn members(&mut self, file: &str, element: &Element, path: &mut Vec<String>) -> Result<()> {
        for child in &element.children {
            match child.name.as_str() {
                "reg" => self
                    .register(child)
                    .map_err(|reason| broken(file, reason))?,
                "include" => self.include(file, child, path, Reader::members)?,
                _ => {
                    if let Some(feature) = self.description.features.last_mut() {
                        types::take(child, &mut feature.types)
                            .map_err(|reason| broken(file, reason))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn register(&mut self, element: &Element) -> std::result::Result<(), String> {
        let name = element.need("name")?;
        let number = element.number("regnum")?.unwrap_or(self.next_number);
        let bits = element.need_number("bitsize")?;
        if !(1..=MAX_BITS).contains(&bits) {
            return Err(format!("the register {name:.40?} has {bits} bits"));
        }
        if self.description.registers.len() == MAX_REGISTERS {
            return Err(format!("there are more than {MAX_REGISTERS} registers"));
        }
        let offset = match element.number("offset")? {
            Some(offset) => u32::try_from(offset)
                .map_err(|_| format!("the register {name:.40?} is at {offset}"))?
                as usize,
            None => UNKNOWN,
        };
        self.next_number = number
            .checked_add(1)
            .ok_or_else(|| format!("the register {name:.40?} has the number {number}"))?;
        self.description.registers.push(Register {
            name: name.to_owned(),
            number,
            bits,
            offset,
            type_name: element.attribute("type").unwrap_or("int").to_owned(),
            group: element.attribute("group").map(str::to_owned),
            is_saved: element.attribute("save-restore") != Some("no"),
            feature: self.description.features.len().saturating_sub(1),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
