//! XML documents of stubs as small trees, bounded in size, depth and number of elements.
//!
//! Stubs write less than well-formed XML: QEMU uses the prefix `xi` without declaring it. So prefixes are dropped. Entities are the five of
//! XML and characters by number; declared ones are refused, so that nothing expands.

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};

/// The largest document, in bytes.
pub(crate) const MAX_DOCUMENT: usize = 8 << 20;
/// The most elements in elements.
const MAX_DEPTH: usize = 32;
/// The most elements and attributes.
const MAX_ITEMS: usize = 500_000;
/// The most attributes of an element.
const MAX_ATTRIBUTES: usize = 64;

/// An element with what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    /// Without a prefix.
    pub name: String,
    attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
    /// All text that is directly in the element.
    pub text: String,
}

impl Element {
    /// An attribute's value.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// An attribute's value, or what is wrong without it.
    pub(crate) fn need(&self, name: &str) -> Result<&str, String> {
        self.attribute(name)
            .ok_or_else(|| format!("an element `{}` lacks `{name}`", self.name))
    }

    /// A number, decimal or with `0x` hexadecimal.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.attribute(name) else {
            return Ok(None);
        };
        let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => crate::hex::number(digits.as_bytes()),
            None => text.parse().ok(),
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(format!(
                "`{name}` of an element `{}` is no number: {text:.40?}",
                self.name
            )),
        }
    }

    /// A number that has to be there.
    pub(crate) fn need_number(&self, name: &str) -> Result<u64, String> {
        self.need(name)?;
        Ok(self.number(name)?.unwrap_or_default())
    }

    /// The elements of a name directly in this one.
    pub(crate) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

/// Reads a document: its outermost element, or what is wrong.
pub(crate) fn parse(document: &[u8]) -> Result<Element, String> {
    if document.len() > MAX_DOCUMENT {
        return Err(format!("it has more than {MAX_DOCUMENT} bytes"));
    }
    // Some stubs end a document with a zero.
    let document = document.strip_suffix(b"\0").unwrap_or(document);
    let text = std::str::from_utf8(document).map_err(|_| "it is not UTF-8".to_owned())?;
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut count = 0;
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        let done = match event {
            Event::Start(start) => {
                let element = element(&start)?;
                count += 1 + element.attributes.len();
                open.push(element);
                None
            }
            Event::Empty(start) => {
                let element = element(&start)?;
                count += 1 + element.attributes.len();
                add(&mut open, element)
            }
            Event::End(_) => match open.pop() {
                Some(element) => add(&mut open, element),
                None => return Err("an element ends that has not begun".to_owned()),
            },
            Event::Text(text) => {
                append(&mut open, &text);
                None
            }
            Event::CData(text) => {
                append(&mut open, &text);
                None
            }
            Event::GeneralRef(name) => {
                let character = name.resolve_char_ref().map_err(|error| error.to_string())?;
                let name: &str = &name;
                match (character, resolve_predefined_entity(name)) {
                    (Some(character), _) => append(&mut open, character.encode_utf8(&mut [0; 4])),
                    (None, Some(text)) => append(&mut open, text),
                    (None, None) => return Err(format!("unknown entity {name:.40?}")),
                }
                None
            }
            Event::Eof => return Err("it ends too early".to_owned()),
            _ => None,
        };
        if let Some(root) = done {
            return Ok(root);
        }
        if open.len() > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} elements are in each other"));
        }
        if count > MAX_ITEMS {
            return Err(format!(
                "it has more than {MAX_ITEMS} elements and attributes"
            ));
        }
    }
}

/// Adds an element that has ended to the one around it. Gives it back if there is none.
fn add(open: &mut [Element], element: Element) -> Option<Element> {
    match open.last_mut() {
        Some(parent) => {
            parent.children.push(element);
            None
        }
        None => Some(element),
    }
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn element(start: &BytesStart<'_>) -> Result<Element, String> {
    let mut element = Element {
        name: start.local_name().as_ref().to_owned(),
        ..Element::default()
    };
    // The check for duplicates takes a time that grows with the square of their number.
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if element.attributes.len() == MAX_ATTRIBUTES {
            return Err(format!("more than {MAX_ATTRIBUTES} attributes"));
        }
        let name = attribute.key.local_name().as_ref().to_owned();
        let value = unescape(&attribute.value).map_err(|error| error.to_string())?;
        element.attributes.push((name, value.into_owned()));
    }
    Ok(element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_attributes_text_and_children() {
        let root = parse(
            b"<?xml version=\"1.0\"?><!DOCTYPE a SYSTEM \"a.dtd\"><!-- no --><a n='0x1f' m=\"7\" t='&lt;&#65;'>x&amp;<xi:b/>y<![CDATA[<]]></a>\0",
        )
        .unwrap();
        assert_eq!(root.name, "a");
        assert_eq!(root.number("n"), Ok(Some(31)));
        assert_eq!(root.number("m"), Ok(Some(7)));
        assert_eq!(root.number("k"), Ok(None));
        assert_eq!(root.attribute("t"), Some("<A"));
        assert_eq!(root.text, "x&y<");
        assert_eq!(root.named("b").count(), 1);
        assert!(root.number("t").is_err());
        assert!(root.need("k").is_err());
    }

    #[test]
    fn what_would_grow_is_refused() {
        let bomb = b"<!DOCTYPE a [<!ENTITY b \"xxxxxxxxxx\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>";
        assert_eq!(parse(bomb), Err("unknown entity \"c\"".to_owned()));
        let attribute = b"<!DOCTYPE a [<!ENTITY b \"x\">]><a n='&b;'/>";
        assert!(parse(attribute).is_err());
        let deep = "<a>".repeat(100);
        assert!(
            parse(deep.as_bytes())
                .unwrap_err()
                .contains("in each other")
        );
        let many = format!("<a>{}</a>", "<b c=''/>".repeat(MAX_ITEMS / 2));
        assert!(parse(many.as_bytes()).unwrap_err().contains("attributes"));
        let attributes = format!("<a {}/>", "a='' ".repeat(100));
        assert!(parse(attributes.as_bytes()).is_err());
        assert!(parse(&vec![b' '; MAX_DOCUMENT + 1]).is_err());
    }

    #[test]
    fn what_is_not_xml_is_refused() {
        for text in [
            "",
            "<a>",
            "</a>",
            "<a></b>",
            "text",
            "<a b=>",
            "<a>&x;</a>",
            "\u{ff}",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(b"<a>\xff</a>").is_err());
    }
}
