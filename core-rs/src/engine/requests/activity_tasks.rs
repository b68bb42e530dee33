//! What the methods about activity tasks have in common: the activity that they mean, and failures that the engine makes of them.
use crate::engine::activity::{dequeue, next_attempt, next_retry, remove, write_end, write_started};
use crate::engine::codec;
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::messages::events::ActivityFailedAttrs;
use crate::engine::messages::failure::Failure;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::pending::Activity;
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;
use crate::engine::tokens::{self, TaskToken};

/// Which activity a request means: by its worker's token, or by its id.
pub enum Which {
    Token(TaskToken),
    Id { workflow_id: String, run_id: String, activity_id: String },
}

impl Which {
    pub fn token(bytes: &[u8]) -> Rpc<Which> {
        tokens::task(bytes).map(Which::Token)
    }

    /// Workflow id and run id.
    pub fn run(&self) -> (&str, &str) {
        match self {
            Which::Token(t) => (&t.workflow_id, &t.run_id),
            Which::Id { workflow_id, run_id, .. } => (workflow_id, run_id),
        }
    }
}

/// A step on the activity's run; the reply is empty.
pub fn respond(engine: &mut Engine, r: &Again, which: &Which, step: impl FnOnce(&mut Run, &mut Context) -> Rpc<()>) -> Rpc<()> {
    let (workflow_id, run_id) = which.run();
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        step(run, cx)?;
        cx.reply_bytes(r.request_id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}

/// The activity, if the request is about its current attempt. By id, an attempt that no worker polled counts as started now.
pub fn find(run: &mut Run, cx: &mut Context, which: &Which, identity: &str, may_fabricate: bool) -> Rpc<i64> {
    if !run.open() {
        return Err(rpc::workflow_completed());
    }
    match which {
        Which::Token(t) => match run.activities.get(&t.scheduled_id) {
            Some(a) if a.started() && a.state.nonce == t.nonce => Ok(t.scheduled_id),
            _ => Err(rpc::activity_task_not_found()),
        },
        Which::Id { activity_id, .. } => {
            let found = run.activity_ids.get(activity_id).copied().ok_or_else(rpc::activity_not_found)?;
            let started = run.activities.get(&found).is_some_and(Activity::started);
            if !started && !may_fabricate {
                return Err(rpc::activity_task_not_found());
            }
            if !started {
                dequeue(run, cx, found);
                let time = run.time(cx.now);
                if let Some(a) = run.activities.get_mut(&found) {
                    a.state.started_us = time;
                    a.state.identity = identity.into();
                    a.state.request_id.clear();
                }
            }
            Ok(found)
        }
    }
}

pub fn size_of(value: &Option<Vec<u8>>) -> usize {
    value.as_ref().map_or(0, Vec::len)
}

/// The attempt has failed: another one follows, or the activity ends.
pub fn end_by_failure(run: &mut Run, cx: &mut Context, id: i64, failure: Vec<u8>, identity: String) -> Rpc<()> {
    let time = run.time(cx.now);
    let Some(a) = run.activities.get(&id) else { return Err(rpc::activity_task_not_found()) };
    let view = codec::read::<Failure>(&failure).unwrap_or_default();
    match next_retry(a, time, &view) {
        Ok((at, interval)) => next_attempt(run, cx, id, at, interval, failure),
        Err(state) => {
            let Some(a) = remove(run, cx, id) else { return Err(rpc::activity_task_not_found()) };
            let started_event_id = write_started(run, a.state);
            let failure = Some(failure);
            let retry_state = state as i32;
            let attrs = ActivityFailedAttrs { failure, scheduled_event_id: id, started_event_id, identity, retry_state };
            write_end(run, cx, id, attrs);
        }
    }
    Ok(())
}
