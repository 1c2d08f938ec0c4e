//! Parses a JSON schema file into the [`Model`].
//!
//! Unknown keywords are noted in the model ([`Model::unknown_keywords`]), since later versions of the protocol may use more of JSON
//! schema. Whoever uses the model reports them: otherwise they would silently be missing from the types, from validation and from the
//! comparison of two files. All else that is unexpected is an error, which names the definition and the property.

use crate::json::Node;
use crate::model::{
    Additional, Definition, Enumeration, Integer, Model, Object, Property, Schema, Type,
    UnknownKeyword,
};
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// The deepest nesting of schemas within a definition.
const MAX_DEPTH: usize = 16;

/// Why a schema could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is not JSON.
    #[error("the definition file is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The file as a whole is not a protocol definition.
    #[error("not a protocol definition: {0}")]
    File(String),
    /// Something in one definition.
    #[error("definition `{definition}`, at `{path}`: {what}")]
    Definition {
        /// The definition's name.
        definition: String,
        /// The property path within it, dots between names; `.` for the definition itself.
        path: String,
        /// What is wrong.
        what: String,
    },
}

impl Model {
    /// Parses the text of a schema file.
    ///
    /// # Errors
    /// The text is not JSON, or not a definition as expected: for example, a type is unknown, or a reference has no target. Unknown keywords
    /// are no error; they are in [`unknown_keywords`](Self::unknown_keywords).
    pub fn parse(text: &str) -> Result<Model, SchemaError> {
        Model::read(text, Vec::new(), Vec::new())
    }

    /// Parses the text of a schema file that extends this model, for example by an adapter's own requests. The result has the definitions
    /// of both, this model's first. If both define a name, the file's definition takes the place of this model's. Title and description
    /// are those of the file.
    ///
    /// # Errors
    /// As for [`Model::parse`].
    pub fn extended_by(&self, text: &str) -> Result<Model, SchemaError> {
        Model::read(text, self.definitions.clone(), self.unknown.clone())
    }

    fn read(
        text: &str,
        mut definitions: Vec<Definition>,
        mut base_unknown: Vec<UnknownKeyword>,
    ) -> Result<Model, SchemaError> {
        let Node::Object(entries) = serde_json::from_str(text)? else {
            return Err(SchemaError::File("the file does not hold an object".into()));
        };
        let mut found = false;
        let (mut title, mut description) = (None, None);
        let unknown = RefCell::new(Vec::new());
        let mut first_unexpected = None;
        let mut by_name: HashMap<_, _> = definitions
            .iter()
            .enumerate()
            .map(|(i, d)| (d.name.clone(), i))
            .collect();
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("definitions", Node::Object(list)) => {
                    for (name, node) in list {
                        found = true;
                        let definition = read_definition(name, &node, &unknown)?;
                        // The base's definition is replaced, with what was unknown in it.
                        base_unknown.retain(|known| known.definition != definition.name);
                        match by_name.entry(definition.name.clone()) {
                            Entry::Occupied(place) => definitions[*place.get()] = definition,
                            Entry::Vacant(place) => {
                                place.insert(definitions.len());
                                definitions.push(definition);
                            }
                        }
                    }
                }
                ("title", Node::Text(text)) => title = Some(text),
                ("description", Node::Text(text)) => description = Some(text),
                ("$schema" | "type" | "$comment", _) => {}
                (known @ ("definitions" | "title" | "description"), value) => {
                    return Err(unexpected(known, &value));
                }
                (other, value) => {
                    first_unexpected.get_or_insert_with(|| unexpected(other, &value));
                    unknown.borrow_mut().push(UnknownKeyword {
                        definition: String::new(),
                        path: ".".into(),
                        keyword: other.to_owned(),
                    });
                }
            }
        }
        if !found {
            return Err(first_unexpected
                .unwrap_or_else(|| SchemaError::File("it has no `definitions`".into())));
        }
        // The alternatives of a `oneOf` have one path.
        let mut seen = HashSet::new();
        let mut unknown = unknown.into_inner();
        unknown.retain(|keyword| seen.insert(keyword.clone()));
        base_unknown.extend(unknown);
        let model = Model {
            title,
            description,
            definitions,
            by_name,
            unknown: base_unknown,
        };
        model.check_references()?;
        Ok(model)
    }

    fn check_references(&self) -> Result<(), SchemaError> {
        let unknown = RefCell::new(Vec::new());
        for definition in &self.definitions {
            let reader = Reader::new(&definition.name, &unknown);
            if let Some(base) = &definition.base {
                self.check_base(&reader, base)?;
            }
            self.check_schema(&reader, &definition.schema)?;
        }
        Ok(())
    }

    /// Checks that a base exists and is an object, and that the chain of bases ends.
    fn check_base(&self, reader: &Reader<'_>, base: &str) -> Result<(), SchemaError> {
        let mut name = base;
        for _ in 0..=self.definitions.len() {
            let Some(definition) = self.get(name) else {
                return Err(reader.error(format!("its base `{name}` is not defined")));
            };
            if definition.object().is_none() {
                return Err(reader.error(format!("its base `{name}` is not an object")));
            }
            match &definition.base {
                Some(next) => name = next,
                None => return Ok(()),
            }
        }
        Err(reader.error(format!("its base `{base}` is, in the end, based on itself")))
    }

    fn check_schema(&self, reader: &Reader<'_>, schema: &Schema) -> Result<(), SchemaError> {
        match &schema.ty {
            Type::Reference(name) if self.get(name).is_none() => {
                Err(reader.error(format!("`$ref` to `{name}`, which is not defined")))
            }
            Type::Array(items) => self.check_schema(reader, items),
            Type::OneOf(schemas) => schemas
                .iter()
                .try_for_each(|schema| self.check_schema(reader, schema)),
            Type::Object(object) => {
                for property in &object.properties {
                    self.check_schema(&reader.at(&property.name), &property.schema)?;
                }
                match &object.additional {
                    Additional::Values(values) => self.check_schema(reader, values),
                    Additional::Any | Additional::Unsaid => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

fn unexpected(name: &str, value: &Node) -> SchemaError {
    SchemaError::File(format!(
        "`{name}` holding {} is not expected there",
        value.kind()
    ))
}

fn read_definition(
    name: String,
    node: &Node,
    unknown: &RefCell<Vec<UnknownKeyword>>,
) -> Result<Definition, SchemaError> {
    let reader = Reader::new(&name, unknown);
    let keywords = reader.object(node)?;
    let extends = keywords.iter().find(|(key, _)| key == "allOf");
    let Some((_, Node::List(parts))) = extends else {
        if let [(key, Node::List(_))] = keywords.as_slice() {
            return Err(reader.error(format!("`{key}` alone does not make a definition")));
        }
        let schema = reader.schema(node)?;
        return Ok(Definition {
            base: None,
            schema,
            name,
        });
    };
    let beside = keywords.iter().filter(|(key, _)| key != "allOf").cloned();
    let beside = Node::Object(beside.collect());
    if reader.keywords(&beside)? != Keywords::default() {
        return Err(
            reader.error("nothing else is expected beside `allOf`: put it into its second part")
        );
    }
    let [base, own] = parts.as_slice() else {
        return Err(reader.error(format!(
            "`allOf` has {} parts; a base and an object are expected",
            parts.len()
        )));
    };
    let Type::Reference(base) = reader.schema(base)?.ty else {
        return Err(reader.error("the first part of `allOf` is not a `$ref`"));
    };
    let schema = reader.schema(own)?;
    if !matches!(schema.ty, Type::Object(_)) {
        return Err(reader.error("the second part of `allOf` is not an object"));
    }
    Ok(Definition {
        base: Some(base),
        schema,
        name,
    })
}

/// The current place in the file.
struct Reader<'a> {
    definition: &'a str,
    path: Vec<&'a str>,
    /// The unknown keywords of the whole file.
    unknown: &'a RefCell<Vec<UnknownKeyword>>,
}

/// The keywords of one schema.
#[derive(Default, PartialEq)]
struct Keywords<'n> {
    title: Option<String>,
    description: Option<String>,
    types: Vec<String>,
    reference: Option<String>,
    format: Option<String>,
    minimum: Option<&'n Node>,
    maximum: Option<&'n Node>,
    values: Option<(bool, Vec<String>)>,
    value_descriptions: Vec<String>,
    items: Option<&'n Node>,
    properties: Option<&'n Node>,
    required: Vec<String>,
    additional: Option<&'n Node>,
    one_of: Option<&'n Node>,
}

impl<'a> Reader<'a> {
    fn new(definition: &'a str, unknown: &'a RefCell<Vec<UnknownKeyword>>) -> Self {
        Reader {
            definition,
            path: Vec::new(),
            unknown,
        }
    }

    fn shown_path(&self) -> String {
        if self.path.is_empty() {
            ".".to_owned()
        } else {
            self.path.join(".")
        }
    }

    fn error(&self, what: impl Into<String>) -> SchemaError {
        SchemaError::Definition {
            definition: self.definition.to_owned(),
            path: self.shown_path(),
            what: what.into(),
        }
    }

    fn note_unknown(&self, keyword: &str) {
        let found = UnknownKeyword {
            definition: self.definition.to_owned(),
            path: self.shown_path(),
            keyword: keyword.to_owned(),
        };
        self.unknown.borrow_mut().push(found);
    }

    fn at<'b>(&self, name: &'b str) -> Reader<'b>
    where
        'a: 'b,
    {
        let mut path: Vec<&'b str> = self.path.clone();
        path.push(name);
        Reader {
            definition: self.definition,
            path,
            unknown: self.unknown,
        }
    }

    fn object<'n>(&self, node: &'n Node) -> Result<&'n Vec<(String, Node)>, SchemaError> {
        match node {
            Node::Object(entries) => Ok(entries),
            other => Err(self.error(format!(
                "a schema (an object) is expected here, not {}",
                other.kind()
            ))),
        }
    }

    fn text(&self, keyword: &str, node: &Node) -> Result<String, SchemaError> {
        match node {
            Node::Text(text) => Ok(text.clone()),
            other => Err(self.error(format!(
                "`{keyword}` must be a string, not {}",
                other.kind()
            ))),
        }
    }

    fn texts(&self, keyword: &str, node: &Node) -> Result<Vec<String>, SchemaError> {
        match node {
            Node::List(list) => list
                .iter()
                .map(|item| match item {
                    Node::Text(text) => Ok(text.clone()),
                    other => Err(self.error(format!(
                        "`{keyword}` must hold strings, not {}",
                        other.kind()
                    ))),
                })
                .collect(),
            other => Err(self.error(format!(
                "`{keyword}` must be an array of strings, not {}",
                other.kind()
            ))),
        }
    }

    fn keywords<'n>(&self, node: &'n Node) -> Result<Keywords<'n>, SchemaError> {
        let mut found = Keywords::default();
        for (key, value) in self.object(node)? {
            match key.as_str() {
                "title" => found.title = Some(self.text(key, value)?),
                // A long description may be written as a list of its lines.
                "description" if matches!(value, Node::List(_)) => {
                    found.description = Some(self.texts(key, value)?.join("\n"));
                }
                "description" => found.description = Some(self.text(key, value)?),
                "type" => {
                    found.types = match value {
                        Node::Text(one) => vec![one.clone()],
                        list => self.texts(key, list)?,
                    };
                }
                "$ref" => found.reference = Some(self.target(&self.text(key, value)?)?),
                "format" => found.format = Some(self.text(key, value)?),
                "minimum" => found.minimum = Some(value),
                "maximum" => found.maximum = Some(value),
                "enum" | "_enum" => {
                    if found.values.is_some() {
                        return Err(self.error("both `enum` and `_enum`"));
                    }
                    found.values = Some((key == "_enum", self.texts(key, value)?));
                }
                "enumDescriptions" => found.value_descriptions = self.texts(key, value)?,
                "items" => found.items = Some(value),
                "properties" => found.properties = Some(value),
                "required" => found.required = self.texts(key, value)?,
                "additionalProperties" => found.additional = Some(value),
                "oneOf" => found.one_of = Some(value),
                other => self.note_unknown(other),
            }
        }
        Ok(found)
    }

    fn target(&self, reference: &str) -> Result<String, SchemaError> {
        reference
            .strip_prefix("#/definitions/")
            .map(str::to_owned)
            .ok_or_else(|| {
                self.error(format!(
                    "`$ref` \"{reference}\" does not point to `#/definitions/…`"
                ))
            })
    }

    fn schema(&self, node: &Node) -> Result<Schema, SchemaError> {
        if self.path.len() > MAX_DEPTH {
            return Err(self.error("schemas are nested too deeply"));
        }
        let found = self.keywords(node)?;
        let ty = self.ty(&found)?;
        Ok(Schema {
            title: found.title,
            description: found.description,
            ty,
        })
    }

    fn ty(&self, found: &Keywords<'_>) -> Result<Type, SchemaError> {
        if let Some(name) = &found.reference {
            return Ok(Type::Reference(name.clone()));
        }
        if let Some(node) = found.one_of {
            let Node::List(list) = node else {
                return Err(self.error("`oneOf` must be an array of schemas"));
            };
            return Ok(Type::OneOf(
                list.iter()
                    .map(|node| self.at("oneOf").schema(node))
                    .collect::<Result<_, _>>()?,
            ));
        }
        match found.types.as_slice() {
            [] => Ok(Type::Any),
            [one] => self.single(one, found),
            many if many.len() == 7 => Ok(Type::Any),
            many => Ok(Type::Union(
                many.iter()
                    .map(|one| self.single(one, found))
                    .collect::<Result<_, _>>()?,
            )),
        }
    }

    fn single(&self, name: &str, found: &Keywords<'_>) -> Result<Type, SchemaError> {
        Ok(match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "integer" => Type::Integer(Integer {
                format: found.format.clone(),
                minimum: self.limit("minimum", found.minimum)?,
                maximum: self.limit("maximum", found.maximum)?,
            }),
            "number" => Type::Number {
                minimum: self.number("minimum", found.minimum)?,
                maximum: self.number("maximum", found.maximum)?,
            },
            "string" => match &found.values {
                Some((open, values)) => {
                    self.enumeration(*open, values, &found.value_descriptions)?
                }
                None => Type::String,
            },
            "array" => match found.items {
                Some(items) => Type::Array(Box::new(self.at("items").schema(items)?)),
                None => Type::Array(Box::new(Schema {
                    title: None,
                    description: None,
                    ty: Type::Any,
                })),
            },
            "object" => self.properties(found)?,
            other => return Err(self.error(format!("the type `{other}` is not known"))),
        })
    }

    fn enumeration(
        &self,
        open: bool,
        values: &[String],
        descriptions: &[String],
    ) -> Result<Type, SchemaError> {
        if values.is_empty() {
            return Err(self.error("the enumeration has no values"));
        }
        if !descriptions.is_empty() && descriptions.len() != values.len() {
            return Err(self.error(format!(
                "{} `enumDescriptions` for {} values: there must be one for each",
                descriptions.len(),
                values.len()
            )));
        }
        Ok(Type::Enumeration(Enumeration {
            values: values.to_vec(),
            descriptions: descriptions.to_vec(),
            open,
        }))
    }

    fn limit(&self, keyword: &str, node: Option<&Node>) -> Result<Option<i64>, SchemaError> {
        match node {
            None => Ok(None),
            Some(Node::Integer(value)) => Ok(Some(*value)),
            Some(other) => Err(self.error(format!(
                "`{keyword}` of an integer must be an integer, not {}",
                other.kind()
            ))),
        }
    }

    fn number(&self, keyword: &str, node: Option<&Node>) -> Result<Option<f64>, SchemaError> {
        match node {
            None => Ok(None),
            Some(Node::Integer(value)) => Ok(Some(*value as f64)),
            Some(Node::Number(value)) => Ok(Some(*value)),
            Some(other) => Err(self.error(format!(
                "`{keyword}` must be a number, not {}",
                other.kind()
            ))),
        }
    }

    fn properties(&self, found: &Keywords<'_>) -> Result<Type, SchemaError> {
        let mut properties = Vec::new();
        if let Some(node) = found.properties {
            for (name, node) in self.object(node)? {
                let schema = self.at(name).schema(node)?;
                properties.push(Property {
                    name: name.clone(),
                    required: found.required.contains(name),
                    schema,
                });
            }
        }
        if let Some(name) = found
            .required
            .iter()
            .find(|name| properties.iter().all(|p| &p.name != *name))
        {
            return Err(self.error(format!("`{name}` is required but is not a property")));
        }
        let additional = match found.additional {
            None => Additional::Unsaid,
            Some(Node::Bool(false)) => {
                return Err(self.error(
                    "`additionalProperties: false`: objects of this protocol may always have more",
                ));
            }
            Some(Node::Bool(true)) => Additional::Any,
            Some(node) => {
                Additional::Values(Box::new(self.at("additionalProperties").schema(node)?))
            }
        };
        Ok(Type::Object(Object {
            properties,
            additional,
        }))
    }
}
