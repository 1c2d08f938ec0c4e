//! Moments of a recorded program's history: the custom requests `dapple/when`, `dapple/setBookmark`, `dapple/removeBookmark` and
//! `dapple/goToMoment`.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_engine::session::travel::Destination;
use serde::{Deserialize, Serialize};

/// Asks where the session is in the history.
#[derive(Debug)]
pub struct WhenRequest;

/// Where the session is in the history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WhenResponse {
    /// How many things have come from outside so far: results of system calls, signals, changes of threads.
    pub position: usize,
    /// How many have come in all.
    pub length: usize,
    /// Whether the past is shown.
    pub is_past: bool,
    /// The bookmarks, the earliest moment first.
    pub bookmarks: Vec<ShownBookmark>,
}

/// A moment that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownBookmark {
    /// Its number.
    pub number: u32,
    /// Its name; or what was written there.
    pub name: String,
    /// Whether `dapple/who` has set it.
    pub is_of_write: bool,
    /// How many things had come from outside.
    pub position: usize,
}

impl Request for WhenRequest {
    const COMMAND: &'static str = "dapple/when";
    type Arguments = Empty;
    type Response = WhenResponse;
}

/// Tells where the session is.
pub fn when(
    adapter: &mut Adapter,
    _arguments: Empty,
    _context: &mut Context,
) -> Result<WhenResponse, Failure> {
    let when = adapter.stopped()?.when().or_fail()?;
    let bookmarks = when.bookmarks.into_iter().map(|bookmark| ShownBookmark {
        number: bookmark.number,
        name: bookmark.name,
        is_of_write: bookmark.is_of_write,
        position: bookmark.position,
    });
    Ok(WhenResponse {
        position: when.position,
        length: when.length,
        is_past: when.is_past,
        bookmarks: bookmarks.collect(),
    })
}

/// Sets a bookmark at this moment.
#[derive(Debug)]
pub struct SetBookmarkRequest;

/// The bookmark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetBookmarkArguments {
    /// Its name; may be empty.
    #[serde(default)]
    pub name: String,
}

/// A bookmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookmarkNumber {
    /// Its number.
    pub bookmark: u32,
}

impl Request for SetBookmarkRequest {
    const COMMAND: &'static str = "dapple/setBookmark";
    type Arguments = SetBookmarkArguments;
    type Response = BookmarkNumber;
}

/// Sets a bookmark.
pub fn set_bookmark(
    adapter: &mut Adapter,
    arguments: SetBookmarkArguments,
    _context: &mut Context,
) -> Result<BookmarkNumber, Failure> {
    let bookmark = adapter.stopped()?.set_bookmark(arguments.name).or_fail()?;
    Ok(BookmarkNumber { bookmark })
}

/// Removes a bookmark.
#[derive(Debug)]
pub struct RemoveBookmarkRequest;

impl Request for RemoveBookmarkRequest {
    const COMMAND: &'static str = "dapple/removeBookmark";
    type Arguments = BookmarkNumber;
    type Response = Empty;
}

/// Removes a bookmark.
pub fn remove_bookmark(
    adapter: &mut Adapter,
    arguments: BookmarkNumber,
    _context: &mut Context,
) -> Result<Empty, Failure> {
    let debuggee = adapter.debuggee()?;
    debuggee.remove_bookmark(arguments.bookmark).or_fail()?;
    Ok(Empty)
}

/// Shows another moment. A `stopped` event follows.
#[derive(Debug)]
pub struct GoToMomentRequest;

/// Which moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoToMomentArguments {
    /// `"beginning"`, `"present"`, or a bookmark's number.
    pub to: Moment,
}

/// A moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Moment {
    /// A bookmark.
    Bookmark(u32),
    /// One that has a name.
    Named(NamedMoment),
}

/// A moment that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NamedMoment {
    /// The beginning of the recording.
    Beginning,
    /// Where the program was when it was first run backwards.
    Present,
}

impl Request for GoToMomentRequest {
    const COMMAND: &'static str = "dapple/goToMoment";
    type Arguments = GoToMomentArguments;
    type Response = Empty;
}

/// Shows another moment.
pub fn go_to_moment(
    adapter: &mut Adapter,
    arguments: GoToMomentArguments,
    _context: &mut Context,
) -> Result<Empty, Failure> {
    let to = match arguments.to {
        Moment::Bookmark(number) => Destination::Bookmark(number),
        Moment::Named(NamedMoment::Beginning) => Destination::Beginning,
        Moment::Named(NamedMoment::Present) => Destination::Present,
    };
    adapter.stopped()?.go_to_moment(to).or_fail()?;
    adapter.resumed();
    Ok(Empty)
}
