//! Frames and variables page by page, as those of [`Client`](crate::Client).

use super::AsyncClient;
use crate::client::ClientError;
use crate::client::pages::{Container, Frames, Items, Pages, Variables};

impl AsyncClient {
    /// The frames of a thread, innermost first, asked for page by page; as [`Client::stack`](crate::Client::stack).
    pub fn stack(&self, thread: i64) -> Items<'_, Self, Frames> {
        let pages = self.capabilities().supports_delayed_stack_trace_loading == Some(true);
        Items {
            client: self,
            pages: Frames::new(thread, pages),
        }
    }

    /// The children of a scope, a variable, the result of `evaluate`, or a reference, asked for page by page; as
    /// [`Client::variables`](crate::Client::variables).
    pub fn variables(&self, of: impl Into<Container>) -> Items<'_, Self, Variables> {
        Items {
            client: self,
            pages: Variables::new(of.into(), self.shared.pages_variables()),
        }
    }
}

impl<P: Pages> Items<'_, AsyncClient, P> {
    /// The next item; `None` at the end. A call whose future is dropped has taken no item.
    pub async fn next(&mut self) -> Option<Result<P::Item, ClientError>> {
        loop {
            if let Some(item) = self.pages.pop() {
                return Some(Ok(item));
            }
            let page = self.pages.next_page()?;
            let answer = self.client.request_list::<P::Request>(page).await;
            if let Some(error) = self.pages.answered(answer) {
                return Some(Err(error));
            }
        }
    }

    /// All items that are left. A stack may have no end: [`limit`](Items::limit) bounds it.
    ///
    /// # Errors
    /// A page could not be read.
    pub async fn all(mut self) -> Result<Vec<P::Item>, ClientError> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await {
            items.push(item?);
        }
        Ok(items)
    }
}
