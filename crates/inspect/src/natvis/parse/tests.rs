//! Tests with valid files, with common mistakes, and with arbitrary text.

use super::*;
use proptest::prelude::*;

fn parsed(inside: &str) -> File {
    let text = format!("<AutoVisualizer xmlns=\"http://x\">\n{inside}\n</AutoVisualizer>");
    parse(&text, Path::new("a.natvis"))
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_the_rest_is_read() {
    for (inside, problem) in [
        ("<Typ Name='x'/>", "a.natvis:2: `<Typ>` is not known here"),
        (
            "<Type Name='x'>\n<DisplayString>{a +}</DisplayString></Type>",
            "a.natvis:3: `a +`: column 4: the expression ends too early",
        ),
        (
            "<Type Name='x'><DisplayString>{a</DisplayString></Type>",
            "a.natvis:2: `{a`: the `{` has no other; two stand for one",
        ),
        (
            "<Type Name='x'><DisplayString>a}</DisplayString></Type>",
            "a.natvis:2: `a}`: the `}` has no other",
        ),
        (
            "<Type Name='x'><DisplayString>{a,zz}</DisplayString></Type>",
            "`zz` is an unknown format specifier",
        ),
        (
            "<Type><DisplayString>a</DisplayString></Type>",
            "a.natvis:2: `<Type>` has no `Name`",
        ),
        (
            "<Type Name='a&lt;'><DisplayString>a</DisplayString></Type>",
            "a.natvis:2: `a<` is no type's name",
        ),
        (
            "<Type Name='x'><Expand><ArrayItems><Size>3</Size></ArrayItems></Expand></Type>",
            "`<ArrayItems>` has no `<ValuePointer>`, and is left out",
        ),
        (
            "<Type Name='x' Priority='Hi'><DisplayString>a</DisplayString></Type>",
            "`Hi` is no `Priority`",
        ),
        (
            "<Type Name='x'><Expand><CustomListItems><Else/></CustomListItems></Expand></Type>",
            "there is no `<If>` before it",
        ),
    ] {
        let good = "<Type Name='good'><DisplayString>good</DisplayString></Type>";
        let file = parsed(&format!("{inside}{good}"));
        let told = file.problems.join("\n");
        assert!(told.contains(problem), "{inside}: {told}");
        let last = file.types.last().expect("the good one");
        assert_eq!(last.texts.len(), 1, "{inside}");
    }
}

#[test]
fn what_is_no_xml_is_told_with_its_line() {
    for text in [
        "",
        "<a>\n</b>",
        "nothing",
        "<AutoVisualizer>\n<Type",
        "\u{0}",
    ] {
        let file = parse(text, Path::new("a.natvis"));
        assert_eq!(file.problems.len(), 1, "{text:?}");
        assert!(
            file.problems[0].starts_with("a.natvis:"),
            "{:?}",
            file.problems
        );
        assert!(file.types.is_empty());
    }
}

#[test]
fn entities_are_not_multiplied() {
    let mut text = String::from("<!DOCTYPE a [<!ENTITY a0 'ha'>");
    for level in 1..30 {
        let inner = format!("&a{};", level - 1).repeat(10);
        text.push_str(&format!("<!ENTITY a{level} '{inner}'>"));
    }
    text.push_str("]><AutoVisualizer>&a29;</AutoVisualizer>");
    let file = parse(&text, Path::new("a.natvis"));
    assert!(file.problems[0].contains("DTD"), "{:?}", file.problems);
}

#[test]
fn problems_are_not_told_without_end() {
    let file = parsed(&"<Wrong/>\n".repeat(1000));
    assert_eq!(file.problems.len(), MAX_PROBLEMS + 1);
    assert!(file.problems[MAX_PROBLEMS].contains("980 more"));
}

#[test]
fn nesting_is_bounded() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(2000), close.repeat(2000));
    for inside in [
        deep("<Synthetic Name='a'><Expand>", "</Expand></Synthetic>"),
        format!(
            "<CustomListItems>{}</CustomListItems>",
            deep("<Loop>", "</Loop>")
        ),
    ] {
        let file = parsed(&format!("<Type Name='x'><Expand>{inside}</Expand></Type>"));
        assert!(
            file.problems
                .iter()
                .any(|problem| problem.contains("too deep"))
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = parse(&text, Path::new("a.natvis"));
        let _ = parsed(&text);
    }

    #[test]
    fn any_elements_are_read_or_refused(pieces in prop::collection::vec(0..PIECES.len(), 0..24)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        let file = parsed(&text);
        prop_assert!(file.problems.len() <= MAX_PROBLEMS + 1);
    }
}

const PIECES: [&str; 30] = [
    "<Type Name='A&lt;*&gt;'>",
    "</Type>",
    "<DisplayString>",
    "</DisplayString>",
    "<Expand>",
    "</Expand>",
    "<Item Name='[{a}]'>a</Item>",
    "<Item Name='{'>,</Item>",
    "<ExpandedItem>*p,view(x)</ExpandedItem>",
    "<ArrayItems>",
    "</ArrayItems>",
    "<Size>n,[3]</Size>",
    "<ValuePointer>($T1*)p</ValuePointer>",
    "<LinkedListItems>",
    "</LinkedListItems>",
    "<HeadPointer>a</HeadPointer>",
    "<NextPointer>a</NextPointer>",
    "<ValueNode Name='{b,sb}'>this</ValueNode>",
    "<CustomListItems>",
    "</CustomListItems>",
    "<Variable Name='i' InitialValue='0'/>",
    "<Loop Condition='i &lt; 3'>",
    "</Loop>",
    "<Exec>i++</Exec>",
    "<If Condition='i'>",
    "</If>",
    "<Else>",
    "<Break/>",
    "{a}",
    "}}{{é,x",
];
