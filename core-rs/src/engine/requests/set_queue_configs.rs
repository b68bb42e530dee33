//! Replaces the configurations of task queues by those of the host, without a reply.
use super::shared::*;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::queues::Side;
use crate::engine::rpc::Rpc;
use crate::engine::state::request::Again;
use crate::engine::throttle::QueueConfig;

message! {
    Configs: engine::TaskQueueConfigs { queues reps(Config), }
    Config: engine::TaskQueueConfig { name str, activity bool, rate msg(Rate), key_rate msg(Rate), weights reps(KeyWeight), }
    Rate: engine::TaskRate { per_second double, }
    KeyWeight: engine::KeyWeight { key str, weight double, }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let Configs { queues } = decode(&r.body)?;
    let config = |c: Config| {
        let side = if c.activity { Side::Activity } else { Side::Workflow };
        let rate = |rate: Option<Rate>| rate.map(|rate| rate.per_second);
        let weights = c.weights.into_iter().map(|each| (each.key, each.weight as f32)).collect();
        (side, c.name, QueueConfig { rate: rate(c.rate), key_rate: rate(c.key_rate), weights })
    };
    let now = engine.cx.now;
    engine.cx.queues.configure(queues.into_iter().map(config).collect(), now);
    Ok(())
}
