//! The jobs of the next activation and their order (core-spec 2.6, 3.3).
//!
//! Compat: Core's sorted order. Native: state first (start, patches, side effects, seed), then signals, updates, cancels and
//! resolutions as their events stand in history, then local activities in marker order. Jobs that no event made (resolutions by
//! a cancel in the same task) come behind those that events made.
use crate::boundary::job::Variant;
use crate::boundary::{Job, JobOrder};
use crate::replay::convert::id32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Initialize,
    State,
    Seed,
    Message,
    Other,
    LocalActivity,
}

/// Where a job stands among those of its rank.
type Position = i64;

#[derive(Debug)]
struct Pending {
    rank: Rank,
    position: Position,
    job: Job,
}

#[derive(Debug)]
pub struct Jobs {
    order: JobOrder,
    pending: Vec<Pending>,
}

impl Jobs {
    pub fn new(order: JobOrder) -> Jobs {
        Jobs { order, pending: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn clear(&mut self) {
        self.pending.clear();
    }

    /// A job made by the event.
    pub fn of_event(&mut self, event_id: i64, variant: Variant) {
        self.push(event_id.saturating_mul(2), event_id, variant);
    }

    /// An update request: it counts as coming right behind the event with its sequencing id, live and on replay.
    pub fn of_update(&mut self, sequencing_id: i64, variant: Variant) {
        self.push(sequencing_id.saturating_mul(2).saturating_add(1), sequencing_id, variant);
    }

    /// A resolution that a cancel made.
    pub fn same_task(&mut self, variant: Variant) {
        self.push(Position::MAX, 0, variant);
    }

    fn push(&mut self, position: Position, event_id: i64, variant: Variant) {
        let rank = match &variant {
            Variant::InitializeWorkflow(_) => Rank::Initialize,
            Variant::NotifyHasPatch(_) | Variant::SideEffectValue(_) => Rank::State,
            Variant::UpdateRandomSeed(_) => Rank::Seed,
            Variant::ResolveActivity(r) if r.is_local => Rank::LocalActivity,
            Variant::SignalWorkflow(_) | Variant::DoUpdate(_) if self.order == JobOrder::Compat => Rank::Message,
            _ => Rank::Other,
        };
        // Results of local activities are released in marker order, which is the order of their coming here.
        let position = if rank == Rank::LocalActivity { 0 } else { position };
        let job = Job { event_id: id32(event_id), variant: Some(variant) };
        self.pending.push(Pending { rank, position, job });
    }

    /// All jobs, in order.
    pub fn take(&mut self) -> Vec<Job> {
        self.pending.sort_by_key(|p| (p.rank, p.position));
        self.pending.drain(..).map(|p| p.job).collect()
    }
}
