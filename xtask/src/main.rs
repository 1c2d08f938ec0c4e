//! Project chores: codegen, tidy, bench.
fn main() {}
