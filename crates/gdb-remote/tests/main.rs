//! Tests of the client: against stubs in this process, honest and lying, and against real ones.

mod ahead;
mod counter;
mod exchange;
mod gdbserver;
mod lldb_server;
mod lying;
mod programs;
mod properties;
mod qemu;
mod robustness;
mod serial;
mod stub;
mod valgrind;
