//! Calls in Rust: closures, trait objects, iterators, and drops.

use std::hint::black_box;

trait Shape {
    fn area(&self, scale: u64) -> u64;
}

struct Square(u64);

struct Named {
    name: String,
    sides: Vec<u64>,
}

impl Shape for Square {
    #[inline(never)]
    fn area(&self, scale: u64) -> u64 {
        self.0 * self.0 * scale
    }
}

impl Shape for Named {
    #[inline(never)]
    fn area(&self, scale: u64) -> u64 {
        self.sides.iter().map(|side| side * scale).sum::<u64>() + self.name.len() as u64
    }
}

impl Drop for Named {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(self.sides.len());
    }
}

#[inline(never)]
fn fibonacci(n: u64) -> u64 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

#[inline(never)]
fn apply<F: FnMut(u64) -> u64>(mut function: F, value: u64) -> u64 {
    function(value) + function(value + 1)
}

#[inline(never)]
fn parse(text: &str) -> Result<u64, std::num::ParseIntError> {
    let value: u64 = text.parse()?;
    Ok(value + 1)
}

#[inline(never)]
fn start(x: u64) -> u64 {
    let shapes: Vec<Box<dyn Shape>> = vec![
        Box::new(Square(x + 2)),
        Box::new(Named { name: "named".into(), sides: (1..=x + 3).collect() }),
    ];
    let mut sum: u64 = shapes.iter().map(|shape| shape.area(black_box(3))).sum();
    sum += apply(|value| value * x + fibonacci(4), 5);
    let mut numbers: Vec<u64> = (0..6).map(|n| (n * 7) % 5).collect();
    numbers.sort_unstable();
    sum += numbers.iter().enumerate().fold(0, |sum, (place, number)| sum * 3 + number + place as u64);
    sum += parse("41").unwrap_or(0) + parse("none").unwrap_or(7);
    sum
}

fn main() {
    println!("{}", start(black_box(1)));
}
