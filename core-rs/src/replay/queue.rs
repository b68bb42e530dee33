//! The queue of commands that wait for their event (core-spec 1.1).
//!
//! Workflow code's attributes are kept as they came and turned into the server's form only when a completion is written, so that
//! a replay, which sends nothing, pays nothing. Entries leave the queue when the matching event is applied, never when sent.
use crate::api::command::v1::command::Attributes;
use crate::api::command::v1::{
    CancelTimerCommandAttributes, CancelWorkflowExecutionCommandAttributes, Command, CompleteWorkflowExecutionCommandAttributes,
    FailWorkflowExecutionCommandAttributes, ProtocolMessageCommandAttributes, RecordMarkerCommandAttributes,
    RequestCancelActivityTaskCommandAttributes, ScheduleActivityTaskCommandAttributes, StartTimerCommandAttributes,
    UpsertWorkflowSearchAttributesCommandAttributes,
};
use crate::api::common::v1::{ActivityType, Header, Payload, Payloads, SearchAttributes};
use crate::api::enums::v1::CommandType;
use crate::api::failure::v1::Failure;
use crate::api::sdk::v1::UserMetadata;
use crate::api::taskqueue::v1::TaskQueue;
use crate::boundary::{CommandKind, CompleteWorkflow, ContinueAsNew, ScheduleActivity, StartTimer};
use crate::history::event::camel;
use crate::replay::convert::{duration, one_payload, optional_duration, payloads, retry_policy};
use crate::replay::terminal::Inherited;
use crate::replay::{activity, patch, side_effect, terminal, timer, update};

/// One command that has been given and whose event has not been seen.
#[derive(Clone, Debug)]
pub enum Queued {
    StartTimer {
        seq: u32,
        attributes: StartTimer,
    },
    CancelTimer {
        seq: u32,
    },
    ScheduleActivity {
        seq: u32,
        attributes: Box<ScheduleActivity>,
    },
    CancelActivity {
        seq: u32,
        scheduled_event_id: i64,
    },
    Patch {
        id: String,
        deprecated: bool,
    },
    /// The list of patches that Core keeps in the search attribute TemporalChangeVersion.
    ChangeVersions {
        value: Payload,
    },
    SideEffect {
        id: u32,
        payload: Option<Payload>,
    },
    /// `message_id` is the id of the message that goes with the command.
    AcceptUpdate {
        id: String,
        message_id: String,
    },
    CompleteUpdate {
        id: String,
        message_id: String,
    },
    Terminal(Terminal),
}

/// The command that ends the run.
#[derive(Clone, Debug)]
pub enum Terminal {
    Complete(CompleteWorkflow),
    Fail(Box<Failure>),
    Cancel(Option<Payloads>),
    ContinueAsNew(Box<ContinueAsNew>),
}

impl Terminal {
    pub fn machine(&self) -> &'static str {
        match self {
            Terminal::Complete(_) => terminal::COMPLETE,
            Terminal::Fail(_) => terminal::FAIL,
            Terminal::Cancel(_) => terminal::CANCEL,
            Terminal::ContinueAsNew(_) => terminal::CONTINUE_AS_NEW,
        }
    }
}

impl Queued {
    /// Machine name in wordings.
    pub fn machine(&self) -> &'static str {
        match self {
            Queued::StartTimer { .. } | Queued::CancelTimer { .. } => timer::NAME,
            Queued::ScheduleActivity { .. } | Queued::CancelActivity { .. } => activity::NAME,
            Queued::Patch { .. } => patch::NAME,
            Queued::ChangeVersions { .. } => patch::UPSERT_NAME,
            Queued::SideEffect { .. } => side_effect::NAME,
            Queued::AcceptUpdate { .. } | Queued::CompleteUpdate { .. } => update::NAME,
            Queued::Terminal(t) => t.machine(),
        }
    }

    pub fn kind(&self) -> CommandKind {
        match self {
            Queued::StartTimer { .. } | Queued::CancelTimer { .. } => CommandKind::StartTimer,
            Queued::ScheduleActivity { .. } | Queued::CancelActivity { .. } => CommandKind::ScheduleActivity,
            Queued::Patch { .. } | Queued::ChangeVersions { .. } => CommandKind::SetPatchMarker,
            Queued::SideEffect { .. } => CommandKind::RecordSideEffect,
            Queued::AcceptUpdate { .. } | Queued::CompleteUpdate { .. } => CommandKind::UpdateResponse,
            Queued::Terminal(Terminal::Complete(_)) => CommandKind::CompleteWorkflow,
            Queued::Terminal(Terminal::Fail(_)) => CommandKind::FailWorkflow,
            Queued::Terminal(Terminal::Cancel(_)) => CommandKind::CancelWorkflow,
            Queued::Terminal(Terminal::ContinueAsNew(_)) => CommandKind::ContinueAsNew,
        }
    }

    /// The caller's number where the kind has one; for side effects their id.
    pub fn seq(&self) -> u32 {
        match self {
            Queued::StartTimer { seq, .. }
            | Queued::CancelTimer { seq }
            | Queued::ScheduleActivity { seq, .. }
            | Queued::CancelActivity { seq, .. } => *seq,
            Queued::SideEffect { id, .. } => *id,
            _ => 0,
        }
    }

    pub fn command_type(&self) -> CommandType {
        match self {
            Queued::StartTimer { .. } => CommandType::StartTimer,
            Queued::CancelTimer { .. } => CommandType::CancelTimer,
            Queued::ScheduleActivity { .. } => CommandType::ScheduleActivityTask,
            Queued::CancelActivity { .. } => CommandType::RequestCancelActivityTask,
            Queued::Patch { .. } | Queued::SideEffect { .. } => CommandType::RecordMarker,
            Queued::ChangeVersions { .. } => CommandType::UpsertWorkflowSearchAttributes,
            Queued::AcceptUpdate { .. } | Queued::CompleteUpdate { .. } => CommandType::ProtocolMessage,
            Queued::Terminal(Terminal::Complete(_)) => CommandType::CompleteWorkflowExecution,
            Queued::Terminal(Terminal::Fail(_)) => CommandType::FailWorkflowExecution,
            Queued::Terminal(Terminal::Cancel(_)) => CommandType::CancelWorkflowExecution,
            Queued::Terminal(Terminal::ContinueAsNew(_)) => CommandType::ContinueAsNewWorkflowExecution,
        }
    }

    /// The command as the server takes it. `own`: what the start event says of the run.
    pub fn to_api(&self, own: &Inherited) -> Command {
        let mut summary = None;
        let attributes = match self {
            Queued::StartTimer { seq, attributes } => {
                summary = attributes.summary.clone();
                Attributes::StartTimerCommandAttributes(StartTimerCommandAttributes {
                    timer_id: seq.to_string(),
                    start_to_fire_timeout: Some(duration(attributes.duration_ms)),
                })
            }
            Queued::CancelTimer { seq } => {
                Attributes::CancelTimerCommandAttributes(CancelTimerCommandAttributes { timer_id: seq.to_string() })
            }
            Queued::ScheduleActivity { seq, attributes } => {
                summary = attributes.summary.clone();
                Attributes::ScheduleActivityTaskCommandAttributes(schedule_activity(*seq, attributes, &own.task_queue))
            }
            Queued::CancelActivity { scheduled_event_id, .. } => {
                let scheduled_event_id = *scheduled_event_id;
                Attributes::RequestCancelActivityTaskCommandAttributes(RequestCancelActivityTaskCommandAttributes {
                    scheduled_event_id,
                })
            }
            Queued::Patch { id, deprecated } => marker(patch::MARKER, patch::details(id, *deprecated)),
            Queued::ChangeVersions { value } => {
                let indexed_fields = [(patch::CHANGE_VERSION.to_string(), value.clone())].into();
                Attributes::UpsertWorkflowSearchAttributesCommandAttributes(UpsertWorkflowSearchAttributesCommandAttributes {
                    search_attributes: Some(SearchAttributes { indexed_fields }),
                })
            }
            Queued::SideEffect { id, payload } => marker(side_effect::MARKER, side_effect::details(*id, payload)),
            Queued::AcceptUpdate { message_id, .. } | Queued::CompleteUpdate { message_id, .. } => {
                let message_id = message_id.clone();
                Attributes::ProtocolMessageCommandAttributes(ProtocolMessageCommandAttributes { message_id })
            }
            Queued::Terminal(t) => terminal_attributes(t, own),
        };
        Command {
            command_type: self.command_type() as i32,
            user_metadata: summary.map(|summary| UserMetadata { summary: Some(summary), details: None }),
            attributes: Some(attributes),
        }
    }
}

/// "StartTimer" for COMMAND_TYPE_START_TIMER: the way events are named.
pub fn type_name_of(command: CommandType) -> String {
    camel(command.as_str_name().trim_start_matches("COMMAND_TYPE_"))
}

fn schedule_activity(seq: u32, a: &ScheduleActivity, own_queue: &str) -> ScheduleActivityTaskCommandAttributes {
    let queue = if a.task_queue.is_empty() { own_queue } else { &a.task_queue };
    ScheduleActivityTaskCommandAttributes {
        activity_id: if a.activity_id.is_empty() { seq.to_string() } else { a.activity_id.clone() },
        activity_type: Some(ActivityType { name: a.activity_type.clone() }),
        task_queue: Some(TaskQueue { name: queue.into(), ..Default::default() }),
        header: (!a.headers.is_empty()).then(|| Header { fields: a.headers.clone() }),
        input: payloads(&a.arguments),
        schedule_to_close_timeout: optional_duration(a.schedule_to_close_timeout_ms),
        schedule_to_start_timeout: optional_duration(a.schedule_to_start_timeout_ms),
        start_to_close_timeout: optional_duration(a.start_to_close_timeout_ms),
        heartbeat_timeout: optional_duration(a.heartbeat_timeout_ms),
        retry_policy: a.retry_policy.as_ref().map(retry_policy),
        request_eager_execution: false,
        use_workflow_build_id: queue == own_queue,
    }
}

fn marker(name: &str, details: std::collections::BTreeMap<String, Payloads>) -> Attributes {
    Attributes::RecordMarkerCommandAttributes(RecordMarkerCommandAttributes {
        marker_name: name.into(),
        details,
        ..Default::default()
    })
}

fn terminal_attributes(t: &Terminal, own: &Inherited) -> Attributes {
    match t {
        Terminal::Complete(c) => {
            let result = one_payload(&c.result);
            Attributes::CompleteWorkflowExecutionCommandAttributes(CompleteWorkflowExecutionCommandAttributes { result })
        }
        Terminal::Fail(failure) => {
            let failure = Some(failure.as_ref().clone());
            Attributes::FailWorkflowExecutionCommandAttributes(FailWorkflowExecutionCommandAttributes { failure })
        }
        Terminal::Cancel(details) => {
            let details = details.clone();
            Attributes::CancelWorkflowExecutionCommandAttributes(CancelWorkflowExecutionCommandAttributes { details })
        }
        Terminal::ContinueAsNew(c) => {
            Attributes::ContinueAsNewWorkflowExecutionCommandAttributes(terminal::continue_as_new(c, own))
        }
    }
}
