//! The points of a run that a reset can name by a build: the first task that each build completed.
use super::messages::events::TaskCompletedAttrs;
use super::state::run::{ResetPoint, Run};
use super::time::Micros;

/// As many as a server keeps.
const MAX_POINTS: usize = 20;

/// Remembers the first task that a build completed.
pub fn add(run: &mut Run, task: &TaskCompletedAttrs, completed_id: i64, time: Micros) {
    let stamped = task.worker_version.as_ref().map(|v| v.build_id.as_str()).unwrap_or_default();
    let build_id = task.deployment_version.as_ref().map_or(stamped, |v| &v.build_id);
    let points = &mut run.head.reset_points;
    if points.iter().any(|p| p.build_id == build_id && p.binary_checksum == task.binary_checksum) {
        return;
    }
    if points.len() >= MAX_POINTS {
        points.remove(0);
    }
    points.push(ResetPoint {
        binary_checksum: task.binary_checksum.clone(),
        build_id: build_id.into(),
        run_id: String::new(),
        completed_id,
        time_us: time,
    });
}
