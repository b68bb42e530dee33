//! What requests have in common: they are decoded, checked, and led to their run.
use crate::engine::codec::{self, Wire};
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::messages::common::WorkflowExecution;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;

/// A decoded and checked body, or what is wrong with it.
pub fn decode<T: Wire + Default>(body: &[u8]) -> Rpc<T> {
    let mut message = T::default();
    decode_into(&mut message, body)?;
    Ok(message)
}

fn decode_into(message: &mut dyn Wire, body: &[u8]) -> Rpc<()> {
    codec::merge(message, body).map_err(|bad| rpc::invalid(format!("cannot decode the request: {}", bad.0)))
}

/// Workflow id and run id.
pub fn target(e: &Option<WorkflowExecution>) -> (&str, &str) {
    e.as_ref().map_or(("", ""), |e| (&e.workflow_id, &e.run_id))
}

impl Engine {
    /// Refuses a request to another namespace.
    pub(super) fn namespace(&self, name: &str) -> Rpc<()> {
        if name.is_empty() || name == self.cx.namespace { Ok(()) } else { Err(rpc::namespace_not_found(name)) }
    }

    /// Runs a step on the run that the request names; its error goes to the caller.
    pub(super) fn on_run(
        &mut self,
        r: &Again,
        workflow_id: &str,
        run_id: &str,
        step: impl FnOnce(&mut Run, &mut Context) -> Rpc<()>,
    ) {
        let Some(slot) = self.resolve(workflow_id, run_id, r) else { return };
        if let Some(Err(e)) = self.with_run(slot, step) {
            self.cx.fail(r.request_id, e);
        }
    }
}

/// The request may name the first run of a chain.
pub fn check_first_run(run: &Run, first_run_id: &str) -> Rpc<()> {
    if !first_run_id.is_empty() && run.head.first_run_id != first_run_id {
        return Err(rpc::execution_not_found());
    }
    Ok(())
}

/// Headers have the limit of a whole request.
pub fn check_header(header: Option<&Vec<u8>>) -> Rpc<()> {
    let size = header.map_or(0, Vec::len);
    if size > limits::HEADER_BYTES {
        return Err(rpc::invalid(format!("Header size exceeds limit: {size} bytes, at most {}.", limits::HEADER_BYTES)));
    }
    Ok(())
}

pub fn check_priority(priority: Option<&[u8]>) -> Rpc<()> {
    limits::bad_priority(priority).map_or(Ok(()), |why| Err(rpc::invalid(why)))
}

pub fn check_size(cx: &Context, what: &str, size: usize) -> Rpc<()> {
    if size > cx.limits.payload_bytes {
        let e = rpc::invalid(format!("Blob data size exceeds limit. {what}: {size} bytes, at most {}.", cx.limits.payload_bytes));
        return Err(rpc::with(e, "limit", "max_payload_bytes"));
    }
    Ok(())
}
