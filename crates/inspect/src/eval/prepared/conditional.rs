//! `condition ? yes : no`.

use super::maker::{Made, Maker};
use super::{Node, decided};
use crate::eval::ir::Expression;

#[derive(Debug, Clone)]
pub(super) struct Conditional {
    pub(super) condition: Node,
    pub(super) yes: Node,
    pub(super) no: Node,
    /// Whether both values have the type that they have in common, so that none is converted.
    pub(super) has_one_type: bool,
}

impl Maker<'_> {
    pub(super) fn conditional(
        &self,
        condition: &Expression,
        yes: &Expression,
        no: &Expression,
    ) -> Option<Made> {
        let [condition, yes, no] = [condition, yes, no].map(|part| self.number(self.make(part)?));
        let (condition, yes, no) = (condition?, yes?, no?);
        let has_one_type = decided::have_one_type(self.language(), &yes, &no);
        Some(Made::Number(Node::Conditional(Box::new(Conditional {
            condition,
            yes,
            no,
            has_one_type,
        }))))
    }
}
