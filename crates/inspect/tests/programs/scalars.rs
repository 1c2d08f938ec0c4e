//! Variables of all scalar types, for expressions over them.
#![allow(unused, static_mut_refs)]

#[derive(Clone, Copy)]
pub struct Inner { narrow: i16, wide: u64, ratio: f32 }
pub struct Node {
    tiny: i8,
    half: u16,
    whole: i32,
    wide: i64,
    single: f32,
    twice: f64,
    flag: bool,
    inner: Inner,
    next: *const Node,
    many: [i32; 4],
    letter: char,
}
const INNER: Inner = Inner { narrow: 1, wide: 2, ratio: 3.0 };
static mut NODE: Node = Node {
    tiny: 1, half: 2, whole: 3, wide: 4, single: 5.0, twice: 6.0, flag: true, inner: INNER, next: std::ptr::null(), many: [1; 4], letter: 'a',
};
static mut I8: i8 = 1; static mut U8: u8 = 1; static mut I16: i16 = 1; static mut U16: u16 = 1;
static mut I32: i32 = 1; static mut U32: u32 = 1; static mut I64: i64 = 1; static mut U64: u64 = 1;
static mut SIZE: usize = 1; static mut I128: i128 = 1;
static mut YES: bool = true; static mut NO: bool = true; static mut LETTER: char = 'b';
static mut F32: f32 = 1.0; static mut G32: f32 = 1.0; static mut F64: f64 = 1.0; static mut G64: f64 = 1.0;
static mut BYTES: [u8; 16] = [1; 16];
static mut P: *const Node = std::ptr::null();

// SAFETY: no other function has the name.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn check(a: i32, b: u8, c: f64, q: &Node, d: f32, e: u64, boxed: Box<Inner>) -> i32 {
    let local: i16 = 1;
    if q.whole > a {
        return b.into();
    }
    println!("{local} {c} {d} {e} {}", boxed.wide);
    local.into()
}

fn main() {
    // SAFETY: there is one thread.
    unsafe {
        NODE.letter = 'c';
        println!("{I8} {U8} {I16} {U16} {I32} {U32} {I64} {U64} {SIZE} {I128} {YES} {NO} {LETTER} {F32} {G32} {F64} {G64} {BYTES:?} {P:?}");
        println!("{} {}", NODE.inner.wide, NODE.many[std::env::args().count()]);
        check(I32, U8, F64, &NODE, F32, U64, Box::new(INNER));
    }
}
