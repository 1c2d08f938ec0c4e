//! A function whose locals are large, and a line to step on.
use std::collections::HashMap;

fn main() {
    let vector: Vec<u32> = (0..1_000_000).map(|i| 7 * i).collect();
    let map: HashMap<u32, String> = (0..100_000).map(|i| (i, format!("value {i}"))).collect();
    let numbers: HashMap<u64, u64> = (0..100_000).map(|i| (i, i * i)).collect();
    let mut rounds = 0_u32;
    loop {
        rounds += 1; /* begin */
        if rounds == 1_000_000_000 {
            break;
        }
    }
    println!("{} {} {}", vector.len(), map.len(), numbers.len());
}
