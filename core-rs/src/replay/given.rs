//! Commands of workflow code as they are given: decoded, checked against what no server would take, numbered.
use crate::boundary::{ActivityCancellationType, CommandKind};
use crate::error::{Result, codes, misuse};
use crate::replay::convert::{check_duration, check_retry_policy};
use crate::replay::queue::Terminal;
use crate::replay::update::Response;
use crate::replay::workflow::Workflow;
use crate::replay::{cancel_external, child, properties, signal};
use crate::wire::Message as Fields;
use crate::wire::schema::Kind::{Message, Text, Varint};
use crate::wire::schema::{self, FAILURE, PAYLOAD, PAYLOAD_ENTRY, PAYLOADS, Schema};

/// A command as given, with its seq. Attributes are the boundary's message of the same name.
#[derive(Debug)]
pub enum Given {
    StartTimer(u32, Vec<u8>),
    CancelTimer(u32),
    ScheduleActivity(u32, Vec<u8>),
    CancelActivity(u32),
    ScheduleLocalActivity(u32, LocalActivity),
    CancelLocalActivity(u32),
    SetPatchMarker { id: String, deprecated: bool },
    SideEffect { id: u32, payload: Option<Vec<u8>> },
    UpdateResponse(String, Response),
    StartChild(u32, Vec<u8>),
    CancelChild { seq: u32, reason: String },
    Signal(u32, Vec<u8>),
    CancelSignal(u32),
    CancelExternal(u32, Vec<u8>),
    UpsertSearchAttributes(Vec<u8>),
    ModifyProperties(Vec<u8>),
    Terminal(Terminal),
}

/// What its marker is compared with.
#[derive(Debug)]
pub struct LocalActivity {
    pub id: String,
    pub kind: String,
}

pub static RETRY_POLICY: Schema = Schema(&[(4, Varint), (5, Text)]);
static START_TIMER: Schema = Schema(&[(2, Message(&PAYLOAD)), (3, Varint)]);
static SCHEDULE_ACTIVITY: Schema = Schema(&[
    (1, Text),
    (2, Text),
    (3, Text),
    (4, Message(&PAYLOAD_ENTRY)),
    (5, Message(&PAYLOAD)),
    (10, Message(&RETRY_POLICY)),
    (11, Varint),
    (12, Message(&PAYLOAD)),
    (13, Varint),
]);
static SCHEDULE_LOCAL_ACTIVITY: Schema = Schema(&[(1, Text), (2, Text), (13, Varint)]);
static SET_PATCH_MARKER: Schema = Schema(&[(1, Text), (2, Varint)]);
static RECORD_SIDE_EFFECT: Schema = Schema(&[(1, Varint), (2, Message(&PAYLOAD))]);
static NOTHING: Schema = Schema(&[]);
static UPDATE_RESPONSE: Schema = Schema(&[(1, Text), (2, Message(&NOTHING)), (3, Message(&FAILURE)), (4, Message(&PAYLOAD))]);
static COMPLETE_WORKFLOW: Schema = Schema(&[(1, Message(&PAYLOAD))]);
static FAIL_WORKFLOW: Schema = Schema(&[(1, Message(&FAILURE))]);
static CANCEL_WORKFLOW: Schema = Schema(&[(1, Message(&PAYLOADS))]);
static CONTINUE_AS_NEW: Schema = Schema(&[
    (1, Text),
    (2, Text),
    (3, Message(&PAYLOAD)),
    (6, Message(&PAYLOAD_ENTRY)),
    (7, Message(&PAYLOAD_ENTRY)),
    (8, Message(&PAYLOAD_ENTRY)),
    (9, Message(&RETRY_POLICY)),
]);

/// A message of the caller that has the form that it should have.
pub fn checked<'a>(what: &str, bytes: &'a [u8], schema: &'static Schema) -> Result<Fields<'a>> {
    schema::message(bytes, schema, 0).map_err(|e| misuse(codes::BAD_BYTES, format!("{what} does not decode: {e}")))?;
    Ok(Fields(bytes))
}

/// The last seq of each kind. Compat programs number activities and local activities together, as the official SDK does: their
/// ids are in history.
#[derive(Clone, Debug, Default)]
pub struct Seqs {
    pub timers: u32,
    pub activities: u32,
    pub local_activities: u32,
    pub children: u32,
    pub signals: u32,
    pub cancels: u32,
}

/// How many numbers a caller that counts by itself may leave out at once.
const MAX_SKIPPED: u32 = 100_000;

/// The seq of a new command: the next one, or the higher one that the caller asks for.
fn claim(last: &mut u32, wanted: u32) -> Result<u32> {
    let next = last.checked_add(1).ok_or_else(|| misuse(codes::BAD_VALUE, "no seq is left"))?;
    let seq = if wanted == 0 { next } else { wanted };
    if seq < next || seq - next > MAX_SKIPPED {
        return Err(misuse(codes::BAD_VALUE, format!("seq {seq} cannot follow seq {last}")));
    }
    *last = seq;
    Ok(seq)
}

impl Workflow {
    /// Reads and checks a command. Answers it with its seq; nothing is matched yet.
    pub fn read_command(&mut self, kind: CommandKind, bytes: &[u8]) -> Result<(u32, Given)> {
        Ok(match kind {
            CommandKind::StartTimer => {
                let c = checked("StartTimer", bytes, &START_TIMER)?;
                let ms = c.double(1);
                check_duration("duration_ms", ms)?;
                if ms < 1.0 {
                    return Err(misuse(codes::BAD_VALUE, format!("a timer lasts at least 1 ms, not {ms}")));
                }
                let seq = claim(&mut self.seqs.timers, c.int(3) as u32)?;
                (seq, Given::StartTimer(seq, bytes.to_vec()))
            }
            CommandKind::ScheduleActivity => {
                let c = checked("ScheduleActivity", bytes, &SCHEDULE_ACTIVITY)?;
                check_activity(c)?;
                let seq = claim(&mut self.seqs.activities, c.int(13) as u32)?;
                (seq, Given::ScheduleActivity(seq, bytes.to_vec()))
            }
            CommandKind::ScheduleLocalActivity => {
                let c = checked("ScheduleLocalActivity", bytes, &SCHEDULE_LOCAL_ACTIVITY)?;
                if c.text(2).is_empty() {
                    return Err(misuse(codes::BAD_VALUE, "a local activity needs a type"));
                }
                let seq = self.claim_local_seq(c.int(13) as u32)?;
                (seq, Given::ScheduleLocalActivity(seq, LocalActivity { id: id_or_seq(c.text(1), seq), kind: c.text(2).into() }))
            }
            CommandKind::SetPatchMarker => {
                let c = checked("SetPatchMarker", bytes, &SET_PATCH_MARKER)?;
                (0, Given::SetPatchMarker { id: c.text(1).into(), deprecated: c.flag(2) })
            }
            CommandKind::RecordSideEffect => {
                let c = checked("RecordSideEffect", bytes, &RECORD_SIDE_EFFECT)?;
                (0, Given::SideEffect { id: c.int(1) as u32, payload: c.bytes(2).map(<[u8]>::to_vec) })
            }
            CommandKind::UpdateResponse => {
                let c = checked("UpdateResponse", bytes, &UPDATE_RESPONSE)?;
                let response = match c.fields().filter(|(n, _)| (2..=4).contains(n)).last().map(|(n, _)| n) {
                    Some(2) => Response::Accepted,
                    Some(3) => Response::Rejected(c.bytes(3).unwrap_or_default().to_vec()),
                    Some(_) => Response::Completed(c.bytes(4).unwrap_or_default().to_vec()),
                    None => return Err(misuse(codes::BAD_VALUE, "an update response without a response")),
                };
                (0, Given::UpdateResponse(c.text(1).into(), response))
            }
            CommandKind::CompleteWorkflow => {
                let result = checked("CompleteWorkflow", bytes, &COMPLETE_WORKFLOW)?.bytes(1).map(<[u8]>::to_vec);
                (0, Given::Terminal(Terminal::Complete(result)))
            }
            CommandKind::FailWorkflow => {
                let failure = checked("FailWorkflow", bytes, &FAIL_WORKFLOW)?.bytes(1).unwrap_or_default().to_vec();
                (0, Given::Terminal(Terminal::Fail(failure)))
            }
            CommandKind::CancelWorkflow => {
                let details = checked("CancelWorkflowExecution", bytes, &CANCEL_WORKFLOW)?.bytes(1).filter(|d| !d.is_empty());
                let details = details.map(<[u8]>::to_vec);
                (0, Given::Terminal(Terminal::Cancel(details)))
            }
            CommandKind::ContinueAsNew => {
                let c = checked("ContinueAsNew", bytes, &CONTINUE_AS_NEW)?;
                check_duration("workflow_run_timeout_ms", c.double(4))?;
                check_duration("workflow_task_timeout_ms", c.double(5))?;
                check_retry_policy(c.get(9))?;
                (0, Given::Terminal(Terminal::ContinueAsNew(bytes.to_vec())))
            }
            CommandKind::QueryResult | CommandKind::Unspecified => {
                let text = format!("{} is not a command of this activation", kind.as_str_name());
                return Err(misuse(codes::OUT_OF_ORDER_CALL, text));
            }
            CommandKind::StartChildWorkflow => {
                let c = checked("StartChildWorkflow", bytes, &child::START_CHILD_WORKFLOW)?;
                child::check(c)?;
                let seq = claim(&mut self.seqs.children, c.int(20) as u32)?;
                (seq, Given::StartChild(seq, bytes.to_vec()))
            }
            CommandKind::CancelChildWorkflow => {
                let c = checked("CancelChildWorkflow", bytes, &child::CANCEL_CHILD_WORKFLOW)?;
                (0, Given::CancelChild { seq: c.int(1) as u32, reason: c.text(2).into() })
            }
            CommandKind::SignalExternalWorkflow => {
                let c = checked("SignalExternalWorkflow", bytes, &signal::SIGNAL_EXTERNAL_WORKFLOW)?;
                signal::check(c)?;
                let seq = claim(&mut self.seqs.signals, c.int(8) as u32)?;
                (seq, Given::Signal(seq, bytes.to_vec()))
            }
            CommandKind::CancelSignalWorkflow => {
                let c = checked("CancelSignalWorkflow", bytes, &signal::CANCEL_SIGNAL_WORKFLOW)?;
                (0, Given::CancelSignal(c.int(1) as u32))
            }
            CommandKind::CancelExternalWorkflow => {
                let c = checked("CancelExternalWorkflow", bytes, &cancel_external::CANCEL_EXTERNAL_WORKFLOW)?;
                cancel_external::check(c)?;
                let seq = claim(&mut self.seqs.cancels, c.int(5) as u32)?;
                (seq, Given::CancelExternal(seq, bytes.to_vec()))
            }
            CommandKind::UpsertSearchAttributes => {
                checked("UpsertSearchAttributes", bytes, &properties::ENTRIES)?;
                (0, Given::UpsertSearchAttributes(bytes.to_vec()))
            }
            CommandKind::ModifyWorkflowProperties => {
                checked("ModifyWorkflowProperties", bytes, &properties::ENTRIES)?;
                (0, Given::ModifyProperties(bytes.to_vec()))
            }
        })
    }

    fn claim_local_seq(&mut self, wanted: u32) -> Result<u32> {
        let last = if self.is_compat() { &mut self.seqs.activities } else { &mut self.seqs.local_activities };
        claim(last, wanted)
    }

    pub fn read_cancel(&self, kind: CommandKind, seq: u32) -> Result<Given> {
        match kind {
            CommandKind::StartTimer => Ok(Given::CancelTimer(seq)),
            CommandKind::ScheduleActivity => Ok(Given::CancelActivity(seq)),
            CommandKind::ScheduleLocalActivity => Ok(Given::CancelLocalActivity(seq)),
            CommandKind::StartChildWorkflow | CommandKind::SignalExternalWorkflow => {
                let text = format!("{} is cancelled by a command of its own", kind.as_str_name());
                Err(misuse(codes::OUT_OF_ORDER_CALL, text))
            }
            _ => Err(misuse(codes::OUT_OF_ORDER_CALL, format!("{} cannot be cancelled", kind.as_str_name()))),
        }
    }
}

pub fn id_or_seq(id: &str, seq: u32) -> String {
    if id.is_empty() { seq.to_string() } else { id.to_string() }
}

/// boundary.ScheduleActivity.
fn check_activity(c: Fields) -> Result<()> {
    if c.text(2).is_empty() {
        return Err(misuse(codes::BAD_VALUE, "an activity needs a type"));
    }
    let (schedule_to_close, start_to_close) = (c.double(6), c.double(8));
    check_duration("schedule_to_close_timeout_ms", schedule_to_close)?;
    check_duration("schedule_to_start_timeout_ms", c.double(7))?;
    check_duration("start_to_close_timeout_ms", start_to_close)?;
    check_duration("heartbeat_timeout_ms", c.double(9))?;
    check_retry_policy(c.get(10))?;
    if start_to_close == 0.0 && schedule_to_close == 0.0 {
        let text = format!("activity {} needs a start-to-close or a schedule-to-close timeout", c.text(2));
        return Err(misuse(codes::BAD_VALUE, text));
    }
    if ActivityCancellationType::try_from(c.int32(11)).is_err() {
        return Err(misuse(codes::BAD_VALUE, format!("unknown cancellation type {}", c.int(11))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::claim;
    use crate::error::codes;

    #[test]
    fn seqs_rise_by_one_or_to_the_number_that_the_caller_counts() {
        let mut last = 0;
        assert_eq!(claim(&mut last, 0).unwrap(), 1);
        assert_eq!(claim(&mut last, 4).unwrap(), 4);
        assert_eq!(claim(&mut last, 0).unwrap(), 5);
        for wanted in [5, 1, u32::MAX] {
            assert_eq!(claim(&mut last, wanted).unwrap_err().code, codes::BAD_VALUE);
        }
        assert_eq!(last, 5);
        last = u32::MAX;
        assert_eq!(claim(&mut last, 0).unwrap_err().code, codes::BAD_VALUE);
    }
}
