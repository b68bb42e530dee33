//! Short texts of activations, commands and messages, so that a test reads like the case that it proves.
use prost::Message as _;
use temporalex_core::api::command::v1::{Command, command::Attributes};
use temporalex_core::api::enums::v1::CommandType;
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::protocol::v1::Message;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{Activation, EvictionReason, Job, resolve_activity};

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
        Variant::SignalWorkflow(s) => format!("Signal {}", s.signal_name),
        Variant::DoUpdate(u) => format!("Update {}", u.id),
        Variant::CancelWorkflow(_) => "Cancel".into(),
        Variant::QueryWorkflow(q) => format!("Query {}", q.query_id),
        Variant::RemoveFromCache(r) => {
            format!("Evict {}", EvictionReason::try_from(r.reason).map_or("?", |r| r.as_str_name()))
        }
    }
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

/// The failure of a resolution.
pub fn resolution_failure(job: &Job) -> Failure {
    match job.variant.as_ref() {
        Some(Variant::ResolveActivity(r)) => match r.result.as_ref() {
            Some(resolve_activity::Result::Failed(bytes) | resolve_activity::Result::Cancelled(bytes)) => {
                Failure::decode(bytes.as_slice()).expect("a failure")
            }
            other => panic!("no failure in {other:?}"),
        },
        other => panic!("no resolution: {other:?}"),
    }
}
