//! Short labels for functions.

use super::implementation::Implementation;
use super::parts::parts;
use super::short::short_name;

/// The short form of a function's name. For functions of Rust's `core` and `alloc`, whose full paths and parameters users
/// rarely write, only the type, trait or module and the function: `Iterator::map`, `Vec::deref`.
pub fn call_label(name: &str) -> String {
    let of_library = |name: &str| {
        ["core::", "alloc::"]
            .iter()
            .any(|root| name.starts_with(root))
    };
    if !of_library(name.strip_prefix('<').unwrap_or(name)) {
        return short_name(name);
    }
    let path = parts(name);
    let (owner, function) = match (Implementation::find(&path), path.as_slice()) {
        (Some((implementation, [.., last])), _) => (last_of(implementation.subject), last.base),
        (None, [.., owner, last]) => (owner.base.to_owned(), last.base),
        _ => return short_name(name),
    };
    format!("{owner}::{function}")
}

/// The last part of a type's path without its arguments.
fn last_of(type_: &str) -> String {
    match parts(type_).last() {
        Some(last) if !last.base.is_empty() => last.base.to_owned(),
        _ => type_.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::call_label;

    #[test]
    fn functions_of_the_library_are_called_by_their_owner() {
        for (name, label) in [
            (
                "core::iter::traits::iterator::Iterator::map<core::slice::iter::Iter<guide::Book>, u32>",
                "Iterator::map",
            ),
            (
                "<alloc::vec::Vec<T, A> as core::ops::deref::Deref>::deref",
                "Vec::deref",
            ),
            ("core::slice::<impl [T]>::iter", "[T]::iter"),
            ("core::slice::<impl[T]>::iter", "slice::iter"),
            ("core::mem::swap<u8>", "mem::swap"),
            (
                "alloc::vec::Vec<i32, alloc::alloc::Global>::push",
                "Vec::push",
            ),
            ("guide::longest", "guide::longest"),
            (
                "<guide::Book as core::fmt::Display>::fmt",
                "<guide::Book as core::fmt::Display>::fmt",
            ),
            (
                "std::vector<int, std::allocator<int> >::push_back",
                "std::vector<int>::push_back",
            ),
            ("core::", "core::"),
            ("<core::>", "<core::>"),
        ] {
            assert_eq!(call_label(name), label, "{name}");
        }
    }
}
