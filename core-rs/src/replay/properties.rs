//! Search attributes and memo that change in mid-run. Nothing answers the commands and only their type is matched; what a continued
//! run inherits changes with them.
//!
//! The list of patches in TemporalChangeVersion is the core's own: with flag 2 a command of workflow code that names it is sent
//! empty, as by Core, which keeps it for the histories that hold such commands.
use crate::boundary::JobOrder;
use crate::replay::patch::CHANGE_VERSION;
use crate::wire::schema::Kind::Message as Sub;
use crate::wire::schema::{PAYLOAD_ENTRY, Schema};
use crate::wire::{Message, Writer};

/// boundary.UpsertSearchAttributes (temporal SearchAttributes) and boundary.ModifyWorkflowProperties (temporal Memo) alike.
pub static ENTRIES: Schema = Schema(&[(1, Sub(&PAYLOAD_ENTRY))]);

/// Machine names in wordings.
pub const UPSERT_NAME: &str = "UpsertWorkflowSearchAttributesMachine";
pub const MODIFY_NAME: &str = "ModifyWorkflowPropertiesMachine";

/// Workflow code wants to write the list of patches.
pub fn names_change_versions(upsert: &[u8]) -> bool {
    Message(upsert).entry(1, CHANGE_VERSION).is_some()
}

/// What is inherited after a change, by key; `None`: nothing. Programs of the compat layer keep what was removed as an entry of
/// null, as Core does.
pub fn merged(inherited: Option<&[u8]>, change: &[u8], order: JobOrder) -> Option<Vec<u8>> {
    let change = Message(change);
    let kept = Message(inherited.unwrap_or_default()).all(1).filter(|e| change.entry(1, Message(e).text(1)).is_none());
    let set = change.all(1).filter(|e| order == JobOrder::Compat || !removes(Message(e).sub(2)));
    let mut w = Writer::new();
    w.each(1, kept).each(1, set);
    Some(w.finish()).filter(|bytes| !bytes.is_empty())
}

/// What takes a key away: null and a list of nothing, which a server removes, and the null of JSON, which is how SDKs write "no value" of
/// a search attribute.
fn removes(payload: Message) -> bool {
    let (encoding, data) = (payload.entry(1, "encoding").map(|e| e.0), payload.bytes(2).unwrap_or_default());
    matches!((encoding, data), (Some(b"binary/null"), b"") | (Some(b"json/plain"), b"[]" | b"null"))
}
