//! Which names a pattern matches.

use super::*;

#[test]
fn names_match_by_their_ends() {
    let cases = [
        ("area", "tour::area", true),
        ("tour::area", "tour::area", true),
        ("ea", "tour::area", false),
        ("our::area", "tour::area", false),
        ("::area", "tour::area", false),
        ("::tour::area", "tour::area", true),
        ("max", "ns::max<int>", true),
        ("max<int>", "ns::max<int>", true),
        ("max<long>", "ns::max<int>", false),
        ("max<int>", "ns::max", false),
        ("Vec::push", "alloc::vec::Vec<T, A>::push", true),
        ("Vec::<T, A>::push", "alloc::vec::Vec<T, A>::push", true),
        (
            "std::vector<int>::push_back",
            "std::vector<int, std::allocator<int> >::push_back",
            true,
        ),
        (
            "vector<int, std::allocator<int>>::push_back",
            "std::vector<int, std::allocator<int> >::push_back",
            true,
        ),
        (
            "std::vector<long>::push_back",
            "std::vector<int, std::allocator<int> >::push_back",
            false,
        ),
        (
            "std::string::append",
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append",
            true,
        ),
        (
            "basic_string<char>::append",
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append",
            true,
        ),
        ("Array<3>::get", "Array<3ul>::get", true),
        ("Array<3>::get", "Array<13ul>::get", false),
        (
            "Shape::fmt",
            "<tour::Shape as core::fmt::Display>::fmt",
            true,
        ),
        (
            "Display::fmt",
            "<tour::Shape as core::fmt::Display>::fmt",
            true,
        ),
        (
            "Debug::fmt",
            "<tour::Shape as core::fmt::Display>::fmt",
            false,
        ),
        (
            "<tour::Shape as core::fmt::Display>::fmt",
            "<tour::Shape as core::fmt::Display>::fmt",
            true,
        ),
        ("Vec<i32>::push", "<alloc::vec::Vec<i32>>::push", true),
        (
            "Shape::fmt",
            "tour::<impl core::fmt::Display for tour::Shape>::fmt",
            true,
        ),
        ("operator<", "ns::operator<", true),
        ("operator<", "ns::operator<<", false),
        ("Stack::operator<<", "Stack<int>::operator<<", true),
        ("operator*", "ns::operator*", true),
        ("operator*", "ns::operator**", false),
        ("struct item", "item", true),
        ("ns::helper", "ns::(anonymous namespace)::helper", true),
        (
            "ns::(anonymous namespace)::helper",
            "ns::(anonymous namespace)::helper",
            true,
        ),
        ("", "", false),
    ];
    for (wanted, full, expected) in cases {
        let pattern = NamePattern::new(wanted);
        assert_eq!(pattern.matches(full), expected, "{wanted} in {full}");
    }
}

#[test]
fn a_method_of_a_trait_is_written_in_many_ways() {
    let display = "<tour::Shape as core::fmt::Display>::fmt";
    let other = "tour::<impl core::fmt::Display for tour::Shape>::fmt";
    let price = "<alloc::vec::Vec<shop::Order> as shop::Priced>::price";
    let doubled = "shop::Priced::doubled<shop::Order>";
    let cases = [
        ("<Shape as Display>::fmt", display, true),
        ("<Shape as std::fmt::Display>::fmt", display, true),
        ("<tour::Shape as fmt::Display>::fmt", other, true),
        ("impl Display for Shape::fmt", display, true),
        ("impl Display for tour::Shape::fmt", other, true),
        ("<impl Display for Shape>::fmt", other, true),
        ("impl<T> Display for Shape::fmt", other, true),
        ("<Shape as Debug>::fmt", display, false),
        ("<Square as Display>::fmt", display, false),
        ("<Shape as Display>::write", display, false),
        ("<Vec<Order> as Priced>::price", price, true),
        ("<Vec<T> as Priced>::price", price, true),
        ("<Vec<_> as Priced>::price", price, true),
        ("<Vec<Line> as Priced>::price", price, false),
        ("Vec::price", price, true),
        ("Vec<Order>::price", price, true),
        ("Priced::price", price, true),
        ("shop::Priced::*", price, true),
        ("<Order as Priced>::doubled", doubled, true),
        ("<Line as Priced>::doubled", doubled, false),
        (
            "<&Order as Priced>::price",
            "<&shop::Order as shop::Priced>::price",
            true,
        ),
        (
            "<Order as Priced>::price",
            "<&shop::Order as shop::Priced>::price",
            false,
        ),
        ("std::vec::Vec::push", "alloc::vec::Vec<i32>::push", true),
        ("crate::orders::parse", "shop::orders::parse", true),
    ];
    for (wanted, full, expected) in cases {
        let pattern = NamePattern::new(wanted);
        assert_eq!(pattern.matches(full), expected, "{wanted} in {full}");
    }
    let pattern = NamePattern::new("<Stack<i32> as Drop>::drop");
    let path = "<shop::Stack<T> as core::ops::drop::Drop>::drop";
    assert!(pattern.matches_instance(path, "drop<i32>"));
    assert!(!pattern.matches_instance(path, "drop<u8>"));
    let own = NamePattern::new("sized::<4>");
    assert!(own.matches_instance("shop::Stack<&str>::sized<&str,4>", "sized<&str, 4>"));
}

#[test]
fn arguments_are_types_as_people_write_them() {
    let cases = [
        ("Stack<T>::top", "Stack<ns::Order>::top", true),
        ("Stack<Order>::top", "Stack<ns::Order>::top", true),
        ("Stack<Order>::top", "Stack<ns::Line>::top", false),
        (
            "Stack<Stack<Order>>::top",
            "Stack<ns::Stack<ns::Order> >::top",
            true,
        ),
        ("pair<u8, _>", "shop::pair<u8, &str>", true),
        ("pair<_, u8>", "shop::pair<u8, &str>", false),
        ("pair<A, B>", "shop::pair<u8, &str>", true),
        ("pair<A>", "shop::pair<u8, &str>", false),
        ("run::{closure}", "shop::run::{closure#0}", true),
        ("run::{closure}", "shop::run::{{closure}}", true),
        (
            "caller::{lambda(int)#1}::operator()",
            "caller(int)::{lambda(int)#1}::operator()",
            true,
        ),
        ("operator \"\" _km", "operator\"\"_km", true),
        ("Order::operator +=", "ns::Order::operator+=", true),
        ("{anonymous}::f", "(anonymous namespace)::f", true),
    ];
    for (wanted, full, expected) in cases {
        let pattern = NamePattern::new(wanted);
        assert_eq!(pattern.matches(full), expected, "{wanted} in {full}");
    }
}

#[test]
fn arguments_nested_without_end_are_compared_in_no_time() {
    let deep = |inside: &str| format!("{}{inside}{}", "f<".repeat(3000), ">".repeat(3000));
    let pattern = NamePattern::new(&deep("a"));
    assert!(pattern.matches(&deep("a")));
    assert!(!pattern.matches(&deep("b")));
}

#[test]
fn a_rust_instance_is_meant_by_its_own_arguments() {
    let is = |pattern: &str| {
        NamePattern::new(pattern).matches_instance(
            "alloc::vec::Vec<T,A>::push",
            "push<alloc::string::String, alloc::alloc::Global>",
        )
    };
    assert!(is("Vec<String>::push"));
    assert!(is("alloc::vec::Vec<alloc::string::String>::push"));
    assert!(!is("Vec<i32>::push"));
    assert!(!is("Vec<String>::pop"));
}

#[test]
fn what_can_be_no_name_has_a_problem() {
    let cases = [
        ("", Some("the name is empty")),
        (" ", Some("the name is empty")),
        ("::", Some("that can't be a name")),
        ("area(", Some("`(` is not closed in area(")),
        (
            "Vec<Vec<i32>::push",
            Some("`<` is not closed in Vec<Vec<i32>::push"),
        ),
        ("area)", Some("`)` closes nothing in area)")),
        ("area(int]", Some("`]` closes nothing in area(int]")),
        ("area(int)", None),
        ("<tour::Shape as core::fmt::Display>::fmt", None),
        ("apply<fn(i32) -> i32>", None),
        ("main::{closure#0}", None),
        ("ns::(anonymous namespace)::helper", None),
        ("ns::operator<<", None),
        ("operator()(int)", None),
        ("Map::operator->", None),
        ("orders::**", None),
    ];
    for (name, expected) in cases {
        let problem = NamePattern::new(name).problem();
        assert_eq!(problem.as_deref(), expected, "{name:?}");
    }
}

#[test]
fn of_a_long_name_the_start_is_shown() {
    let shown = |text: &str| NamePattern::new(text).shown();
    assert_eq!(shown(" area(int) "), "area(int)");
    assert_eq!(shown(&"ü".repeat(300)), format!("{}…", "ü".repeat(200)));
}

#[test]
fn stars_stand_for_text_and_components() {
    let cases = [
        ("orders::*", "orders::parse", true),
        ("orders::*", "shop::orders::parse", true),
        ("orders::*", "orders::Order::new", false),
        ("orders::*", "orders", false),
        ("orders::**", "orders::Order::new", true),
        ("orders::**::new", "orders::inner::Order::new", true),
        ("orders::**::new", "orders::new", false),
        ("*_test", "shop::parse_test", true),
        ("par*e", "parse", true),
        ("par*e", "parser", false),
        ("par?*", "parse", false),
        ("*", "main", true),
        ("*::add", "shop::Order::add", true),
        ("*::add", "add", false),
        ("*::Order::add", "shop::Order::add", true),
        ("**::add", "shop::Order::add", true),
        ("**::add", "add", true),
        ("**::Order::add", "Order::add", true),
        ("::**::add", "add", false),
    ];
    for (wanted, full, expected) in cases {
        let pattern = NamePattern::new(wanted);
        assert_eq!(pattern.matches(full), expected, "{wanted} in {full}");
    }
}

#[test]
fn parameters_count_where_they_are_written() {
    let takes =
        |pattern: &str, parameters: &str| NamePattern::new(pattern).takes_parameters(parameters);
    assert!(takes("area", "int"));
    assert!(takes("area(int)", "int"));
    assert!(!takes("area(int)", "int, int"));
    assert!(!takes("area()", "int"));
    assert!(takes("area(void)", ""));
    assert!(takes("area(const char *)", "char const*"));
    let any = NamePattern::new("area(int)").without_parameters();
    assert!(any.is_some_and(|any| any.takes_parameters("long") && any.matches("ns::area")));
    assert!(NamePattern::new("area").without_parameters().is_none());
    assert!(takes(
        "put(const std::string &)",
        "const std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > &"
    ));
}
