//! Signals and cancel requests from one run to another.
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::{HistoryEvent, history_event::Attributes as A};

use super::support::*;

#[test]
fn a_signal_reaches_another_run_and_its_sender_hears_of_it() {
    let mut t = T::new();
    t.start("other");
    let other = t.task();
    t.complete(&other, vec![]);
    let sender = t.start("p");
    let task = t.task();
    t.complete(&task, vec![signal_external("other", "hello", false)]);
    assert_eq!(t.shape("p"), "Started WTScheduled WTStarted WTCompleted SignalExternalInitiated ExternalSignaled WTScheduled");
    let h = t.history("other", "");
    let A::WorkflowExecutionSignaledEventAttributes(s) = attrs(find(&h, E::WorkflowExecutionSignaled)) else { panic!() };
    assert_eq!((s.signal_name.as_str(), s.identity.as_str(), s.input.clone()), ("hello", "history-service", Some(json("5"))));
    assert_eq!(s.external_workflow_execution, Some(exec("p", &sender)));
    t.check_memory();
}

#[test]
fn a_cancel_request_reaches_another_run_once() {
    let mut t = T::new();
    t.start("other");
    let other = t.task();
    t.complete(&other, vec![]);
    let sender = t.start("p");
    let task = t.task();
    t.complete(&task, vec![cancel_external("other", false), cancel_external("other", false)]);
    assert_eq!(t.shape("p").matches("ExternalCancelRequested").count(), 2);
    let h = t.history("other", "");
    assert_eq!(shape(&h).matches(" CancelRequested").count(), 1);
    let A::WorkflowExecutionCancelRequestedEventAttributes(c) = attrs(find(&h, E::WorkflowExecutionCancelRequested)) else {
        panic!()
    };
    assert_eq!((c.cause.as_str(), c.external_initiated_event_id), ("enough", 5));
    assert_eq!((c.external_workflow_execution.clone(), c.identity.as_str()), (Some(exec("p", &sender)), "history-service"));
    let A::RequestCancelExternalWorkflowExecutionInitiatedEventAttributes(i) = attrs(&t.history("p", "")[4]).clone() else {
        panic!()
    };
    assert_eq!((i.reason.as_str(), i.workflow_execution), ("enough", Some(exec("other", ""))));
}

#[test]
fn what_is_not_there_cannot_be_signalled_or_cancelled() {
    let mut t = T::new();
    t.start("closed");
    let task = t.task();
    t.complete(&task, vec![done()]);
    t.start("stranger");
    let stranger = t.task();
    t.start("p");
    let task = t.task();
    let commands = vec![
        signal_external("absent", "s", false),
        signal_external("closed", "s", false),
        signal_external("p", "s", false),
        signal_external("stranger", "s", true),
        cancel_external("absent", false),
        cancel_external("p", false),
        cancel_external("stranger", true),
        cancel_external("closed", false),
    ];
    t.complete(&task, commands);
    let h = t.history("p", "");
    // The runs that the store has to load first decide the order of the responses.
    let mut outcomes: Vec<_> = h[12..].iter().filter(|e| name(e) != "WTScheduled").collect();
    let initiated = |e: &&HistoryEvent| match attrs(e) {
        A::SignalExternalWorkflowExecutionFailedEventAttributes(a) => a.initiated_event_id,
        A::RequestCancelExternalWorkflowExecutionFailedEventAttributes(a) => a.initiated_event_id,
        A::ExternalWorkflowExecutionCancelRequestedEventAttributes(a) => a.initiated_event_id,
        other => panic!("{other:?}"),
    };
    outcomes.sort_by_key(initiated);
    let tail: Vec<String> = outcomes.iter().map(|e| name(e)).collect();
    let (signal, cancel) = ("SignalExternalFailed", "RequestCancelExternalFailed");
    assert_eq!(
        tail,
        [signal, signal, signal, signal, cancel, cancel, cancel, "ExternalCancelRequested"],
        "what has ended need not be cancelled any more"
    );
    for (i, e) in outcomes[..7].iter().enumerate() {
        match attrs(e) {
            A::SignalExternalWorkflowExecutionFailedEventAttributes(a) => {
                assert_eq!((a.cause, a.initiated_event_id), (1, 5 + i as i64))
            }
            A::RequestCancelExternalWorkflowExecutionFailedEventAttributes(a) => {
                assert_eq!((a.cause, a.initiated_event_id), (1, 5 + i as i64))
            }
            other => panic!("{other:?}"),
        }
    }
    t.complete(&stranger, vec![]);
    assert_eq!(t.shape("stranger"), "Started WTScheduled WTStarted WTCompleted");
}

#[test]
fn parent_and_child_signal_each_other_in_one_batch() {
    let mut t = T::new();
    t.start("p");
    let task = t.task();
    t.complete(&task, vec![child("c"), signal_external("c", "first", true), signal_external("c", "second", true)]);
    assert_eq!(t.shape("c"), "Started WTScheduled Signaled Signaled", "the start comes before what was sent to it");
    let of_parent = t.task();
    let of_child = t.task_on("c");
    // Both responses are recorded before either is committed.
    let a = t.completion(&of_parent, vec![signal_external("c", "down", true)]);
    let b = t.completion(&of_child, vec![signal_external("p", "up", false)]);
    t.send(temporalex_core::boundary::EngineMethod::RespondWorkflowTaskCompleted, &a);
    t.send(temporalex_core::boundary::EngineMethod::RespondWorkflowTaskCompleted, &b);
    t.flush();
    assert!(t.shape("p").contains("ExternalSignaled") && t.shape("p").contains(" Signaled"), "{}", t.shape("p"));
    assert!(t.shape("c").contains("ExternalSignaled") && t.shape("c").matches(" Signaled").count() == 3, "{}", t.shape("c"));
    t.check_memory();
}

#[test]
fn p1_a_signal_is_at_its_target_exactly_when_its_sender_says_so() {
    let mut t = T::new();
    t.start("other");
    let other = t.task();
    t.complete(&other, vec![]);
    t.start("p");
    let task = t.task();
    // The target is not in memory: it is loaded within the batch.
    t.restart();
    for fails in [1, 1, 0] {
        t.fail_commits = fails;
        let request = t.completion(&task, vec![signal_external("other", "once", false)]);
        t.send(temporalex_core::boundary::EngineMethod::RespondWorkflowTaskCompleted, &request);
        t.flush();
        let (sent, come) = (t.shape("p").contains("ExternalSignaled"), t.shape("other").contains(" Signaled"));
        assert_eq!(sent, come);
    }
    assert_eq!(t.shape("other").matches(" Signaled").count(), 1);
    t.check_memory();
}

#[test]
fn p2_orders_for_a_run_that_cannot_be_read_wait_in_their_order() {
    let mut t = T::new();
    t.start("other");
    let other = t.task();
    t.complete(&other, vec![]);
    t.start("free");
    let free = t.task();
    t.complete(&free, vec![]);
    t.start("p");
    let task = t.task();
    t.restart();
    t.store.unreadable.insert("other".into());
    t.complete(
        &task,
        vec![signal_external("other", "a", false), signal_external("other", "b", false), signal_external("free", "c", false)],
    );
    assert!(t.shape("free").contains(" Signaled"), "others do not wait");
    t.check_memory();
    t.restart();
    let free = t.task();
    t.complete(&free, vec![]);
    let task = t.task();
    t.complete(&task, vec![signal_external("other", "d", false)]);
    t.store.unreadable.clear();
    t.advance(120_000.0);
    let h = t.history("other", "");
    let names: Vec<String> = h
        .iter()
        .filter_map(|e| match attrs(e) {
            A::WorkflowExecutionSignaledEventAttributes(s) => Some(s.signal_name.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["a", "b", "d"]);
    t.check_memory();
}

#[test]
fn many_orders_that_cannot_be_carried_out_wait_no_longer_than_one() {
    let mut t = T::new();
    let targets: Vec<String> = (0..20).map(|i| format!("target{i}")).collect();
    for id in &targets {
        t.start(id);
        let task = t.task();
        t.complete(&task, vec![]);
    }
    t.start("p");
    let task = t.task();
    t.restart();
    let away = |t: &mut T| t.store.unreadable.extend(targets.iter().cloned());
    let signalled = |t: &mut T| t.shape("p").matches("ExternalSignaled").count();
    away(&mut t);
    t.complete(&task, targets.iter().map(|id| signal_external(id, "a", false)).collect());
    assert_eq!(signalled(&mut t), 0);
    t.store.unreadable.clear();
    t.advance(1_100.0);
    assert_eq!(signalled(&mut t), 20, "each is tried again after the first wait");
    t.check_memory();

    // However long the store was away, it is asked again soon.
    let task = loop {
        let task = t.task();
        if task.workflow_execution.as_ref().unwrap().workflow_id == "p" {
            break task;
        }
        t.complete(&task, vec![]);
    };
    t.restart();
    away(&mut t);
    t.complete(&task, targets.iter().map(|id| signal_external(id, "b", false)).collect());
    for _ in 0..100 {
        t.advance(5_000.0);
    }
    assert_eq!(signalled(&mut t), 20);
    t.store.unreadable.clear();
    t.advance(10_000.0);
    assert_eq!(signalled(&mut t), 40);
    assert!(targets.iter().all(|id| t.shape(id).matches(" Signaled").count() == 2));
    t.check_memory();
}

#[test]
fn bad_attributes_fail_the_task_in_the_words_of_a_server() {
    use temporalex_core::api::command::v1::command::Attributes as C;
    let bad = |command, cause| {
        let mut t = T::new();
        t.start("p");
        let task = t.task();
        let e = t.try_complete(&task, vec![command]).unwrap_err();
        let h = t.history("p", "");
        let A::WorkflowTaskFailedEventAttributes(f) = attrs(find(&h, E::WorkflowTaskFailed)) else { panic!() };
        assert_eq!(f.cause, cause);
        e.message
    };
    assert_eq!(
        bad(signal_external("", "s", false), 15),
        "BadSignalWorkflowExecutionAttributes: WorkflowId is not set on SignalExternalWorkflowExecutionCommand. Namespace= RunId= SignalName=s"
    );
    assert!(
        bad(signal_external("x", "", false), 15)
            .contains("SignalName is not set on SignalExternalWorkflowExecutionCommand. WorkflowId=x")
    );
    let mut to_run = signal_external("x", "s", false);
    if let Some(C::SignalExternalWorkflowExecutionCommandAttributes(a)) = &mut to_run.attributes {
        a.execution = Some(exec("x", "not-a-run"));
    }
    assert!(bad(to_run, 15).contains("Invalid RunId set on SignalExternalWorkflowExecutionCommand"));
    assert!(
        bad(cancel_external("", false), 10).contains("WorkflowId is not set on RequestCancelExternalWorkflowExecutionCommand")
    );
    let mut abroad = cancel_external("x", false);
    if let Some(C::RequestCancelExternalWorkflowExecutionCommandAttributes(a)) = &mut abroad.attributes {
        a.namespace = "elsewhere".into();
    }
    assert!(bad(abroad, 10).contains("cross namespace commands are not allowed"));
}
