//! Generates the protobuf code of both languages from core-rs/proto: prost modules for Rust directly, and two trimmed
//! descriptor images that `tools/gen_proto.mjs` hands to the TypeScript generators, and one of all of Temporal's API.
//!
//! Trimming: only messages that the roots below reach are kept, so neither side carries the rest of Temporal's API.
//! A field whose type is dropped cannot occur: reachability is closed over field types.
//!
//! usage: gen-proto <proto dir> <rust out dir> <image out dir>
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use prost::Message;
use prost_types::{DescriptorProto, FileDescriptorProto, FileDescriptorSet};

mod core_messages;
mod fields;
mod names;
mod views;

/// Methods of WorkflowService that are kept in both languages, with their request and response messages.
const METHODS: &[&str] = &[
    "StartWorkflowExecution",
    "SignalWorkflowExecution",
    "SignalWithStartWorkflowExecution",
    "RequestCancelWorkflowExecution",
    "TerminateWorkflowExecution",
    "DescribeWorkflowExecution",
    "GetWorkflowExecutionHistory",
    "QueryWorkflow",
    "UpdateWorkflowExecution",
    "PollWorkflowExecutionUpdate",
    "ListWorkflowExecutions",
    "CountWorkflowExecutions",
    "PollWorkflowTaskQueue",
    "RespondWorkflowTaskCompleted",
    "RespondWorkflowTaskFailed",
    "RespondQueryTaskCompleted",
    "PollActivityTaskQueue",
    "RecordActivityTaskHeartbeat",
    "RecordActivityTaskHeartbeatById",
    "RespondActivityTaskCompleted",
    "RespondActivityTaskCompletedById",
    "RespondActivityTaskFailed",
    "RespondActivityTaskFailedById",
    "RespondActivityTaskCanceled",
    "RespondActivityTaskCanceledById",
    "ResetStickyTaskQueue",
    "ShutdownWorker",
    "ResetWorkflowExecution",
    "PauseActivity",
    "UnpauseActivity",
    "ResetActivity",
    "UpdateActivityOptions",
    "UpdateWorkflowExecutionOptions",
    "GetSystemInfo",
    "DescribeNamespace",
];
/// Methods that only TypeScript knows: clients of a cluster use them, and the service of the embedded engine implements
/// some.
const TS_METHODS: &[&str] = &[
    "CountActivityExecutions",
    "CountSchedules",
    "CountWorkers",
    "CreateSchedule",
    "DeleteActivityExecution",
    "DeleteSchedule",
    "DeleteWorkerDeployment",
    "DeleteWorkerDeploymentVersion",
    "DeleteWorkflowExecution",
    "DescribeActivityExecution",
    "DescribeBatchOperation",
    "DescribeSchedule",
    "DescribeTaskQueue",
    "DescribeWorker",
    "DescribeWorkerDeployment",
    "DescribeWorkerDeploymentVersion",
    "ExecuteMultiOperation",
    "GetClusterInfo",
    "GetSearchAttributes",
    "GetWorkflowExecutionHistoryReverse",
    "ListActivityExecutions",
    "ListBatchOperations",
    "ListClosedWorkflowExecutions",
    "ListNamespaces",
    "ListOpenWorkflowExecutions",
    "ListScheduleMatchingTimes",
    "ListSchedules",
    "ListWorkerDeployments",
    "ListWorkers",
    "PatchSchedule",
    "PauseActivityExecution",
    "PollActivityExecution",
    "PollNexusTaskQueue",
    "RecordWorkerHeartbeat",
    "RequestCancelActivityExecution",
    "ResetActivityExecution",
    "RespondNexusTaskCompleted",
    "RespondNexusTaskFailed",
    "ScanWorkflowExecutions",
    "SetWorkerDeploymentCurrentVersion",
    "SetWorkerDeploymentManager",
    "SetWorkerDeploymentRampingVersion",
    "StartActivityExecution",
    "StartBatchOperation",
    "StopBatchOperation",
    "TerminateActivityExecution",
    "UnpauseActivityExecution",
    "UpdateActivityExecutionOptions",
    "UpdateNamespace",
    "UpdateSchedule",
    "UpdateTaskQueueConfig",
    "UpdateWorkerDeploymentVersionMetadata",
];
const API_ROOTS: &[&str] = &[
    "temporal.api.history.v1.History",
    "temporal.api.protocol.v1.Message",
    "temporal.api.update.v1.Request",
    "temporal.api.update.v1.Acceptance",
    "temporal.api.update.v1.Rejection",
    "temporal.api.update.v1.Response",
];
/// Types that the core never reads or writes: fields of these types are left out of the Rust code (unknown fields are skipped when
/// decoding; the core re-encodes no message that it did not make). Each costs module size on every page load.
const NOT_IN_RUST: &[&str] = &[
    "temporal.api.common.v1.Link",
    "temporal.api.common.v1.Callback",
    "temporal.api.common.v1.Priority",
    "temporal.api.common.v1.Principal",
    "temporal.api.common.v1.DataBlob",
    "temporal.api.common.v1.WorkerVersionCapabilities",
    "temporal.api.common.v1.TimeSkippingConfig",
    "temporal.api.common.v1.TimeSkippingStatePropagation",
    "temporal.api.common.v1.TimeSkippingInfo",
    "temporal.api.common.v1.Payload.ExternalPayloadDetails",
    "temporal.api.deployment.v1.",
    "temporal.api.worker.v1.",
    "temporal.api.replication.v1.",
    "temporal.api.namespace.v1.",
    "temporal.api.sdk.v1.EventGroupMarker",
    "temporal.api.taskqueue.v1.PollerGroup",
    "temporal.api.taskqueue.v1.PollerScaling",
    "temporal.api.workflow.v1.CallbackInfo",
    "temporal.api.workflow.v1.PendingNexusOperationInfo",
    "temporal.api.workflow.v1.NexusOperationCancellationInfo",
    "temporal.api.workflow.v1.VersioningOverride",
    "temporal.api.workflow.v1.WorkflowExecutionVersioningInfo",
    "temporal.api.workflow.v1.WorkflowExecutionPauseInfo",
    "temporal.api.workflow.v1.DeploymentTransition",
    "temporal.api.workflow.v1.DeploymentVersionTransition",
    "temporal.api.workflow.v1.ResetPoints",
    "temporal.api.workflow.v1.PostResetOperation",
    "temporal.api.workflow.v1.OnConflictOptions",
    "temporal.api.workflow.v1.PendingActivityInfo.PauseInfo",
];
/// Rare events with large attributes: kept behind a pointer, so that each of the many small events is not as large as the largest.
const BOXED_EVENTS: &[&str] = &[
    "workflow_execution_started",
    "workflow_execution_continued_as_new",
    "workflow_task_failed",
    "workflow_execution_update_rejected",
    "start_child_workflow_execution_initiated",
    "child_workflow_execution_failed",
];
const BOUNDARY_PACKAGE: &str = "temporalex.boundary.v1";
const BOUNDARY_FILE: &str = "temporalex/boundary/v1/boundary.proto";
/// What the engine stores; only `fields` reads it.
const ENGINE_FILE: &str = "temporalex/engine/v1/state.proto";
const ENGINE_PACKAGE: &str = "temporalex.engine.v1";
const SERVICE_FILE: &str = "temporal/api/workflowservice/v1/service.proto";
/// What is compiled, with all that these import.
const FILES: [&str; 6] = [
    SERVICE_FILE,
    "temporal/api/operatorservice/v1/service.proto",
    "temporal/api/protocol/v1/message.proto",
    "temporal/api/update/v1/message.proto",
    BOUNDARY_FILE,
    ENGINE_FILE,
];
const HEADER: &str = "// @generated by tools/gen_proto -- do not edit\n";

type Refs = BTreeMap<String, BTreeSet<String>>;

fn collect(prefix: &str, m: &DescriptorProto, refs: &mut Refs) {
    let full = format!("{prefix}.{}", m.name());
    let mut set: BTreeSet<String> = m
        .field
        .iter()
        .filter(|f| !f.type_name().is_empty())
        .map(|f| f.type_name()[1..].to_string())
        .collect();
    // A nested type keeps its parent, and the parent its nested types (map entries among them).
    set.extend(
        m.nested_type
            .iter()
            .filter(|n| n.options.as_ref().is_some_and(|o| o.map_entry()))
            .map(|n| format!("{full}.{}", n.name())),
    );
    set.extend(full.rsplit_once('.').map(|(p, _)| p.to_string()));
    refs.insert(full.clone(), set);
    for e in &m.enum_type {
        refs.insert(
            format!("{full}.{}", e.name()),
            BTreeSet::from([full.clone()]),
        );
    }
    for n in &m.nested_type {
        collect(&full, n, refs);
    }
}

/// What every message and enum of the set refers to.
fn references(set: &FileDescriptorSet) -> Refs {
    let mut refs = Refs::new();
    for f in &set.file {
        for m in &f.message_type {
            collect(f.package(), m, &mut refs);
        }
        for e in &f.enum_type {
            refs.insert(format!("{}.{}", f.package(), e.name()), BTreeSet::new());
        }
    }
    refs
}

fn reach(roots: impl IntoIterator<Item = String>, refs: &Refs) -> BTreeSet<String> {
    let mut keep = BTreeSet::new();
    let mut todo: Vec<String> = roots.into_iter().collect();
    while let Some(name) = todo.pop() {
        if let Some(next) = refs.get(&name)
            && keep.insert(name)
        {
            todo.extend(next.iter().cloned());
        }
    }
    keep
}

fn prune(prefix: &str, m: &mut DescriptorProto, keep: &BTreeSet<String>) {
    let full = format!("{prefix}.{}", m.name());
    m.nested_type
        .retain(|n| keep.contains(&format!("{full}.{}", n.name())));
    m.enum_type
        .retain(|e| keep.contains(&format!("{full}.{}", e.name())));
    for n in &mut m.nested_type {
        prune(&full, n, keep);
    }
}

/// The set with only what `keep` names; files left empty and imports of them go.
fn trim(set: &FileDescriptorSet, keep: &BTreeSet<String>, services: bool) -> FileDescriptorSet {
    let mut files: Vec<FileDescriptorProto> = Vec::new();
    for f in &set.file {
        let mut f = f.clone();
        let pkg = f.package().to_string();
        if !pkg.starts_with("google.protobuf") {
            f.message_type
                .retain(|m| keep.contains(&format!("{pkg}.{}", m.name())));
            for m in &mut f.message_type {
                prune(&pkg, m, keep);
            }
            f.enum_type
                .retain(|e| keep.contains(&format!("{pkg}.{}", e.name())));
            if services && f.name() == SERVICE_FILE {
                for s in &mut f.service {
                    s.method
                        .retain(|m| METHODS.contains(&m.name()) || TS_METHODS.contains(&m.name()));
                    for m in &mut s.method {
                        m.options = None;
                    }
                }
            } else {
                f.service.clear();
            }
            f.extension.clear();
            // Comments are kept for the generated docs only where positions still fit, which they do not after trimming.
            f.source_code_info = None;
            if f.message_type.is_empty() && f.enum_type.is_empty() && f.service.is_empty() {
                continue;
            }
        }
        files.push(f);
    }
    let names: BTreeSet<String> = files.iter().map(|f| f.name().to_string()).collect();
    for f in &mut files {
        f.dependency.retain(|d| names.contains(d));
        f.public_dependency.clear();
        f.weak_dependency.clear();
        for m in &mut f.message_type {
            strip_options(m);
        }
    }
    FileDescriptorSet { file: files }
}

/// All of Temporal's API, for what is asked of a service by name: types alone, without options and comments.
fn whole(set: &FileDescriptorSet) -> FileDescriptorSet {
    let wanted = |name: &str| {
        name.starts_with("temporal/api/")
            || (name.starts_with("google/protobuf/") && name != "google/protobuf/descriptor.proto")
    };
    let mut files: Vec<FileDescriptorProto> =
        set.file.iter().filter(|f| wanted(f.name())).cloned().collect();
    for f in &mut files {
        f.dependency.retain(|d| wanted(d));
        f.public_dependency.clear();
        f.weak_dependency.clear();
        f.extension.clear();
        f.source_code_info = None;
        f.options = None;
        for m in &mut f.message_type {
            strip_options(m);
            strip_json_names(m);
        }
        f.enum_type.iter_mut().for_each(|e| e.options = None);
        for m in f.service.iter_mut().flat_map(|s| &mut s.method) {
            m.options = None;
        }
    }
    FileDescriptorSet { file: files }
}

/// They follow from the names, and only JSON asks for them.
fn strip_json_names(m: &mut DescriptorProto) {
    m.field.iter_mut().for_each(|f| f.json_name = None);
    m.nested_type.iter_mut().for_each(strip_json_names);
}

/// Drops the fields whose types are in NOT_IN_RUST.
fn drop_fields(m: &mut DescriptorProto) {
    m.field.retain(|f| {
        !NOT_IN_RUST.iter().any(|t| {
            f.type_name()
                .strip_prefix('.')
                .is_some_and(|n| n.starts_with(t))
        })
    });
    // A oneof whose members are all gone would be an error; prost numbers oneofs by index, so an empty one is dropped with care.
    let used: BTreeSet<i32> = m.field.iter().filter_map(|f| f.oneof_index).collect();
    let mut index = 0;
    let mut renumber = BTreeMap::new();
    for i in 0..m.oneof_decl.len() as i32 {
        if used.contains(&i) {
            renumber.insert(i, index);
            index += 1;
        }
    }
    let mut i = -1;
    m.oneof_decl.retain(|_| {
        i += 1;
        used.contains(&i)
    });
    for f in &mut m.field {
        if let Some(o) = f.oneof_index {
            f.oneof_index = renumber.get(&o).copied();
        }
    }
    for n in &mut m.nested_type {
        drop_fields(n);
    }
}

/// Options that name dropped extensions (nexus and http annotations) go; map_entry stays.
fn strip_options(m: &mut DescriptorProto) {
    if let Some(o) = &mut m.options {
        let map_entry = o.map_entry;
        *o = Default::default();
        o.map_entry = map_entry;
    }
    for f in &mut m.field {
        f.options = None;
    }
    for n in &mut m.nested_type {
        strip_options(n);
    }
}

fn main() {
    let args: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let [proto, rust_out, image_out] = &args[..] else {
        eprintln!("usage: gen-proto <proto dir> <rust out dir> <image out dir>");
        std::process::exit(2);
    };
    let set = protox::compile(FILES, [proto]).unwrap_or_else(|e| {
        eprintln!("gen-proto: {e:?}");
        std::process::exit(1);
    });
    let refs = references(&set);
    let messages = |methods: &[&str]| -> Vec<String> {
        let mut names = Vec::new();
        for m in methods {
            for suffix in ["Request", "Response"] {
                let name = format!("temporal.api.workflowservice.v1.{m}{suffix}");
                assert!(refs.contains_key(&name), "no message {name}");
                names.push(name);
            }
        }
        names
    };
    let mut core: Vec<String> = API_ROOTS.iter().map(|s| s.to_string()).collect();
    core.extend(messages(METHODS));
    let mut api = core.clone();
    api.extend(messages(TS_METHODS));
    let boundary: Vec<String> = refs
        .keys()
        .filter(|k| k.starts_with(BOUNDARY_PACKAGE))
        .cloned()
        .collect();

    let stored = refs.keys().filter(|k| k.starts_with(ENGINE_PACKAGE)).cloned();
    let engine_keep = reach(core.iter().cloned().chain(stored), &refs);
    let api_keep = reach(api, &refs);
    let boundary_keep = reach(boundary.clone(), &refs);
    let mut rust_set = set.clone();
    for f in &mut rust_set.file {
        f.message_type.iter_mut().for_each(drop_fields);
    }
    let rust_keep = reach(core.into_iter().chain(boundary), &references(&rust_set));

    std::fs::create_dir_all(rust_out).unwrap();
    std::fs::create_dir_all(image_out).unwrap();
    std::fs::write(
        image_out.join("api.binpb"),
        trim(&set, &api_keep, true).encode_to_vec(),
    )
    .unwrap();
    std::fs::write(image_out.join("whole.binpb"), whole(&set).encode_to_vec()).unwrap();
    std::fs::write(
        image_out.join("boundary.binpb"),
        trim(&set, &boundary_keep, false).encode_to_vec(),
    )
    .unwrap();

    let mut config = prost_build::Config::new();
    config
        .btree_map(["."])
        .include_file("mod.rs")
        .out_dir(rust_out)
        .disable_comments(["."]);
    for rare in BOXED_EVENTS {
        config.boxed(format!(
            ".temporal.api.history.v1.HistoryEvent.attributes.{rare}_event_attributes"
        ));
    }
    config
        .compile_fds(trim(&rust_set, &rust_keep, false))
        .unwrap();
    let enums = rust_keep_enums(&rust_set, &rust_keep);
    std::fs::write(
        rust_out.join("views.rs"),
        views::generate(&set, &enums),
    )
    .unwrap();
    std::fs::write(
        rust_out.join("fields.rs"),
        fields::generate(&names::messages(&set, |name| engine_keep.contains(name))),
    )
    .unwrap();
    let modules = std::fs::read_to_string(rust_out.join("mod.rs")).unwrap();
    std::fs::write(rust_out.join("mod.rs"), modules + "pub mod fields;\npub mod views;\n").unwrap();
    for entry in std::fs::read_dir(rust_out).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "rs") {
            header(&path);
        }
    }
}

/// Full names of the top-level enums that prost generates.
fn rust_keep_enums(set: &FileDescriptorSet, keep: &BTreeSet<String>) -> BTreeSet<String> {
    let name = |f: &FileDescriptorProto, e: &str| format!("{}.{e}", f.package());
    set.file
        .iter()
        .flat_map(|f| f.enum_type.iter().map(move |e| name(f, e.name())))
        .filter(|n| keep.contains(n))
        .collect()
}

fn header(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text
        .strip_prefix("// This file is @generated by prost-build.\n")
        .unwrap_or(&text);
    std::fs::write(path, format!("{HEADER}{text}")).unwrap();
}
