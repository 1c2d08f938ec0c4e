//! Exception tables: where an exception thrown through a frame is handled.
//!
//! Each function's language-specific data area in `.gcc_except_table` has call sites (ranges of its code), landing pads
//! for some of them, chains of actions, and the types that are caught. The format is that of the Itanium C++ ABI as
//! implemented by gcc (LSB Core §10.6, GCC's `unwind-pe.h` and `eh_personality.cc`); C++, Rust and C with `cleanup` share
//! it.

use crate::cfi::Frames;
use crate::decoded::Decoded;
use crate::demangle::demangle;
use crate::files::Files;
use crate::{Error, FileAddress};
use dapple_arch::Machine;
use gimli::{DwEhPe, Pointer, constants as dw};
use std::ops::Range;
use std::sync::Arc;

const SECTION: &str = ".gcc_except_table";
/// The maximum of actions for one call site; a `try` block has a handful of handlers.
const ACTIONS_LIMIT: usize = 1000;
/// The maximum of call sites in one function; generated code has some ten thousand.
const CALL_SITES_LIMIT: usize = 1_000_000;
/// The maximum of actions and types in one function, all together.
const TOTAL_LIMIT: usize = 1_000_000;

/// The exception table of a function, or of a part of it: gcc makes a separate table for the part that it moves to
/// `.text.unlikely`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceptionTable {
    /// The code that the table covers.
    pub range: Range<FileAddress>,
    /// The calls that may throw, by address.
    pub call_sites: Vec<CallSite>,
}

/// A range of code whose calls may throw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The code of the calls. A return address is behind its call, so look up the address before it.
    pub range: Range<FileAddress>,
    /// Where execution continues in this frame; `None` if exceptions just pass through.
    pub landing_pad: Option<LandingPad>,
}

/// Where execution continues after a throw, and for which exceptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandingPad {
    /// The first instruction.
    pub address: FileAddress,
    /// The actions, in the order in which the personality routine tries them. A landing pad without actions in the table
    /// has an [`Action::Cleanup`] here.
    pub actions: Arc<[Action]>,
}

/// An action of a landing pad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs destructors (drops) and rethrows.
    Cleanup,
    /// Catches exceptions of a type.
    Catch(CaughtType),
    /// Lets only exceptions of these types pass; any other ends the program (`std::unexpected`). This is `throw(…)` before C++17; an empty
    /// list is `throw()`.
    Filter(Vec<CaughtType>),
}

/// A type as the table refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaughtType {
    /// Every type: `catch (...)`, and Rust's `catch_unwind`.
    Any,
    /// The type of this `std::type_info`.
    Of {
        /// The address of the `std::type_info`, or if `indirect`, of a pointer to it.
        type_info: FileAddress,
        /// Whether `type_info` is the address of a pointer, which the dynamic linker fills.
        indirect: bool,
        /// The type's name as in the source (`int`, `std::exception`), if there is a symbol.
        name: Option<String>,
    },
}

/// What happens to an exception that a call throws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thrown<'t> {
    /// The landing pad handles it, if the personality routine finds a matching action.
    Lands(&'t LandingPad),
    /// It passes to the caller.
    PassesThrough,
    /// No call site covers the call. In C++ it may not throw: `std::terminate` is called.
    NotExpected,
}

impl ExceptionTable {
    /// What happens to an exception thrown by the call at `address`. This must be an address inside the call instruction,
    /// such as the return address minus one.
    pub fn thrown_at(&self, address: FileAddress) -> Thrown<'_> {
        let covers = |site: &&CallSite| site.range.contains(&address);
        match self.call_sites.iter().find(covers) {
            None => Thrown::NotExpected,
            Some(site) => match &site.landing_pad {
                Some(landing_pad) => Thrown::Lands(landing_pad),
                None => Thrown::PassesThrough,
            },
        }
    }
}

/// Why reading failed: the address and the reason.
type Broken = (u64, String);

/// Reads a module's loaded bytes from an address on.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    files: &'a Files,
    at: u64,
}

impl<'a> Cursor<'a> {
    fn broken<T>(self, reason: &str) -> Result<T, Broken> {
        Err((self.at, reason.to_owned()))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let main = &self.files.main;
        let bytes = main.elf.bytes_at(&main.bytes, self.at, N);
        let Some(bytes) = bytes.first_chunk() else {
            return self.broken("the file ends here");
        };
        self.at = self.at.wrapping_add(N as u64);
        Ok(*bytes)
    }

    fn word_size(&self) -> u64 {
        self.files.main.elf.machine.address_size()
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take::<1>()?[0])
    }

    fn uleb128(&mut self) -> Result<u64, Broken> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        self.broken("a number has more than 64 bits")
    }

    fn sleb128(&mut self) -> Result<i64, Broken> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            number |= i64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                let unused = 64u32.saturating_sub(shift + 7);
                return Ok(number << unused >> unused);
            }
        }
        self.broken("a number has more than 64 bits")
    }

    /// A number in one of the pointer encodings (LSB Core §10.5.1), without its base.
    fn encoded(&mut self, encoding: u8) -> Result<u64, Broken> {
        Ok(match DwEhPe(encoding & 0x0f) {
            dw::DW_EH_PE_absptr if self.word_size() == 4 => u32::from_le_bytes(self.take()?).into(),
            dw::DW_EH_PE_absptr | dw::DW_EH_PE_udata8 | dw::DW_EH_PE_sdata8 => {
                u64::from_le_bytes(self.take()?)
            }
            dw::DW_EH_PE_uleb128 => self.uleb128()?,
            dw::DW_EH_PE_udata2 => u16::from_le_bytes(self.take()?).into(),
            dw::DW_EH_PE_udata4 => u32::from_le_bytes(self.take()?).into(),
            dw::DW_EH_PE_sleb128 => self.sleb128()? as u64,
            dw::DW_EH_PE_sdata2 => i16::from_le_bytes(self.take()?) as u64,
            dw::DW_EH_PE_sdata4 => i32::from_le_bytes(self.take()?) as u64,
            _ => {
                return self.broken(&format!(
                    "pointers of the encoding {encoding:#04x} are not known"
                ));
            }
        })
    }

    /// A pointer; zero is a null pointer whatever the encoding's base is.
    fn pointer(&mut self, encoding: u8) -> Result<u64, Broken> {
        let start = self.at;
        let number = self.encoded(encoding)?;
        match DwEhPe(encoding & 0x70) {
            _ if number == 0 => Ok(0),
            dw::DW_EH_PE_absptr => Ok(number),
            dw::DW_EH_PE_pcrel if self.word_size() == 4 => {
                Ok((start as u32).wrapping_add(number as u32).into())
            }
            dw::DW_EH_PE_pcrel => Ok(start.wrapping_add(number)),
            _ => self.broken(&format!(
                "pointers of the encoding {encoding:#04x} are not known"
            )),
        }
    }
}

/// The size of a pointer encoding; `None` if it is variable.
fn size_of_encoded(encoding: u8, word_size: u64) -> Option<u64> {
    match DwEhPe(encoding & 0x0f) {
        dw::DW_EH_PE_absptr => Some(word_size),
        dw::DW_EH_PE_udata8 | dw::DW_EH_PE_sdata8 => Some(8),
        dw::DW_EH_PE_udata4 | dw::DW_EH_PE_sdata4 => Some(4),
        dw::DW_EH_PE_udata2 | dw::DW_EH_PE_sdata2 => Some(2),
        _ => None,
    }
}

/// Reads one table; has the decoded header.
struct Reader<'d, 'a> {
    decoded: &'d Decoded<'a>,
    /// `DW_EH_PE_omit` if there are no types.
    type_encoding: u8,
    /// The end of the types and the start of the filters.
    types: u64,
    actions: u64,
    /// How many more actions and types may be read.
    left: usize,
    /// The chain of actions that was read last, and its index; call sites that share a chain are often adjacent.
    known: Option<(u64, Arc<[Action]>)>,
}

const OMITTED: u8 = dw::DW_EH_PE_omit.0;

impl<'a> Reader<'_, 'a> {
    fn cursor(&self, at: u64) -> Cursor<'a> {
        let files = self.decoded.files();
        Cursor { files, at }
    }

    fn table(
        decoded: &Decoded<'a>,
        lsda: u64,
        range: Range<u64>,
    ) -> Result<ExceptionTable, Broken> {
        let mut reader = Reader {
            decoded,
            type_encoding: OMITTED,
            types: 0,
            actions: 0,
            left: TOTAL_LIMIT,
            known: None,
        };
        let machine = decoded.files().main.elf.machine;
        let mut cursor = reader.cursor(lsda);
        let landing_encoding = cursor.byte()?;
        let landing_base = match landing_encoding {
            OMITTED => range.start,
            encoding => cursor.pointer(encoding)?,
        };
        reader.type_encoding = match (cursor.byte()?, machine) {
            (OMITTED, _) => OMITTED,
            // On Linux for arm, a relocation of its own makes each the distance of a pointer, whatever is said here (EHABI32, §6.3).
            (_, Machine::Arm) => {
                dw::DW_EH_PE_pcrel.0 | dw::DW_EH_PE_sdata4.0 | dw::DW_EH_PE_indirect.0
            }
            (encoding, _) => encoding,
        };
        if reader.type_encoding != OMITTED {
            let distance = cursor.uleb128()?;
            reader.types = cursor.at.wrapping_add(distance);
        }
        let encoding = cursor.byte()?;
        let length = cursor.uleb128()?;
        let Some(end) = cursor.at.checked_add(length) else {
            return cursor.broken("the list of call sites is longer than memory");
        };
        reader.actions = end;
        let mut call_sites = Vec::new();
        while cursor.at < end && call_sites.len() < CALL_SITES_LIMIT {
            let start = range.start.wrapping_add(cursor.encoded(encoding)?);
            let length = cursor.encoded(encoding)?;
            let landing = cursor.encoded(encoding)?;
            let action = cursor.uleb128()?;
            let landing_pad = match landing {
                0 => None,
                _ => Some(LandingPad {
                    address: FileAddress(landing_base.wrapping_add(landing)),
                    actions: reader.actions(action)?,
                }),
            };
            call_sites.push(CallSite {
                range: FileAddress(start)..FileAddress(start.saturating_add(length)),
                landing_pad,
            });
        }
        Ok(ExceptionTable {
            range: FileAddress(range.start)..FileAddress(range.end),
            call_sites,
        })
    }

    /// The chain of actions at an index: 1-based, in bytes; 0 means a cleanup without an entry.
    fn actions(&mut self, index: u64) -> Result<Arc<[Action]>, Broken> {
        if let Some((known, actions)) = &self.known
            && *known == index
        {
            return Ok(actions.clone());
        }
        let mut actions = Vec::new();
        let mut cursor = match index.checked_sub(1) {
            Some(offset) => self.cursor(self.actions.wrapping_add(offset)),
            None => return Ok(Arc::new([Action::Cleanup])),
        };
        loop {
            if actions.len() >= ACTIONS_LIMIT || self.left == 0 {
                return cursor.broken("the chain of actions has no end");
            }
            self.left -= 1;
            let filter = cursor.sleb128()?;
            let link = cursor.at;
            actions.push(match filter {
                0 => Action::Cleanup,
                1.. => Action::Catch(self.caught(filter.unsigned_abs())?),
                _ => Action::Filter(self.filter(filter.unsigned_abs())?),
            });
            // The distance is relative to the link itself; 0 ends the chain.
            match cursor.sleb128()? {
                0 => break,
                distance => cursor.at = link.wrapping_add_signed(distance),
            }
        }
        let actions: Arc<[Action]> = actions.into();
        self.known = Some((index, actions.clone()));
        Ok(actions)
    }

    /// The types of an exception specification: a list of type numbers that ends with 0.
    fn filter(&mut self, index: u64) -> Result<Vec<CaughtType>, Broken> {
        let mut cursor = self.cursor(self.types.wrapping_add(index - 1));
        let mut types = Vec::new();
        loop {
            match cursor.uleb128()? {
                0 => return Ok(types),
                _ if self.left == 0 => return cursor.broken("the list of types has no end"),
                index => types.push(self.caught(index)?),
            }
            self.left -= 1;
        }
    }

    /// The type with the number `index`. Types are numbered backwards: number 1 is the last one before the end of the types.
    fn caught(&self, index: u64) -> Result<CaughtType, Broken> {
        let end = self.cursor(self.types);
        let size = match self.type_encoding {
            OMITTED => None,
            encoding => size_of_encoded(encoding, end.word_size()),
        };
        let Some(size) = size else {
            return end.broken("a type is referred to, but there are none");
        };
        let mut cursor = self.cursor(self.types.wrapping_sub(index.wrapping_mul(size)));
        let type_info = cursor.pointer(self.type_encoding)?;
        if type_info == 0 {
            return Ok(CaughtType::Any);
        }
        let indirect = self.type_encoding & dw::DW_EH_PE_indirect.0 != 0;
        let symbol = self.decoded.symbols().at(type_info, |_| None);
        let name = symbol
            .filter(|symbol| symbol.address.0 == type_info)
            .and_then(|symbol| {
                // The symbol of a pointer to the type info is the type info's own with a prefix. Symbols of libraries may have a version.
                let name = symbol.name.strip_prefix("DW.ref.").unwrap_or(&symbol.name);
                let name = name.split('@').next().unwrap_or(name);
                let demangled = demangle(name);
                demangled.strip_prefix("typeinfo for ").map(str::to_owned)
            });
        Ok(CaughtType::Of {
            type_info: FileAddress(type_info),
            indirect,
            name,
        })
    }
}

impl<'a> Decoded<'a> {
    pub(crate) fn exception_table(&self, address: u64) -> Result<Option<ExceptionTable>, Error> {
        let frames: &Frames<'a> = self.frames();
        let Some((range, lsda)) = frames.language_data_at(address) else {
            return Ok(None);
        };
        let start = match lsda {
            Pointer::Direct(address) => address,
            // Compilers don't write indirect pointers here.
            Pointer::Indirect(_) => return Ok(None),
        };
        let broken = |(at, reason): Broken| {
            let files = self.files();
            let section = files.main.elf.section(SECTION);
            let offset = section.map_or(at, |section| at.wrapping_sub(section.address));
            files.malformed(SECTION, offset, reason)
        };
        Reader::table(self, start, range).map(Some).map_err(broken)
    }
}
