//! Patches, Temporal's markers for changes of code (docs/dev/semantics/commands.md#patches).
//!
//! A marker `core_patch` says that the new path was taken; the search attribute TemporalChangeVersion lists the run's patches.
//! The first SetPatchMarker of an id queues the marker and, with flag 2, the upsert of the list; further ones queue nothing.
//!
//! Patches are lenient by design: a deprecated marker may stand without a command, and a patch
//! command may stand without a marker.
use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::history::event::Event;
use crate::proto::views::Attributes;
use crate::proto::views::boundary::SetPatchMarker;
use crate::proto::views::command::{Command, RecordMarkerCommandAttributes};
use crate::proto::views::common::Payload;
use crate::proto::views::history::MarkerRecordedEventAttributes;
use crate::replay::commands::kind::{Take, Wait};
use crate::replay::commands::{marker, properties};
use crate::replay::convert::checked;
use crate::replay::event::{EventRef, Place, wrong_type};
use crate::replay::flags::CoreFlag;
use crate::replay::json::{self, Json};
use crate::replay::run_state::{Inherited, RunState};
use crate::sorted::SortedSet;
use crate::wire::typed::{Encoded, Put, View};

const NAME: &str = "Change";

/// Lists of patches from this size on are not written: the server limits search attributes to 2 KiB.
const MAX_LIST_BYTES: usize = 2048;

/// Given: workflow code asks for the patch.
#[derive(Debug)]
pub struct Set {
    id: String,
    deprecated: bool,
}

/// Queued.
#[derive(Clone, Debug)]
pub enum Marked {
    Marker {
        id: String,
        deprecated: bool,
    },
    /// The list of patches that Core keeps in the search attribute TemporalChangeVersion.
    ChangeVersions(Encoded<Payload>),
}

/// What is to be done with the event of a patch marker.
pub enum PatchMarker {
    /// The front is its command.
    Matches,
    /// The marker is skipped, and with it the upsert that was written for it.
    Skip,
}

pub fn read_set(bytes: &[u8]) -> Result<Set> {
    let c = checked::<SetPatchMarker>(bytes)?;
    Ok(Set { id: c.patch_id().into(), deprecated: c.deprecated() })
}

impl Take for Set {
    type Own = Patches;
    type Queued = Vec<Marked>;

    fn take(self, patches: &mut Patches, run: &mut RunState) -> Result<Vec<Marked>> {
        let Set { id, deprecated } = self;
        if !patches.give(&id) {
            return Ok(Vec::new());
        }
        let listed = run.flag(CoreFlag::UpsertOnPatch) && (!run.replaying || patches.was_seen(&id));
        let mut queued = vec![Marked::Marker { id, deprecated }];
        // The list is for searching only: it is not carried into a continued run as an attribute of this one.
        if listed && let Some(list) = patches.change_versions() {
            queued.push(Marked::ChangeVersions(list));
        }
        Ok(queued)
    }
}

/// What the run knows of its patches.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    /// Ids whose command was given.
    given: SortedSet<String>,
    /// Ids whose marker the look-ahead found, now or earlier.
    seen: SortedSet<String>,
}

impl Patches {
    /// True the first time that the id is given.
    pub fn give(&mut self, id: &str) -> bool {
        self.given.insert(id.to_string())
    }

    /// True the first time that its marker is seen.
    pub fn see(&mut self, id: String) -> bool {
        self.seen.insert(id)
    }

    pub fn was_seen(&self, id: &str) -> bool {
        self.seen.contains(id)
    }

    /// All ids given so far, sorted, as the value of the search attribute; `None` when the list is too long.
    pub fn change_versions(&self) -> Option<Encoded<Payload>> {
        let mut text = String::from("[");
        for (i, id) in self.given.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            json::write_text(&mut text, id);
        }
        text.push(']');
        if text.len() >= MAX_LIST_BYTES {
            return None;
        }
        Some(marker::payload(&text, Some("KeywordList")))
    }
}

/// Details of the marker.
fn write_details<'w>(
    w: Put<'w, RecordMarkerCommandAttributes>,
    id: &str,
    deprecated: bool,
) -> Put<'w, RecordMarkerCommandAttributes> {
    let mut text = String::from("{\"id\":");
    json::write_text(&mut text, id);
    text.push_str(if deprecated { ",\"deprecated\":true}" } else { ",\"deprecated\":false}" });
    marker::detail(w, "patch-data", Some(marker::payload(&text, None).view()))
}

/// Id and deprecation of a patch marker, in today's format or in the first one; `None` when the details are damaged.
pub fn read(recorded: View<MarkerRecordedEventAttributes>) -> Option<(String, bool)> {
    let details = recorded.details();
    if let Some(data) = details.get("patch-data") {
        let data = marker::of_payloads(data)?;
        let deprecated = data.get("deprecated").and_then(Json::bool).unwrap_or(false);
        return Some((data.get("id")?.text()?.to_string(), deprecated));
    }
    let first = |key: &str| details.get(key).and_then(marker::first_data);
    let id = std::str::from_utf8(first("patch_id")?).ok()?;
    let deprecated = first("deprecated").is_some_and(|d| d.first().is_some_and(|b| *b != 0));
    Some((id.to_string(), deprecated))
}

/// The event is the upsert of the list of patches that follows a marker.
pub fn is_change_version_upsert(event: &Event) -> bool {
    let Some(Attributes::UpsertWorkflowSearchAttributes(a)) = event.attributes() else { return false };
    a.search_attributes().indexed_fields().get(properties::CHANGE_VERSION).is_some()
}

/// A patch marker comes: its command is at the front of the queue, or it is skipped, or code and history part. `own`: the id of the
/// patch command at the front, if it is one; `front`: the machine there, for the error.
pub fn meet_marker(
    recorded: View<MarkerRecordedEventAttributes>,
    at: EventRef,
    own: Option<&str>,
    front: &str,
) -> Result<PatchMarker> {
    let damaged = || fatal(codes::BAD_MARKER, format!("{at}: the patch marker has no patch ID")).at_event(at);
    let (id, deprecated) = read(recorded).ok_or_else(damaged)?;
    match own {
        Some(own) if own == id => Ok(PatchMarker::Matches),
        _ if deprecated => Ok(PatchMarker::Skip),
        Some(own) => {
            let text = format!("Change id {id} does not match expected id {own}");
            Err(nondeterminism(codes::PATCH_ID, text).differing("patch_id", id, own).at_event(at))
        }
        None => {
            let text =
                format!("Non-deprecated patch marker encountered for change {id}, but there is no corresponding change command!");
            Err(nondeterminism(codes::PATCH_REMOVED, text).differing("patch_id", id, front).at_event(at))
        }
    }
}

impl Marked {
    /// The id of the patch whose marker it is.
    pub fn patch_id(&self) -> Option<&str> {
        match self {
            Marked::Marker { id, .. } => Some(id),
            Marked::ChangeVersions(_) => None,
        }
    }
}

impl Wait for Marked {
    type Own = ();

    fn machine(&self) -> &'static str {
        match self {
            Marked::Marker { .. } => NAME,
            Marked::ChangeVersions(_) => properties::UPSERT_NAME,
        }
    }

    fn kind(&self) -> CommandKind {
        CommandKind::SetPatchMarker
    }

    fn command_type(&self) -> CommandType {
        match self {
            Marked::Marker { .. } => CommandType::RecordMarker,
            Marked::ChangeVersions(_) => CommandType::UpsertWorkflowSearchAttributes,
        }
    }

    fn is_lenient(&self) -> bool {
        true
    }

    /// That the ids agree is known from `meet_marker`.
    fn meet(self, event: Attributes, at: EventRef, _: &mut (), _: &mut RunState) -> Result<()> {
        match (self, event) {
            (Marked::Marker { .. }, Attributes::MarkerRecorded(_)) => Ok(()),
            (Marked::Marker { .. }, _) => Err(wrong_type(NAME, at)),
            (Marked::ChangeVersions(_), event) => properties::meet_upsert(event, at),
        }
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        match self {
            Marked::Marker { id, deprecated } => {
                w.record_marker_command_attributes(|w| write_details(w.marker_name(marker::PATCH), id, *deprecated))
            }
            Marked::ChangeVersions(list) => w.upsert_workflow_search_attributes_command_attributes(|w| {
                w.search_attributes(|w| w.add_indexed_fields(properties::CHANGE_VERSION, |w| w.all_of(list.view())))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::typed::build;

    /// The marker that an event repeats has name and details in the same fields as the command.
    fn recorded(
        details: impl FnOnce(Put<'_, RecordMarkerCommandAttributes>) -> Put<'_, RecordMarkerCommandAttributes>,
    ) -> Vec<u8> {
        build(details).into_bytes()
    }

    fn read_bytes(bytes: &[u8]) -> Option<(String, bool)> {
        read(View::of(crate::wire::Message(bytes)))
    }

    #[test]
    fn written_details_read_back() {
        let written = recorded(|w| write_details(w, "my \"id\"", true));
        assert_eq!(read_bytes(&written), Some(("my \"id\"".into(), true)));
    }

    /// The first format holds plain bytes.
    #[test]
    fn old_marker_format() {
        let plain = |data: &[u8]| build(|w: Put<Payload>| w.data(data));
        let old = recorded(|w| {
            let w = marker::detail(w, "patch_id", Some(plain(b"old").view()));
            marker::detail(w, "deprecated", Some(plain(&[1]).view()))
        });
        assert_eq!(read_bytes(&old), Some(("old".into(), true)));
        assert_eq!(read_bytes(&[]), None);
    }

    #[test]
    fn list_is_sorted_typed_and_bounded() {
        let mut p = Patches::default();
        assert!(p.give("b") && p.give("a") && !p.give("b"));
        let list = p.change_versions().unwrap();
        let list = list.view();
        assert_eq!(list.data(), b"[\"a\",\"b\"]");
        assert_eq!(list.metadata_value("encoding"), Some(&b"json/plain"[..]));
        assert_eq!(list.metadata_value("type"), Some(&b"KeywordList"[..]));
        p.give(&"x".repeat(MAX_LIST_BYTES));
        assert_eq!(p.change_versions(), None);
    }
}
