//! The table of the kinds of mistakes.

use super::calls::OF_CALLS;
use super::checked::CHECKED;
use super::ends::ENDS;
use super::kind::{BLANK, MistakeKind};

/// Any other error of a call.
const OTHER: MistakeKind = MistakeKind {
    name: "other-error",
    messages: &["MPI_Init: MPI_ERR_OTHER: MPI_Init has been called before (main, program.c:6)"],
    title: "A call has failed for another reason",
    sections: "9.3",
    remedy: "the message names what the call refuses",
    example: "MPI_Init(&argc, &argv);",
    ..BLANK
};

/// Returns all kinds, in the order of the page.
pub fn all() -> impl Iterator<Item = &'static MistakeKind> {
    ENDS.iter().chain(OF_CALLS).chain([&OTHER]).chain(CHECKED)
}

/// Returns the kind of a message, which is the first whose words it contains.
pub(crate) fn kind_of(message: &str) -> &'static MistakeKind {
    let says = |kind: &&MistakeKind| kind.says.iter().any(|words| message.contains(words));
    all().find(says).unwrap_or(&OTHER)
}

/// Returns the kind with a name.
pub(crate) fn kind_named(name: &str) -> Option<&'static MistakeKind> {
    all().find(|kind| kind.name == name)
}
