//! The check, of the example adapter of `dapple-dap`: as it is, and broken in one way at a time.

#[path = "../../dap/examples/tiny/adapter.rs"]
#[allow(dead_code)]
mod adapter;
mod broken;
mod clean;
#[path = "../../dap/examples/tiny/language.rs"]
#[allow(dead_code)]
mod language;
mod mutant;
