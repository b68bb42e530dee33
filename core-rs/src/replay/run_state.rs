//! What every kind of command sees of its run, apart from its machines: the run's position in its
//! history, and the sinks of jobs, messages and warnings. It knows no kind.
use crate::boundary::{CoreWarning, JobOrder, RunOptions};
use crate::error::{Result, nondeterminism};
use crate::proto::views::common::{Memo, RetryPolicy, SearchAttributes};
use crate::proto::views::protocol;
use crate::replay::convert::id32;
use crate::replay::event::{EventRef, Place};
use crate::replay::flags::{CoreFlag, Flags};
use crate::replay::jobs::Jobs;
use crate::wire::typed::Encoded;

pub struct RunState {
    pub order: JobOrder,
    pub strict: bool,
    pub inherited: Inherited,
    pub flags: Flags,
    /// What history does not show yet is new: false from the first event that only a live task can bring.
    pub replaying: bool,
    /// The sequence being applied is the last that is known.
    pub at_frontier: bool,
    /// By event id, ascending: command events are applied in order.
    pub initiators: Vec<(i64, Initiator)>,
    pub jobs: Jobs,
    /// Messages for the next completion.
    pub outgoing: Vec<Encoded<protocol::Message>>,
    /// Position of the next activation within its workflow task.
    pub activation_index: u32,
    pub time_ms: f64,
    /// Workflow code gave a terminal command.
    pub closing: bool,
    pub warnings: Vec<CoreWarning>,
}

/// What the run is, and what a continued one inherits unless told otherwise: as the start event says, and as commands changed it.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    /// What commands to other workflows say of this one.
    pub namespace: String,
    pub run_id: String,
    pub workflow_type: String,
    pub task_queue: String,
    pub memo: Option<Encoded<Memo>>,
    pub retry_policy: Option<Encoded<RetryPolicy>>,
    pub search_attributes: Option<Encoded<SearchAttributes>>,
}

/// Whose event later events answer, by seq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initiator {
    Timer(u32),
    Activity(u32),
    Child(u32),
    Nexus(u32),
    CancelChild(u32),
    Signal(u32),
    CancelExternal(u32),
}

impl RunState {
    pub fn new(options: &RunOptions) -> RunState {
        RunState {
            order: options.job_order(),
            strict: options.strict,
            inherited: Inherited { namespace: options.namespace.clone(), ..Default::default() },
            flags: Flags::default(),
            replaying: false,
            at_frontier: false,
            initiators: Vec::new(),
            jobs: Jobs::new(options.job_order()),
            outgoing: Vec::new(),
            activation_index: 0,
            time_ms: 0.0,
            closing: false,
            warnings: Vec::new(),
        }
    }

    pub fn is_compat(&self) -> bool {
        self.order == JobOrder::Compat
    }

    /// A behaviour that a flag of history switches on is on.
    pub fn flag(&self, flag: CoreFlag) -> bool {
        self.flags.on(flag, self.replaying)
    }

    /// Ids and types are compared with the event. What the newest task recorded is compared even before history says that flag 1 is
    /// used.
    pub fn checks_identity(&self) -> bool {
        self.at_frontier || self.flags.recorded(CoreFlag::IdAndTypeChecks)
    }

    /// Workflow time never moves back.
    pub fn advance_time(&mut self, ms: f64) {
        self.time_ms = self.time_ms.max(ms);
    }

    /// The event of a command was applied: later events will name it.
    pub fn initiated(&mut self, at: EventRef, by: Initiator) {
        self.initiators.push((at.id, by));
    }

    /// A finding of the diagnosis: a warning, or a failure when strict.
    pub fn diagnose(&mut self, code: u32, message: String, event: EventRef) -> Result<()> {
        if self.strict {
            return Err(nondeterminism(code, message).at_event(event));
        }
        self.warnings.push(CoreWarning { code, message, event_id: id32(event.id) });
        Ok(())
    }
}
