//! `on`: the machine or container where the program is. A client that knows the argument starts the adapter there (`dapple dap --on`), where it says
//! nothing more. An adapter that was started in another way refuses it, because the user doesn't mean this machine.

use super::row::{Origin, Requests, Row};
use crate::argument_values::shape::Shape;

/// The argument.
pub const ON: Row = Row {
    name: "on",
    requests: Requests::Both,
    shape: Shape::Called(
        "a place, or a list of words of a command",
        &Shape::Any(&[Shape::Text, Shape::List(&Shape::Text)]),
    ),
    default: None,
    description: "The machine or container where the program is: `ssh://USER@HOST:PORT`, `docker://NAME`, `podman://NAME`, `kubectl://NAMESPACE/POD/CONTAINER`, or the words of a command that runs others there. All paths and processes are meant there.",
    example: r#""ssh://me@board""#,
    origin: Origin::Own,
    read: |given, _, value| {
        let is_empty = |text: &str| text.is_empty();
        given.common.is_elsewhere =
            !value.as_str().is_some_and(is_empty) && !value.as_array().is_some_and(Vec::is_empty);
        Ok(())
    },
};

/// Why an adapter refuses the argument that is not at that place.
pub const REFUSED: &str = "`on` is for a client that starts the adapter there: start it as `dapple dap --on PLACE` in place of `dapple dap`";
