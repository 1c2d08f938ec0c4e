//! C++ exceptions in memory: their types, their messages, and which handlers catch them.
//!
//! Follows the Itanium C++ ABI (exception handling §2.2; `std::type_info` and its descendants, §2.9.5), which libstdc++ and
//! libc++abi share. No function of the program is called.

use crate::Address;
use crate::exceptions::thrown::Thrown;
use crate::exceptions::{BreakMode, Exception};
use crate::modules::Modules;
use crate::values::Number;
use dapple_arch::{Machine, Memory};
use dapple_symbols::lsda::CaughtType;
use dapple_symbols::module::demangle;

/// The longest name or string read, in bytes.
const LONGEST: usize = 4096;
/// The deepest derivation of classes that is followed.
const DEEPEST: usize = 32;
/// The most nested exceptions looked at.
const MOST_NESTED: usize = 16;
/// The most bases of one class.
const MOST_BASES: u64 = 1000;

/// Distances in a `__cxa_exception`, in bytes.
struct Distances {
    /// The size of `_Unwind_Exception`, which is its end (`unwind.h`). The exception's object follows it.
    header: i64,
    /// The offset from `_Unwind_Exception` to `__cxa_exception::exceptionType`. A dependent exception has the address of the primary
    /// exception's object there.
    type_before: i64,
}

/// The parts of the debuggee that this module needs.
#[derive(Clone, Copy)]
pub struct Space<'a> {
    /// Its memory.
    pub memory: &'a dyn Memory,
    /// The loaded modules.
    pub modules: &'a Modules,
}

/// An exception's object and its `std::type_info`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// The object's address.
    pub at: Address,
    /// The address of its `std::type_info`.
    pub type_info: Address,
}

/// A base class: its `std::type_info`, its place in the object, and whether it is public.
struct Base {
    type_info: Address,
    place: Place,
    public: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Offset(i64),
    /// The base's offset in the object is stored in the object's virtual table, at this offset in the table.
    Virtual(i64),
}

/// The kind of type that a `std::type_info` describes.
enum Kind {
    Class(Vec<Base>),
    Pointer { flags: u32, pointee: Address },
    Other,
}

impl<'a> Space<'a> {
    fn word(&self, at: Address) -> Option<u64> {
        self.memory.read_address(at).ok()
    }

    /// The word `index` words behind `at`.
    fn word_of(&self, at: Address, index: i64) -> Option<u64> {
        self.word(self.memory.place_behind(at, index))
    }

    /// A number of 4 bytes.
    fn half(&self, at: Address) -> Option<u32> {
        let mut bytes = [0; 4];
        self.memory.read(at, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// The first 8 bytes of an object, or 4 if it is at the end of memory.
    fn beginning(&self, at: Address) -> Option<u64> {
        let whole = self.memory.read_u64(at).ok();
        whole.or_else(|| self.half(at).map(u64::from))
    }

    fn distances(&self) -> Distances {
        match self.modules.machine() {
            Machine::Arm => Distances {
                header: 88,
                type_before: -32,
            },
            _ => Distances {
                header: 32,
                type_before: -80,
            },
        }
    }

    /// A zero-terminated string, cut after about [`LONGEST`] bytes. `None`: it can't be read, or `at` is null.
    pub(crate) fn text(&self, at: Address) -> Option<String> {
        if at.0 == 0 {
            return None;
        }
        let mut bytes = Vec::new();
        let mut page = [0; 64];
        while bytes.len() < LONGEST {
            let here = at.offset(bytes.len() as i64);
            // No read crosses a multiple of 64 bytes, and so none crosses the end of a page, after which nothing may be mapped.
            let length = (64 - here.0 % 64) as usize;
            self.memory.read(here, &mut page[..length]).ok()?;
            match page[..length].iter().position(|byte| *byte == 0) {
                Some(end) => {
                    bytes.extend(&page[..end]);
                    return Some(String::from_utf8_lossy(&bytes).into_owned());
                }
                None => bytes.extend(&page[..length]),
            }
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn bytes(&self, at: Address, length: u64) -> Option<String> {
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= LONGEST)?;
        let mut bytes = vec![0; length];
        self.memory.read(at, &mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// The mangled name of the symbol at an address.
    fn symbol(&self, at: Address) -> Option<String> {
        let module = self.modules.at(at)?;
        Some(module.module.symbol_at(module.to_file(at))?.name)
    }

    /// The C++ exception that an `_Unwind_Exception` belongs to. `None`: it is not a C++ exception.
    pub fn of_header(&self, header: Address) -> Option<Object> {
        /// `GNUCC++` and `CLNGC++`. The last byte is 1 for a dependent exception, which refers to the object of another exception.
        const CLASSES: [u64; 2] = [0x474e_5543_432b_2b00, 0x434c_4e47_432b_2b00];
        let class = self.memory.read_u64(header).ok()?;
        // On arm, it is a text.
        let class = match self.modules.machine() {
            Machine::Arm => class.swap_bytes(),
            _ => class,
        };
        if !CLASSES.contains(&(class & !0xff)) {
            return None;
        }
        match class & 0xff {
            0 => self.of_object(header.offset(self.distances().header)),
            1 => {
                let other = self.word(header.offset(self.distances().type_before))?;
                self.of_object(Address(other))
            }
            _ => None,
        }
    }

    /// The exception whose object is at `at`. It is not checked that there is one. `None`: its header can't be read.
    pub fn of_object(&self, at: Address) -> Option<Object> {
        let distances = self.distances();
        let type_info = self.word(at.offset(distances.type_before - distances.header))?;
        Some(Object {
            at,
            type_info: Address(type_info),
        })
    }

    fn mangled(&self, type_info: Address) -> Option<String> {
        self.text(Address(self.word_of(type_info, 1)?))
    }

    /// The type's full name, demangled where possible.
    pub(crate) fn type_name(&self, type_info: Address) -> Option<String> {
        let mangled = self.mangled(type_info)?;
        let mangled = mangled.trim_start_matches('*');
        let shown = demangle(&format!("_ZTS{mangled}"));
        Some(match shown.strip_prefix("typeinfo name for ") {
            Some(name) => name.replace("std::__cxx11::", "std::"),
            None => mangled.to_owned(),
        })
    }

    fn kind(&self, type_info: Address) -> Option<Kind> {
        let table = self.symbol(Address(self.word(type_info)?))?;
        let size = self.memory.address_size().cast_signed();
        if table.contains("__si_class_type_info") {
            let base = Base {
                type_info: Address(self.word_of(type_info, 2)?),
                place: Place::Offset(0),
                public: true,
            };
            return Some(Kind::Class(vec![base]));
        }
        if table.contains("__vmi_class_type_info") {
            // After the name come flags and a count of 4 bytes each, then the bases.
            let first = type_info.offset(2 * size + 8);
            let count = u64::from(self.half(first.offset(-4))?).min(MOST_BASES);
            let bases = (0..count as i64).filter_map(|index| {
                let entry = first.offset(2 * size * index);
                let flags = self.memory.signed(self.word_of(entry, 1)?);
                let offset = flags >> 8;
                Some(Base {
                    type_info: Address(self.word(entry)?),
                    place: match flags & 1 {
                        0 => Place::Offset(offset),
                        _ => Place::Virtual(offset),
                    },
                    public: flags & 2 != 0,
                })
            });
            return Some(Kind::Class(bases.collect()));
        }
        if table.contains("__class_type_info") {
            return Some(Kind::Class(Vec::new()));
        }
        if table.contains("__pointer_type_info") {
            return Some(Kind::Pointer {
                flags: self.half(type_info.offset(2 * size))?,
                pointee: Address(self.word(type_info.offset(24))?),
            });
        }
        Some(Kind::Other)
    }

    /// Calls `each` with the mangled name of a class and the object, then in the same way for each of the class's bases, with the object's
    /// part that the base is. For a part that can't be located, the address is 0. Stops and returns `true` when `each` returns `true`.
    fn classes(
        &self,
        object: Object,
        depth: usize,
        each: &mut dyn FnMut(&str, Object) -> bool,
    ) -> bool {
        let Some(name) = self.mangled(object.type_info) else {
            return false;
        };
        if each(&name, object) {
            return true;
        }
        let Some(Kind::Class(bases)) = self.kind(object.type_info) else {
            return false;
        };
        depth < DEEPEST
            && bases.iter().any(|base| {
                let part = self.part(object.at, base.place).unwrap_or_default();
                let part = Object {
                    at: part,
                    type_info: base.type_info,
                };
                self.classes(part, depth + 1, each)
            })
    }

    fn part(&self, object: Address, place: Place) -> Option<Address> {
        Some(match place {
            Place::Offset(offset) => object.offset(offset),
            Place::Virtual(offset) => {
                let table = Address(self.word(object)?);
                object.offset(self.word(table.offset(offset))?.cast_signed())
            }
        })
    }

    /// The full names of an exception's type and all its bases.
    pub fn type_names(&self, object: Object) -> Vec<String> {
        let mut names = Vec::new();
        self.classes(object, 0, &mut |_, part| {
            names.extend(self.type_name(part.type_info));
            false
        });
        names
    }

    /// The address of an object's part of a class: the object itself, or one of its bases. `class` is the class's mangled name.
    fn part_of(&self, object: Object, class: &str) -> Option<Address> {
        let mut found = None;
        self.classes(object, 0, &mut |name, part| {
            if name == class && part.at.0 != 0 {
                found = Some(part.at);
            }
            found.is_some()
        });
        found
    }

    /// Whether the object's class is `std::exception` or derived from it.
    pub(crate) fn is_standard(&self, object: Object) -> bool {
        self.part_of(object, "St9exception").is_some()
    }

    /// An exception's message. Of a descendant of `std::exception`, it is what `what()` returns, if the library defines that `what()` or if
    /// it can be interpreted without running it. Of a string or a number, it is the value. The interpreter's stack lies below `stack`, the
    /// thread's stack pointer.
    pub(crate) fn what(&self, object: Object, stack: u64) -> Option<String> {
        if let Some(base) = self.part_of(object, "St9exception") {
            return self.what_of(object, base, stack);
        }
        let mangled = self.mangled(object.type_info)?;
        self.plain(&mangled, object.at)
    }

    fn what_of(&self, object: Object, base: Address, stack: u64) -> Option<String> {
        const DESTRUCTORS: i64 = 2;
        let table = Address(self.word(base)?);
        let function = Address(self.word_of(table, DESTRUCTORS)?);
        let symbol = self.symbol(function).unwrap_or_default();
        // `std::runtime_error` and `std::logic_error` have one field (`stdexcept`). In both C++ libraries it is a pointer to the message.
        let text = ["St13runtime_error", "St11logic_error"]
            .iter()
            .find_map(|class| self.part_of(object, class))
            .and_then(|part| self.text(Address(self.word_of(part, 1)?)));
        let is_theirs = symbol.starts_with("_ZNKSt13runtime_error4what")
            || symbol.starts_with("_ZNKSt11logic_error4what");
        if is_theirs && text.is_some() {
            return text;
        }
        let followed = self.interpreted(function, base, stack);
        followed
            .and_then(|result| self.text(Address(result)))
            .or(text)
    }

    /// The string that a virtual function without arguments returns, if the function can be interpreted without running it. `number` is
    /// the function's index in the object's virtual table.
    pub(crate) fn text_of_method(
        &self,
        object: Address,
        number: i64,
        stack: u64,
    ) -> Option<String> {
        let table = Address(self.word(object)?);
        let function = Address(self.word_of(table, number)?);
        let result = self.interpreted(function, object, stack);
        self.text(Address(result?))
    }

    /// The result of a function of one argument, if it can be found out without running it.
    fn interpreted(&self, function: Address, argument: Address, stack: u64) -> Option<u64> {
        if self.modules.machine() != Machine::X86_64 {
            return None;
        }
        dapple_arch::interpret::call(function, argument.0, stack, self.memory, &|at| {
            self.gives_text(at)
        })
    }

    /// Whether a function is `std::string::c_str` or `data`, or a PLT stub for one that isn't bound yet.
    fn gives_text(&self, function: Address) -> bool {
        let symbol = self.symbol(function).unwrap_or_default();
        let name = symbol.trim_end_matches("@plt");
        name.contains("basic_stringIcSt11char_traitsIcESaIcEE")
            && (name.ends_with("5c_strEv") || name.ends_with("4dataEv"))
    }

    /// The text of the value at `at`, if its type, given by its mangled name, is a number, a C string or a `std::string`.
    fn plain(&self, mangled: &str, at: Address) -> Option<String> {
        let word = self.beginning(at);
        let is_short = self.memory.address_size() == 4;
        let low = |bits: u32| word.map(|word| word & (u64::MAX >> (64 - bits)));
        let signed = |bits: u32| {
            let shift = 64 - bits;
            Some((word? << shift).cast_signed() >> shift)
        };
        match mangled {
            "b" => low(8).map(|value| (value != 0).to_string()),
            "c" | "a" => signed(8).map(|value| value.to_string()),
            "h" => low(8).map(|value| value.to_string()),
            "s" => signed(16).map(|value| value.to_string()),
            "t" => low(16).map(|value| value.to_string()),
            "i" => signed(32).map(|value| value.to_string()),
            "j" => low(32).map(|value| value.to_string()),
            "l" if is_short => signed(32).map(|value| value.to_string()),
            "m" if is_short => low(32).map(|value| value.to_string()),
            "l" | "x" => signed(64).map(|value| value.to_string()),
            "m" | "y" => word.map(|value| value.to_string()),
            "f" => low(32).map(|value| f32::from_bits(value as u32).to_string()),
            "d" => word.map(|value| f64::from_bits(value).to_string()),
            "PKc" | "Pc" => self.text(Address(self.word(at)?)),
            // `std::string` begins with a pointer to its text and the text's length.
            _ if mangled.starts_with("NSt7__cxx1112basic_stringIcSt11char_traitsIcE") => {
                self.bytes(Address(self.word(at)?), self.word_of(at, 1)?)
            }
            _ => None,
        }
    }

    /// The complete object that a part belongs to, with its dynamic type, from the part's virtual table (Itanium C++ ABI §2.5.2).
    pub(crate) fn dynamic(&self, part: Address) -> Option<Object> {
        let table = Address(self.word(part)?);
        let to_top = self.memory.signed(self.word_of(table, -2)?);
        let type_info = Address(self.word_of(table, -1)?);
        (to_top <= 0 && self.kind(type_info).is_some()).then(|| Object {
            at: part.offset(to_top),
            type_info,
        })
    }

    /// The target type of a pointer type.
    pub(crate) fn pointee(&self, type_info: Address) -> Option<Address> {
        match self.kind(type_info)? {
            Kind::Pointer { pointee, .. } => Some(pointee),
            _ => None,
        }
    }

    /// The thrown value, if it is a number.
    pub(crate) fn number(&self, object: Object) -> Option<Number> {
        let word = self.beginning(object.at)?;
        let long = self.memory.address_size() as u8;
        let integer = |size, signed| Number::integer(word.into(), size, signed);
        Some(match self.mangled(object.type_info)?.as_str() {
            "b" => Number::Bool(word & 0xff != 0),
            "c" => Number::Char(word as u32 & 0xff),
            "a" => integer(1, true),
            "h" => integer(1, false),
            "s" => integer(2, true),
            "t" => integer(2, false),
            "i" => integer(4, true),
            "j" => integer(4, false),
            "l" => integer(long, true),
            "m" => integer(long, false),
            "x" => integer(8, true),
            "y" => integer(8, false),
            "f" => Number::Float {
                value: f32::from_bits(word as u32).into(),
                size: 4,
            },
            "d" => Number::Float {
                value: f64::from_bits(word),
                size: 8,
            },
            _ => return None,
        })
    }

    /// The exception that caused this one (`std::nested_exception`).
    pub(crate) fn nested(&self, object: Object) -> Option<Object> {
        let part = self.part_of(object, "St16nested_exception")?;
        // A `std::exception_ptr` follows the virtual table's address.
        let inner = Address(self.word_of(part, 1)?);
        match inner.0 {
            0 => None,
            _ => self.of_object(inner),
        }
    }

    /// Whether a `catch` of a type catches an exception. `bias` is that of the module with the handler.
    pub(crate) fn is_caught_by(&self, object: Object, caught: &CaughtType, bias: u64) -> bool {
        match caught {
            CaughtType::Any => true,
            CaughtType::Of {
                type_info,
                indirect,
                ..
            } => {
                let at = Address(type_info.0.wrapping_add(bias));
                let at = match indirect {
                    true => self.word(at).map(Address),
                    false => Some(at),
                };
                at.is_some_and(|at| self.takes(object.type_info, at, DEEPEST))
            }
        }
    }

    /// Whether two type infos describe the same type. Two libraries may each have a `std::type_info` of one type, so names are compared. A
    /// name that begins with `*` is of a type local to one source file, which only the address identifies.
    fn same(&self, one: Address, other: Address) -> bool {
        one == other
            || self
                .mangled(one)
                .is_some_and(|name| !name.starts_with('*') && Some(name) == self.mangled(other))
    }

    fn takes(&self, thrown: Address, caught: Address, depth: usize) -> bool {
        if self.same(thrown, caught) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        match (self.kind(thrown), self.kind(caught)) {
            (Some(Kind::Class(bases)), Some(Kind::Class(_))) => {
                let mut bases = bases.iter().filter(|base| base.public);
                bases.any(|base| self.takes(base.type_info, caught, depth - 1))
            }
            (
                Some(Kind::Pointer { flags, pointee }),
                Some(Kind::Pointer {
                    flags: may,
                    pointee: to,
                }),
            ) => {
                // A pointer to `const` or `volatile` isn't caught by a handler for a pointer without that qualifier.
                const QUALIFIERS: u32 = 3;
                let qualified = flags & !may & QUALIFIERS == 0;
                let any = self.mangled(to).as_deref() == Some("v");
                qualified && (any || self.takes(pointee, to, depth - 1))
            }
            (_, Some(Kind::Pointer { .. })) => self.mangled(thrown).as_deref() == Some("Dn"),
            _ => false,
        }
    }

    /// Describes an exception and those that caused it. The description ends with `end`, in parentheses. `stack` is the thread's stack
    /// pointer.
    pub fn exception(&self, object: Object, stack: u64, mode: BreakMode, end: &str) -> Exception {
        let nested = |object: &Object| self.nested(*object);
        let objects = std::iter::successors(Some(object), nested);
        let objects: Vec<Object> = objects.take(1 + MOST_NESTED).collect();
        let inner = objects[1..].iter();
        let inner = inner
            .map(|object| self.one_exception(*object, stack))
            .collect();
        let mut exception = self.one_exception(object, stack);
        exception.mode = mode;
        exception.description = format!("{} ({end})", exception.description);
        exception.inner = inner;
        exception.thrown = Some(Thrown::Objects(objects));
        exception
    }

    /// Describes an exception without those that caused it. `stack` is the thread's stack pointer.
    pub fn one_exception(&self, object: Object, stack: u64) -> Exception {
        let name = self.type_name(object.type_info);
        let id = name.clone().unwrap_or_else(|| "an exception".to_owned());
        let message = self.what(object, stack);
        Exception {
            description: match &message {
                Some(message) => format!("{id}: {message}"),
                None => id.clone(),
            },
            id,
            message,
            type_name: name,
            ..Exception::default()
        }
    }
}
