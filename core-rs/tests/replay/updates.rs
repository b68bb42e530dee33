//! Updates (docs/dev/semantics/updates.md). What the executor rejects, queues and drains is in
//! tests/cases/updates.ts.
use crate::support::history::{failure, json, payloads, update_request};
use crate::support::lang::{done, reject};
use crate::support::run_test::request_message;
use crate::support::show::{body, messages};
use crate::support::{Cmd, HistoryBuilder, Response, RunTest, Script, act, timer};
use temporalex_core::api::protocol::v1::message::SequencingId;
use temporalex_core::api::update::v1::{self as update, outcome};
use temporalex_core::api::workflowservice::v1::RespondWorkflowTaskCompletedResponse;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{Activation, DoUpdate, ErrorKind, EvictionReason};

const PREFIX: &str = "[TMPRL1100] Nondeterminism error: ";

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

fn do_updates(activations: &[Activation]) -> Vec<DoUpdate> {
    let jobs = activations.iter().flat_map(|a| &a.jobs);
    jobs.filter_map(|job| match job.variant.as_ref() {
        Some(Variant::DoUpdate(update)) => Some(update.clone()),
        _ => None,
    })
    .collect()
}

/// S W(2-4) W(5-7) UpdAccepted(8) UpdCompleted(9) Signal(10) W(11-13) Completed(14)
#[test]
fn accept_complete_same_task() {
    let history = start().w().update_accepted("u", "upd").update_completed("u").signal("s").w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![], vec![Cmd::Accept("u"), done("u")], vec![Cmd::Complete]]));
    let inc = test.same("{Init} {Update u} {Signal s}");
    let completion = inc.ends[1].completed();
    assert_eq!(inc.ends[1].commands(), "ProtocolMessage u/request/accept, ProtocolMessage u/request/complete");
    assert_eq!(messages(&completion.messages), "u/request/accept, u/request/complete");

    let [acceptance, response] = completion.messages.as_slice() else { panic!("two messages") };
    assert_eq!((acceptance.protocol_instance_id.as_str(), response.protocol_instance_id.as_str()), ("u", "u"));
    let accepted: update::Acceptance = body(acceptance, "Acceptance");
    assert_eq!(accepted.accepted_request_message_id, "u/request");
    assert_eq!(accepted.accepted_request_sequencing_event_id, 5);
    assert_eq!(accepted.accepted_request, Some(update_request("u", "upd")));
    let completed: update::Response = body(response, "Response");
    assert_eq!(completed.meta, update_request("u", "upd").meta);
    assert_eq!(completed.outcome.and_then(|o| o.value), Some(outcome::Value::Success(payloads([json("\"done\"")]))));

    let seen = &do_updates(&inc.activations)[0];
    assert_eq!((seen.id.as_str(), seen.name.as_str(), seen.identity.as_str()), ("u", "upd", "client"));
    assert_eq!((seen.input.clone(), seen.run_validator), (vec![json("1")], true));
}

/// S W(2-4) W(5-7) UpdAccepted(8) TmrS(9) TmrF(10) W(11-13) UpdCompleted(14) Completed(15)
#[test]
fn accept_timer_complete_later() {
    let history = start().w().update_accepted("u", "upd").timer_started("1").timer_fired("1").w().update_completed("u");
    let program = Script::new([vec![], vec![Cmd::Accept("u"), timer()], vec![done("u"), Cmd::Complete]]);
    let inc = RunTest::new(&history.wf_completed(), program).same("{Init} {Update u} {Fire 1}");
    assert_eq!(messages(&inc.ends[1].completed().messages), "u/request/accept");
    assert_eq!(messages(&inc.ends[2].completed().messages), "u/request/complete");
    assert_eq!(inc.ends[2].commands(), "ProtocolMessage u/request/complete, CompleteWorkflowExecution");
}

/// An update that fails after it was accepted: the outcome is a failure.
#[test]
fn accept_then_fail() {
    let history = start().w().update_accepted("u", "upd");
    let history = history.update_completed_with("u", outcome::Value::Failure(failure("no"))).w_open();
    let inc = RunTest::new(&history, Script::new([vec![], vec![Cmd::Accept("u"), reject("u")]])).same("{Init} {Update u}");
    let completed: update::Response = body(&inc.ends[1].completed().messages[1], "Response");
    assert_eq!(completed.outcome.and_then(|o| o.value), Some(outcome::Value::Failure(failure("no"))));
}

/// S W(2-4) w(5-6) with the request of u as a message.
fn task_with_update() -> HistoryBuilder {
    start().w_open()
}

#[test]
fn rejection_leaves_no_command() {
    let test = RunTest::new(&task_with_update(), Script::new([vec![], vec![reject("u")]]));
    for cold in [false, true] {
        let mut session = test.session();
        let [first, second] = test.tasks()[..] else { panic!("two tasks") };
        if !cold {
            session.task(&test.poll(1, first));
        }
        let mut poll = test.poll(if cold { 1 } else { second.from }, second);
        poll.messages = vec![request_message(&update_request("u", "upd"), 5)];
        let end = session.task(&poll);
        assert_eq!(session.shown(), "{Init} {Update u}");
        assert_eq!((end.commands().as_str(), messages(&end.completed().messages).as_str()), ("", "u/request/reject"));
        let rejection: update::Rejection = body(&end.completed().messages[0], "Rejection");
        assert_eq!(rejection.rejected_request_message_id, "u/request");
        assert_eq!(rejection.rejected_request_sequencing_event_id, 5);
        assert_eq!(rejection.rejected_request, Some(update_request("u", "upd")));
        assert_eq!(rejection.failure, Some(failure("no")));
    }
}

#[test]
fn complete_without_accept() {
    let test = RunTest::new(&task_with_update(), Script::new([vec![], vec![done("u")]]));
    let mut session = test.session();
    let [first, second] = test.tasks()[..] else { panic!("two tasks") };
    session.task(&test.poll(1, first));
    let mut poll = test.poll(second.from, second);
    poll.messages = vec![request_message(&update_request("u", "upd"), 5)];
    let end = session.task(&poll);
    assert_eq!(
        end.message(),
        format!("{PREFIX}Invalid transition while handling update response (id u) in state RequestInitiated")
    );
    assert_eq!((end.evict, end.eviction_reason), (true, EvictionReason::Nondeterminism));
    assert!(matches!(end.response, Response::Failed(_)), "{:?}", end.response);
}

/// S W(2-4) W(5-7) UpdAccepted(8) Signal(9) W(10-12) UpdCompleted(13) Completed(14)
fn accepted_then_signal() -> HistoryBuilder {
    start().w().update_accepted("u", "upd").signal("s").w().update_completed("u").wf_completed()
}

#[test]
fn replay_empty_first() {
    let program = Script::new([vec![], vec![Cmd::Accept("u")], vec![done("u"), Cmd::Complete]]);
    let test = RunTest::new(&accepted_then_signal(), program);
    test.same("{Init} {Update u} {Signal s}");
    let replayed = test.replay_ok();
    assert!(!do_updates(&replayed.activations)[0].run_validator);
    assert_eq!(replayed.jobs(1)[0].event_id, test.same("{Init} {Update u} {Signal s}").jobs(1)[0].event_id);
}

/// S W(2-4) Signal(5) W(6-8) UpdAccepted(9)/TmrS(10) or TmrS(9)/UpdAccepted(10), TmrF(11) W(12-14) UpdCompleted(15) Completed(16)
#[test]
fn signal_and_update() {
    for accepted_first in [true, false] {
        let history = start().signal("s").w();
        let (history, second) = if accepted_first {
            (history.update_accepted("u", "upd").timer_started("1"), vec![Cmd::Accept("u"), timer()])
        } else {
            (history.timer_started("1").update_accepted("u", "upd"), vec![timer(), Cmd::Accept("u")])
        };
        let history = history.timer_fired("1").w().update_completed("u").wf_completed();
        let program = || Script::new([vec![], second.clone(), vec![done("u"), Cmd::Complete]]);
        RunTest::new(&history, program()).same("{Init} {Signal s, Update u} {Fire 1}");
        RunTest::new(&history, program()).compat().same("{Init} {Signal s, Update u} {Fire 1}");
    }
}

/// A request arrives with a task that also brings a timer and a later signal: it counts as coming after all of them, live and on
/// replay. S W(2-4) TmrS(5) TmrF(6) Signal(7) W(8-10) UpdAccepted(11) Completed(12)
#[test]
fn update_comes_after_the_events_of_its_task() {
    let history = start().timer_started("1").timer_fired("1").signal("s").w().update_accepted("u", "upd").wf_completed();
    let program = || Script::new([vec![timer()], vec![Cmd::Accept("u"), Cmd::Complete]]);
    RunTest::new(&history, program()).same("{Init} {Fire 1, Signal s, Update u}");
    RunTest::new(&history, program()).compat().same("{Init} {Signal s, Update u, Fire 1}");
}

/// S W(2-4) ActS(5) w(6-7), speculative with an update that is rejected; the server drops it: Signal(6) w(7-8).
#[test]
fn speculative_reject_reset() {
    let dropped = start().act_scheduled("1").w_open();
    let real = start().act_scheduled("1").signal("s").w_open();
    let test = RunTest::new(&dropped, Script::new([vec![act()], vec![reject("u")], vec![Cmd::Complete]])).unchecked();
    let after = RunTest::new(&real, Script::new([]));
    // The task after the drop begins with what the last real task left, or behind that.
    for from in [4, 6] {
        let mut session = test.session();
        let [first, second] = test.tasks()[..] else { panic!("two tasks") };
        session.task(&test.poll(1, first));
        let mut poll = test.poll(second.from, second);
        poll.messages = vec![request_message(&update_request("u", "upd"), 6)];
        let end = session.task(&poll);
        assert_eq!((end.commands().as_str(), messages(&end.completed().messages).as_str()), ("", "u/request/reject"));
        session.reported(&RespondWorkflowTaskCompletedResponse { reset_history_event_id: 3, ..Default::default() });
        let end = session.task(&after.poll(from, after.tasks()[1]));
        assert_eq!(session.shown(), "{Init} {Update u} {Signal s}", "history from event {from}");
        assert_eq!(end.commands(), "CompleteWorkflowExecution");
        assert_eq!(session.activations[2].history_length, 8);
    }
}

/// After a reset: S W(2-4) Admitted(5) W(6-8) UpdAccepted, no request(9) UpdCompleted(10) Completed(11)
fn admitted() -> HistoryBuilder {
    let history = start().update_admitted("u", "upd").w().update_accepted_with("u", 5, None).update_completed("u");
    history.wf_completed()
}

#[test]
fn admitted_then_accepted() {
    let program = Script::new([vec![], vec![Cmd::Accept("u"), done("u"), Cmd::Complete]]);
    let test = RunTest::new(&admitted(), program);
    let replayed = test.replay_ok();
    assert_eq!(replayed.shown(), "{Init} {Update u}");
    let seen = &do_updates(&replayed.activations)[0];
    assert_eq!((seen.name.as_str(), seen.input.clone(), seen.run_validator), ("upd", vec![json("1")], false));
    test.same("{Init} {Update u}");
}

/// The request comes as an event and as a message too: it is one update.
#[test]
fn same_update_twice() {
    let program = Script::new([vec![], vec![Cmd::Accept("u"), done("u"), Cmd::Complete]]);
    let test = RunTest::new(&admitted(), program);
    let [first, second] = test.tasks()[..] else { panic!("two tasks") };
    let mut session = test.session();
    session.task(&test.poll(1, first));
    let mut poll = test.poll(second.from, second);
    let message = request_message(&update_request("u", "upd"), 6);
    poll.messages = vec![message.clone(), message];
    let end = session.task(&poll);
    assert_eq!(session.shown(), "{Init} {Update u}");
    assert_eq!(messages(&end.completed().messages), "u/request/accept, u/request/complete");
}

#[test]
fn admitted_live() {
    let program = Script::new([vec![], vec![Cmd::Accept("u"), done("u"), Cmd::Complete]]);
    let inc = RunTest::new(&admitted(), program).inc();
    assert!(do_updates(&inc.activations)[0].run_validator);
    let completion = inc.ends[1].completed();
    assert_eq!(messages(&completion.messages), "u/request/accept, u/request/complete");
    let accepted: update::Acceptance = body(&completion.messages[0], "Acceptance");
    assert_eq!(accepted.accepted_request_sequencing_event_id, 5, "the id of the admitted event");
    assert_eq!(accepted.accepted_request_message_id, "u/request");
}

/// S W(2-4) UpdAccepted(5) UpdCompleted(6) TmrS(7) w(8-9)
#[test]
fn update_with_start() {
    let history = start().update_accepted("u", "upd").update_completed("u").timer_started("1").timer_fired("1").w_open();
    let program = || Script::new([vec![Cmd::Accept("u"), done("u"), timer()]]);
    RunTest::new(&history, program()).same("{Init, Update u} {Fire 1}");
    RunTest::new(&history, program()).compat().same("{Init, Update u} {Fire 1}");
}

/// The flags that a completed task recorded hold for its own activation on replay: S W(2-4) W(5-7, lang flag 2) UpdAccepted(8) ...
#[test]
fn update_flags() {
    let history = HistoryBuilder::new().w().meta(&[1, 2, 3], &[1], "temporal-typescript", "1.0.0");
    let history = history.w().meta(&[], &[2], "", "").update_accepted("u", "upd").signal("s").w().wf_completed();
    let program = Script::new([vec![], vec![Cmd::Accept("u")], vec![Cmd::Complete]]);
    let mut test = RunTest::new(&history, program).compat();
    test.options.known_lang_flags = vec![1, 2, 3];
    let flags: Vec<Vec<u32>> = test.replay_ok().activations.iter().map(|a| a.lang_flags.clone()).collect();
    assert_eq!(flags, [vec![1], vec![1, 2], vec![1, 2]]);
}

/// S W(2-4) W(5-7) UpdAccepted a(8) UpdAccepted b(9) Signal(10) W Completed: the code accepts b, then a.
#[test]
fn swapped_update_ids() {
    let history = start().w().update_accepted("a", "upd").update_accepted("b", "upd").signal("s").w().wf_completed();
    let program = || Script::new([vec![], vec![Cmd::Accept("b"), Cmd::Accept("a")], vec![Cmd::Complete]]);
    let lenient = RunTest::new(&history, program()).replay_ok();
    let warnings: Vec<&str> = lenient.end().warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(warnings[0], "Update id of accepted event 'a' does not match update id of update command 'b'");
    assert_eq!(lenient.end().warnings[0].event_id, 8);
    let error = RunTest::new(&history, program()).strict().replay_error();
    assert_eq!(error.message, format!("{PREFIX}Update id of accepted event 'a' does not match update id of update command 'b'"));
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 8));
}

/// Live and replayed, the same verdicts lead to the same commands, although validators run only live.
#[test]
fn validator_not_run_on_replay() {
    let history = start().w().update_accepted("a", "upd").update_completed("a").update_accepted("b", "upd");
    let history = history.timer_started("1").timer_fired("1").w().update_completed("b").wf_completed();
    let second = vec![Cmd::Accept("a"), done("a"), Cmd::Accept("b"), timer()];
    let test = RunTest::new(&history, Script::new([vec![], second, vec![done("b"), Cmd::Complete]]));
    let inc = test.same("{Init} {Update a, Update b} {Fire 1}");
    assert_eq!(do_updates(&inc.activations).iter().map(|u| u.run_validator).collect::<Vec<_>>(), [true, true]);
    let replayed = test.replay_ok();
    assert_eq!(do_updates(&replayed.activations).iter().map(|u| u.run_validator).collect::<Vec<_>>(), [false, false]);
}

/// A message without its position, or one that is not a request.
#[test]
fn bad_messages_are_refused() {
    let test = RunTest::new(&task_with_update(), Script::new([]));
    let good = request_message(&update_request("u", "upd"), 5);
    let mut unplaced = good.clone();
    unplaced.sequencing_id = None;
    let mut by_command = good.clone();
    by_command.sequencing_id = Some(SequencingId::CommandIndex(1));
    let mut unknown = good.clone();
    unknown.body.as_mut().expect("body").type_url = "type.googleapis.com/other.Thing".into();
    let mut broken = good.clone();
    broken.body.as_mut().expect("body").value = vec![0xff, 0xff, 0xff];
    let mut empty = good;
    empty.body = None;
    for (message, says) in [
        (unplaced, "server bug"),
        (by_command, "server bug"),
        (unknown, "other.Thing"),
        (broken, "u/request"),
        (empty, "u/request"),
    ] {
        let mut session = test.session();
        let [first, second] = test.tasks()[..] else { panic!("two tasks") };
        session.task(&test.poll(1, first));
        let mut poll = test.poll(second.from, second);
        poll.messages = vec![message];
        let end = session.task(&poll);
        assert_eq!(end.error.as_ref().map(|e| e.kind()), Some(ErrorKind::Fatal), "{:?}", end.error);
        assert!(end.message().contains(says), "{}", end.message());
    }
}
