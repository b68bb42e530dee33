//! The jobs of the next activation and their order
//! (docs/dev/semantics/activations.md#jobs-in-the-order-of-events).
//!
//! Compat: Core's sorted order. Native: state first (start, patches, side effects, seed), then signals, updates, cancels and
//! resolutions as their events stand in history, then local activities in marker order. Jobs that no event made (resolutions by
//! a cancel in the same task) come behind those that events made.
use crate::boundary::JobOrder;
use crate::proto::views::boundary::{
    Activation, DoUpdate, InitializeWorkflow, Job, NotifyHasPatch, ResolveActivity, SideEffectValue, SignalWorkflow,
    UpdateRandomSeed,
};
use crate::replay::convert::id32;
use crate::wire::typed::{Encoded, Put, VariantOf, build};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Initialize,
    State,
    Seed,
    Message,
    Other,
    LocalActivity,
}

/// Position of a job among those of its rank.
type Position = i64;

#[derive(Debug)]
struct Pending {
    rank: Rank,
    position: Position,
    event_id: i64,
    /// Which variant of Job it is, by field number.
    variant: u32,
    body: Vec<u8>,
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
    pub fn of_event<V: VariantOf<Job>>(&mut self, event_id: i64, job: Encoded<V>) {
        self.push(self.rank(V::FIELD), event_id.saturating_mul(2), event_id, V::FIELD, job.into_bytes());
    }

    /// An update request: it counts as coming right behind the event with its sequencing id, live and on replay.
    pub fn of_update(&mut self, sequencing_id: i64, job: Encoded<DoUpdate>) {
        let position = sequencing_id.saturating_mul(2).saturating_add(1);
        let variant = <DoUpdate as VariantOf<Job>>::FIELD;
        self.push(self.rank(variant), position, sequencing_id, variant, job.into_bytes());
    }

    /// A resolution that a cancel made.
    pub fn same_task<V: VariantOf<Job>>(&mut self, job: Encoded<V>) {
        self.push(Rank::Other, Position::MAX, 0, V::FIELD, job.into_bytes());
    }

    /// The result of a local activity. They are released in marker order, which is the order of their coming here.
    pub fn of_local_activity(&mut self, event_id: i64, job: Encoded<ResolveActivity>) {
        self.push(Rank::LocalActivity, 0, event_id, <ResolveActivity as VariantOf<Job>>::FIELD, job.into_bytes());
    }

    fn rank(&self, variant: u32) -> Rank {
        const INITIALIZE: u32 = <InitializeWorkflow as VariantOf<Job>>::FIELD;
        const PATCH: u32 = <NotifyHasPatch as VariantOf<Job>>::FIELD;
        const SIDE_EFFECT: u32 = <SideEffectValue as VariantOf<Job>>::FIELD;
        const SEED: u32 = <UpdateRandomSeed as VariantOf<Job>>::FIELD;
        const SIGNAL: u32 = <SignalWorkflow as VariantOf<Job>>::FIELD;
        const UPDATE: u32 = <DoUpdate as VariantOf<Job>>::FIELD;
        match variant {
            INITIALIZE => Rank::Initialize,
            PATCH | SIDE_EFFECT => Rank::State,
            SEED => Rank::Seed,
            SIGNAL | UPDATE if self.order == JobOrder::Compat => Rank::Message,
            _ => Rank::Other,
        }
    }

    fn push(&mut self, rank: Rank, position: Position, event_id: i64, variant: u32, body: Vec<u8>) {
        self.pending.push(Pending { rank, position, event_id, variant, body });
    }

    /// All jobs in their order, as the jobs of an activation; they are forgotten here.
    pub fn take(&mut self) -> Encoded<Activation> {
        self.pending.sort_by_key(|p| (p.rank, p.position));
        build(|w: Put<Activation>| {
            self.pending.drain(..).fold(w, |w, p| w.add_jobs(|w| w.event_id(id32(p.event_id)).variant(p.variant, &p.body)))
        })
    }
}
