//! The callbacks of a start. Only callbacks into this process are taken: those that its own Nexus operations hand to their handlers.
use super::links::Link;
use crate::engine::callbacks::MAX;
use crate::engine::codec;
use crate::engine::message::message;
use crate::engine::rpc::{self, Rpc};

const URL: &str = "temporal://system";
const HEADER_BYTES: usize = 8192;

message! {
    Callback: common::Callback { nexus msg(NexusCallback), internal raw(ANY), links reps(Link), }
    NexusCallback: common::CallbackNexus { url str, header reps(HeaderEntry), }
    HeaderEntry: common::CallbackNexusHeaderEntry { key str, value str, }
}

/// Returns the encoded links of the start without those that its callbacks have.
pub fn check(callbacks: &[Vec<u8>], links: &[Link]) -> Rpc<Vec<Vec<u8>>> {
    let known = links.iter().filter(|link| link.workflow_event.is_some());
    let mut links: Vec<Vec<u8>> = known.map(|link| codec::bytes(link)).collect();
    if callbacks.len() > MAX {
        return Err(rpc::invalid(format!("cannot attach more than {MAX} callbacks to a workflow")));
    }
    for callback in callbacks {
        let view: Callback = codec::read(callback).map_err(|bad| rpc::invalid(format!("cannot decode a callback: {}", bad.0)))?;
        let known: Vec<Vec<u8>> = view.links.iter().map(|link| codec::bytes(link)).collect();
        links.retain(|link| !known.contains(link));
        let Some(nexus) = view.nexus else { return Err(rpc::unimplemented("unknown callback variant")) };
        if nexus.url != URL {
            let text = format!(
                "invalid callback URL {:?}: only callbacks of Nexus operations of this server ({URL}) are supported; ",
                nexus.url
            );
            return Err(rpc::invalid(text + "for other receivers, call an activity at the end of the workflow"));
        }
        if nexus.header.iter().map(|h| h.key.len() + h.value.len()).sum::<usize>() > HEADER_BYTES {
            return Err(rpc::invalid(format!("invalid header: header size longer than max allowed size of {HEADER_BYTES}")));
        }
    }
    Ok(links)
}
