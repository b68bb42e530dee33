//! Children: their start, their end, their chain of runs, and what becomes of them when the parent closes.
use temporalex_core::api::enums::v1::{EventType as E, WorkflowExecutionStatus as Status};
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions};

use super::support::*;

/// A parent "p" that has started the child "c" and seen it; returns the run id of the child.
fn with_child(t: &mut T, policy: i32) -> String {
    t.start("p");
    let task = t.task();
    t.complete(&task, vec![child_with("c", |a| a.parent_close_policy = policy)]);
    let task = t.task();
    let A::ChildWorkflowExecutionStartedEventAttributes(a) = attrs(find(events(&task), E::ChildWorkflowExecutionStarted)) else {
        panic!()
    };
    assert_eq!(a.initiated_event_id, 5);
    t.complete(&task, vec![]);
    a.workflow_execution.as_ref().unwrap().run_id.clone()
}

#[test]
fn a_child_is_started_and_its_result_comes_back() {
    let mut t = T::new();
    let parent = t.start("p");
    let task = t.task();
    t.complete(&task, vec![child("c"), timer("1", 60_000)]);
    assert_eq!(
        t.shape("p"),
        "Started WTScheduled WTStarted WTCompleted StartChildInitiated TimerStarted ChildStarted WTScheduled"
    );
    let h = t.history("p", "");
    let A::StartChildWorkflowExecutionInitiatedEventAttributes(i) = attrs(&h[4]) else { panic!() };
    assert_eq!((i.namespace.as_str(), i.workflow_id.as_str(), i.parent_close_policy), ("default", "c", 1));
    assert_eq!((i.workflow_task_completed_event_id, i.workflow_id_reuse_policy), (4, 1));
    assert_eq!((i.workflow_task_timeout, i.input.clone()), (dur(10_000), Some(json("\"in\""))));

    let pending = t.describe("p", "").unwrap().pending_children;
    assert_eq!(pending.len(), 1);
    let info = t.describe("c", "").unwrap().workflow_execution_info.unwrap();
    let run = info.execution.unwrap().run_id;
    assert_eq!(
        (pending[0].workflow_id.as_str(), &pending[0].run_id, pending[0].workflow_type_name.as_str(), pending[0].initiated_id),
        ("c", &run, "Child", 5)
    );
    assert_eq!(pending[0].parent_close_policy, 1);
    assert_eq!((info.parent_execution, info.root_execution), (Some(exec("p", &parent)), Some(exec("p", &parent))));

    let of_child = t.task_on("c");
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&events(&of_child)[0]) else { panic!() };
    assert_eq!(s.parent_workflow_execution, Some(exec("p", &parent)));
    assert_eq!(s.root_workflow_execution, Some(exec("p", &parent)));
    assert_eq!((s.parent_workflow_namespace.as_str(), s.parent_initiated_event_id), ("default", 5));
    assert_eq!((s.input.clone(), s.attempt, s.first_execution_run_id.as_str()), (Some(json("\"in\"")), 1, run.as_str()));
    t.complete(&of_child, vec![done()]);

    let task = t.task();
    let A::ChildWorkflowExecutionCompletedEventAttributes(c) = attrs(find(events(&task), E::ChildWorkflowExecutionCompleted))
    else {
        panic!()
    };
    assert_eq!((c.initiated_event_id, c.started_event_id, c.result.clone()), (5, 7, Some(json("\"done\""))));
    assert_eq!(c.workflow_execution, Some(exec("c", &run)));
    assert_eq!(c.workflow_type.as_ref().unwrap().name, "Child");
    t.complete(&task, vec![done()]);
    assert!(t.describe("p", "").unwrap().pending_children.is_empty());
    t.check_memory();
}

#[test]
fn every_end_of_a_child_is_told_in_its_own_words() {
    let end = |how: &str, t: &mut T| match how {
        "ChildFailed" => {
            let task = t.task_on("c");
            t.complete(&task, vec![fail_workflow(failure("Bad", "no"))]);
        }
        "ChildCanceled" => {
            t.cancel("c").unwrap();
            let task = t.task_on("c");
            t.complete(&task, vec![cancel_workflow()]);
        }
        "ChildTerminated" => {
            t.terminate("c").unwrap();
        }
        _ => {
            t.advance(30_000.0);
        }
    };
    for (how, kind) in [
        ("ChildFailed", E::ChildWorkflowExecutionFailed),
        ("ChildCanceled", E::ChildWorkflowExecutionCanceled),
        ("ChildTerminated", E::ChildWorkflowExecutionTerminated),
        ("ChildTimedOut", E::ChildWorkflowExecutionTimedOut),
    ] {
        let mut t = T::new();
        t.start("p");
        let task = t.task();
        t.complete(&task, vec![child_with("c", |a| a.workflow_run_timeout = dur(20_000))]);
        end(how, &mut t);
        let h = t.history("p", "");
        assert_eq!(name(h.iter().rfind(|e| name(e).starts_with("Child")).unwrap()), how);
        match attrs(find(&h, kind)) {
            A::ChildWorkflowExecutionFailedEventAttributes(a) => {
                assert_eq!((a.failure.clone(), a.retry_state), (Some(failure("Bad", "no")), 5));
            }
            A::ChildWorkflowExecutionTimedOutEventAttributes(a) => assert_eq!(a.retry_state, 5),
            _ => {}
        }
        t.check_memory();
    }
}

#[test]
fn an_id_that_is_taken_fails_the_start_of_the_child() {
    let mut t = T::new();
    t.start("c");
    t.start("p");
    let own = t.task();
    assert_eq!(own.workflow_execution.as_ref().unwrap().workflow_id, "c");
    let task = t.task();
    t.complete(&task, vec![child("c")]);
    let h = t.history("p", "");
    let A::StartChildWorkflowExecutionFailedEventAttributes(f) = attrs(find(&h, E::StartChildWorkflowExecutionFailed)) else {
        panic!()
    };
    assert_eq!((f.cause, f.workflow_id.as_str(), f.initiated_event_id), (1, "c", 5));
    assert!(t.describe("p", "").unwrap().pending_children.is_empty());

    // Reuse policies decide about an id whose run has closed, and about an open one.
    t.complete(&own, vec![done()]);
    let task = t.task();
    t.complete(
        &task,
        vec![child_with("c", |a| a.workflow_id_reuse_policy = 3), child_with("c", |a| a.workflow_id_reuse_policy = 2)],
    );
    let h = t.history("p", "");
    assert_eq!(h.iter().filter(|e| name(e) == "StartChildFailed").count(), 3, "{}", shape(&h));
    let task = t.task();
    t.complete(&task, vec![child("c")]);
    let task = t.task();
    t.complete(&task, vec![child_with("c", |a| a.workflow_id_reuse_policy = 4)]);
    assert!(t.shape("p").ends_with("StartChildInitiated ChildStarted WTScheduled ChildTerminated"), "{}", t.shape("p"));
}

#[test]
fn a_parent_does_not_end_itself_for_a_child_of_its_own_id() {
    let mut t = T::new();
    t.start("p");
    let task = t.task();
    t.complete(&task, vec![child_with("p", |a| a.workflow_id_reuse_policy = 4)]);
    assert!(t.shape("p").ends_with("StartChildInitiated StartChildFailed WTScheduled"), "{}", t.shape("p"));
}

#[test]
fn the_parent_hears_of_the_last_run_of_a_chain() {
    let mut t = T::new();
    let first = with_child(&mut t, 0);
    let task = t.task_on("c");
    t.complete(&task, vec![continue_as_new(|_| {})]);
    assert_eq!(t.try_task().map(|t| shape(events(&t))), None, "continue-as-new is not the end of a child");
    let info = t.describe("c", "").unwrap().workflow_execution_info.unwrap();
    assert_eq!((info.parent_execution.unwrap().workflow_id.as_str(), info.first_run_id.as_str()), ("p", first.as_str()));
    let task = t.task_on("c");
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&events(&task)[0]) else { panic!() };
    assert_eq!((s.parent_initiated_event_id, s.root_workflow_execution.as_ref().unwrap().workflow_id.as_str()), (5, "p"));
    let last = task.workflow_execution.as_ref().unwrap().run_id.clone();
    t.complete(&task, vec![done()]);
    let task = t.task();
    let A::ChildWorkflowExecutionCompletedEventAttributes(c) = attrs(find(events(&task), E::ChildWorkflowExecutionCompleted))
    else {
        panic!()
    };
    assert_eq!(c.workflow_execution, Some(exec("c", &last)));
    assert_ne!(last, first);
}

#[test]
fn a_retried_child_fails_once() {
    let mut t = T::new();
    t.start("p");
    let task = t.task();
    t.complete(&task, vec![child_with("c", |a| a.retry_policy = retry_policy(2))]);
    let task = t.task();
    t.complete(&task, vec![]);
    for _ in 0..2 {
        let task = t.task_on("c");
        t.complete(&task, vec![fail_workflow(failure("Bad", "no"))]);
        t.advance(2_000.0);
    }
    let h = t.history("p", "");
    assert_eq!(h.iter().filter(|e| name(e) == "ChildFailed").count(), 1, "{}", shape(&h));
    let A::ChildWorkflowExecutionFailedEventAttributes(a) = attrs(find(&h, E::ChildWorkflowExecutionFailed)) else { panic!() };
    assert_eq!(a.retry_state, 4, "MAXIMUM_ATTEMPTS_REACHED");
}

#[test]
fn what_happens_to_a_child_while_the_parent_has_a_task_waits_behind_it() {
    let mut t = T::new();
    t.start("p");
    let task = t.task();
    let mut request = t.completion(&task, vec![child("c")]);
    request.force_create_new_workflow_task = true;
    request = sticky(request);
    let r: RespondWorkflowTaskCompletedResponse = t.call(M::RespondWorkflowTaskCompleted, &request).unwrap();
    let open = r.workflow_task.expect("a task with the response");
    let of_child = t.task_on("c");
    t.complete(&of_child, vec![done()]);
    assert!(t.shape("p").ends_with("WTScheduled WTStarted"), "{}", t.shape("p"));
    t.check_memory();
    t.restart();
    t.complete(&open, vec![]);
    assert!(t.shape("p").ends_with("WTStarted WTCompleted ChildStarted ChildCompleted WTScheduled"), "{}", t.shape("p"));
}

#[test]
fn a_closing_parent_treats_its_children_by_their_policy() {
    // 0: the default, terminate; 2: abandon; 3: request cancel.
    for (policy, after, open) in
        [(0, "WTScheduled Terminated", false), (2, "WTScheduled", true), (3, "WTScheduled CancelRequested", true)]
    {
        for how in ["completes", "terminated", "times out", "continues"] {
            let mut t = T::new();
            t.start_with("p", |r| r.workflow_run_timeout = dur(50_000)).unwrap();
            let task = t.task();
            t.complete(&task, vec![child_with("c", |a| a.parent_close_policy = policy)]);
            match how {
                "completes" | "continues" => {
                    let task = t.task();
                    t.complete(&task, vec![if how == "completes" { done() } else { continue_as_new(|_| {}) }]);
                }
                "terminated" => {
                    t.terminate("p").unwrap();
                }
                _ => {
                    t.advance(50_000.0);
                }
            }
            assert_eq!(t.shape("c"), format!("Started {after}"), "{policy} {how}");
            assert_eq!(t.status("c") == Status::Running as i32, open, "{policy} {how}");
            if open {
                let task = t.task_on("c");
                t.complete(&task, vec![done()]);
            }
            t.check_memory();
            assert!(t.store.runs.values().all(|s| s.items.is_empty()), "nothing of closed runs is left");
        }
    }
}

#[test]
fn what_a_run_orders_in_the_task_in_which_it_closes_is_not_carried_out() {
    let mut t = T::new();
    t.start("other");
    t.start("p");
    let other = t.task();
    let task = t.task();
    let abandoned = child_with("c", |a| a.parent_close_policy = 2);
    t.complete(&task, vec![abandoned, signal_external("other", "s", false), cancel_external("other", false), done()]);
    assert!(t.shape("p").ends_with("StartChildInitiated SignalExternalInitiated RequestCancelExternalInitiated Completed"));
    assert_eq!(t.describe("c", "").unwrap_err().code, 5);
    t.complete(&other, vec![]);
    assert_eq!(t.shape("other"), "Started WTScheduled WTStarted WTCompleted");
}

#[test]
fn a_child_of_a_child_has_the_same_root() {
    let mut t = T::new();
    let root = t.start("p");
    let task = t.task();
    t.complete(&task, vec![child("c")]);
    let task = t.task_on("c");
    t.complete(&task, vec![child("g")]);
    let info = t.describe("g", "").unwrap().workflow_execution_info.unwrap();
    assert_eq!(info.root_execution, Some(exec("p", &root)));
    assert_eq!(info.parent_execution.unwrap().workflow_id, "c");
    // The end of the grandparent ends them all, generation by generation.
    t.terminate("p").unwrap();
    assert_eq!((t.status("c"), t.status("g")), (Status::Terminated as i32, Status::Terminated as i32));
}

#[test]
fn p1_a_child_and_its_parent_are_committed_together() {
    let mut t = T::new();
    t.start("p");
    let task = t.task();
    t.fail_commits = 1;
    let request = t.completion(&task, vec![child("c")]);
    t.send(M::RespondWorkflowTaskCompleted, &request);
    t.flush();
    assert_eq!(t.store.runs.len(), 1, "neither the command nor the child");
    assert_eq!(t.shape("p"), "Started WTScheduled WTStarted");
    t.complete(&task, vec![child("c")]);
    assert_eq!(t.store.runs.len(), 2);

    // The same at its end.
    let of_child = t.task_on("c");
    t.fail_commits = 1;
    let request = t.completion(&of_child, vec![done()]);
    t.send(M::RespondWorkflowTaskCompleted, &request);
    t.flush();
    assert_eq!(t.shape("c"), "Started WTScheduled WTStarted");
    assert!(!t.shape("p").contains("ChildCompleted"));
    t.complete(&of_child, vec![done()]);
    assert_eq!(t.shape("p").matches("ChildCompleted").count(), 1);
    t.check_memory();
}

#[test]
fn p2_what_cannot_be_loaded_is_done_later_also_after_a_restart() {
    let mut t = T::new();
    with_child(&mut t, 0);
    let of_child = t.task_on("c");
    t.restart();
    t.store.unreadable.insert("p".into());
    // The parent is not in memory, and cannot be read.
    t.complete(&of_child, vec![done()]);
    assert_eq!(t.status("c"), Status::Completed as i32);
    let stored = |t: &T, id: &str| t.store.runs.values().find(|s| s.row.workflow_id == id).unwrap().clone();
    assert!(stored(&t, "c").row.ready, "a closed run with something to tell is found after a restart");
    t.check_memory();
    t.restart();
    t.advance(500.0);
    t.store.unreadable.clear();
    t.advance(2_000.0);
    assert_eq!(t.shape("p").matches("ChildCompleted").count(), 1);
    assert!(!stored(&t, "c").row.ready && stored(&t, "c").items.is_empty());
    t.check_memory();
}

#[test]
fn a_start_waits_for_room_and_a_close_takes_it_back() {
    let mut t = T::with(EngineOptions { max_open_runs: 2, ..Default::default() });
    t.start("p");
    t.start("other");
    let task = t.task();
    t.complete(&task, vec![child("c")]);
    assert_eq!(t.describe("c", "").unwrap_err().code, 5);
    assert_eq!(t.describe("p", "").unwrap().pending_children[0].run_id, "");
    t.restart();
    t.terminate("other").unwrap();
    t.advance(70_000.0);
    assert_eq!(t.status("c"), Status::Running as i32);
    t.check_memory();

    let task = t.task();
    t.complete(&task, vec![child("d")]);
    t.terminate("p").unwrap();
    t.advance(70_000.0);
    assert_eq!(t.describe("d", "").unwrap_err().code, 5, "the parent closed before there was room");
}

#[test]
fn many_starts_that_wait_for_room_are_tried_again_as_soon_as_one() {
    let mut t = T::with(EngineOptions { max_open_runs: 2, ..Default::default() });
    t.start("p");
    t.start("other");
    let task = t.task();
    let names: Vec<String> = (0..20).map(|i| format!("c{i}")).collect();
    t.complete(&task, names.iter().map(|id| child(id)).collect());
    t.terminate("other").unwrap();
    t.advance(1_100.0);
    let open = names.iter().filter(|id| t.describe(id, "").is_ok()).count();
    assert_eq!(open, 1, "there is room for one");
    t.check_memory();
}

#[test]
fn bad_attributes_fail_the_task_in_the_words_of_a_server() {
    let bad = |change: fn(&mut temporalex_core::api::command::v1::StartChildWorkflowExecutionCommandAttributes)| {
        let mut t = T::new();
        t.start("p");
        let task = t.task();
        let e = t.try_complete(&task, vec![child_with("c", change)]).unwrap_err();
        assert_eq!(e.code, 3);
        let h = t.history("p", "");
        let A::WorkflowTaskFailedEventAttributes(f) = attrs(find(&h, E::WorkflowTaskFailed)) else { panic!() };
        assert_eq!(f.cause, 16, "BAD_START_CHILD_EXECUTION_ATTRIBUTES");
        assert_eq!(f.failure.as_ref().unwrap().message, e.message);
        e.message
    };
    let said = bad(|a| a.workflow_id.clear());
    assert_eq!(
        said,
        "BadStartChildExecutionAttributes: Required field WorkflowId is not set on StartChildWorkflowExecutionCommand. WorkflowType=Child Namespace=default"
    );
    assert!(bad(|a| a.workflow_type = None).contains("Required field WorkflowType is not set"));
    assert!(bad(|a| a.namespace = "elsewhere".into()).contains("cross namespace commands are not allowed"));
    assert!(
        bad(|a| a.workflow_id = "x".repeat(1001))
            .contains("WorkflowId on StartChildWorkflowExecutionCommand exceeds limit. Length=1001 Limit=1000")
    );
    assert!(bad(|a| a.workflow_run_timeout = dur(-1)).contains("Invalid WorkflowRunTimeout"));
    assert!(bad(|a| a.retry_policy.get_or_insert_default().maximum_attempts = -1).contains("invalid WorkflowRetryPolicy"));
    assert!(
        bad(|a| a.cron_schedule = "soon".into())
            .contains("invalid CronSchedule on StartChildWorkflowExecutionCommand: invalid CronSchedule \"soon\". ")
    );
}

#[test]
fn cancelling_a_child_in_the_task_that_starts_it_is_refused() {
    let mut t = T::new();
    t.start("p");
    let task = t.task();
    let e = t.try_complete(&task, vec![child("c"), cancel_external("c", true)]).unwrap_err();
    assert!(
        e.message.contains("Start and RequestCancel for child workflow is not allowed in same workflow task"),
        "{}",
        e.message
    );
    assert_eq!(t.describe("c", "").unwrap_err().code, 5, "nothing of a refused task is done");
}
