//! Names as text: cutting `std::vector<int, std::allocator<int> >::push_back` at its path's boundaries, the short
//! form that people read, and whether a full name is what a user's [`NamePattern`] means. Knows no DWARF.

mod expression;
mod implementation;
mod label;
mod parts;
mod pattern;
mod short;

pub use expression::NameExpression;
pub use label::call_label;
pub(crate) use parts::base_of;
pub use pattern::NamePattern;
pub use short::short_name;
