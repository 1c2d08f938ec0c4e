//! A validator for the subset of JSON Schema (draft 7) that the schema of launch configurations uses. An unknown keyword is a failure, so
//! that nothing passes unchecked.

use serde_json::Value;

/// The violations of the schema in a value, each with its location.
pub fn problems(root: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(root, root, value, "", &mut found);
    found
}

/// Whether a subschema allows a value.
pub fn allows(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut found = Vec::new();
    check(root, schema, value, "", &mut found);
    found.is_empty()
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        if schema == &Value::Bool(false) {
            found.push(format!("`{at}` is not allowed"));
        }
        return;
    };
    let mut wrong = |what: &str| found.push(format!("`{at}` {what}: {value}"));
    for (keyword, says) in keywords {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "enumDescriptions" | "default" | "examples" => {}
            // Handled together with `if` and `properties`.
            "definitions" | "then" | "else" | "patternProperties" | "additionalProperties" => {}
            "type" if !is_of_type(value, says.as_str().expect("a type's name")) => {
                wrong("is of another type")
            }
            "enum" if !says.as_array().expect("values").contains(value) => {
                wrong("is none of those")
            }
            "const" if says != value => wrong("is another"),
            "anyOf"
                if !says
                    .as_array()
                    .expect("schemas")
                    .iter()
                    .any(|one| allows(root, one, value)) =>
            {
                wrong("is none of the kinds")
            }
            "minItems"
                if value
                    .as_array()
                    .is_some_and(|all| (all.len() as u64) < says.as_u64().expect("a number")) =>
            {
                wrong("is too short")
            }
            "maxItems"
                if value
                    .as_array()
                    .is_some_and(|all| (all.len() as u64) > says.as_u64().expect("a number")) =>
            {
                wrong("is too long")
            }
            "required" => {
                let names = says
                    .as_array()
                    .expect("names")
                    .iter()
                    .filter_map(Value::as_str);
                let missing: Vec<&str> = names
                    .filter(|name| value.is_object() && value.get(name).is_none())
                    .collect();
                if !missing.is_empty() {
                    wrong(&format!("lacks {missing:?}"));
                }
            }
            "type" | "enum" | "const" | "anyOf" | "minItems" | "maxItems" | "items"
            | "properties" | "$ref" | "if" => {}
            other => panic!("`{other}` is not known to this check"),
        }
    }
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        let target = root
            .pointer(path.trim_start_matches('#'))
            .expect("it leads somewhere");
        check(root, target, value, at, found);
    }
    if let Some(condition) = schema.get("if") {
        let branch = match allows(root, condition, value) {
            true => "then",
            false => "else",
        };
        check(root, &schema[branch], value, at, found);
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (index, value) in values.iter().enumerate() {
            check(root, items, value, &format!("{at}[{index}]"), found);
        }
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let listed = schema
            .get("properties")
            .and_then(|properties| properties.get(name));
        let underscored = schema.get("patternProperties").is_some_and(|patterns| {
            assert_eq!(
                patterns
                    .as_object()
                    .map(|all| all.keys().collect::<Vec<_>>()),
                Some(vec![&"^_".to_owned()])
            );
            name.starts_with('_')
        });
        let place = format!("{at}.{name}");
        match (listed, schema.get("additionalProperties")) {
            (Some(listed), _) => check(root, listed, value, &place, found),
            (None, Some(others)) if !underscored => check(root, others, value, &place, found),
            _ => {}
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type `{other}`"),
    }
}
