//! Messages to read and write with generated types: recorded ones, and ones made from the definition.

use dapple_schema::Model;
use dapple_schema::model::{Additional, Definition, Object, Type};
use serde_json::{Map, Value, json};
use std::path::Path;

/// How many values the longest enumeration has, at most.
const LISTED: usize = 24;

/// How deep an object within itself is followed.
const DEPTH: usize = 6;

/// Definitions whose objects may have more than they list.
const KEEPS_UNKNOWN: [&str; 3] = [
    "Capabilities",
    "LaunchRequestArguments",
    "AttachRequestArguments",
];

/// The messages recorded for `dapple-dap`'s fuzzing, without the fields that `model` does not list.
pub fn recorded(model: &Model) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dap/fuzz/seeds/payload");
    let files = std::fs::read_dir(&folder).expect("the recorded messages are there");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let read = |path| -> Value {
        let text = std::fs::read_to_string(path).expect("a recorded message can be read");
        let mut message = serde_json::from_str(&text).expect("a recorded message is JSON");
        prune_message(model, &mut message);
        message
    };
    paths.into_iter().map(read).collect()
}

fn prune_message(model: &Model, message: &mut Value) {
    let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
    let (command, event) = (text("command"), text("event"));
    let request = model.requests().find(|request| request.command == command);
    let definition = match text("type").as_str() {
        "event" => model
            .events()
            .find(|known| known.event == event)
            .map(|known| known.definition),
        "request" => request.map(|request| request.definition),
        _ if message["success"] == json!(false) => model.get("ErrorResponse"),
        _ => request.and_then(|request| request.response),
    };
    let definition = definition.expect("what was recorded is defined");
    prune(model, &Type::Reference(definition.name.clone()), message);
}

/// Removes the fields that `ty` does not list.
fn prune(model: &Model, ty: &Type, value: &mut Value) {
    match (ty, value) {
        (Type::Reference(name), value) => {
            let definition = model.get(name).expect("references point somewhere");
            let Some(own) = definition.object() else {
                return;
            };
            let mut object = own.clone();
            object.properties = model.all_properties(definition);
            if KEEPS_UNKNOWN.contains(&name.as_str()) {
                object.additional = Additional::Any;
            }
            prune(model, &Type::Object(object), value);
        }
        (Type::Array(items), Value::Array(list)) => {
            list.iter_mut()
                .for_each(|item| prune(model, &items.ty, item));
        }
        (Type::Object(object), Value::Object(fields)) => {
            let is_open = object.additional != Additional::Unsaid || object.properties.is_empty();
            fields.retain(|name, _| is_open || object.property(name).is_some());
            for property in &object.properties {
                if let Some(value) = fields.get_mut(&property.name) {
                    prune(model, &property.schema.ty, value);
                }
            }
        }
        _ => {}
    }
}

/// Messages for each request, response and event: one with what is required; one with everything, values that open enumerations don't list,
/// and the other alternative of each union; and as many with everything as there are values in the longest enumeration, so that each
/// listed value is in one of them.
pub fn made(model: &Model) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut variants = vec![Variant::Smallest, Variant::Other];
    variants.extend((0..LISTED).map(Variant::Full));
    for variant in variants {
        let maker = Maker { model, variant };
        for request in model.requests() {
            messages.push(maker.message(request.definition, &[]));
            if let Some(response) = request.response {
                let said = [
                    ("command", json!(request.command)),
                    ("success", json!(true)),
                ];
                messages.push(maker.message(response, &said));
            }
        }
        for event in model.events() {
            messages.push(maker.message(event.definition, &[]));
        }
        if let Some(failure) = model.get("ErrorResponse") {
            messages.push(maker.message(failure, &[("success", json!(false))]));
        }
    }
    messages
}

#[derive(Clone, Copy, PartialEq)]
enum Variant {
    Smallest,
    /// With the listed values of this index, counted round.
    Full(usize),
    Other,
}

struct Maker<'m> {
    model: &'m Model,
    variant: Variant,
}

impl Maker<'_> {
    fn message(&self, definition: &Definition, said: &[(&str, Value)]) -> Value {
        let mut message = self.definition(definition, 0);
        for (name, value) in said {
            message[*name] = value.clone();
        }
        message
    }

    fn definition(&self, definition: &Definition, depth: usize) -> Value {
        match definition.object() {
            Some(_) => {
                let mut object = definition.object().cloned().unwrap_or_default();
                object.properties = self.model.all_properties(definition);
                self.object(&object, depth)
            }
            None => self.value(&definition.schema.ty, depth),
        }
    }

    fn object(&self, object: &Object, depth: usize) -> Value {
        let mut fields = Map::new();
        for property in &object.properties {
            if property.required || (self.variant != Variant::Smallest && depth < DEPTH) {
                let value = self.value(&property.schema.ty, depth + 1);
                fields.insert(property.name.clone(), value);
            }
        }
        match &object.additional {
            Additional::Values(values) => {
                fields.insert("a key".into(), self.value(&values.ty, depth + 1));
            }
            Additional::Any => {
                fields.insert("a key".into(), json!({"large": 9_007_199_254_740_993_i64}));
            }
            Additional::Unsaid => {}
        }
        Value::Object(fields)
    }

    fn value(&self, ty: &Type, depth: usize) -> Value {
        let other = self.variant == Variant::Other;
        match ty {
            Type::Any if other => Value::Null,
            Type::Any => json!([{"any": 0.5}]),
            Type::Null => Value::Null,
            Type::Boolean => json!(!other),
            Type::Integer(integer) => match integer.range() {
                (low, high) if other => json!(high.or(low).unwrap_or(0)),
                (low, _) => json!(low.unwrap_or(0)),
            },
            Type::Number { .. } if other => json!(100),
            Type::Number { .. } => json!(0.5),
            Type::String => json!(if other {
                ""
            } else {
                "a text: \"é\u{2028}\\<&>"
            }),
            Type::Enumeration(values) if other && values.open => json!("unlisted"),
            Type::Enumeration(values) => {
                assert!(values.values.len() <= LISTED, "each value is in a message");
                let index = match self.variant {
                    Variant::Full(index) => index % values.values.len(),
                    Variant::Smallest | Variant::Other => 0,
                };
                json!(values.values[index])
            }
            Type::Array(_) if other || self.variant == Variant::Smallest => json!([]),
            Type::Array(items) => json!([self.value(&items.ty, depth + 1)]),
            Type::Object(object) => self.object(object, depth),
            Type::Reference(name) => {
                let definition = self.model.get(name).expect("references point somewhere");
                self.definition(definition, depth)
            }
            Type::OneOf(schemas) => {
                let schema = if other {
                    schemas.last()
                } else {
                    schemas.first()
                };
                self.value(&schema.expect("there are alternatives").ty, depth)
            }
            Type::Union(types) => {
                let ty = if other { types.last() } else { types.first() };
                self.value(ty.expect("there are alternatives"), depth)
            }
            _ => Value::Null,
        }
    }
}
