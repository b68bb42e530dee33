//! What a reset run gets again of the later events of the old runs: signals, updates, and the ends of its children.
use super::attach::update_options;
use super::context::Context;
use super::event::About;
use super::messages::events::*;
use super::reset::{Past, admit, child_end, child_started};
use super::state::run::Run;
use super::time::Micros;
use super::versioning;
use crate::api::enums::v1::{EventType as E, UpdateAdmittedEventOrigin};
use crate::proto::fields::history::HistoryEvent;

/// Kinds of events that are not applied again.
#[derive(Clone, Copy)]
pub struct Exclude {
    pub signals: bool,
    pub updates: bool,
}

fn links(event: &Past) -> Vec<Vec<u8>> {
    event.message.all(HistoryEvent::links).map(<[u8]>::to_vec).collect()
}

/// Applies later events of the old runs to the new one. `of_base`: they are of the run that was copied.
pub fn reapply(run: &mut Run, cx: &Context, past: &[Past], of_base: bool, exclude: Exclude) {
    let time = run.time(cx.now);
    for event in past {
        match event.kind {
            E::WorkflowExecutionSignaled if !exclude.signals => {
                let attrs = SignaledAttrs { external_workflow_execution: None, ..event.attrs() };
                run.head.inbox_signals += 1;
                run.add_linked(time, attrs, About::Other, links(event));
            }
            E::WorkflowExecutionOptionsUpdated => {
                let attrs: OptionsUpdatedAttrs = event.attrs();
                if !run.attached.contains_key(&attrs.attached_request_id) {
                    versioning::restore_options(run, &attrs);
                    update_options(run, time, attrs, links(event));
                }
            }
            E::WorkflowExecutionUpdateAdmitted if !exclude.updates => {
                let attrs: UpdateAdmittedAttrs = event.attrs();
                if admit(run, &attrs.request) {
                    run.append(time, &attrs);
                }
            }
            E::WorkflowExecutionUpdateAccepted if !exclude.updates => {
                let a: UpdateAcceptedAttrs = event.attrs();
                // Otherwise the event that admitted it has the request.
                if let Some(request) = a.accepted_request {
                    let origin = UpdateAdmittedEventOrigin::Reapply as i32;
                    let attrs = UpdateAdmittedAttrs { request: Some(request), origin };
                    if admit(run, &attrs.request) {
                        run.append(time, &attrs);
                    }
                }
            }
            _ if of_base => reapply_child(run, event, time),
            _ => {}
        }
    }
}

/// Of children that the copied events initiated.
fn reapply_child(run: &mut Run, event: &Past, time: Micros) {
    match event.kind {
        E::ChildWorkflowExecutionStarted => {
            let attrs: ChildStartedAttrs = event.attrs();
            if run.children.get(&attrs.initiated_event_id).is_some_and(|c| c.started_id == 0) {
                let id = run.append(time, &attrs);
                child_started(run, id, &attrs);
            }
        }
        E::StartChildWorkflowExecutionFailed => {
            let attrs: ChildStartFailedAttrs = event.attrs();
            if run.remove_child(attrs.initiated_event_id).is_some() {
                run.drop_order_of(attrs.initiated_event_id);
                run.append(time, &attrs);
            }
        }
        _ => {
            if let Some((initiated, write)) = child_end(event)
                && let Some(child) = run.remove_child(initiated)
            {
                write(run, time, child.started_id);
            }
        }
    }
}
