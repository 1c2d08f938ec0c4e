//! The generated document: its conventions, on small definitions, and properties of the whole.

use dapple_schema::Model;
use dapple_schema::markdown::{self, Options};
use expect_test::{Expect, expect};

#[track_caller]
fn says(file: &str, expected: Expect) {
    let model = Model::parse(file).expect("the test's definition is well-formed");
    let text = markdown::generate(&model, &Options::default()).expect("it can be generated");
    expected.assert_eq(&text);
}

#[test]
fn sections_items_and_what_belongs_to_a_request() {
    says(
        r##"{"title": "Poking", "description": "For the curious.\nAnd others.", "definitions": {
        "Request": {"type": "object", "title": "The Base", "description": "Asks."},
        "Response": {"type": "object"},
        "Event": {"type": "object"},
        "PokedEvent": {"allOf": [{"$ref": "#/definitions/Event"}, {"type": "object", "title": "Events", "description": "Said twice:\n- here\n- there\nand done.",
            "properties": {"event": {"type": "string", "enum": ["poked"]}}}]},
        "BackRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "title": "Reverse Requests",
            "properties": {"command": {"type": "string", "enum": ["back"]}}}]},
        "PokeRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "title": "Requests", "description": "Pokes.", "required": ["arguments"],
            "properties": {"command": {"type": "string", "enum": ["poke"]}, "arguments": {"$ref": "#/definitions/PokeArguments"}}}]},
        "PokeArguments": {"type": "object", "description": "What `poke` takes.", "properties": {"where": {"type": "string"}}},
        "PokeResponse": {"allOf": [{"$ref": "#/definitions/Response"}, {"type": "object"}]}
        }}"##,
        expect![[r##"
            # Poking

            For the curious.

            And others.

            ## <a name="The_Base" class="anchor"></a>The Base

            ### <a name="The_Base_Request" class="anchor"></a>Request

            Asks.

            ```typescript
            interface Request {
            }
            ```

            ### <a name="The_Base_Response" class="anchor"></a>Response

            ```typescript
            interface Response {
            }
            ```

            ### <a name="The_Base_Event" class="anchor"></a>Event

            ```typescript
            interface Event {
            }
            ```

            ## <a name="Events" class="anchor"></a>Events

            ### <a name="Events_Poked" class="anchor"></a>:arrow_left: Poked Event

            Said twice:
            - here
            - there

            and done.

            ```typescript
            interface PokedEvent extends Event {
              event?: 'poked';
            }
            ```

            ## <a name="Reverse_Requests" class="anchor"></a>Reverse Requests

            ### <a name="Reverse_Requests_Back" class="anchor"></a>:arrow_right_hook: Back Request

            ```typescript
            interface BackRequest extends Request {
              command?: 'back';
            }
            ```

            ## <a name="Requests" class="anchor"></a>Requests

            ### <a name="Requests_Poke" class="anchor"></a>:leftwards_arrow_with_hook: Poke Request

            Pokes.

            ```typescript
            interface PokeRequest extends Request {
              command?: 'poke';

              arguments: PokeArguments;
            }
            ```

            What `poke` takes.

            <a name="Types_PokeArguments" class="anchor"></a>
            ```typescript
            interface PokeArguments {
              where?: string;
            }
            ```

            <a name="Types_PokeResponse" class="anchor"></a>
            ```typescript
            interface PokeResponse extends Response {
            }
            ```

        "##]],
    );
}

#[test]
fn comments_and_types_are_wrapped_and_numbers_say_their_range() {
    says(
        r##"{"definitions": {
        "Kind": {"type": "string", "description": "Which.", "_enum": ["a", "b"], "enumDescriptions": ["First.", "Second."]},
        "Long": {"type": "string", "enum": ["the quick brown fox", "jumps over the lazy", "dog and runs away", "again"]},
        "D": {"type": "object", "properties": {
            "n": {"type": "integer", "format": "int32", "minimum": -1, "maximum": 5, "description": "A line of a comment that is a good deal longer than it ought to be, so that it wraps.\n - and a second\n\nand a last"},
            "numbers": {"type": "array", "items": {"type": "integer", "format": "uint32"}},
            "share": {"type": "number", "minimum": 0, "maximum": 1.5},
            "kind": {"type": "string", "enum": ["a", "b"], "enumDescriptions": ["First.", "Second."]},
            "body": {"type": "object", "properties": {
                "choice": {"type": "string", "_enum": ["one of them", "two of them", "three of them", "four of them", "five of them"]}
            }}
        }}
        }}"##,
        expect![[r##"
            # Protocol

            ### <a name="Types_Kind" class="anchor"></a>Kind

            Which.
            Values: 
            - 'a': First.
            - 'b': Second.
            etc.

            ```typescript
            export type Kind = 'a' | 'b' | string;
            ```

            ### <a name="Types_Long" class="anchor"></a>Long

            Values: 'the quick brown fox', 'jumps over the lazy', 'dog and runs away', 'again'

            ```typescript
            type Long = 'the quick brown fox' | 'jumps over the lazy'
                | 'dog and runs away' | 'again';
            ```

            ### <a name="Types_D" class="anchor"></a>D

            ```typescript
            interface D {
              /**
               * A line of a comment that is a good deal longer than it ought to be, so that
               * it wraps.
               * - and a second
               * 
               * and a last
               * @format int32
               * @minimum -1
               * @maximum 5
               */
              n?: number;

              /**
               * @format uint32
               */
              numbers?: number[];

              /**
               * @format undefined
               * @minimum 0
               * @maximum 1.5
               */
              share?: number;

              /**
               * Values:
               * 'a': First.
               * 'b': Second.
               */
              kind?: 'a' | 'b';

              body?: {
                /**
                 * Values: 'one of them', 'two of them', 'three of them', 'four of them',
                 * 'five of them', etc.
                 */
                choice?: 'one of them' | 'two of them' | 'three of them' | 'four of them'
                    | 'five of them' | string;
              };
            }
            ```

        "##]],
    );
}

#[test]
fn a_word_longer_than_the_line_stays_whole() {
    let word = "x".repeat(100);
    let file = format!(
        r#"{{"definitions": {{"D": {{"type": "object", "properties": {{"p": {{"type": "null", "description": "a {word} b"}}}}}}}}}}"#
    );
    let model = Model::parse(&file).expect("the test's definition is well-formed");
    let text = markdown::generate(&model, &Options::default()).expect("it can be generated");
    assert!(
        text.contains(&format!("   * a\n   * {word}\n   * b\n")),
        "{text}"
    );
}

#[test]
fn the_whole_protocol_is_in_it_and_no_comment_is_too_wide() {
    let model = Model::protocol().expect("the project's definition is well-formed");
    let text = markdown::generate(&model, &Options::default()).expect("it can be generated");
    let anchors = text.matches("<a name=").count();
    let sections = model
        .definitions()
        .iter()
        .filter(|definition| definition.schema.title.is_some())
        .count();
    assert_eq!(anchors, model.definitions().len() + sections);
    assert_eq!(text.matches(" Request\n").count(), model.requests().count());
    assert_eq!(text.matches(":arrow_left:").count(), model.events().count());
    let wide: Vec<_> = text
        .lines()
        .filter(|line| line.trim_start().starts_with("* ") && line.chars().count() > 80)
        .collect();
    assert_eq!(wide, [""; 0]);
}
