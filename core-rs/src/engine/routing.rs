//! Where tasks of a queue go: the versions whose workers poll it, and the current and ramping one of its deployment.
use std::collections::HashMap;

use super::fingerprint::fingerprint;
use super::messages::versioning::{Queues, RoutedQueue, Version};
use super::queues::Side;
use super::state::run::Head;

/// The queues of all versions.
#[derive(Default)]
pub struct Routing {
    workflow: HashMap<String, RoutedQueue>,
    activity: HashMap<String, RoutedQueue>,
}

impl Routing {
    pub fn new(queues: Queues) -> Routing {
        let mut routing = Routing::default();
        for queue in queues.queues {
            let side = if queue.activities { &mut routing.activity } else { &mut routing.workflow };
            side.insert(queue.name.clone(), queue);
        }
        routing
    }

    fn queue(&self, side: Side, name: &str) -> Option<&RoutedQueue> {
        match side {
            Side::Workflow => self.workflow.get(name),
            Side::Activity => self.activity.get(name),
        }
    }

    /// Whether workers of the version poll the queue.
    pub fn has(&self, version: &Version, side: Side, name: &str) -> bool {
        self.queue(side, name).is_some_and(|queue| queue.versions.contains(version))
    }

    /// Where tasks of runs go that are not pinned, and the revision of the routing that says so; None: to unversioned workers.
    pub fn target(&self, head: &Head, side: Side, name: &str) -> Option<(&Version, i64)> {
        let queue = self.queue(side, name)?;
        let ramps = match queue.ramping_percentage {
            _ if prefers_ramping(head) && queue.ramping.is_some() => true,
            share if share <= 0.0 => false,
            share if share >= 100.0 => true,
            share => f64::from(fingerprint(head.workflow_id.as_bytes())) / 4_294_967_296.0 * 100.0 <= share,
        };
        let (version, revision) =
            if ramps { (&queue.ramping, queue.ramping_revision) } else { (&queue.current, queue.current_revision) };
        version.as_ref().map(|version| (version, revision))
    }
}

/// The first task of a run that was continued with this wish.
fn prefers_ramping(head: &Head) -> bool {
    const USE_RAMPING_VERSION: i32 = 2;
    head.last_completed_started_id == 0
        && head.versioning.as_ref().is_some_and(|v| v.continue_as_new_initial_versioning_behavior == USE_RAMPING_VERSION)
}
