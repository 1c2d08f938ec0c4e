//! Functions of C's `<string.h>` answered by reading memory, without calling them, so that conditions may use them too.

use super::{Fault, Runner};
use crate::Address;
use crate::eval::ir::{Expression, Kind};
use crate::values::{Number, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::sources::is_others_source;
use dapple_symbols::types::{TypeId, TypeKind};
use std::cmp::Ordering;

/// The longest string that is read, in bytes.
const LONGEST: usize = 1 << 20;
/// The unit of reading, in bytes. No read crosses the end of a page.
const PAGE: u64 = 4096;

/// The functions' names and argument counts.
const ALL: [(&str, usize); 9] = [
    ("memcmp", 3),
    ("strcasecmp", 2),
    ("strchr", 2),
    ("strcmp", 2),
    ("strlen", 1),
    ("strncasecmp", 3),
    ("strncmp", 3),
    ("strrchr", 2),
    ("strstr", 2),
];

/// The bytes that were read and, if they are in memory, their address and type.
type Read = (Vec<u8>, Option<(Address, Option<TypeId>)>);

/// Whether this is one of the functions, with the right number of arguments.
pub(in crate::eval) fn is_known(callee: &Expression, arguments: usize) -> bool {
    matches!(&callee.kind, Kind::Name(name) if ALL.contains(&(plain(name), arguments)))
}

/// The name without C++'s qualification.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.strip_prefix("std::").unwrap_or(name)
}

impl Runner<'_> {
    /// The result of a C library function. `None`: it is another function, the user's code defines its own of that name, or the frame's
    /// language is not C or C++.
    pub(super) fn c_function(
        &self,
        callee: &Expression,
        arguments: &[Expression],
    ) -> Option<Result<Value, Fault>> {
        let Kind::Name(name) = &callee.kind else {
            return None;
        };
        let is_c = matches!(self.frame.language, Language::C | Language::Cpp);
        if !is_c || !is_known(callee, arguments.len()) || self.has_own(name) {
            return None;
        }
        Some(
            self.answered(plain(name), arguments)
                .map(|it| self.computed(it)),
        )
    }

    /// Whether the user's own code defines a function of the name.
    fn has_own(&self, name: &str) -> bool {
        self.reader.modules.iter().any(|module| {
            let functions = module.module.functions_named(name);
            let is_own =
                |place: &dapple_symbols::functions::SourcePosition| !is_others_source(&place.file);
            !module.is_distributions()
                && functions
                    .iter()
                    .any(|it| it.declaration.as_ref().is_some_and(is_own))
        })
    }

    fn answered(&self, name: &str, arguments: &[Expression]) -> Result<Number, Fault> {
        let int = |number: i128| Number::integer(number, 4, true);
        let compared = |one: &[u8], other: &[u8]| int(one.cmp(other) as i128);
        match (name, arguments) {
            ("strlen", [text]) => {
                let (text, _) = self.c_text(text)?;
                Ok(Number::integer(text.len() as i128, self.word_size(), false))
            }
            ("strcmp" | "strcasecmp", [one, other]) => {
                let (one, other) = (self.c_text(one)?.0, self.c_text(other)?.0);
                Ok(match name {
                    "strcmp" => compared(&one, &other),
                    _ => compared(&one.to_ascii_lowercase(), &other.to_ascii_lowercase()),
                })
            }
            ("memcmp" | "strncmp" | "strncasecmp", [one, other, count]) => {
                let count = self.count(count)?;
                let ends = name != "memcmp";
                let one = self.c_bytes(one, count, ends)?;
                let other = self.c_bytes(other, count, ends)?;
                Ok(match name {
                    "strncasecmp" => {
                        compared(&one.0.to_ascii_lowercase(), &other.0.to_ascii_lowercase())
                    }
                    _ => compared(&one.0, &other.0),
                })
            }
            (_, [text, wanted]) => {
                let (bytes, address) = self.c_text(text)?;
                let at = match name {
                    "strstr" => memchr::memmem::find(&bytes, &self.c_text(wanted)?.0),
                    _ => {
                        let wanted = self.integer(wanted)? as u8;
                        // The terminating zero counts as one of the characters (strchr(3)).
                        let bytes = [&bytes[..], &[0]].concat();
                        match name {
                            "strchr" => memchr::memchr(wanted, &bytes),
                            _ => memchr::memrchr(wanted, &bytes),
                        }
                    }
                };
                let Some((start, target)) = address else {
                    return Err(self.fault(text, "is not in the program's memory"));
                };
                let address = at.map_or(0, |at| start.0.wrapping_add(at as u64));
                Ok(Number::Pointer { address, target })
            }
            _ => Ok(int(Ordering::Equal as i128)),
        }
    }

    fn integer(&self, expression: &Expression) -> Result<i128, Fault> {
        match self.number(expression)? {
            Number::Integer { value, .. } => Ok(value),
            _ => Err(self.fault(expression, "is no whole number")),
        }
    }

    fn count(&self, expression: &Expression) -> Result<usize, Fault> {
        let count = usize::try_from(self.integer(expression)?)
            .ok()
            .filter(|it| *it <= LONGEST);
        count.ok_or_else(|| self.fault(expression, &format!("is not within 0 to {LONGEST}")))
    }

    /// A string without its terminating zero, and its address.
    fn c_text(&self, expression: &Expression) -> Result<Read, Fault> {
        self.c_bytes(expression, usize::MAX, true)
    }

    /// The first `count` bytes or, if `ends`, the bytes before the first zero among them.
    fn c_bytes(&self, expression: &Expression, count: usize, ends: bool) -> Result<Read, Fault> {
        if let Kind::Text(text) = &expression.kind {
            let mut text = text.to_vec();
            text.push(0);
            let most = match ends {
                true => memchr::memchr(0, &text).unwrap_or(0),
                false => text.len(),
            };
            text.truncate(most.min(count));
            return Ok((text, None));
        }
        let value = self.value(expression)?;
        self.check_available(&value, expression)?;
        let type_ = self.reader.resolve(&value).map(|resolved| resolved.type_);
        let element = match type_.as_deref().map(|type_| &type_.kind) {
            Some(TypeKind::Array { element, .. }) => Some(Some(*element)),
            _ => None,
        };
        let (address, target) = match (element, value.contents.address()) {
            (Some(element), Some(address)) => (address, element),
            (Some(_), None) => return Err(self.fault(expression, "is not in memory")),
            (None, _) => match self.number_of(&value, expression)? {
                Number::Pointer { address, target } => (Address(address), target),
                _ => return Err(self.fault(expression, "is no text")),
            },
        };
        let place = Some((address, target));
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let at = Address(address.0.wrapping_add(bytes.len() as u64));
            let mut page = [0; PAGE as usize];
            let most = (PAGE - at.0 % PAGE) as usize;
            let most = most.min(count - bytes.len());
            if self.reader.memory.read(at, &mut page[..most]).is_err() {
                let why = format!("can't be read at {at}");
                return Err(self.fault(expression, &why));
            }
            match memchr::memchr(0, &page[..most]).filter(|_| ends) {
                Some(end) => {
                    bytes.extend_from_slice(&page[..end]);
                    return Ok((bytes, place));
                }
                None => bytes.extend_from_slice(&page[..most]),
            }
            if bytes.len() > LONGEST {
                let why = format!("has no end within {LONGEST} bytes");
                return Err(self.fault(expression, &why));
            }
        }
        Ok((bytes, place))
    }
}
