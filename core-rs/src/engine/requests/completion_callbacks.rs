//! The callbacks of a start. Only callbacks into this process are taken: those that its own Nexus operations hand to their handlers.
use super::links;
use crate::engine::callbacks::MAX;
use crate::engine::codec;
use crate::engine::message::message;
use crate::engine::rpc::{self, Rpc};

const URL: &str = "temporal://system";
const HEADER_BYTES: usize = 8192;

message! {
    Callback: common::Callback { nexus msg(NexusCallback), internal raw(ANY), links raws(LINK), }
    NexusCallback: common::CallbackNexus { url str, header reps(HeaderEntry), }
    HeaderEntry: common::CallbackNexusHeaderEntry { key str, value str, }
}

/// Checks callbacks and links of a start. Returns the links without those that its callbacks have.
pub fn check(callbacks: &[Vec<u8>], mut links: Vec<Vec<u8>>) -> Rpc<Vec<Vec<u8>>> {
    if callbacks.len() > MAX {
        return Err(rpc::invalid(format!("cannot attach more than {MAX} callbacks to a workflow")));
    }
    let mut of_callbacks: Vec<Vec<u8>> = Vec::new();
    for callback in callbacks {
        let view: Callback = codec::read(callback).map_err(|bad| rpc::invalid(format!("cannot decode a callback: {}", bad.0)))?;
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
        of_callbacks.extend(view.links);
    }
    links.retain(|link| !of_callbacks.contains(link));
    links::check(&[&links[..], &of_callbacks[..]].concat())?;
    Ok(links)
}
