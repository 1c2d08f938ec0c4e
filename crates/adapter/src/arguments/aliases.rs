//! Other debuggers' names for arguments, so that their configurations work without changes.

use super::given::Given;
use super::launch::Console;
use super::row::{Origin, Requests, Row};
use crate::argument_values::shape::{Field, Shape, Word};
use crate::argument_values::{boolean, file, named_variables, process_id, string};
use crate::source_map::SourceMap;
use dapple_engine::session::stepping::SkipList;
use serde_json::{Value, json};

/// The origin of an alias: `of` is Dapple's argument, `from` the other debugger.
const fn alias(of: &'static str, from: &'static str) -> Origin {
    Origin::Alias { of, from }
}

/// Maps relative paths in the debug information to a folder.
const RELATIVE: fn(&mut Given, &str, &Value) -> Result<(), String> = |given, name, value| {
    let folder = file(name, value)?;
    given.common.source_map = SourceMap::read(name, &json!([[".", folder]]))?;
    Ok(())
};

/// All aliases.
pub const ALIASES: &[Row] = &[
    Row {
        name: "terminal",
        requests: Requests::Launch,
        shape: Shape::Word(&[
            Word {
                word: "integrated",
                meaning: "`\"integratedTerminal\"`",
            },
            Word {
                word: "external",
                meaning: "`\"externalTerminal\"`",
            },
            Word {
                word: "console",
                meaning: "`\"internalConsole\"`",
            },
        ]),
        default: None,
        description: "As `console`, by the words `\"integrated\"`, `\"external\"` and `\"console\"`.",
        example: r#""integrated""#,
        origin: alias("console", "CodeLLDB"),
        read: |given, name, value| {
            given.console = match string(name, value)? {
                "integrated" => Console::Integrated,
                "external" => Console::External,
                _ => Console::Internal,
            };
            Ok(())
        },
    },
    Row {
        name: "runInTerminal",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: None,
        description: "`true` as `\"console\": \"integratedTerminal\"`.",
        example: "true",
        origin: alias("console", "lldb-dap"),
        read: |given, name, value| {
            if boolean(name, value)? {
                given.console = Console::Integrated;
            }
            Ok(())
        },
    },
    Row {
        name: "externalConsole",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: None,
        description: "`true` as `\"console\": \"externalTerminal\"`, `false` as `\"integratedTerminal\"` where the client has one.",
        example: "false",
        origin: alias("console", "cpptools"),
        read: |given, name, value| {
            given.console = match boolean(name, value)? {
                true => Console::External,
                false => Console::IfThere,
            };
            Ok(())
        },
    },
    Row {
        name: "stopAtBeginningOfMainSubprogram",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: None,
        description: "As `stopAtEntry`.",
        example: "true",
        origin: alias("stopAtEntry", "gdb"),
        read: |given, name, value| {
            given.common.stop_at_main = boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "environment",
        requests: Requests::Launch,
        shape: Shape::List(&Shape::Object(&[
            Field {
                name: "name",
                shape: Shape::Text,
                required: true,
                meaning: "the variable",
            },
            Field {
                name: "value",
                shape: Shape::Text,
                required: true,
                meaning: "what it is set to",
            },
        ])),
        default: None,
        description: "As `env`, a list of objects with `name` and `value`.",
        example: r#"[{"name": "LANG", "value": "C"}]"#,
        origin: alias("env", "cpptools"),
        read: |given, name, value| {
            given.variables = named_variables(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "disableASLR",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: None,
        description: "The opposite of `randomize`.",
        example: "false",
        origin: alias("randomize", "lldb-dap"),
        read: |given, name, value| {
            given.options.randomize = !boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "justMyCode",
        requests: Requests::Both,
        shape: Shape::Boolean,
        default: None,
        description: "`true` as `\"skip\": [\"std\", \"dependencies\"]`, `false` as `\"skip\": []`.",
        example: "true",
        origin: alias("skip", "debugpy"),
        read: |given, name, value| {
            given.common.skip = match boolean(name, value)? {
                true => SkipList::others(),
                false => SkipList::nothing(),
            };
            Ok(())
        },
    },
    Row {
        name: "processId",
        requests: Requests::Attach,
        shape: Shape::Called("a process id", &Shape::Any(&[Shape::Integer, Shape::Text])),
        default: None,
        description: "As `pid`.",
        example: r#""4711""#,
        origin: alias("pid", "cpptools"),
        read: |given, name, value| {
            given.pid = Some(process_id(name, value)?);
            Ok(())
        },
    },
    Row {
        name: "coreDumpPath",
        requests: Requests::Attach,
        shape: Shape::Path,
        default: None,
        description: "As `coreFile`.",
        example: r#""/tmp/core.4711""#,
        origin: alias("coreFile", "cpptools"),
        read: |given, name, value| {
            given.core = Some(file(name, value)?);
            Ok(())
        },
    },
    Row {
        name: "core",
        requests: Requests::Attach,
        shape: Shape::Path,
        default: None,
        description: "As `coreFile`.",
        example: r#""/tmp/core.4711""#,
        origin: alias("coreFile", "other debuggers"),
        read: |given, name, value| {
            given.core = Some(file(name, value)?);
            Ok(())
        },
    },
    Row {
        name: "sourceFileMap",
        requests: Requests::Both,
        shape: Shape::Map(&Shape::Any(&[
            Shape::Path,
            Shape::Object(&[
                Field {
                    name: "editorPath",
                    shape: Shape::Path,
                    required: true,
                    meaning: "the folder here",
                },
                Field {
                    name: "useForBreakpoints",
                    shape: Shape::Boolean,
                    required: false,
                    meaning: "always `true` here",
                },
            ]),
        ])),
        default: None,
        description: "As `sourceMap`; an entry may be an object with `editorPath`.",
        example: r#"{"/build/app": {"editorPath": "/home/me/app"}}"#,
        origin: alias("sourceMap", "cpptools"),
        read: |given, name, value| {
            let entries = value.as_object().into_iter().flatten();
            let folders = entries
                .map(|(from, to)| (from.clone(), to.get("editorPath").unwrap_or(to).clone()));
            given.common.source_map = SourceMap::read(name, &Value::Object(folders.collect()))?;
            Ok(())
        },
    },
    Row {
        name: "sourcePath",
        requests: Requests::Both,
        shape: Shape::Path,
        default: None,
        description: "`\"DIR\"` as `\"sourceMap\": {\".\": \"DIR\"}`.",
        example: r#""/home/me/app""#,
        origin: alias("sourceMap", "lldb-dap"),
        read: RELATIVE,
    },
    Row {
        name: "relativePathBase",
        requests: Requests::Both,
        shape: Shape::Path,
        default: None,
        description: "`\"DIR\"` as `\"sourceMap\": {\".\": \"DIR\"}`.",
        example: r#""/home/me/app""#,
        origin: alias("sourceMap", "CodeLLDB"),
        read: RELATIVE,
    },
];
