//! Checks a workflow task's commands and messages against the run before anything is written, so that applying them cannot fail.
//! What is wrong becomes a failed workflow task with the server's cause, never half a transition.

use super::codec::{self, Wire};
use super::cx::Cx;
use super::limits::{self, Limits};
use super::rpc;
use super::state::Run;
use super::time::{Micros, duration, micros};
use super::updates::Stage;
use super::wire::*;
use crate::api::enums::v1::{CommandType, WorkflowTaskFailedCause as Cause};
use crate::boundary::RpcError;
use crate::sorted::{SortedMap, SortedSet};

/// The task fails with this cause; an empty message stands for the cause alone.
#[derive(Debug)]
pub struct TaskFailure {
    pub cause: Cause,
    pub message: String,
}

impl TaskFailure {
    /// As the server words it for the worker and in the event.
    pub fn text(&self) -> String {
        if self.message.is_empty() { format!("{:?}", self.cause) } else { format!("{:?}: {}", self.cause, self.message) }
    }
}

pub enum Reject {
    Task(TaskFailure),
    /// The request itself is malformed; the task stays as it is.
    Request(Box<RpcError>),
}

pub(super) fn bad<T>(cause: Cause, message: impl Into<String>) -> Result<T, Reject> {
    Err(Reject::Task(TaskFailure { cause, message: message.into() }))
}

/// One step of the completion, in the order in which events are written.
pub enum Step {
    Command(Box<Command>),
    Message(UpdateMessage),
}

/// A message of the update protocol, decoded.
pub struct UpdateMessage {
    pub update_id: String,
    pub body: UpdateBody,
}

pub enum UpdateBody {
    Accept(Acceptance),
    Reject(Rejection),
    Answer(UpdateAnswer),
}

pub(super) struct Planner<'a> {
    pub(super) run: &'a Run,
    pub(super) namespace: &'a str,
    limits: &'a Limits,
    timers: SortedMap<String, bool>,
    activities: SortedSet<String>,
    cancelled: SortedSet<i64>,
    unfired: SortedSet<String>,
    updates: SortedMap<String, Option<Stage>>,
    /// Workflow ids.
    pub(super) started_children: Vec<String>,
    pub(super) signals: usize,
    pub(super) cancels: usize,
    messages: Vec<Option<ProtocolMessage>>,
    steps: Vec<Step>,
}

/// Turns the lists of a completion into steps, or says why not.
pub fn plan(run: &Run, cx: &Cx, commands: Vec<Command>, messages: Vec<ProtocolMessage>) -> Result<Vec<Step>, Reject> {
    let mut p = Planner {
        run,
        namespace: &cx.namespace,
        limits: &cx.limits,
        timers: SortedMap::new(),
        activities: SortedSet::new(),
        cancelled: SortedSet::new(),
        unfired: SortedSet::new(),
        updates: SortedMap::new(),
        started_children: Vec::new(),
        signals: 0,
        cancels: 0,
        messages: messages.into_iter().map(Some).collect(),
        steps: Vec::with_capacity(commands.len()),
    };
    let last = commands.len();
    for (i, command) in commands.into_iter().enumerate() {
        p.command(command, i + 1 == last)?;
    }
    // Acceptances and answers that no command placed come after the commands; rejections are always here.
    for i in 0..p.messages.len() {
        if let Some(message) = p.messages[i].take() {
            p.message(message)?;
        }
    }
    Ok(p.steps)
}

pub(super) fn over(id: &str) -> bool {
    limits::bad_id(id).is_some()
}

impl Planner<'_> {
    pub(super) fn size(&self, what: &str, bytes: usize) -> Result<(), Reject> {
        if bytes > self.limits.payload_bytes {
            let limit = self.limits.payload_bytes;
            return bad(Cause::PayloadsTooLarge, format!("{what} exceeds size limit: {bytes} bytes, at most {limit}."));
        }
        Ok(())
    }

    pub(super) fn payloads(&self, what: &str, value: &Option<Vec<u8>>) -> Result<(), Reject> {
        self.size(what, value.as_ref().map_or(0, Vec::len))
    }

    fn terminal(&self, kind: CommandType, is_last: bool) -> Result<(), Reject> {
        if !is_last {
            let text = format!("invalid command sequence: command {} must be the last command.", kind.as_str_name());
            return Err(Reject::Request(rpc::invalid(text)));
        }
        let left = self.run.buffer.len() - self.unfired.len();
        if left > 0 {
            return bad(Cause::UnhandledCommand, "");
        }
        Ok(())
    }

    fn command(&mut self, mut c: Command, is_last: bool) -> Result<(), Reject> {
        let Ok(kind) = CommandType::try_from(c.command_type) else {
            return Err(Reject::Request(rpc::invalid(format!("Unknown command type: {}", c.command_type))));
        };
        match kind {
            CommandType::ScheduleActivityTask => self.schedule_activity(&mut c)?,
            CommandType::RequestCancelActivityTask => self.cancel_activity(&c)?,
            CommandType::StartTimer => self.start_timer(&c)?,
            CommandType::CancelTimer => self.cancel_timer(&c)?,
            CommandType::StartChildWorkflowExecution => self.start_child(&mut c)?,
            CommandType::SignalExternalWorkflowExecution => self.signal_external(&c)?,
            CommandType::RequestCancelExternalWorkflowExecution => self.cancel_external(&c)?,
            CommandType::RecordMarker => {
                const CAUSE: Cause = Cause::BadRecordMarkerAttributes;
                let Some(a) = &c.marker else {
                    return bad(CAUSE, "RecordMarkerCommandAttributes is not set on RecordMarkerCommand.");
                };
                if a.marker_name.is_empty() {
                    return bad(CAUSE, "MarkerName is not set on RecordMarkerCommand.");
                }
                if over(&a.marker_name) {
                    return bad(CAUSE, "MarkerName on RecordMarkerCommand exceeds length limit or contains a NUL character.");
                }
                self.size("RecordMarkerCommandAttributes.Details", a.details.iter().map(Vec::len).sum())?;
            }
            CommandType::UpsertWorkflowSearchAttributes => {
                const CAUSE: Cause = Cause::BadSearchAttributes;
                let Some(a) = &c.upsert_search_attributes else {
                    return bad(
                        CAUSE,
                        "UpsertWorkflowSearchAttributesCommandAttributes is not set on UpsertWorkflowSearchAttributesCommand.",
                    );
                };
                match &a.search_attributes {
                    None => return bad(CAUSE, "SearchAttributes is not set on UpsertWorkflowSearchAttributesCommand."),
                    Some(b) if b.is_empty() => {
                        return bad(CAUSE, "IndexedFields is not set on UpsertWorkflowSearchAttributesCommand.");
                    }
                    Some(_) => self.payloads("UpsertWorkflowSearchAttributesCommandAttributes", &a.search_attributes)?,
                }
            }
            CommandType::ModifyWorkflowProperties => {
                const CAUSE: Cause = Cause::BadModifyWorkflowPropertiesAttributes;
                let Some(a) = &c.modify_properties else {
                    return bad(
                        CAUSE,
                        "ModifyWorkflowPropertiesCommandAttributes is not set on ModifyWorkflowPropertiesCommand.",
                    );
                };
                match &a.upserted_memo {
                    None => return bad(CAUSE, "UpsertedMemo is not set on ModifyWorkflowPropertiesCommand."),
                    Some(b) if b.is_empty() => {
                        return bad(CAUSE, "UpsertedMemo.Fields is not set on ModifyWorkflowPropertiesCommand.");
                    }
                    Some(_) => self.payloads("ModifyWorkflowPropertiesCommandAttributes.UpsertedMemo", &a.upserted_memo)?,
                }
            }
            CommandType::ProtocolMessage => {
                const CAUSE: Cause = Cause::BadUpdateWorkflowExecutionMessage;
                let Some(a) = &c.protocol_message else {
                    return bad(CAUSE, "ProtocolMessageCommandAttributes is not set on ProtocolMessageCommand.");
                };
                if a.message_id.is_empty() {
                    return bad(CAUSE, "MessageID is not set on ProtocolMessageCommand.");
                }
                let found = self.messages.iter_mut().find(|m| m.as_ref().is_some_and(|m| m.id == a.message_id));
                let Some(message) = found.and_then(Option::take) else {
                    return bad(CAUSE, format!("ProtocolMessageCommand referenced absent message ID {}", a.message_id));
                };
                return self.message(message);
            }
            CommandType::CompleteWorkflowExecution => {
                self.terminal(kind, is_last)?;
                let Some(a) = &c.complete else {
                    return bad(
                        Cause::BadCompleteWorkflowExecutionAttributes,
                        "CompleteWorkflowExecutionCommandAttributes is not set on CompleteWorkflowExecutionCommand.",
                    );
                };
                self.payloads("CompleteWorkflowExecutionCommandAttributes.Result", &a.result)?;
            }
            CommandType::FailWorkflowExecution => {
                self.terminal(kind, is_last)?;
                const CAUSE: Cause = Cause::BadFailWorkflowExecutionAttributes;
                let Some(a) = &c.fail else {
                    return bad(CAUSE, "FailWorkflowExecutionCommandAttributes is not set on FailWorkflowExecutionCommand.");
                };
                if a.failure.is_none() {
                    return bad(CAUSE, "Failure is not set on FailWorkflowExecutionCommand.");
                }
                self.payloads("FailWorkflowExecutionCommandAttributes.Failure", &a.failure)?;
            }
            CommandType::CancelWorkflowExecution => {
                self.terminal(kind, is_last)?;
                let Some(a) = &c.cancel else {
                    return bad(
                        Cause::BadCancelWorkflowExecutionAttributes,
                        "CancelWorkflowExecutionCommandAttributes is not set on CancelWorkflowExecutionCommand.",
                    );
                };
                self.payloads("CancelWorkflowExecutionCommandAttributes.Details", &a.details)?;
            }
            CommandType::ContinueAsNewWorkflowExecution => {
                self.terminal(kind, is_last)?;
                self.continue_as_new(&mut c)?;
            }
            _ => {
                let text = format!("command {} is not supported by this engine", kind.as_str_name());
                return bad(Cause::FeatureDisabled, text);
            }
        }
        self.steps.push(Step::Command(Box::new(c)));
        Ok(())
    }

    fn schedule_activity(&mut self, c: &mut Command) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadScheduleActivityAttributes;
        let Some(a) = &mut c.schedule_activity else {
            return bad(CAUSE, "ScheduleActivityTaskCommandAttributes is not set on ScheduleActivityTaskCommand.");
        };
        if a.activity_id.is_empty() {
            return bad(CAUSE, "activityId is not set");
        }
        let kind = a.activity_type.as_ref().map_or("", |t| &t.name);
        if kind.is_empty() {
            return bad(CAUSE, "activityType is not set");
        }
        if over(&a.activity_id) || over(kind) {
            return bad(CAUSE, "activityId or activityType exceeds length limit or contains a NUL character");
        }
        let queue = a.task_queue.get_or_insert_default();
        if queue.name.is_empty() {
            queue.name = self.run.head.task_queue.clone();
        }
        if over(&queue.name) {
            return bad(CAUSE, "task queue name exceeds length limit or contains a NUL character");
        }
        queue.kind = crate::api::enums::v1::TaskQueueKind::Normal as i32;
        queue.normal_name.clear();
        if let Err(why) = normalize_timeouts(a, self.run.head.run_timeout_us) {
            return bad(CAUSE, why);
        }
        let policy = a.retry_policy.get_or_insert_default();
        retry_defaults(policy);
        if let Err(why) = check_retry_policy(policy) {
            return bad(CAUSE, why);
        }
        let input = &a.input;
        self.payloads("ScheduleActivityTaskCommandAttributes.Input", input)?;
        if self.run.activities.len() + self.activities.len() >= limits::PENDING_ACTIVITIES {
            let text = format!("the number of pending activities has reached the limit of {}", limits::PENDING_ACTIVITIES);
            return bad(Cause::PendingActivitiesLimitExceeded, text);
        }
        if self.run.activity_ids.contains_key(&a.activity_id) || !self.activities.insert(a.activity_id.clone()) {
            return bad(Cause::ScheduleActivityDuplicateId, format!("activity ID {} is already in use", a.activity_id));
        }
        Ok(())
    }

    fn cancel_activity(&mut self, c: &Command) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadRequestCancelActivityAttributes;
        let id = c.cancel_activity.as_ref().map_or(0, |a| a.scheduled_event_id);
        if c.cancel_activity.is_none() {
            return bad(CAUSE, "RequestCancelActivityTaskCommandAttributes is not set on RequestCancelActivityTaskCommand.");
        }
        if id <= 0 {
            return bad(CAUSE, "ScheduledEventId is not set on RequestCancelActivityTaskCommand.");
        }
        let known = match self.run.activities.get(&id) {
            Some(a) => a.state.cancel_requested_id == 0,
            None => self.run.buffered_activity_end(id),
        };
        if !known || !self.cancelled.insert(id) {
            return bad(CAUSE, format!("no activity to cancel with ScheduledEventID: {id}"));
        }
        Ok(())
    }

    fn timer_open(&self, id: &str) -> bool {
        self.timers.get(id).copied().unwrap_or_else(|| self.run.timers.contains_key(id))
    }

    fn start_timer(&mut self, c: &Command) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadStartTimerAttributes;
        let Some(a) = &c.start_timer else {
            return bad(CAUSE, "StartTimerCommandAttributes is not set on StartTimerCommand.");
        };
        if a.timer_id.is_empty() {
            return bad(CAUSE, "TimerId is not set on StartTimerCommand.");
        }
        if over(&a.timer_id) {
            return bad(CAUSE, "TimerId on StartTimerCommand exceeds length limit or contains a NUL character.");
        }
        if let Err(why) = micros(&a.start_to_fire_timeout) {
            let text = format!("An invalid StartToFireTimeout is set on StartTimerCommand: {why}. TimerId={}", a.timer_id);
            return bad(CAUSE, text);
        }
        if self.timer_open(&a.timer_id) {
            return bad(Cause::StartTimerDuplicateId, format!("TimerID: {}", a.timer_id));
        }
        self.timers.insert(a.timer_id.clone(), true);
        Ok(())
    }

    fn cancel_timer(&mut self, c: &Command) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadCancelTimerAttributes;
        let Some(a) = &c.cancel_timer else {
            return bad(CAUSE, "CancelTimerCommandAttributes is not set on CancelTimerCommand.");
        };
        if a.timer_id.is_empty() {
            return bad(CAUSE, "TimerId is not set on CancelTimerCommand.");
        }
        if self.timer_open(&a.timer_id) {
            self.timers.insert(a.timer_id.clone(), false);
            return Ok(());
        }
        if self.run.buffered_fire(&a.timer_id).is_some() && self.unfired.insert(a.timer_id.clone()) {
            return Ok(());
        }
        bad(CAUSE, format!("TimerID: {}", a.timer_id))
    }

    fn continue_as_new(&self, c: &mut Command) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadContinueAsNewAttributes;
        let Some(a) = &mut c.continue_as_new else {
            let text = "ContinueAsNewWorkflowExecutionCommandAttributes is not set on ContinueAsNewWorkflowExecutionCommand.";
            return bad(CAUSE, text);
        };
        let head = &self.run.head;
        let kind = a.workflow_type.get_or_insert_default();
        if kind.name.is_empty() {
            kind.name = head.workflow_type.clone();
        }
        if over(&kind.name) {
            return bad(
                CAUSE,
                "WorkflowType on ContinueAsNewWorkflowExecutionCommand exceeds length limit or contains a NUL character.",
            );
        }
        let queue = a.task_queue.get_or_insert_default();
        if queue.name.is_empty() {
            queue.name = head.task_queue.clone();
        }
        if over(&queue.name) {
            return bad(
                CAUSE,
                "TaskQueue on ContinueAsNewWorkflowExecutionCommand exceeds length limit or contains a NUL character.",
            );
        }
        queue.kind = crate::api::enums::v1::TaskQueueKind::Normal as i32;
        queue.normal_name.clear();
        if !a.cron_schedule.is_empty() {
            return bad(CAUSE, "cron schedules are not supported by this engine");
        }
        for (name, d) in [
            ("WorkflowRunTimeout", &a.workflow_run_timeout),
            ("WorkflowTaskTimeout", &a.workflow_task_timeout),
            ("BackoffStartInterval", &a.backoff_start_interval),
        ] {
            if let Err(why) = micros(d) {
                return bad(CAUSE, format!("Invalid {name} on ContinueAsNewWorkflowExecutionCommand: {why}."));
            }
        }
        if let Some(policy) = &mut a.retry_policy {
            retry_defaults(policy);
            if let Err(why) = check_retry_policy(policy) {
                return bad(CAUSE, format!("invalid WorkflowRetryPolicy on ContinueAsNewWorkflowExecutionCommand: {why}"));
            }
        }
        self.payloads("ContinueAsNewWorkflowExecutionCommandAttributes. Input", &a.input)?;
        self.payloads("ContinueAsNewWorkflowExecutionCommandAttributes. Header", &a.header)?;
        self.payloads("ContinueAsNewWorkflowExecutionCommandAttributes. SearchAttributes", &a.search_attributes)?;
        if a.memo.as_ref().map_or(0, Vec::len) > limits::MEMO_BYTES {
            return bad(Cause::PayloadsTooLarge, "ContinueAsNewWorkflowExecutionCommandAttributes. Memo exceeds size limit.");
        }
        Ok(())
    }

    fn message(&mut self, m: ProtocolMessage) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadUpdateWorkflowExecutionMessage;
        let id = m.protocol_instance_id;
        let Some(body) = m.body else {
            return bad(CAUSE, format!("Update {id} received message with nil body"));
        };
        self.size("update message", body.value.len())?;
        fn decode<T: Wire + Default>(value: &[u8]) -> Result<T, Reject> {
            codec::read(value).or_else(|e| bad(CAUSE, format!("unable to unmarshal request: {}", e.0)))
        }
        let name = body.type_url.rsplit('/').next().unwrap_or_default();
        let body = match name {
            "temporal.api.update.v1.Acceptance" => UpdateBody::Accept(decode(&body.value)?),
            "temporal.api.update.v1.Rejection" => UpdateBody::Reject(decode(&body.value)?),
            "temporal.api.update.v1.Response" => UpdateBody::Answer(decode(&body.value)?),
            _ => return bad(CAUSE, format!("Message type {} not supported", body.type_url)),
        };
        let stage = match self.updates.get(&id) {
            Some(stage) => *stage,
            None => self.run.updates.get(&id).map(|u| u.stage),
        };
        // An update that this engine has forgotten (it was only admitted when the engine stopped) comes back with its request.
        let pending = match (stage, &body) {
            (Some(s), _) => s,
            (None, UpdateBody::Accept(a)) if a.accepted_request.is_some() => Stage::Admitted,
            (None, UpdateBody::Reject(r)) if r.rejected_request.is_some() => Stage::Admitted,
            (None, _) => {
                let text = format!(
                    "update {id} wasn't found on the server. This is most likely a transient error which will be resolved automatically by retries"
                );
                return bad(CAUSE, text);
            }
        };
        let next = match (&body, pending) {
            (UpdateBody::Accept(a), Stage::Admitted | Stage::Sent) => {
                if a.accepted_request_message_id.is_empty() && a.accepted_request.is_none() && stage.is_none() {
                    return bad(CAUSE, "accepted_request is not set");
                }
                Some(Stage::Accepted)
            }
            (UpdateBody::Reject(r), Stage::Admitted | Stage::Sent) => {
                if r.failure.is_none() {
                    return bad(CAUSE, format!("invalid Rejection of update {id}: failure is not set"));
                }
                None
            }
            (UpdateBody::Answer(a), Stage::Accepted) => {
                if a.outcome.is_none() {
                    return bad(CAUSE, format!("invalid Response of update {id}: outcome is not set"));
                }
                Some(Stage::Completed)
            }
            (_, stage) => {
                return bad(CAUSE, format!("invalid state transition attempted for Update {id}: {name} in state {stage:?}"));
            }
        };
        self.updates.insert(id.clone(), next);
        self.steps.push(Step::Message(UpdateMessage { update_id: id, body }));
        Ok(())
    }
}

/// Fills the timeouts of an activity that were left out, as a server does; unset ones become explicit zeros.
fn normalize_timeouts(a: &mut ScheduleActivity, run_timeout: Micros) -> Result<(), String> {
    let read = |name: &str, d| micros(d).map_err(|why| format!("invalid {name}: {why}"));
    let mut close = read("ScheduleToCloseTimeout", &a.schedule_to_close_timeout)?;
    let mut start = read("ScheduleToStartTimeout", &a.schedule_to_start_timeout)?;
    let mut run = read("StartToCloseTimeout", &a.start_to_close_timeout)?;
    let mut beat = read("HeartbeatTimeout", &a.heartbeat_timeout)?;
    if close > 0 {
        start = if start > 0 { start.min(close) } else { close };
        run = if run > 0 { run.min(close) } else { close };
    } else if run > 0 {
        close = run_timeout;
        start = if start > 0 { start } else { run_timeout };
    } else {
        return Err(format!(
            "a valid StartToCloseTimeout or ScheduleToCloseTimeout must be set on the activity. ActivityId={} ActivityType={}",
            a.activity_id,
            a.activity_type.as_ref().map_or("", |t| &t.name)
        ));
    }
    if run_timeout > 0 {
        for t in [&mut close, &mut start, &mut run, &mut beat] {
            *t = (*t).min(run_timeout);
        }
    }
    beat = beat.min(run);
    a.schedule_to_close_timeout = Some(duration(close));
    a.schedule_to_start_timeout = Some(duration(start));
    a.start_to_close_timeout = Some(duration(run));
    a.heartbeat_timeout = Some(duration(beat));
    Ok(())
}

/// Server defaults: 1 s, factor 2, at most 100 times the first interval, unlimited attempts.
pub fn retry_defaults(p: &mut RetryPolicy) {
    if micros(&p.initial_interval) == Ok(0) {
        p.initial_interval = Some(duration(super::time::SECOND));
    }
    if p.backoff_coefficient == 0.0 {
        p.backoff_coefficient = 2.0;
    }
    if micros(&p.maximum_interval) == Ok(0) {
        let initial = micros(&p.initial_interval).unwrap_or(super::time::SECOND);
        p.maximum_interval = Some(duration(initial.saturating_mul(100)));
    }
}

pub fn check_retry_policy(p: &RetryPolicy) -> Result<(), String> {
    let initial =
        micros(&p.initial_interval).map_err(|e| format!("InitialInterval cannot be negative on retry policy ({e})."))?;
    let maximum =
        micros(&p.maximum_interval).map_err(|e| format!("MaximumInterval cannot be negative on retry policy ({e})."))?;
    if p.maximum_attempts == 1 {
        return Ok(());
    }
    if p.backoff_coefficient.is_nan() || p.backoff_coefficient < 1.0 {
        return Err("BackoffCoefficient cannot be less than 1 on retry policy.".into());
    }
    if maximum > 0 && maximum < initial {
        return Err("MaximumInterval cannot be less than InitialInterval on retry policy.".into());
    }
    if p.maximum_attempts < 0 {
        return Err("MaximumAttempts cannot be negative on retry policy.".into());
    }
    Ok(())
}
