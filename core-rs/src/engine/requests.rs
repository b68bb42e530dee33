//! Requests in: decoded, checked, led to their run. Polls stay open; everything else is answered or waits in its run.
use super::Engine;
use super::activity::{self, Which};
use super::codec::{self, Wire};
use super::cx::{Again, Cx, Wait};
use super::event::About;
use super::payload::text_payloads;
use super::queues::Side;
use super::rpc::{self, Rpc};
use super::runs::Found;
use super::start::{self, Start};
use super::state::{Run, kind};
use super::tokens;
use super::updates::{self, UpdateWait};
use super::wire::*;
use super::{close, complete, describe, limits, outgoing, queries, read_history};
use crate::api::enums::v1::{UpdateWorkflowExecutionLifecycleStage as Wanted, WorkflowExecutionStatus as Status};
use crate::boundary::EngineMethod as Method;

/// A decoded and checked body, or what is wrong with it.
fn decode<T: Wire + Default>(body: &[u8]) -> Rpc<T> {
    let mut message = T::default();
    decode_into(&mut message, body)?;
    Ok(message)
}

fn decode_into(message: &mut dyn Wire, body: &[u8]) -> Rpc<()> {
    codec::merge(message, body).map_err(|bad| rpc::invalid(format!("the request does not decode: {}", bad.0)))
}

fn target(e: &Option<WorkflowExecution>) -> (&str, &str) {
    e.as_ref().map_or(("", ""), |e| (&e.workflow_id, &e.run_id))
}

/// An update that is well-formed.
struct Update {
    /// The request, with an update id.
    again: Again,
    wanted: Wanted,
    body: Vec<u8>,
    id: String,
    execution: Option<WorkflowExecution>,
    first_run_id: String,
}

impl Engine {
    pub(super) fn handle(&mut self, r: Again) {
        let id = r.request_id;
        if let Err(e) = self.route(r) {
            self.cx.fail(id, e);
        }
        self.handle_again();
    }

    /// Requests that moved to another run, oldest first.
    pub(super) fn handle_again(&mut self) {
        for again in std::mem::take(&mut self.cx.again) {
            self.handle(again);
        }
    }

    fn namespace(&self, name: &str) -> Rpc<()> {
        if name.is_empty() || name == self.cx.namespace { Ok(()) } else { Err(rpc::namespace_not_found(name)) }
    }

    /// Runs a step on the run that the request names; its error goes to the caller.
    fn on_run(&mut self, r: &Again, workflow_id: &str, run_id: &str, step: impl FnOnce(&mut Run, &mut Cx) -> Rpc<()>) {
        let Some(slot) = self.resolve(workflow_id, run_id, r) else { return };
        if let Some(Err(e)) = self.with_run(slot, step) {
            self.cx.fail(r.request_id, e);
        }
    }

    fn route(&mut self, r: Again) -> Rpc<()> {
        let id = r.request_id;
        match r.method {
            Method::Unspecified => return Err(rpc::unimplemented("unknown method")),
            Method::StartWorkflowExecution => {
                let req: StartRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let start = start::checked(&self.cx, req)?;
                let update = match self.cx.pairs.get(&id) {
                    Some(pair) => Some(self.check_pair(id, &start, pair.update.clone())?),
                    None => None,
                };
                self.start(&r, start, None)?;
                // Not yet when the start waits for the store: then it comes by here again.
                let started = self.cx.pairs.get(&id).is_some_and(|pair| pair.started.is_some());
                if let (true, Some(update)) = (started, update) {
                    return self.update(update);
                }
                return Ok(());
            }
            Method::SignalWithStartWorkflowExecution => {
                let mut req: SignalWithStartRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let input = req.signal_input.take();
                let signal = SignalRequest {
                    signal_name: std::mem::take(&mut req.signal_name),
                    input,
                    identity: req.identity.clone(),
                    request_id: req.request_id.clone(),
                    header: req.header.clone(),
                    ..Default::default()
                };
                check_signal(&self.cx, &signal)?;
                let start = start::checked(&self.cx, req.into())?;
                return self.start(&r, start, Some(signal));
            }
            Method::SignalWorkflowExecution => {
                let req: SignalRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                check_signal(&self.cx, &req)?;
                let execution = req.workflow_execution.clone();
                let (workflow_id, run_id) = target(&execution);
                self.on_run(&r, workflow_id, run_id, |run, cx| {
                    signal(run, cx, req)?;
                    cx.reply_bytes(id, Vec::new(), None);
                    Ok(())
                });
            }
            Method::RequestCancelWorkflowExecution => {
                let req: CancelRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let (workflow_id, run_id) = target(&req.workflow_execution);
                self.on_run(&r, workflow_id, run_id, |run, cx| request_cancel(run, cx, id, &req));
            }
            Method::TerminateWorkflowExecution => {
                let req: TerminateRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let execution = req.workflow_execution.clone();
                let (workflow_id, run_id) = target(&execution);
                self.on_run(&r, workflow_id, run_id, |run, cx| {
                    check_first_run(run, &req.first_execution_run_id)?;
                    if !run.open() {
                        return Err(rpc::workflow_completed());
                    }
                    // A server's words, which tools show.
                    let own = || "terminated by user via frontend".to_string();
                    let reason = Some(req.reason).filter(|r| !r.is_empty()).unwrap_or_else(own);
                    close::terminate(run, cx, reason, req.details, req.identity);
                    cx.reply_bytes(id, Vec::new(), None);
                    Ok(())
                });
            }
            Method::DescribeWorkflowExecution => {
                let req: DescribeRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let (workflow_id, run_id) = target(&req.execution);
                self.on_run(&r, workflow_id, run_id, |run, cx| {
                    let response = describe::describe(run, &cx.namespace, cx.now);
                    cx.reply(id, &response);
                    Ok(())
                });
            }
            Method::GetWorkflowExecutionHistory => {
                let req: GetHistoryRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let (workflow_id, run_id) = target(&req.execution);
                let run_id = if req.next_page_token.is_empty() {
                    run_id.to_string()
                } else {
                    let token = tokens::history(&req.next_page_token)?;
                    if !run_id.is_empty() && run_id != token.run_id {
                        return Err(rpc::invalid("RunId in the request does not match the NextPageToken."));
                    }
                    token.run_id
                };
                let workflow_id = workflow_id.to_string();
                self.on_run(&r, &workflow_id, &run_id, |run, cx| read_history::request(run, cx, id, req));
            }
            Method::QueryWorkflow => {
                let req: QueryRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                if req.query.is_none() {
                    return Err(rpc::invalid("Query is not set on request."));
                }
                start::check_size(&self.cx, "Query", req.query.as_ref().map_or(0, Vec::len))?;
                let execution = req.execution.clone();
                let (workflow_id, run_id) = target(&execution);
                self.on_run(&r, workflow_id, run_id, |run, cx| queries::request(run, cx, id, req));
            }
            Method::UpdateWorkflowExecution => {
                let update = self.check_update(&r)?;
                return self.update(update);
            }
            Method::PollWorkflowExecutionUpdate => {
                let req: PollUpdateRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let Some(update) = &req.update_ref else { return Err(rpc::invalid("UpdateRef is not set on request.")) };
                let stage = req.wait_policy.as_ref().map_or(0, |p| p.lifecycle_stage);
                let wanted = Wanted::try_from(stage).unwrap_or(Wanted::Unspecified);
                let (workflow_id, run_id) = target(&update.workflow_execution);
                self.on_run(&r, workflow_id, run_id, |run, cx| {
                    updates::poll(run, cx, &update.update_id, UpdateWait { request_id: id, wanted, poll: true, again: None })
                });
            }
            Method::PollWorkflowTaskQueue => {
                let req: PollRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                self.poll(Side::Workflow, id, req.task_queue, req.identity, req.worker_version_capabilities);
            }
            Method::PollActivityTaskQueue => {
                let req: PollActivityRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                self.poll(Side::Activity, id, req.task_queue, req.identity, req.worker_version_capabilities);
            }
            Method::RespondWorkflowTaskCompleted => {
                let req: TaskCompletedRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let token = tokens::task(&req.task_token)?;
                self.on_run(&r, &token.workflow_id, &token.run_id, |run, cx| {
                    let response = complete::completed(run, cx, &token, req)?;
                    cx.reply(id, &response);
                    Ok(())
                });
            }
            Method::RespondWorkflowTaskFailed => {
                let req: TaskFailedRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let token = tokens::task(&req.task_token)?;
                self.on_run(&r, &token.workflow_id, &token.run_id, |run, cx| {
                    complete::failed(run, cx, &token, req)?;
                    cx.reply_bytes(id, Vec::new(), None);
                    Ok(())
                });
            }
            Method::RespondQueryTaskCompleted => {
                let req: QueryTaskCompletedRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let token = tokens::task(&req.task_token)?;
                self.on_run(&r, &token.workflow_id, &token.run_id, |run, cx| {
                    queries::completed(run, cx, &token, req)?;
                    cx.reply_bytes(id, Vec::new(), None);
                    Ok(())
                });
            }
            Method::RecordActivityTaskHeartbeat => {
                let req: HeartbeatRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let token = tokens::task(&req.task_token)?;
                self.heartbeat(
                    &r,
                    token.workflow_id.clone(),
                    token.run_id.clone(),
                    Which::Token(token),
                    req.details,
                    req.identity,
                );
            }
            Method::RecordActivityTaskHeartbeatById => {
                let req: HeartbeatByIdRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                self.heartbeat(&r, req.workflow_id, req.run_id, Which::Id(req.activity_id), req.details, req.identity);
            }
            Method::RespondActivityTaskCompleted => {
                let req: ActivityCompletedRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let token = tokens::task(&req.task_token)?;
                let (workflow_id, run_id) = (token.workflow_id.clone(), token.run_id.clone());
                let which = Which::Token(token);
                self.activity(&r, &workflow_id, &run_id, |run, cx| {
                    activity::completed(run, cx, &which, req.result, req.identity)
                });
            }
            Method::RespondActivityTaskCompletedById => {
                let req: ActivityCompletedByIdRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let which = Which::Id(req.activity_id);
                self.activity(&r, &req.workflow_id, &req.run_id, |run, cx| {
                    activity::completed(run, cx, &which, req.result, req.identity)
                });
            }
            Method::RespondActivityTaskFailed => {
                let req: ActivityFailedRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let token = tokens::task(&req.task_token)?;
                let (workflow_id, run_id) = (token.workflow_id.clone(), token.run_id.clone());
                let which = Which::Token(token);
                self.activity(&r, &workflow_id, &run_id, |run, cx| {
                    activity::failed(run, cx, &which, req.failure, req.last_heartbeat_details, req.identity)
                });
            }
            Method::RespondActivityTaskFailedById => {
                let req: ActivityFailedByIdRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let which = Which::Id(req.activity_id);
                self.activity(&r, &req.workflow_id, &req.run_id, |run, cx| {
                    activity::failed(run, cx, &which, req.failure, req.last_heartbeat_details, req.identity)
                });
            }
            Method::RespondActivityTaskCanceled => {
                let req: ActivityCanceledRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let token = tokens::task(&req.task_token)?;
                let (workflow_id, run_id) = (token.workflow_id.clone(), token.run_id.clone());
                let which = Which::Token(token);
                self.activity(&r, &workflow_id, &run_id, |run, cx| {
                    activity::canceled(run, cx, &which, req.details, req.identity)
                });
            }
            Method::RespondActivityTaskCanceledById => {
                let req: ActivityCanceledByIdRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let which = Which::Id(req.activity_id);
                self.activity(&r, &req.workflow_id, &req.run_id, |run, cx| {
                    activity::canceled(run, cx, &which, req.details, req.identity)
                });
            }
            Method::ResetStickyTaskQueue => {
                let req: ResetStickyRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                let (workflow_id, run_id) = target(&req.execution);
                self.on_run(&r, workflow_id, run_id, |run, cx| {
                    if !run.open() {
                        return Err(rpc::workflow_completed());
                    }
                    run.clear_sticky();
                    leave_sticky_queue(run, cx);
                    cx.reply_bytes(id, Vec::new(), None);
                    Ok(())
                });
            }
            Method::ShutdownWorker => {
                let req: ShutdownWorkerRequest = decode(&r.body)?;
                self.namespace(&req.namespace)?;
                if !req.sticky_task_queue.is_empty() {
                    let (slots, polls) = self.cx.queues.shut(&req.sticky_task_queue);
                    for poll in polls {
                        self.cx.reply_bytes(poll, Vec::new(), None);
                    }
                    for slot in slots {
                        self.with_run(slot, leave_sticky_queue);
                    }
                }
                self.cx.reply_bytes(id, Vec::new(), None);
            }
        }
        Ok(())
    }

    fn activity(&mut self, r: &Again, workflow_id: &str, run_id: &str, step: impl FnOnce(&mut Run, &mut Cx) -> Rpc<()>) {
        let id = r.request_id;
        self.on_run(r, workflow_id, run_id, |run, cx| {
            step(run, cx)?;
            cx.reply_bytes(id, Vec::new(), None);
            Ok(())
        });
    }

    fn heartbeat(
        &mut self,
        r: &Again,
        workflow_id: String,
        run_id: String,
        which: Which,
        details: Option<Vec<u8>>,
        identity: String,
    ) {
        let id = r.request_id;
        self.on_run(r, &workflow_id, &run_id, |run, cx| {
            let cancel_requested = activity::heartbeat(run, cx, &which, details, &identity)?;
            cx.reply(id, &HeartbeatResponse { cancel_requested });
            Ok(())
        });
    }

    /// Start and SignalWithStart: the latest run of the workflow id decides.
    fn start(&mut self, r: &Again, s: Start, with_signal: Option<SignalRequest>) -> Rpc<()> {
        let id = r.request_id;
        let workflow_id = s.attrs.workflow_id.clone();
        let latest = match self.runs.find(&workflow_id, "") {
            Found::Unknown => {
                self.park(&workflow_id, "", r.clone());
                return Ok(());
            }
            Found::Missing => None,
            Found::Slot(slot) => Some(slot),
        };
        let found = match latest.and_then(|slot| self.runs.get(slot)) {
            None => start::Found::Free,
            // With a signal an open run is used, whatever the conflict policy says but for termination.
            Some(run)
                if with_signal.is_some()
                    && run.open()
                    && s.conflict != crate::api::enums::v1::WorkflowIdConflictPolicy::TerminateExisting =>
            {
                start::Found::Existing
            }
            Some(run) => start::resolve(&s, run)?,
        };
        match (found, latest) {
            (start::Found::Same, Some(slot)) => {
                let Some(run) = self.runs.get(slot) else { return Ok(()) };
                let (run_id, first) = (run.head.run_id.clone(), run.head.first_run_id.clone());
                let status = run.head.status;
                self.started(id, run_id, first, status, true, with_signal.is_some());
            }
            (start::Found::Existing, Some(slot)) => {
                let done = self.with_run(slot, |run, cx| match with_signal {
                    Some(request) => signal(run, cx, request).map(|()| true),
                    None => Ok(false),
                });
                let signalled = match done {
                    Some(result) => result?,
                    None => return Ok(()),
                };
                let Some(run) = self.runs.get(slot) else { return Ok(()) };
                let (run_id, first) = (run.head.run_id.clone(), run.head.first_run_id.clone());
                let status = run.head.status;
                self.started(id, run_id, first, status, false, signalled);
            }
            (how, latest) => {
                let run_id = self.cx.rng.uuid7(self.cx.now);
                if !matches!(how, start::Found::Terminate) {
                    start::check_open_runs(&self.cx)?;
                } else if let Some(slot) = latest {
                    let identity = "history-service".to_string();
                    let details = text_payloads(&format!("terminated by new runID: {run_id}"));
                    self.with_run(slot, |run, cx| {
                        close::terminate(run, cx, "TerminateIfRunning WorkflowIdReusePolicy".into(), Some(details), identity);
                    });
                }
                start::fresh(&mut self.cx, s, &run_id);
                let signals = with_signal.is_some();
                if let Some(request) = with_signal
                    && let Some(run) = self.cx.spawned.last_mut()
                {
                    new_signal(run, self.cx.now, request);
                }
                self.take_spawned();
                self.started(id, run_id.clone(), run_id, Status::Running as i32, true, signals);
            }
        }
        Ok(())
    }

    fn started(&mut self, request_id: u32, run_id: String, first: String, status: i32, started: bool, with_signal: bool) {
        if let Some(pair) = self.cx.pairs.get_mut(&request_id) {
            pair.started = Some(codec::bytes(&StartResponse { run_id, started, status, first_execution_run_id: first }));
        } else if with_signal {
            let response = SignalWithStartResponse { run_id, started, first_execution_run_id: first };
            self.cx.reply(request_id, &response);
        } else {
            self.cx.reply(request_id, &StartResponse { run_id, started, status, first_execution_run_id: first });
        }
    }

    /// The update of a pair, before its workflow is started: it must be for that workflow, and for no run that is there already.
    fn check_pair(&mut self, request_id: u32, start: &Start, body: Vec<u8>) -> Rpc<Update> {
        let checked = self.check_update(&Again { request_id, method: Method::UpdateWorkflowExecution, body });
        let of_update = |e| rpc::with(e, "operation", "1");
        let update = checked.map_err(of_update)?;
        let (workflow_id, run_id) = target(&update.execution);
        if workflow_id != start.attrs.workflow_id || !run_id.is_empty() || !update.first_run_id.is_empty() {
            return Err(of_update(rpc::invalid("the update must name the workflow id of the start, and no run")));
        }
        Ok(update)
    }

    /// Decodes and checks an update without looking at its run.
    fn check_update(&mut self, r: &Again) -> Rpc<Update> {
        let req: UpdateRequest = decode(&r.body)?;
        self.namespace(&req.namespace)?;
        let body = req.request.unwrap_or_default();
        let view: UpdateRequestView = decode(&body)?;
        let mut meta = view.meta.unwrap_or_default();
        if view.input.as_ref().is_none_or(|i| i.name.is_empty()) {
            return Err(rpc::invalid("Update name is not set on request."));
        }
        start::check_size(&self.cx, "Update", body.len())?;
        if let Some(why) = limits::bad_id(&meta.update_id) {
            return Err(rpc::invalid(format!("UpdateID {why}")));
        }
        let mut again = r.clone();
        let mut body = body;
        if meta.update_id.is_empty() {
            meta.update_id = self.cx.rng.uuid4();
            // Protobuf merges: the id is appended to the request, and to what is parked.
            let patch = codec::bytes(&UpdateRequestView { meta: Some(meta.clone()), ..Default::default() });
            body.extend_from_slice(&patch);
            let patched = UpdateRequest { request: Some(body.clone()), ..decode(&r.body)? };
            again.body = codec::bytes(&patched);
        }
        let stage = req.wait_policy.as_ref().map_or(0, |p| p.lifecycle_stage);
        let wanted = match Wanted::try_from(stage).unwrap_or(Wanted::Unspecified) {
            Wanted::Unspecified => Wanted::Accepted,
            Wanted::Admitted => {
                return Err(rpc::unimplemented("UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED is not supported"));
            }
            stage => stage,
        };
        Ok(Update {
            again,
            wanted,
            body,
            id: meta.update_id,
            execution: req.workflow_execution,
            first_run_id: req.first_execution_run_id,
        })
    }

    fn update(&mut self, update: Update) -> Rpc<()> {
        let Update { again, wanted, body, id, execution, first_run_id } = update;
        let (workflow_id, run_id) = target(&execution);
        let moves = run_id.is_empty();
        let retry = again.clone();
        self.on_run(&again, workflow_id, run_id, |run, cx| {
            check_first_run(run, &first_run_id)?;
            let wait = UpdateWait { request_id: retry.request_id, wanted, poll: false, again: moves.then_some(retry) };
            updates::request(run, cx, &id, body, wait)
        });
        Ok(())
    }

    pub(super) fn drop_wait(&mut self, request_id: u32, expired: bool) {
        if !expired {
            self.cx.pairs.remove(&request_id);
        }
        let Some(wait) = self.cx.waiting.remove(&request_id) else { return };
        match wait {
            Wait::Poll { side, queue, seq } => {
                let now = self.cx.now;
                self.cx.queues.cancel_poll(side, &queue, seq, now);
                if expired {
                    self.cx.reply_bytes(request_id, Vec::new(), None);
                }
            }
            Wait::Parked { workflow_id, run_id } => {
                self.unpark(&workflow_id, &run_id, request_id);
                if expired {
                    self.cx.fail(request_id, rpc::unavailable("the workflow could not be loaded in time"));
                }
            }
            Wait::History { slot } => {
                self.with_run(slot, |run, cx| {
                    if expired {
                        read_history::expire(run, cx, request_id);
                    } else {
                        run.history_waits.retain(|w| w.request_id != request_id);
                    }
                });
            }
            Wait::Update { slot, update_id } => {
                self.with_run(slot, |run, cx| {
                    if expired {
                        updates::expire(run, cx, &update_id, request_id);
                    } else if let Some(u) = run.updates.get_mut(&update_id) {
                        u.waits.retain(|w| w.request_id != request_id);
                    }
                });
            }
            Wait::Query { slot, query } => {
                self.with_run(slot, |run, cx| {
                    queries::remove(run, cx, query);
                    if expired {
                        cx.fail(request_id, rpc::query_timed_out());
                    }
                });
            }
        }
    }
}

fn check_first_run(run: &Run, first_run_id: &str) -> Rpc<()> {
    if !first_run_id.is_empty() && run.head.first_run_id != first_run_id {
        return Err(rpc::execution_not_found());
    }
    Ok(())
}

fn check_signal(cx: &Cx, req: &SignalRequest) -> Rpc<()> {
    if req.signal_name.is_empty() {
        return Err(rpc::invalid("SignalName is not set on request."));
    }
    if let Some(why) = limits::bad_id(&req.signal_name).or_else(|| limits::bad_id(&req.request_id)) {
        return Err(rpc::invalid(format!("SignalName or RequestId {why}")));
    }
    start::check_size(cx, "Signal input", req.input.as_ref().map_or(0, Vec::len))?;
    start::check_size(cx, "Signal header", req.header.as_ref().map_or(0, Vec::len))
}

fn signaled(req: SignalRequest) -> SignaledAttrs {
    SignaledAttrs {
        signal_name: req.signal_name,
        input: req.input,
        identity: req.identity,
        header: req.header,
        ..Default::default()
    }
}

/// A signal to a run that exists; the same request id is delivered once.
fn signal(run: &mut Run, cx: &mut Cx, req: SignalRequest) -> Rpc<()> {
    if !run.open() {
        return Err(rpc::workflow_completed());
    }
    if !req.request_id.is_empty() && run.request_ids.contains(&req.request_id) {
        return Ok(());
    }
    updates::check_inbox(run, cx)?;
    remember(run, &req.request_id);
    let time = run.time(cx.now);
    run.head.inbox_signals += 1;
    run.add(time, signaled(req), About::Other);
    run.want_task = true;
    Ok(())
}

/// The signal that comes with the start of its run: between Started and the first WorkflowTaskScheduled.
fn new_signal(run: &mut Run, now: super::time::Micros, req: SignalRequest) {
    remember(run, &req.request_id);
    run.head.inbox_signals += 1;
    run.append(now, &signaled(req));
}

fn remember(run: &mut Run, request_id: &str) {
    if !request_id.is_empty() {
        run.request_ids.insert(request_id.into());
        run.mark(kind::REQUEST, request_id);
    }
}

fn request_cancel(run: &mut Run, cx: &mut Cx, id: u32, req: &CancelRequest) -> Rpc<()> {
    check_first_run(run, &req.first_execution_run_id)?;
    // What has ended need not be cancelled any more: the server calls that a success.
    let attrs = CancelRequestedAttrs { cause: req.reason.clone(), identity: req.identity.clone(), ..Default::default() };
    outgoing::request_cancel(run, cx, &req.request_id, attrs);
    cx.reply_bytes(id, Vec::new(), None);
    Ok(())
}

/// A task that waits on a sticky queue goes to the normal one.
fn leave_sticky_queue(run: &mut Run, cx: &mut Cx) {
    if let Some(key) = run.task_queued.take() {
        cx.queues.remove(&key);
        // Taken in again when the step ends.
    }
    for id in run.queries.keys().copied().collect::<Vec<_>>() {
        queries::due(run, cx, id);
    }
}
