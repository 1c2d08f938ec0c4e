//! Linkers' names for people.

/// Demangles a Rust (legacy, v0) or C++ (Itanium) name for people: no hash suffix. Others come back as they are.
pub fn demangle(name: &str) -> String {
    /// Longer ones exist, but nobody reads them, and the C++ demangler recurses.
    const LONGEST: usize = 16 * 1024;
    if name.len() > LONGEST {
        return name.to_owned();
    }
    // A linker's version or a compiler's clone suffix: `foo@@GLIBC_2.2`, `_Zfoo.constprop.0`.
    if let Ok(demangled) = rustc_demangle::try_demangle(name) {
        return format!("{demangled:#}");
    }
    if name.starts_with("_Z") {
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
            ("main", "main"),
            ("_Z", "_Z"),
            ("", ""),
        ];
        for (mangled, expected) in cases {
            assert_eq!(demangle(mangled), expected, "{mangled}");
        }
    }
}
