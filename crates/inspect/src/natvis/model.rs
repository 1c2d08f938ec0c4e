//! The contents of a Natvis file: for which types it has entries, with which texts and children.

use super::code::Code;
use super::patterns::Pattern;
use std::path::Path;
use std::sync::Arc;

/// A place in a file, for messages.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub file: Arc<Path>,
    /// The line, counted from 1.
    pub line: u32,
}

impl Place {
    /// Whether the file is one that Dapple brings along: those have no folder.
    pub(crate) fn is_built_in(&self) -> bool {
        self.file
            .parent()
            .is_some_and(|folder| folder.as_os_str().is_empty())
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// How the types that match some patterns are shown.
#[derive(Debug)]
pub(crate) struct TypeEntry {
    pub place: Place,
    /// Its `Name` and its alternative names.
    pub patterns: Vec<Pattern>,
    /// Of the entries for one class, those with higher priority are tried first. 0 by default.
    pub priority: i8,
    /// Whether the entry also applies to derived classes.
    pub inheritable: bool,
    pub guard: Guard,
    /// The first version of the crate that the entry is for, and the first that it isn't.
    pub versions: (Option<Version>, Option<Version>),
    /// The pointer that a smart pointer stands for.
    pub pointer: Option<Code>,
    /// What is shown in parentheses behind the target of that pointer, such as the number of owners. The first that applies is used.
    pub pointer_notes: Vec<Text>,
    /// The value that is shown instead. The first that applies is used.
    pub transparent: Vec<Choice>,
    /// The texts for a value. The first that applies is used.
    pub texts: Vec<Text>,
    pub expand: Option<Expand>,
}

/// The version of a crate: major, minor, patch.
pub(crate) type Version = (u64, u64, u64);

/// The conditions under which a part of the file applies.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    pub condition: Option<Code>,
    /// A part that fails is left out silently.
    pub optional: bool,
    /// The only views it applies in. If empty, it applies in all.
    pub include: Vec<Arc<str>>,
    /// Views it doesn't apply in.
    pub exclude: Vec<Arc<str>>,
}

/// A line of text for a value.
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

/// A value's children.
#[derive(Debug, Default)]
pub(crate) struct Expand {
    /// Whether the value without presentation is not offered as a child.
    pub hides_raw: bool,
    /// The name before the children where they are shown as a struct's fields.
    pub record: Option<Arc<str>>,
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
    /// The children of another value, shown as this one's.
    Expanded(Box<Code>),
    /// A child that is not a value of the program.
    Synthetic(Arc<Synthetic>),
    /// Elements adjacent in memory.
    Array(Box<Array>),
    /// Elements computed from their index, `$i`.
    Indexed {
        size: Vec<Choice>,
        values: Vec<Choice>,
    },
    /// The nodes of a linked list.
    List(Box<List>),
    /// The nodes of a binary tree.
    Tree(Box<Tree>),
    /// Elements found by a small program.
    Custom(Custom),
}

/// A child that the file defines.
#[derive(Debug)]
pub(crate) struct Synthetic {
    pub name: Vec<Part>,
    pub texts: Vec<Text>,
    pub expand: Option<Expand>,
}

/// An expression with its conditions. Of several, the first that applies is used.
#[derive(Debug)]
pub(crate) struct Choice {
    pub guard: Guard,
    pub code: Code,
}

#[derive(Debug)]
pub(crate) struct Array {
    pub size: Vec<Choice>,
    pub pointer: Vec<Choice>,
    /// The number of dimensions. If present, `size` is evaluated for each dimension, with `$i`.
    pub rank: Option<Code>,
    /// Whether the first dimension varies fastest in memory. By default, the last one does.
    pub first_is_fastest: bool,
    /// The index of the first element.
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

/// How a node is shown.
#[derive(Debug)]
pub(crate) struct Node {
    pub name: Option<Vec<Part>>,
    /// A node for which this doesn't hold is not an element. In a tree, the nodes below it aren't either.
    pub condition: Option<Code>,
    pub value: Code,
}

#[derive(Debug)]
pub(crate) struct Custom {
    /// The variables, with their initial values.
    pub variables: Vec<(Arc<str>, Code)>,
    pub size: Vec<Choice>,
    pub steps: Vec<Step>,
    /// Whether the order of the elements has no meaning.
    pub is_set: bool,
}

/// A step of the program in a [`Custom`].
#[derive(Debug)]
pub(crate) enum Step {
    /// The branches with their conditions; the first whose condition holds is run.
    If(Vec<(Option<Code>, Vec<Step>)>),
    Loop(Option<Code>, Vec<Step>),
    /// Leaves the innermost loop, if the condition holds.
    Break(Option<Code>),
    /// Changes a variable, if the condition holds.
    Change(Option<Code>, Code),
    /// Adds an element.
    Item {
        condition: Option<Code>,
        name: Option<Vec<Part>>,
        value: Code,
    },
}
