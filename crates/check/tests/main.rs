//! The check, of the example adapter of `dapple-dap`: as it is, and broken in one way at a time.

#[path = "../../dap/examples/tiny/adapter.rs"]
#[allow(dead_code)]
mod adapter;
mod behaved;
mod broken;
mod checker;
mod clean;
mod conformance;
#[path = "../../dap/examples/tiny/language.rs"]
#[allow(dead_code)]
mod language;
mod moved;
mod mutant;
