//! What a start attaches to the open run that it uses: its request id, callbacks and links, in a WorkflowExecutionOptionsUpdated event.
//! The workflow does not see the event, so it asks for no workflow task.
use super::callbacks;
use super::context::Context;
use super::event::About;
use super::messages::events::OptionsUpdatedAttrs;
use super::rpc::{self, Rpc};
use super::start::Start;
use super::state::run::Run;
use super::time::Micros;

/// Attaches what the options of the start name. Returns the id of the attached request; empty: it is not attached.
pub fn attach(run: &mut Run, cx: &mut Context, start: Start) -> Rpc<String> {
    let Some(options) = start.attach else { return Ok(String::new()) };
    let mut attrs = OptionsUpdatedAttrs::default();
    if options.attach_request_id {
        attrs.attached_request_id = if start.request_id.is_empty() { cx.rng.uuid4() } else { start.request_id };
    }
    if options.attach_completion_callbacks {
        attrs.attached_completion_callbacks = start.attrs.completion_callbacks;
    }
    let (added, known) = (attrs.attached_completion_callbacks.len(), run.callbacks.len());
    if added + known > callbacks::MAX {
        let text =
            format!("cannot attach more than {} callbacks to a workflow ({known} callbacks already attached)", callbacks::MAX);
        return Err(rpc::invalid(text));
    }
    let request_id = attrs.attached_request_id.clone();
    let time = run.time(cx.now);
    update_options(run, time, attrs, if options.attach_links { start.links } else { Vec::new() });
    Ok(request_id)
}

/// Writes the event, with the state that follows from it.
pub fn update_options(run: &mut Run, time: Micros, attrs: OptionsUpdatedAttrs, links: Vec<Vec<u8>>) {
    let request_id = attrs.attached_request_id.clone();
    callbacks::add(run, &attrs.attached_completion_callbacks, time, &request_id);
    let about = if request_id.is_empty() { About::Other } else { About::Attached(request_id.clone()) };
    let event_id = run.add_linked(time, attrs, about, links);
    if !request_id.is_empty() {
        run.attached_as(request_id, event_id);
    }
}

/// The event was copied by a reset.
pub fn copied(run: &mut Run, attrs: OptionsUpdatedAttrs, event_id: i64, time: Micros) {
    callbacks::add(run, &attrs.attached_completion_callbacks, time, &attrs.attached_request_id);
    if !attrs.attached_request_id.is_empty() {
        run.attached_as(attrs.attached_request_id, event_id);
    }
}
