//! Plans the Go types for the definitions: decides every name and type, and writes nothing.

use super::GenerateError;
use crate::Model;
use crate::model::{Additional, Definition, Enumeration, Object, Property, Type};
use crate::prose;
use std::collections::HashSet;

/// Definitions whose structs keep unknown fields, beside those whose schema says that they have more.
const KEEPS_UNKNOWN: [&str; 3] = [
    "Capabilities",
    "LaunchRequestArguments",
    "AttachRequestArguments",
];

/// What the package has beside the types of the definitions.
const OWN_NAMES: [&str; 7] = [
    "DecodeEvent",
    "DecodeMessage",
    "DecodeRequest",
    "DecodeResponse",
    "List",
    "ListOf",
    "Of",
];

pub(super) enum Item {
    Struct(Struct),
    Enum(Enum),
    /// `type name = target`
    Alias {
        name: String,
        doc: String,
        target: String,
    },
}

pub(super) struct Struct {
    pub name: String,
    pub doc: String,
    /// The base's struct.
    pub embeds: Option<String>,
    pub fields: Vec<Field>,
    pub keeps_unknown: bool,
}

pub(super) struct Field {
    pub wire: String,
    pub name: String,
    pub doc: String,
    /// The type, with the `*` of an optional one.
    pub ty: String,
    pub required: bool,
}

pub(super) struct Enum {
    pub name: String,
    pub doc: String,
    pub open: bool,
    pub values: Vec<Value>,
}

pub(super) struct Value {
    pub name: String,
    pub wire: String,
    pub doc: Option<String>,
}

/// The words of a name, each with a capital: empty if there are none.
fn capitalized(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.map(crate::model::capitalized).collect()
}

/// A name in Go that other packages see: `threadId` → `ThreadId`, `__restart` → `Restart`, `function breakpoint` → `FunctionBreakpoint`.
pub(super) fn exported(name: &str) -> String {
    let name = capitalized(name);
    if name.chars().next().is_some_and(char::is_uppercase) {
        name
    } else {
        format!("X{name}")
    }
}

/// Whether `name` can be a package's name.
pub(super) fn is_package(name: &str) -> bool {
    const KEYWORDS: [&str; 25] = [
        "break",
        "case",
        "chan",
        "const",
        "continue",
        "default",
        "defer",
        "else",
        "fallthrough",
        "for",
        "func",
        "go",
        "goto",
        "if",
        "import",
        "interface",
        "map",
        "package",
        "range",
        "return",
        "select",
        "struct",
        "switch",
        "type",
        "var",
    ];
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !KEYWORDS.contains(&name)
}

pub(super) fn plan(model: &Model) -> Result<Vec<Item>, GenerateError> {
    let mut planner = Planner {
        model,
        items: Vec::new(),
        definition: String::new(),
        place: String::new(),
    };
    for definition in model.definitions() {
        planner.definition.clone_from(&definition.name);
        planner.definition(definition)?;
    }
    let mut seen: HashSet<String> = OWN_NAMES.iter().map(|&name| name.to_owned()).collect();
    for item in &planner.items {
        let (name, values) = match item {
            Item::Struct(item) => (&item.name, &[][..]),
            Item::Alias { name, .. } => (name, &[][..]),
            Item::Enum(item) => (&item.name, item.values.as_slice()),
        };
        let mut names = vec![name.clone()];
        names.extend(values.iter().map(|value| value.name.clone()));
        for name in names {
            if !seen.insert(name.clone()) {
                return Err(GenerateError::Twice { name });
            }
        }
    }
    for message in model.requests().map(|request| request.definition) {
        planner.constructor_is_free(&seen, message)?;
    }
    for message in model.events().map(|event| event.definition) {
        planner.constructor_is_free(&seen, message)?;
    }
    Ok(planner.items)
}

struct Planner<'m> {
    model: &'m Model,
    items: Vec<Item>,
    /// The definition that is planned.
    definition: String,
    /// The property that is planned, in words.
    place: String,
}

impl Planner<'_> {
    fn constructor_is_free(
        &self,
        seen: &HashSet<String>,
        message: &Definition,
    ) -> Result<(), GenerateError> {
        let name = format!("New{}", exported(&message.name));
        match seen.contains(&name) {
            true => Err(GenerateError::Twice { name }),
            false => Ok(()),
        }
    }

    fn definition(&mut self, definition: &Definition) -> Result<(), GenerateError> {
        let name = exported(&definition.name);
        let said = definition.schema.description.clone();
        let doc = said.unwrap_or_else(|| format!("The protocol's `{}`.", definition.name));
        match &definition.schema.ty {
            Type::Object(object) => {
                let inherited = self.inherited(definition);
                // A base that keeps unknown fields would read and write in place of a struct that embeds it.
                let embeds = definition
                    .base
                    .as_deref()
                    .filter(|base| !self.keeps_unknown(base));
                let all = self.model.all_properties(definition);
                let own: Vec<&Property> = match embeds {
                    None => all.iter().collect(),
                    // What tells messages apart has its place in the base.
                    Some(_) => {
                        let overrides = |property: &Property| {
                            let base = inherited.iter().any(|base| base.name == property.name);
                            base && is_constant(property)
                        };
                        let own = object.properties.iter();
                        own.filter(|property| !overrides(property)).collect()
                    }
                };
                let start = Start {
                    name: name.clone(),
                    doc,
                    embeds: embeds.map(exported),
                    keeps_unknown: self.keeps_unknown(&definition.name),
                };
                self.structure(start, &own)
            }
            Type::Enumeration(values) => {
                let item = enumeration(name, doc, values);
                self.items.push(Item::Enum(item));
                Ok(())
            }
            ty => {
                self.place = name.clone();
                let (target, more) = self.ty(&name, ty)?;
                let doc = below(doc, more);
                self.items.push(Item::Alias { name, doc, target });
                Ok(())
            }
        }
    }

    /// Whether a definition or one of its bases keeps fields that it doesn't list.
    fn keeps_unknown(&self, name: &str) -> bool {
        let mut name = Some(name);
        // Reading the model has made sure that the bases end.
        while let Some(definition) = name.and_then(|name| self.model.get(name)) {
            let object = definition.object();
            if KEEPS_UNKNOWN.contains(&definition.name.as_str())
                || object.is_some_and(|object| object.additional != Additional::Unsaid)
            {
                return true;
            }
            name = definition.base.as_deref();
        }
        false
    }

    fn inherited(&self, definition: &Definition) -> Vec<Property> {
        let base = definition
            .base
            .as_ref()
            .and_then(|name| self.model.get(name));
        base.map(|base| self.model.all_properties(base))
            .unwrap_or_default()
    }

    fn structure(&mut self, start: Start, properties: &[&Property]) -> Result<(), GenerateError> {
        let mut seen: HashSet<String> = start.embeds.iter().cloned().collect();
        if start.keeps_unknown {
            seen.insert("Other".into());
        }
        let at = self.items.len();
        let mut fields = Vec::new();
        for property in properties {
            let field = self.field(&start.name, property)?;
            if !seen.insert(field.name.clone()) {
                return Err(GenerateError::Field {
                    definition: self.definition.clone(),
                    property: property.name.clone(),
                    name: field.name,
                });
            }
            fields.push(field);
        }
        let item = Item::Struct(Struct {
            name: start.name,
            doc: start.doc,
            embeds: start.embeds,
            fields,
            keeps_unknown: start.keeps_unknown,
        });
        // In front of the types that its fields have needed.
        self.items.insert(at, item);
        Ok(())
    }

    fn field(&mut self, prefix: &str, property: &Property) -> Result<Field, GenerateError> {
        if !is_tag(&property.name) {
            return Err(GenerateError::Tag {
                definition: self.definition.clone(),
                property: property.name.clone(),
            });
        }
        let in_place = format!("{prefix}{}", exported(&property.name));
        let schema = &property.schema;
        self.place = format!("`{}` of {prefix}", property.name);
        let (ty, more) = self.ty(&in_place, &schema.ty)?;
        let said = schema.description.clone();
        let mut doc = said.unwrap_or_else(|| format!("The protocol's `{}`.", property.name));
        doc = below(doc, more);
        doc = below(doc, prose::range(&schema.ty));
        // A raw value is absent where it is empty. A nullable one is a pointer already; if it may also be absent, it has to be raw.
        let ty = match (property.required, ty.as_str()) {
            (true, _) | (false, RAW) => ty,
            (false, nullable) if nullable.starts_with('*') => RAW.into(),
            (false, _) => format!("*{ty}"),
        };
        Ok(Field {
            wire: property.name.clone(),
            name: exported(&property.name),
            doc,
            ty,
            required: property.required,
        })
    }

    /// The Go type of a value, and what has to be said of it.
    fn ty(&mut self, in_place: &str, ty: &Type) -> Result<(String, Option<String>), GenerateError> {
        let plain = |name: &str| (name.to_owned(), None);
        Ok(match ty {
            Type::Boolean => plain("bool"),
            Type::Integer(_) => plain("int"),
            Type::Number { .. } => plain("float64"),
            Type::String => plain("string"),
            Type::Any | Type::Null => plain(RAW),
            Type::Reference(name) => (exported(name), None),
            Type::Enumeration(values) => {
                let doc = format!("The values of {}.", self.place);
                let item = enumeration(in_place.to_owned(), doc, values);
                self.items.push(Item::Enum(item));
                plain(in_place)
            }
            Type::Array(items) => {
                let (item, more) = self.ty(in_place, &items.ty)?;
                let more = more.map(|more| more.replace("One of:", "Each one of:"));
                (format!("List[{item}]"), more)
            }
            Type::Object(object) => self.object(in_place, object)?,
            Type::OneOf(schemas) => {
                let types = schemas.iter().map(|schema| &schema.ty);
                (RAW.into(), Some(one_of(types)))
            }
            Type::Union(types) => match types.as_slice() {
                [one, Type::Null] | [Type::Null, one] => match self.ty(in_place, one)? {
                    (ty, more) if ty == RAW => (ty, more),
                    (ty, more) => (format!("*{ty}"), more),
                },
                types => (RAW.into(), Some(one_of(types.iter()))),
            },
        })
    }

    fn object(
        &mut self,
        in_place: &str,
        object: &Object,
    ) -> Result<(String, Option<String>), GenerateError> {
        if !object.properties.is_empty() {
            let start = Start {
                name: in_place.to_owned(),
                doc: format!("The {}.", self.place),
                embeds: None,
                keeps_unknown: object.additional != Additional::Unsaid,
            };
            let properties: Vec<&Property> = object.properties.iter().collect();
            self.structure(start, &properties)?;
            return Ok((in_place.to_owned(), None));
        }
        Ok(match &object.additional {
            Additional::Values(values) => {
                let (value, more) = self.ty(in_place, &values.ty)?;
                (format!("map[string]{value}"), more)
            }
            Additional::Any | Additional::Unsaid => (format!("map[string]{RAW}"), None),
        })
    }
}

/// A struct before its fields.
struct Start {
    name: String,
    doc: String,
    embeds: Option<String>,
    keeps_unknown: bool,
}

const RAW: &str = "json.RawMessage";

fn enumeration(name: String, doc: String, values: &Enumeration) -> Enum {
    let known = values.values.iter().enumerate().map(|(i, value)| {
        let word = match capitalized(value) {
            word if word.is_empty() => format!("Value{}", i + 1),
            word => word,
        };
        Value {
            name: format!("{name}{word}"),
            wire: value.clone(),
            doc: values.descriptions.get(i).cloned(),
        }
    });
    Enum {
        values: known.collect(),
        doc,
        open: values.open,
        name,
    }
}

fn is_constant(property: &Property) -> bool {
    matches!(&property.schema.ty, Type::Enumeration(values) if !values.open && values.values.len() == 1)
}

/// Whether `encoding/json` takes a name from a field's tag. It ignores others, and `-` leaves the field out.
fn is_tag(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "!#$%&()*+-./:;<=>?@[]^_{|}~ ".contains(c);
    !name.is_empty() && name != "-" && name.chars().all(allowed)
}

/// The alternatives, in the protocol's words.
fn one_of<'t>(types: impl Iterator<Item = &'t Type>) -> String {
    let names: Vec<String> = types.map(described).collect();
    format!("One of: {}.", names.join(", "))
}

fn described(ty: &Type) -> String {
    match ty {
        Type::Any => "any value".into(),
        Type::Null => "null".into(),
        Type::Boolean => "a boolean".into(),
        Type::Integer(_) => "an integer".into(),
        Type::Number { .. } => "a number".into(),
        Type::String | Type::Enumeration(_) => "a string".into(),
        Type::Array(_) => "an array".into(),
        Type::Object(_) => "an object".into(),
        Type::Reference(name) => exported(name),
        Type::OneOf(schemas) => {
            let names: Vec<String> = schemas.iter().map(|schema| described(&schema.ty)).collect();
            names.join(", ")
        }
        Type::Union(types) => types.iter().map(described).collect::<Vec<_>>().join(", "),
    }
}

fn below(text: String, more: Option<String>) -> String {
    match more {
        Some(more) => format!("{text}\n{more}"),
        None => text,
    }
}
