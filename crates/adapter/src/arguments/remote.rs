//! The arguments for a process behind a stub of gdb's remote protocol, and other debuggers' names of them.

use super::given::Given;
use super::row::{Origin, Requests, Row};
use crate::argument_values::shape::Shape;
use crate::argument_values::{path, string, whole_number, words};
use serde_json::Value;

fn address(given: &mut Given, name: &str, value: &Value) -> Result<(), String> {
    let address = string(name, value)?.parse();
    given.stub.address = Some(address.map_err(|error| format!("`{name}`: {error}"))?);
    Ok(())
}

const fn alias(from: &'static str) -> Origin {
    Origin::Alias { of: "target", from }
}

/// Other debuggers' names.
pub const ALIASES: &[Row] = &[
    Row {
        name: "miDebuggerServerAddress",
        requests: Requests::Attach,
        shape: Shape::Text,
        default: None,
        description: "As `target`.",
        example: r#""localhost:1234""#,
        origin: alias("cpptools"),
        read: address,
    },
    Row {
        name: "gdbTarget",
        requests: Requests::Attach,
        shape: Shape::Text,
        default: None,
        description: "As `target`.",
        example: r#""localhost:3333""#,
        origin: alias("cortex-debug"),
        read: address,
    },
    Row {
        name: "gdb-remote-hostname",
        requests: Requests::Attach,
        shape: Shape::Text,
        default: None,
        description: "The host in `target`, beside `gdb-remote-port`.",
        example: r#""board""#,
        origin: alias("lldb-dap"),
        read: |given, name, value| {
            given.stub.host = Some(string(name, value)?.to_owned());
            Ok(())
        },
    },
    Row {
        name: "gdb-remote-port",
        requests: Requests::Attach,
        shape: Shape::Integer,
        default: None,
        description: "The port in `target`; the host is this machine, if `gdb-remote-hostname` doesn't say otherwise.",
        example: "1234",
        origin: alias("lldb-dap"),
        read: |given, name, value| {
            given.stub.port = Some(whole_number(name, value, 1)?);
            Ok(())
        },
    },
];

/// The arguments.
pub const ARGUMENTS: &[Row] = &[
    Row {
        name: "target",
        requests: Requests::Attach,
        shape: Shape::Text,
        default: None,
        description: "Instead of a process of this machine, one behind a stub of gdb's remote protocol, such as gdbserver, QEMU or a debug probe: `HOST:PORT`, the path of a Unix socket, a serial device such as `/dev/ttyUSB0@115200`, or `|COMMAND` that speaks the protocol on its input and output. `program` is then the file of the program on this machine, and `pid` a process to attach to on the other one.",
        example: r#""board:1234""#,
        origin: Origin::Own,
        read: address,
    },
    Row {
        name: "sysroot",
        requests: Requests::Attach,
        shape: Shape::Path,
        default: None,
        description: "With `target`: a folder of this machine with a copy of the other one's files, in which the program's libraries are found. Without it, what isn't here is fetched from the stub, if that gives files.",
        example: r#""/usr/aarch64-linux-gnu""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.stub.sysroot = path(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "remoteCommand",
        requests: Requests::Attach,
        shape: Shape::Any(&[Shape::List(&Shape::Text), Shape::Text]),
        default: None,
        description: "With `target`: a program of the other machine that the stub is to start, with its arguments, in place of what it runs already.",
        example: r#"["/usr/bin/app", "--verbose"]"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.stub.command = words(name, value)?;
            Ok(())
        },
    },
];
