//! A case for every property and every kind of value that the definition allows, generated from the definition itself.
//!
//! Each case is a whole message that is processed like real ones: framed and cut, parsed as an envelope, its payload decoded by
//! name and encoded again, and also decoded in one pass. The result is compared with the input, as JSON values.

use dapple_dap::AnyMessage;
use dapple_dap::codec::{self, Decoder};
use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::message;
use dapple_dap::types::*;
use dapple_schema::Model;
use dapple_schema::model::{Additional, Definition, Object, Property, Schema, Type};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// What a case tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    /// A payload with its required properties only.
    Smallest,
    /// A property that is present, or has this value.
    Property,
    /// A listed value of an enumeration.
    Listed,
    /// A value that an open enumeration does not list.
    Unlisted,
    /// The least or greatest integer of a range or type.
    Extreme,
    /// A field that the protocol does not have, in a type that keeps such fields.
    UnknownField,
    /// `null`, `{}` or an absent payload, where they are the same.
    Nothing,
}

/// A value for a place in a message.
struct Sample {
    /// The place and what is special about the value, such as `breakpoints[].mode="x"`.
    name: String,
    about: About,
    value: Value,
    /// The value expected after decoding and encoding.
    expected: Value,
}

impl Sample {
    fn new(about: About, name: impl Into<String>, value: Value) -> Self {
        Self {
            name: name.into(),
            about,
            expected: value.clone(),
            value,
        }
    }

    /// The same sample within a larger value.
    fn within(self, name: impl FnOnce(&str) -> String, place: impl Fn(Value) -> Value) -> Self {
        Self {
            name: name(&self.name),
            about: self.about,
            value: place(self.value),
            expected: place(self.expected),
        }
    }
}

/// Generates samples, and remembers which parts of the definition they cover.
struct Maker<'m> {
    model: &'m Model,
    /// The definitions around the current place. They are not expanded again within themselves.
    open: Vec<&'m str>,
    properties: BTreeSet<String>,
    values: BTreeSet<String>,
}

/// Definitions that keep unknown fields.
const KEEPS_UNKNOWN: [&str; 3] = [
    "Capabilities",
    "LaunchRequestArguments",
    "AttachRequestArguments",
];

impl<'m> Maker<'m> {
    fn new(model: &'m Model) -> Self {
        Self {
            model,
            open: Vec::new(),
            properties: BTreeSet::new(),
            values: BTreeSet::new(),
        }
    }

    fn get(&self, name: &str) -> &'m Definition {
        self.model.get(name).expect("references point somewhere")
    }

    /// The smallest value of a type.
    fn smallest(&self, ty: &Type) -> Value {
        match ty {
            Type::Any | Type::Null => Value::Null,
            Type::Boolean => json!(false),
            Type::Integer(integer) => json!(integer.range().0.unwrap_or(0).max(0)),
            Type::Number { minimum, .. } => json!(minimum.unwrap_or(0.0) + 0.5),
            Type::String => json!("text"),
            Type::Enumeration(values) => json!(values.values[0]),
            Type::Array(_) => json!([]),
            Type::Object(object) => self.smallest_object(&object.properties),
            Type::Reference(name) => self.smallest(&self.get(name).schema.ty),
            Type::OneOf(schemas) => self.smallest(&schemas[0].ty),
            Type::Union(types) => self.smallest(&types[0]),
            other => panic!("no value of {other:?}"),
        }
    }

    fn smallest_object(&self, properties: &[Property]) -> Value {
        let required = properties.iter().filter(|property| property.required);
        required
            .map(|property| (property.name.clone(), self.smallest(&property.schema.ty)))
            .collect::<Map<_, _>>()
            .into()
    }

    /// Values of a type, each special in one way. `owner` is the definition that contains them.
    fn samples(&mut self, owner: &str, ty: &'m Type) -> Vec<Sample> {
        let plain = |value: Value| Sample::new(About::Property, format!("={value}"), value);
        match ty {
            Type::Any => [
                json!(null),
                json!(true),
                json!(-1.5),
                json!(u64::MAX),
                json!("ü"),
                json!([1, [], {}]),
                json!({"a": {"b": null}}),
            ]
            .map(plain)
            .into(),
            Type::Null => vec![plain(Value::Null)],
            Type::Boolean => [json!(false), json!(true)].map(plain).into(),
            Type::Integer(integer) => {
                let (low, high) = integer.range();
                // Values outside of the range too: real ids exceed it, and received values are passed on.
                let extremes = [
                    low,
                    high,
                    Some(i64::from(i32::MIN)),
                    Some(i64::from(u32::MAX)),
                    Some(i64::MIN),
                    Some(i64::MAX),
                ];
                let values: BTreeSet<i64> = extremes.into_iter().flatten().collect();
                values
                    .into_iter()
                    .map(|value| {
                        Sample::new(About::Extreme, format!("={value}"), json!(value))
                    })
                    .collect()
            }
            Type::Number { .. } => {
                [json!(0), json!(100), json!(0.5), json!(99.999), json!(-1e300)]
                    .map(plain)
                    .into()
            }
            Type::String => [
                "",
                "text",
                "tëxt 🦀 \u{2028}",
                "\u{0}\u{1f}\u{7f}\"\\/\u{8}\u{c}\n\r\t",
                "a text that is longer than what fits into a machine word or a vector register, and then some",
            ]
            .map(|text| plain(json!(text)))
            .into(),
            Type::Enumeration(values) => {
                let mut samples: Vec<Sample> = values
                    .values
                    .iter()
                    .map(|value| Sample::new(About::Listed, format!("={value:?}"), json!(value)))
                    .collect();
                self.values
                    .extend(values.values.iter().map(|value| format!("{owner}={value}")));
                if values.open {
                    let upper = values.values[0].to_uppercase() + "!";
                    samples.extend(["", "of a later version", "ünknöwn \"\n", &upper].map(|value| {
                        Sample::new(About::Unlisted, format!("={value:?}"), json!(value))
                    }));
                }
                samples
            }
            Type::Array(items) => {
                let one = self.smallest(&items.ty);
                let mut samples = vec![
                    plain(json!([])),
                    Sample::new(About::Property, "=[three]", json!([one, one, one])),
                ];
                samples.extend(self.samples(owner, &items.ty).into_iter().map(|sample| {
                    sample.within(|name| format!("[]{name}"), |value| json!([value]))
                }));
                samples
            }
            Type::Object(object) => self.object_samples(owner, object),
            Type::Reference(name) => {
                let definition = self.get(name);
                if self.open.contains(&definition.name.as_str()) {
                    let smallest = self.smallest(ty);
                    return vec![Sample::new(About::Property, "=smallest", smallest)];
                }
                self.open.push(&definition.name);
                let samples = self.samples(name, &definition.schema.ty);
                self.open.pop();
                samples
            }
            // The alternatives cannot be told apart, so the received text is kept as it is, `null` too.
            Type::OneOf(schemas) => {
                let mut samples = Vec::new();
                for schema in schemas {
                    samples.extend(self.samples(owner, &schema.ty));
                }
                for sample in &mut samples {
                    sample.expected = sample.value.clone();
                }
                samples
            }
            Type::Union(types) => {
                let each = types.iter();
                each.flat_map(|ty| self.samples(owner, ty)).collect()
            }
            other => panic!("no values of {other:?}"),
        }
    }

    fn object_samples(&mut self, owner: &str, object: &'m Object) -> Vec<Sample> {
        let mut samples = self.properties_samples(owner, &object.properties);
        match &object.additional {
            Additional::Unsaid => {}
            Additional::Any => {
                let free = json!({"free": [null, {"x": 1}], "": ""});
                samples.push(Sample::new(About::Property, "{free}", free));
            }
            Additional::Values(values) => {
                samples.extend(self.samples(owner, &values.ty).into_iter().map(|sample| {
                    sample.within(
                        |name| format!("{{}}{name}"),
                        |value| json!({"a key": value.clone(), "": value}),
                    )
                }));
            }
        }
        samples
    }

    fn properties_samples(&mut self, owner: &str, properties: &'m [Property]) -> Vec<Sample> {
        let smallest = self.smallest_object(properties);
        let mut samples = vec![Sample::new(About::Smallest, "", smallest.clone())];
        let with = |name: &str, value: Value| {
            let mut object = smallest.clone();
            object[name] = value;
            object
        };
        for property in properties {
            let Property { name, schema, .. } = property;
            let place = format!("{owner}.{name}");
            self.properties.insert(place.clone());
            samples.extend(self.samples(&place, &schema.ty).into_iter().map(|sample| {
                sample.within(|inner| format!(".{name}{inner}"), |value| with(name, value))
            }));
            if !property.required && schema.ty != Type::Any {
                let mut null = Sample::new(
                    About::Nothing,
                    format!(".{name}=null"),
                    with(name, Value::Null),
                );
                null.expected = smallest.clone();
                samples.push(null);
            }
        }
        if KEEPS_UNKNOWN.contains(&owner) {
            for value in [
                json!(null),
                json!("x"),
                json!({"deep": [1e300, {}]}),
                json!(u64::MAX),
            ] {
                let name = format!(".unheardOf={value}");
                let object = with("unheardOf", value);
                samples.push(Sample::new(About::UnknownField, name, object));
            }
            samples.push(Sample::new(
                About::UnknownField,
                ".$__custom ü",
                with("$__custom ü", json!(true)),
            ));
        }
        samples
    }
}

/// A message without its payload, and the key of the payload.
struct Host {
    name: String,
    message: Value,
    key: &'static str,
}

impl Host {
    fn request(command: &str) -> Self {
        Self {
            name: format!("request {command}"),
            message: json!({"seq": 7, "type": "request", "command": command}),
            key: "arguments",
        }
    }

    fn response(command: &str, success: bool) -> Self {
        let mut message = json!({
            "seq": 8, "type": "response", "request_seq": 7, "success": success, "command": command
        });
        if !success {
            message["message"] = json!("what went wrong");
        }
        Self {
            name: format!(
                "{} of {command}",
                if success { "response" } else { "failure" }
            ),
            message,
            key: "body",
        }
    }

    fn event(event: &str) -> Self {
        Self {
            name: format!("event {event}"),
            message: json!({"seq": 9, "type": "event", "event": event}),
            key: "body",
        }
    }

    fn with(&self, payload: Option<Value>) -> Value {
        let mut message = self.message.clone();
        if let Some(payload) = payload {
            message[self.key] = payload;
        }
        message
    }
}

/// Decodes and encodes a message: returns the result, and the typed form as text.
type Through = fn(&str) -> Result<(Value, String), String>;

/// A whole message, and the expected result.
struct Case {
    name: String,
    about: About,
    message: Value,
    expected: Value,
    through: Through,
}

/// All cases, and the maker, which knows what they cover.
fn cases(model: &Model) -> (Vec<Case>, Maker<'_>) {
    let mut maker = Maker::new(model);
    let mut cases = Vec::new();
    for request in model.requests() {
        let owner = &request.definition.name;
        let host = Host::request(request.command);
        payload(&mut maker, &mut cases, owner, &host, request.arguments);
        let response = request.response.expect("each request has a response");
        let body = response.object().and_then(|object| object.property("body"));
        let host = Host::response(request.command, true);
        payload(&mut maker, &mut cases, &response.name, &host, body);
    }
    for event in model.events() {
        let host = Host::event(event.event);
        payload(
            &mut maker,
            &mut cases,
            &event.definition.name,
            &host,
            event.body,
        );
    }
    let failure = maker.get("ErrorResponse").object();
    let body = failure.and_then(|object| object.property("body"));
    let host = Host::response("launch", false);
    payload(&mut maker, &mut cases, "ErrorResponse", &host, body);
    (cases, maker)
}

fn payload<'m>(
    maker: &mut Maker<'m>,
    cases: &mut Vec<Case>,
    owner: &str,
    host: &Host,
    property: Option<&'m Property>,
) {
    let mut case = |name: String, about, payload: Option<Value>, expected: Option<Value>| {
        cases.push(Case {
            name: format!("{}{name}", host.name),
            about,
            message: host.with(payload),
            expected: host.with(expected),
            through: through_types,
        });
    };
    let Some(Property { schema, .. }) = property else {
        case(": nothing".into(), About::Nothing, None, None);
        case(": null".into(), About::Nothing, Some(Value::Null), None);
        case(": {}".into(), About::Nothing, Some(json!({})), None);
        return;
    };
    for sample in maker.samples(owner, &schema.ty) {
        case(
            sample.name,
            sample.about,
            Some(sample.value),
            Some(sample.expected),
        );
    }
    if maker.smallest(&schema.ty) == json!({}) {
        case(": nothing".into(), About::Nothing, None, Some(json!({})));
        case(
            ": null".into(),
            About::Nothing,
            Some(Value::Null),
            Some(json!({})),
        );
    }
}

/// Frames a message, cuts the stream, and decodes and encodes the message.
fn through_types(text: &str) -> Result<(Value, String), String> {
    let raw: &serde_json::value::RawValue =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    let bytes = codec::encode(&raw).map_err(|error| error.to_string())?;
    let mut decoder = Decoder::new();
    decoder.push(&bytes);
    let text = decoder.next().map_err(|error| error.to_string())?;
    let text = text.ok_or("the decoder has no message")?;

    let envelope = Envelope::parse(&text).map_err(|error| error.to_string())?;
    let seq = envelope.seq;
    let (mut message, key, payload, typed) = match &envelope.kind {
        Kind::Request { command, arguments } => {
            let payload = AnyRequest::decode(command, *arguments).map_err(|e| e.to_string())?;
            if let AnyRequest::Other { name, .. } = &payload {
                return Err(format!("`{name}` is not known"));
            }
            let message = json!({"seq": seq, "type": "request", "command": payload.name()});
            (
                message,
                "arguments",
                payload.encode(),
                format!("{payload:?}"),
            )
        }
        Kind::Response {
            request_seq,
            success,
            command,
            message,
            body,
        } => {
            let (name, payload, typed) = if *success {
                let payload = AnyResponse::decode(command, *body).map_err(|e| e.to_string())?;
                if let AnyResponse::Other { name, .. } = &payload {
                    return Err(format!("`{name}` is not known"));
                }
                (
                    payload.name().to_owned(),
                    payload.encode(),
                    format!("{payload:?}"),
                )
            } else {
                let payload: ErrorResponse =
                    message::decode_or_default(*body).map_err(|e| e.to_string())?;
                (
                    command.clone().into_owned(),
                    message::encode(&payload),
                    format!("{payload:?}"),
                )
            };
            let mut all = json!({
                "seq": seq, "type": "response", "request_seq": request_seq, "success": success, "command": name
            });
            if let Some(message) = message {
                all["message"] = json!(message);
            }
            (all, "body", payload, typed)
        }
        Kind::Event { event, body } => {
            let payload = AnyEvent::decode(event, *body).map_err(|e| e.to_string())?;
            if let AnyEvent::Other { name, .. } = &payload {
                return Err(format!("`{name}` is not known"));
            }
            let message = json!({"seq": seq, "type": "event", "event": payload.name()});
            (message, "body", payload.encode(), format!("{payload:?}"))
        }
        other => return Err(format!("an unheard-of kind: {other:?}")),
    };
    if let Some(payload) = payload.map_err(|error| error.to_string())? {
        message[key] = serde_json::from_str(payload.text()).map_err(|error| error.to_string())?;
    }
    let at_once = at_once(&text)?;
    if at_once != message {
        return Err(format!("at once it is {at_once}, in two stages {message}"));
    }
    Ok((message, typed))
}

/// Decodes a message in one pass and encodes it again.
fn at_once(text: &str) -> Result<Value, String> {
    let message = AnyMessage::decode(text).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    message
        .encode_into(&mut bytes)
        .map_err(|error| error.to_string())?;
    let mut decoder = Decoder::new();
    decoder.push(&bytes);
    let text = decoder.next().map_err(|error| error.to_string())?;
    let text = text.ok_or("what was written is no message")?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Decodes a whole message as a `T` and encodes it again.
fn through<T: Serialize + DeserializeOwned + Debug>(text: &str) -> Result<(Value, String), String> {
    let value: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let back = serde_json::to_value(&value).map_err(|error| error.to_string())?;
    Ok((back, format!("{value:?}")))
}

/// Cases for the definitions that other messages extend: they are messages as a whole.
fn base_cases(model: &Model) -> Vec<Case> {
    let mut maker = Maker::new(model);
    let mut cases = Vec::new();
    let bases: [(&str, Through); 4] = [
        ("ProtocolMessage", through::<ProtocolMessage>),
        ("Request", through::<RequestMessage>),
        ("Response", through::<ResponseMessage>),
        ("Event", through::<EventMessage>),
    ];
    for (name, through) in bases {
        // Leaked: small, few, and needed until the test ends.
        let properties = Box::leak(model.all_properties(maker.get(name)).into_boxed_slice());
        cases.extend(
            maker
                .properties_samples(name, properties)
                .into_iter()
                .map(|sample| Case {
                    name: format!("{name}{}", sample.name),
                    about: sample.about,
                    message: sample.value,
                    expected: sample.expected,
                    through,
                }),
        );
    }
    cases
}

/// Runs all cases and returns the failures as text.
fn failures(cases: &[Case]) -> Vec<String> {
    let failure = |case: &Case| {
        let Case {
            name,
            about,
            message,
            expected,
            through,
        } = case;
        match through(&message.to_string()) {
            Ok((back, typed)) if back == *expected => {
                // A listed value decoded as `Other` has no variant of its own, though it is encoded correctly.
                let unlisted = typed.contains("Other(");
                let wrong = matches!(
                    (about, unlisted),
                    (About::Listed, true) | (About::Unlisted, false)
                );
                wrong.then(|| format!("{about:?}: {name}\n  was taken for {typed}"))
            }
            Ok((back, _)) => Some(format!(
                "{about:?}: {name}\n  went in   {message}\n  came back {back}\n  expected  {expected}"
            )),
            Err(error) => Some(format!(
                "{about:?}: {name}\n  went in   {message}\n  error     {error}"
            )),
        }
    };
    cases.iter().filter_map(failure).collect()
}

#[test]
fn every_value_of_the_definition_comes_back_as_it_was() {
    let model = Model::protocol().expect("the definition is well-formed");
    let (mut all, _) = cases(&model);
    all.extend(base_cases(&model));
    let failures = failures(&all);
    assert!(
        failures.is_empty(),
        "{} of {} cases failed, the first of them:\n{}",
        failures.len(),
        all.len(),
        failures[..failures.len().min(5)].join("\n")
    );

    let mut counts: BTreeMap<About, usize> = BTreeMap::new();
    for case in &all {
        *counts.entry(case.about).or_default() += 1;
    }
    println!("{} cases: {counts:?}", all.len());
    assert!(all.len() > 1000, "only {} cases", all.len());
    for (about, least) in [
        (About::Smallest, 100),
        (About::Property, 1000),
        (About::Listed, 100),
        (About::Unlisted, 50),
        (About::Extreme, 500),
        (About::UnknownField, 15),
        (About::Nothing, 200),
    ] {
        let count = counts.get(&about).copied().unwrap_or(0);
        assert!(count >= least, "only {count} cases are about {about:?}");
    }
    let names: BTreeSet<&str> = all.iter().map(|case| case.name.as_str()).collect();
    assert!(
        names.len() * 100 > all.len() * 99,
        "a case's name says which it is"
    );
}

/// Walks the definition in a second, simpler way: each property and each listed value has to be in a case.
#[test]
fn no_property_and_no_listed_value_is_without_a_case() {
    fn walk(place: &str, schema: &Schema, found: &mut (BTreeSet<String>, BTreeSet<String>)) {
        match &schema.ty {
            Type::Object(object) => {
                for property in &object.properties {
                    let place = format!("{place}.{}", property.name);
                    found.0.insert(place.clone());
                    walk(&place, &property.schema, found);
                }
                if let Additional::Values(values) = &object.additional {
                    walk(place, values, found);
                }
            }
            Type::Array(items) => walk(place, items, found),
            Type::OneOf(schemas) => schemas.iter().for_each(|schema| walk(place, schema, found)),
            Type::Enumeration(values) => {
                let values = values.values.iter().map(|value| format!("{place}={value}"));
                found.1.extend(values);
            }
            _ => {}
        }
    }
    let model = Model::protocol().expect("the definition is well-formed");
    let (_, maker) = cases(&model);
    let mut wanted = (BTreeSet::new(), BTreeSet::new());
    for definition in model.definitions() {
        let of_a_message = matches!(
            definition.base.as_deref(),
            Some("Request" | "Response" | "Event")
        );
        let payload = definition.object().and_then(|object| {
            ["arguments", "body"]
                .iter()
                .find_map(|name| object.property(name))
        });
        match (of_a_message, payload) {
            (true, Some(payload)) => walk(&definition.name, &payload.schema, &mut wanted),
            (true, None) => {}
            // The bases have cases of their own.
            _ if ["ProtocolMessage", "Request", "Response", "Event"]
                .contains(&definition.name.as_str()) => {}
            _ => walk(&definition.name, &definition.schema, &mut wanted),
        }
    }
    assert!(
        wanted.0.len() > 300 && wanted.1.len() > 80,
        "the walk found little: {wanted:?}"
    );
    let missed: Vec<_> = wanted
        .0
        .difference(&maker.properties)
        .chain(wanted.1.difference(&maker.values))
        .collect();
    assert_eq!(missed, [""; 0], "these have no case");
}
