//! UpdateWorkflowExecutionOptions: the versioning override and the priority of an open run. A change is an event of its history.
use super::activity_options::paths;
use super::shared::*;
use crate::api::enums::v1::VersioningBehavior;
use crate::engine::codec;
use crate::engine::context::Context;
use crate::engine::event::About;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::OptionsUpdatedAttrs;
use crate::engine::messages::versioning::Override;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;
use crate::engine::time::timestamp_opt;
use crate::engine::versioning;
use crate::proto::fields::common::Priority;
use crate::wire::schema as check;
use prost_types::Timestamp;

message! {
    OptionsRequest: workflowservice::UpdateWorkflowExecutionOptionsRequest {
        namespace str, workflow_execution msg(WorkflowExecution), workflow_execution_options msg(ExecutionOptions),
        update_mask raw(ANY), identity str,
    }
    OptionsResponse: workflowservice::UpdateWorkflowExecutionOptionsResponse {
        workflow_execution_options msg(ExecutionOptions), update_time ts,
    }
    ExecutionOptions: workflow::WorkflowExecutionOptions {
        versioning_override raw(ANY), priority raw(PRIORITY), time_skipping_config raw(ANY),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: OptionsRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let (workflow_id, run_id) = target(&req.workflow_execution);
    if workflow_id.is_empty() {
        return Err(rpc::invalid("WorkflowId is not set on request."));
    }
    let Some(mask) = req.update_mask.as_deref().map(paths) else { return Err(rpc::invalid("UpdateMask is required")) };
    let Some(options) = req.workflow_execution_options else {
        return Err(rpc::invalid("WorkflowExecutionOptions is required"));
    };
    check_priority(options.priority.as_deref())?;
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        let (options, update_time) = update(run, cx, options, &mask, req.identity)?;
        cx.reply(id, &OptionsResponse { workflow_execution_options: Some(options), update_time });
        Ok(())
    });
    Ok(())
}

fn update(
    run: &mut Run,
    cx: &mut Context,
    mut given: ExecutionOptions,
    mask: &[String],
    identity: String,
) -> Rpc<(ExecutionOptions, Option<Timestamp>)> {
    if !run.open() {
        return Err(rpc::workflow_completed());
    }
    given.versioning_override = given.versioning_override.map(|bytes| pinned_here(run, bytes)).transpose()?;
    versioning::check_override(cx, given.versioning_override.as_deref(), &run.head.task_queue)?;
    let old = options_of(run);
    let new = merged(&old, given, mask)?;
    if old.versioning_override == new.versioning_override && old.priority == new.priority {
        return Ok((new, None));
    }
    let time = run.time(cx.now);
    let attrs = OptionsUpdatedAttrs {
        versioning_override: new.versioning_override.clone(),
        unset_versioning_override: new.versioning_override.is_none(),
        priority: new.priority.clone(),
        identity,
        ..Default::default()
    };
    versioning::options_updated(run, cx, &attrs);
    run.add(time, attrs, About::Other);
    Ok((new, timestamp_opt(time)))
}

fn options_of(run: &Run) -> ExecutionOptions {
    let over = run.head.versioning.as_ref().and_then(|v| v.versioning_override.as_ref());
    ExecutionOptions {
        versioning_override: over.map(|over| codec::bytes(over)),
        priority: run.head.priority.clone(),
        ..Default::default()
    }
}

/// A pinned override without a version pins the run to the version that it is pinned to.
fn pinned_here(run: &Run, encoded: Vec<u8>) -> Rpc<Vec<u8>> {
    let Ok(mut over) = codec::read::<Override>(&encoded) else { return Ok(encoded) };
    let Some(pinned) = over.pinned.as_mut().filter(|pinned| pinned.behavior != 0 && pinned.version.is_none()) else {
        return Ok(encoded);
    };
    let behavior = versioning::behavior(&run.head);
    if behavior != VersioningBehavior::Pinned {
        let name = match behavior {
            VersioningBehavior::AutoUpgrade => "AutoUpgrade",
            _ => "Unspecified",
        };
        let text = format!(
            "must specify a specific pinned override version because workflow with id {} has behavior {name} and is not yet pinned to any version",
            run.head.workflow_id
        );
        return Err(rpc::failed_precondition("FailedPrecondition", text));
    }
    pinned.version = versioning::version(&run.head).cloned();
    Ok(codec::bytes(&over))
}

fn merged(old: &ExecutionOptions, given: ExecutionOptions, mask: &[String]) -> Rpc<ExecutionOptions> {
    let mut new = old.clone();
    let has = |path: &str| mask.iter().any(|each| each == path);
    for path in mask {
        match path.as_str() {
            "versioningoverride" => new.versioning_override.clone_from(&given.versioning_override),
            "versioningoverride.deployment" | "versioningoverride.behavior" => {
                if !has("versioningoverride.deployment") || !has("versioningoverride.behavior") {
                    return Err(wrong("versioning_override fields must be updated together"));
                }
                new.versioning_override.clone_from(&given.versioning_override);
            }
            "priority" => new.priority.clone_from(&given.priority),
            "priority.prioritykey" => set_field(&mut new, &given, Priority::priority_key),
            "priority.fairnesskey" => set_field(&mut new, &given, Priority::fairness_key),
            "priority.fairnessweight" => set_field(&mut new, &given, Priority::fairness_weight),
            path if path.starts_with("versioningoverride.") => {
                return Err(wrong("versioning_override doesn't support partial updates"));
            }
            path if path.starts_with("timeskippingconfig") => {
                return Err(rpc::unimplemented("time skipping is not supported by this engine"));
            }
            path => {
                return Err(rpc::invalid(format!(
                    "error parsing UpdateMask: unknown path \"{path}\" of WorkflowExecutionOptions"
                )));
            }
        }
    }
    Ok(new)
}

fn wrong(why: &str) -> Box<crate::boundary::RpcError> {
    rpc::invalid(format!("error applying update_options: {why}"))
}

/// Replaces one field of the encoded priority.
fn set_field(new: &mut ExecutionOptions, given: &ExecutionOptions, field: u32) {
    let mut bytes = fields(new.priority.as_deref(), |each| each != field);
    bytes.extend(fields(given.priority.as_deref(), |each| each == field));
    new.priority = Some(bytes);
}

fn fields(encoded: Option<&[u8]>, keep: impl Fn(u32) -> bool) -> Vec<u8> {
    let mut rest = encoded.unwrap_or_default();
    let mut kept = Vec::new();
    while !rest.is_empty() {
        let start = rest;
        let Ok((field, wire_type)) = check::key(&mut rest) else { break };
        if check::skip(&mut rest, wire_type).is_err() {
            break;
        }
        if keep(field) {
            kept.extend_from_slice(&start[..start.len() - rest.len()]);
        }
    }
    kept
}
