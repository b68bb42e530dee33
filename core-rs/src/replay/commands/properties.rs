//! Changes of search attributes and memo. No event resolves the commands and only their type is
//! matched; the values that a continued run inherits change with them.
//!
//! The list of patches in TemporalChangeVersion is the core's own: with flag 2 a command of workflow code that names it is sent
//! empty, as by Core, which keeps it for the histories that hold such commands.
use crate::api::enums::v1::CommandType;
use crate::boundary::{CommandKind, JobOrder};
use crate::error::{Result, codes, nondeterminism};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{ModifyWorkflowProperties, UpsertSearchAttributes};
use crate::proto::views::command::Command;
use crate::proto::views::common::{Memo, Payload};
use crate::replay::commands::kind::{Take, Wait};
use crate::replay::convert::checked;
use crate::replay::event::{EventRef, Place};
use crate::replay::flags::CoreFlag;
use crate::replay::run_state::{Inherited, RunState};
use crate::wire::typed::{Each, Encoded, Entry, Put, View, build};

/// Machine names in error messages.
pub const UPSERT_NAME: &str = "UpsertWorkflowSearchAttributesMachine";
const MODIFY_NAME: &str = "ModifyWorkflowPropertiesMachine";

/// The search attribute that lists a run's patches.
pub const CHANGE_VERSION: &str = "TemporalChangeVersion";

/// Given and queued. The bytes of UpsertSearchAttributes are those of SearchAttributes.
#[derive(Clone, Debug)]
pub struct Upsert {
    change: Encoded<UpsertSearchAttributes>,
}

/// Given and queued. The bytes of ModifyWorkflowProperties are those of Memo.
#[derive(Clone, Debug)]
pub struct Modify {
    change: Encoded<ModifyWorkflowProperties>,
}

pub fn read_upsert(bytes: &[u8]) -> Result<Upsert> {
    Ok(Upsert { change: checked::<UpsertSearchAttributes>(bytes)?.to_owned() })
}

pub fn read_modify(bytes: &[u8]) -> Result<Modify> {
    Ok(Modify { change: checked::<ModifyWorkflowProperties>(bytes)?.to_owned() })
}

impl Take for Upsert {
    type Own = ();
    type Queued = Option<Upsert>;

    fn take(mut self, _: &mut (), run: &mut RunState) -> Result<Option<Upsert>> {
        let names_change_versions = self.change.view().search_attributes().get(CHANGE_VERSION).is_some();
        if names_change_versions && run.flag(CoreFlag::UpsertOnPatch) {
            self.change = Encoded::default();
        }
        let inherited = run.inherited.search_attributes.as_ref().map(|own| own.view().indexed_fields());
        run.inherited.search_attributes =
            merged(inherited, self.change.view().search_attributes(), run.order).map(Encoded::same_as);
        Ok(Some(self))
    }
}

impl Take for Modify {
    type Own = ();
    type Queued = Option<Modify>;

    fn take(self, _: &mut (), run: &mut RunState) -> Result<Option<Modify>> {
        // Core lets a continued run begin with the memo of the start event, whatever became of it.
        if !run.is_compat() {
            let inherited = run.inherited.memo.as_ref().map(|own| own.view().fields());
            run.inherited.memo = merged(inherited, self.change.view().memo(), run.order);
        }
        Ok(Some(self))
    }
}

/// What is inherited after a change, by key; `None`: nothing. Programs of the compat layer keep what was removed as an entry of
/// null, as Core does.
fn merged(inherited: Option<Each<Entry<Payload>>>, change: Each<Entry<Payload>>, order: JobOrder) -> Option<Encoded<Memo>> {
    let kept = inherited.into_iter().flat_map(Each::views).filter(|e| change.get(e.key()).is_none());
    let set = change.views().filter(|e| order == JobOrder::Compat || !removes(e.value()));
    let fields = build(|w: Put<Memo>| kept.chain(set).fold(w, Put::<Memo>::push_fields));
    Some(fields).filter(|fields| !fields.is_empty())
}

/// What takes a key away: null and a list of nothing, which a server removes, and the null of JSON, which is how SDKs write "no value" of
/// a search attribute.
fn removes(payload: View<Payload>) -> bool {
    matches!(
        (payload.metadata_value("encoding"), payload.data()),
        (Some(b"binary/null"), b"") | (Some(b"json/plain"), b"[]" | b"null")
    )
}

fn wrong_type(machine: &str, at: EventRef) -> Box<crate::boundary::CoreError> {
    let text = format!("{machine} does not handle {at}");
    nondeterminism(codes::COMMAND_TYPE, text).differing("", at.type_name(), machine)
}

/// The event of an upsert: only its type counts.
pub fn meet_upsert(event: Attributes, at: EventRef) -> Result<()> {
    match event {
        Attributes::UpsertWorkflowSearchAttributes(_) => Ok(()),
        _ => Err(wrong_type(UPSERT_NAME, at)),
    }
}

impl Wait for Upsert {
    type Own = ();

    fn machine(&self) -> &'static str {
        UPSERT_NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::UpsertSearchAttributes
    }

    fn command_type(&self) -> CommandType {
        CommandType::UpsertWorkflowSearchAttributes
    }

    fn meet(self, event: Attributes, at: EventRef, _: &mut (), _: &mut RunState) -> Result<()> {
        meet_upsert(event, at)
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.upsert_workflow_search_attributes_command_attributes(|w| w.copy_search_attributes(Some(self.change.view().same_as())))
    }
}

impl Wait for Modify {
    type Own = ();

    fn machine(&self) -> &'static str {
        MODIFY_NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::ModifyWorkflowProperties
    }

    fn command_type(&self) -> CommandType {
        CommandType::ModifyWorkflowProperties
    }

    fn meet(self, event: Attributes, at: EventRef, _: &mut (), _: &mut RunState) -> Result<()> {
        match event {
            Attributes::WorkflowPropertiesModified(_) => Ok(()),
            _ => Err(wrong_type(MODIFY_NAME, at)),
        }
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.modify_workflow_properties_command_attributes(|w| w.copy_upserted_memo(Some(self.change.view().same_as())))
    }
}
