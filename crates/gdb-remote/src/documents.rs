//! The smaller documents of stubs: threads, memory maps and loaded libraries (gdb manual, "Thread List Format", "Memory Map Format",
//! "Library List Format").

use crate::error::{Error, Result};
use crate::hex;
use crate::thread_id::ThreadId;
use crate::xml::{self, Element};

/// The most items of a list.
const MAX_ITEMS: usize = 100_000;

/// A thread of the document `threads`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The id.
    pub id: ThreadId,
    /// The processor's core that it was last on.
    pub core: Option<u64>,
    /// The name.
    pub name: Option<String>,
    /// What the stub says of it beside.
    pub details: Option<String>,
    /// What the system's library for threads knows it by, for thread-local variables: bytes of the stub's choice.
    pub handle: Option<Vec<u8>>,
}

/// A region of the document `memory-map`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRegion {
    /// What can be done with it.
    pub kind: MemoryKind,
    /// The first address.
    pub start: u64,
    /// Its size in bytes.
    pub length: u64,
}

/// A kind of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryKind {
    /// It can be read and written.
    Ram,
    /// It can be read.
    Rom,
    /// It can be written by the flash commands, in blocks of this many bytes.
    Flash {
        /// A block's size.
        block: u64,
    },
    /// Something else, by the stub's word for it.
    Other(String),
}

/// Libraries that a program with the ELF format (System V Release 4) has loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SvrLibraries {
    /// The address of the main program's `link_map`.
    pub main: Option<u64>,
    /// The libraries, without the main program.
    pub libraries: Vec<SvrLibrary>,
}

/// A library of the document `library-list-svr4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvrLibrary {
    /// The path on the stub's machine. Empty for some, such as the vDSO.
    pub path: String,
    /// The address of its `link_map`.
    pub link_map: u64,
    /// What is added to the file's addresses.
    pub load_bias: u64,
    /// The address of its dynamic section.
    pub dynamic: u64,
    /// The link-map namespace. Older stubs do not have it.
    pub namespace: Option<u64>,
}

/// A library of the document `library-list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The path on the stub's machine.
    pub path: String,
    /// Where its segments are, or else its sections.
    pub addresses: Vec<u64>,
}

/// Reads a document whose outermost element has a name.
pub(crate) fn root(document: &'static str, name: &str, text: &[u8]) -> Result<Element> {
    let found = match xml::parse(text) {
        Ok(found) if found.name == name => return Ok(found),
        Ok(found) => format!("its element is `{:.40}`", found.name),
        Err(reason) => reason,
    };
    Err(broken(document)(found))
}

fn broken(document: &'static str) -> impl Fn(String) -> Error {
    move |reason| Error::Document {
        document: document.to_owned(),
        reason,
    }
}

fn items<'a, T>(
    document: &'static str,
    elements: impl Iterator<Item = &'a Element>,
    read: impl Fn(&Element) -> std::result::Result<T, String>,
) -> Result<Vec<T>> {
    let mut items = Vec::new();
    for element in elements {
        if items.len() == MAX_ITEMS {
            return Err(broken(document)(format!("more than {MAX_ITEMS} items")));
        }
        items.push(read(element).map_err(broken(document))?);
    }
    Ok(items)
}

/// Reads the document of `qXfer:threads:read`.
///
/// # Errors
///
/// [`Error::Document`]
pub fn threads(text: &[u8]) -> Result<Vec<Thread>> {
    let root = root("threads", "threads", text)?;
    items("threads", root.named("thread"), |element| {
        let id = element.need("id")?;
        let handle = element.attribute("handle");
        Ok(Thread {
            id: ThreadId::parse(id.as_bytes()).ok_or_else(|| format!("no thread: {id:.40?}"))?,
            core: element.number("core")?,
            name: element.attribute("name").map(str::to_owned),
            details: match element.text.trim() {
                "" => None,
                text => Some(text.to_owned()),
            },
            handle: handle.and_then(|digits| hex::decode(digits.as_bytes())),
        })
    })
}

/// Reads the document of `qXfer:memory-map:read`.
///
/// # Errors
///
/// [`Error::Document`]
pub fn memory_map(text: &[u8]) -> Result<Vec<MemoryRegion>> {
    let root = root("memory-map", "memory-map", text)?;
    items("memory-map", root.named("memory"), |element| {
        let mut block = None;
        for property in element.named("property") {
            if property.need("name")? == "blocksize" {
                let holder = property.text.trim();
                let digits = holder.strip_prefix("0x").unwrap_or(holder);
                block = match digits.len() == holder.len() {
                    true => holder.parse().ok(),
                    false => hex::number(digits.as_bytes()),
                };
            }
        }
        let kind = match (element.need("type")?, block) {
            ("ram", _) => MemoryKind::Ram,
            ("rom", _) => MemoryKind::Rom,
            ("flash", Some(block)) => MemoryKind::Flash { block },
            ("flash", None) => return Err("flash memory without `blocksize`".to_owned()),
            (other, _) => MemoryKind::Other(other.to_owned()),
        };
        Ok(MemoryRegion {
            kind,
            start: element.need_number("start")?,
            length: element.need_number("length")?,
        })
    })
}

/// Reads the document of `qXfer:libraries-svr4:read`.
///
/// # Errors
///
/// [`Error::Document`]
pub fn svr_libraries(text: &[u8]) -> Result<SvrLibraries> {
    let root = root("library-list-svr4", "library-list-svr4", text)?;
    let libraries = items("library-list-svr4", root.named("library"), |element| {
        Ok(SvrLibrary {
            path: element.need("name")?.to_owned(),
            link_map: element.need_number("lm")?,
            load_bias: element.need_number("l_addr")?,
            dynamic: element.need_number("l_ld")?,
            namespace: element.number("lmid")?,
        })
    })?;
    Ok(SvrLibraries {
        main: root
            .number("main-lm")
            .map_err(broken("library-list-svr4"))?,
        libraries,
    })
}

/// Reads the document of `qXfer:libraries:read`.
///
/// # Errors
///
/// [`Error::Document`]
pub fn libraries(text: &[u8]) -> Result<Vec<Library>> {
    let root = root("library-list", "library-list", text)?;
    items("library-list", root.named("library"), |element| {
        let places = ["segment", "section"]
            .into_iter()
            .find(|kind| element.named(kind).next().is_some());
        let mut addresses = Vec::new();
        for place in element.named(places.unwrap_or("segment")) {
            addresses.push(place.need_number("address")?);
        }
        Ok(Library {
            path: element.need("name")?.to_owned(),
            addresses,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_names_and_cores() {
        let list = threads(b"<threads>\n<thread id=\"p1.2\" core=\"1\" name=\"a&amp;b\" handle=\"00ff\"> Idle </thread>\n<thread id='3'/></threads>\n");
        let list = list.unwrap();
        assert_eq!(list[0].id.to_string(), "p1.2");
        assert_eq!(list[0].core, Some(1));
        assert_eq!(list[0].name.as_deref(), Some("a&b"));
        assert_eq!(list[0].details.as_deref(), Some("Idle"));
        assert_eq!(list[0].handle, Some(vec![0, 0xff]));
        assert_eq!(list[1].name, None);
    }

    #[test]
    fn memory_has_kinds() {
        let map = memory_map(
            b"<memory-map><memory type='ram' start='0x20000000' length='4096'/>\
            <memory type='flash' start='0x0' length='0x10000'><property name='blocksize'>0x400</property></memory>\
            <memory type='odd' start='1' length='2'/></memory-map>",
        )
        .unwrap();
        assert_eq!(map[0].kind, MemoryKind::Ram);
        assert_eq!((map[0].start, map[0].length), (0x2000_0000, 4096));
        assert_eq!(map[1].kind, MemoryKind::Flash { block: 0x400 });
        assert_eq!(map[2].kind, MemoryKind::Other("odd".to_owned()));
    }

    #[test]
    fn libraries_have_addresses() {
        let list = svr_libraries(
            b"<library-list-svr4 version=\"1.0\" main-lm=\"0xe4f8f8\"><library name=\"/lib/ld.so\" lm=\"0xe4f51c\" l_addr=\"0xe2d000\" l_ld=\"0xe4eefc\" lmid=\"0x0\"/></library-list-svr4>",
        )
        .unwrap();
        assert_eq!(list.main, Some(0xe4_f8f8));
        assert_eq!(list.libraries[0].load_bias, 0xe2_d000);
        let list = libraries(b"<library-list><library name='a'><section address='0x10'/><section address='0x20'/></library></library-list>").unwrap();
        assert_eq!(list[0].addresses, [0x10, 0x20]);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let message = |error: Error| error.to_string();
        assert_eq!(
            threads(b"<a/>").map_err(message),
            Err("cannot read threads: its element is `a`".to_owned())
        );
        assert_eq!(
            threads(b"<threads><thread id='z'/></threads>").map_err(message),
            Err("cannot read threads: no thread: \"z\"".to_owned())
        );
        assert_eq!(
            memory_map(b"<memory-map><memory type='ram' start='x' length='1'/></memory-map>")
                .map_err(message),
            Err(
                "cannot read memory-map: `start` of an element `memory` is no number: \"x\""
                    .to_owned()
            )
        );
    }
}
