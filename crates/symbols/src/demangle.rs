//! Linkers' names for people.

/// Demangles a Rust (legacy, v0) or C++ (Itanium) name for people: no hash suffix. Others come back as they are.
pub fn demangle(name: &str) -> String {
    /// Longer ones exist, but nobody reads them, and the C++ demangler recurses.
    const LONGEST: usize = 16 * 1024;
    if name.len() > LONGEST {
        return name.to_owned();
    }
    // A linker's version, or the mark of a stub: `_ZNSolsEi@@GLIBCXX_3.4`, `_ZNSolsEi@plt`.
    if let Some((base, suffix)) = name.split_once('@')
        && base.starts_with("_")
    {
        return format!("{}@{suffix}", demangle_base(base));
    }
    demangle_base(name)
}

fn demangle_base(name: &str) -> String {
    if let Ok(demangled) = rustc_demangle::try_demangle(name) {
        return format!("{demangled:#}");
    }
    if name.starts_with("_Z") {
        // A compiler's clone: `_Zfoo.constprop.0`.
        let (base, clone) = match name.find('.') {
            Some(dot) => name.split_at(dot),
            None => (name, ""),
        };
        let options = cpp_demangle::DemangleOptions::default();
        let demangled = cpp_demangle::Symbol::new(base)
            .ok()
            .and_then(|symbol| symbol.demangle_with_options(&options).ok());
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
    use super::demangle;

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
}
