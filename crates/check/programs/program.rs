//! What `dapple check` debugs. The comments say what a debugger has to find.

struct Point {
    x: i32,
    y: i32,
}

fn add(a: i32, b: i32) -> i32 { // check: entry
    let sum = a + b; // check: inside a=3 b=4
    sum
}

fn main() {
    let mut total = 0;
    let point = Point { x: 3, y: 4 };
    let numbers: Vec<i32> = (0..200).map(|n| n * n).collect();
    total += numbers[2] + 2; // check: stop total=0 point.x=3
    total += 1; // check: next total=6 point.y=4
    total = total - 7 + add(point.x, point.y); // check: call total=7
    let mut i = 0; // check: after-call
    while i < 5 {
        total += i; // check: loop
        i += 1;
    }
    println!("the total is {total}"); // check: end total=17
    std::process::exit(3); // check: exit 3
}

// check: condition i == 2
// check: function add
// check: output the total is 17
// check: none
