//! Transact, our own marker (docs/dev/semantics/database.md#transact): a reducer that the engine runs in the transaction that commits
//! the workflow task.
//!
//! | state | Transact | MarkerRecorded |
//! |---|---|---|
//! | Absent | Created | |
//! | Created | | Recorded, ResolveTransact |
//! | Recorded | | fatal |
//!
//! The command is sent as a marker without a result; the engine adds the result or the failure and
//! records it. So the result comes with the next workflow task, live as on replay, and replay runs
//! no reducer. The engine must know whether workflow code waits: the error of a reducer is the
//! result if it waits, and fails the task if not.
use std::cell::Cell;
use std::rc::Rc;

use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{AwaitTransact, ResolveTransact, Transact};
use crate::proto::views::command::{Command, RecordMarkerCommandAttributes};
use crate::proto::views::common::Payload;
use crate::proto::views::history::MarkerRecordedEventAttributes;
use crate::replay::commands::kind::{Nothing, Take, Wait};
use crate::replay::commands::machines::{Machines, Numbers};
use crate::replay::commands::marker;
use crate::replay::commands::shared::bad_value;
use crate::replay::convert::checked;
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};
use crate::replay::json;
use crate::replay::run_state::{Inherited, RunState};
use crate::wire::typed::{Encoded, Put, View, build};

const NAME: &str = "Transact";
const MACHINE: &str = "TransactMachine";
const ID_KEY: &str = "id";
const REDUCER_KEY: &str = "reducer";
const ARGUMENTS_KEY: &str = "arguments";
const AWAITED_KEY: &str = "awaited";
const REQUIRED_KEY: &str = "required";
const RESULT_KEY: &str = "result";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The seq was given out, but its command was cut off behind a terminal one.
    #[default]
    Absent,
    Created,
    Recorded,
}

#[derive(Clone, Debug, Default)]
pub struct Machine {
    state: State,
    /// Shared with the command in the queue, which is written when the task is completed.
    awaited: Rc<Cell<bool>>,
}

#[derive(Clone, Debug)]
pub struct Run {
    seq: u32,
    attributes: Encoded<Transact>,
    awaited: Rc<Cell<bool>>,
}

/// Given: workflow code waits for it.
#[derive(Debug)]
pub struct Await {
    seq: u32,
}

pub fn read(bytes: &[u8], numbers: &mut Numbers) -> Result<(u32, Run)> {
    let c = checked::<Transact>(bytes)?;
    if c.reducer().is_empty() {
        return bad_value("Transact: reducer is empty");
    }
    let seq = numbers.claim(c.seq())?;
    Ok((seq, Run { seq, attributes: c.to_owned(), awaited: Rc::default() }))
}

pub fn read_await(bytes: &[u8]) -> Result<Await> {
    Ok(Await { seq: checked::<AwaitTransact>(bytes)?.seq() })
}

impl Take for Run {
    type Own = Machines<Machine>;
    type Queued = Option<Run>;

    fn take(self, transacts: &mut Machines<Machine>, _: &mut RunState) -> Result<Option<Run>> {
        *transacts.slot(self.seq) = Machine { state: State::Created, awaited: Rc::clone(&self.awaited) };
        Ok(Some(self))
    }
}

impl Take for Await {
    type Own = Machines<Machine>;
    type Queued = Nothing;

    fn take(self, transacts: &mut Machines<Machine>, _: &mut RunState) -> Result<Nothing> {
        let transact = transacts.named(self.seq, NAME, CommandKind::Transact)?;
        transact.awaited.set(true);
        Ok(None)
    }
}

impl Wait for Run {
    type Own = Machines<Machine>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::Transact
    }

    fn command_type(&self) -> CommandType {
        CommandType::RecordMarker
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn meet(self, event: Attributes, at: EventRef, transacts: &mut Machines<Machine>, run: &mut RunState) -> Result<()> {
        let Attributes::MarkerRecorded(recorded) = event else { return Err(wrong_type(NAME, at)) };
        if recorded.marker_name() != marker::TRANSACT {
            return Err(wrong_type(NAME, at));
        }
        let damaged = || fatal(codes::BAD_MARKER, format!("{at}: the marker of a transaction has no ID or no reducer"));
        let (id, reducer) = read_identity(recorded).ok_or_else(damaged)?;
        if id != self.seq {
            let text = format!("Transact id {id} does not match expected id {}", self.seq);
            let e = nondeterminism(codes::TRANSACT_ID, text);
            return Err(e.differing("transact_id", id.to_string(), self.seq.to_string()));
        }
        let asked = self.attributes.view().reducer();
        if reducer != asked {
            let text = format!("Reducer {reducer} of the recorded marker does not match the reducer {asked} of the command");
            return Err(nondeterminism(codes::TRANSACT_REDUCER, text).differing("reducer", reducer, asked));
        }
        let transact = transacts.of_event(self.seq, at, "transact")?;
        if transact.state != State::Created {
            return Err(bad_transition(MACHINE, transact.state, at));
        }
        transact.state = State::Recorded;
        run.jobs.of_event(at.id, answer(recorded, self.seq));
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.record_marker_command_attributes(|w| write_details(w.marker_name(marker::TRANSACT), self))
    }
}

fn write_details<'w>(w: Put<'w, RecordMarkerCommandAttributes>, run: &Run) -> Put<'w, RecordMarkerCommandAttributes> {
    let a = run.attributes.view();
    let flag = |set: bool| set.then(|| marker::payload("true", None));
    let mut reducer = String::new();
    json::write_text(&mut reducer, a.reducer());
    let w = marker::detail(w, ID_KEY, Some(marker::payload(&run.seq.to_string(), None).view()));
    let w = marker::detail(w, REDUCER_KEY, Some(marker::payload(&reducer, None).view()));
    let w = w.add_details(ARGUMENTS_KEY, |w| w.copy_payloads(a.arguments()));
    let w = w.with(flag(run.awaited.get()), |w, yes| marker::detail(w, AWAITED_KEY, Some(yes.view())));
    w.with(flag(a.required()), |w, yes| marker::detail(w, REQUIRED_KEY, Some(yes.view())))
}

/// Number and reducer; `None` when the details are damaged.
fn read_identity(recorded: View<MarkerRecordedEventAttributes>) -> Option<(u32, String)> {
    let detail = |key| marker::of_payloads(recorded.details().get(key)?);
    Some((detail(ID_KEY)?.integer()?, detail(REDUCER_KEY)?.text()?.to_string()))
}

/// What the reducer came to, for workflow code.
fn answer(recorded: View<MarkerRecordedEventAttributes>, seq: u32) -> Encoded<ResolveTransact> {
    build(|w: Put<ResolveTransact>| {
        let w = w.seq(seq);
        match recorded.opt_failure() {
            Some(failure) => w.failed(failure),
            None => {
                let result: Option<View<Payload>> = recorded.details().get(RESULT_KEY).and_then(|p| p.payloads().views().last());
                w.completed(|w| w.copy_result(result))
            }
        }
    })
}
