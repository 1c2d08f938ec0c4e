//! Plans the Rust items for the definitions: decides every name and type, and writes nothing.

use super::GenerateError;
use super::names;
use crate::Model;
use crate::model::{Additional, Definition, Enumeration, Object, Property, Schema, Type};
use crate::prose::range;
use std::collections::{BTreeSet, HashSet};

/// Definitions whose structs keep unknown fields.
const KEEPS_UNKNOWN: [&str; 3] = [
    "Capabilities",
    "LaunchRequestArguments",
    "AttachRequestArguments",
];

/// One top-level item of the generated file.
pub(super) enum Item {
    Struct(Struct),
    Enum(Enum),
    /// `pub type name = target;`
    Alias {
        name: String,
        doc: Vec<String>,
        target: String,
    },
    /// A request's marker.
    Request(RequestMarker),
    /// An event's marker.
    Event(EventMarker),
}

impl Item {
    fn name(&self) -> &str {
        match self {
            Item::Struct(item) => &item.name,
            Item::Enum(item) => &item.name,
            Item::Alias { name, .. } => name,
            Item::Request(item) => &item.name,
            Item::Event(item) => &item.name,
        }
    }
}

pub(super) struct Struct {
    pub name: String,
    pub doc: Vec<String>,
    pub fields: Vec<Field>,
    pub keeps_unknown: bool,
}

impl Struct {
    /// Whether every field may be absent or has only one value.
    pub fn has_default(&self) -> bool {
        self.fields
            .iter()
            .all(|field| field.presence.is_optional() || field.constant.is_some())
    }
}

pub(super) struct Field {
    pub wire: String,
    /// The name as written in code, including `r#`.
    pub name: String,
    pub doc: Vec<String>,
    /// The type without the `Option`.
    pub ty: String,
    pub presence: Presence,
    /// The variant that the field always has.
    pub constant: Option<String>,
}

/// The meaning of absence and `null` for a field.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Presence {
    Required,
    /// May be absent; `null` means absent, too.
    Optional,
    /// May be absent; `null` is a value.
    OptionalKeepsNull,
    /// Required; its value may be `null`.
    RequiredNullable,
}

impl Presence {
    pub fn is_optional(self) -> bool {
        matches!(self, Presence::Optional | Presence::OptionalKeepsNull)
    }
}

pub(super) struct Enum {
    pub name: String,
    pub doc: Vec<String>,
    pub open: bool,
    pub variants: Vec<Variant>,
}

pub(super) struct Variant {
    pub name: String,
    pub wire: String,
    pub doc: Option<String>,
}

pub(super) struct RequestMarker {
    pub name: String,
    pub doc: Vec<String>,
    pub command: String,
    pub capability: Option<String>,
    pub reverse: bool,
    pub arguments: String,
    pub response: String,
}

pub(super) struct EventMarker {
    pub name: String,
    pub doc: Vec<String>,
    pub event: String,
    pub body: String,
}

/// The items for all definitions of `model`.
pub(super) fn plan(model: &Model) -> Result<Vec<Item>, GenerateError> {
    let definitions = model.definitions().iter();
    let mut planner = Planner::new(model, &KEEPS_UNKNOWN);
    planner.all(definitions, HashSet::new())?;
    Ok(planner.items)
}

/// What a definition adds to a base.
pub(super) struct Extension {
    /// The items for what the base doesn't have.
    pub items: Vec<Item>,
    /// The base's definitions that they refer to, by their Rust names.
    pub imports: BTreeSet<String>,
}

/// Whether a definition is `base`'s own, unchanged.
pub(super) fn is_of_base(base: &Model, definition: &Definition) -> bool {
    base.get(&definition.name) == Some(definition)
}

/// The items for the definitions of `model` that are not the base's. Their names must not be in `taken`.
pub(super) fn extension(
    model: &Model,
    base: &Model,
    taken: &[&'static str],
) -> Result<Extension, GenerateError> {
    let mut planner = Planner::new(model, &[]);
    let own = model.definitions().iter();
    planner.all(
        own.filter(|definition| !is_of_base(base, definition)),
        taken.iter().map(|&name| name.to_owned()).collect(),
    )?;
    let mut imports = BTreeSet::new();
    for name in &planner.references {
        let Some(definition) = model.get(name) else {
            continue;
        };
        if !is_of_base(base, definition) {
            continue;
        }
        // An own item of that name would be taken for the base's.
        if planner
            .items
            .iter()
            .any(|item| item.name() == type_name(name))
        {
            return Err(GenerateError::Twice {
                name: type_name(name),
            });
        }
        imports.insert(name.clone());
    }
    Ok(Extension {
        items: planner.items,
        imports,
    })
}

/// The Rust name of a definition. `Request`, `Response` and `Event` get a suffix, because traits are called `Request` and `Event`.
pub(super) fn type_name(definition: &str) -> String {
    match definition {
        "Request" | "Response" | "Event" => format!("{definition}Message"),
        other => names::pascal(other),
    }
}

fn paragraphs(schema: &Schema, or: String) -> Vec<String> {
    schema.description.as_ref().map_or_else(
        || vec![or],
        |text| text.lines().map(str::to_owned).collect(),
    )
}

struct Planner<'m> {
    model: &'m Model,
    keeps_unknown: &'static [&'static str],
    items: Vec<Item>,
    /// The definition that is planned.
    definition: String,
    /// The definitions that the items refer to.
    references: BTreeSet<String>,
}

impl<'m> Planner<'m> {
    fn new(model: &'m Model, keeps_unknown: &'static [&'static str]) -> Self {
        Planner {
            model,
            keeps_unknown,
            items: Vec::new(),
            definition: String::new(),
            references: BTreeSet::new(),
        }
    }

    /// Plans `definitions`. No item may have a name that is in `taken`.
    fn all<'d>(
        &mut self,
        definitions: impl Iterator<Item = &'d Definition>,
        mut taken: HashSet<String>,
    ) -> Result<(), GenerateError> {
        for definition in definitions {
            self.definition.clone_from(&definition.name);
            self.definition(definition)?;
        }
        for name in self.items.iter().map(Item::name) {
            if !names::is_identifier(name) {
                return Err(GenerateError::Name { name: name.into() });
            }
            if !taken.insert(name.to_owned()) {
                return Err(GenerateError::Twice { name: name.into() });
            }
        }
        Ok(())
    }

    /// The Rust name of a definition that is referred to.
    fn reference(&mut self, name: &str) -> String {
        self.references.insert(name.to_owned());
        type_name(name)
    }

    fn unsupported(&self, property: &str, what: impl Into<String>) -> GenerateError {
        GenerateError::Unsupported {
            definition: self.definition.clone(),
            property: property.into(),
            what: what.into(),
        }
    }

    fn definition(&mut self, definition: &Definition) -> Result<(), GenerateError> {
        let name = type_name(&definition.name);
        let doc = paragraphs(
            &definition.schema,
            format!("The protocol's `{}`.", definition.name),
        );
        if let Some(request) = self
            .model
            .requests()
            .find(|request| request.definition.name == definition.name)
        {
            let arguments = match request.arguments {
                Some(property) => self.payload(&name, "Arguments", property)?,
                None => "Empty".into(),
            };
            let response = request
                .response
                .map_or("Empty".into(), |response| self.reference(&response.name));
            self.items.push(Item::Request(RequestMarker {
                name,
                doc,
                command: request.command.into(),
                capability: request.capability.map(str::to_owned),
                reverse: request.reverse,
                arguments,
                response,
            }));
            return Ok(());
        }
        if let Some(event) = self
            .model
            .events()
            .find(|event| event.definition.name == definition.name)
        {
            let body = match event.body {
                Some(property) => self.payload(&name, "Body", property)?,
                None => "Empty".into(),
            };
            self.items.push(Item::Event(EventMarker {
                name,
                doc,
                event: event.event.into(),
                body,
            }));
            return Ok(());
        }
        if definition.base.as_deref() == Some("Response") {
            return self.response(name, doc, definition);
        }
        match &definition.schema.ty {
            Type::Object(object) => {
                let merged;
                let properties =
                    if definition.base.is_some() || is_base(self.model, &definition.name) {
                        merged = self.model.all_properties(definition);
                        &merged
                    } else {
                        &object.properties
                    };
                self.structure(name.clone(), &name, doc, properties)
            }
            Type::Enumeration(values) => {
                let item = self.enumeration(name, doc, values)?;
                self.items.push(Item::Enum(item));
                Ok(())
            }
            _ => Err(self.unsupported(
                ".",
                "only objects and enumerations of strings make a definition",
            )),
        }
    }

    /// Plans a response, which is represented by its body.
    fn response(
        &mut self,
        name: String,
        mut doc: Vec<String>,
        definition: &Definition,
    ) -> Result<(), GenerateError> {
        let body = definition
            .object()
            .and_then(|object| object.property("body"));
        match body.map(|body| &body.schema.ty) {
            None => self.items.push(Item::Alias {
                name,
                doc,
                target: "Empty".into(),
            }),
            Some(Type::Reference(target)) => {
                let target = self.reference(target);
                self.items.push(Item::Alias { name, doc, target });
            }
            Some(Type::Object(object)) => {
                if let Some(text) = body.and_then(|body| body.schema.description.as_ref()) {
                    doc.extend(text.lines().map(str::to_owned));
                }
                self.structure(name.clone(), &name, doc, &object.properties)?;
            }
            Some(_) => {
                return Err(self.unsupported(
                    "body",
                    "a response's body must be an object or a reference to one",
                ));
            }
        }
        Ok(())
    }

    /// The type of a request's arguments or an event's body. An inline object becomes a struct of its own.
    fn payload(
        &mut self,
        owner: &str,
        suffix: &str,
        property: &Property,
    ) -> Result<String, GenerateError> {
        match &property.schema.ty {
            Type::Reference(target) => Ok(self.reference(target)),
            Type::Object(object) => {
                let name = format!("{owner}{suffix}");
                let doc = paragraphs(
                    &property.schema,
                    format!("The {} of [`{owner}`].", property.name),
                );
                self.structure(name.clone(), owner, doc, &object.properties)?;
                Ok(name)
            }
            _ => Err(self.unsupported(
                &property.name,
                "a payload must be an object or a reference to one",
            )),
        }
    }

    /// Plans a struct. Inline enumerations and objects are named after `prefix` and the property.
    fn structure(
        &mut self,
        name: String,
        prefix: &str,
        doc: Vec<String>,
        properties: &[Property],
    ) -> Result<(), GenerateError> {
        let keeps_unknown = self.keeps_unknown.contains(&name.as_str());
        let mut fields = Vec::new();
        let mut nested = Vec::new();
        for property in properties {
            fields.push(self.field(prefix, property, &mut nested)?);
        }
        let mut seen: HashSet<&str> = keeps_unknown.then_some("other").into_iter().collect();
        if let Some(field) = fields.iter().find(|field| !seen.insert(&field.name)) {
            return Err(self.unsupported(
                &field.wire,
                format!("a second field would be called `{}`", field.name),
            ));
        }
        if let Some(field) = fields
            .iter()
            .find(|field| !names::is_identifier(&field.name))
        {
            return Err(self.unsupported(&field.wire, "this name has no form in Rust"));
        }
        let item = Struct {
            name,
            doc,
            fields,
            keeps_unknown,
        };
        if keeps_unknown && !item.has_default() {
            return Err(self.unsupported(
                ".",
                "a definition that keeps unknown fields must have nothing required",
            ));
        }
        self.items.push(Item::Struct(item));
        self.items.extend(nested);
        Ok(())
    }

    fn field(
        &mut self,
        prefix: &str,
        property: &Property,
        nested: &mut Vec<Item>,
    ) -> Result<Field, GenerateError> {
        let schema = &property.schema;
        let in_place = format!("{prefix}{}", names::pascal(&property.name));
        let (ty, keeps_null) = self.ty(&in_place, &property.name, schema, nested)?;
        let presence = match (property.required, keeps_null) {
            (true, true) if ty == "Raw" => Presence::Required,
            (true, true) => Presence::RequiredNullable,
            (true, false) => Presence::Required,
            (false, true) if ty == "Raw" => Presence::OptionalKeepsNull,
            (false, true) => {
                return Err(self.unsupported(&property.name, "optional and nullable: three states"));
            }
            (false, false) => Presence::Optional,
        };
        let mut doc = paragraphs(schema, format!("The protocol's `{}`.", property.name));
        doc.extend(range(&schema.ty));
        let constant = match &schema.ty {
            Type::Enumeration(Enumeration {
                values,
                open: false,
                ..
            }) if values.len() == 1 && property.required => Some(names::pascal(&values[0])),
            _ => None,
        };
        Ok(Field {
            wire: property.name.clone(),
            name: names::field(&property.name),
            doc,
            ty,
            presence,
            constant,
        })
    }

    /// The Rust type of a property, and whether `null` is one of its values.
    fn ty(
        &mut self,
        in_place: &str,
        property: &str,
        schema: &Schema,
        nested: &mut Vec<Item>,
    ) -> Result<(String, bool), GenerateError> {
        Ok(match &schema.ty {
            Type::Boolean => ("bool".into(), false),
            Type::Integer(_) => ("i64".into(), false),
            Type::Number { .. } => ("f64".into(), false),
            Type::String => ("String".into(), false),
            Type::Reference(name) => (self.reference(name), false),
            Type::Any | Type::Null => ("Raw".into(), true),
            // The alternatives cannot be told apart by their shape, so the JSON is kept.
            Type::OneOf(_) => ("Raw".into(), false),
            Type::Enumeration(values) => {
                let doc = vec![format!(
                    "The values of `{property}` in `{}`.",
                    self.definition
                )];
                let item = self.enumeration(in_place.into(), doc, values)?;
                nested.push(Item::Enum(item));
                (in_place.into(), false)
            }
            Type::Array(items) => {
                let (item, nullable) = self.ty(in_place, property, items, nested)?;
                if nullable && item != "Raw" {
                    (format!("Vec<Option<{item}>>"), false)
                } else {
                    (format!("Vec<{item}>"), false)
                }
            }
            Type::Object(Object {
                properties,
                additional,
            }) => match additional {
                Additional::Values(values) if properties.is_empty() => {
                    let (value, nullable) = self.ty(in_place, property, values, nested)?;
                    let value = if nullable && value != "Raw" {
                        format!("Option<{value}>")
                    } else {
                        value
                    };
                    (format!("BTreeMap<String, {value}>"), false)
                }
                Additional::Any if properties.is_empty() => ("BTreeMap<String, Raw>".into(), false),
                Additional::Unsaid if !properties.is_empty() => {
                    let doc = paragraphs(
                        schema,
                        format!("The `{property}` of `{}`.", self.definition),
                    );
                    self.structure(in_place.into(), in_place, doc, properties)?;
                    (in_place.into(), false)
                }
                _ => {
                    return Err(self.unsupported(
                        property,
                        "an object has either properties or free content here",
                    ));
                }
            },
            Type::Union(types) => match types.as_slice() {
                [Type::Integer(_), Type::String] | [Type::String, Type::Integer(_)] => {
                    ("IntegerOrString".into(), false)
                }
                [Type::String, Type::Null] | [Type::Null, Type::String] => ("String".into(), true),
                _ => {
                    return Err(
                        self.unsupported(property, "this union of types has no form in Rust here")
                    );
                }
            },
        })
    }

    fn enumeration(
        &self,
        name: String,
        doc: Vec<String>,
        values: &Enumeration,
    ) -> Result<Enum, GenerateError> {
        let variants = values.values.iter().enumerate().map(|(i, value)| Variant {
            name: names::pascal(value),
            wire: value.clone(),
            doc: values.descriptions.get(i).cloned(),
        });
        let variants: Vec<Variant> = variants.collect();
        if let Some(variant) = variants.iter().find(|v| !names::is_identifier(&v.name)) {
            let what = format!("\"{}\" has no form in Rust", variant.wire);
            return Err(self.unsupported(&name, what));
        }
        let mut seen: HashSet<&str> = values.open.then_some("Other").into_iter().collect();
        if let Some(variant) = variants.iter().find(|variant| !seen.insert(&variant.name)) {
            let what = format!(
                "\"{}\" would be a second variant `{}`",
                variant.wire, variant.name
            );
            return Err(self.unsupported(&name, what));
        }
        Ok(Enum {
            name,
            doc,
            open: values.open,
            variants,
        })
    }
}

/// Whether other definitions extend this one.
fn is_base(model: &Model, name: &str) -> bool {
    model
        .definitions()
        .iter()
        .any(|definition| definition.base.as_deref() == Some(name))
}
