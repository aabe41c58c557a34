//! Errors for C: a number, and words that stay until the next error.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_long};

use services::hcs::ClusterError;

pub(crate) const NOT_BEGUN: c_int = -19;
pub(crate) const BEGUN: c_int = -20;
pub(crate) const IN_HANDLER: c_int = -21;
pub(crate) const BAD_HANDLE: c_int = -22;
pub(crate) const BAD_ARGUMENT: c_int = -23;
pub(crate) const NO_CLUSTER: c_int = -24;
const OTHER: c_int = -25;

/// The reason why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: c_int,
    words: String,
}

/// The result of a call: a number that is not negative.
pub(crate) type Outcome = Result<c_long, Failure>;

impl Failure {
    pub(crate) fn new(code: c_int, words: impl Into<String>) -> Self {
        Failure { code, words: words.into() }
    }
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        Failure { code: code_of(&error), words: error.to_string() }
    }
}

impl From<contract::Error> for Failure {
    fn from(error: contract::Error) -> Self {
        ClusterError::Fabric(error).into()
    }
}

/// Returns the code of an error in `include/hcs.h`.
fn code_of(error: &ClusterError) -> c_int {
    match error {
        ClusterError::Fabric(_) => -1,
        ClusterError::NoSuchNode { .. } => -2,
        ClusterError::PortInUse { .. } => -3,
        ClusterError::PortTaken { .. } => -4,
        ClusterError::NoSuchPort { .. } => -5,
        ClusterError::Reserved { .. } => -6,
        ClusterError::DirectoryFull { .. } => -7,
        ClusterError::BlockTooLong { .. } => -8,
        ClusterError::SegmentInUse { .. } => -9,
        ClusterError::NoSuchSegment { .. } => -10,
        ClusterError::SegmentMapped { .. } => -11,
        ClusterError::NotYours { .. } => -12,
        ClusterError::NoRoom { .. } => -13,
        ClusterError::OutsideSegment { .. } => -14,
        ClusterError::SignalToOneself { .. } => -15,
        ClusterError::NoSuchSemaphore { .. } => -16,
        ClusterError::TimedOut { .. } => -17,
        ClusterError::OwnBroadcast { .. } => -18,
        _ => OTHER,
    }
}

thread_local! {
    static WORDS: RefCell<CString> = RefCell::default();
}

/// Returns the result of a function for C, and stores the words of an error.
pub(crate) fn returned(outcome: Outcome) -> c_long {
    outcome.unwrap_or_else(|Failure { code, words }| {
        let words = CString::new(words.replace('\0', " ")).unwrap_or_default();
        WORDS.set(words);
        c_long::from(code)
    })
}

/// Returns the result of `query`, and keeps the words of the last error. Programs print these beside the number of
/// their node, which they may query after the words.
pub(crate) fn keeping_words(query: impl FnOnce() -> c_long) -> c_long {
    let words = WORDS.take();
    let result = query();
    WORDS.set(words);
    result
}

/// Returns the words of the last error, which stay until the next one.
pub(crate) fn last_words() -> *const c_char {
    WORDS.with_borrow(|words| CStr::as_ptr(words))
}
