//! Signals to and cancellation of other workflows
//! (docs/dev/semantics/commands.md#signals-and-cancel-requests-to-other-runs), search attributes
//! and memo that change in mid-run (docs/dev/semantics/commands.md#search-attributes-and-memo).
use crate::support::history::json;
use crate::support::lang::{cancel_external, child, memo, signal_external, upsert};
use crate::support::show::resolution_failure;
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, timer};
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::api::command::v1::{
    RequestCancelExternalWorkflowExecutionCommandAttributes, SignalExternalWorkflowExecutionCommandAttributes,
};
use temporalex_core::api::common::v1::{Header, Memo, Payload, SearchAttributes, WorkflowExecution};
use temporalex_core::api::enums::v1::{
    CancelExternalWorkflowExecutionFailedCause as CancelCause, SignalExternalWorkflowExecutionFailedCause as SignalCause,
};
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::boundary::{
    CancelExternalWorkflow, ChildWorkflowCancellationType, CommandKind, ContinueAsNew, ErrorKind, Job, SignalExternalWorkflow,
};
use temporalex_core::error::codes;

use crate::support::history::{RUN_ID, payloads};

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

fn script(first: Cmd) -> Script {
    Script::new([vec![first], vec![Cmd::Complete]])
}

/// Message and the type of the application failure.
fn refusal(job: &Job) -> (String, String) {
    let seen = resolution_failure(job);
    match seen.failure_info {
        Some(FailureInfo::ApplicationFailureInfo(info)) => (seen.message, info.r#type),
        other => panic!("no application failure: {other:?}"),
    }
}

/// Attributes of the first command that a run gives.
fn sent(command: Cmd) -> Attributes {
    let session = RunTest::new(&HistoryBuilder::new().w_open(), Script::new([vec![command]])).inc();
    session.end().completed().commands[0].attributes.clone().expect("attributes")
}

fn execution(workflow_id: &str, run_id: &str) -> Option<WorkflowExecution> {
    Some(WorkflowExecution { workflow_id: workflow_id.into(), run_id: run_id.into() })
}

/// S W(2-4) SignalInit(5) Signaled(6) W(7-9) Completed(10)
#[test]
fn signal_external_ok() {
    let history = start().signal_initiated("o").signal_delivered("o").w().wf_completed();
    let test = RunTest::new(&history, script(signal_external("o")));
    let inc = test.same("{Init} {Signaled 1 ok}");
    assert_eq!(inc.commands(), "SignalExternalWorkflowExecution o | CompleteWorkflowExecution");
    assert_eq!(inc.jobs(1)[0].event_id, 6);
    test.compat().all_same();
}

#[test]
fn all_of_the_signal_is_sent() {
    let full = SignalExternalWorkflow {
        namespace: "other".into(),
        workflow_id: "o".into(),
        run_id: "r".into(),
        signal_name: "hello".into(),
        arguments: vec![json("1"), json("2")],
        headers: [("h".to_string(), json("3"))].into(),
        ..Default::default()
    };
    let expected = SignalExternalWorkflowExecutionCommandAttributes {
        namespace: "other".into(),
        execution: execution("o", "r"),
        signal_name: "hello".into(),
        input: Some(payloads([json("1"), json("2")])),
        header: Some(Header { fields: [("h".to_string(), json("3"))].into() }),
        ..Default::default()
    };
    assert_eq!(sent(Cmd::SignalExternal(full)), Attributes::SignalExternalWorkflowExecutionCommandAttributes(expected));
    let plain = SignalExternalWorkflowExecutionCommandAttributes {
        namespace: "ns".into(),
        execution: execution("o", ""),
        signal_name: "hello".into(),
        ..Default::default()
    };
    assert_eq!(sent(signal_external("o")), Attributes::SignalExternalWorkflowExecutionCommandAttributes(plain));
}

#[test]
fn signal_external_not_delivered() {
    for (cause, reason, name) in [
        (SignalCause::ExternalWorkflowExecutionNotFound, "it was not found", "ExternalWorkflowExecutionNotFound"),
        (SignalCause::NamespaceNotFound, "it was not found", "NamespaceNotFound"),
        (SignalCause::SignalCountLimitExceeded, "The per-workflow signal limit was exceeded", "SignalCountLimitExceeded"),
        (SignalCause::Unspecified, "unknown", "Unspecified"),
    ] {
        let history = start().signal_initiated("o").signal_failed("o", cause).w().wf_completed();
        let inc = RunTest::new(&history, script(signal_external("o"))).same("{Init} {Signaled 1 failed}");
        let message = format!("Unable to signal external workflow because {reason}");
        assert_eq!(refusal(&inc.jobs(1)[0]), (message, name.to_string()));
    }
}

/// S W(2-4) Completed(5): canceled in the activation that issued it.
#[test]
fn cancelled_before_sent() {
    let program = Script::new([vec![signal_external("o"), Cmd::CancelSignal(1)], vec![Cmd::CancelSignal(1), Cmd::Complete]]);
    let inc = RunTest::new(&start().wf_completed(), program).same("{Init} {Signaled 1 failed}");
    assert_eq!(inc.commands(), "CompleteWorkflowExecution");
    assert_eq!(inc.activations[1].started_event_id, 3, "a further activation of the same task");
    let seen: Failure = resolution_failure(&inc.jobs(1)[0]);
    assert_eq!(seen.message, "Signal was cancelled before being sent");
    assert!(matches!(seen.failure_info, Some(FailureInfo::CanceledFailureInfo(_))));
}

/// A sent command cannot be withdrawn: S W(2-4) SignalInit(5) Signal(6) W(7-9) TmrS(10) Signaled|Failed(11) TmrF W Completed
#[test]
fn cancelled_after_sent() {
    for found in [true, false] {
        let history = start().signal_initiated("o").signal("s").w().timer_started("1");
        let history = match found {
            true => history.signal_delivered("o"),
            false => history.signal_failed("o", SignalCause::ExternalWorkflowExecutionNotFound),
        };
        let history = history.timer_fired("1").w().wf_completed();
        let second = vec![Cmd::CancelSignal(1), timer()];
        let program = Script::new([vec![signal_external("o")], second, vec![Cmd::CancelSignal(1), Cmd::Complete]]);
        let expected = if found { "ok" } else { "failed" };
        RunTest::new(&history, program).same(&format!("{{Init}} {{Signal s}} {{Signaled 1 {expected}, Fire 1}}"));
    }
}

/// S W(2-4) CancelInit(5) CancelRequested(6) W(7-9) Completed(10)
#[test]
fn cancel_external_ok() {
    let history = start().cancel_initiated("o", false).cancel_delivered("o").w().wf_completed();
    let test = RunTest::new(&history, script(cancel_external("o")));
    let inc = test.same("{Init} {CancelAsked 1 ok}");
    assert_eq!(inc.commands(), "RequestCancelExternalWorkflowExecution o | CompleteWorkflowExecution");
    test.compat().all_same();
}

#[test]
fn all_of_the_request_is_sent() {
    let reason = format!("Cancel requested by workflow with run id {RUN_ID} with reason: enough");
    let expected = RequestCancelExternalWorkflowExecutionCommandAttributes {
        namespace: "ns".into(),
        workflow_id: "o".into(),
        reason: reason.clone(),
        ..Default::default()
    };
    assert_eq!(sent(cancel_external("o")), Attributes::RequestCancelExternalWorkflowExecutionCommandAttributes(expected.clone()));
    let full = CancelExternalWorkflow {
        namespace: "other".into(),
        workflow_id: "o".into(),
        run_id: "r".into(),
        reason: "enough".into(),
        ..Default::default()
    };
    let expected =
        RequestCancelExternalWorkflowExecutionCommandAttributes { namespace: "other".into(), run_id: "r".into(), ..expected };
    assert_eq!(sent(Cmd::CancelExternal(full)), Attributes::RequestCancelExternalWorkflowExecutionCommandAttributes(expected));
}

#[test]
fn cancel_external_not_delivered() {
    for (cause, reason, name) in [
        (CancelCause::ExternalWorkflowExecutionNotFound, "not found", "ExternalWorkflowExecutionNotFound"),
        (CancelCause::NamespaceNotFound, "not found", "NamespaceNotFound"),
        (CancelCause::Unspecified, "unknown", "Unspecified"),
    ] {
        let history = start().cancel_initiated("o", false).cancel_failed("o", cause).w().wf_completed();
        let inc = RunTest::new(&history, script(cancel_external("o"))).same("{Init} {CancelAsked 1 failed}");
        let message = format!("Unable to cancel external workflow because {reason}");
        assert_eq!(refusal(&inc.jobs(1)[0]), (message, name.to_string()));
    }
}

/// The core's own requests for children use no sequence number of the caller: S W(2-4) Init c(5) Started(6) W(7-9) CancelReq
/// c(10) CancelReq o(11) CancelReq p(12) and their responses.
#[test]
fn numbers_do_not_collide_with_cancels_of_children() {
    let history = start().child_initiated("c").child_started("c").w();
    let history = history.cancel_initiated("o", false).cancel_initiated("c", true).cancel_initiated("p", false);
    let history = history.cancel_delivered("p").cancel_delivered("c").cancel_delivered("o").child_canceled("c");
    let history = history.w().wf_completed();
    let waits = ChildWorkflowCancellationType::WaitCancellationCompleted;
    let second = vec![cancel_external("o"), Cmd::CancelChild(1, ""), cancel_external("p")];
    let test = RunTest::new(&history, Script::new([vec![child("c", waits)], second, vec![Cmd::Complete]]));
    test.same("{Init} {ChildStart 1 ok} {CancelAsked 2 ok, CancelAsked 1 ok, Child 1 cancelled}");
}

/// The namespaces of seqs are apart: every kind begins with 1.
#[test]
fn kinds_are_numbered_apart() {
    let history = start().timer_started("1").child_initiated("c").signal_initiated("o").cancel_initiated("o", false);
    let history = history.cancel_delivered("o").signal_delivered("o").child_started("c").timer_fired("1").w().wf_completed();
    let waits = ChildWorkflowCancellationType::WaitCancellationCompleted;
    let first = vec![timer(), child("c", waits), signal_external("o"), cancel_external("o")];
    let test = RunTest::new(&history, Script::new([first, vec![Cmd::Complete]]));
    test.same("{Init} {CancelAsked 1 ok, Signaled 1 ok, ChildStart 1 ok, Fire 1}");
}

#[test]
fn divergence_is_worded_as_core_words_it() {
    let error = |history: HistoryBuilder, command: Cmd| {
        let e = RunTest::new(&history.w_open(), Script::new([vec![command]])).replay_error();
        assert_eq!((e.kind(), e.code, e.event_id), (ErrorKind::Nondeterminism, codes::COMMAND_TYPE, 5));
        e.message.trim_start_matches("[TMPRL1100] Nondeterminism error: ").to_string()
    };
    let fired = || start().timer_started("1");
    assert_eq!(
        error(fired(), signal_external("o")),
        "Signal external WF machine does not handle this event: HistoryEvent(id: 5, TimerStarted)"
    );
    assert_eq!(
        error(fired(), cancel_external("o")),
        "Cancel external WF machine does not handle this event: HistoryEvent(id: 5, TimerStarted)"
    );
    assert_eq!(
        error(fired(), upsert("k", json("1"))),
        "UpsertWorkflowSearchAttributesMachine does not handle HistoryEvent(id: 5, TimerStarted)"
    );
    assert_eq!(
        error(fired(), memo("k", json("1"))),
        "ModifyWorkflowPropertiesMachine does not handle HistoryEvent(id: 5, TimerStarted)"
    );
    assert_eq!(
        error(start().signal_initiated("o"), cancel_external("o")),
        "Cancel external WF machine does not handle this event: HistoryEvent(id: 5, SignalExternalWorkflowExecutionInitiated)"
    );
    assert_eq!(
        error(start().upsert([("k", json("1"))]), memo("k", json("1"))),
        "ModifyWorkflowPropertiesMachine does not handle HistoryEvent(id: 5, UpsertWorkflowSearchAttributes)"
    );
    assert_eq!(
        error(start().properties_modified([("k", json("1"))]), upsert("k", json("1"))),
        "UpsertWorkflowSearchAttributesMachine does not handle HistoryEvent(id: 5, WorkflowPropertiesModified)"
    );
    assert_eq!(
        error(start().cancel_initiated("o", false), timer()),
        "Timer machine does not handle this event: HistoryEvent(id: 5, RequestCancelExternalWorkflowExecutionInitiated)"
    );
}

/// Responses that come twice, or from another operation.
#[test]
fn damaged_histories() {
    let fatal = |history: HistoryBuilder, command: Cmd, event: u32| {
        let e = RunTest::new(&history.w_open(), Script::new([vec![command]])).replay_error();
        assert_eq!((e.kind(), e.code, e.event_id), (ErrorKind::Fatal, codes::BAD_TRANSITION, event), "{}", e.message);
    };
    fatal(start().signal_initiated("o").signal_delivered("o").signal_delivered("o"), signal_external("o"), 7);
    fatal(start().cancel_initiated("o", false).cancel_delivered("o").cancel_delivered("o"), cancel_external("o"), 7);
    for (history, command) in
        [(start().signal_initiated("o"), signal_external("o")), (start().cancel_initiated("o", false), cancel_external("o"))]
    {
        let e = RunTest::new(&history.timer_fired_as("1", 5).w_open(), Script::new([vec![command]])).replay_error();
        assert_eq!((e.kind(), e.code, e.event_id), (ErrorKind::Nondeterminism, codes::COMMAND_TYPE, 6));
    }
}

#[test]
fn bad_commands_are_refused_by_what_is_wrong() {
    let bad = |command: Cmd| {
        let session = RunTest::new(&HistoryBuilder::new().w_open(), Script::new([vec![command]])).inc();
        let e = session.end().error.clone().expect("refused");
        (e.code, e.message)
    };
    let bad_value = |command: Cmd, text: &str| assert_eq!(bad(command), (codes::BAD_VALUE, text.to_string()));
    bad_value(signal_external(""), "SignalExternalWorkflow: workflow_id is empty");
    let unnamed = SignalExternalWorkflow { workflow_id: "o".into(), ..Default::default() };
    bad_value(Cmd::SignalExternal(unnamed), "SignalExternalWorkflow: signal_name is empty");
    bad_value(cancel_external(""), "CancelExternalWorkflow: workflow_id is empty");
    let (code, message) = bad(Cmd::CancelSignal(3));
    assert_eq!(code, codes::MISSING_MACHINE);
    assert!(message.ends_with("Missing associated machine for SignalExternal(3)"), "{message}");
}

/// `Run.cancel` is for operations without a cancel command.
#[test]
fn cancel_calls_of_these_kinds_are_misuse() {
    for kind in [CommandKind::StartChildWorkflow, CommandKind::SignalExternalWorkflow, CommandKind::CancelExternalWorkflow] {
        let program = move |_: &temporalex_core::boundary::Activation, calls: &mut crate::support::Calls| {
            calls.cancel(kind, 1);
            crate::support::Reply::Finish
        };
        let session = RunTest::new(&HistoryBuilder::new().w_open(), program).inc();
        let e = session.end().error.clone().expect("refused");
        assert_eq!((e.kind(), e.code), (ErrorKind::Misuse, codes::OUT_OF_ORDER_CALL), "{}", e.message);
    }
}

// ------------------------------------------------------------------------------------------ search attributes and memo

fn versions() -> Payload {
    json("[\"mine\"]")
}

/// The list of patches is the core's: with flag 2 a command that names it is sent empty, and carries nothing on.
#[test]
fn user_upsert_of_change_version() {
    let history = start().upsert([]).wf_continued_as_new();
    let mut both = upsert("TemporalChangeVersion", versions());
    if let Cmd::Upsert(attributes) = &mut both {
        attributes.search_attributes.insert("Custom".into(), json("1"));
    }
    let program = Script::new([vec![both.clone(), Cmd::ContinueAsNew(ContinueAsNew::default())]]);
    let test = RunTest::new(&history, program.clone());
    let inc = test.all_same();
    let commands = &inc.end().completed().commands;
    assert_eq!(upserted(commands[0].attributes.as_ref()), Some(SearchAttributes::default()));
    assert_eq!(carried(commands[1].attributes.as_ref()), (None, None));
    // A history without flag 2 was written by a Core that sent it.
    let old = HistoryBuilder::new().w().upsert([("TemporalChangeVersion", versions())]).wf_continued_as_new();
    RunTest::new(&old, program).compat().replay_ok();
}

fn upserted(attributes: Option<&Attributes>) -> Option<SearchAttributes> {
    match attributes {
        Some(Attributes::UpsertWorkflowSearchAttributesCommandAttributes(a)) => a.search_attributes.clone(),
        other => panic!("{other:?}"),
    }
}

/// Memo and search attributes of a ContinueAsNew.
fn carried(attributes: Option<&Attributes>) -> (Option<Memo>, Option<SearchAttributes>) {
    match attributes {
        Some(Attributes::ContinueAsNewWorkflowExecutionCommandAttributes(a)) => (a.memo.clone(), a.search_attributes.clone()),
        other => panic!("{other:?}"),
    }
}

/// S W(2-4) Modified(5) TmrS(6) TmrF(7) W(8-10) Completed(11)
#[test]
fn modify_memo() {
    let history = start().properties_modified([("k", json("1"))]).timer_started("1").timer_fired("1").w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![memo("k", json("1")), timer()], vec![Cmd::Complete]]));
    let inc = test.same("{Init} {Fire 1}");
    assert_eq!(inc.commands(), "ModifyWorkflowProperties, StartTimer 1 | CompleteWorkflowExecution");
    match inc.ends[0].completed().commands[0].attributes.as_ref() {
        Some(Attributes::ModifyWorkflowPropertiesCommandAttributes(a)) => {
            assert_eq!(a.upserted_memo, Some(Memo { fields: [("k".to_string(), json("1"))].into() }));
        }
        other => panic!("{other:?}"),
    }
    test.compat().all_same();
    // Of the content nothing is compared.
    let program = Script::new([vec![memo("other", json("2")), timer()], vec![Cmd::Complete]]);
    RunTest::new(&history, program).replay_ok();
}

/// S W(2-4) Upsert(5) TmrS(6) TmrF(7) W(8-10) Completed(11)
#[test]
fn upsert_matches_by_type_only() {
    let history = start().upsert([("k", json("1"))]).timer_started("1").timer_fired("1").w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![upsert("k", json("1")), timer()], vec![Cmd::Complete]]));
    let inc = test.same("{Init} {Fire 1}");
    assert_eq!(inc.commands(), "UpsertWorkflowSearchAttributes, StartTimer 1 | CompleteWorkflowExecution");
    let expected = SearchAttributes { indexed_fields: [("k".to_string(), json("1"))].into() };
    assert_eq!(upserted(inc.ends[0].completed().commands[0].attributes.as_ref()), Some(expected));
    let program = Script::new([vec![upsert("other", json("2")), timer()], vec![Cmd::Complete]]);
    RunTest::new(&history, program).replay_ok();
}

/// A patch's own upsert and workflow code's stand side by side: S W(2-4) patch(5) list(6) Upsert(7) Completed(8)
#[test]
fn upserts_beside_patches() {
    let history = start().patch_marker("p", false).change_version_upsert(&["p"]).upsert([("k", json("1"))]).wf_completed();
    let program = Script::new([vec![Cmd::Patch("p", false), upsert("k", json("1")), Cmd::Complete]]);
    RunTest::new(&history, program).all_same();
    // A deprecated patch that left the code goes with its list, and takes no other upsert along.
    let history = start().patch_marker("p", true).change_version_upsert(&["p"]).upsert([("k", json("1"))]).wf_completed();
    RunTest::new(&history, Script::new([vec![upsert("k", json("1")), Cmd::Complete]])).replay_ok();
    let history = start().patch_marker("p", true).upsert([("k", json("1"))]).wf_completed();
    RunTest::new(&history, Script::new([vec![upsert("k", json("1")), Cmd::Complete]])).replay_ok();
}

fn null() -> Payload {
    Payload { metadata: [("encoding".to_string(), b"binary/null".to_vec())].into(), ..Default::default() }
}

/// What a continued run inherits is what this one had at its end; S W(2-4) Upsert Modified TmrS TmrF W Upsert ContinuedAsNew
#[test]
fn continue_as_new_carries_changes() {
    let begun = HistoryBuilder::with_start(|s| {
        let fields = [("kept".to_string(), json("1")), ("gone".to_string(), json("2")), ("set".to_string(), json("3"))];
        s.memo = Some(Memo { fields: fields.clone().into() });
        s.search_attributes = Some(SearchAttributes { indexed_fields: fields.into() });
    });
    let history = begun.w_native().upsert([]).upsert([]).properties_modified([]).properties_modified([]).timer_started("1");
    let history = history.timer_fired("1").w().upsert([]).properties_modified([]).wf_continued_as_new();
    let first = vec![upsert("set", json("4")), upsert("gone", json("[]")), memo("set", json("4")), memo("gone", null()), timer()];
    // Given behind the end: moved before it, and counted.
    let second = vec![Cmd::ContinueAsNew(ContinueAsNew::default()), upsert("new", json("5")), memo("new", json("5"))];
    let program = Script::new([first, second]);
    let test = RunTest::new(&history, program);
    let changed = || [("kept".to_string(), json("1")), ("set".to_string(), json("4")), ("new".to_string(), json("5"))].into();
    // Live, and after a cold start.
    for session in [test.all_same(), test.cut(1)] {
        let last = session.end().completed().commands.last().and_then(|c| c.attributes.clone());
        let expected = (Some(Memo { fields: changed() }), Some(SearchAttributes { indexed_fields: changed() }));
        assert_eq!(carried(last.as_ref()), expected);
    }
    // Programs of the compat layer as with Core: the memo of the start, and what was removed as a value of nothing.
    let session = test.compat().inc();
    let last = session.end().completed().commands.last().and_then(|c| c.attributes.clone());
    let (memo, attributes) = carried(last.as_ref());
    assert_eq!(memo.map(|m| m.fields.into_keys().collect::<Vec<_>>()), Some(vec!["gone".into(), "kept".into(), "set".into()]));
    let attributes = attributes.expect("attributes").indexed_fields;
    assert_eq!(attributes.keys().collect::<Vec<_>>(), ["gone", "kept", "new", "set"]);
    assert_eq!(attributes["gone"], json("[]"));
}

/// When everything was removed, nothing is inherited.
#[test]
fn continue_as_new_carries_nothing_when_all_is_removed() {
    let begun = HistoryBuilder::with_start(|s| {
        s.search_attributes = Some(SearchAttributes { indexed_fields: [("gone".to_string(), json("2"))].into() });
    });
    let history = begun.w_native().upsert([]).wf_continued_as_new();
    for nothing in [null(), json("[]"), json("null")] {
        let program = Script::new([vec![upsert("gone", nothing), Cmd::ContinueAsNew(ContinueAsNew::default())]]);
        let inc = RunTest::new(&history, program).all_same();
        assert_eq!(carried(inc.end().completed().commands[1].attributes.as_ref()), (None, None));
    }
}
