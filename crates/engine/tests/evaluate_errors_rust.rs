//! Errors in Rust expressions: the message names the column, what is wrong, and what would be right.

use crate::support::evaluated::check_listed;
use crate::support::inline;

const RUST: &str = r#"
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape { Empty, Circle(f64), Square { side: u32 } }
#[derive(Debug)]
pub struct Point { x: i32, y: i32 }
impl Point { fn twice(&self) -> i32 { self.x * 2 } }
static TOTAL: i32 = 7;
const LIMIT: u8 = 9;
mod deep { pub static LEVEL: i32 = 4; pub struct Inner { pub value: u8 } pub mod er { pub fn here(inner: &super::Inner) -> i32 { let _ = inner; let level = super::LEVEL + crate::TOTAL; level // stop: deep
 } } }
fn main() {
    let point = Point { x: 1, y: -2 };
    let reference = &point;
    let raw: *const Point = &point;
    let shape = Shape::Square { side: 3 };
    let maybe: Option<u32> = Some(4);
    let none: Option<u32> = None;
    let numbers = vec![1, 2, 3];
    let array = [1u8, 2, 3];
    let name = String::from("ada");
    let ages = HashMap::from([("ada", 36)]);
    let small = 200u8;
    let real = 1.5f64;
    let boxed = Box::new(5);
    let add = |given: i32| given + point.x;
    let pointer: fn(&Point) -> i32 = Point::twice;
    let inner = deep::Inner { value: 3 };
    println!("{point:?} {reference:?} {raw:?} {shape:?} {maybe:?} {none:?} {numbers:?} {array:?} {name} {ages:?} {small} {real} {boxed} {} {} {LIMIT} {TOTAL} {}", add(1), pointer(&point), inner.value); // stop: main
    println!("{} {:?}", deep::er::here(&inner), [Shape::Empty, Shape::Circle(1.0)]);
}
"#;

#[test]
fn what_is_wrong_in_rust_is_said_with_what_would_be_right() {
    check_listed(
        &inline("errors.rs", RUST, &[]),
        "main",
        include_str!("evaluated/errors_rust.txt"),
    );
}
