//! The jobs of the next activation and their order
//! (docs/dev/semantics/activations.md#jobs-in-the-order-of-events).
//!
//! Compat: Core's sorted order. Native: state first (start, patches, side effects, seed), then signals, updates, cancels and
//! resolutions as their events stand in history, then local activities in marker order. Jobs that no event made (resolutions by
//! a cancel in the same task) come behind those that events made.
use crate::boundary::JobOrder;
use crate::replay::convert::id32;
use crate::wire::Writer;

/// The variants of boundary.Job by field number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Variant {
    InitializeWorkflow = 2,
    NotifyHasPatch = 3,
    SideEffectValue = 4,
    UpdateRandomSeed = 5,
    FireTimer = 6,
    ResolveActivity = 7,
    SignalWorkflow = 8,
    DoUpdate = 9,
    CancelWorkflow = 10,
    QueryWorkflow = 11,
    ResolveChildWorkflowStart = 13,
    ResolveChildWorkflow = 14,
    ResolveSignalExternalWorkflow = 15,
    ResolveCancelExternalWorkflow = 16,
}

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
    event_id: i64,
    variant: Variant,
    /// The variant, encoded.
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
    pub fn of_event(&mut self, event_id: i64, variant: Variant, body: Vec<u8>) {
        self.push(self.rank(variant), event_id.saturating_mul(2), event_id, variant, body);
    }

    /// An update request: it counts as coming right behind the event with its sequencing id, live and on replay.
    pub fn of_update(&mut self, sequencing_id: i64, body: Vec<u8>) {
        let position = sequencing_id.saturating_mul(2).saturating_add(1);
        self.push(self.rank(Variant::DoUpdate), position, sequencing_id, Variant::DoUpdate, body);
    }

    /// A resolution that a cancel made.
    pub fn same_task(&mut self, variant: Variant, body: Vec<u8>) {
        self.push(Rank::Other, Position::MAX, 0, variant, body);
    }

    /// The result of a local activity. They are released in marker order, which is the order of their coming here.
    pub fn of_local_activity(&mut self, event_id: i64, body: Vec<u8>) {
        self.push(Rank::LocalActivity, 0, event_id, Variant::ResolveActivity, body);
    }

    fn rank(&self, variant: Variant) -> Rank {
        match variant {
            Variant::InitializeWorkflow => Rank::Initialize,
            Variant::NotifyHasPatch | Variant::SideEffectValue => Rank::State,
            Variant::UpdateRandomSeed => Rank::Seed,
            Variant::SignalWorkflow | Variant::DoUpdate if self.order == JobOrder::Compat => Rank::Message,
            _ => Rank::Other,
        }
    }

    fn push(&mut self, rank: Rank, position: Position, event_id: i64, variant: Variant, body: Vec<u8>) {
        self.pending.push(Pending { rank, position, event_id, variant, body });
    }

    /// Writes all jobs, in order, as elements of the field, and forgets them.
    pub fn write(&mut self, w: &mut Writer, field: u32) {
        self.pending.sort_by_key(|p| (p.rank, p.position));
        for p in self.pending.drain(..) {
            write_job(w, field, p.event_id, p.variant, &p.body);
        }
    }
}

pub fn write_job(w: &mut Writer, field: u32, event_id: i64, variant: Variant, body: &[u8]) {
    w.nested(field, |w| {
        w.uint(1, u64::from(id32(event_id))).message(variant as u32, body);
    });
}

/// A message with one number in field 1: FireTimer.
pub fn fire_timer(seq: u32) -> Vec<u8> {
    let mut w = Writer::new();
    w.uint(1, u64::from(seq));
    w.finish()
}

/// A message with one text in field 1: NotifyHasPatch, UpdateRandomSeed, CancelWorkflow.
pub fn text(text: &str) -> Vec<u8> {
    let mut w = Writer::new();
    w.text(1, text);
    w.finish()
}

/// The results of boundary.ResolveActivity by field number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Resolution {
    Completed = 3,
    Failed = 4,
    Cancelled = 5,
    Backoff = 6,
}

/// boundary.ResolveActivity; `result` is the encoded variant.
pub fn resolve_activity(seq: u32, is_local: bool, resolution: Resolution, result: &[u8]) -> Vec<u8> {
    let mut w = Writer::new();
    w.uint(1, u64::from(seq)).flag(2, is_local).message(resolution as u32, result);
    w.finish()
}

/// boundary.ActivityCompleted.
pub fn activity_completed(result: Option<&[u8]>) -> Vec<u8> {
    let mut w = Writer::new();
    w.optional(1, result);
    w.finish()
}
