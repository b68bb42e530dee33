//! The queue of commands that wait for their event
//! (docs/dev/semantics/commands.md#commands-are-matched-in-order).
//!
//! Workflow code's attributes are kept as they came and written in the server's form only with a completion, so that a replay,
//! which sends nothing, pays nothing. Entries leave the queue when the matching event is applied, never when sent.
use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::history::event::camel;
use crate::replay::convert::{write_retry_policy, write_wrapped};
use crate::replay::terminal::{Inherited, write_continue_as_new};
use crate::replay::{activity, cancel_external, child, marker, patch, properties, side_effect, signal, terminal, timer, update};
use crate::wire::{Message, Writer};

/// Fields of a Command that hold these attributes.
const CANCEL_EXTERNAL: u32 = 9;
const START_CHILD: u32 = 12;
const SIGNAL_EXTERNAL: u32 = 13;
const UPSERT: u32 = 14;
const MODIFY: u32 = 17;

/// One command that has been given and whose event has not been seen. Attributes are the boundary's message of the same name.
#[derive(Clone, Debug)]
pub enum Queued {
    StartTimer {
        seq: u32,
        attributes: Vec<u8>,
    },
    CancelTimer {
        seq: u32,
    },
    ScheduleActivity {
        seq: u32,
        attributes: Vec<u8>,
    },
    CancelActivity {
        seq: u32,
        scheduled_event_id: i64,
    },
    Patch {
        id: String,
        deprecated: bool,
    },
    /// The list of patches that Core keeps in the search attribute TemporalChangeVersion; a Payload.
    ChangeVersions {
        value: Vec<u8>,
    },
    SideEffect {
        id: u32,
        payload: Option<Vec<u8>>,
    },
    StartChild {
        seq: u32,
        attributes: Vec<u8>,
    },
    /// `request`: in the server's form, made when the child was known.
    CancelChild {
        seq: u32,
        request: Vec<u8>,
    },
    Signal {
        seq: u32,
        attributes: Vec<u8>,
    },
    CancelExternal {
        seq: u32,
        attributes: Vec<u8>,
    },
    UpsertSearchAttributes {
        change: Vec<u8>,
    },
    ModifyProperties {
        change: Vec<u8>,
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
    /// The result, a Payload.
    Complete(Option<Vec<u8>>),
    /// Failure.
    Fail(Vec<u8>),
    /// Payloads.
    Cancel(Option<Vec<u8>>),
    /// boundary.ContinueAsNew.
    ContinueAsNew(Vec<u8>),
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
            Queued::ChangeVersions { .. } | Queued::UpsertSearchAttributes { .. } => properties::UPSERT_NAME,
            Queued::ModifyProperties { .. } => properties::MODIFY_NAME,
            Queued::StartChild { .. } => child::NAME,
            Queued::Signal { .. } => signal::NAME,
            Queued::CancelChild { .. } | Queued::CancelExternal { .. } => cancel_external::NAME,
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
            Queued::StartChild { .. } => CommandKind::StartChildWorkflow,
            Queued::CancelChild { .. } => CommandKind::CancelChildWorkflow,
            Queued::Signal { .. } => CommandKind::SignalExternalWorkflow,
            Queued::CancelExternal { .. } => CommandKind::CancelExternalWorkflow,
            Queued::UpsertSearchAttributes { .. } => CommandKind::UpsertSearchAttributes,
            Queued::ModifyProperties { .. } => CommandKind::ModifyWorkflowProperties,
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
            | Queued::CancelActivity { seq, .. }
            | Queued::StartChild { seq, .. }
            | Queued::CancelChild { seq, .. }
            | Queued::Signal { seq, .. }
            | Queued::CancelExternal { seq, .. } => *seq,
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
            Queued::ChangeVersions { .. } | Queued::UpsertSearchAttributes { .. } => CommandType::UpsertWorkflowSearchAttributes,
            Queued::ModifyProperties { .. } => CommandType::ModifyWorkflowProperties,
            Queued::StartChild { .. } => CommandType::StartChildWorkflowExecution,
            Queued::CancelChild { .. } | Queued::CancelExternal { .. } => CommandType::RequestCancelExternalWorkflowExecution,
            Queued::Signal { .. } => CommandType::SignalExternalWorkflowExecution,
            Queued::AcceptUpdate { .. } | Queued::CompleteUpdate { .. } => CommandType::ProtocolMessage,
            Queued::Terminal(Terminal::Complete(_)) => CommandType::CompleteWorkflowExecution,
            Queued::Terminal(Terminal::Fail(_)) => CommandType::FailWorkflowExecution,
            Queued::Terminal(Terminal::Cancel(_)) => CommandType::CancelWorkflowExecution,
            Queued::Terminal(Terminal::ContinueAsNew(_)) => CommandType::ContinueAsNewWorkflowExecution,
        }
    }

    /// The command as the server takes it. `own`: what the start event says of the run.
    pub fn write(&self, w: &mut Writer, own: &Inherited) {
        w.int(1, self.command_type() as i64);
        match self {
            Queued::StartTimer { seq, attributes } => {
                let a = Message(attributes);
                w.nested(3, |w| {
                    w.text(1, &seq.to_string()).duration_ms(2, a.double(1));
                });
                write_metadata(w, a.bytes(2), None);
            }
            Queued::CancelTimer { seq } => {
                w.named(7, &seq.to_string());
            }
            Queued::ScheduleActivity { seq, attributes } => {
                let a = Message(attributes);
                w.nested(2, |w| write_schedule_activity(w, *seq, a, &own.task_queue));
                write_metadata(w, a.bytes(12), None);
            }
            Queued::CancelActivity { scheduled_event_id, .. } => {
                w.nested(6, |w| {
                    w.int(1, *scheduled_event_id);
                });
            }
            Queued::Patch { id, deprecated } => {
                write_marker(w, patch::MARKER, |w| patch::write_details(w, marker::DETAILS, id, *deprecated));
            }
            Queued::ChangeVersions { value } => {
                w.nested(UPSERT, |w| {
                    w.nested(1, |w| {
                        w.nested(1, |w| {
                            w.text(1, patch::CHANGE_VERSION).message(2, value);
                        });
                    });
                });
            }
            Queued::SideEffect { id, payload } => write_marker(w, side_effect::MARKER, |w| {
                side_effect::write_details(w, marker::DETAILS, *id, payload.as_deref());
            }),
            Queued::StartChild { attributes, .. } => {
                let a = Message(attributes);
                w.nested(START_CHILD, |w| child::write_start(w, a, own));
                write_metadata(w, a.bytes(18), a.bytes(19));
            }
            Queued::CancelChild { request, .. } => {
                w.message(CANCEL_EXTERNAL, request);
            }
            Queued::CancelExternal { attributes, .. } => {
                w.nested(CANCEL_EXTERNAL, |w| cancel_external::write(w, Message(attributes), own));
            }
            Queued::Signal { attributes, .. } => {
                w.nested(SIGNAL_EXTERNAL, |w| signal::write(w, Message(attributes), own));
            }
            Queued::UpsertSearchAttributes { change } => {
                w.nested(UPSERT, |w| {
                    w.message(1, change);
                });
            }
            Queued::ModifyProperties { change } => {
                w.nested(MODIFY, |w| {
                    w.message(1, change);
                });
            }
            Queued::AcceptUpdate { message_id, .. } | Queued::CompleteUpdate { message_id, .. } => {
                w.named(15, message_id);
            }
            Queued::Terminal(t) => write_terminal(w, t, own),
        }
    }
}

/// "StartTimer" for COMMAND_TYPE_START_TIMER: the way events are named.
pub fn type_name_of(command: CommandType) -> String {
    camel(command.as_str_name().trim_start_matches("COMMAND_TYPE_"))
}

/// UserMetadata of a command: what user interfaces show of it.
fn write_metadata(w: &mut Writer, summary: Option<&[u8]>, details: Option<&[u8]>) {
    if summary.is_some() || details.is_some() {
        w.nested(301, |w| {
            w.optional(1, summary).optional(2, details);
        });
    }
}

/// ScheduleActivityTaskCommandAttributes of a boundary.ScheduleActivity.
fn write_schedule_activity(w: &mut Writer, seq: u32, a: Message, own_queue: &str) {
    let (id, queue) = (a.text(1), a.text(3));
    let queue = if queue.is_empty() { own_queue } else { queue };
    if id.is_empty() {
        w.text(1, &seq.to_string());
    } else {
        w.text(1, id);
    }
    w.named(2, a.text(2)).named(4, queue);
    write_wrapped(w, 5, a.all(4));
    write_wrapped(w, 6, a.all(5));
    for (to, from) in [(7, 6), (8, 7), (9, 8), (10, 9)] {
        w.duration_ms(to, a.double(from));
    }
    if let Some(policy) = a.get(10) {
        write_retry_policy(w, 11, policy);
    }
    // use_workflow_build_id: on the run's own queue the activity stays with its version.
    w.flag(13, queue == own_queue);
}

fn write_marker(w: &mut Writer, name: &str, details: impl FnOnce(&mut Writer)) {
    w.nested(10, |w| {
        w.text(marker::NAME, name);
        details(w);
    });
}

fn write_terminal(w: &mut Writer, t: &Terminal, own: &Inherited) {
    match t {
        Terminal::Complete(result) => w.nested(4, |w| write_wrapped(w, 1, result.iter().map(Vec::as_slice))),
        Terminal::Fail(failure) => w.nested(5, |w| {
            w.message(1, failure);
        }),
        Terminal::Cancel(details) => w.nested(8, |w| {
            w.optional(1, details.as_deref());
        }),
        Terminal::ContinueAsNew(c) => w.nested(11, |w| write_continue_as_new(w, Message(c), own)),
    };
}
