//! The thrown value: `$exception` in expressions.
//!
//! The exception in memory refers to its type only by name. The value gets the type with that name in the debug information. If there
//! is none, numbers, pointers and descendants of `std::exception` still have a value; for others, the error says so.

use super::cpp::{Object, Space};
use super::rust::{Payload, payload};
use crate::Address;
use crate::frame::Frame;
use crate::modules::LoadedModule;
use crate::values::view::{LONG, View};
use crate::values::{Contents, Number, Reader, Value, rust};
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::FoundType;
use dapple_symbols::types::TypeId;
use std::sync::Arc;

/// What a thread has stopped for, by its address: a thrown object, a panic or a failed access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thrown {
    /// A C++ exception, followed by those that caused it.
    Objects(Vec<Object>),
    /// A Rust panic: the two words of its `dyn PanicPayload`.
    Panic {
        /// The payload.
        data: Address,
        /// The payload's virtual table.
        table: Address,
    },
    /// The address of a failed access.
    Fault(Address),
}

impl Thrown {
    /// The thrown value. `cause` is 0 for the exception itself, 1 for the exception that caused it, and so on.
    ///
    /// # Errors
    /// A sentence that says why there is no value.
    pub(crate) fn value(
        &self,
        cause: usize,
        frame: &Frame,
        module: &Arc<LoadedModule>,
        reader: &Reader<'_>,
    ) -> Result<Value, String> {
        let types = Types {
            frame: Some(frame),
            reader,
        };
        let none = || Err("there is no such exception".to_owned());
        match self {
            Thrown::Objects(objects) => match objects.get(cause) {
                Some(object) => value_of(reader, *object, Some(frame), module),
                None => none(),
            },
            Thrown::Panic { data, table } if cause == 0 => types.of_panic(*data, *table),
            Thrown::Fault(address) if cause == 0 => Ok(number(
                module,
                frame.language,
                Number::Pointer {
                    address: address.0,
                    target: None,
                },
            )),
            Thrown::Panic { .. } | Thrown::Fault(_) => none(),
        }
    }
}

fn number(module: &Arc<LoadedModule>, language: Language, number: Number) -> Value {
    Value::new(Arc::clone(module), None, language, Contents::Number(number))
}

/// An exception's object as a value. Its type is searched first in the unit of `frame`.
///
/// # Errors
/// A sentence that says why there is no value.
pub(crate) fn value_of(
    reader: &Reader<'_>,
    object: Object,
    frame: Option<&Frame>,
    module: &Arc<LoadedModule>,
) -> Result<Value, String> {
    let types = Types { frame, reader };
    let space = Space {
        memory: reader.memory,
        modules: reader.modules,
    };
    let language = Language::Cpp;
    if let Some(pointee) = space.pointee(object.type_info) {
        let address = reader.memory.read_address(object.at);
        let address = address.map_err(|at| format!("its memory at {at} can't be read"))?;
        let name = space.type_name(pointee).unwrap_or_default();
        let (module, target) = match types.named(&name, language) {
            Some((module, target)) => (module, Some(target)),
            None => (Arc::clone(module), None),
        };
        let pointer = Number::Pointer { address, target };
        return Ok(number(&module, language, pointer));
    }
    let name = space.type_name(object.type_info);
    let name = name.ok_or("its type's name can't be read")?;
    if let Some((module, id)) = types.named(&name, language) {
        let contents = Contents::Memory(object.at);
        return Ok(Value::new(module, Some(id), language, contents));
    }
    match space.number(object) {
        Some(plain) => Ok(number(module, language, plain)),
        // The value has no type. Its text is the exception's message.
        None if space.is_standard(object) => {
            let contents = Contents::Memory(object.at);
            Ok(Value::new(Arc::clone(module), None, language, contents))
        }
        None => Err(no_type(&name)),
    }
}

/// Searches types, first in the frame's unit, which usually has the types that its own code throws.
struct Types<'a> {
    frame: Option<&'a Frame>,
    reader: &'a Reader<'a>,
}

impl Types<'_> {
    /// The type with a full name. Outside the frame's unit, definitions come before declarations, and system libraries are skipped: their
    /// debug information is large, and no type that programs throw is only there.
    fn named(&self, name: &str, language: Language) -> Option<(Arc<LoadedModule>, TypeId)> {
        let pattern = NamePattern::new(&format!("::{name}"));
        let is_wanted = |found: &FoundType| found.language == language;
        if let Some(frame) = self.frame
            && let Some(module) = &frame.physical.module
        {
            let here = module.to_file(frame.physical.lookup);
            let near = module.module.find_types_near(here, &pattern);
            if let Some(found) = near.into_iter().find(is_wanted) {
                return Some((Arc::clone(module), found.id));
            }
        }
        self.reader.type_anywhere(name, language)
    }

    fn of_panic(&self, data: Address, table: Address) -> Result<Value, String> {
        let language = Language::Rust;
        let (name, at) = match payload(self.reader.memory, data, table) {
            Some(Payload::Text(at)) => ("&str".to_owned(), at),
            Some(Payload::String(at)) => ("alloc::string::String".to_owned(), at),
            Some(Payload::Boxed { data, table }) => {
                let name = rust::concrete_type(self.reader, table.0);
                (name.ok_or("the type of its payload is not known")?, data)
            }
            None => {
                let value = self.of_any(data, table);
                return value.ok_or_else(|| "its payload is not understood".to_owned());
            }
        };
        let (module, id) = self.named(&name, language).ok_or_else(|| no_type(&name))?;
        let contents = Contents::Memory(at);
        Ok(Value::new(module, Some(id), language, contents))
    }

    /// The value given to `panic_any`, which the standard library keeps in an `Option`.
    fn of_any(&self, data: Address, table: Address) -> Option<Value> {
        let name = rust::concrete_type(self.reader, table.0)?;
        let (module, id) = self.named(&name, Language::Rust)?;
        let contents = Contents::Memory(data);
        let payload = Value::new(module, Some(id), Language::Rust, contents);
        match self
            .reader
            .view(&self.reader.field(&payload, "inner")?, LONG)
        {
            View::Record(some) => some.fields.into_iter().next().map(|field| field.value),
            _ => None,
        }
    }
}

fn no_type(name: &str) -> String {
    format!("its type `{name}` is not in the debug information")
}
