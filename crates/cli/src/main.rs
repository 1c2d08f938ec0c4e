//! The `dapple` binary.
fn main() {}
