//! Rust's containers over memory with random contents: each gets an answer, after few reads.

use crate::support::cpu_time::{Longest, timed};
use crate::support::inline;
use dapple_engine::Address;
use dapple_engine::Memory;
use dapple_engine::modules::{LoadedModule, Modules};
use dapple_engine::values::known::Known;
use dapple_engine::values::{Contents, NamedValue, Reader, Rendered, Value};
use dapple_symbols::Module;
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The default number of patterns for each type (`DAPPLE_PATTERNS`).
const PATTERNS: u64 = 400;
/// Limits for reading one value, with its first children and some from its middle. A read takes about a microsecond, and a mebibyte about a
/// hundred of them: together a few of the fifty milliseconds.
const MOST_READS: u64 = 4_000;
const MOST_BYTES: u64 = 4 << 20;
/// CPU time limit for one value, also in debug builds.
const PATIENCE: Duration = Duration::from_millis(50);
/// The number of children in one request.
const PAGE: u64 = 40;

/// The address of the value, and the range of addresses that pointers lead to.
const HERE: u64 = 0x1000;
const LOW: u64 = 0x1000_0000;
const HIGH: u64 = 0x5000_0000;

const SOURCE: &str = r#"
use std::borrow::Cow;
use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CStr, CString, OsString};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::{Duration, Instant, SystemTime};

struct Node { value: i32, next: Option<Box<Node>>, up: Weak<Node>, all: Vec<Rc<RefCell<Node>>> }
enum Shape { Empty, Circle(f64), Named(String, Option<Box<Shape>>), Many(Vec<Shape>) }
#[derive(Clone)]
enum Tiny { A, B(bool), C(Option<char>) }
type Lazy = LazyCell<u32, fn() -> u32>;
struct All<'a> {
    string: String, path: PathBuf, os: OsString, c: CString, slice: &'a [u64], text: &'a str, c_str: &'a CStr, way: &'a Path,
    vec: Vec<u32>, units: Vec<()>, nested: Vec<Vec<String>>, boxed: Box<[Node]>, deque: VecDeque<u16>, heap: BinaryHeap<u64>,
    list: LinkedList<String>, map: HashMap<u32, String>, set: HashSet<u8>, wide: HashMap<[u64; 8], [u8; 100]>,
    tree: BTreeMap<u32, String>, leaves: BTreeSet<u64>, rc: Rc<Node>, arc: Arc<Mutex<Vec<u8>>>, weak: Weak<str>,
    shared: Rc<[u32]>, object: Box<dyn Fn()>, any: Rc<dyn std::any::Any>, cell: Cell<Option<bool>>, ref_cell: RefCell<Node>, lock: RwLock<Shape>,
    once: OnceCell<String>, once_lock: OnceLock<Vec<u8>>, lazy: Lazy, shape: Shape, shapes: [Shape; 3], tiny: Tiny,
    option: Option<Option<Box<Node>>>, cow: Cow<'a, [Tiny]>, time: SystemTime, instant: Instant, duration: Duration,
    address: std::net::SocketAddr, error: std::io::Error, ordering: std::cmp::Ordering, character: char, truth: bool,
    iter: std::slice::Iter<'a, u32>, into: std::vec::IntoIter<Tiny>, chars: std::str::Chars<'a>, array: std::array::IntoIter<u8, 5>,
    entries: std::collections::hash_map::Iter<'a, u32, String>, drain: std::collections::hash_set::Drain<'a, String>,
    sorted: std::collections::btree_map::Iter<'a, u32, String>, part: std::collections::btree_set::Range<'a, u64>,
    owned: std::collections::btree_map::IntoIter<String, u8>, ring: std::collections::vec_deque::Iter<'a, u16>,
    rest: std::collections::vec_deque::Drain<'a, u16>, nodes: std::collections::linked_list::Iter<'a, u8>,
    sender: std::sync::mpsc::Sender<String>, receiver: std::sync::mpsc::Receiver<u8>,
    handle: std::thread::JoinHandle<String>, thread: std::thread::Thread, barrier: std::sync::Barrier, context: std::task::Context<'a>,
    waker: std::task::Waker, started: std::sync::Once,
    words: std::str::SplitWhitespace<'a>, parts: std::str::SplitN<'a, char>,
    range: std::ops::RangeInclusive<char>, pointer: *const Node, function: fn() -> u32, nonzero: std::num::NonZeroU8,
}
static mut ALL: Option<All<'static>> = None;
fn main() {
    // SAFETY: there's one thread.
    let all = unsafe { &*&raw const ALL };
    if let Some(all) = all {
        println!("{}", all.vec.len());
    }
    println!("{}", matches!(std::hint::black_box(all), Some(all) if all.nonzero.get() > 3));
}
"#;

/// Pseudorandom numbers (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A typical word of memory: an address, a small number, a mask, or a random number.
    fn word(&mut self) -> u64 {
        let number = self.next();
        let address = LOW + (number >> 8) % (HIGH - LOW);
        match number % 16 {
            0..5 => address & !7,
            5 => address,
            6 => HERE,
            7..11 => number >> 60,
            11 => number >> 48,
            12 => u64::MAX >> (number >> 58),
            13 => 0,
            14 => HIGH - (number >> 56),
            _ => number,
        }
    }
}

/// Memory whose contents are computed from the address.
struct Anything {
    seed: u64,
    here: Vec<u8>,
    reads: Cell<u64>,
    bytes: Cell<u64>,
}

impl Anything {
    fn byte(&self, address: u64) -> Option<u8> {
        if let Some(offset) = address.checked_sub(HERE)
            && let Some(byte) = self.here.get(offset as usize)
        {
            return Some(*byte);
        }
        if !(LOW..HIGH).contains(&address) {
            return None;
        }
        // Consecutive words of the same kind: links, zeros, control bytes of hash tables.
        let kind = (address >> 9 ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
        let word = match kind {
            0 => 0,
            1 => u64::MAX,
            2 => 0x8080_ff01_ff05_ffff,
            3 => address & !0xfff,
            _ => Numbers((address >> 3 ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).word(),
        };
        Some(word.to_le_bytes()[(address % 8) as usize])
    }
}

impl Memory for Anything {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        self.reads.set(self.reads.get() + 1);
        self.bytes.set(self.bytes.get() + buffer.len() as u64);
        for (offset, byte) in (0..).zip(buffer) {
            let at = address.0.wrapping_add(offset);
            *byte = self.byte(at).ok_or(Address(at))?;
        }
        Ok(())
    }
}

/// Renders the children, and their children.
fn look(reader: &Reader<'_>, value: &Value, rendered: &Rendered, depth: usize, what: &str) {
    let count = rendered.named.saturating_add(rendered.indexed);
    for start in BTreeSet::from([0, count / 2]) {
        let children = reader.children(value, None, start..start.saturating_add(PAGE));
        let due = count.saturating_sub(start).min(PAGE);
        assert_eq!(
            children.len() as u64,
            due,
            "{what} from {start}: {}",
            rendered.text
        );
        for NamedValue { name, value, .. } in &children {
            let inner = reader.render(value);
            assert!(inner.text.len() < 3000, "{what}.{name}: {}", inner.text);
            assert!(!inner.text.is_empty(), "{what}.{name}");
            if depth > 0 {
                look(reader, value, &inner, depth - 1, what);
            }
        }
    }
}

#[test]
fn any_bytes_in_place_of_a_rust_value_are_answered_with_little_read() {
    let fixture = inline("any_bytes.rs", SOURCE, &[]);
    let module = Arc::new(Module::open(&fixture.binary).expect("the module"));
    let found = module.find_types(&NamePattern::new("any_bytes::All"));
    let all = found.first().expect("the structure").id;
    let loaded = Arc::new(LoadedModule::new(1, Arc::clone(&module), 0, None));
    let mut modules = Modules::default();
    modules.push(Arc::clone(&loaded));
    let value = |type_id| {
        let contents = Contents::Memory(Address(HERE));
        Value::new(Arc::clone(&loaded), Some(type_id), Language::Rust, contents)
    };
    let patterns = std::env::var("DAPPLE_PATTERNS").ok();
    let patterns = patterns.map_or(PATTERNS, |count| count.parse().expect("a number"));
    let nothing = Anything {
        seed: 0,
        here: vec![0; 1 << 14],
        reads: Cell::new(0),
        bytes: Cell::new(0),
    };
    let fields =
        Reader::new(&nothing, &modules, &Known::default()).children(&value(all), None, 0..200);
    assert!(fields.len() > 50, "{} fields", fields.len());
    let mut numbers = Numbers(0x005e_ed0f_da99_1e01);
    let (mut most_reads, mut most_bytes) = ((0, String::new()), (0, String::new()));
    let mut longest = Longest::default();
    for field in &fields {
        let type_id = field.value.type_id.expect("a type");
        for pattern in 0..patterns {
            let mut here = vec![0; 256];
            for word in here.chunks_exact_mut(8) {
                word.copy_from_slice(&numbers.word().to_le_bytes());
            }
            let memory = Anything {
                seed: numbers.next(),
                here,
                reads: Cell::new(0),
                bytes: Cell::new(0),
            };
            let known = Known::default();
            let reader = Reader::new(&memory, &modules, &known);
            let what = format!("{} {pattern}", field.name);
            let value = value(type_id);
            let (text, taken) = timed(|| {
                let rendered = reader.render(&value);
                let text = &rendered.text;
                assert!(!text.is_empty() && text.len() < 3000, "{what}: {text}");
                look(&reader, &value, &rendered, 0, &what);
                rendered.text
            });
            longest.note(&field.name, pattern, taken);
            assert!(taken < PATIENCE, "{what} takes {taken:?}: {text}");
            let reads = memory.reads.get();
            assert!(reads <= MOST_READS, "{what}: {reads} reads: {text}");
            let bytes = memory.bytes.get();
            assert!(bytes <= MOST_BYTES, "{what}: {bytes} bytes: {text}");
            most_reads = most_reads.max((reads, what.clone()));
            most_bytes = most_bytes.max((bytes, what));
        }
    }
    println!("most reads {most_reads:?}, most bytes {most_bytes:?}");
    println!("the slowest:{}", longest.shown());
}
