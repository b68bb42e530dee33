//! A durable timer (docs/dev/semantics/commands.md#timers).
//!
//! | state | StartTimer | TimerStarted | cancel | TimerCanceled | TimerFired |
//! |---|---|---|---|---|---|
//! | Absent | StartCreated | | | | |
//! | StartCreated | | StartRecorded | CancelledBeforeSent, the start command is dropped | fatal | fatal |
//! | StartRecorded | | fatal | CancelCreated, CancelTimer is queued | fatal | Fired, FireTimer |
//! | CancelCreated | | fatal | ignored | Canceled | fatal |
//! | Fired, Canceled, CancelledBeforeSent | | fatal | ignored | fatal | fatal |
//!
//! A cancel never makes a job: the caller settles its own timer.
use crate::error::{Result, codes, nondeterminism};
use crate::replay::event::{EventRef, Place, bad_transition};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timer {
    /// The seq was given out, but its command was cut off behind a terminal one.
    #[default]
    Absent,
    StartCreated,
    StartRecorded,
    Fired,
    CancelCreated,
    Canceled,
    CancelledBeforeSent,
}

/// Machine name in wordings.
pub const NAME: &str = "Timer";

impl Timer {
    /// True when CancelTimer has to be queued.
    pub fn cancel(&mut self) -> bool {
        match *self {
            Timer::StartCreated => *self = Timer::CancelledBeforeSent,
            Timer::StartRecorded => {
                *self = Timer::CancelCreated;
                return true;
            }
            _ => {}
        }
        false
    }

    pub fn on_started(&mut self, event: EventRef) -> Result<()> {
        self.step(Timer::StartCreated, Timer::StartRecorded, event)
    }

    pub fn on_canceled(&mut self, event: EventRef) -> Result<()> {
        self.step(Timer::CancelCreated, Timer::Canceled, event)
    }

    pub fn on_fired(&mut self, seq: u32, timer_id: &str, event: EventRef) -> Result<()> {
        if timer_id.parse() != Ok(seq) {
            let text = format!("Timer fired event did not have expected timer id {seq}, it was {timer_id}!");
            return Err(nondeterminism(codes::TIMER_ID, text).differing("timer_id", timer_id, seq.to_string()).at_event(event));
        }
        self.step(Timer::StartRecorded, Timer::Fired, event)
    }

    fn step(&mut self, from: Timer, to: Timer, event: EventRef) -> Result<()> {
        if *self != from {
            return Err(bad_transition("TimerMachine", *self, event));
        }
        *self = to;
        Ok(())
    }
}
