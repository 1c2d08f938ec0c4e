//! Steps into functions that are linked lazily, by a dynamic linker that has no symbols.

use super::{Action, Call, Context, Phase, Step, code, through};
use dapple_inspect::modules::LoadedModule;

impl Step {
    /// In the dynamic linker without symbols, which looks for the function with this name: runs to the function, if that is of interest.
    pub(super) fn enter_linked(&mut self, name: &str, call: Call, cx: &Context<'_>) -> Action {
        let function = code::linked_function(name, cx.modules);
        let wanted = function.filter(|at| self.chosen || through::is_users_entry(*at, cx));
        match wanted {
            Some(address) => {
                self.phase = Phase::Entering(call);
                Action::RunTo {
                    address,
                    height: None,
                }
            }
            None => {
                self.gates.clear();
                self.gates.add_callbacks(cx);
                self.run_through(call)
            }
        }
    }

    /// Whether to ignore a module: a distribution's library has nothing to stop at, and its debug information takes long to read.
    pub(super) fn is_foreign(&self, module: &LoadedModule) -> bool {
        !self.any_source && module.is_distributions()
    }
}
