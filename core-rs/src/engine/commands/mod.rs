//! The commands of a completed workflow task. One file per kind: its message, its check, what it does. To add a kind is to add a file
//! and a line in `kinds!`.
//!
//! All commands and messages are checked against the run before anything is written, so that applying them cannot fail. What is
//! wrong becomes a failed workflow task with the server's cause, never half a transition.
mod cancel_activity;
mod cancel_external;
mod cancel_nexus;
mod cancel_timer;
mod cancel_workflow;
mod complete_workflow;
mod continue_as_new;
mod fail_workflow;
mod kind;
mod modify_properties;
pub mod plan;
mod protocol_message;
mod record_marker;
pub mod refusal;
pub mod schedule_activity;
mod schedule_nexus;
mod signal_external;
mod start_child;
mod start_timer;
pub mod update_message;
mod upsert_search_attributes;

use self::kind::{At, Kind};
use self::plan::{Plan, Reducers};
use self::refusal::{Reject, bad};
use self::update_message::{UpdateBody, UpdateMessage};
use super::context::Context;
use super::cron::{self, Waiting};
use super::event::Extras;
use super::message::message;
use super::messages::orders::{CancelExternal, SignalExternal, StartChild};
use super::messages::tasks::ProtocolMessage;
use super::rpc;
use super::state::request::Again;
use super::state::run::Run;
use crate::api::enums::v1::{CommandType, WorkflowTaskFailedCause as Cause};
use crate::boundary::TransactCall;

/// Type of command, its name here, its field in Temporal's Command, its attributes; ordered by field.
macro_rules! kinds {
    ($($kind:ident $name:ident $field:ident $attributes:ty,)*) => {
        message! {
            /// The oneof of Temporal's Command is a set of optional fields here; a command uses the one that its type names.
            Command: command::Command {
                command_type i32,
                $($name = $field msg($attributes),)*
                user_metadata meta, event_group_markers raws(ANY),
            }
        }

        fn check(command: &mut Command, kind: CommandType, is_last: bool, plan: &mut Plan) -> Result<(), Reject> {
            match kind {
                $(CommandType::$kind => check_kind(command.$name.as_mut(), stringify!($kind), kind, is_last, plan),)*
                _ => bad(Cause::FeatureDisabled, format!("command {} is not supported by this engine", kind.as_str_name())),
            }
        }

        fn apply_command(command: Command, run: &mut Run, cx: &mut Context, at: &At) -> bool {
            match CommandType::try_from(command.command_type).unwrap_or(CommandType::Unspecified) {
                $(CommandType::$kind => command.$name.is_some_and(|a| a.apply(run, cx, at)),)*
                // The plan lets nothing else through.
                _ => false,
            }
        }
    };
}

kinds! {
    ScheduleActivityTask schedule_activity schedule_activity_task_command_attributes schedule_activity::ScheduleActivity,
    StartTimer start_timer start_timer_command_attributes start_timer::StartTimer,
    CompleteWorkflowExecution complete complete_workflow_execution_command_attributes complete_workflow::Complete,
    FailWorkflowExecution fail fail_workflow_execution_command_attributes fail_workflow::Fail,
    RequestCancelActivityTask cancel_activity request_cancel_activity_task_command_attributes cancel_activity::CancelActivity,
    CancelTimer cancel_timer cancel_timer_command_attributes cancel_timer::CancelTimer,
    CancelWorkflowExecution cancel cancel_workflow_execution_command_attributes cancel_workflow::Cancel,
    RequestCancelExternalWorkflowExecution cancel_external
        request_cancel_external_workflow_execution_command_attributes CancelExternal,
    RecordMarker marker record_marker_command_attributes record_marker::Marker,
    ContinueAsNewWorkflowExecution continue_as_new
        continue_as_new_workflow_execution_command_attributes continue_as_new::ContinueAsNew,
    StartChildWorkflowExecution start_child start_child_workflow_execution_command_attributes StartChild,
    SignalExternalWorkflowExecution signal_external signal_external_workflow_execution_command_attributes SignalExternal,
    UpsertWorkflowSearchAttributes upsert_search_attributes
        upsert_workflow_search_attributes_command_attributes upsert_search_attributes::UpsertSearchAttributes,
    ProtocolMessage protocol_message protocol_message_command_attributes protocol_message::ProtocolMessageRef,
    ModifyWorkflowProperties modify_properties
        modify_workflow_properties_command_attributes modify_properties::ModifyProperties,
    ScheduleNexusOperation schedule_nexus schedule_nexus_operation_command_attributes schedule_nexus::ScheduleNexus,
    RequestCancelNexusOperation cancel_nexus
        request_cancel_nexus_operation_command_attributes cancel_nexus::CancelNexus,
}

fn check_kind<K: Kind>(
    attributes: Option<&mut K>,
    name: &str,
    kind: CommandType,
    is_last: bool,
    plan: &mut Plan,
) -> Result<(), Reject> {
    if K::CLOSES {
        check_end(kind, is_last, plan)?;
    }
    match attributes {
        Some(attributes) => attributes.check(plan),
        None => no_attributes(K::CAUSE, name),
    }
}

#[cold]
fn no_attributes(cause: Cause, name: &str) -> Result<(), Reject> {
    bad(cause, format!("{name}CommandAttributes is not set on {name}Command."))
}

fn check_end(kind: CommandType, is_last: bool, plan: &mut Plan) -> Result<(), Reject> {
    if !is_last {
        let text = format!("invalid command sequence: command {} must be the last command.", kind.as_str_name());
        return Err(Reject::Request(rpc::invalid(text)));
    }
    // No later task could end the run with the failure.
    if let Some(failure) = plan.required_failure.take() {
        return Err(Reject::Reducer(failure));
    }
    if plan.unhandled() > 0 { bad(Cause::UnhandledCommand, "") } else { Ok(()) }
}

/// One step of the completion, in the order in which events are written.
pub enum Step {
    Command(Box<Command>),
    Message(UpdateMessage),
}

/// What a completion comes to.
pub struct Planned {
    pub steps: Vec<Step>,
    /// Reducers that the host has to run before the steps can be applied.
    pub calls: Vec<TransactCall>,
    /// Workflow code waits for a reducer.
    pub awaited: bool,
}

/// Turns the lists of a completion into steps, or returns why not. `reducers`: what they came to, once the host has run them.
pub fn plan(
    run: &Run,
    cx: &Context,
    commands: Vec<Command>,
    messages: Vec<ProtocolMessage>,
    reducers: Reducers,
) -> Result<Planned, Reject> {
    let mut plan = Plan::new(run, cx, messages, reducers);
    let mut steps = Vec::with_capacity(commands.len());
    let last = commands.len();
    for (i, mut command) in commands.into_iter().enumerate() {
        let Ok(kind) = CommandType::try_from(command.command_type) else {
            return Err(Reject::Request(rpc::invalid(format!("Unknown command type: {}", command.command_type))));
        };
        check(&mut command, kind, i + 1 == last, &mut plan)?;
        let step = plan.decided.pop().map_or_else(|| Step::Command(Box::new(command)), Step::Message);
        // Each step writes one event at once, but for the rejection of an update.
        let is_rejection = matches!(&step, Step::Message(m) if matches!(m.body, UpdateBody::Reject(_)));
        plan.next_id += i64::from(!is_rejection);
        steps.push(step);
    }
    // Acceptances and responses that no command placed come after the commands; rejections are always here.
    for i in 0..plan.messages.len() {
        if let Some(message) = plan.messages[i].take() {
            protocol_message::check(&mut plan, message)?;
        }
    }
    steps.extend(plan.decided.into_iter().map(Step::Message));
    let calls = if let Reducers::Asking(calls) = plan.reducers { calls } else { Vec::new() };
    Ok(Planned { steps, calls, awaited: plan.awaited })
}

/// Whether the completion waits for the next time of a cron schedule: that of a child, or of a run that ends.
pub fn wait_for_cron(commands: &[Command], run: &Run, cx: &mut Context, request: &Again) -> bool {
    commands.iter().any(|command| {
        let (schedule, scheduled) = if command.complete.is_some() || command.fail.is_some() {
            cron::schedule_of(run).unwrap_or_default()
        } else {
            (command.start_child.as_ref().map(|c| c.cron_schedule.clone()).unwrap_or_default(), 0)
        };
        cx.waits_for_cron(&schedule, scheduled, || Waiting::Request(request.clone()))
    })
}

/// Returns whether the step by itself asks for another workflow task.
pub fn apply(run: &mut Run, cx: &mut Context, step: Step, completed_id: i64, identity: &str) -> bool {
    match step {
        Step::Message(m) => {
            protocol_message::apply(run, cx, m);
            false
        }
        Step::Command(mut c) => {
            let (user_metadata, markers) = (c.user_metadata.take(), std::mem::take(&mut c.event_group_markers));
            let extras = Extras { user_metadata, markers, links: Vec::new() };
            let at = At { time: run.time(cx.now), completed_id, identity, extras };
            apply_command(*c, run, cx, &at)
        }
    }
}
