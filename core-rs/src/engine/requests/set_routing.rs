//! Replaces the task queues of worker deployments by those of the host, without a reply. Tasks that wait go to where they belong now.
use super::shared::*;
use crate::engine::machine::Engine;
use crate::engine::queries;
use crate::engine::routing::Routing;
use crate::engine::rpc::Rpc;
use crate::engine::state::request::Again;
use crate::engine::versioning;

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let queues = decode(&r.body)?;
    engine.cx.routing = Some(Routing::new(queues));
    let mut slots = engine.cx.queues.slots();
    slots.sort_unstable();
    slots.dedup();
    for slot in slots {
        engine.with_run(slot, |run, cx| {
            versioning::requeue(run, cx);
            queries::requeue(run, cx);
        });
    }
    Ok(())
}
