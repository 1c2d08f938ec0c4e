//! DWARF's implicit pointers: to a variable that the compiler keeps in registers, or to a text that only the debug information has. Such
//! pointers have no address to show, but their targets can be shown.

use super::view::{Limit, View};
use super::{Contents, Reader, Value, c};
use crate::unwind::FrameContext;
use dapple_symbols::location::Place;
use dapple_symbols::types::TypeId;

impl Reader<'_> {
    /// The view of an implicit pointer: that of its target. `None` for all other values.
    pub(super) fn implicit_pointer_view(
        &self,
        value: &Value,
        target: Option<TypeId>,
        limit: Limit,
    ) -> Option<View> {
        let Contents::Pieces(pieces, frame) = &value.contents else {
            return None;
        };
        let [only] = &pieces[..] else {
            return None;
        };
        let Place::ImplicitPointer { pointee, offset } = &only.place else {
            return None;
        };
        let module = &value.module;
        let context = FrameContext::of_module(frame, module, self.modules, self.memory);
        let lookup = module.to_file(frame.lookup);
        let whole = match module.module.locate_pointee(pointee, lookup, &context) {
            Ok(pieces) => Contents::of_pieces(pieces, None, frame),
            Err(reason) => Contents::Unavailable(reason),
        };
        let mut target = value.sibling(target, whole.clone());
        let resolved = self.resolve(&target);
        let offset = u64::try_from(*offset).unwrap_or(u64::MAX);
        if let (Some(resolved), Contents::Pieces(pieces, _)) = (&resolved, &whole)
            && let [only] = &pieces[..]
            && let Place::Bytes(bytes) = &only.place
            && let Some(rest) = usize::try_from(offset).ok().and_then(|at| bytes.get(at..))
            && let Some(text) = c::text_of(resolved, rest, limit)
        {
            return Some(View::Leaf(text));
        }
        if let Some(size) = self.size_of(&target).filter(|_| offset != 0) {
            target.contents = whole.part(offset, size);
        }
        Some(View::Alias(target))
    }
}
