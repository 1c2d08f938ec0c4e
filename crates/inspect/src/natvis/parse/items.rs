//! Parses the items of `<Expand>`.

use super::{MAX_DEPTH, Reading, elements, is_true, name, text_of};
use crate::natvis::code::Code;
use crate::natvis::model::{
    Array, Choice, Custom, Item, ItemKind, List, Node as Shown, Part, Step, Synthetic, Tree,
};
use roxmltree::Node;
use std::sync::Arc;

impl Reading {
    pub(super) fn item(&mut self, node: Node<'_, '_>) -> Option<Item> {
        let kind = match name(node) {
            "Item" => {
                let text = self.attribute(node, "Name")?;
                ItemKind::Single {
                    name: self.parts(node, text)?,
                    value: Box::new(self.code(node)),
                }
            }
            "ExpandedItem" => ItemKind::Expanded(Box::new(self.code(node))),
            "Synthetic" => ItemKind::Synthetic(Arc::new(self.synthetic(node)?)),
            "ArrayItems" => ItemKind::Array(Box::new(Array {
                size: self.choices(node, "Size")?,
                pointer: self.choices(node, "ValuePointer")?,
                rank: self.optional(node, "Rank"),
                first_is_fastest: elements(node)
                    .any(|inner| name(inner) == "Direction" && text_of(inner).trim() == "Backward"),
                lower: self.optional(node, "LowerBound"),
            })),
            "IndexListItems" => ItemKind::Indexed {
                size: self.choices(node, "Size")?,
                values: self.choices(node, "ValueNode")?,
            },
            "LinkedListItems" => ItemKind::List(Box::new(List {
                size: self.some_choices(node, "Size"),
                head: self.wanted(node, "HeadPointer")?,
                next: self.wanted(node, "NextPointer")?,
                node: self.shown_node(node)?,
            })),
            "TreeItems" => ItemKind::Tree(Box::new(Tree {
                size: self.some_choices(node, "Size"),
                head: self.wanted(node, "HeadPointer")?,
                left: self.wanted(node, "LeftPointer")?,
                right: self.wanted(node, "RightPointer")?,
                node: self.shown_node(node)?,
            })),
            "CustomListItems" => ItemKind::Custom(self.custom(node)?),
            _ => {
                self.unknown(node);
                return None;
            }
        };
        self.known_parts(node);
        Some(Item {
            place: self.place(node),
            guard: self.guard(node),
            kind,
        })
    }

    /// Reports child elements that an item of this kind doesn't have.
    fn known_parts(&mut self, node: Node<'_, '_>) {
        let known: &[&str] = match name(node) {
            "ArrayItems" => &["Size", "ValuePointer", "Rank", "Direction", "LowerBound"],
            "IndexListItems" => &["Size", "ValueNode"],
            "LinkedListItems" => &["Size", "HeadPointer", "NextPointer", "ValueNode"],
            "TreeItems" => &[
                "Size",
                "HeadPointer",
                "LeftPointer",
                "RightPointer",
                "ValueNode",
            ],
            "Item" | "ExpandedItem" => &[],
            _ => return,
        };
        for inner in elements(node).filter(|inner| !known.contains(&name(*inner))) {
            self.unknown(inner);
        }
    }

    fn synthetic(&mut self, node: Node<'_, '_>) -> Option<Synthetic> {
        let text = self.attribute(node, "Name")?;
        let mut synthetic = Synthetic {
            name: self.parts(node, text)?,
            texts: Vec::new(),
            expand: None,
        };
        for inner in elements(node) {
            match name(inner) {
                "DisplayString" => synthetic.texts.extend(self.text(inner)),
                "Expand" => synthetic.expand = Some(self.expand(inner)),
                "StringView" => drop(self.code(inner)),
                "UIVisualizer" | "CustomVisualizer" => {}
                _ => self.unknown(inner),
            }
        }
        Some(synthetic)
    }

    fn missing(&mut self, node: Node<'_, '_>, wanted: &str) {
        let what = format!("`<{}>` has no `<{wanted}>`, and is left out", name(node));
        self.problem(node, &what);
    }

    /// The child elements with the name `wanted`. Reports it if there are none.
    fn choices(&mut self, node: Node<'_, '_>, wanted: &str) -> Option<Vec<Choice>> {
        let choices = self.some_choices(node, wanted);
        if choices.is_empty() {
            self.missing(node, wanted);
            return None;
        }
        Some(choices)
    }

    fn some_choices(&mut self, node: Node<'_, '_>, wanted: &str) -> Vec<Choice> {
        let parts = elements(node).filter(|inner| name(*inner) == wanted);
        parts
            .map(|inner| Choice {
                guard: self.guard(inner),
                code: self.code(inner),
            })
            .collect()
    }

    fn optional(&mut self, node: Node<'_, '_>, wanted: &str) -> Option<Code> {
        let inner = elements(node).find(|inner| name(*inner) == wanted)?;
        Some(self.code(inner))
    }

    fn wanted(&mut self, node: Node<'_, '_>, wanted: &str) -> Option<Code> {
        let code = self.optional(node, wanted);
        if code.is_none() {
            self.missing(node, wanted);
        }
        code
    }

    fn shown_node(&mut self, node: Node<'_, '_>) -> Option<Shown> {
        let Some(inner) = elements(node).find(|inner| name(*inner) == "ValueNode") else {
            self.missing(node, "ValueNode");
            return None;
        };
        Some(Shown {
            name: self.name(inner),
            condition: self.condition(inner),
            value: self.code(inner),
        })
    }

    fn name(&mut self, node: Node<'_, '_>) -> Option<Vec<Part>> {
        let text = node.attribute("Name")?;
        self.parts(node, text)
    }

    fn custom(&mut self, node: Node<'_, '_>) -> Option<Custom> {
        let mut variables: Vec<(Arc<str>, Code)> = Vec::new();
        for inner in elements(node).filter(|inner| name(*inner) == "Variable") {
            let own = self.attribute(inner, "Name")?;
            let first = self.attribute(inner, "InitialValue")?;
            variables.push((own.into(), self.expression(inner, first)));
        }
        let size = self.some_choices(node, "Size");
        let steps = self.steps(node, true);
        Some(Custom {
            variables,
            size,
            steps,
            is_set: is_true(node.attribute("Set")),
        })
    }

    fn steps(&mut self, node: Node<'_, '_>, outermost: bool) -> Vec<Step> {
        if self.depth >= MAX_DEPTH {
            self.problem(node, "it is nested too deep");
            return Vec::new();
        }
        self.depth += 1;
        let mut steps: Vec<Step> = Vec::new();
        for inner in elements(node) {
            match name(inner) {
                "Variable" | "Size" | "Skip" if outermost => {}
                "Loop" => {
                    let condition = self.condition(inner);
                    steps.push(Step::Loop(condition, self.steps(inner, false)));
                }
                "If" => {
                    let condition = self.condition(inner);
                    steps.push(Step::If(vec![(condition, self.steps(inner, false))]));
                }
                "Elseif" | "Else" => {
                    let condition = self.condition(inner);
                    let branch = (condition, self.steps(inner, false));
                    match steps.last_mut() {
                        Some(Step::If(branches)) => branches.push(branch),
                        _ => self.problem(inner, "there is no `<If>` before it"),
                    }
                }
                "Break" => steps.push(Step::Break(self.condition(inner))),
                "Exec" => {
                    let place = self.place(inner);
                    let code = Code::change(&text_of(inner), &place, &self.intrinsics);
                    self.check(&place, &code);
                    steps.push(Step::Change(self.condition(inner), code));
                }
                "Item" => steps.push(Step::Item {
                    condition: self.condition(inner),
                    name: self.name(inner),
                    value: self.code(inner),
                }),
                _ => self.unknown(inner),
            }
        }
        self.depth -= 1;
        steps
    }
}
