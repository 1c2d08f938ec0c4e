//! The generated types against the definition they were generated from.
//!
//! Payloads are generated from the model, a smallest and many full ones for each request, response and event, and are decoded and
//! encoded again. Every definition has to occur in at least one of them. The validator checks the same payloads.

use dapple_dap::message::{DecodeError, decode};
use dapple_dap::types::*;
use dapple_schema::Model;
use dapple_schema::model::{Additional, Object, Property, Schema, Type};
use dapple_schema::validate::Validator;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The number of full instances of each type: more than any enumeration has values, so that each value occurs.
const VARIANTS: usize = 24;

/// How deep definitions that contain themselves are filled.
const DEPTH: usize = 6;

/// The three families of payloads.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Family {
    Request,
    Response,
    Event,
}

impl Family {
    /// Decodes a payload by name and encodes it again.
    fn through_types(
        self,
        name: &str,
        payload: Option<&Value>,
    ) -> Result<Option<Value>, DecodeError> {
        let raw = payload.map(raw);
        let raw = raw.as_deref();
        let encoded = match self {
            Family::Request => AnyRequest::decode(name, raw)?.encode(),
            Family::Response => AnyResponse::decode(name, raw)?.encode(),
            Family::Event => AnyEvent::decode(name, raw)?.encode(),
        };
        let encoded = encoded.expect("what was decoded can be encoded");
        Ok(encoded.map(|raw| serde_json::from_str(raw.text()).expect("encoded text is JSON")))
    }

    /// A whole message with this payload.
    fn message(self, name: &str, payload: Option<&Value>) -> Value {
        let mut message = match self {
            Family::Request => json!({"seq": 1, "type": "request", "command": name}),
            Family::Response => {
                json!({"seq": 1, "type": "response", "request_seq": 1, "success": true, "command": name})
            }
            Family::Event => json!({"seq": 1, "type": "event", "event": name}),
        };
        if let Some(payload) = payload {
            let key = if self == Family::Request {
                "arguments"
            } else {
                "body"
            };
            message[key] = payload.clone();
        }
        message
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a value is JSON")
}

fn protocol() -> Model {
    Model::protocol().expect("the definition is well-formed")
}

/// One payload of the protocol.
struct Payload {
    family: Family,
    name: String,
    property: Option<Property>,
}

fn payloads(model: &Model) -> Vec<Payload> {
    let mut payloads = Vec::new();
    for request in model.requests() {
        let name = request.command.to_owned();
        let response = request.response.expect("each request has a response");
        let body = response.object().and_then(|object| object.property("body"));
        payloads.push(Payload {
            family: Family::Request,
            name: name.clone(),
            property: request.arguments.cloned(),
        });
        payloads.push(Payload {
            family: Family::Response,
            name,
            property: body.cloned(),
        });
    }
    for event in model.events() {
        payloads.push(Payload {
            family: Family::Event,
            name: event.event.to_owned(),
            property: event.body.cloned(),
        });
    }
    payloads
}

/// Generates instances, and remembers which definitions it used.
struct Maker<'m> {
    model: &'m Model,
    seen: RefCell<BTreeSet<String>>,
}

impl<'m> Maker<'m> {
    fn new(model: &'m Model) -> Self {
        Maker {
            model,
            seen: RefCell::default(),
        }
    }

    /// `variant` 0 is the smallest instance. All others have all properties, with different values.
    fn instance(&self, schema: &Schema, variant: usize, depth: usize) -> Value {
        self.value(&schema.ty, variant, depth)
    }

    fn value(&self, ty: &Type, variant: usize, depth: usize) -> Value {
        match ty {
            Type::Any => [
                json!(null),
                json!({"a": [1, "ü"]}),
                json!(7),
                json!("x"),
                json!([true]),
            ][variant % 5]
                .clone(),
            Type::Null => Value::Null,
            Type::Boolean => Value::Bool(variant % 2 == 1),
            Type::Integer(integer) => {
                let (low, high) = integer.range();
                let choices = [low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX), 1];
                json!(choices[variant % 3])
            }
            Type::Number { .. } => json!([0.5, 99.5][variant % 2]),
            Type::String => json!(["", "tëxt", "a\"b\\c\n\u{0}"][variant % 3]),
            Type::Enumeration(values) => {
                let unknown = values.open.then_some("of a later version");
                let all: Vec<&str> = values
                    .values
                    .iter()
                    .map(String::as_str)
                    .chain(unknown)
                    .collect();
                json!(all[variant % all.len()])
            }
            Type::Array(items) => {
                let count = if variant == 0 || depth == 0 { 0 } else { 2 };
                (0..count)
                    .map(|i| self.instance(items, variant + i, depth - 1))
                    .collect()
            }
            Type::Object(object) => self.object(object, variant, depth),
            Type::Reference(name) => {
                self.seen.borrow_mut().insert(name.clone());
                let definition = self.model.get(name).expect("references point somewhere");
                self.instance(&definition.schema, variant, depth)
            }
            Type::OneOf(schemas) => {
                self.instance(&schemas[variant % schemas.len()], variant, depth)
            }
            Type::Union(types) => self.value(&types[variant % types.len()], variant, depth),
            other => panic!("no instance of {other:?}"),
        }
    }

    fn object(&self, object: &Object, variant: usize, depth: usize) -> Value {
        let mut map = Map::new();
        for property in &object.properties {
            if property.required || (variant > 0 && depth > 0) {
                let value = self.instance(&property.schema, variant, depth.saturating_sub(1));
                map.insert(property.name.clone(), value);
            }
        }
        match &object.additional {
            Additional::Values(values) if variant > 0 => {
                map.insert("one".into(), self.instance(values, variant, depth));
                map.insert("two".into(), self.instance(values, variant + 1, depth));
            }
            Additional::Any if variant > 0 => {
                map.insert("free".into(), json!([null, {"x": 1}]));
            }
            _ => {}
        }
        Value::Object(map)
    }
}

/// The properties of a payload, through its reference.
fn properties<'m>(model: &'m Model, property: &'m Property) -> &'m [Property] {
    let ty = match &property.schema.ty {
        Type::Reference(name) => {
            &model
                .get(name)
                .expect("references point somewhere")
                .schema
                .ty
        }
        other => other,
    };
    match ty {
        Type::Object(object) => &object.properties,
        other => panic!("{} is {other:?}, not an object", property.name),
    }
}

#[test]
fn every_payload_goes_through_the_types_unchanged() {
    let model = protocol();
    let maker = Maker::new(&model);
    let validator = Validator::protocol().expect("the definition is well-formed");
    for Payload {
        family,
        name,
        property,
    } in payloads(&model)
    {
        let Some(property) = property else {
            let nothing = family.through_types(&name, None);
            assert_eq!(nothing, Ok(None), "{family:?} {name} carries nothing");
            continue;
        };
        for variant in 0..VARIANTS {
            let made = maker.instance(&property.schema, variant, DEPTH);
            let problems = validator.message(&family.message(&name, Some(&made)));
            assert_eq!(problems, [], "{family:?} {name}: {made}");
            let back = family.through_types(&name, Some(&made));
            assert_eq!(back, Ok(Some(made)), "{family:?} {name}");
        }
    }

    let mut seen = maker.seen.into_inner();
    seen.extend(
        model
            .requests()
            .flat_map(|request| [Some(request.definition), request.response])
            .flatten()
            .map(|d| d.name.clone()),
    );
    seen.extend(model.events().map(|event| event.definition.name.clone()));
    let missed: Vec<&str> = model
        .definitions()
        .iter()
        .map(|definition| definition.name.as_str())
        .filter(|name| !seen.contains(*name))
        .collect();
    assert_eq!(
        missed,
        [
            "ProtocolMessage",
            "Request",
            "Event",
            "Response",
            "ErrorResponse",
            "Message"
        ]
    );
}

#[test]
fn null_means_absent_unless_the_definition_lists_it() {
    let model = protocol();
    let maker = Maker::new(&model);
    for Payload {
        family,
        name,
        property,
    } in payloads(&model)
    {
        let Some(property) = property else { continue };
        let smallest = maker.instance(&property.schema, 0, DEPTH);
        let mut with_nulls = smallest.clone();
        let mut kept = smallest.clone();
        for optional in properties(&model, &property)
            .iter()
            .filter(|property| !property.required)
        {
            with_nulls[&optional.name] = Value::Null;
            if optional.schema.ty == Type::Any {
                kept[&optional.name] = Value::Null;
            }
        }
        assert_eq!(
            family.through_types(&name, Some(&with_nulls)),
            Ok(Some(kept)),
            "{family:?} {name}"
        );
    }
}

#[test]
fn absent_null_and_empty_are_the_same_where_nothing_is_required() {
    let model = protocol();
    let mut all_optional = 0;
    for Payload {
        family,
        name,
        property,
    } in payloads(&model)
    {
        let Some(property) = property else { continue };
        let absent = family.through_types(&name, None);
        let null = family.through_types(&name, Some(&Value::Null));
        let empty = family.through_types(&name, Some(&json!({})));
        assert_eq!(absent, null, "{family:?} {name}");
        assert_eq!(absent, empty, "{family:?} {name}");
        match properties(&model, &property)
            .iter()
            .find(|property| property.required)
        {
            None => {
                all_optional += 1;
                assert_eq!(absent, Ok(Some(json!({}))), "{family:?} {name}");
            }
            Some(_) => {
                let error = absent.expect_err("something is required").to_string();
                assert!(
                    error.starts_with("missing field `"),
                    "{family:?} {name}: {error}"
                );
            }
        }
    }
    assert!(
        all_optional > 10,
        "only {all_optional} payloads have nothing required"
    );
}

#[test]
fn a_missing_or_misshapen_field_is_named() {
    let model = protocol();
    let maker = Maker::new(&model);
    for Payload {
        family,
        name,
        property,
    } in payloads(&model)
    {
        let Some(property) = property else { continue };
        let full = maker.instance(&property.schema, 1, DEPTH);
        for field in properties(&model, &property) {
            if field.required {
                let mut without = full.clone();
                without
                    .as_object_mut()
                    .expect("a payload is an object")
                    .remove(&field.name);
                let error = family
                    .through_types(&name, Some(&without))
                    .expect_err("a field is missing");
                assert_eq!(
                    error.message,
                    format!("missing field `{}`", field.name),
                    "{family:?} {name}"
                );
            }
            let wrong = match &field.schema.ty {
                Type::Any | Type::OneOf(_) => continue,
                // An array, which derived code would accept as the fields in order.
                Type::Object(_) | Type::Reference(_) => json!(["a"]),
                _ => json!({"wrong": true}),
            };
            let mut misshapen = full.clone();
            misshapen[&field.name] = wrong;
            let error = family
                .through_types(&name, Some(&misshapen))
                .expect_err("a field is misshapen");
            assert_eq!(error.path, field.name, "{family:?} {name}: {error}");
        }
    }
}

#[test]
fn errors_name_the_place_within_arrays_and_list_a_closed_enumerations_values() {
    let decoded = |command, text: &str| {
        let raw = RawValue::from_string(text.into()).expect("the test's text is JSON");
        AnyRequest::decode(command, Some(&raw))
            .expect_err("the payload is wrong")
            .to_string()
    };
    assert_eq!(
        decoded(
            "setBreakpoints",
            r#"{"source": {}, "breakpoints": [{"line": 1}, {"line": "2"}]}"#
        ),
        "`breakpoints[1].line`: invalid type: string \"2\", expected i64"
    );
    assert_eq!(
        decoded("next", "[1]"),
        "invalid type: sequence, expected an object"
    );
    assert_eq!(
        decoded("next", r#"{"threadId": 1, "granularity": "word"}"#),
        "`granularity`: \"word\" is not one of statement, line, instruction"
    );
}

#[test]
fn messages_that_the_protocol_does_not_have_are_passed_on() {
    let raw = raw(&json!({"any": [1, 2]}));
    let request = AnyRequest::decode("vendor/own", Some(&raw)).expect("anything goes");
    assert_eq!(
        request,
        AnyRequest::Other {
            name: "vendor/own".into(),
            raw: Some((&*raw).into())
        }
    );
    assert_eq!(request.name(), "vendor/own");
    assert_eq!(
        request
            .encode()
            .expect("it is JSON")
            .expect("it is there")
            .text(),
        raw.get()
    );
    let event = AnyEvent::decode("vendor/own", None).expect("anything goes");
    assert_eq!(
        (event.name(), event.encode().expect("it is JSON")),
        ("vendor/own", None)
    );
}

#[test]
fn unknown_fields_are_kept_on_capabilities_and_launch_and_attach_arguments() {
    let text = r#"{"noDebug":true,"__restart":null,"big":1.0000000000000000000001,"program":"/bin/x","spaced":{ "a" : 1 }}"#;
    let arguments: LaunchRequestArguments = serde_json::from_str(text).expect("it has the shape");
    assert_eq!(arguments.no_debug, Some(true));
    assert_eq!(arguments.restart.as_ref().map(Raw::text), Some("null"));
    assert_eq!(arguments.other["program"].decode(), Ok("/bin/x".to_owned()));
    assert_eq!(
        serde_json::to_string(&arguments).expect("it can be written"),
        text,
        "the text itself is kept"
    );

    let attach: AttachRequestArguments =
        serde_json::from_str(r#"{"pid":7}"#).expect("it has the shape");
    assert_eq!(attach.other["pid"].decode(), Ok(7));

    let mut capabilities: Capabilities =
        serde_json::from_str(r#"{"supportsCancelRequest":true,"supportsVendor":true}"#)
            .expect("it has the shape");
    assert!(
        capabilities.supports("supportsCancelRequest") && capabilities.supports("supportsVendor")
    );
    assert!(!capabilities.supports("supportsStepBack") && !capabilities.supports("unheard of"));
    let mut newer = Capabilities::new().with_supports_cancel_request(false);
    newer.support("supportsStepBack");
    newer.support("supportsMore");
    capabilities.merge(newer);
    assert!(capabilities.supports("supportsStepBack") && capabilities.supports("supportsMore"));
    assert!(
        capabilities.supports("supportsVendor") && !capabilities.supports("supportsCancelRequest")
    );
}

#[test]
fn open_enumerations_keep_what_they_do_not_know_and_closed_ones_refuse_it() {
    assert_eq!(
        StoppedEventReason::from("function breakpoint"),
        StoppedEventReason::FunctionBreakpoint
    );
    let later = StoppedEventReason::from("later");
    assert_eq!(later, StoppedEventReason::Other("later".into()));
    assert_eq!(
        (later.as_str(), format!("{later:>6}")),
        ("later", " later".to_owned())
    );
    let escaped: StoppedEventReason =
        serde_json::from_str(r#""st\u0065p""#).expect("an escaped string is a string");
    assert_eq!(escaped, StoppedEventReason::Step);
    assert_eq!("line".parse(), Ok(SteppingGranularity::Line));
    let refused = "word"
        .parse::<SteppingGranularity>()
        .expect_err("it is closed");
    assert_eq!(
        refused.to_string(),
        "\"word\" is not one of statement, line, instruction"
    );
}

#[test]
fn base_messages_have_types_too() {
    let request = RequestMessage::new(3, "threads");
    let text = r#"{"seq":3,"type":"request","command":"threads"}"#;
    assert_eq!(
        serde_json::to_string(&request).expect("it can be written"),
        text
    );
    assert_eq!(
        serde_json::from_str::<RequestMessage>(text).expect("it has the shape"),
        request
    );
    serde_json::from_str::<EventMessage>(text).expect_err("a request is no event");
    let protocol: ProtocolMessage = serde_json::from_str(text).expect("it has the shape");
    assert_eq!(protocol.r#type, ProtocolMessageType::Request);
    let response: ResponseMessage = serde_json::from_str(
        r#"{"seq":1,"type":"response","request_seq":3,"success":false,"command":"next","message":"notStopped","body":null}"#,
    )
    .expect("it has the shape");
    assert_eq!(response.message, Some(ResponseMessageMessage::NotStopped));

    let error: ErrorResponse = decode(&raw(
        &json!({"error": {"id": 1, "format": "no {x}", "variables": {"x": "y"}}}),
    ))
    .expect("it has the shape");
    let message = error.error.expect("the error is there");
    assert_eq!((message.id, message.format.as_str()), (1, "no {x}"));
    assert_eq!(message.variables.expect("they are there")["x"], "y");
}
