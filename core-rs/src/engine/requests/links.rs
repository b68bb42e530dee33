//! Links of a request to events of other workflows, batch jobs, activities and operations. They are kept with the event of the request;
//! malformed ones are rejected as on a server.
use crate::engine::codec;
use crate::engine::links::WorkflowEvent;
use crate::engine::message::message;
use crate::engine::rpc::{self, Rpc};

const MAX: usize = 10;
const MAX_BYTES: usize = 4000;

message! {
    AnyLink: common::Link {
        workflow_event msg(WorkflowEvent), batch_job msg(BatchJob), activity msg(Target), nexus_operation msg(Target),
        workflow msg(Target),
    }
    BatchJob: common::LinkBatchJob { job_id str, }
    /// The fields of Link.NexusOperation and Link.Workflow have the same numbers.
    Target: common::LinkActivity { namespace str, activity_id str, run_id str, }
}

/// Checks all links of a request: encoded, with those of its callbacks.
pub fn check(links: &[Vec<u8>]) -> Rpc<()> {
    if links.len() > MAX {
        let text = format!("cannot attach more than {MAX} links per request, got {}", links.len());
        return Err(rpc::invalid(text));
    }
    for bytes in links {
        if bytes.len() > MAX_BYTES {
            let text = format!("link exceeds allowed size of {MAX_BYTES}, got {}", bytes.len());
            return Err(rpc::invalid(text));
        }
        let link: AnyLink = codec::read(bytes).map_err(|bad| rpc::invalid(format!("cannot decode a link: {}", bad.0)))?;
        check_link(&link)?;
    }
    Ok(())
}

fn check_link(link: &AnyLink) -> Rpc<()> {
    if let Some(event) = &link.workflow_event {
        check_fields("workflow event", "workflow", [&event.namespace, &event.workflow_id, &event.run_id])?;
        if event.event_ref.as_ref().is_some_and(|r| r.event_id != 0 && r.event_type == 0) {
            let text = "workflow event link ref cannot have an unspecified event type and a non-zero event ID";
            return Err(rpc::invalid(text));
        }
        return Ok(());
    }
    if let Some(job) = &link.batch_job {
        return if job.job_id.is_empty() { Err(rpc::invalid("batch job link must not have an empty job ID")) } else { Ok(()) };
    }
    let targets = [
        ("activity", "activity", &link.activity),
        ("nexus operation", "operation", &link.nexus_operation),
        ("workflow", "workflow", &link.workflow),
    ];
    for (kind, id, target) in targets {
        if let Some(t) = target {
            return check_fields(kind, id, [&t.namespace, &t.activity_id, &t.run_id]);
        }
    }
    Err(rpc::invalid("unsupported link variant"))
}

fn check_fields(kind: &str, id: &str, [namespace, target_id, run_id]: [&String; 3]) -> Rpc<()> {
    let id = format!("{id} ID");
    for (what, value) in [("namespace", namespace), (id.as_str(), target_id), ("run ID", run_id)] {
        if value.is_empty() {
            return Err(rpc::invalid(format!("{kind} link must not have an empty {what} field")));
        }
    }
    Ok(())
}
