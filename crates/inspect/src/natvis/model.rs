//! What a Natvis file says: for which types, which text, which children.

use super::code::Code;
use super::patterns::Pattern;
use std::path::Path;
use std::sync::Arc;

/// Where something stands in a file, for messages.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub file: Arc<Path>,
    /// From 1.
    pub line: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// How the types of some names are shown.
#[derive(Debug)]
pub(crate) struct TypeEntry {
    pub place: Place,
    /// Its name and its alternative ones.
    pub patterns: Vec<Pattern>,
    /// Higher ones are tried first; 0 unless it is said.
    pub priority: i8,
    /// Whether it also shows classes that derive from them.
    pub inheritable: bool,
    pub guard: Guard,
    /// The pointer that it stands for.
    pub pointer: Option<Code>,
    /// The first that applies is the line.
    pub texts: Vec<Text>,
    pub expand: Option<Expand>,
}

/// When something applies.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    pub condition: Option<Code>,
    /// What fails is left out, without a word.
    pub optional: bool,
    /// In these views only; everywhere if there are none.
    pub include: Vec<Arc<str>>,
    /// In these it doesn't.
    pub exclude: Vec<Arc<str>>,
}

/// A line of text.
#[derive(Debug)]
pub(crate) struct Text {
    pub place: Place,
    pub guard: Guard,
    pub parts: Vec<Part>,
}

/// A part of a text.
#[derive(Debug)]
pub(crate) enum Part {
    Literal(String),
    Value(Box<Code>),
}

/// The children.
#[derive(Debug, Default)]
pub(crate) struct Expand {
    /// Whether the raw form isn't offered.
    pub hides_raw: bool,
    pub items: Vec<Item>,
}

/// One or more children.
#[derive(Debug)]
pub(crate) struct Item {
    pub place: Place,
    pub guard: Guard,
    pub kind: ItemKind,
}

#[derive(Debug)]
pub(crate) enum ItemKind {
    /// A child with a name.
    Single { name: Vec<Part>, value: Box<Code> },
    /// The children of another value.
    Expanded(Box<Code>),
    /// A child that is no value of the program.
    Synthetic(Arc<Synthetic>),
    /// Elements one after another.
    Array(Box<Array>),
    /// Elements by their index, `$i`.
    Indexed {
        size: Vec<Choice>,
        values: Vec<Choice>,
    },
    /// Elements that each lead to the next.
    List(Box<List>),
    /// Elements that each have two sides.
    Tree(Box<Tree>),
    /// Elements that a small program finds.
    Custom(Custom),
}

/// A child made up by the file.
#[derive(Debug)]
pub(crate) struct Synthetic {
    pub name: Vec<Part>,
    pub texts: Vec<Text>,
    pub expand: Option<Expand>,
}

/// An expression that may apply; of several the first is taken.
#[derive(Debug)]
pub(crate) struct Choice {
    pub guard: Guard,
    pub code: Code,
}

#[derive(Debug)]
pub(crate) struct Array {
    pub size: Vec<Choice>,
    pub pointer: Vec<Choice>,
    /// How many dimensions there are; then `size` is for each of them, by `$i`.
    pub rank: Option<Code>,
    /// The last dimension's elements lie together, unless it is the first's.
    pub first_is_fastest: bool,
    /// What the first element's index is.
    pub lower: Option<Code>,
}

#[derive(Debug)]
pub(crate) struct List {
    pub size: Vec<Choice>,
    pub head: Code,
    pub next: Code,
    pub node: Node,
}

#[derive(Debug)]
pub(crate) struct Tree {
    pub size: Vec<Choice>,
    pub head: Code,
    pub left: Code,
    pub right: Code,
    pub node: Node,
}

/// What is shown of a node.
#[derive(Debug)]
pub(crate) struct Node {
    pub name: Option<Vec<Part>>,
    /// What isn't so is no node.
    pub condition: Option<Code>,
    pub value: Code,
}

#[derive(Debug)]
pub(crate) struct Custom {
    /// With what each begins.
    pub variables: Vec<(Arc<str>, Code)>,
    pub size: Vec<Choice>,
    pub steps: Vec<Step>,
}

/// A step of the program in a [`Custom`].
#[derive(Debug)]
pub(crate) enum Step {
    /// The first branch whose condition holds.
    If(Vec<(Option<Code>, Vec<Step>)>),
    Loop(Option<Code>, Vec<Step>),
    /// Out of the loop.
    Break(Option<Code>),
    /// A change of a variable.
    Change(Option<Code>, Code),
    /// An element.
    Item {
        condition: Option<Code>,
        name: Option<Vec<Part>>,
        value: Code,
    },
}
