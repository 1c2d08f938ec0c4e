//! Names as text: splits `std::vector<int, std::allocator<int> >::push_back` at its path separators, shortens names for
//! display, and matches full names against a user's [`NamePattern`]. Knows no DWARF.

mod expression;
mod implementation;
mod label;
mod parts;
mod pattern;
mod readable;
mod short;

pub use expression::NameExpression;
pub use label::call_label;
pub(crate) use parts::{base_of, group_end};
pub use pattern::NamePattern;
pub use readable::readable_name;
pub use short::short_name;
