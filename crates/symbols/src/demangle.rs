//! Turns linkage names into readable names.

use crate::names::group_end;

/// Demangles a Rust (legacy, v0) or C++ (Itanium) name in full: with a C++ function's parameters and all template
/// arguments, but without Rust's hash. Returns other names, and names of more than 16 KiB, unchanged.
pub fn demangle(name: &str) -> String {
    in_full(name, &cpp_demangle::DemangleOptions::default())
}

/// Like [`demangle`], but only the path: without parameters, result type and the mark of a compiler's clone.
pub(crate) fn demangle_path(name: &str) -> String {
    let options = cpp_demangle::DemangleOptions::default();
    let path = in_full(name, &options.no_params().no_return_type());
    match path.rfind(" [") {
        Some(clone) if path.ends_with(']') => path[..clone].to_owned(),
        _ => path,
    }
}

/// Demangles a Rust or C++ name to its short form: without hash, parameters and the default arguments of the standard
/// library's templates. See [`crate::names::short_name`].
pub fn demangle_short(name: &str) -> String {
    crate::names::short_name(&demangle_path(name))
}

fn in_full(name: &str, options: &cpp_demangle::DemangleOptions) -> String {
    /// Longer names exist, but are unreadable anyway, and the C++ demangler recurses.
    const LONGEST: usize = 16 * 1024;
    if name.len() > LONGEST {
        return name.to_owned();
    }
    // A symbol version or the mark of a stub: `_ZNSolsEi@@GLIBCXX_3.4`, `_ZNSolsEi@plt`.
    if let Some((base, suffix)) = name.split_once('@')
        && base.starts_with("_")
    {
        return format!("{}@{suffix}", demangle_base(base, options));
    }
    demangle_base(name, options)
}

fn demangle_base(name: &str, options: &cpp_demangle::DemangleOptions) -> String {
    if let Ok(demangled) = rustc_demangle::try_demangle(name) {
        let demangled = format!("{demangled:#}");
        return match name.starts_with("_R") {
            true => without_brackets(&demangled),
            false => demangled,
        };
    }
    if name.starts_with("_Z") {
        // A compiler's clone: `_Zfoo.constprop.0`.
        let (base, clone) = match name.find('.') {
            Some(dot) => name.split_at(dot),
            None => (name, ""),
        };
        let demangled = cpp_demangle::Symbol::new(base)
            .ok()
            .and_then(|symbol| symbol.demangle_with_options(options).ok());
        if let Some(demangled) = demangled {
            return match clone {
                "" => demangled,
                clone => format!("{demangled} [{}]", clone.trim_start_matches('.')),
            };
        }
    }
    name.to_owned()
}

/// Takes away the brackets that only Rust's v0 mangling has, those of a type in front of its own methods:
/// `<tour::Stack<i32>>::push` → `tour::Stack<i32>::push`, as the legacy one and users write it. Those of traits
/// (`<T as Trait>::f`) and of types that aren't paths (`<[u8]>::len`) stay.
fn without_brackets(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        // A type in front of a method begins a path. Behind a name or `::`, a bracket has generic arguments.
        let begins = !text.ends_with(|c: char| c.is_alphanumeric() || "_:>})".contains(c));
        let end = group_end(rest.as_bytes(), open);
        let inside = rest[open + 1..end].strip_suffix('>').filter(|_| begins);
        match inside {
            Some(inside) if rest[end..].starts_with("::") && is_path(inside) => {
                text.push_str(&without_brackets(inside));
                rest = &rest[end..];
            }
            _ => {
                text.push('<');
                rest = &rest[open + 1..];
            }
        }
    }
    text.push_str(rest);
    text
}

/// Whether a type is a path: `tour::Stack<i32>`, but not `[T]`, `dyn Trait`, `T as Trait`.
fn is_path(type_: &str) -> bool {
    let mut rest = type_;
    while let Some(at) = rest.find([' ', '<', '(', '[', '{']) {
        if rest.as_bytes()[at] == b' ' {
            return false;
        }
        rest = &rest[group_end(rest.as_bytes(), at)..];
    }
    type_.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_manglings_are_shown_without_hashes() {
        let cases = [
            ("_ZN4tour4area17h0123456789abcdefE", "tour::area"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("_ZN2ns5Shape4areaEi", "ns::Shape::area(int)"),
            ("_ZN2ns4workEv.constprop.0", "ns::work() [constprop.0]"),
            ("_ZN2ns5Shape4areaEi@plt", "ns::Shape::area(int)@plt"),
            ("_RNvCs1234_7mycrate3foo@plt", "mycrate::foo@plt"),
            (
                "_ZNSolsEi@@GLIBCXX_3.4",
                "std::ostream::operator<<(int)@@GLIBCXX_3.4",
            ),
            ("puts@plt", "puts@plt"),
            ("main", "main"),
            ("_Z", "_Z"),
            ("", ""),
        ];
        for (mangled, expected) in cases {
            assert_eq!(demangle(mangled), expected, "{mangled}");
        }
    }

    #[test]
    fn methods_have_the_same_names_in_both_manglings_of_rust() {
        let cases = [
            ("<tour::Stack<i32>>::push", "tour::Stack<i32>::push"),
            (
                "<smol::Run<<smol::Executor>::spawn::{closure#0}, fn(u8) -> u8>>::go",
                "smol::Run<smol::Executor::spawn::{closure#0}, fn(u8) -> u8>::go",
            ),
            (
                "<tour::Shape as core::fmt::Display>::fmt",
                "<tour::Shape as core::fmt::Display>::fmt",
            ),
            (
                "<<a::B>::c::{closure#0} as a::D>::e",
                "<a::B::c::{closure#0} as a::D>::e",
            ),
            ("<[u8]>::len", "<[u8]>::len"),
            (
                "<[a::B<u8>]>::get::<<a::B>::C>",
                "<[a::B<u8>]>::get::<a::B::C>",
            ),
            ("<dyn a::B>::c", "<dyn a::B>::c"),
            ("a::b::<<c::D>::E>", "a::b::<c::D::E>"),
            ("a::b::<c>::d", "a::b::<c>::d"),
            ("<str>::len", "str::len"),
            ("<a", "<a"),
            ("<é", "<é"),
            ("", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(without_brackets(name), expected);
        }
        let mangled = "_RNvMCs1hSrFuh5ofg_8blockingNtB2_8Executor8schedule";
        assert_eq!(demangle(mangled), "blocking::Executor::schedule");
    }

    #[test]
    fn short_names_have_no_parameters_results_and_default_arguments() {
        let cases = [
            ("_ZN4tour4area17h0123456789abcdefE", "tour::area"),
            ("_ZN2ns5Shape4areaEi", "ns::Shape::area"),
            ("_ZN2ns6largerIiEET_S1_S1_", "ns::larger<int>"),
            ("_ZN2ns4workEv.constprop.0", "ns::work"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int>::push_back",
            ),
            ("main", "main"),
        ];
        for (mangled, expected) in cases {
            assert_eq!(demangle_short(mangled), expected, "{mangled}");
        }
    }
}
