//! Short texts of activations, commands and messages, so that a test reads like the case that it proves.
use prost::Message as _;
use temporalex_core::api::command::v1::{Command, command::Attributes};
use temporalex_core::api::enums::v1::CommandType;
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::protocol::v1::Message;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{
    Activation, CoreError, ErrorKind, EvictionReason, Job, resolve_activity, resolve_child_workflow,
    resolve_child_workflow_start, resolve_nexus_operation, resolve_nexus_operation_start, resolve_transact,
};

/// "{Init} {Signal a, Fire 1}"
pub fn activations(list: &[Activation]) -> String {
    list.iter().map(activation).collect::<Vec<_>>().join(" ")
}

pub fn activation(a: &Activation) -> String {
    format!("{{{}}}", a.jobs.iter().map(job).collect::<Vec<_>>().join(", "))
}

pub fn job(job: &Job) -> String {
    match job.variant.as_ref().expect("a job says what it is") {
        Variant::InitializeWorkflow(_) => "Init".into(),
        Variant::NotifyHasPatch(p) => format!("Patch {}", p.patch_id),
        Variant::SideEffectValue(v) => format!("SideEffect {}", v.id),
        Variant::UpdateRandomSeed(_) => "Seed".into(),
        Variant::FireTimer(t) => format!("Fire {}", t.seq),
        Variant::ResolveActivity(r) => {
            let how = match r.result.as_ref().expect("a resolution has a result") {
                resolve_activity::Result::Completed(_) => "ok",
                resolve_activity::Result::Failed(_) => "failed",
                resolve_activity::Result::Cancelled(_) => "cancelled",
                resolve_activity::Result::Backoff(_) => "backoff",
            };
            format!("{} {} {how}", if r.is_local { "ResolveLocal" } else { "Resolve" }, r.seq)
        }
        Variant::ResolveChildWorkflowStart(r) => {
            use resolve_child_workflow_start::Status;
            let how = match r.status.as_ref().expect("the response to a start has a status") {
                Status::Started(_) => "ok",
                Status::Failed(_) => "failed",
                Status::Cancelled(_) => "cancelled",
            };
            format!("ChildStart {} {how}", r.seq)
        }
        Variant::ResolveChildWorkflow(r) => {
            use resolve_child_workflow::Result;
            let how = match r.result.as_ref().expect("a resolution has a result") {
                Result::Completed(_) => "ok",
                Result::Failed(_) => "failed",
                Result::Cancelled(_) => "cancelled",
            };
            format!("Child {} {how}", r.seq)
        }
        Variant::ResolveNexusOperationStart(r) => {
            use resolve_nexus_operation_start::Status;
            let how = match r.status.as_ref().expect("the response to a start has a status") {
                Status::OperationToken(token) => token,
                Status::StartedSync(_) => "sync",
                Status::Failed(_) => "failed",
            };
            format!("NexusStart {} {how}", r.seq)
        }
        Variant::ResolveNexusOperation(r) => {
            use resolve_nexus_operation::Result;
            let how = match r.result.as_ref().expect("a resolution has a result") {
                Result::Completed(_) => "ok",
                Result::Failed(_) => "failed",
                Result::Cancelled(_) => "cancelled",
            };
            format!("Nexus {} {how}", r.seq)
        }
        Variant::ResolveSignalExternalWorkflow(r) => format!("Signaled {} {}", r.seq, delivered(&r.failure)),
        Variant::ResolveCancelExternalWorkflow(r) => format!("CancelAsked {} {}", r.seq, delivered(&r.failure)),
        Variant::ResolveTransact(r) => {
            let how = match r.result.as_ref().expect("a result") {
                resolve_transact::Result::Completed(_) => "completed",
                resolve_transact::Result::Failed(_) => "failed",
            };
            format!("Transact {} {how}", r.seq)
        }
        Variant::SignalWorkflow(s) => format!("Signal {}", s.signal_name),
        Variant::DoUpdate(u) => format!("Update {}", u.id),
        Variant::CancelWorkflow(_) => "Cancel".into(),
        Variant::QueryWorkflow(q) => format!("Query {}", q.query_id),
        Variant::RemoveFromCache(r) => {
            format!("Evict {}", EvictionReason::try_from(r.reason).map_or("?", |r| r.as_str_name()))
        }
    }
}

fn delivered(failure: &[u8]) -> &'static str {
    if failure.is_empty() { "ok" } else { "failed" }
}

/// "StartTimer 1, CompleteWorkflowExecution"
pub fn commands(list: &[Command]) -> String {
    list.iter().map(command).collect::<Vec<_>>().join(", ")
}

pub fn command(command: &Command) -> String {
    let kind = CommandType::try_from(command.command_type).expect("a known command");
    let camel: String = kind
        .as_str_name()
        .trim_start_matches("COMMAND_TYPE_")
        .split('_')
        .map(|word| format!("{}{}", &word[..1], word[1..].to_lowercase()))
        .collect();
    let detail = match command.attributes.as_ref().expect("a command has attributes") {
        Attributes::StartTimerCommandAttributes(a) => a.timer_id.clone(),
        Attributes::CancelTimerCommandAttributes(a) => a.timer_id.clone(),
        Attributes::ScheduleActivityTaskCommandAttributes(a) => a.activity_id.clone(),
        Attributes::RequestCancelActivityTaskCommandAttributes(a) => a.scheduled_event_id.to_string(),
        Attributes::StartChildWorkflowExecutionCommandAttributes(a) => a.workflow_id.clone(),
        Attributes::RequestCancelExternalWorkflowExecutionCommandAttributes(a) => a.workflow_id.clone(),
        Attributes::SignalExternalWorkflowExecutionCommandAttributes(a) => {
            a.execution.as_ref().map(|e| e.workflow_id.clone()).unwrap_or_default()
        }
        Attributes::ScheduleNexusOperationCommandAttributes(a) => a.operation.clone(),
        Attributes::RequestCancelNexusOperationCommandAttributes(a) => a.scheduled_event_id.to_string(),
        Attributes::RecordMarkerCommandAttributes(a) => a.marker_name.clone(),
        Attributes::ProtocolMessageCommandAttributes(a) => a.message_id.clone(),
        _ => String::new(),
    };
    format!("{camel} {detail}").trim_end().to_string()
}

/// "u/request/accept, u/request/complete"
pub fn messages(list: &[Message]) -> String {
    list.iter().map(|m| m.id.clone()).collect::<Vec<_>>().join(", ")
}

/// Decodes the body of a protocol message and checks its type.
pub fn body<M: prost::Message + Default>(message: &Message, name: &str) -> M {
    let any = message.body.as_ref().expect("a message has a body");
    assert_eq!(any.type_url, format!("type.googleapis.com/temporal.api.update.v1.{name}"));
    M::decode(any.value.as_slice()).expect("the body decodes")
}

fn decode(failure: &[u8]) -> Failure {
    assert!(!failure.is_empty(), "no failure");
    Failure::decode(failure).expect("a failure")
}

/// The failure of a resolution.
pub fn resolution_failure(job: &Job) -> Failure {
    match job.variant.as_ref() {
        Some(Variant::ResolveActivity(r)) => match r.result.as_ref() {
            Some(resolve_activity::Result::Failed(bytes) | resolve_activity::Result::Cancelled(bytes)) => decode(bytes),
            other => panic!("no failure in {other:?}"),
        },
        Some(Variant::ResolveChildWorkflowStart(r)) => match r.status.as_ref() {
            Some(resolve_child_workflow_start::Status::Cancelled(bytes)) => decode(bytes),
            other => panic!("no failure in {other:?}"),
        },
        Some(Variant::ResolveChildWorkflow(r)) => match r.result.as_ref() {
            Some(resolve_child_workflow::Result::Failed(bytes) | resolve_child_workflow::Result::Cancelled(bytes)) => {
                decode(bytes)
            }
            other => panic!("no failure in {other:?}"),
        },
        Some(Variant::ResolveNexusOperationStart(r)) => match r.status.as_ref() {
            Some(resolve_nexus_operation_start::Status::Failed(bytes)) => decode(bytes),
            other => panic!("no failure in {other:?}"),
        },
        Some(Variant::ResolveNexusOperation(r)) => match r.result.as_ref() {
            Some(resolve_nexus_operation::Result::Failed(bytes) | resolve_nexus_operation::Result::Cancelled(bytes)) => {
                decode(bytes)
            }
            other => panic!("no failure in {other:?}"),
        },
        Some(Variant::ResolveSignalExternalWorkflow(r)) => decode(&r.failure),
        Some(Variant::ResolveCancelExternalWorkflow(r)) => decode(&r.failure),
        other => panic!("no resolution: {other:?}"),
    }
}

/// The message without Core's introduction to its kind.
pub fn said(e: &CoreError) -> &str {
    let introduction = match e.kind() {
        ErrorKind::Nondeterminism => "[TMPRL1100] Nondeterminism error: ",
        ErrorKind::Fatal => "Fatal error in workflow machines: ",
        _ => "",
    };
    e.message.strip_prefix(introduction).unwrap_or_else(|| panic!("{}", e.message))
}
