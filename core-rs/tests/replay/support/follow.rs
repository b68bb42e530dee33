//! A program made from a history: in each workflow task it gives the commands that the history holds for that task.
//!
//! It replaces the real program of a real history. Activities and children wait for their cancellation, so that no
//! resolution arises that the history does not contain; local activities are all started at the beginning, since history
//! only records their ends.
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use temporalex_core::api::common::v1::Payload;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::{
    HistoryEvent, MarkerRecordedEventAttributes, NexusOperationScheduledEventAttributes,
    RequestCancelExternalWorkflowExecutionInitiatedEventAttributes, SignalExternalWorkflowExecutionInitiatedEventAttributes,
};
use temporalex_core::api::update::v1::outcome;
use temporalex_core::boundary::*;

use super::history::failure;
use super::lang::{Calls, Cmd, Lang, Reply, activity, la_named};
use super::slim::{is_command_event, type_name};

/// How the ids of children begin that are resolved when their cancellation is requested.
pub const TRY_CANCEL: &str = "try:";

/// What a history asks of a program that follows it.
#[derive(Clone, Default)]
pub struct Plan {
    /// Commands by the started event of their task.
    commands: BTreeMap<u32, VecDeque<Step>>,
    /// (activity id, type) by seq - 1.
    local_activities: Vec<(String, String)>,
    /// The history has updates whose requests it does not hold, so that they cannot be delivered live.
    pub has_lost_requests: bool,
}

#[derive(Clone)]
enum Step {
    Timer,
    CancelTimer(u32),
    Activity(String, String),
    CancelActivity(u32),
    Child(String, String),
    CancelChild(u32),
    Nexus(String, String, String),
    CancelNexus(u32),
    Signal(Box<SignalExternalWorkflow>),
    CancelExternal(String, String),
    Upsert(BTreeMap<String, Payload>),
    Memo(BTreeMap<String, Payload>),
    Patch(String, bool),
    SideEffect(u32, Payload),
    /// The commands after the marker were issued after the result was known.
    AwaitLocal(u32),
    Accept(String),
    Done(String, Box<Option<outcome::Value>>),
    Complete,
    Fail,
    Cancel,
    ContinueAsNew,
}

/// Text of a field in the JSON of a marker; enough for the flat objects that SDKs write.
fn json_field(data: &[u8], key: &str) -> Option<String> {
    let text = std::str::from_utf8(data).ok()?;
    let rest = &text[text.find(&format!("\"{key}\""))? + key.len() + 2..];
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    Some(match rest.strip_prefix('"') {
        Some(string) => string[..string.find('"')?].to_string(),
        None => rest[..rest.find([',', '}'])?].trim().to_string(),
    })
}

fn detail<'a>(marker: &'a MarkerRecordedEventAttributes, key: &str) -> Option<&'a Payload> {
    marker.details.get(key)?.payloads.first()
}

/// `children`: by workflow id, the initiated event and the seq of the latest; `begun_here`: events of the same task.
fn cancel(
    a: &RequestCancelExternalWorkflowExecutionInitiatedEventAttributes,
    children: &BTreeMap<String, (i64, u32)>,
    begun_here: &BTreeSet<i64>,
) -> Result<Step, String> {
    let target = a.workflow_execution.clone().unwrap_or_default();
    match children.get(&target.workflow_id).filter(|_| a.child_workflow_only) {
        Some((initiated, _)) if begun_here.contains(initiated) => Err("a child started and cancelled in one task".into()),
        Some((_, seq)) => Ok(Step::CancelChild(*seq)),
        None => Ok(Step::CancelExternal(target.workflow_id, target.run_id)),
    }
}

fn signal(a: &SignalExternalWorkflowExecutionInitiatedEventAttributes) -> Step {
    let target = a.workflow_execution.clone().unwrap_or_default();
    Step::Signal(Box::new(SignalExternalWorkflow {
        workflow_id: target.workflow_id,
        run_id: target.run_id,
        child_workflow_only: a.child_workflow_only,
        signal_name: a.signal_name.clone(),
        ..Default::default()
    }))
}

/// The command that recorded a marker.
fn marker(a: &MarkerRecordedEventAttributes, plan: &mut Plan) -> Result<Step, String> {
    Ok(match a.marker_name.as_str() {
        "core_patch" => {
            let (patch_id, deprecated) = match detail(a, "patch-data") {
                Some(data) => (json_field(&data.data, "id"), json_field(&data.data, "deprecated")),
                None => {
                    let text = |key: &str| detail(a, key).map(|p| String::from_utf8_lossy(&p.data).to_string());
                    (text("patch_id"), text("deprecated").map(|t| (t != "\0").to_string()))
                }
            };
            Step::Patch(patch_id.ok_or("a patch without id")?, deprecated.as_deref() == Some("true"))
        }
        "SideEffect" => {
            let seq = detail(a, "side-effect-id").and_then(|p| std::str::from_utf8(&p.data).ok()?.parse().ok());
            let (Some(seq), Some(data)) = (seq, detail(a, "data")) else { return Err("a side effect without id".into()) };
            Step::SideEffect(seq, data.clone())
        }
        "core_local_activity" => {
            let data = &detail(a, "data").ok_or("a local activity without data")?.data;
            let field = |key: &str| json_field(data, key).ok_or(format!("a local activity without {key}"));
            let seq: usize = field("seq")?.parse().map_err(|_| "a local activity without seq")?;
            let all = &mut plan.local_activities;
            all.resize_with(all.len().max(seq), || ("never resolved".into(), "la".into()));
            all[seq - 1] = (field("activity_id")?, field("activity_type")?);
            Step::AwaitLocal(seq as u32)
        }
        other => return Err(format!("marker {other}")),
    })
}

/// `operations`: by scheduled event, the seqs.
fn nexus(a: &NexusOperationScheduledEventAttributes, id: i64, operations: &mut BTreeMap<i64, u32>) -> Step {
    operations.insert(id, operations.len() as u32 + 1);
    Step::Nexus(a.endpoint.clone(), a.service.clone(), a.operation.clone())
}

/// The plan of a history and the history itself with timers numbered as the core numbers them; or what cannot be followed.
pub fn plan(events: &[HistoryEvent]) -> Result<(Plan, Vec<HistoryEvent>), String> {
    let mut events = events.to_vec();
    let mut plan = Plan::default();
    let (mut started, mut timers, mut activities) = (0, BTreeMap::new(), BTreeMap::new());
    let mut operations = BTreeMap::new();
    let mut admitted = BTreeSet::new();
    let mut after_patch = false;
    let mut begun_here = BTreeSet::new();
    // By workflow id: the latest child of that id, its initiated event and its seq.
    let mut children: BTreeMap<String, (i64, u32)> = BTreeMap::new();
    let mut started_children = 0;
    for event in &mut events {
        let id = event.event_id;
        let (unsupported, was_after_patch) = (type_name(event), std::mem::take(&mut after_patch));
        let is_command = is_command_event(event);
        let Some(attributes) = event.attributes.as_mut() else { return Err("an event without attributes".into()) };
        use Attributes::*;
        let step = match attributes {
            WorkflowTaskCompletedEventAttributes(a) => {
                started = a.started_event_id;
                begun_here.clear();
                continue;
            }
            TimerStartedEventAttributes(a) => {
                let seq = timers.len() as u32 + 1;
                timers.insert(id, seq);
                begun_here.insert(id);
                a.timer_id = seq.to_string();
                Step::Timer
            }
            TimerFiredEventAttributes(a) => {
                a.timer_id = timers.get(&a.started_event_id).ok_or("a timer fired that never started")?.to_string();
                continue;
            }
            // Other SDKs write both; Core takes a command back that was not sent yet.
            TimerCanceledEventAttributes(a) if begun_here.contains(&a.started_event_id) => {
                return Err("a timer started and cancelled in one task".into());
            }
            ActivityTaskCancelRequestedEventAttributes(a) if begun_here.contains(&a.scheduled_event_id) => {
                return Err("an activity scheduled and cancelled in one task".into());
            }
            TimerCanceledEventAttributes(a) => {
                Step::CancelTimer(*timers.get(&a.started_event_id).ok_or("a timer was cancelled that never started")?)
            }
            ActivityTaskScheduledEventAttributes(a) => {
                activities.insert(id, activities.len() as u32 + 1);
                begun_here.insert(id);
                Step::Activity(a.activity_id.clone(), a.activity_type.clone().unwrap_or_default().name)
            }
            ActivityTaskCancelRequestedEventAttributes(a) => {
                Step::CancelActivity(*activities.get(&a.scheduled_event_id).ok_or("a cancel of no activity")?)
            }
            NexusOperationScheduledEventAttributes(a) => nexus(a, id, &mut operations),
            NexusOperationCancelRequestedEventAttributes(a) => {
                Step::CancelNexus(*operations.get(&a.scheduled_event_id).ok_or("a cancel of no operation")?)
            }
            StartChildWorkflowExecutionInitiatedEventAttributes(a) => {
                started_children += 1;
                children.insert(a.workflow_id.clone(), (id, started_children));
                begun_here.insert(id);
                Step::Child(a.workflow_id.clone(), a.workflow_type.clone().unwrap_or_default().name)
            }
            RequestCancelExternalWorkflowExecutionInitiatedEventAttributes(a) => cancel(a, &children, &begun_here)?,
            SignalExternalWorkflowExecutionInitiatedEventAttributes(a) => signal(a),
            WorkflowPropertiesModifiedEventAttributes(a) => Step::Memo(a.upserted_memo.clone().unwrap_or_default().fields),
            MarkerRecordedEventAttributes(a) => {
                after_patch = a.marker_name == "core_patch";
                marker(a, &mut plan)?
            }
            UpsertWorkflowSearchAttributesEventAttributes(_) if was_after_patch => continue,
            UpsertWorkflowSearchAttributesEventAttributes(a) => {
                Step::Upsert(a.search_attributes.clone().unwrap_or_default().indexed_fields)
            }
            WorkflowExecutionUpdateAdmittedEventAttributes(a) => {
                let meta = a.request.as_ref().and_then(|r| r.meta.as_ref());
                admitted.insert(meta.map(|m| m.update_id.clone()).unwrap_or_default());
                continue;
            }
            WorkflowExecutionUpdateAcceptedEventAttributes(a) => {
                plan.has_lost_requests |= a.accepted_request.is_none() && !admitted.contains(&a.protocol_instance_id);
                Step::Accept(a.protocol_instance_id.clone())
            }
            WorkflowExecutionUpdateCompletedEventAttributes(a) => {
                let update_id = a.meta.as_ref().map(|m| m.update_id.clone()).unwrap_or_default();
                Step::Done(update_id, Box::new(a.outcome.as_ref().and_then(|o| o.value.clone())))
            }
            WorkflowExecutionCompletedEventAttributes(_) => Step::Complete,
            WorkflowExecutionFailedEventAttributes(_) => Step::Fail,
            WorkflowExecutionCanceledEventAttributes(_) => Step::Cancel,
            WorkflowExecutionContinuedAsNewEventAttributes(_) => Step::ContinueAsNew,
            _ if is_command => return Err(unsupported),
            _ => continue,
        };
        plan.commands.entry(started as u32).or_default().push_back(step);
    }
    if plan.has_lost_requests {
        return Err("an accepted update without its request".into());
    }
    Ok((plan, events))
}

impl Plan {
    pub fn has_local_activities(&self) -> bool {
        !self.local_activities.is_empty()
    }

    pub fn lang(&self) -> Follower {
        let next = self.commands.clone();
        Follower { plan: self.clone(), next, requested: BTreeSet::new(), resolved: BTreeSet::new(), begun: false }
    }
}

#[derive(Clone)]
pub struct Follower {
    plan: Plan,
    next: BTreeMap<u32, VecDeque<Step>>,
    requested: BTreeSet<String>,
    resolved: BTreeSet<u32>,
    begun: bool,
}

impl Lang for Follower {
    fn activate(&mut self, activation: &Activation, calls: &mut Calls) -> Reply {
        if !std::mem::replace(&mut self.begun, true) {
            for (id, kind) in &self.plan.local_activities {
                calls.give(&la_named(id, kind));
            }
        }
        for job in &activation.jobs {
            match job.variant.as_ref() {
                Some(job::Variant::DoUpdate(update)) => {
                    self.requested.insert(update.protocol_instance_id.clone());
                }
                Some(job::Variant::ResolveActivity(r)) if r.is_local => {
                    self.resolved.insert(r.seq);
                }
                _ => {}
            }
        }
        let Some(steps) = self.next.get_mut(&activation.started_event_id) else { return Reply::Finish };
        while let Some(step) = steps.front() {
            // In the open task at the end of a cut history the requests that it accepted later have not come.
            let come = match step {
                Step::AwaitLocal(seq) if !self.resolved.contains(seq) => return Reply::Finish,
                Step::Accept(id) | Step::Done(id, _) => self.requested.contains(id),
                Step::AwaitLocal(_) => false,
                _ => true,
            };
            if come {
                give(step.clone(), calls);
            }
            steps.pop_front();
        }
        Reply::Finish
    }
}

/// Which of both types that send a request a child had does not stand in history; random ones tell by their name.
fn cancellation_of(child: &str) -> ChildWorkflowCancellationType {
    match child.starts_with(TRY_CANCEL) {
        true => ChildWorkflowCancellationType::TryCancel,
        false => ChildWorkflowCancellationType::WaitCancellationCompleted,
    }
}

fn give(step: Step, calls: &mut Calls) {
    let update = |protocol_instance_id, response| UpdateResponse { protocol_instance_id, response: Some(response) };
    match step {
        Step::Timer => calls.give(&Cmd::Timer(1.0)),
        Step::CancelTimer(seq) => calls.give(&Cmd::CancelTimer(seq)),
        Step::Activity(id, kind) => {
            let waits = ActivityCancellationType::WaitCancellationCompleted;
            calls.give(&Cmd::Act(activity(&id, &kind, waits)))
        }
        Step::CancelActivity(seq) => calls.give(&Cmd::CancelAct(seq)),
        Step::Child(id, workflow_type) => calls.give(&Cmd::Child(StartChildWorkflow {
            workflow_id: id.clone(),
            workflow_type,
            cancellation_type: cancellation_of(&id) as i32,
            ..Default::default()
        })),
        Step::CancelChild(seq) => calls.give(&Cmd::CancelChild(seq, "as recorded")),
        Step::Nexus(endpoint, service, operation) => {
            calls.give(&Cmd::Nexus(ScheduleNexusOperation { endpoint, service, operation, ..Default::default() }))
        }
        Step::CancelNexus(seq) => calls.give(&Cmd::CancelNexus(seq)),
        Step::Signal(attributes) => calls.give(&Cmd::SignalExternal(*attributes)),
        Step::CancelExternal(workflow_id, run_id) => {
            calls.give(&Cmd::CancelExternal(CancelExternalWorkflow { workflow_id, run_id, ..Default::default() }))
        }
        Step::Upsert(search_attributes) => calls.give(&Cmd::Upsert(UpsertSearchAttributes { search_attributes })),
        Step::Memo(memo) => calls.give(&Cmd::Memo(ModifyWorkflowProperties { memo })),
        Step::Patch(patch_id, deprecated) => calls.raw(CommandKind::SetPatchMarker, &SetPatchMarker { patch_id, deprecated }),
        Step::SideEffect(id, value) => calls.give(&Cmd::SideEffect(id, value)),
        Step::Accept(id) => calls.raw(CommandKind::UpdateResponse, &update(id, update_response::Response::Accepted(Nothing {}))),
        Step::Done(id, value) => {
            use prost::Message as _;
            let response = match *value {
                Some(outcome::Value::Failure(why)) => update_response::Response::Rejected(why.encode_to_vec()),
                Some(outcome::Value::Success(result)) => {
                    update_response::Response::Completed(result.payloads.into_iter().next().unwrap_or_default())
                }
                None => update_response::Response::Completed(Payload::default()),
            };
            calls.raw(CommandKind::UpdateResponse, &update(id, response))
        }
        Step::AwaitLocal(_) => 0,
        Step::Complete => calls.give(&Cmd::Complete),
        Step::Fail => calls.give(&Cmd::Fail(failure("as recorded"))),
        Step::Cancel => calls.give(&Cmd::CancelWorkflow),
        Step::ContinueAsNew => calls.give(&Cmd::ContinueAsNew(Default::default())),
    };
}
