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
use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::{Result, codes, nondeterminism};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{FireTimer, StartTimer};
use crate::proto::views::command::Command;
use crate::replay::commands::kind::{Answered, Take, Wait};
use crate::replay::commands::machines::{Machines, Numbers};
use crate::replay::commands::shared::{bad_value, write_metadata};
use crate::replay::convert::{check_duration, checked};
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};
use crate::replay::run_state::{Inherited, Initiator, RunState};
use crate::wire::typed::{Encoded, Put, build};

const NAME: &str = "Timer";
const MACHINE: &str = "TimerMachine";

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

impl Timer {
    fn step(&mut self, from: Timer, to: Timer, event: EventRef) -> Result<()> {
        if *self != from {
            return Err(bad_transition(MACHINE, *self, event));
        }
        *self = to;
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub struct Start {
    seq: u32,
    attributes: Encoded<StartTimer>,
}

#[derive(Clone, Debug)]
pub struct Cancel {
    pub seq: u32,
}

pub fn read(bytes: &[u8], numbers: &mut Numbers) -> Result<(u32, Start)> {
    let c = checked::<StartTimer>(bytes)?;
    let ms = c.duration_ms();
    check_duration("duration_ms", ms)?;
    if ms < 1.0 {
        return bad_value(format!("StartTimer: duration_ms is {ms}, expected at least 1"));
    }
    let seq = numbers.claim(c.seq())?;
    Ok((seq, Start { seq, attributes: c.to_owned() }))
}

impl Take for Start {
    type Own = Machines<Timer>;
    type Queued = Option<Start>;

    fn take(self, timers: &mut Machines<Timer>, _: &mut RunState) -> Result<Option<Start>> {
        *timers.slot(self.seq) = Timer::StartCreated;
        Ok(Some(self))
    }
}

impl Take for Cancel {
    type Own = Machines<Timer>;
    type Queued = Option<Cancel>;

    fn take(self, timers: &mut Machines<Timer>, _: &mut RunState) -> Result<Option<Cancel>> {
        let timer = timers.named(self.seq, NAME, CommandKind::StartTimer)?;
        match *timer {
            Timer::StartCreated => *timer = Timer::CancelledBeforeSent,
            Timer::StartRecorded => {
                *timer = Timer::CancelCreated;
                return Ok(Some(self));
            }
            _ => {}
        }
        Ok(None)
    }
}

impl Wait for Start {
    type Own = Machines<Timer>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::StartTimer
    }

    fn command_type(&self) -> CommandType {
        CommandType::StartTimer
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn is_withdrawn(&self, timers: &Machines<Timer>) -> bool {
        timers.get(self.seq) == Some(&Timer::CancelledBeforeSent)
    }

    fn meet(self, event: Attributes, at: EventRef, timers: &mut Machines<Timer>, run: &mut RunState) -> Result<()> {
        let timer = timers.of_event(self.seq, at, "timer")?;
        match event {
            Attributes::TimerStarted(_) => timer.step(Timer::StartCreated, Timer::StartRecorded, at)?,
            Attributes::TimerCanceled(_) => return Err(bad_transition(MACHINE, *timer, at)),
            _ => return Err(wrong_type(NAME, at)),
        }
        run.initiated(at, Initiator::Timer(self.seq));
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        let a = self.attributes.view();
        let w = w.start_timer_command_attributes(|w| w.timer_id(&self.seq.to_string()).start_to_fire_timeout_ms(a.duration_ms()));
        write_metadata(w, a.opt_summary(), None)
    }
}

impl Wait for Cancel {
    type Own = Machines<Timer>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::StartTimer
    }

    fn command_type(&self) -> CommandType {
        CommandType::CancelTimer
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn meet(self, event: Attributes, at: EventRef, timers: &mut Machines<Timer>, _: &mut RunState) -> Result<()> {
        let timer = timers.of_event(self.seq, at, "timer")?;
        match event {
            Attributes::TimerCanceled(_) => timer.step(Timer::CancelCreated, Timer::Canceled, at),
            Attributes::TimerStarted(_) => Err(bad_transition(MACHINE, *timer, at)),
            _ => Err(wrong_type(NAME, at)),
        }
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.cancel_timer_command_attributes(|w| w.timer_id(&self.seq.to_string()))
    }
}

impl Answered for Start {
    const KIND: CommandKind = CommandKind::StartTimer;

    fn answered(seq: u32, event: Attributes, at: EventRef, timers: &mut Machines<Timer>, run: &mut RunState) -> Result<()> {
        let Attributes::TimerFired(fired) = event else { return Err(wrong_type(NAME, at)) };
        let timer_id = fired.timer_id();
        if timer_id.parse() != Ok(seq) {
            let text = format!("Timer fired event did not have expected timer id {seq}, it was {timer_id}!");
            return Err(nondeterminism(codes::TIMER_ID, text).differing("timer_id", timer_id, seq.to_string()));
        }
        timers.of_event(seq, at, "timer")?.step(Timer::StartRecorded, Timer::Fired, at)?;
        run.jobs.of_event(at.id, build(|w: Put<FireTimer>| w.seq(seq)));
        Ok(())
    }
}
