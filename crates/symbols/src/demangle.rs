//! Turns linkage names into readable names.

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
        return format!("{demangled:#}");
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
