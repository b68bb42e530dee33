//! Worker deployments: the version whose workers get the tasks of a run. Tasks of a version wait in a separate queue (`place`).
//!
//! A run remembers its version, its behavior (pinned, or auto-upgrade) and an override. A worker of another version that takes a task of
//! an auto-upgrade run begins a transition: from then on activities wait until a workflow task has completed on that version. An engine
//! without a routing (`Context.routing`) has unversioned workers only.
use super::codec;
use super::context::Context;
use super::limits;
use super::messages::events::{OptionsUpdatedAttrs, StartedAttrs, TaskCompletedAttrs};
use super::messages::versioning::*;
use super::queues::{Poll, Side};
use super::routing::Routing;
use super::rpc::{self, Rpc};
use super::search_attributes;
use super::state::run::{Head, Run};
use crate::api::enums::v1::VersioningBehavior as Behavior;
use crate::sorted::SortedMap;

/// WORKER_VERSIONING_MODE_VERSIONED
const VERSIONED: i32 = 2;

/// The part of a queue that no worker polls: activities wait there during a transition.
const IN_TRANSITION: &str = "\0\0";

/// The version of a versioned worker. Invalid names are rejected, as by servers.
pub fn version_of_worker(cx: &Context, options: Option<DeploymentOptions>) -> Rpc<Option<Version>> {
    let Some(o) = options.filter(|o| o.worker_versioning_mode == VERSIONED) else { return Ok(None) };
    if cx.routing.is_none() {
        return Ok(None);
    }
    let (name, build) = (&o.deployment_name, &o.build_id);
    if name.is_empty() {
        return Err(rpc::invalid("versioned worker must have deployment name"));
    }
    if build.is_empty() {
        return Err(rpc::invalid("versioned worker must have build id"));
    }
    if name.contains([':', '.']) {
        return Err(rpc::invalid("deployment name cannot contain ':' or '.'"));
    }
    if let Some(why) = [name, build].into_iter().find_map(|id| limits::bad_id(id)) {
        return Err(rpc::invalid(format!("deployment name or build id {why}")));
    }
    Ok(Some(Version { build_id: o.build_id, deployment_name: o.deployment_name }))
}

/// The name of the queue in which tasks for workers of a version wait.
pub fn place(queue: &str, version: Option<&Version>) -> String {
    match version {
        Some(version) => format!("{queue}\0{}", version.text()),
        None => queue.into(),
    }
}

/// The version that an override asks for.
pub fn target_of(over: &Override) -> Option<&Version> {
    let one_time = || over.one_time.as_ref().and_then(|o| o.target_deployment_version.as_ref());
    over.pinned.as_ref().and_then(|p| p.version.as_ref()).or_else(one_time)
}

/// The behavior that counts now.
pub fn behavior(head: &Head) -> Behavior {
    let Some(v) = &head.versioning else { return Behavior::Unspecified };
    if v.version_transition.is_some() {
        return Behavior::AutoUpgrade;
    }
    asked_behavior(v)
}

/// The same, whatever version the run is moving to.
fn asked_behavior(v: &Versioning) -> Behavior {
    match &v.versioning_override {
        Some(over) if over.auto_upgrade => Behavior::AutoUpgrade,
        Some(_) => Behavior::Pinned,
        None => Behavior::try_from(v.behavior).unwrap_or(Behavior::Unspecified),
    }
}

/// The version that the run is on; None: unversioned.
pub fn version(head: &Head) -> Option<&Version> {
    let v = head.versioning.as_ref()?;
    if let Some(transition) = &v.version_transition {
        return transition.deployment_version.as_ref();
    }
    if let Some(target) = v.versioning_override.as_ref().and_then(target_of) {
        return Some(target);
    }
    if behavior(head) == Behavior::Unspecified { None } else { v.deployment_version.as_ref() }
}

fn is_pinned(head: &Head) -> bool {
    behavior(head) == Behavior::Pinned
}

/// Where a task of the run goes.
fn goal<'a>(routing: &'a Routing, head: &'a Head, side: Side, queue: &str) -> Option<&'a Version> {
    if is_pinned(head)
        && let Some(version) = version(head)
        // An activity whose queue the version does not poll is independent of it.
        && (side == Side::Workflow || routing.has(version, side, queue))
    {
        return Some(version);
    }
    routing.target(head, side, queue).map(|(version, _)| version)
}

/// The name of the queue in which a task of the run waits.
pub fn place_of(run: &Run, cx: &Context, side: Side, queue: &str) -> String {
    let Some(routing) = &cx.routing else { return queue.into() };
    let moves = run.head.versioning.as_ref().is_some_and(|v| v.version_transition.is_some());
    if side == Side::Activity && moves {
        return format!("{queue}{IN_TRANSITION}");
    }
    place(queue, goal(routing, &run.head, side, queue))
}

/// Whether the next workflow task goes to another version than the last one, and so not to the sticky worker.
pub fn leaves_worker(run: &Run, cx: &Context) -> bool {
    let Some(routing) = &cx.routing else { return false };
    let goal = goal(routing, &run.head, Side::Workflow, &run.head.task_queue);
    goal.is_some() && goal != version(&run.head)
}

/// Whether a worker of this version may get the activity with the response to its completion.
pub fn may_be_eager(run: &Run, cx: &Context, queue: &str, worker: Option<&Version>) -> bool {
    cx.routing.is_none() || place_of(run, cx, Side::Activity, queue) == place(queue, worker)
}

/// A worker has taken a workflow task. One of another version moves the run.
pub fn workflow_task_taken(run: &mut Run, cx: &mut Context, poll: &Poll) {
    let Some(routing) = &cx.routing else { return };
    if is_pinned(&run.head) || poll.version.as_ref() == version(&run.head) {
        return;
    }
    let target = routing.target(&run.head, Side::Workflow, &run.head.task_queue);
    let revision = target.filter(|(version, _)| poll.version.as_ref() == Some(version)).map_or(0, |(_, revision)| revision);
    begin_transition(run, cx, poll.version.clone(), revision);
}

/// A worker polls for an activity of the run. If workflow tasks go to the worker's version by now, the run moves there first: true, and
/// the activity stays.
pub fn activity_moves_run(run: &mut Run, cx: &mut Context, id: i64, poll: &Poll) -> bool {
    let Some(routing) = &cx.routing else { return false };
    if is_pinned(&run.head) || poll.version.as_ref() == version(&run.head) {
        return false;
    }
    let Some((target, revision)) = routing.target(&run.head, Side::Workflow, &run.head.task_queue) else {
        // Unversioned workers take over a run whose version is not current any more.
        if poll.version.is_some() {
            return false;
        }
        return hold(run, cx, id, None, 0);
    };
    if poll.version.as_ref() != Some(target) {
        return false;
    }
    hold(run, cx, id, poll.version.clone(), revision)
}

fn hold(run: &mut Run, cx: &mut Context, id: i64, to: Option<Version>, revision: i64) -> bool {
    begin_transition(run, cx, to, revision);
    if !run.to_queue.contains(&id) {
        run.to_queue.push(id);
    }
    run.want_task = true;
    true
}

fn begin_transition(run: &mut Run, cx: &mut Context, to: Option<Version>, revision: i64) {
    let v = run.head.versioning.get_or_insert_default();
    v.version_transition = Some(Transition { deployment_version: to });
    v.revision_number = revision;
    run.clear_sticky();
    requeue(run, cx);
    run.dirty = true;
}

/// Everything of the run that waits for a worker is queued again when the step ends.
pub fn requeue(run: &mut Run, cx: &mut Context) {
    if let Some(key) = run.task_queued.take() {
        cx.queues.remove(&key);
    }
    for (id, a) in run.activities.iter_mut() {
        if let Some(key) = a.queued.take() {
            cx.queues.remove(&key);
            if !run.to_queue.contains(id) {
                run.to_queue.push(*id);
            }
        }
    }
}

/// A workflow task has completed: its worker's version is that of the run.
pub fn completed(run: &mut Run, cx: &mut Context, attrs: &TaskCompletedAttrs) {
    if cx.routing.is_none() || run.head.versioning.is_none() && attrs.deployment_version.is_none() {
        return;
    }
    let before = (version(&run.head).cloned(), behavior(&run.head));
    let moved = complete(&mut run.head, attrs);
    if moved || before != (version(&run.head).cloned(), behavior(&run.head)) {
        requeue(run, cx);
    }
    show(run);
}

/// The state of the run after a completed task. Whether a transition has ended.
pub fn complete(head: &mut Head, attrs: &TaskCompletedAttrs) -> bool {
    head.worker_deployment_name.clone_from(&attrs.worker_deployment_name);
    let reported = &attrs.deployment_version;
    if head.versioning.is_none() && (reported.is_none() || attrs.versioning_behavior == 0) {
        return false;
    }
    let v = head.versioning.get_or_insert_default();
    let moved = v.version_transition.as_ref().is_some_and(|t| t.deployment_version == *reported);
    if moved {
        v.version_transition = None;
    }
    v.behavior = attrs.versioning_behavior;
    let versioned = v.behavior != Behavior::Unspecified as i32;
    v.deployment_version = reported.clone().filter(|_| versioned);
    v.version = v.deployment_version.as_ref().map(old_text).unwrap_or_default();
    let one_time = v.versioning_override.as_ref().and_then(|o| o.one_time.as_ref());
    if one_time.is_some_and(|o| o.target_deployment_version == *reported) {
        v.versioning_override = None;
    }
    moved
}

/// As deprecated fields have it.
pub fn old_text(version: &Version) -> String {
    format!("{}.{}", version.deployment_name, version.build_id)
}

/// Whether the run waits for a task on the version that it moves to.
pub fn is_moving(run: &Run) -> bool {
    run.head.versioning.as_ref().is_some_and(|v| v.version_transition.is_some())
}

/// What a new run has from its start.
pub fn begin(run: &mut Run, attrs: &StartedAttrs) {
    let over = attrs.versioning_override.as_deref().and_then(|bytes| codec::read::<Override>(bytes).ok());
    if over.is_none() && attrs.inherited_pinned_version.is_none() && attrs.inherited_auto_upgrade_info.is_none() {
        return;
    }
    let v = run.head.versioning.get_or_insert_default();
    v.versioning_override = over.map(normalized);
    if let Some(version) = &attrs.inherited_pinned_version {
        v.deployment_version = Some(version.clone());
        v.behavior = Behavior::Pinned as i32;
    }
    if let Some(info) = &attrs.inherited_auto_upgrade_info {
        v.deployment_version.clone_from(&info.source_deployment_version);
        v.behavior = Behavior::AutoUpgrade as i32;
        v.revision_number = info.source_deployment_revision_number;
        v.continue_as_new_initial_versioning_behavior = info.continue_as_new_initial_versioning_behavior;
    }
    run.head.worker_deployment_name = version(&run.head).map(|v| v.deployment_name.clone()).unwrap_or_default();
    show(run);
}

/// Whether a worker of this version gets the first task of a run with this start.
pub fn starts_on(cx: &Context, attrs: &StartedAttrs, worker: Option<&Version>) -> bool {
    let mut run = Run::new(Head { workflow_id: attrs.workflow_id.clone(), ..Default::default() });
    begin(&mut run, attrs);
    let queue = attrs.task_queue.as_ref().map_or("", |q| &q.name);
    cx.routing.is_none() || place_of(&run, cx, Side::Workflow, queue) == place(queue, worker)
}

/// Checks the override of a request, for a run with this task queue.
pub fn check_override(cx: &Context, encoded: Option<&[u8]>, queue: &str) -> Rpc<()> {
    let Some(encoded) = encoded else { return Ok(()) };
    let Some(routing) = &cx.routing else {
        return Err(rpc::unimplemented("worker versioning is not supported by this engine"));
    };
    let over = codec::read::<Override>(encoded)
        .map_err(|bad| rpc::invalid(format!("cannot decode the versioning override: {}", bad.0)))?;
    let behavior = Behavior::try_from(over.behavior).unwrap_or(Behavior::Unspecified);
    if let Some(pinned) = &over.pinned {
        if pinned.version.is_none() {
            return Err(rpc::invalid("must provide version if override is pinned."));
        }
        if pinned.behavior == 0 {
            return Err(rpc::invalid("must specify pinned override behavior if override is pinned."));
        }
    } else if over.one_time.as_ref().is_some_and(|o| o.target_deployment_version.is_none()) {
        return Err(rpc::invalid("must provide target deployment version if override is one-time."));
    } else if !over.auto_upgrade && over.one_time.is_none() {
        let given = over.deployment.is_some() || !over.pinned_version.is_empty();
        match behavior {
            Behavior::Unspecified => return Err(rpc::invalid("override behavior is required")),
            Behavior::Pinned if !given => {
                let text = "must provide deployment (deprecated) or pinned version if behavior is 'PINNED'";
                return Err(rpc::invalid(text));
            }
            Behavior::AutoUpgrade if given => return Err(rpc::invalid("only provide pinned version if behavior is 'PINNED'")),
            _ => {}
        }
    }
    match target_of(&normalized(over)) {
        Some(version) if !routing.has(version, Side::Workflow, queue) => {
            let text = format!("Pinned version '{}' is not present in task queue '{queue}' of type 'Workflow'", version.text());
            Err(rpc::failed_precondition("FailedPrecondition", text))
        }
        _ => Ok(()),
    }
}

/// An override in its newest form.
pub fn normalized(over: Override) -> Override {
    const PINNED_OVERRIDE: i32 = 1;
    let pinned = |version| Some(Pinned { behavior: PINNED_OVERRIDE, version: Some(version) });
    let Override { behavior, deployment, pinned: given, auto_upgrade, one_time, pinned_version } = over;
    let old = deployment.map(|d| Version { deployment_name: d.series_name, build_id: d.build_id }).or_else(|| {
        let (name, build) = pinned_version.split_once('.')?;
        Some(Version { deployment_name: name.into(), build_id: build.into() })
    });
    Override {
        pinned: given.or_else(|| old.and_then(pinned)),
        auto_upgrade: auto_upgrade || behavior == Behavior::AutoUpgrade as i32,
        one_time,
        ..Default::default()
    }
}

/// Sets or removes the override. The version of the run is then that one at once, and a transition ends. Whether tasks move.
fn set_override(run: &mut Run, over: Option<Override>) -> bool {
    let before = (version(&run.head).cloned(), behavior(&run.head));
    match over {
        Some(over) => run.head.versioning.get_or_insert_default().versioning_override = Some(normalized(over)),
        None => {
            if let Some(v) = &mut run.head.versioning {
                v.versioning_override = None;
            }
        }
    }
    let Some(v) = &mut run.head.versioning else { return false };
    let target = v.versioning_override.as_ref().and_then(target_of);
    if let Some(named) = target.or(v.deployment_version.as_ref().filter(|_| v.versioning_override.is_none())) {
        run.head.worker_deployment_name.clone_from(&named.deployment_name);
    } else if v.versioning_override.is_none() {
        run.head.worker_deployment_name.clear();
    }
    run.dirty = true;
    let moves = before != (version(&run.head).cloned(), behavior(&run.head));
    if moves {
        if let Some(v) = &mut run.head.versioning {
            v.version_transition = None;
        }
        run.clear_sticky();
    }
    show(run);
    moves
}

/// What a WorkflowExecutionOptionsUpdated event changes of its run.
pub fn options_updated(run: &mut Run, cx: &mut Context, attrs: &OptionsUpdatedAttrs) {
    if restore_options(run, attrs) {
        requeue(run, cx);
    }
}

/// The same for a run that a reset rebuilds: it has no tasks yet.
pub fn restore_options(run: &mut Run, attrs: &OptionsUpdatedAttrs) -> bool {
    if attrs.priority.is_some() {
        run.head.priority.clone_from(&attrs.priority);
        run.dirty = true;
    }
    match &attrs.versioning_override {
        Some(over) => set_override(run, codec::read(over).ok()),
        None => attrs.unset_versioning_override && set_override(run, None),
    }
}

/// Gives the version of a run to the next one of its chain, or to a child, on this queue. `initial`: what a command to continue asks for.
pub fn inherit(run: &Run, cx: &Context, attrs: &mut StartedAttrs, initial: i32, is_child: bool) {
    let (Some(routing), Some(v)) = (&cx.routing, &run.head.versioning) else { return };
    let queue = attrs.task_queue.as_ref().map_or("", |q| &q.name);
    let polls = |version: &Version| queue == run.head.task_queue || routing.has(version, Side::Workflow, queue);
    let kind = behavior(&run.head);
    let own = version(&run.head).filter(|own| polls(own));
    let over = v.versioning_override.as_ref().filter(|over| is_child || over.pinned.is_some());
    let over = over.filter(|over| target_of(over).is_some_and(polls)).map(|over| codec::bytes(over));
    let upgrades = kind == Behavior::AutoUpgrade || kind == Behavior::Pinned && initial != 0;
    let pinned = own.filter(|_| kind == Behavior::Pinned && initial == 0).cloned();
    let info = own.filter(|_| upgrades && v.revision_number != 0).map(|own| AutoUpgradeInfo {
        source_deployment_version: Some(own.clone()),
        source_deployment_revision_number: v.revision_number,
        continue_as_new_initial_versioning_behavior: initial,
    });
    attrs.versioning_override = over;
    attrs.inherited_pinned_version = pinned;
    attrs.inherited_auto_upgrade_info = info;
}

/// The same for a retry or the next run of a cron schedule. `attrs` are those with which the run was started.
pub fn inherit_again(run: &Run, attrs: &mut StartedAttrs, is_retry: bool) {
    let inherited = attrs.inherited_pinned_version.take().is_some();
    attrs.inherited_auto_upgrade_info = None;
    attrs.versioning_override = None;
    let Some(v) = &run.head.versioning else { return };
    let pinned = v.versioning_override.as_ref().filter(|over| over.pinned.is_some());
    attrs.versioning_override = pinned.map(|over| codec::bytes(over));
    match behavior(&run.head) {
        Behavior::Pinned if is_retry && inherited => attrs.inherited_pinned_version = version(&run.head).cloned(),
        Behavior::AutoUpgrade if is_retry && v.revision_number != 0 => {
            attrs.inherited_auto_upgrade_info = version(&run.head).map(|own| AutoUpgradeInfo {
                source_deployment_version: Some(own.clone()),
                source_deployment_revision_number: v.revision_number,
                continue_as_new_initial_versioning_behavior: v.continue_as_new_initial_versioning_behavior,
            });
        }
        _ => {}
    }
}

/// Sets the search attributes that show the version of the run.
fn show(run: &mut Run) {
    let values = attribute_values(&run.head);
    search_attributes::set_versioning(run, values);
}

/// The values of search attributes that follow from the version of the run, by name; empty: the run does not have it.
fn attribute_values(head: &Head) -> SortedMap<&'static str, String> {
    let mut values = SortedMap::new();
    let Some(v) = &head.versioning else { return values };
    let target = v.versioning_override.as_ref().and_then(target_of).or(v.deployment_version.as_ref());
    let name = target.map_or(head.worker_deployment_name.as_str(), |version| &version.deployment_name);
    let kind = match asked_behavior(v) {
        Behavior::Unspecified => "",
        Behavior::Pinned => "Pinned",
        Behavior::AutoUpgrade => "AutoUpgrade",
    };
    values.insert("TemporalWorkerDeployment", name.into());
    values.insert("TemporalWorkerDeploymentVersion", target.map(Version::text).unwrap_or_default());
    values.insert("TemporalWorkflowVersioningBehavior", kind.into());
    values
}
