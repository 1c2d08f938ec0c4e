//! Facts about the processor, held against the processor and against real code; and code that is made, by running it.

mod decisions;
mod emulated_loads;
mod exact_states;
mod expressions;
mod jump_site_runs;
mod jump_site_sweep;
mod thread;
