//! Types of popular crates, shown the way their users think of them. The tests can't depend on these crates, so each is replaced by a
//! package of the same name that has a type of the same layout.

use crate::support::Session;
use crate::support::project::{self, Project, launch};
use dapple_dap::types::*;

const SMALLVEC: &str = "use std::mem::MaybeUninit;
use std::ptr::NonNull;

pub trait Array {
    type Item;
}
impl<T, const N: usize> Array for [T; N] {
    type Item = T;
}
pub enum SmallVecData<A: Array> {
    Inline(MaybeUninit<A>),
    Heap { ptr: NonNull<A::Item>, len: usize },
}
pub struct SmallVec<A: Array> {
    pub capacity: usize,
    pub data: SmallVecData<A>,
}
impl<A: Array> SmallVec<A> {
    pub fn of(mut inline: MaybeUninit<A>, items: Vec<A::Item>) -> SmallVec<A> {
        let (length, most) = (items.len(), size_of::<A>() / size_of::<A::Item>());
        let items = NonNull::from(items.leak()).cast::<A::Item>();
        if length > most {
            let data = SmallVecData::Heap { ptr: items, len: length };
            return SmallVec { capacity: length, data };
        }
        unsafe { items.copy_to(NonNull::new_unchecked(inline.as_mut_ptr().cast()), length) };
        SmallVec { capacity: length, data: SmallVecData::Inline(inline) }
    }
}
";

const ARRAYVEC: &str = "use std::mem::MaybeUninit;

pub mod arrayvec {
    use super::MaybeUninit;
    pub struct ArrayVec<T, const CAP: usize> {
        pub len: u32,
        pub xs: [MaybeUninit<T>; CAP],
    }
}
pub mod array_string {
    use super::MaybeUninit;
    pub struct ArrayString<const CAP: usize> {
        pub len: u32,
        pub xs: [MaybeUninit<u8>; CAP],
    }
}
";

const INDEXMAP: &str = "pub struct Bucket<K, V> {
    pub hash: u64,
    pub key: K,
    pub value: V,
}
pub struct Core<K, V> {
    pub indices: Vec<u64>,
    pub entries: Vec<Bucket<K, V>>,
}
pub mod map {
    pub struct IndexMap<K, V> {
        pub core: super::Core<K, V>,
    }
}
pub mod set {
    pub struct IndexSet<T> {
        pub map: super::map::IndexMap<T, ()>,
    }
}
pub fn core<K, V>(entries: Vec<(K, V)>) -> Core<K, V> {
    let bucket = |(key, value)| Bucket { hash: 77, key, value };
    Core { indices: Vec::new(), entries: entries.into_iter().map(bucket).collect() }
}
";

const BYTES: &str = "pub mod bytes {
    pub struct Bytes {
        pub ptr: *const u8,
        pub len: usize,
    }
}
";

const SERDE_JSON: &str = "pub mod map {
    pub struct Map<K, V> {
        pub map: std::collections::BTreeMap<K, V>,
    }
}
pub mod number {
    pub enum N {
        PosInt(u64),
        NegInt(i64),
        Float(f64),
    }
    pub struct Number {
        pub n: N,
    }
}
pub mod value {
    pub enum Value {
        Null,
        Number(super::number::Number),
        Object(super::map::Map<String, Value>),
    }
}
";

const CHRONO: &str = "pub mod naive {
    pub mod date {
        pub struct NaiveDate {
            pub yof: std::num::NonZeroI32,
        }
        pub fn date(year: i32, day: i32) -> NaiveDate {
            let flags = 6;
            NaiveDate { yof: std::num::NonZeroI32::new(year << 13 | day << 4 | flags).unwrap() }
        }
    }
    pub mod time {
        pub struct NaiveTime {
            pub secs: u32,
            pub frac: u32,
        }
    }
    pub mod datetime {
        pub struct NaiveDateTime {
            pub date: super::date::NaiveDate,
            pub time: super::time::NaiveTime,
        }
    }
}
pub mod offset {
    pub struct Utc;
    pub struct FixedOffset {
        pub local_minus_utc: i32,
    }
}
pub mod datetime {
    pub struct DateTime<O> {
        pub datetime: super::naive::datetime::NaiveDateTime,
        pub offset: O,
    }
}
";

const UUID: &str = "pub struct Uuid(pub [u8; 16]);
";

const MAIN: &str = "use std::collections::{BTreeMap, HashMap, HashSet};
use std::hint::black_box;
use std::mem::MaybeUninit;

use chrono::datetime::DateTime;
use chrono::naive::{date::date, datetime::NaiveDateTime, time::NaiveTime};
use serde_json::{map::Map, number::{N, Number}, value::Value};

fn main() {
    let few = smallvec::SmallVec::<[i32; 4]>::of(MaybeUninit::uninit(), vec![1, 2]);
    let many = smallvec::SmallVec::<[i32; 2]>::of(MaybeUninit::uninit(), vec![1, 2, 3]);
    let none = smallvec::SmallVec::<[String; 2]>::of(MaybeUninit::uninit(), vec![]);
    let mut broken = smallvec::SmallVec::<[i32; 2]>::of(MaybeUninit::uninit(), vec![1, 2, 3]);
    broken.capacity = usize::MAX;
    if let smallvec::SmallVecData::Heap { len, .. } = &mut broken.data {
        *len = usize::MAX / 2;
    }
    let mut xs = [const { MaybeUninit::<String>::uninit() }; 3];
    xs[0].write(\"one\".to_string());
    let array = arrayvec::arrayvec::ArrayVec { len: 1, xs };
    let beyond = arrayvec::arrayvec::ArrayVec { len: 9, xs: [MaybeUninit::new(1u8); 4] };
    let xs = [b'a', b's', 255, 255].map(MaybeUninit::new);
    let text = arrayvec::array_string::ArrayString { len: 2, xs };
    let ordered = indexmap::map::IndexMap { core: indexmap::core(vec![(\"z\", 1), (\"a\", 2)]) };
    let core = indexmap::core(vec![(5, ()), (3, ())]);
    let set = indexmap::set::IndexSet { map: indexmap::map::IndexMap { core } };
    let bytes = bytes::bytes::Bytes { ptr: b\"hi!\".as_ptr(), len: 2 };
    let number = |number| Value::Number(Number { n: number });
    let map = BTreeMap::from([
        (\"a\".to_string(), number(N::PosInt(1))),
        (\"b\".to_string(), number(N::NegInt(-1))),
        (\"c\".to_string(), number(N::Float(1.5))),
        (\"d\".to_string(), Value::Null),
    ]);
    let json = Value::Object(Map { map });
    let day = date(2024, 60);
    let early = date(-1, 365);
    let time = NaiveTime { secs: 3723, frac: 500_000_000 };
    let at = |secs| NaiveDateTime { date: date(2023, 365), time: NaiveTime { secs, frac: 0 } };
    let local = at(3600);
    let utc = DateTime { datetime: at(86_399), offset: chrono::offset::Utc };
    let zone = chrono::offset::FixedOffset { local_minus_utc: 19_800 };
    let indian = DateTime { datetime: at(86_340), offset: zone };
    let zone = chrono::offset::FixedOffset { local_minus_utc: -12_600 };
    let western = DateTime { datetime: at(0), offset: zone };
    let id = uuid::Uuid([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 254, 255]);
    // The standard library's tables are those of hashbrown.
    let table = HashMap::from([(1, \"one\")]);
    let keys = HashSet::from([7]);
    black_box((&few, &many, &none, &broken, &array, &beyond, &text, &ordered, &set, &bytes, &json));
    black_box((&day, &early, &time, &local, &utc, &indian, &western, &id, &table, &keys));
    println!(\"ready\"); // here
}
";

/// Builds the program and runs it to the breakpoint.
fn begin(name: &str) -> (Project, Session, StackFrame) {
    let packages = [
        ("smallvec", SMALLVEC),
        ("arrayvec", ARRAYVEC),
        ("indexmap", INDEXMAP),
        ("bytes", BYTES),
        ("serde_json", SERDE_JSON),
        ("chrono", CHRONO),
        ("uuid", UUID),
    ];
    let dependencies = packages.map(|(name, _)| format!("{name} = {{ path = \"{name}\" }}\n"));
    let manifest = format!("[dependencies]\n{}", dependencies.concat());
    let project = Project::package(name, &manifest, &[("src/main.rs", MAIN)]);
    for (name, text) in packages {
        let manifest =
            format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n");
        project.write(&format!("{name}/Cargo.toml"), &manifest);
        project.write(&format!("{name}/src/lib.rs"), text);
    }
    let session = project::session(false);
    launch(&session, &project.cargo("run --quiet"));
    let line = project.line("src/main.rs", "// here");
    session.set_lines(&project.path("src/main.rs"), &[line]);
    session.configured();
    let stopped = session.stopped(StoppedEventReason::Breakpoint);
    (project, session, stopped.top)
}

#[test]
fn what_much_used_crates_hold_is_shown_and_not_how() {
    let (_project, session, top) = begin("shown");
    let scope = session.scope(&top, "Locals");
    let locals = session.variables(scope.variables_reference);
    let expected = [
        ("few", "len = 2 [1, 2]"),
        ("many", "len = 3 [1, 2, 3]"),
        ("none", "len = 0 []"),
        ("array", "len = 1 [\"one\"]"),
        ("text", "\"as\""),
        ("ordered", "len = 2 {\"z\": 1, \"a\": 2}"),
        ("set", "len = 2 {5, 3}"),
        ("bytes", "b\"hi\""),
        (
            "json",
            "Value::Object({\"a\": Value::Number(1), \"b\": Value::Number(-1), \"c\": Value::Number(1.5), \"d\": Value::Null})",
        ),
        ("day", "2024-02-29"),
        ("early", "-0001-12-31"),
        ("time", "01:02:03.500"),
        ("local", "2023-12-31T01:00:00"),
        ("utc", "2023-12-31T23:59:59Z"),
        ("indian", "2024-01-01T05:29:00+05:30"),
        ("western", "2023-12-30T20:30:00-03:30"),
        ("id", "00010203-0405-0607-0809-0a0b0c0dfeff"),
    ];
    for (name, value) in expected {
        let local = locals.iter().find(|local| local.name == name);
        let local = local.unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(local.value, value, "{name}");
    }
    for (name, part) in [
        ("broken", "elements"),
        ("beyond", "length 9 beyond capacity 4"),
    ] {
        let local = locals.iter().find(|local| local.name == name);
        let local = local.unwrap_or_else(|| panic!("no {name}"));
        assert!(
            local.value.starts_with("<not initialised or corrupt"),
            "{}",
            local.value
        );
        assert!(local.value.contains(part), "{}", local.value);
    }
    session.disconnect();
}

#[test]
fn their_elements_are_looked_up_as_in_the_source() {
    let (_project, session, top) = begin("looked-up");
    let expected = [
        ("few.len()", "2"),
        ("few[1]", "2"),
        ("many.last()", "Some(3)"),
        ("array[0].len()", "3"),
        ("ordered[\"a\"]", "2"),
        ("ordered.get(\"b\")", "None"),
        ("set.contains(&3)", "true"),
        ("bytes[0]", "104"),
        ("table.base", "len = 1 {1: \"one\"}"),
        ("table.base[&1]", "\"one\""),
        ("keys.base", "len = 1 {7}"),
    ];
    for (expression, value) in expected {
        assert_eq!(session.evaluate(&top, expression), value, "{expression}");
    }
    session.disconnect();
}
