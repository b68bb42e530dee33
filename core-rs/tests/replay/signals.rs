//! Signals, cancel requests, terminal commands, continue-as-new, ends of runs, unknown events
//! (docs/dev/semantics/activations.md#jobs-in-the-order-of-events,
//! docs/dev/semantics/commands.md#the-end-of-a-run).
use std::collections::BTreeMap;

use crate::support::history::{failure, json};
use crate::support::lang::done;
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, act, timer};
use temporalex_core::api::command::v1::ContinueAsNewWorkflowExecutionCommandAttributes;
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::api::common::v1::{Header, Memo, RetryPolicy, SearchAttributes};
use temporalex_core::api::enums::v1::{EventType, WorkflowTaskFailedCause};
use temporalex_core::api::history::v1::WorkflowExecutionOptionsUpdatedEventAttributes;
use temporalex_core::api::history::v1::history_event::Attributes as EventAttributes;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{ContinueAsNew, ErrorKind};

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

fn script(first: Vec<Cmd>, second: Vec<Cmd>) -> Script {
    Script::new([first, second])
}

/// S W(2-4) Signal a(5) Signal b(6) W(7-9) Completed(10)
#[test]
fn two_signals_one_task() {
    let history = start().signal("a").signal("b").w().wf_completed();
    let inc = RunTest::new(&history, script(vec![], vec![Cmd::Complete])).same("{Init} {Signal a, Signal b}");
    let Some(Variant::SignalWorkflow(signal)) = inc.jobs(1)[0].variant.as_ref() else { panic!("no signal") };
    assert_eq!((signal.input.clone(), signal.identity.as_str()), (vec![json("\"a\"")], "client"));
    assert_eq!((inc.jobs(1)[0].event_id, inc.jobs(1)[1].event_id), (5, 6));
    RunTest::new(&history, script(vec![], vec![Cmd::Complete])).compat().same("{Init} {Signal a, Signal b}");
}

/// S Signal(2) W(3-5) Completed(6)
#[test]
fn signal_with_start() {
    let history = HistoryBuilder::new().signal("s").w_native().wf_completed();
    RunTest::new(&history, Script::new([vec![Cmd::Complete]])).same("{Init, Signal s}");
}

/// S W(2-4) ActS(5) ActSt(6) ActC(7) Signal(8) W(9-11) Completed(12): Core's order, and ours.
#[test]
fn signal_before_resolve() {
    let history = start().act_scheduled("1").act_done("1").signal("s").w().wf_completed();
    let program = || script(vec![act()], vec![Cmd::Complete]);
    RunTest::new(&history, program()).compat().same("{Init} {Signal s, Resolve 1 ok}");
    RunTest::new(&history, program()).same("{Init} {Resolve 1 ok, Signal s}");
}

/// S W(2-4) TmrS(5) TmrF(6) CancelRequested(7) W(8-10) end(11)
#[test]
fn cancel_request() {
    let base = || start().timer_started("1").timer_fired("1").cancel_requested("no longer needed").w();
    let endings = [
        (base().wf_completed(), Cmd::Complete, "CompleteWorkflowExecution"),
        (base().wf_failed(failure("x")), Cmd::Fail(failure("x")), "FailWorkflowExecution"),
        (base().wf_canceled(), Cmd::CancelWorkflow, "CancelWorkflowExecution"),
    ];
    for (history, ending, sent) in endings {
        let inc = RunTest::new(&history, script(vec![timer()], vec![ending.clone()])).same("{Init} {Fire 1, Cancel}");
        assert_eq!(inc.commands(), format!("StartTimer 1 | {sent}"));
        let Some(Variant::CancelWorkflow(job)) = inc.jobs(1)[1].variant.as_ref() else { panic!("no cancel") };
        assert_eq!(job.reason, "no longer needed");
        RunTest::new(&history, script(vec![timer()], vec![ending])).compat().same("{Init} {Fire 1, Cancel}");
    }
}

/// S CancelRequested(2) W(3-5) WfCanceled(6)
#[test]
fn immediate_cancel() {
    let history = HistoryBuilder::new().cancel_requested("now").w_native().wf_canceled();
    RunTest::new(&history, Script::new([vec![Cmd::CancelWorkflow]])).same("{Init, Cancel}");
}

/// S W(2-4) UpdAccepted(5) UpdCompleted(6) TmrS(7) Completed(8): the terminal command came first.
#[test]
fn move_terminal() {
    let history = start().update_accepted("u", "upd").update_completed("u").timer_started("1").wf_completed();
    let first = vec![Cmd::Complete, Cmd::Accept("u"), done("u"), timer()];
    let inc = RunTest::new(&history, Script::new([first])).same("{Init, Update u}");
    assert_eq!(
        inc.commands(),
        "ProtocolMessage u/request/accept, ProtocolMessage u/request/complete, StartTimer 1, CompleteWorkflowExecution"
    );
    let flags = inc.ends[0].completed().sdk_metadata.as_ref().map(|m| m.core_used_flags.clone()).unwrap_or_default();
    assert!(flags.contains(&3), "{flags:?}");
}

/// S W(2-4, no flags) Completed(5)
#[test]
fn truncate_terminal() {
    let history = HistoryBuilder::new().w().wf_completed();
    let program = Script::new([vec![Cmd::Complete, timer(), act()]]);
    let session = RunTest::new(&history, program).strict().replay_ok();
    assert_eq!(session.shown(), "{Init}");
}

/// S W(2-4, flag 3) TmrS(5) Completed(6)
#[test]
fn move_terminal_on_replay() {
    let history = start().timer_started("1").wf_completed();
    RunTest::new(&history, Script::new([vec![Cmd::Complete, timer()]])).strict().replay_ok();
}

/// S W(2-4) Completed(5)
#[test]
fn two_terminals() {
    let history = start().wf_completed();
    let inc = RunTest::new(&history, Script::new([vec![Cmd::Complete, Cmd::Fail(failure("x"))]])).same("{Init}");
    assert_eq!(inc.commands(), "CompleteWorkflowExecution");
}

fn memo(text: &str) -> Memo {
    Memo { fields: BTreeMap::from([("m".to_string(), json(text))]) }
}

fn attributes(key: &str, text: &str) -> SearchAttributes {
    SearchAttributes { indexed_fields: BTreeMap::from([(key.to_string(), json(text))]) }
}

/// S (with memo, retry policy, search attributes, header) W(2-4) [marker(5) upsert(6)] ContinuedAsNew
fn rich_start() -> HistoryBuilder {
    HistoryBuilder::with_start(|a| {
        a.memo = Some(memo("1"));
        a.search_attributes = Some(attributes("Custom", "2"));
        a.retry_policy = Some(RetryPolicy { maximum_attempts: 7, ..Default::default() });
        a.header = Some(Header { fields: BTreeMap::from([("h".to_string(), json("3"))]) });
        a.workflow_run_timeout = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    })
    .w_native()
}

fn sent_can(test: RunTest) -> ContinueAsNewWorkflowExecutionCommandAttributes {
    let inc = test.same("{Init}");
    match inc.end().completed().commands.last().and_then(|c| c.attributes.clone()) {
        Some(Attributes::ContinueAsNewWorkflowExecutionCommandAttributes(a)) => a,
        other => panic!("{other:?}"),
    }
}

#[test]
fn continue_as_new_carry() {
    let history = rich_start().wf_continued_as_new();
    let arguments = vec![json("\"again\"")];
    let again = ContinueAsNew { arguments: arguments.clone(), ..Default::default() };
    let sent = sent_can(RunTest::new(&history, Script::new([vec![Cmd::ContinueAsNew(again)]])));
    assert_eq!(sent.memo, Some(memo("1")));
    assert_eq!(sent.search_attributes, Some(attributes("Custom", "2")));
    assert_eq!(sent.retry_policy.map(|p| p.maximum_attempts), Some(7));
    assert_eq!(sent.input.map(|p| p.payloads), Some(arguments));
    // Timeouts and headers are not carried.
    assert_eq!((sent.workflow_run_timeout, sent.workflow_task_timeout), (None, None));
    assert!(sent.header.is_none_or(|h| h.fields.is_empty()));
    assert_eq!(sent.workflow_type.map(|t| t.name).as_deref(), Some("wf"));
}

#[test]
fn continue_as_new_explicit_values_win() {
    let history = rich_start().wf_continued_as_new();
    let again = ContinueAsNew {
        workflow_type: "other".into(),
        task_queue: "q2".into(),
        memo: memo("9").fields,
        search_attributes: attributes("Custom", "8").indexed_fields,
        retry_policy: Some(temporalex_core::boundary::RetryPolicy { maximum_attempts: 2, ..Default::default() }),
        headers: BTreeMap::from([("x".to_string(), json("5"))]),
        workflow_run_timeout_ms: 5000.0,
        ..Default::default()
    };
    let sent = sent_can(RunTest::new(&history, Script::new([vec![Cmd::ContinueAsNew(again)]])));
    assert_eq!(sent.workflow_type.map(|t| t.name).as_deref(), Some("other"));
    assert_eq!(sent.task_queue.map(|q| q.name).as_deref(), Some("q2"));
    assert_eq!((sent.memo, sent.search_attributes), (Some(memo("9")), Some(attributes("Custom", "8"))));
    assert_eq!(sent.retry_policy.map(|p| p.maximum_attempts), Some(2));
    assert_eq!(sent.header.map(|h| h.fields), Some(BTreeMap::from([("x".to_string(), json("5"))])));
    assert_eq!(sent.workflow_run_timeout, Some(prost_types::Duration { seconds: 5, nanos: 0 }));
}

/// The list of patches is the core's own upsert, for searching only: unlike workflow code's upserts it is not an attribute of the
/// run, and the continued run, which begins with no patch, does not inherit it: S W(2-4) patch(5) upsert(6) ContinuedAsNew(7)
#[test]
fn continue_as_new_does_not_carry_the_list_of_patches() {
    let history = rich_start().patch_marker("p", false).change_version_upsert(&["p"]).wf_continued_as_new();
    let program = Script::new([vec![Cmd::Patch("p", false), Cmd::ContinueAsNew(ContinueAsNew::default())]]);
    let test = RunTest::new(&history, program);
    let inc = test.inc();
    let fields = match inc.end().completed().commands.last().and_then(|c| c.attributes.clone()) {
        Some(Attributes::ContinueAsNewWorkflowExecutionCommandAttributes(a)) => {
            a.search_attributes.expect("carried").indexed_fields
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["Custom"]);
    test.replay_ok();
}

/// A terminal command met a buffered signal: S W(2-4) TmrS(5) TmrF(6) wF(7-9) Signal(10) w(11-12)
#[test]
fn unhandled_command() {
    let history = start().timer_started("1").timer_fired("1");
    let history = history.w_failed_with(WorkflowTaskFailedCause::UnhandledCommand, "").signal("s").w_open();
    let program = script(vec![timer()], vec![Cmd::Complete]);
    let session = RunTest::new(&history, program).cut(1);
    assert_eq!(session.shown(), "{Init} {Fire 1, Signal s}", "the signal is there before the code finishes");
    assert_eq!(session.commands(), "CompleteWorkflowExecution");
    let replaying: Vec<bool> = session.activations.iter().map(|a| a.is_replaying).collect();
    assert_eq!(replaying, [true, false]);
}

/// S W(2-4) TmrS(5) Terminated(6)
#[test]
fn ends_terminated() {
    let history = start().timer_started("1").wf_terminated();
    assert_eq!(RunTest::new(&history, Script::new([vec![timer()]])).replay_ok().shown(), "{Init}");
    // While a task is under way: the code sees that task, and its response is dropped.
    let history = start().timer_started("1").timer_fired("1").w_open().wf_terminated();
    RunTest::new(&history, script(vec![timer()], vec![act()])).replay_ok();
}

/// S W(2-4) TmrS(5) TimedOut(6)
#[test]
fn ends_timed_out() {
    let history = start().timer_started("1").wf_timed_out();
    assert_eq!(RunTest::new(&history, Script::new([vec![timer()]])).replay_ok().shown(), "{Init}");
}

/// S W(2-4) TmrS(5) Terminated(6) Signal(7)
#[test]
fn event_after_terminated() {
    for history in [start().timer_started("1").wf_terminated(), start().timer_started("1").wf_timed_out()] {
        let error = RunTest::new(&history.signal("s"), Script::new([vec![timer()]])).replay_error();
        assert_eq!(error.kind(), ErrorKind::Fatal, "{}", error.message);
        assert!(error.message.starts_with("Fatal error in workflow machines: "), "{}", error.message);
    }
}

/// S W(2-4) TmrS(5) W(6-8) TmrF(9) W(10-12) Completed(13): the second task brings nothing.
#[test]
fn empty_task_live() {
    let history = start().timer_started("1").w().timer_fired("1").w().wf_completed();
    let inc = RunTest::new(&history, script(vec![timer()], vec![Cmd::Complete])).same("{Init} {Fire 1}");
    assert_eq!(inc.commands(), "StartTimer 1 |  | CompleteWorkflowExecution");
}

/// S W(2-4) TmrS(5) unknown(6) TmrF(7) W(8-10) Completed(11)
#[test]
fn unknown_event_ignorable() {
    let history = start().timer_started("1").unknown(true).timer_fired("1").w().wf_completed();
    RunTest::new(&history, script(vec![timer()], vec![Cmd::Complete])).same("{Init} {Fire 1}");
}

#[test]
fn unknown_event_not_flagged() {
    let history = start().timer_started("1").unknown(false).timer_fired("1").w().wf_completed();
    let error = RunTest::new(&history, script(vec![timer()], vec![Cmd::Complete])).replay_error();
    assert!(matches!(error.kind(), ErrorKind::Fatal | ErrorKind::Unsupported), "{error:?}");
    assert_eq!(error.event_id, 6);
    assert!(error.message.contains("9999"), "the number of the type is named: {}", error.message);
}

/// S W(2-4) TmrS(5) OptionsUpdated(6) TmrF(7) W(8-10) Completed(11)
#[test]
fn options_updated() {
    let history = |may_ignore| {
        let attributes = WorkflowExecutionOptionsUpdatedEventAttributes::default();
        let attributes = EventAttributes::WorkflowExecutionOptionsUpdatedEventAttributes(attributes);
        let history = start().timer_started("1").add(EventType::WorkflowExecutionOptionsUpdated, attributes);
        history.tweak(|e| e.worker_may_ignore = may_ignore).timer_fired("1").w().wf_completed()
    };
    let program = || script(vec![timer()], vec![Cmd::Complete]);
    RunTest::new(&history(true), program()).same("{Init} {Fire 1}");
    let error = RunTest::new(&history(false), program()).replay_error();
    assert!(matches!(error.kind(), ErrorKind::Fatal | ErrorKind::Unsupported), "{error:?}");
    assert_eq!(error.event_id, 6);
}
