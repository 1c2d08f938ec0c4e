//! The shapes of the arguments about builds.

use crate::argument_values::shape::{Field, Shape, Word};

/// Changes to an environment.
pub const VARIABLES: Shape = Shape::Any(&[
    Shape::Map(&Shape::Any(&[
        Shape::Text,
        Shape::Number,
        Shape::Boolean,
        Shape::Null,
    ])),
    Shape::List(&Shape::Text),
]);

/// The kinds of cargo targets that are programs.
const KINDS: &[Word] = &[
    Word {
        word: "bin",
        meaning: "a program, or its unit tests",
    },
    Word {
        word: "lib",
        meaning: "a library's unit tests",
    },
    Word {
        word: "test",
        meaning: "an integration test",
    },
    Word {
        word: "example",
        meaning: "an example",
    },
    Word {
        word: "bench",
        meaning: "a benchmark",
    },
];

/// `cargo`.
pub const CARGO: Shape = Shape::Any(&[
    Shape::Object(&[
        Field {
            name: "args",
            shape: Shape::Any(&[Shape::List(&Shape::Text), Shape::Text]),
            required: true,
            meaning: "the arguments of cargo, as in `[\"test\", \"--lib\"]`",
        },
        Field {
            name: "cwd",
            shape: Shape::Path,
            required: false,
            meaning: "where cargo is run, if not in the launch's `cwd`",
        },
        Field {
            name: "env",
            shape: VARIABLES,
            required: false,
            meaning: "variables for cargo and what it runs to build",
        },
        Field {
            name: "filter",
            shape: Shape::Object(&[
                Field {
                    name: "name",
                    shape: Shape::Text,
                    required: false,
                    meaning: "the target's name",
                },
                Field {
                    name: "kind",
                    shape: Shape::Word(KINDS),
                    required: false,
                    meaning: "what it is",
                },
            ]),
            required: false,
            meaning: "which program is meant where several are built",
        },
    ]),
    Shape::List(&Shape::Text),
    Shape::Text,
]);

/// `build`.
pub const COMMAND: Shape = Shape::Any(&[
    Shape::Object(&[
        Field {
            name: "command",
            shape: Shape::Any(&[Shape::List(&Shape::Text), Shape::Text]),
            required: true,
            meaning: "what is run",
        },
        Field {
            name: "cwd",
            shape: Shape::Path,
            required: false,
            meaning: "where, if not in the launch's `cwd`",
        },
        Field {
            name: "env",
            shape: VARIABLES,
            required: false,
            meaning: "variables for it",
        },
    ]),
    Shape::List(&Shape::Text),
    Shape::Text,
]);
