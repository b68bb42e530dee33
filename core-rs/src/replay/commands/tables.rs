//! Compares the transition table in the head of a kind's file with the transitions of its machine. A
//! cell begins with the states that the step leads to ("A or B"), "same" or "ignored" for the state
//! itself, or "fatal" for an error; text behind a comma or a colon is not checked. An empty cell is
//! not tried.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::machines::{Machines, Numbers};
use super::{activity, cancel_external, child, nexus, signal_external, timer};
use prost::Message as _;

use crate::api::history::v1::TimerFiredEventAttributes;
use crate::boundary::{
    CancelChildWorkflow, CancelExternalWorkflow, CancelSignalWorkflow, RunOptions, ScheduleActivity, ScheduleNexusOperation,
    SignalExternalWorkflow, StartChildWorkflow, StartTimer,
};
use crate::error::Result;
use crate::history::event::Event;
use crate::proto::views::Attributes::{self, *};
use crate::replay::commands::kind::{Answered, Take, Wait};
use crate::replay::event::EventRef;
use crate::replay::run_state::RunState;
use crate::wire::typed::{Encoded, View};

type Input<T> = Box<dyn Fn(&mut Machines<T>, &mut RunState) -> Result<()>>;
type Columns<'a, T> = Vec<(&'a str, Vec<Input<T>>)>;
/// Outcomes by state and heading.
type Cells = BTreeMap<(String, String), BTreeSet<String>>;

fn at() -> EventRef {
    EventRef::of(&Event::default())
}

fn run() -> RunState {
    RunState::new(&RunOptions::default())
}

/// A table of a file's head; merged rows and equal cells are written out.
fn table(source: &str) -> Cells {
    let cells = |line: &str| line.trim_matches('|').split('|').map(|c| c.trim().to_string()).collect::<Vec<_>>();
    let rows: Vec<_> = source.lines().filter_map(|l| l.strip_prefix("//! ")).filter(|l| l.starts_with('|')).map(cells).collect();
    let mut found = Cells::new();
    for row in &rows[2..] {
        assert_eq!(row.len(), rows[0].len(), "{row:?}");
        for state in row[0].split(", ") {
            for (heading, cell) in rows[0].iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty()) {
                let outcomes = cell.split([',', ':']).next().unwrap().split(" or ").map(|outcome| match outcome {
                    "same" | "ignored" => state.to_string(),
                    other => other.to_string(),
                });
                found.insert((state.to_string(), heading.clone()), outcomes.collect());
            }
        }
    }
    found
}

/// The sequence number of each command here.
const SEQ: u32 = 1;

/// The state's name: the machine itself, or its field `state`.
fn state<T: Clone + Default + Debug>(machines: &Machines<T>) -> String {
    let shown = format!("{:?}", machines.get(SEQ).unwrap());
    let name = shown.split_once("state: ").map_or(shown.as_str(), |(_, rest)| rest);
    name.split([',', ' ']).next().unwrap().to_string()
}

/// Tries every step in every state that the steps reach.
fn check<T: Clone + Default + Debug>(source: &str, starts: Vec<Machines<T>>, columns: Columns<T>) {
    let expected = table(source);
    let (mut actual, mut seen, mut open) = (Cells::new(), BTreeSet::new(), starts);
    while let Some(machines) = open.pop() {
        if !seen.insert(format!("{machines:?}")) {
            continue;
        }
        let from = state(&machines);
        let named = expected.keys().any(|(state, _)| *state == from);
        assert!(named, "the table has no row for {from}");
        for (heading, inputs) in &columns {
            let cell = (from.clone(), heading.to_string());
            if !expected.contains_key(&cell) {
                continue;
            }
            for input in inputs {
                let mut next = machines.clone();
                let outcome = match input(&mut next, &mut run()) {
                    Ok(()) => state(&next),
                    Err(_) => "fatal".into(),
                };
                if outcome != "fatal" {
                    open.push(next);
                }
                actual.entry(cell.clone()).or_default().insert(outcome);
            }
        }
    }
    assert_eq!(actual, expected);
}

fn take<C: Take>(command: C, own: &mut C::Own, run: &mut RunState) -> Result<()> {
    command.take(own, run).map(|_| ())
}

/// Steps of events that meet a command of the queue.
fn meets<T: 'static, C: Wait<Own = Machines<T>> + Clone + 'static>(
    command: &C,
    events: Vec<Attributes<'static>>,
) -> Vec<Input<T>> {
    let input = |event: Attributes<'static>| -> Input<T> {
        let command = command.clone();
        Box::new(move |own, run| command.clone().meet(event, at(), own, run))
    };
    events.into_iter().map(input).collect()
}

/// Steps of events that resolve a recorded command.
fn resolves<T: 'static, C: Answered<Own = Machines<T>> + 'static>(_: &C, events: Vec<Attributes<'static>>) -> Vec<Input<T>> {
    let input = |event: Attributes<'static>| -> Input<T> { Box::new(move |own, run| C::answered(1, event, at(), own, run)) };
    events.into_iter().map(input).collect()
}

fn cancels<T: 'static, C: Take<Own = Machines<T>> + 'static>(command: impl Fn() -> C + 'static) -> Vec<Input<T>> {
    vec![Box::new(move |own, run| take(command(), own, run))]
}

/// Machines of the commands in their first state.
fn created<T: Clone + Default, C: Take<Own = Machines<T>> + Clone>(commands: &[C]) -> Vec<Machines<T>> {
    let one = |command: &C| {
        let mut own = Machines::default();
        take(command.clone(), &mut own, &mut run()).unwrap();
        own
    };
    commands.iter().map(one).collect()
}

fn none<M>() -> View<'static, M> {
    View::default()
}

#[test]
fn timers() {
    let start = StartTimer { duration_ms: 1.0, ..Default::default() }.encode_to_vec();
    let (_, start) = timer::read(&start, &mut Numbers::default()).unwrap();
    let fired = TimerFiredEventAttributes { timer_id: "1".into(), ..Default::default() }.encode_to_vec();
    let fired: &'static Encoded<_> = Box::leak(Box::new(Encoded::of(fired)));
    let mut absent = Machines::default();
    *absent.slot(SEQ) = timer::Timer::Absent;
    let first = start.clone();
    let columns = vec![
        ("StartTimer", cancels(move || first.clone())),
        ("TimerStarted", meets(&start, vec![TimerStarted(none())])),
        ("cancel", cancels(|| timer::Cancel { seq: 1 })),
        ("TimerCanceled", meets(&timer::Cancel { seq: 1 }, vec![TimerCanceled(none())])),
        ("TimerFired", resolves(&start, vec![TimerFired(fired.view())])),
    ];
    check(include_str!("timer.rs"), vec![absent], columns);
}

#[test]
fn activities() {
    use crate::boundary::ActivityCancellationType::*;
    let command = |kind| {
        let bytes = ScheduleActivity {
            activity_type: "t".into(),
            start_to_close_timeout_ms: 1.0,
            cancellation_type: kind as i32,
            ..Default::default()
        }
        .encode_to_vec();
        activity::read(&bytes, &mut Numbers::default()).unwrap().1
    };
    let commands = [TryCancel, WaitCancellationCompleted, Abandon].map(command);
    let one = &commands[0];
    let ends = vec![ActivityTaskCompleted(none()), ActivityTaskFailed(none()), ActivityTaskTimedOut(none())];
    let columns = vec![
        ("ActivityTaskScheduled", meets(one, vec![ActivityTaskScheduled(none())])),
        ("cancel", cancels(|| activity::Cancel { seq: 1 })),
        ("...Started", resolves(one, vec![ActivityTaskStarted(none())])),
        ("...Completed, Failed, TimedOut", resolves(one, ends)),
        ("...Canceled", resolves(one, vec![ActivityTaskCanceled(none())])),
    ];
    check(include_str!("activity.rs"), created(&commands), columns);
}

#[test]
fn children() {
    use crate::boundary::ChildWorkflowCancellationType::*;
    let command = |kind| {
        let bytes = StartChildWorkflow {
            workflow_id: "i".into(),
            workflow_type: "t".into(),
            cancellation_type: kind as i32,
            ..Default::default()
        }
        .encode_to_vec();
        child::read(&bytes, &mut Numbers::default()).unwrap().1
    };
    let commands = [TryCancel, WaitCancellationCompleted, WaitCancellationRequested, Abandon].map(command);
    let one = &commands[0];
    let ends = vec![
        ChildWorkflowExecutionCompleted(none()),
        ChildWorkflowExecutionFailed(none()),
        ChildWorkflowExecutionTimedOut(none()),
        ChildWorkflowExecutionCanceled(none()),
        ChildWorkflowExecutionTerminated(none()),
    ];
    let cancel = CancelChildWorkflow { seq: 1, ..Default::default() }.encode_to_vec();
    let columns = vec![
        ("...Initiated", meets(one, vec![StartChildWorkflowExecutionInitiated(none())])),
        ("cancel", cancels(move || child::read_cancel(&cancel).unwrap())),
        ("ChildWorkflowExecutionStarted", resolves(one, vec![ChildWorkflowExecutionStarted(none())])),
        ("StartChild...Failed", resolves(one, vec![StartChildWorkflowExecutionFailed(none())])),
        ("...Completed, Failed, TimedOut, Canceled, Terminated", resolves(one, ends)),
    ];
    check(include_str!("child.rs"), created(&commands), columns);
}

#[test]
fn nexus_operations() {
    use crate::boundary::NexusOperationCancellationType::*;
    let command = |kind| {
        let bytes = ScheduleNexusOperation {
            endpoint: "e".into(),
            service: "s".into(),
            operation: "o".into(),
            cancellation_type: kind as i32,
            ..Default::default()
        }
        .encode_to_vec();
        nexus::read(&bytes, &mut Numbers::default()).unwrap().1
    };
    let commands = [TryCancel, WaitCancellationCompleted, WaitCancellationRequested, Abandon].map(command);
    let one = &commands[0];
    let ends = vec![NexusOperationCompleted(none()), NexusOperationFailed(none()), NexusOperationTimedOut(none())];
    let delivered = vec![NexusOperationCancelRequestCompleted(none()), NexusOperationCancelRequestFailed(none())];
    let columns = vec![
        ("...Scheduled", meets(one, vec![NexusOperationScheduled(none())])),
        ("cancel", cancels(|| nexus::Cancel { seq: 1 })),
        ("...Started", resolves(one, vec![NexusOperationStarted(none())])),
        ("...Completed, Failed, TimedOut", resolves(one, ends)),
        ("...Canceled", resolves(one, vec![NexusOperationCanceled(none())])),
        ("...CancelRequestCompleted, ...Failed", resolves(one, delivered)),
    ];
    check(include_str!("nexus.rs"), created(&commands), columns);
}

#[test]
fn signals_to_other_workflows() {
    let bytes = SignalExternalWorkflow { workflow_id: "i".into(), signal_name: "n".into(), ..Default::default() }.encode_to_vec();
    let (_, send) = signal_external::read(&bytes, &mut Numbers::default()).unwrap();
    let cancel = CancelSignalWorkflow { seq: 1 }.encode_to_vec();
    let ends = vec![ExternalWorkflowExecutionSignaled(none()), SignalExternalWorkflowExecutionFailed(none())];
    let columns = vec![
        ("SignalExternal...Initiated", meets(&send, vec![SignalExternalWorkflowExecutionInitiated(none())])),
        ("cancel", cancels(move || signal_external::read_cancel(&cancel).unwrap())),
        ("ExternalWorkflowExecutionSignaled, SignalExternal...Failed", resolves(&send, ends)),
    ];
    check(include_str!("signal_external.rs"), created(&[send]), columns);
}

#[test]
fn cancel_requests_to_other_workflows() {
    let bytes = CancelExternalWorkflow { workflow_id: "i".into(), ..Default::default() }.encode_to_vec();
    let (_, request) = cancel_external::read(&bytes, &mut Numbers::default()).unwrap();
    let ends = vec![ExternalWorkflowExecutionCancelRequested(none()), RequestCancelExternalWorkflowExecutionFailed(none())];
    let columns = vec![
        ("RequestCancelExternal...Initiated", meets(&request, vec![RequestCancelExternalWorkflowExecutionInitiated(none())])),
        ("ExternalWorkflowExecutionCancelRequested, RequestCancelExternal...Failed", resolves(&request, ends)),
    ];
    check(include_str!("cancel_external.rs"), created(&[request]), columns);
}
