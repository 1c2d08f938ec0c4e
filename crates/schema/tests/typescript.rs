//! The generated TypeScript: its conventions, on small definitions. `editors/interop` compares the whole of it with the published
//! declarations, and compiles it.

use dapple_schema::Model;
use dapple_schema::typescript::{self, Options};
use expect_test::{Expect, expect};

fn generated(definitions: &str) -> Result<String, String> {
    let model = Model::parse(&format!("{{\"definitions\": {{{definitions}}}}}"))
        .expect("the test's definitions are well-formed");
    let options = Options {
        preamble: Some(String::new()),
        ..Options::default()
    };
    typescript::generate(&model, &options).map_err(|error| error.to_string())
}

#[track_caller]
fn declares(definitions: &str, expected: Expect) {
    expected.assert_eq(&generated(definitions).expect("it can be generated"));
}

#[test]
fn every_type_has_its_expression() {
    declares(
        r##""All": {"type": "object", "required": ["nullable", "ref"], "properties": {
            "any": {"type": ["array", "boolean", "integer", "null", "number", "object", "string"]},
            "anything": {},
            "flag": {"type": "boolean"},
            "whole": {"type": "integer", "format": "int32", "minimum": 1},
            "part": {"type": "number"},
            "nullable": {"type": ["string", "null"]},
            "either": {"type": ["integer", "string"]},
            "list": {"type": "array", "items": {"type": "string"}},
            "eithers": {"type": "array", "items": {"type": ["integer", "string"]}},
            "free": {"type": "array"},
            "map": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "bag": {"type": "object", "additionalProperties": true},
            "opaque": {"type": "object"},
            "ref": {"$ref": "#/definitions/Word"},
            "one": {"oneOf": [{"$ref": "#/definitions/Word"}, {"type": "null"}]},
            "block": {"type": "array", "items": {"type": "object", "additionalProperties": true, "required": ["x"], "properties": {
                "x": {"type": "integer", "description": "Across."}
            }}},
            "two words": {"type": "null"},
            "it's": {"type": "string", "enum": ["a'b\\c\n"]}
        }},
        "Word": {"type": "string"}"##,
        expect![[r#"
            export declare module DebugProtocol {

            	interface All {
            		any?: any;
            		anything?: any;
            		flag?: boolean;
            		whole?: number;
            		part?: number;
            		nullable: string | null;
            		either?: number | string;
            		list?: string[];
            		eithers?: (number | string)[];
            		free?: any[];
            		map?: { [key: string]: string | null; };
            		bag?: { [key: string]: any; };
            		opaque?: object;
            		ref: Word;
            		one?: Word | null;
            		block?: {
            			/** Across. */
            			x: number;
            			[key: string]: any;
            		}[];
            		'two words'?: null;
            		'it\'s'?: 'a\'b\\c\n';
            	}

            	type Word = string;
            }

        "#]],
    );
}

#[test]
fn messages_say_which_they_are() {
    declares(
        r##""Request": {"type": "object", "properties": {"command": {"type": "string"}}},
        "Event": {"type": "object", "properties": {"event": {"type": "string"}}},
        "PokeRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "description": "Pokes.",
            "properties": {"command": {"type": "string", "enum": ["poke"]}, "own": {"type": "string", "enum": ["x"]}}}]},
        "PokedEvent": {"allOf": [{"$ref": "#/definitions/Event"}, {"type": "object",
            "properties": {"event": {"type": "string", "enum": ["poked"]}}}]}"##,
        expect![[r#"
            export declare module DebugProtocol {

            	interface Request {
            		command?: string;
            	}

            	interface Event {
            		event?: string;
            	}

            	/** Poke request; value of command field is 'poke'.
            		Pokes.
            	*/
            	interface PokeRequest extends Request {
            		// command?: 'poke';
            		own?: 'x';
            	}

            	/** Event message for 'poked' event type. */
            	interface PokedEvent extends Event {
            		// event?: 'poked';
            	}
            }

        "#]],
    );
}

#[test]
fn comments_list_values_that_the_type_alone_does_not_explain() {
    declares(
        r##""Closed": {"type": "string", "description": "Said.", "enum": ["a", "b"]},
        "Open": {"type": "string", "_enum": ["a", "b"]},
        "Explained": {"type": "string", "enum": ["a", "b"], "enumDescriptions": ["First.", "Second,\nbroken."]},
        "D": {"type": "object", "properties": {
            "p": {"type": "array", "description": "Some.", "items": {"type": "string", "_enum": ["a"], "enumDescriptions": ["First."]}},
            "q": {"type": "string", "description": "Ends */ nothing.\n\nMore."}
        }}"##,
        expect![[r#"
            export declare module DebugProtocol {

            	/** Said. */
            	type Closed = 'a' | 'b';

            	/** Values: 'a', 'b', etc. */
            	type Open = 'a' | 'b' | string;

            	/** 'a': First.
            		'b': Second,
            		broken.
            	*/
            	type Explained = 'a' | 'b';

            	interface D {
            		/** Some.
            			Values: 
            			'a': First.
            			etc.
            		*/
            		p?: ('a' | string)[];
            		/** Ends *\/ nothing.
            			
            			More.
            		*/
            		q?: string;
            	}
            }

        "#]],
    );
}

#[test]
fn names_that_typescript_does_not_allow_are_refused() {
    for name in ["a-b", "1st", "string", "class", ""] {
        assert_eq!(
            generated(&format!(r#""{name}": {{"type": "object"}}"#)),
            Err(format!(
                "`{name}` can't be the name of a TypeScript type: rename the definition"
            ))
        );
    }
    let options = Options {
        module: "no name".into(),
        ..Options::default()
    };
    let model = Model::protocol().expect("the project's definition is well-formed");
    assert_eq!(
        typescript::generate(&model, &options).map_err(|error| error.to_string()),
        Err("`no name` can't be the name of a TypeScript module".to_owned())
    );
}

#[test]
fn every_definition_is_declared_once_and_in_order() {
    let model = Model::protocol().expect("the project's definition is well-formed");
    let text = typescript::generate(&model, &Options::default()).expect("it can be generated");
    let declared: Vec<_> = text
        .lines()
        .filter_map(|line| {
            line.strip_prefix("\tinterface ")
                .or_else(|| line.strip_prefix("\ttype "))
        })
        .filter_map(|line| line.split(' ').next())
        .collect();
    let defined: Vec<_> = model
        .definitions()
        .iter()
        .map(|d| d.name.as_str())
        .collect();
    assert_eq!(declared, defined);
}
