//! PauseActivity, UnpauseActivity, ResetActivity, UpdateActivityOptions: what operators change of pending activities. Nothing of it
//! is an event of history.
use super::shared::*;
use crate::engine::activity::{dequeue, reschedule, touched};
use crate::engine::commands::schedule_activity::{ScheduleActivity, normalize_timeouts};
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::ActivityScheduledAttrs;
use crate::engine::retry;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::pending::Activity;
use crate::engine::state::request::Again;
use crate::engine::state::run::{Run, kind};
use crate::engine::time::{Micros, micros_or_zero};
use crate::proto::fields::google;
use crate::wire::Message;
use prost_types::Duration;

message! {
    PauseRequest: workflowservice::PauseActivityRequest {
        namespace str, execution msg(WorkflowExecution), identity str, id str, r#type str, reason str,
    }
    UnpauseRequest: workflowservice::UnpauseActivityRequest {
        namespace str, execution msg(WorkflowExecution), id str, r#type str, unpause_all bool, reset_attempts bool,
        reset_heartbeat bool, jitter dur,
    }
    ResetRequest: workflowservice::ResetActivityRequest {
        namespace str, execution msg(WorkflowExecution), id str, r#type str, reset_heartbeat bool, keep_paused bool, jitter dur,
        restore_original_options bool, match_all bool,
    }
    OptionsRequest: workflowservice::UpdateActivityOptionsRequest {
        namespace str, execution msg(WorkflowExecution), activity_options msg(ActivityOptions), update_mask raw(ANY), id str,
        r#type str, restore_original bool, match_all bool,
    }
    OptionsResponse: workflowservice::UpdateActivityOptionsResponse { activity_options msg(ActivityOptions), }
    ActivityOptions: activity::ActivityOptions {
        task_queue msg(TaskQueue), schedule_to_close_timeout dur, schedule_to_start_timeout dur, start_to_close_timeout dur,
        heartbeat_timeout dur, retry_policy msg(RetryPolicy), priority raw(PRIORITY),
    }
}

/// The options of a pending activity.
pub fn options(a: &Activity) -> ActivityOptions {
    ActivityOptions {
        task_queue: a.attrs.task_queue.clone(),
        schedule_to_close_timeout: a.attrs.schedule_to_close_timeout,
        schedule_to_start_timeout: a.attrs.schedule_to_start_timeout,
        start_to_close_timeout: a.attrs.start_to_close_timeout,
        heartbeat_timeout: a.attrs.heartbeat_timeout,
        retry_policy: a.attrs.retry_policy.clone(),
        priority: a.attrs.priority.clone(),
    }
}

/// The activities that a request means: one by id, those of a type, or all.
enum Which {
    Id(String),
    Type(String),
    All,
}

fn which(id: String, kind: String, all: bool) -> Rpc<Which> {
    match (id.is_empty(), kind.is_empty(), all) {
        (false, _, _) => Ok(Which::Id(id)),
        (_, false, _) => Ok(Which::Type(kind)),
        (_, _, true) => Ok(Which::All),
        _ => Err(rpc::invalid("Either Activity.Id or Activity.Type should be set on request.")),
    }
}

fn found(run: &Run, which: &Which) -> Rpc<Vec<i64>> {
    if !run.open() {
        return Err(rpc::workflow_completed());
    }
    let ids: Vec<i64> = match which {
        Which::Id(id) => run.activity_ids.get(id).copied().into_iter().collect(),
        Which::All => run.activities.keys().copied().collect(),
        Which::Type(name) => {
            let of_type = |a: &Activity| a.attrs.activity_type.as_ref().is_some_and(|t| t.name == *name);
            run.activities.iter().filter(|(_, a)| of_type(a)).map(|(id, _)| *id).collect()
        }
    };
    if ids.is_empty() { Err(rpc::activity_not_found()) } else { Ok(ids) }
}

/// A step on each of the activities; the reply is empty.
fn each(
    engine: &mut Engine,
    r: &Again,
    execution: &Option<WorkflowExecution>,
    which: Which,
    step: impl Fn(&mut Run, &mut Context, i64),
) -> Rpc<()> {
    let (workflow_id, run_id) = target(execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        for id in found(run, &which)? {
            step(run, cx, id);
        }
        cx.reply_bytes(r.request_id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}

pub fn pause(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: PauseRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = which(req.id, req.r#type, false)?;
    let (identity, reason) = (req.identity, req.reason);
    each(engine, r, &req.execution, which, |run, cx, id| {
        let time = run.time(cx.now);
        let Some(a) = run.activities.get_mut(&id).filter(|a| !a.paused()) else { return };
        a.state.paused_us = time;
        a.state.paused_by.clone_from(&identity);
        a.state.pause_reason.clone_from(&reason);
        // An attempt that a worker has continues.
        if !a.started() {
            dequeue(run, cx, id);
        }
        touched(run, id);
    })
}

pub fn unpause(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: UnpauseRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = which(req.id, req.r#type, req.unpause_all)?;
    each(engine, r, &req.execution, which, |run, cx, id| {
        let Some(a) = run.activities.get_mut(&id).filter(|a| a.paused()) else { return };
        resume(a);
        if req.reset_attempts {
            a.state.attempt = 1;
        }
        if req.reset_heartbeat && a.started() {
            // The running attempt keeps its time limit.
            a.state.resets_heartbeat = true;
        } else if req.reset_heartbeat {
            a.state.heartbeat_details = None;
            a.state.heartbeat_us = 0;
        }
        start_soon(run, cx, id, &req.jitter);
    })
}

fn resume(a: &mut Activity) {
    a.state.paused_us = 0;
    a.state.paused_by.clear();
    a.state.pause_reason.clear();
}

/// One that no worker has starts now, or at a random moment within the jitter.
fn start_soon(run: &mut Run, cx: &mut Context, id: i64, jitter: &Option<Duration>) {
    let started = run.activities.get(&id).is_none_or(Activity::started);
    if started {
        return touched(run, id);
    }
    let jitter = micros_or_zero(jitter);
    let delay = if jitter > 0 { (cx.rng.next() % jitter as u64) as Micros } else { 0 };
    reschedule(run, cx, id, run.time(cx.now) + delay);
}

pub fn reset(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: ResetRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = which(req.id, req.r#type, req.match_all)?;
    each(engine, r, &req.execution, which, |run, cx, id| {
        if req.restore_original_options {
            restore_options(run, id);
        }
        let Some(a) = run.activities.get_mut(&id) else { return };
        a.state.attempt = 1;
        a.state.was_reset = true;
        a.state.resets_heartbeat |= req.reset_heartbeat;
        if a.started() || a.paused() && req.keep_paused {
            return touched(run, id);
        }
        resume(a);
        start_soon(run, cx, id, &req.jitter);
    })
}

pub fn update(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: OptionsRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = which(req.id, req.r#type, req.match_all)?;
    let mask: Option<Vec<String>> = req.update_mask.as_deref().map(paths);
    if req.restore_original && mask.as_ref().is_some_and(|m| !m.is_empty()) {
        return Err(rpc::invalid("Both UpdateMask and RestoreOriginal are provided"));
    }
    let (workflow_id, run_id) = target(&req.execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        let ids = found(run, &which)?;
        if !req.restore_original {
            let Some(from) = &req.activity_options else {
                return Err(rpc::invalid("ActivityOptions are not provided"));
            };
            let Some(mask) = &mask else { return Err(rpc::invalid("UpdateMask is not provided")) };
            let changed = ids.iter().filter_map(|id| run.activities.get(id)).map(|a| merged(&a.attrs, from, mask));
            // If one cannot change, all stay as they are.
            let changed = changed.collect::<Rpc<Vec<_>>>()?;
            for (id, attrs) in ids.iter().zip(changed) {
                set_options(run, *id, attrs);
            }
        }
        for id in &ids {
            if req.restore_original {
                restore_options(run, *id);
            }
            settle(run, cx, *id);
        }
        let activity_options = ids.last().and_then(|id| run.activities.get(id)).map(options);
        cx.reply(r.request_id, &OptionsResponse { activity_options });
        Ok(())
    });
    Ok(())
}

/// The paths of a FieldMask, in any spelling of Temporal's API: without underscores, in lower case.
pub(super) fn paths(mask: &[u8]) -> Vec<String> {
    let text = |bytes| String::from_utf8_lossy(bytes).replace('_', "").to_lowercase();
    Message(mask)
        .all(google::FieldMask::paths)
        .map(text)
        .flat_map(|p| p.split(',').map(str::to_string).collect::<Vec<_>>())
        .collect()
}

fn merged(old: &ActivityScheduledAttrs, from: &ActivityOptions, mask: &[String]) -> Rpc<ActivityScheduledAttrs> {
    let mut new = ActivityScheduledAttrs { input: None, header: None, ..old.clone() };
    let given = from.retry_policy.clone();
    for path in mask {
        let absent = |what: &str| rpc::invalid(format!("{what} is not provided"));
        match path.as_str() {
            "taskqueue.name" | "taskqueue" => {
                let name = &from.task_queue.as_ref().ok_or_else(|| absent("TaskQueue"))?.name;
                if let Some(why) = limits::bad_queue(name) {
                    return Err(rpc::invalid(format!("task queue name {why}")));
                }
                new.task_queue.get_or_insert_default().name.clone_from(name);
            }
            "scheduletoclosetimeout" => new.schedule_to_close_timeout = from.schedule_to_close_timeout,
            "scheduletostarttimeout" => new.schedule_to_start_timeout = from.schedule_to_start_timeout,
            "starttoclosetimeout" => new.start_to_close_timeout = from.start_to_close_timeout,
            "heartbeattimeout" => new.heartbeat_timeout = from.heartbeat_timeout,
            path if path.starts_with("retrypolicy") => {
                let given = given.as_ref().ok_or_else(|| absent("RetryPolicy"))?;
                let retry = new.retry_policy.get_or_insert_default();
                let field = path.trim_start_matches("retrypolicy").trim_start_matches('.');
                let all = field.is_empty();
                if all || field == "initialinterval" {
                    retry.initial_interval = given.initial_interval;
                }
                if all || field == "backoffcoefficient" {
                    retry.backoff_coefficient = given.backoff_coefficient;
                }
                if all || field == "maximuminterval" {
                    retry.maximum_interval = given.maximum_interval;
                }
                if all || field == "maximumattempts" {
                    retry.maximum_attempts = given.maximum_attempts;
                }
            }
            _ => {}
        }
    }
    let mut checked = ScheduleActivity {
        activity_id: new.activity_id.clone(),
        activity_type: new.activity_type.clone(),
        schedule_to_close_timeout: new.schedule_to_close_timeout,
        schedule_to_start_timeout: new.schedule_to_start_timeout,
        start_to_close_timeout: new.start_to_close_timeout,
        heartbeat_timeout: new.heartbeat_timeout,
        ..Default::default()
    };
    normalize_timeouts(&mut checked, 0).map_err(rpc::invalid)?;
    if mask.iter().any(|path| path.starts_with("retrypolicy")) {
        let retry = new.retry_policy.get_or_insert_default();
        retry::fill_defaults(retry);
        retry::check(retry).map_err(rpc::invalid)?;
    }
    new.schedule_to_close_timeout = checked.schedule_to_close_timeout;
    new.schedule_to_start_timeout = checked.schedule_to_start_timeout;
    new.start_to_close_timeout = checked.start_to_close_timeout;
    new.heartbeat_timeout = checked.heartbeat_timeout;
    Ok(new)
}

/// Replaces the options; input and header stay.
fn set_options(run: &mut Run, id: i64, new: ActivityScheduledAttrs) {
    let Some(a) = run.activities.get_mut(&id) else { return };
    if a.state.original.is_none() {
        a.state.original = Some(ActivityScheduledAttrs { input: None, header: None, ..a.attrs.clone() });
    }
    let (input, header) = (a.attrs.input.take(), a.attrs.header.take());
    a.attrs = ActivityScheduledAttrs { input, header, ..new };
    let expires = micros_or_zero(&a.attrs.schedule_to_close_timeout);
    a.state.expiration_us = if expires > 0 { a.state.first_scheduled_us + expires } else { 0 };
    if a.attrs_stored {
        run.mark(kind::ACTIVITY_INPUT, id.to_string());
    }
}

fn restore_options(run: &mut Run, id: i64) {
    let Some(original) = run.activities.get_mut(&id).and_then(|a| a.state.original.take()) else { return };
    set_options(run, id, original);
    if let Some(a) = run.activities.get_mut(&id) {
        a.state.original = None;
    }
}

/// The changed options count at once: for the queue, and for the time of the next attempt.
fn settle(run: &mut Run, cx: &mut Context, id: i64) {
    let now = run.time(cx.now);
    let Some(a) = run.activities.get_mut(&id) else { return };
    if a.started() || a.paused() {
        return touched(run, id);
    }
    if a.state.attempt > 1
        && let Some(policy) = &a.attrs.retry_policy
    {
        let interval = retry::interval(policy, a.state.attempt - 1);
        a.state.last_interval_us = interval;
        a.state.scheduled_us = a.state.last_complete_us.saturating_add(interval);
    }
    dequeue(run, cx, id);
    let due = run.activities.get(&id).is_some_and(|a| a.is_first() || a.state.scheduled_us <= now);
    touched(run, id);
    if due {
        run.to_queue.push(id);
    }
}
