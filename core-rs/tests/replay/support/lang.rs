//! The other side of the boundary: programs that answer activations with commands.
use prost::Message;
use temporalex_core::api::common::v1::Payload;
use temporalex_core::api::enums::v1::WorkflowTaskFailedCause;
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::*;
use temporalex_core::error::Result;
use temporalex_core::replay::Run;

use super::history::{failure, json};

/// A program. One value lives as long as one cached run; a run that starts over gets a new one.
pub trait Lang {
    /// Completes one activation that is not a query.
    fn activate(&mut self, activation: &Activation, calls: &mut Calls) -> Reply;

    /// Completes one query.
    fn query(&mut self, query: &QueryWorkflow) -> query_result::Result {
        query_result::Result::Succeeded(json(&format!("\"{} value\"", query.query_type)))
    }
}

impl<F: FnMut(&Activation, &mut Calls) -> Reply> Lang for F {
    fn activate(&mut self, activation: &Activation, calls: &mut Calls) -> Reply {
        self(activation, calls)
    }
}

/// How an activation ends.
pub enum Reply {
    Finish,
    FailTask(Box<Failure>, WorkflowTaskFailedCause),
}

/// The calls into the core that workflow code may make. An error of a call is kept, and is the result of the activation.
pub struct Calls<'a> {
    run: &'a mut Run,
    pub error: Option<Box<CoreError>>,
}

impl<'a> Calls<'a> {
    pub fn new(run: &'a mut Run) -> Calls<'a> {
        Calls { run, error: None }
    }

    fn keep<T: Default>(&mut self, result: Result<T>) -> T {
        result.unwrap_or_else(|e| {
            self.error.get_or_insert(e);
            T::default()
        })
    }

    pub fn raw(&mut self, kind: CommandKind, attributes: &impl Message) -> u32 {
        let result = self.run.command(kind, &attributes.encode_to_vec());
        self.keep(result)
    }

    pub fn cancel(&mut self, kind: CommandKind, seq: u32) {
        let result = self.run.cancel(kind, seq);
        self.keep(result);
    }

    pub fn random(&mut self) -> f64 {
        self.run.random()
    }

    pub fn give(&mut self, command: &Cmd) -> u32 {
        use CommandKind::*;
        match command {
            Cmd::Timer(duration_ms) => self.raw(StartTimer, &super::boundary_timer(*duration_ms)),
            Cmd::CancelTimer(seq) => {
                self.cancel(StartTimer, *seq);
                *seq
            }
            Cmd::Act(attributes) => self.raw(ScheduleActivity, attributes),
            Cmd::CancelAct(seq) => {
                self.cancel(ScheduleActivity, *seq);
                *seq
            }
            Cmd::La(attributes) => self.raw(ScheduleLocalActivity, attributes),
            Cmd::CancelLa(seq) => {
                self.cancel(ScheduleLocalActivity, *seq);
                *seq
            }
            Cmd::Patch(patch_id, deprecated) => self.raw(SetPatchMarker, &super::boundary_patch(patch_id, *deprecated)),
            Cmd::SideEffect(id, payload) => self.raw(RecordSideEffect, &super::boundary_side_effect(*id, payload)),
            Cmd::Transact(reducer, awaited) => {
                let seq = self.raw(Transact, &super::boundary_transact(reducer));
                if *awaited {
                    self.raw(AwaitTransact, &super::boundary_await_transact(seq));
                }
                seq
            }
            Cmd::Child(attributes) => self.raw(StartChildWorkflow, attributes),
            Cmd::CancelChild(seq, reason) => self.raw(CancelChildWorkflow, &super::boundary_cancel_child(*seq, reason)),
            Cmd::Nexus(attributes) => self.raw(ScheduleNexusOperation, attributes),
            Cmd::CancelNexus(seq) => {
                self.cancel(ScheduleNexusOperation, *seq);
                *seq
            }
            Cmd::SignalExternal(attributes) => self.raw(SignalExternalWorkflow, attributes),
            Cmd::CancelSignal(seq) => self.raw(CancelSignalWorkflow, &super::boundary_cancel_signal(*seq)),
            Cmd::CancelExternal(attributes) => self.raw(CancelExternalWorkflow, attributes),
            Cmd::Upsert(attributes) => self.raw(UpsertSearchAttributes, attributes),
            Cmd::Memo(attributes) => self.raw(ModifyWorkflowProperties, attributes),
            Cmd::Accept(id) => self.update(id, update_response::Response::Accepted(Nothing {})),
            Cmd::Reject(id, why) => self.update(id, update_response::Response::Rejected(why.encode_to_vec())),
            Cmd::Done(id, payload) => self.update(id, update_response::Response::Completed(payload.clone())),
            Cmd::Complete => self.raw(CompleteWorkflow, &super::boundary_complete()),
            Cmd::Fail(why) => self.raw(FailWorkflow, &super::boundary_fail(why)),
            Cmd::CancelWorkflow => self.raw(CommandKind::CancelWorkflow, &CancelWorkflowExecution::default()),
            Cmd::ContinueAsNew(attributes) => self.raw(CommandKind::ContinueAsNew, attributes),
            Cmd::Grouped(id, command) => {
                let groups = super::boundary_groups(id).encode_to_vec();
                let result = self.run.event_groups(&groups);
                self.keep(result);
                self.give(command)
            }
            Cmd::FailTask(..) => panic!("FailTask ends a script's step; it is not a command"),
        }
    }

    fn update(&mut self, protocol_instance_id: &str, response: update_response::Response) -> u32 {
        let attributes = UpdateResponse { protocol_instance_id: protocol_instance_id.into(), response: Some(response) };
        self.raw(CommandKind::UpdateResponse, &attributes)
    }
}

/// A command in a script. Seqs are per kind, from 1, in the order in which commands are given.
#[derive(Clone, Debug)]
pub enum Cmd {
    /// Milliseconds.
    Timer(f64),
    CancelTimer(u32),
    Act(ScheduleActivity),
    CancelAct(u32),
    La(ScheduleLocalActivity),
    CancelLa(u32),
    Patch(&'static str, bool),
    SideEffect(u32, Payload),
    /// A reducer by name, and whether the code waits for it.
    Transact(&'static str, bool),
    Child(StartChildWorkflow),
    CancelChild(u32, &'static str),
    Nexus(ScheduleNexusOperation),
    CancelNexus(u32),
    SignalExternal(SignalExternalWorkflow),
    CancelSignal(u32),
    CancelExternal(CancelExternalWorkflow),
    Upsert(UpsertSearchAttributes),
    Memo(ModifyWorkflowProperties),
    Accept(&'static str),
    Reject(&'static str, Failure),
    Done(&'static str, Payload),
    Complete,
    Fail(Failure),
    CancelWorkflow,
    ContinueAsNew(ContinueAsNew),
    /// A command with the marker of the event group with this id.
    Grouped(&'static str, Box<Cmd>),
    FailTask(Failure, WorkflowTaskFailedCause),
}

pub fn timer() -> Cmd {
    Cmd::Timer(1000.0)
}

/// An activity of type "act" whose id is its decimal seq.
pub fn act() -> Cmd {
    Cmd::Act(activity("", "act", ActivityCancellationType::TryCancel))
}

pub fn act_cancelling(cancellation: ActivityCancellationType) -> Cmd {
    Cmd::Act(activity("", "act", cancellation))
}

pub fn act_named(id: &str, kind: &str) -> Cmd {
    Cmd::Act(activity(id, kind, ActivityCancellationType::TryCancel))
}

pub fn activity(id: &str, kind: &str, cancellation: ActivityCancellationType) -> ScheduleActivity {
    ScheduleActivity {
        activity_id: id.into(),
        activity_type: kind.into(),
        start_to_close_timeout_ms: 30_000.0,
        cancellation_type: cancellation as i32,
        ..Default::default()
    }
}

/// A local activity of type "la" whose id is its decimal seq.
pub fn la() -> Cmd {
    la_named("", "la")
}

pub fn la_named(id: &str, kind: &str) -> Cmd {
    Cmd::La(ScheduleLocalActivity {
        activity_id: id.into(),
        activity_type: kind.into(),
        start_to_close_timeout_ms: 30_000.0,
        attempt: 1,
        ..Default::default()
    })
}

/// A child of type "child".
pub fn child(id: &str, cancellation: ChildWorkflowCancellationType) -> Cmd {
    Cmd::Child(StartChildWorkflow {
        workflow_id: id.into(),
        workflow_type: "child".into(),
        cancellation_type: cancellation as i32,
        ..Default::default()
    })
}

/// An operation at endpoint "e" and service "s".
pub fn nexus(operation: &str, cancellation: NexusOperationCancellationType) -> Cmd {
    Cmd::Nexus(ScheduleNexusOperation {
        endpoint: "e".into(),
        service: "s".into(),
        operation: operation.into(),
        cancellation_type: cancellation as i32,
        ..Default::default()
    })
}

/// A signal "hello".
pub fn signal_external(id: &str) -> Cmd {
    Cmd::SignalExternal(SignalExternalWorkflow { workflow_id: id.into(), signal_name: "hello".into(), ..Default::default() })
}

pub fn cancel_external(id: &str) -> Cmd {
    Cmd::CancelExternal(CancelExternalWorkflow { workflow_id: id.into(), reason: "enough".into(), ..Default::default() })
}

pub fn upsert(key: &str, value: Payload) -> Cmd {
    Cmd::Upsert(UpsertSearchAttributes { search_attributes: [(key.to_string(), value)].into() })
}

pub fn memo(key: &str, value: Payload) -> Cmd {
    Cmd::Memo(ModifyWorkflowProperties { memo: [(key.to_string(), value)].into() })
}

pub fn done(id: &'static str) -> Cmd {
    Cmd::Done(id, json("\"done\""))
}

pub fn reject(id: &'static str) -> Cmd {
    Cmd::Reject(id, failure("no"))
}

/// Completes activation k (queries not counted) with step k; after the last step with an empty completion.
#[derive(Clone)]
pub struct Script {
    steps: Vec<Vec<Cmd>>,
    at: usize,
}

impl Script {
    pub fn new<const N: usize>(steps: [Vec<Cmd>; N]) -> Script {
        Script { steps: steps.into(), at: 0 }
    }
}

impl Lang for Script {
    fn activate(&mut self, activation: &Activation, calls: &mut Calls) -> Reply {
        let evicts = |job: &Job| matches!(job.variant, Some(Variant::RemoveFromCache(_)));
        if activation.jobs.iter().any(evicts) {
            return Reply::Finish;
        }
        let step = self.steps.get(self.at).cloned().unwrap_or_default();
        self.at += 1;
        for command in &step {
            match command {
                Cmd::FailTask(why, cause) => return Reply::FailTask(Box::new(why.clone()), *cause),
                command => {
                    calls.give(command);
                }
            }
        }
        Reply::Finish
    }
}

/// What `patched` and `deprecatePatch` of workflow code keep
/// (docs/dev/semantics/commands.md#patches).
#[derive(Clone, Default)]
pub struct Patches {
    notified: std::collections::BTreeSet<String>,
    taken: std::collections::BTreeSet<String>,
}

impl Patches {
    /// Call it first with every activation.
    pub fn see(&mut self, activation: &Activation) {
        for job in &activation.jobs {
            if let Some(Variant::NotifyHasPatch(patch)) = job.variant.as_ref() {
                self.notified.insert(patch.patch_id.clone());
            }
        }
    }

    /// On replay "false" is not kept: the run may go live later.
    pub fn patched(&mut self, activation: &Activation, calls: &mut Calls, id: &'static str) -> bool {
        let taken = self.taken.contains(id) || !activation.is_replaying || self.notified.contains(id);
        if taken {
            self.taken.insert(id.to_string());
            calls.give(&Cmd::Patch(id, false));
        }
        taken
    }
}

/// Side effects by position: replay reads what live execution computed
/// (docs/dev/semantics/commands.md#side-effects).
#[derive(Clone, Default)]
pub struct SideEffects {
    recorded: std::collections::BTreeMap<u32, Payload>,
    next: u32,
    /// How often a function ran.
    pub ran: u32,
}

impl SideEffects {
    /// Call it first with every activation.
    pub fn see(&mut self, activation: &Activation) {
        for job in &activation.jobs {
            if let Some(Variant::SideEffectValue(value)) = job.variant.as_ref() {
                self.recorded.insert(value.id, value.payload.clone().expect("a value"));
            }
        }
    }

    pub fn run(&mut self, activation: &Activation, calls: &mut Calls, function: impl FnOnce() -> Payload) -> Payload {
        let id = self.next;
        self.next += 1;
        let known = activation.is_replaying.then(|| self.recorded.get(&id).cloned()).flatten();
        let value = known.unwrap_or_else(|| {
            self.ran += 1;
            function()
        });
        calls.give(&Cmd::SideEffect(id, value.clone()));
        value
    }
}
