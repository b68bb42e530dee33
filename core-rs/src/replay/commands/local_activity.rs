//! Local activities (docs/dev/semantics/commands.md#local-activities): run by the worker that runs the workflow, within the
//! workflow task, and recorded by a marker when they have ended.
//!
//! | state | means | leads to |
//! |---|---|---|
//! | Scheduled | workflow code waits for it | Known by the record, Running, Marked by a cancel |
//! | Running | the caller has the order to run it | Marked by its result or a cancel, Known by the record |
//! | Known | resolved from a marker that was seen ahead | Recorded |
//! | Marked | resolved here; its marker is in the queue | Recorded |
//! | Recorded | the marker event was met | |
//!
//! Replay executes none. The look-ahead of a task collects its markers in order. A resolution is
//! released, in that order, once its activity is scheduled, and not before the activation that its
//! marker names; when nothing else is left to do, no other event can cause the marker's activation,
//! so it is released at once. Markers of older Cores name none. The outcome of a cancel was
//! recorded, and the record wins: cancelling only releases it ahead of its turn. Such a marker
//! event is fed to the machine and takes no command from the queue.
//!
//! At the end of a live task's history the caller runs what is still Scheduled ([`LocalActivities::work`]). Retries are the
//! caller's: the core has no clock.
use std::collections::VecDeque;

use crate::api::enums::v1::CommandType;
use crate::boundary::{ActivityCancellationType, CommandKind};
use crate::error::{Result, codes, nondeterminism};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{LocalActivityResolution, LocalWork, ResolveActivity, ScheduleLocalActivity};
use crate::proto::views::command::Command;
use crate::proto::views::history::MarkerRecordedEventAttributes;
use crate::replay::commands::activity::{differs, id_or_seq};
use crate::replay::commands::kind::{Nothing, Take, Wait};
use crate::replay::commands::local_marker::{Data, Marker, Outcome};
use crate::replay::commands::machines::{Numbers, missing};
use crate::replay::commands::marker;
use crate::replay::commands::shared::{bad_value, cancellation, check_retry_policy, write_metadata};
use crate::replay::convert::{check_duration, checked};
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};
use crate::replay::run_state::{Inherited, RunState};
use crate::sorted::{SortedMap, SortedSet};
use crate::wire::typed::{Encoded, Put, View, build};

pub const MARKER: &str = marker::LOCAL_ACTIVITY;
const NAME: &str = "Local activity";
const MACHINE: &str = "LocalActivity";

/// Given: kept until it is resolved.
#[derive(Debug)]
pub struct Schedule {
    seq: u32,
    attributes: Encoded<ScheduleLocalActivity>,
    pub groups: Encoded<Command>,
}

/// Given: workflow code cancels.
#[derive(Debug)]
pub struct Cancel {
    pub seq: u32,
}

/// Queued: the marker of one that was resolved here.
#[derive(Clone, Debug)]
pub struct Record {
    marker: Marker,
    attributes: Encoded<ScheduleLocalActivity>,
    groups: Encoded<Command>,
}

pub fn read(bytes: &[u8], numbers: &mut Numbers) -> Result<(u32, Schedule)> {
    let c = checked::<ScheduleLocalActivity>(bytes)?;
    if c.activity_type().is_empty() {
        return bad_value("ScheduleLocalActivity: activity_type is empty");
    }
    let durations = [
        ("schedule_to_close_timeout_ms", c.schedule_to_close_timeout_ms()),
        ("schedule_to_start_timeout_ms", c.schedule_to_start_timeout_ms()),
        ("start_to_close_timeout_ms", c.start_to_close_timeout_ms()),
        ("local_retry_threshold_ms", c.local_retry_threshold_ms()),
        ("original_schedule_time_ms", c.original_schedule_time_ms()),
    ];
    durations.into_iter().try_for_each(|(what, ms)| check_duration(what, ms))?;
    check_retry_policy(c.opt_retry_policy())?;
    let seq = numbers.claim(c.seq())?;
    Ok((seq, Schedule { seq, attributes: c.to_owned(), groups: Encoded::default() }))
}

impl Take for Schedule {
    type Own = LocalActivities;
    type Queued = Nothing;

    fn take(self, locals: &mut LocalActivities, run: &mut RunState) -> Result<Nothing> {
        locals.schedule(self, run.time_ms);
        Ok(None)
    }
}

impl Take for Cancel {
    type Own = LocalActivities;
    type Queued = Option<Record>;

    fn take(self, locals: &mut LocalActivities, run: &mut RunState) -> Result<Option<Record>> {
        if self.seq == 0 || self.seq > locals.numbers.last() {
            return Err(missing(MACHINE, self.seq).of_command(CommandKind::ScheduleLocalActivity, self.seq));
        }
        if let Some(released) = locals.release_ahead(self.seq, run.activation_index) {
            released.resolve(run);
            return Ok(None);
        }
        Ok(locals.cancel(self.seq, run.replaying, run.activation_index).map(|resolved| resolved.resolve(run)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Scheduled,
    Running,
    Known,
    Marked,
    Recorded,
}

#[derive(Clone, Debug)]
struct Local {
    state: State,
    id: String,
    kind: String,
    /// Empty once it is resolved.
    attributes: Encoded<ScheduleLocalActivity>,
    /// The same.
    groups: Encoded<Command>,
    /// Workflow time when it was scheduled.
    time_ms: f64,
    /// Workflow code has requested cancellation and waits for the outcome.
    cancel_requested: bool,
}

/// A result found ahead.
#[derive(Clone, Debug)]
struct Found {
    event_id: i64,
    marker: Marker,
}

/// A result on its way to workflow code.
#[derive(Debug)]
pub struct Released {
    pub event_id: i64,
    /// Workflow time moves on to it.
    pub complete_ms: Option<f64>,
    pub resolution: Encoded<ResolveActivity>,
}

/// A result that came up in this process.
#[derive(Debug)]
pub struct Resolved {
    pub released: Released,
    pub record: Record,
}

impl Released {
    pub fn resolve(self, run: &mut RunState) {
        if let Some(ms) = self.complete_ms {
            run.advance_time(ms);
        }
        run.jobs.of_local_activity(self.event_id, self.resolution);
    }
}

impl Resolved {
    /// Workflow code hears of it, and a marker will record it.
    pub fn resolve(self, run: &mut RunState) -> Record {
        self.released.resolve(run);
        self.record
    }
}

#[derive(Clone, Debug, Default)]
pub struct LocalActivities {
    pub numbers: Numbers,
    by_seq: SortedMap<u32, Local>,
    /// Those that are Scheduled or Running.
    open: SortedSet<u32>,
    found: VecDeque<Found>,
    /// Running ones that the caller is to tell to stop, and to forget.
    cancels: Vec<u32>,
    abandons: Vec<u32>,
}

impl Found {
    /// Recorded for a later activation of its task.
    fn is_held(&self, activation_index: u32) -> bool {
        self.marker.data.activation_index.is_some_and(|index| index > activation_index)
    }
}

impl Local {
    /// What was asked for, for the one who runs it.
    fn start<'w>(&self, seq: u32, w: Put<'w, ScheduleLocalActivity>) -> Put<'w, ScheduleLocalActivity> {
        let a = self.attributes.view();
        w.all_of(a).activity_id(&self.id).attempt(a.attempt().max(1)).seq(seq)
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Scheduled | State::Running)
    }
}

impl LocalActivities {
    fn schedule(&mut self, Schedule { seq, attributes, groups }: Schedule, time_ms: f64) {
        let a = attributes.view();
        let (id, kind) = (id_or_seq(a.activity_id(), seq), a.activity_type().to_string());
        let local = Local { state: State::Scheduled, id, kind, attributes, groups, time_ms, cancel_requested: false };
        self.by_seq.insert(seq, local);
        self.open.insert(seq);
    }

    /// A marker in the look-ahead. One whose activity is resolved already has nothing to say.
    pub fn find_ahead(&mut self, recorded: View<MarkerRecordedEventAttributes>, event: EventRef) -> Result<()> {
        let data = Data::read(recorded, event)?;
        if self.by_seq.get(&data.seq).is_some_and(|l| !l.is_open()) {
            return Ok(());
        }
        let outcome = Outcome::of_marker(recorded).at_event(event)?;
        self.found.push_back(Found { event_id: event.id, marker: Marker { data, outcome } });
        Ok(())
    }

    /// The next result for the activation with this index, if it may go out now.
    pub fn release(&mut self, activation_index: u32, other_jobs: bool) -> Option<Released> {
        let first = self.found.front()?;
        if (other_jobs && first.is_held(activation_index)) || !self.by_seq.contains_key(&first.marker.data.seq) {
            return None;
        }
        let found = self.found.pop_front()?;
        self.know(found)
    }

    /// Workflow code cancels: what the record says comes now, unless it was recorded for a later activation.
    pub fn release_ahead(&mut self, seq: u32, activation_index: u32) -> Option<Released> {
        let index = self.found.iter().position(|f| f.marker.data.seq == seq && !f.is_held(activation_index))?;
        let found = self.found.remove(index)?;
        self.know(found)
    }

    fn know(&mut self, found: Found) -> Option<Released> {
        let seq = found.marker.data.seq;
        let local = self.by_seq.get_mut(&seq).filter(|l| l.is_open())?;
        if local.state == State::Running {
            // Another worker was faster; the record wins.
            self.cancels.push(seq);
        }
        local.state = State::Known;
        local.attributes = Encoded::default();
        local.groups = Encoded::default();
        self.open.remove(&seq);
        let Found { event_id, marker } = found;
        Some(Released { event_id, complete_ms: marker.data.complete_ms, resolution: marker.resolution() })
    }

    /// Cancels an activity without a marker in the record. Returns its resolution if it is
    /// immediate.
    pub fn cancel(&mut self, seq: u32, replaying: bool, activation_index: u32) -> Option<Resolved> {
        let local = self.by_seq.get_mut(&seq).filter(|l| l.is_open())?;
        let kind = local.attributes.view().cancellation_type().known().unwrap_or(ActivityCancellationType::TryCancel);
        let waits = kind == ActivityCancellationType::WaitCancellationCompleted;
        let running = local.state == State::Running;
        if waits && running {
            if !std::mem::replace(&mut local.cancel_requested, true) {
                self.cancels.push(seq);
            }
            return None;
        }
        if replaying {
            // The record of it is still to come, or it is settled where history ends.
            local.cancel_requested = true;
            return None;
        }
        if running {
            let told = if kind == ActivityCancellationType::Abandon { &mut self.abandons } else { &mut self.cancels };
            told.push(seq);
        }
        self.settle_cancelled(seq, activation_index)
    }

    /// It is cancelled without having run, or without waiting for it.
    fn settle_cancelled(&mut self, seq: u32, activation_index: u32) -> Option<Resolved> {
        let local = self.by_seq.get(&seq)?;
        let a = local.attributes.view();
        let waits = a.cancellation_type().known() == Some(ActivityCancellationType::WaitCancellationCompleted);
        let original = Some(a.original_schedule_time_ms()).filter(|ms| *ms > 0.0).unwrap_or(local.time_ms);
        let data = Data {
            seq,
            id: local.id.clone(),
            kind: local.kind.clone(),
            attempt: a.attempt().max(1),
            activation_index: Some(activation_index),
            complete_ms: waits.then_some(local.time_ms),
            backoff_ms: None,
            original_schedule_ms: Some(original),
        };
        self.mark(Marker { data, outcome: Outcome::Cancelled(cancellation("Activity cancelled", None)) })
    }

    /// An attempt has ended in this process. One that nothing waits for any more changes nothing.
    pub fn resolve(&mut self, r: View<LocalActivityResolution>, activation_index: u32) -> Result<Option<Resolved>> {
        let Some(outcome) = Outcome::of_live(r.result()) else { return bad_value("LocalActivityResolution: result is not set") };
        check_duration("runtime_ms", r.runtime_ms())?;
        check_duration("backoff_ms", r.backoff_ms())?;
        check_duration("original_schedule_time_ms", r.original_schedule_time_ms())?;
        let backoff_ms = Some(r.backoff_ms()).filter(|ms| *ms > 0.0);
        if backoff_ms.is_some() && !matches!(outcome, Outcome::Failed(_)) {
            return bad_value("LocalActivityResolution: backoff_ms is set, but the result is not a failure");
        }
        let Some(local) = self.by_seq.get(&r.seq()).filter(|l| l.state == State::Running) else { return Ok(None) };
        let data = Data {
            seq: r.seq(),
            id: local.id.clone(),
            kind: local.kind.clone(),
            attempt: r.attempt().max(1),
            activation_index: Some(activation_index),
            complete_ms: Some((local.time_ms + r.runtime_ms()).floor()),
            backoff_ms,
            original_schedule_ms: Some(r.original_schedule_time_ms()),
        };
        Ok(self.mark(Marker { data, outcome }))
    }

    fn mark(&mut self, marker: Marker) -> Option<Resolved> {
        let seq = marker.data.seq;
        let local = self.by_seq.get_mut(&seq)?;
        local.state = State::Marked;
        let (attributes, groups) = (std::mem::take(&mut local.attributes), std::mem::take(&mut local.groups));
        self.open.remove(&seq);
        let released = Released { event_id: 0, complete_ms: marker.data.complete_ms, resolution: marker.resolution() };
        Some(Resolved { released, record: Record { marker, attributes, groups } })
    }

    /// The history of a live task is at its end: one that was to be cancelled on the way, and of which nothing was recorded, is
    /// cancelled without being run.
    pub fn settle_next_cancelled(&mut self, activation_index: u32) -> Option<Resolved> {
        let asked = |seq: &&u32| self.by_seq.get(seq).is_some_and(|l| l.state == State::Scheduled && l.cancel_requested);
        let seq = *self.open.iter().find(asked)?;
        self.settle_cancelled(seq, activation_index)
    }

    /// What the caller is to do, once; `None`: nothing, and nothing to wait for. `closing`: the run is about to end.
    pub fn work(&mut self, closing: bool, wait: bool, task_timeout_ms: f64) -> Option<Encoded<LocalWork>> {
        if closing {
            let running = |seq: &&u32| self.by_seq.get(seq).is_some_and(|l| l.state == State::Running);
            self.cancels.extend(self.open.iter().filter(running));
            self.open.clear();
        }
        let scheduled = |seq: &u32| self.by_seq.get(seq).is_some_and(|l| l.state == State::Scheduled);
        let start: Vec<u32> = self.open.iter().copied().filter(scheduled).collect();
        let wait = wait && self.are_running();
        if !wait && start.is_empty() && self.cancels.is_empty() && self.abandons.is_empty() {
            return None;
        }
        let work = build(|w: Put<LocalWork>| {
            let w = start.iter().fold(w, |w, seq| match self.by_seq.get_mut(seq) {
                Some(local) => {
                    local.state = State::Running;
                    w.add_start(|w| local.start(*seq, w))
                }
                None => w,
            });
            w.cancel(&self.cancels).abandon(&self.abandons).wait(wait).workflow_task_timeout_ms(task_timeout_ms)
        });
        self.cancels.clear();
        self.abandons.clear();
        Some(work)
    }

    /// Some run on.
    pub fn are_running(&self) -> bool {
        self.open.first().is_some()
    }

    /// The marker event of one that was resolved from the record. `check`: id and type are compared (flag 1). False: it was
    /// resolved here, and its marker waits in the queue.
    pub fn on_marker(&mut self, recorded: View<MarkerRecordedEventAttributes>, check: bool, event: EventRef) -> Result<bool> {
        let data = Data::read(recorded, event)?;
        let Some(local) = self.by_seq.get_mut(&data.seq) else {
            return Err(missing(MACHINE, data.seq).at_event(event));
        };
        if local.state == State::Marked {
            return Ok(false);
        }
        if local.state != State::Known {
            return Err(bad_transition("LocalActivityMachine", local.state, event));
        }
        if check {
            compare(&data, &local.id, &local.kind).at_event(event)?;
        }
        local.state = State::Recorded;
        Ok(true)
    }
}

fn compare(recorded: &Data, id: &str, kind: &str) -> Result<()> {
    const SIDES: (&str, &str) = ("recorded marker", "local activity command");
    if recorded.id != id {
        return Err(differs("id", SIDES.0, SIDES.1, codes::LOCAL_ACTIVITY_ID, &recorded.id, id));
    }
    if recorded.kind != kind {
        return Err(differs("type", SIDES.0, SIDES.1, codes::LOCAL_ACTIVITY_TYPE, &recorded.kind, kind));
    }
    Ok(())
}

impl Wait for Record {
    type Own = LocalActivities;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::ScheduleLocalActivity
    }

    fn command_type(&self) -> CommandType {
        CommandType::RecordMarker
    }

    fn seq(&self) -> u32 {
        self.marker.data.seq
    }

    fn meet(self, event: Attributes, at: EventRef, locals: &mut LocalActivities, run: &mut RunState) -> Result<()> {
        let Attributes::MarkerRecorded(recorded) = event else { return Err(wrong_type(NAME, at)) };
        if recorded.marker_name() != MARKER {
            return Err(wrong_type(NAME, at));
        }
        let Marker { data, outcome } = Marker::read(recorded, at)?;
        let own = &self.marker.data;
        if data.seq != own.seq {
            let text = format!(
                "Local activity marker data has sequence number {} but matched against LA command with sequence number {}",
                data.seq, own.seq
            );
            let e = nondeterminism(codes::LOCAL_ACTIVITY_RESULT, text);
            return Err(e.differing("seq", data.seq.to_string(), own.seq.to_string()));
        }
        if outcome.is_success() != self.marker.outcome.is_success() {
            let (here, there) =
                if self.marker.outcome.is_success() { ("completed successfully", "failed") } else { ("failed", "completed") };
            let text = format!("Local activity (seq {}) {here} locally, but history said it {there}!", own.seq);
            return Err(nondeterminism(codes::LOCAL_ACTIVITY_RESULT, text).differing("result", there, here));
        }
        if run.checks_identity() {
            compare(&data, &own.id, &own.kind)?;
        }
        if let Some(local) = locals.by_seq.get_mut(&data.seq) {
            local.state = State::Recorded;
        }
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        let w = w.record_marker_command_attributes(|w| self.marker.write(w));
        write_metadata(w, self.attributes.view().opt_summary(), None).all_of(self.groups.view())
    }
}
