//! Replaces the register of search attributes by that of the host, without a reply.
use super::shared::*;
use crate::engine::machine::Engine;
use crate::engine::rpc::Rpc;
use crate::engine::search_attributes::Register;
use crate::engine::state::request::Again;

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let register = decode(&r.body)?;
    engine.cx.attributes = Some(Register::new(&engine.cx.namespace, register));
    Ok(())
}
