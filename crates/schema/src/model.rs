//! The model of a protocol definition: the contents of a DAP JSON schema as plain data.
//!
//! It covers the subset of JSON schema (draft 4) that protocol definitions use, with two extensions: `_enum` (an open enumeration) and
//! `enumDescriptions`. Everything keeps the order of the file. The model recognizes an `XRequest` and an `XEvent` by their base
//! definition, and the request's `XResponse` by its name. [`Model::parse`] reads it.

use std::collections::HashMap;
use std::fmt;

/// A whole protocol definition.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) by_name: HashMap<String, usize>,
    pub(crate) unknown: Vec<UnknownKeyword>,
}

/// A JSON-schema keyword that the model has no place for, such as `deprecated`. Nothing that is made from the model regards it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UnknownKeyword {
    /// The definition that has it; empty if it is beside `definitions`.
    pub definition: String,
    /// The property path within the definition, dots between names; `.` for the definition itself.
    pub path: String,
    /// The keyword.
    pub keyword: String,
}

impl fmt::Display for UnknownKeyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.definition.is_empty() {
            write!(f, "definition `{}`, at `{}`: ", self.definition, self.path)?;
        }
        write!(f, "the keyword `{}` is not known", self.keyword)
    }
}

/// One entry of `definitions`.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The definition's name, e.g. `StackFrame`.
    pub name: String,
    /// The definition this one extends (`allOf` with a `$ref`), e.g. `Request`.
    pub base: Option<String>,
    /// The definition's own schema, without the part of its base.
    pub schema: Schema,
}

/// A type with its title and description.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The section heading that starts at this definition.
    pub title: Option<String>,
    /// Prose, as written.
    pub description: Option<String>,
    /// The type.
    pub ty: Type,
}

/// A type of JSON value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Type {
    /// Any JSON value: the schema lists all type names, or none.
    Any,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// An integer.
    Integer(Integer),
    /// A number with its inclusive limits.
    Number {
        /// `minimum`.
        minimum: Option<f64>,
        /// `maximum`.
        maximum: Option<f64>,
    },
    /// A string.
    String,
    /// One of a set of strings.
    Enumeration(Enumeration),
    /// An array of items of one type.
    Array(Box<Schema>),
    /// An object.
    Object(Object),
    /// Another definition, by name.
    Reference(String),
    /// Exactly one of these types.
    OneOf(Vec<Schema>),
    /// One of several primitive types (`"type": ["integer", "string"]`).
    Union(Vec<Type>),
}

/// An integer and its range.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Integer {
    /// `int32`, `uint32`, `int64`, `uint64` or another format name.
    pub format: Option<String>,
    /// `minimum`, inclusive.
    pub minimum: Option<i64>,
    /// `maximum`, inclusive.
    pub maximum: Option<i64>,
}

impl Integer {
    /// The inclusive range that format, minimum and maximum leave, as far as they bound it.
    pub fn range(&self) -> (Option<i64>, Option<i64>) {
        let (low, high) = match self.format.as_deref() {
            Some("int32") => (Some(i64::from(i32::MIN)), Some(i64::from(i32::MAX))),
            Some("uint32") => (Some(0), Some(i64::from(u32::MAX))),
            Some("uint64") => (Some(0), None),
            _ => (None, None),
        };
        let low = [low, self.minimum].into_iter().flatten().max();
        let high = [high, self.maximum].into_iter().flatten().min();
        (low, high)
    }
}

/// A set of strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// The known values.
    pub values: Vec<String>,
    /// The meaning of each value. Empty, or as long as `values`.
    pub descriptions: Vec<String>,
    /// Whether other values are allowed (`_enum`).
    pub open: bool,
}

/// An object's properties.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object {
    /// The named properties in file order.
    pub properties: Vec<Property>,
    /// The contents of `additionalProperties`.
    pub additional: Additional,
}

/// What an object's other properties may be.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Additional {
    /// Not specified: other properties are allowed and have no meaning.
    #[default]
    Unsaid,
    /// `true`: an object with arbitrary content.
    Any,
    /// A map with values of this type.
    Values(Box<Schema>),
}

/// One property of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The name on the wire.
    pub name: String,
    /// Whether the property is required.
    pub required: bool,
    /// Its type.
    pub schema: Schema,
}

impl Object {
    /// The property called `name`.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties
            .iter()
            .find(|property| property.name == name)
    }
}

/// A request definition with its arguments, response and capability.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `XRequest`.
    pub definition: &'a Definition,
    /// The command on the wire.
    pub command: &'a str,
    /// The `arguments` property.
    pub arguments: Option<&'a Property>,
    /// `XResponse`.
    pub response: Option<&'a Definition>,
    /// The boolean property of `Capabilities` (or, for a reverse request, of `InitializeRequestArguments`) that gates it.
    pub capability: Option<&'a str>,
    /// Whether the adapter sends the request and the client answers it. The capability tells; a request without one counts as forward.
    pub reverse: bool,
}

/// An event definition with its body.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// `XEvent`.
    pub definition: &'a Definition,
    /// The event's name on the wire.
    pub event: &'a str,
    /// The `body` property.
    pub body: Option<&'a Property>,
}

impl Definition {
    /// The own properties, if this is an object.
    pub fn object(&self) -> Option<&Object> {
        match &self.schema.ty {
            Type::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The value of the property `name`, if that is a closed enumeration with a single value, such as a request's command.
    pub fn constant(&self, name: &str) -> Option<&str> {
        match &self.object()?.property(name)?.schema.ty {
            Type::Enumeration(Enumeration {
                values,
                open: false,
                ..
            }) if values.len() == 1 => Some(&values[0]),
            _ => None,
        }
    }
}

/// Requests whose capability doesn't follow from their name.
const GATES: [(&str, &str); 3] = [
    ("reverseContinue", "supportsStepBack"),
    ("goto", "supportsGotoTargetsRequest"),
    ("dataBreakpointInfo", "supportsDataBreakpoints"),
];

impl Model {
    /// The title of the protocol in the file.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The description of the protocol in the file.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// All definitions in file order.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The keywords that were found and not understood, in file order, those of a base first.
    pub fn unknown_keywords(&self) -> &[UnknownKeyword] {
        &self.unknown
    }

    /// The definition called `name`.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.by_name
            .get(name)
            .map(|&index| &self.definitions[index])
    }

    /// Requests in file order, including reverse ones.
    pub fn requests(&self) -> impl Iterator<Item = Request<'_>> {
        self.definitions.iter().filter_map(|definition| {
            if definition.base.as_deref() != Some("Request") {
                return None;
            }
            let command = definition.constant("command")?;
            let (capability, reverse) = self.gate(command);
            Some(Request {
                definition,
                command,
                arguments: definition.object()?.property("arguments"),
                response: self.response_of(&definition.name),
                capability,
                reverse,
            })
        })
    }

    /// Events in file order.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.definitions.iter().filter_map(|definition| {
            if definition.base.as_deref() != Some("Event") {
                return None;
            }
            let event = definition.constant("event")?;
            Some(Event {
                definition,
                event,
                body: definition.object()?.property("body"),
            })
        })
    }

    /// A definition's properties, those of its bases first. If both have a property of one name, the definition's own one takes the
    /// place of the base's, and is required if either is.
    pub fn all_properties(&self, definition: &Definition) -> Vec<Property> {
        let mut chain = vec![definition];
        while let Some(base) = chain
            .last()
            .and_then(|last| last.base.as_deref())
            .and_then(|name| self.get(name))
        {
            if chain.len() > self.definitions.len() {
                break;
            }
            chain.push(base);
        }
        let mut all: Vec<Property> = Vec::new();
        for object in chain
            .iter()
            .rev()
            .filter_map(|definition| definition.object())
        {
            for property in &object.properties {
                match all.iter_mut().find(|known| known.name == property.name) {
                    Some(known) => {
                        let required = known.required || property.required;
                        *known = Property {
                            required,
                            ..property.clone()
                        };
                    }
                    None => all.push(property.clone()),
                }
            }
        }
        all
    }

    fn response_of(&self, request: &str) -> Option<&Definition> {
        self.get(&format!("{}Response", request.strip_suffix("Request")?))
    }

    /// The capability that gates `command`, and whether it is one of the client, as for reverse requests.
    fn gate(&self, command: &str) -> (Option<&str>, bool) {
        let name = capitalized(command);
        let mut candidates = vec![format!("supports{name}Request"), format!("supports{name}")];
        candidates.extend(
            name.strip_prefix("Set")
                .map(|rest| format!("supports{rest}")),
        );
        candidates.extend(
            GATES
                .iter()
                .filter(|gate| gate.0 == command)
                .map(|gate| gate.1.to_owned()),
        );
        for (holder, reverse) in [
            ("Capabilities", false),
            ("InitializeRequestArguments", true),
        ] {
            let Some(object) = self.get(holder).and_then(Definition::object) else {
                continue;
            };
            for candidate in &candidates {
                if let Some(property) = object.property(candidate)
                    && property.schema.ty == Type::Boolean
                {
                    return (Some(&property.name), reverse);
                }
            }
        }
        (None, false)
    }
}

/// `name` with its first letter in upper case.
pub(crate) fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}
