//! Recorded histories replayed by an oracle: it plays workflow code that does, in each activation, exactly what the events behind
//! that activation say was done. Every way of feeding one history (whole, in pages of any size, cut behind every started event and
//! continued) has to give the same jobs.
//!
//! The histories lie beside the checkout (`../shared/fixtures/bench`); without them the tests say so and pass. A further folder of
//! `.bin` histories can be named by `TEMPORALEX_HISTORIES`.
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use prost::Message;
use temporalex_core::api::common::v1::{WorkflowExecution, WorkflowType};
use temporalex_core::api::enums::v1::EventType;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::{History, HistoryEvent};
use temporalex_core::api::workflowservice::v1::PollWorkflowTaskQueueResponse;
use temporalex_core::boundary::{
    Activation, ActivityCancellationType, CommandKind, CompleteWorkflow, ContinueAsNew, FailWorkflow, Job, JobOrder, Nothing,
    RunOptions, ScheduleActivity, ScheduleLocalActivity, SetPatchMarker, StartTimer, Step, TaskOutcome, UpdateResponse, job,
    step, task_outcome, update_response,
};
use temporalex_core::history::event::{event_type, is_command_event};
use temporalex_core::replay::Run;

fn histories() -> Vec<(String, Vec<HistoryEvent>)> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/fixtures/bench"));
    let mut folders = vec![beside];
    folders.extend(std::env::var_os("TEMPORALEX_HISTORIES").map(PathBuf::from));
    let mut found = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            eprintln!("SKIPPED: no recorded histories in {}", folder.display());
            continue;
        };
        let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "bin")) {
            let history = History::decode(std::fs::read(file).unwrap().as_slice()).unwrap();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if let Some(why) = beyond_oracle(&history.events) {
                eprintln!("{name}: left out, {why}");
                continue;
            }
            if replay(&history.events, JobOrder::Native).is_none() || replay(&history.events, JobOrder::Compat).is_none() {
                eprintln!("{name}: left out, its commands are numbered or taken back otherwise");
                continue;
            }
            found.push((name, history.events));
        }
    }
    found
}

/// Why the oracle cannot play this history: commands that are not built yet, or ids that no counter of ours gives.
fn beyond_oracle(events: &[HistoryEvent]) -> Option<String> {
    if events.is_empty() || events.iter().any(|e| event_type(e).is_none()) {
        return Some("no history".into());
    }
    for e in events.iter().filter(|e| is_command_event(e)) {
        use EventType::*;
        let fine = match (event_type(e)?, e.attributes.as_ref()?) {
            (_, Attributes::MarkerRecordedEventAttributes(m)) => m.marker_name.starts_with("core_"),
            (_, Attributes::TimerStartedEventAttributes(t)) => t.timer_id.parse::<u32>().is_ok(),
            (kind, _) => !matches!(
                kind,
                StartChildWorkflowExecutionInitiated
                    | SignalExternalWorkflowExecutionInitiated
                    | RequestCancelExternalWorkflowExecutionInitiated
                    | WorkflowPropertiesModified
                    | NexusOperationScheduled
            ),
        };
        if !fine {
            return Some(format!("event {} is {:?}", e.event_id, event_type(e)?));
        }
    }
    if events.iter().any(|e| event_type(e) == Some(EventType::UpsertWorkflowSearchAttributes)) && !has_patch(events) {
        return Some("attributes are upserted".into());
    }
    None
}

fn has_patch(events: &[HistoryEvent]) -> bool {
    let patch = |e: &HistoryEvent| matches!(&e.attributes, Some(Attributes::MarkerRecordedEventAttributes(m)) if m.marker_name == "core_patch");
    events.iter().any(patch)
}

#[derive(Default)]
struct Oracle<'a> {
    events: &'a [HistoryEvent],
    activities: BTreeMap<i64, u32>,
    played: BTreeSet<u32>,
    streams: Vec<Vec<Job>>,
    /// It could not give a command the number that it has in history.
    lost: bool,
    updates: BTreeSet<String>,
    /// Last event of the latest activation.
    streams_end: i64,
}

fn local_seq(event: &HistoryEvent) -> Option<u32> {
    let Some(Attributes::MarkerRecordedEventAttributes(m)) = &event.attributes else { return None };
    let data = m.details.get("data").filter(|_| m.marker_name == "core_local_activity")?;
    let text = String::from_utf8_lossy(&data.payloads[0].data).into_owned();
    let digits = text.split("\"seq\":").nth(1)?;
    digits[..digits.find([',', '}'])?].parse().ok()
}

impl<'a> Oracle<'a> {
    fn new(events: &'a [HistoryEvent]) -> Oracle<'a> {
        Oracle { events, ..Default::default() }
    }

    /// Command events that answer the activation.
    fn recorded(&self, activation: &Activation) -> Vec<&'a HistoryEvent> {
        let behind = self.events.iter().skip(activation.history_length as usize);
        let mut out = Vec::new();
        for e in behind {
            match event_type(e) {
                Some(EventType::WorkflowExecutionUpdateAccepted) if !self.was_asked(e) => break,
                _ if is_command_event(e) => out.push(e),
                Some(EventType::WorkflowTaskCompleted) if out.is_empty() => {}
                Some(EventType::WorkflowTaskScheduled | EventType::WorkflowTaskStarted) if out.is_empty() => {}
                _ => break,
            }
        }
        out
    }

    fn was_asked(&self, event: &HistoryEvent) -> bool {
        match &event.attributes {
            Some(Attributes::WorkflowExecutionUpdateAcceptedEventAttributes(u)) => self.updates.contains(&u.protocol_instance_id),
            _ => false,
        }
    }

    fn answer(&mut self, run: &mut Run, activation: Activation) {
        self.streams_end = i64::from(activation.history_length);
        for job in &activation.jobs {
            if let Some(job::Variant::DoUpdate(u)) = &job.variant {
                self.updates.insert(u.protocol_instance_id.clone());
            }
        }
        if self.played.insert(activation.history_length) {
            let mut recorded = self.recorded(&activation);
            // Markers stand in the order of results, their activities were scheduled in the order of their seqs.
            let mut locals: Vec<&HistoryEvent> = recorded.extract_if(.., |e| local_seq(e).is_some()).collect();
            locals.sort_by_key(|e| local_seq(e));
            for event in locals.into_iter().chain(recorded) {
                self.play(run, event);
            }
        }
        self.streams.push(activation.jobs);
        run.finish_activation().unwrap();
    }

    fn play(&mut self, run: &mut Run, event: &HistoryEvent) {
        use Attributes::*;
        match event.attributes.as_ref().unwrap() {
            TimerStartedEventAttributes(t) => {
                // Numbers that history passes over belonged to timers that were taken back before they were sent.
                let id: u32 = t.timer_id.parse().unwrap();
                loop {
                    let command = StartTimer { duration_ms: 1.0, summary: None };
                    let seq = run.command(CommandKind::StartTimer, &command.encode_to_vec()).unwrap();
                    if seq >= id {
                        self.lost |= seq > id;
                        break;
                    }
                    run.cancel(CommandKind::StartTimer, seq).unwrap();
                }
            }
            TimerCanceledEventAttributes(t) => run.cancel(CommandKind::StartTimer, t.timer_id.parse().unwrap()).unwrap(),
            ActivityTaskScheduledEventAttributes(a) => {
                let command = ScheduleActivity {
                    activity_id: a.activity_id.clone(),
                    activity_type: a.activity_type.clone().unwrap_or_default().name,
                    start_to_close_timeout_ms: 1.0,
                    cancellation_type: ActivityCancellationType::WaitCancellationCompleted as i32,
                    ..Default::default()
                };
                let seq = give(run, CommandKind::ScheduleActivity, command.encode_to_vec());
                self.activities.insert(event.event_id, seq);
            }
            ActivityTaskCancelRequestedEventAttributes(a) => {
                // Other cores send a command and its cancel in one task, ours takes the command back.
                self.lost |= a.scheduled_event_id > self.streams_end;
                run.cancel(CommandKind::ScheduleActivity, self.activities[&a.scheduled_event_id]).unwrap();
            }
            MarkerRecordedEventAttributes(m) if m.marker_name == "core_local_activity" => {
                let data = String::from_utf8_lossy(&m.details["data"].payloads[0].data).into_owned();
                let text = |key: &str| {
                    let from = data.find(&format!("\"{key}\":\"")).unwrap() + key.len() + 4;
                    data[from..from + data[from..].find('"').unwrap()].to_string()
                };
                let (activity_id, activity_type) = (text("activity_id"), text("activity_type"));
                let command = ScheduleLocalActivity { activity_id, activity_type, ..Default::default() };
                let seq = give(run, CommandKind::ScheduleLocalActivity, command.encode_to_vec());
                self.lost |= local_seq(event) != Some(seq);
            }
            MarkerRecordedEventAttributes(m) => {
                let patch_id = match m.details.get("patch-data") {
                    Some(p) => {
                        let data = String::from_utf8_lossy(&p.payloads[0].data).into_owned();
                        data.split('"').nth(3).unwrap().to_string()
                    }
                    None => String::from_utf8(m.details["patch_id"].payloads[0].data.clone()).unwrap(),
                };
                give(run, CommandKind::SetPatchMarker, SetPatchMarker { patch_id, deprecated: false }.encode_to_vec());
            }
            WorkflowExecutionUpdateAcceptedEventAttributes(u) => {
                let response = Some(update_response::Response::Accepted(Nothing {}));
                let command = UpdateResponse { protocol_instance_id: u.protocol_instance_id.clone(), response };
                give(run, CommandKind::UpdateResponse, command.encode_to_vec());
            }
            WorkflowExecutionUpdateCompletedEventAttributes(u) => {
                let response = Some(update_response::Response::Completed(Default::default()));
                let id = u.meta.clone().unwrap_or_default().update_id;
                let command = UpdateResponse { protocol_instance_id: id, response };
                give(run, CommandKind::UpdateResponse, command.encode_to_vec());
            }
            WorkflowExecutionCompletedEventAttributes(_) => {
                give(run, CommandKind::CompleteWorkflow, CompleteWorkflow::default().encode_to_vec());
            }
            WorkflowExecutionFailedEventAttributes(_) => {
                give(run, CommandKind::FailWorkflow, FailWorkflow::default().encode_to_vec());
            }
            WorkflowExecutionCanceledEventAttributes(_) => {
                give(run, CommandKind::CancelWorkflow, Vec::new());
            }
            WorkflowExecutionContinuedAsNewEventAttributes(_) => {
                give(run, CommandKind::ContinueAsNew, ContinueAsNew::default().encode_to_vec());
            }
            // The upsert behind a patch marker is the core's own.
            _ => {}
        }
    }
}

fn give(run: &mut Run, kind: CommandKind, bytes: Vec<u8>) -> u32 {
    run.command(kind, &bytes).unwrap()
}

fn run(order: JobOrder) -> Run {
    let known_lang_flags = (1..=20).collect();
    Run::new(RunOptions { job_order: order as i32, sdk_name: "oracle".into(), known_lang_flags, ..Default::default() }).unwrap()
}

/// Drives a run to its outcome; `page` answers NeedHistory.
fn drive(run: &mut Run, oracle: &mut Oracle, mut page: impl FnMut() -> (Vec<HistoryEvent>, bool)) -> TaskOutcome {
    loop {
        match run.next().unwrap().kind.unwrap() {
            step::Kind::Activation(a) => oracle.answer(run, a),
            step::Kind::Outcome(o) => return o,
            step::Kind::NeedHistory(_) => {
                let (events, more) = page();
                let token: &[u8] = if more { b"more" } else { b"" };
                run.feed_history(&History { events }.encode_to_vec(), token).unwrap();
            }
        }
    }
}

/// `None`: the oracle lost its way.
fn replay(events: &[HistoryEvent], order: JobOrder) -> Option<(Vec<Vec<Job>>, TaskOutcome)> {
    let mut oracle = Oracle::new(events);
    let mut run = run(order);
    run.start_replay("id", &History { events: events.to_vec() }.encode_to_vec()).unwrap();
    let outcome = drive(&mut run, &mut oracle, || panic!("a replay has all its history"));
    (!oracle.lost).then_some((oracle.streams, outcome))
}

fn no_page() -> (Vec<HistoryEvent>, bool) {
    panic!("no page was expected")
}

fn poll(events: Vec<HistoryEvent>, previous: i64, started: i64, token: &[u8]) -> Vec<u8> {
    PollWorkflowTaskQueueResponse {
        task_token: b"t".to_vec(),
        workflow_execution: Some(WorkflowExecution { workflow_id: "id".into(), run_id: "run".into() }),
        workflow_type: Some(WorkflowType::default()),
        previous_started_event_id: previous,
        started_event_id: started,
        attempt: 1,
        history: Some(History { events }),
        next_page_token: token.to_vec(),
        ..Default::default()
    }
    .encode_to_vec()
}

#[test]
fn whole() {
    for (name, events) in histories() {
        for order in [JobOrder::Native, JobOrder::Compat] {
            let (streams, outcome) = replay(&events, order).unwrap();
            assert_eq!(outcome.error, None, "{name}");
            assert!(outcome.warnings.is_empty(), "{name}: {:?}", outcome.warnings);
            let Some(task_outcome::Response::ReplayFinished(end)) = outcome.response else { panic!("{name}") };
            assert_eq!((end.activations as usize, end.events as usize), (streams.len(), events.len()), "{name}");
        }
    }
}

/// Started events whose task a worker completed, and the last one if its task is open.
fn started_ids(events: &[HistoryEvent]) -> Vec<i64> {
    let is = |e: Option<&HistoryEvent>, kind| e.and_then(event_type) == Some(kind);
    (0..events.len())
        .filter(|i| is(events.get(*i), EventType::WorkflowTaskStarted))
        .filter(|i| is(events.get(i + 1), EventType::WorkflowTaskCompleted))
        .map(|i| events[i].event_id)
        .collect()
}

/// Jobs without what may differ between replaying and live: whether validators run.
fn comparable(streams: &[Vec<Job>]) -> Vec<Job> {
    let mut jobs: Vec<Job> = streams.iter().flatten().cloned().collect();
    for job in &mut jobs {
        if let Some(job::Variant::DoUpdate(update)) = &mut job.variant {
            update.run_validator = false;
        }
    }
    jobs
}

/// The whole history as the first page of a task, the rest in pages of every size.
#[test]
fn pages_of_every_size() {
    for (name, events) in histories() {
        let Some(last) = started_ids(&events).last().copied() else { continue };
        let upto: Vec<HistoryEvent> = events.iter().take(last as usize).cloned().collect();
        let sizes: Vec<usize> = if upto.len() > 300 { vec![7, 500] } else { (1..=12).collect() };
        let mut expected = None;
        for size in [upto.len()].into_iter().chain(sizes) {
            let mut pages = upto.chunks(size);
            let first = pages.next().unwrap().to_vec();
            let mut left = upto.len() - first.len();
            let mut oracle = Oracle::new(&upto);
            let mut run = run(JobOrder::Native);
            let token: &[u8] = if left > 0 { b"more" } else { b"" };
            run.start_task(&poll(first, last - 1, last, token)).unwrap();
            let outcome = drive(&mut run, &mut oracle, || {
                let page = pages.next().unwrap().to_vec();
                left -= page.len();
                (page, left > 0)
            });
            assert_eq!(outcome.error, None, "{name} in pages of {size}");
            let jobs = comparable(&oracle.streams);
            assert_eq!(expected.get_or_insert_with(|| jobs.clone()), &jobs, "{name} in pages of {size}");
        }
    }
}

/// Task by task on one cached run, as a worker lives through it: the same jobs as the replay of the whole.
#[test]
fn cut_behind_every_started_event_and_continued() {
    for (name, events) in histories() {
        let local = |e: &HistoryEvent| matches!(&e.attributes, Some(Attributes::MarkerRecordedEventAttributes(m)) if m.marker_name.starts_with("core_"));
        let update = |e: &HistoryEvent| event_type(e) == Some(EventType::WorkflowExecutionUpdateAccepted);
        if events.iter().any(|e| local(e) || update(e)) {
            eprintln!("{name}: left out, what its live tasks were given is not in history");
            continue;
        }
        let mut oracle = Oracle::new(&events);
        let mut run = run(JobOrder::Native);
        let mut previous = 0;
        for started in started_ids(&events) {
            let task = events.iter().filter(|e| e.event_id > previous && e.event_id <= started).cloned().collect();
            run.start_task(&poll(task, previous, started, b"")).unwrap();
            let outcome = drive(&mut run, &mut oracle, no_page);
            assert_eq!(outcome.error, None, "{name} at {started}");
            assert!(outcome.warnings.is_empty(), "{name} at {started}: {:?}", outcome.warnings);
            previous = started;
        }
        let mut live = comparable(&oracle.streams);
        let mut replayed = comparable(&replay(&events, JobOrder::Native).unwrap().0);
        for jobs in [&mut live, &mut replayed] {
            // A replay does not know the run id that a task carries.
            for job in jobs {
                if let Some(job::Variant::InitializeWorkflow(init)) = &mut job.variant {
                    init.run_id.clear();
                }
            }
        }
        // What came behind the last started event is for a task that history does not hold yet.
        replayed.retain(|job| i64::from(job.event_id) <= previous);
        assert_eq!(live, replayed, "{name}");
    }
}

#[test]
fn never_an_activation_where_no_task_is() {
    let mut run = run(JobOrder::Native);
    assert!(run.next().is_err());
    assert!(matches!(run.finish_activation(), Err(e) if e.code == temporalex_core::error::codes::OUT_OF_ORDER_CALL));
    let step: Result<Step, _> = run.next();
    assert!(step.is_err());
}
