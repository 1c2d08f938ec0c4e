//! The frames of a thread and the children of a value as iterators that ask for them page by page.
//!
//! [`Client::stack`] and [`Client::variables`] make them; the asynchronous client has the same. Nothing is requested before the first item
//! is asked for, and no page before an item of it is. After an error the iterator ends.
//!
//! Adapters page in their own ways, and so:
//! - Stacks are read in pages only from adapters with `supportsDelayedStackTraceLoading`, variables only if the client has announced
//!   `supportsVariablePaging` and the number of children is known. Otherwise one request is for all.
//! - `totalFrames` is ignored if more frames than that were received. If it is larger, further pages are requested even after a short page,
//!   until a page is empty.
//! - A page may be longer than asked for. If it begins with the first item again, the adapter ignores where pages start. What came before is then
//!   left out, and what is missing is asked for in one request for all. lldb-dap 22 does that with variables of a scope.
//! - An item that cannot be read is left out, and counts as received. A stack ends at a page of which no frame can be read.

use std::collections::VecDeque;

use super::core::ListAnswer;
use super::{Client, ClientError};
use crate::message::Request;
use crate::types::{
    EvaluateResponse, Scope, StackFrame, StackFrameFormat, StackTraceArguments, StackTraceRequest,
    ValueFormat, Variable, VariablesArguments, VariablesArgumentsFilter, VariablesRequest,
};

/// How many frames a page has by default.
const FRAMES: usize = 20;

/// How many variables a page has by default.
const VARIABLES: usize = 100;

/// An item of a page that may come twice.
trait Item: Clone {
    /// Whether it is the same item again.
    fn is(&self, other: &Self) -> bool;
}

impl Item for StackFrame {
    fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Item for Variable {
    /// Its references may be new ones.
    fn is(&self, other: &Self) -> bool {
        let own = |it: &Self| (it.evaluate_name.clone(), it.memory_reference.clone());
        self.name == other.name && self.value == other.value && own(self) == own(other)
    }
}

/// The way through one sequence of pages, without I/O.
#[derive(Debug)]
struct Pager<T> {
    /// `None`: one page has all.
    size: Option<usize>,
    /// How many items there are, if that was known before the first page. More are not asked for.
    count: Option<usize>,
    /// How many items there are, as far as that is believed.
    total: Option<usize>,
    /// How many items have come, with those that could not be read.
    come: usize,
    /// The first item of all, by which a repeated page is recognized.
    first: Option<T>,
    /// How many items the last page was asked for.
    asked: Option<usize>,
    /// The last page's length differed from the requested one. So an error for the next page means the end.
    may_be_over: bool,
    is_over: bool,
}

impl<T: Item> Pager<T> {
    fn new(size: Option<usize>, count: Option<usize>) -> Self {
        Self {
            size,
            count,
            total: count,
            come: 0,
            first: None,
            asked: None,
            may_be_over: false,
            is_over: false,
        }
    }

    /// The start of the next page, and how many items to ask for. `left` is the number of items that are wanted at all. Without a page size,
    /// the page is from the first item on.
    fn next(&mut self, left: Option<usize>) -> Option<(usize, Option<usize>)> {
        if self.is_over {
            return None;
        }
        if self.size.is_none() {
            self.asked = left.map(|left| left.saturating_add(self.come));
            return Some((0, self.asked));
        }
        let rest = self.count.map(|count| count.saturating_sub(self.come));
        self.asked = [self.size, left, rest].into_iter().flatten().min();
        Some((self.come, self.asked))
    }

    /// Takes a page, and returns those of its items that are new. `dropped` are the indices of items that could not be read and are missing
    /// in `page`.
    fn received(&mut self, mut page: Vec<T>, dropped: &[usize], total: Option<usize>) -> Vec<T> {
        let length = page.len() + dropped.len();
        let begins = page.first().zip(self.first.as_ref());
        let repeats = self.come > 0 && begins.is_some_and(|(one, first)| one.is(first));
        let known = if repeats || self.size.is_none() {
            self.come.min(length)
        } else {
            0
        };
        let unreadable = dropped.iter().filter(|&&index| index < known).count();
        page.drain(..(known - unreadable).min(page.len()));
        let new = length - known;
        let is_cut = self.asked.is_some_and(|asked| length <= asked);
        if repeats && new == 0 && is_cut && self.size.is_some() {
            // Only the start of pages is ignored, so that all there is comes in one page.
            self.size = None;
            self.may_be_over = false;
            return page;
        }
        self.first = self.first.take().or_else(|| page.first().cloned());
        self.come += new;
        self.total = total.or(self.total).filter(|&total| total >= self.come);
        let is_full = self.asked.is_none_or(|asked| length >= asked);
        self.may_be_over = self.asked != Some(length);
        self.is_over = self.size.is_none()
            || repeats
            // Pages without an end of which nothing can be read would otherwise keep the caller waiting for ever.
            || (page.is_empty() && (new == 0 || self.count.is_none()))
            || self.total.map_or(!is_full, |total| self.come >= total);
        page
    }

    /// Takes the error that a page was answered with. `None`: the error only says that there is no such page.
    fn failed(&mut self, error: ClientError) -> Option<ClientError> {
        self.is_over = true;
        let is_end = self.may_be_over && matches!(error, ClientError::Failed(_));
        (!is_end).then_some(error)
    }
}

/// What is read in pages, without I/O: [`Frames`] or [`Variables`]. It cannot be implemented elsewhere.
pub trait Pages: sealed::Sealed {
    /// The request of one page.
    type Request: Request;
    /// One of the items.
    type Item;

    #[doc(hidden)]
    fn pop(&mut self) -> Option<Self::Item>;

    /// The arguments of the next page; `None` at the end.
    #[doc(hidden)]
    fn next_page(&mut self) -> Option<<Self::Request as Request>::Arguments>;

    /// Takes the answer, with the indices of the items that could not be read. Returns the error that the caller is to see.
    #[doc(hidden)]
    fn answered(
        &mut self,
        answer: Result<(<Self::Request as Request>::Response, Vec<usize>), ClientError>,
    ) -> Option<ClientError>;
}

mod sealed {
    pub trait Sealed {}
}

/// The items of [`Pages`], asked for as they are needed.
///
/// Of a [`Client`], it is an iterator. Of an asynchronous client, `next` and `all` are asynchronous.
#[derive(Debug)]
pub struct Items<'c, C, P> {
    pub(crate) client: &'c C,
    pub(crate) pages: P,
}

impl<P: Pages> Iterator for Items<'_, Client, P> {
    type Item = Result<P::Item, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.pages.pop() {
                return Some(Ok(item));
            }
            let page = self.pages.next_page()?;
            let answer = self.client.request_list::<P::Request>(page);
            if let Some(error) = self.pages.answered(answer) {
                return Some(Err(error));
            }
        }
    }
}

impl<P: Pages> std::iter::FusedIterator for Items<'_, Client, P> {}

/// The frames of a thread, innermost first.
#[derive(Debug)]
pub struct Frames {
    arguments: StackTraceArguments,
    pager: Pager<StackFrame>,
    ready: VecDeque<StackFrame>,
    left: Option<usize>,
}

impl Frames {
    pub(crate) fn new(thread: i64, adapter_pages: bool) -> Self {
        Self {
            arguments: StackTraceArguments::new(thread),
            pager: Pager::new(adapter_pages.then_some(FRAMES), None),
            ready: VecDeque::new(),
            left: None,
        }
    }
}

impl<C> Items<'_, C, Frames> {
    /// Sets how many frames are asked for at once, at least one. It has no effect with adapters that don't page.
    #[must_use]
    pub fn page_size(mut self, frames: usize) -> Self {
        self.pages.pager.size = self.pages.pager.size.and(Some(frames.max(1)));
        self
    }

    /// Sets how many frames are wanted at most. More are neither asked for nor returned; this bounds the answer of adapters that don't
    /// page, too.
    #[must_use]
    pub fn limit(mut self, frames: usize) -> Self {
        self.pages.left = Some(frames);
        self
    }

    /// Sets what the frames' names have; only for adapters with `supportsValueFormattingOptions`.
    #[must_use]
    pub fn format(mut self, format: StackFrameFormat) -> Self {
        self.pages.arguments.format = Some(format);
        self
    }
}

impl sealed::Sealed for Frames {}

impl Pages for Frames {
    type Request = StackTraceRequest;
    type Item = StackFrame;

    fn pop(&mut self) -> Option<StackFrame> {
        pop(&mut self.ready, &mut self.left)
    }

    fn next_page(&mut self) -> Option<StackTraceArguments> {
        if self.left == Some(0) {
            return None;
        }
        let (start, count) = self.pager.next(self.left)?;
        let mut arguments = self.arguments.clone();
        // Some adapters without paging know neither field.
        arguments.start_frame = self.pager.size.map(|_| number(start));
        arguments.levels = count.map(number);
        Some(arguments)
    }

    fn answered(&mut self, answer: ListAnswer<StackTraceRequest>) -> Option<ClientError> {
        match answer {
            Ok((page, dropped)) => {
                let total = page
                    .total_frames
                    .and_then(|total| usize::try_from(total).ok());
                let frames = self.pager.received(page.stack_frames, &dropped, total);
                self.ready.extend(frames);
                None
            }
            Err(error) => self.pager.failed(error),
        }
    }
}

/// A container of variables, and how many children it has as far as the adapter has said. It is made from a reference, or from what has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Container {
    reference: i64,
    named: Option<usize>,
    indexed: Option<usize>,
}

impl From<i64> for Container {
    fn from(reference: i64) -> Self {
        Self {
            reference,
            named: None,
            indexed: None,
        }
    }
}

macro_rules! containers {
    ($($container:ty)*) => {
        $(
            impl From<&$container> for Container {
                fn from(container: &$container) -> Self {
                    let count = |count: Option<i64>| count.and_then(|count| usize::try_from(count).ok());
                    Self {
                        reference: container.variables_reference,
                        named: count(container.named_variables),
                        indexed: count(container.indexed_variables),
                    }
                }
            }
        )*
    };
}

containers! { Scope Variable EvaluateResponse }

/// The children of a value or scope: those with names, then those with indices.
#[derive(Debug)]
pub struct Variables {
    container: Container,
    format: Option<ValueFormat>,
    only: Option<VariablesArgumentsFilter>,
    size: usize,
    /// The client has announced that it pages.
    client_pages: bool,
    /// What is left to read; `None` before the first page.
    parts: Option<VecDeque<(Option<VariablesArgumentsFilter>, Pager<Variable>)>>,
    ready: VecDeque<Variable>,
    left: Option<usize>,
}

impl Variables {
    pub(crate) fn new(container: Container, client_pages: bool) -> Self {
        Self {
            container,
            format: None,
            only: None,
            size: VARIABLES,
            client_pages,
            parts: None,
            ready: VecDeque::new(),
            left: None,
        }
    }

    /// How the children are to be read: at once, or those with names and those with indices, each in pages if they are many.
    fn plan(&self) -> VecDeque<(Option<VariablesArgumentsFilter>, Pager<Variable>)> {
        use VariablesArgumentsFilter::{Indexed, Named};

        let Container {
            reference,
            named,
            indexed,
        } = self.container;
        let is_long = |count: Option<usize>| {
            self.client_pages && count.is_some_and(|count| count > self.size)
        };
        let part = |filter, count| {
            let size = is_long(count).then_some(self.size);
            (Some(filter), Pager::new(size, count))
        };
        let parts = match &self.only {
            _ if reference == 0 => vec![],
            Some(Named) => vec![part(Named, named)],
            Some(Indexed) => vec![part(Indexed, indexed)],
            None if is_long(named) || is_long(indexed) => {
                vec![
                    part(Named, Some(named.unwrap_or(0))),
                    part(Indexed, Some(indexed.unwrap_or(0))),
                ]
            }
            Some(VariablesArgumentsFilter::Other(_)) | None => {
                vec![(None, Pager::new(None, None))]
            }
        };
        { parts.into_iter() }
            .filter(|(_, pager)| pager.count != Some(0))
            .collect()
    }
}

impl<C> Items<'_, C, Variables> {
    /// Sets how many variables are asked for at once, at least one.
    #[must_use]
    pub fn page_size(mut self, variables: usize) -> Self {
        self.pages.size = variables.max(1);
        self
    }

    /// Sets how many variables are wanted at most. More are not returned.
    #[must_use]
    pub fn limit(mut self, variables: usize) -> Self {
        self.pages.left = Some(variables);
        self
    }

    /// Asks for the children with names only, such as the fields of a structure.
    #[must_use]
    pub fn named(mut self) -> Self {
        self.pages.only = Some(VariablesArgumentsFilter::Named);
        self
    }

    /// Asks for the children with indices only, such as the elements of an array.
    #[must_use]
    pub fn indexed(mut self) -> Self {
        self.pages.only = Some(VariablesArgumentsFilter::Indexed);
        self
    }

    /// Sets how values are written; only for adapters with `supportsValueFormattingOptions`.
    #[must_use]
    pub fn format(mut self, format: ValueFormat) -> Self {
        self.pages.format = Some(format);
        self
    }
}

impl sealed::Sealed for Variables {}

impl Pages for Variables {
    type Request = VariablesRequest;
    type Item = Variable;

    fn pop(&mut self) -> Option<Variable> {
        pop(&mut self.ready, &mut self.left)
    }

    fn next_page(&mut self) -> Option<VariablesArguments> {
        if self.left == Some(0) {
            return None;
        }
        if self.parts.is_none() {
            self.parts = Some(self.plan());
        }
        let parts = self.parts.as_mut()?;
        parts.retain(|(_, pager)| !pager.is_over);
        let (filter, pager) = parts.front_mut()?;
        let mut arguments = VariablesArguments::new(self.container.reference);
        arguments.filter.clone_from(filter);
        arguments.format.clone_from(&self.format);
        let left = self.left.filter(|_| pager.size.is_some());
        let (start, count) = pager.next(left)?;
        if pager.size.is_some() {
            arguments.start = Some(number(start));
            arguments.count = count.map(number);
        }
        Some(arguments)
    }

    fn answered(&mut self, answer: ListAnswer<VariablesRequest>) -> Option<ClientError> {
        let (_, pager) = self.parts.as_mut()?.front_mut()?;
        let error = match answer {
            Ok((page, dropped)) => {
                let variables = pager.received(page.variables, &dropped, None);
                self.ready.extend(variables);
                return None;
            }
            Err(error) => pager.failed(error)?,
        };
        self.parts = Some(VecDeque::new());
        Some(error)
    }
}

fn pop<T>(ready: &mut VecDeque<T>, left: &mut Option<usize>) -> Option<T> {
    match left {
        Some(0) => None,
        Some(left) => {
            let item = ready.pop_front()?;
            *left -= 1;
            Some(item)
        }
        None => ready.pop_front(),
    }
}

/// A count for the protocol, whose numbers end before those of the machine.
fn number(count: usize) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

impl Client {
    /// The frames of a thread, innermost first, asked for page by page as the iterator comes to them.
    ///
    /// ```
    /// # use dapple_dap::{ClientError, Server};
    /// use dapple_dap::types::*;
    ///
    /// # let server = Server::<()>::builder()
    /// #     .capabilities(|capabilities| capabilities.supports_delayed_stack_trace_loading = Some(true))
    /// #     .on::<StackTraceRequest>(|_, asked, _| {
    /// #         let (start, levels) = (asked.start_frame.unwrap(), asked.levels.unwrap());
    /// #         let frames = (start..start + levels).map(|id| StackFrame::new(id, format!("f{id}"), 1, 1));
    /// #         Ok(StackTraceResponse::new(frames.collect()))
    /// #     })
    /// #     .build();
    /// # let (client, session) = dapple_dap::testing::TestClient::of(&server, ());
    /// # client.initialize();
    /// # let client: &dapple_dap::Client = &client;
    /// // A recursion without end: only as many pages are read as are needed.
    /// let names: Result<Vec<String>, ClientError> =
    ///     client.stack(1).take(50).map(|frame| Ok(frame?.name)).collect();
    /// assert_eq!(names?[49], "f49");
    /// # client.request::<DisconnectRequest>(DisconnectArguments::new())?;
    /// # session.join().unwrap();
    /// # Ok::<(), ClientError>(())
    /// ```
    pub fn stack(&self, thread: i64) -> Items<'_, Self, Frames> {
        let pages = Frames::new(thread, self.pages_stacks());
        Items {
            client: self,
            pages,
        }
    }

    /// The children of a scope, a variable, the result of `evaluate`, or a reference, asked for page by page as the iterator comes to them.
    /// Only the first three tell how many children there are, so those of a bare reference are read at once. The reference 0 has none.
    pub fn variables(&self, of: impl Into<Container>) -> Items<'_, Self, Variables> {
        let pages = Variables::new(of.into(), self.shared.pages_variables());
        Items {
            client: self,
            pages,
        }
    }

    fn pages_stacks(&self) -> bool {
        self.capabilities().supports_delayed_stack_trace_loading == Some(true)
    }
}
