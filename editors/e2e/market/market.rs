//! Debugged by `cargo xtask e2e terminals`, which has the same program in other languages. It finds lines by the word behind `//`.

fn total(count: i32, price: i32) -> i32 {
    let mut sum = 0;
    let mut i = 0;
    while i < count {
        sum += price; // add
        i += 1;
    }
    sum // return
}

fn check(sum: i32) {
    if sum > 50 {
        panic!("too much"); // throw
    }
}

fn order(count: i32, price: i32) -> i32 {
    let due = total(count, price); // call
    println!("due: {due}"); // print
    due
}

fn idle() {
    let mut turns = 1_u64;
    println!("waiting");
    // Long, but not forever: an adapter may leave the program behind.
    while turns < 10_000_000_000 {
        turns += 1;
    }
}

fn main() {
    let count = std::env::args().nth(1).map_or(0, |word| word.parse().unwrap()); // begin
    let first = order(count, 7); // first
    let second = order(count + 2, 9); // second
    if std::panic::catch_unwind(|| check(first + second)).is_err() {
        println!("refused: too much"); // refused
    }
    idle();
}
