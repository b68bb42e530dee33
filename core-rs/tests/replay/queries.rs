//! Queries (docs/dev/semantics/activations.md#queries-stand-alone). Tasks that arrive while a run
//! is busy wait in the worker; here queries come one after the other.
use std::collections::BTreeMap;

use crate::support::history::{failure, json};
use crate::support::run_test::{Task, query};
use crate::support::session::Session;
use crate::support::{Calls, Cmd, HistoryBuilder, Lang, Reply, RunTest, Script, act, timer};
use prost::Message as _;
use temporalex_core::api::enums::v1::{QueryResultType, WorkflowTaskFailedCause};
use temporalex_core::api::workflowservice::v1::PollWorkflowTaskQueueResponse;
use temporalex_core::boundary::{Activation, ErrorKind, EvictionReason, QueryWorkflow, query_result};

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) Completed(10)
fn one_timer() -> HistoryBuilder {
    start().timer_started("1").timer_fired("1").w().wf_completed()
}

fn program() -> Script {
    Script::new([vec![timer()], vec![Cmd::Complete]])
}

/// A task with nothing but a query for a run that has handled all tasks up to `previous_started`.
fn query_task(test: &RunTest, previous_started: i64, history_to: i64) -> PollWorkflowTaskQueueResponse {
    let task = Task { from: 1, started: history_to, previous_started };
    let mut poll = test.poll(1, task);
    poll.started_event_id = 0;
    poll.query = Some(query("state"));
    poll.messages.clear();
    poll
}

fn first_task(test: &RunTest) -> Session {
    let mut session = test.session();
    let end = session.task(&test.poll(1, test.tasks()[0]));
    assert_eq!(end.commands(), "StartTimer 1");
    session
}

fn check_answer(session: &Session) {
    let answer = session.end().query();
    assert_eq!(answer.completed_type(), QueryResultType::Answered);
    let payloads = answer.query_result.as_ref().map(|p| p.payloads.clone());
    assert_eq!(payloads, Some(vec![json("\"state value\"")]));
    assert_eq!((session.end().evict, session.end().error.as_ref()), (false, None));
    assert_eq!(answer.namespace, "ns");
}

#[test]
fn legacy_query_sticky() {
    let test = RunTest::new(&one_timer(), program());
    let mut session = first_task(&test);
    session.task(&query_task(&test, 3, 0));
    assert_eq!(session.shown(), "{Init} {Query legacy_query}");
    check_answer(&session);
    let asked = &session.activations[1];
    assert!(asked.query_only && asked.is_replaying);
    assert_eq!(session.end().query().task_token, b"task 0");
}

#[test]
fn legacy_query_with_full_history() {
    let test = RunTest::new(&one_timer(), program());
    let mut session = test.session();
    session.task(&query_task(&test, 3, 5));
    assert_eq!(session.shown(), "{Init} {Query legacy_query}");
    check_answer(&session);

    // The run continues from there with its next task.
    let next = test.tasks()[1];
    let end = session.task(&test.poll(next.from, next));
    assert_eq!(end.commands(), "CompleteWorkflowExecution");
    assert_eq!(session.shown(), "{Init} {Query legacy_query} {Fire 1}");
}

/// The history that is fetched for a query may continue with events of a task that has not completed: they belong to that
/// task.
#[test]
fn query_in_front_of_an_open_task() {
    let test = RunTest::new(&one_timer(), program());
    let next = test.tasks()[1];
    for to in [6, 7, 8] {
        for from in [next.from, 1] {
            let mut session = test.session();
            session.task(&query_task(&test, 3, to));
            assert_eq!(session.shown(), "{Init} {Query legacy_query}", "history to {to}");
            check_answer(&session);
            let end = session.task(&test.poll(from, next));
            assert_eq!(end.commands(), "CompleteWorkflowExecution", "history to {to}");
            assert_eq!(session.shown(), "{Init} {Query legacy_query} {Fire 1}");
        }
    }
}

/// The same with an update in the open task, which comes as a message.
#[test]
fn query_in_front_of_an_update() {
    let history = start().timer_started("1").w_open();
    let test = RunTest::new(&history, program());
    let next = test.tasks()[1];
    let mut session = test.session();
    session.task(&query_task(&test, 3, 7));
    assert_eq!(session.shown(), "{Init} {Query legacy_query}");
    let mut poll = test.poll(next.from, next);
    poll.queries = BTreeMap::from([("q1".to_string(), query("a"))]);
    let end = session.task(&poll);
    assert_eq!(session.shown(), "{Init} {Query legacy_query} {Query q1}");
    assert_eq!(end.completed().query_results.len(), 1);
}

#[test]
fn legacy_query_after_completion() {
    let test = RunTest::new(&one_timer(), program());
    let mut session = test.session();
    session.task(&query_task(&test, 8, 10));
    assert_eq!(session.shown(), "{Init} {Fire 1} {Query legacy_query}");
    check_answer(&session);
}

#[test]
fn nondeterminism_during_legacy_query() {
    let test = RunTest::new(&one_timer(), Script::new([vec![act()], vec![Cmd::Complete]]));
    let mut session = test.session();
    session.task(&query_task(&test, 8, 10));
    let answer = session.end().query();
    assert_eq!(answer.completed_type(), QueryResultType::Failed);
    assert_eq!(answer.cause(), WorkflowTaskFailedCause::NonDeterministicError);
    let text = "[TMPRL1100] Nondeterminism error: Activity machine does not handle this event: HistoryEvent(id: 5, TimerStarted)";
    assert_eq!(answer.error_message, text);
    assert_eq!((session.end().evict, session.end().eviction_reason), (true, EvictionReason::Nondeterminism));
}

/// S W(2-4) TmrS(5) TmrF(6) w(7-8) with two queries in the task.
#[test]
fn query_map() {
    let test = RunTest::new(&one_timer(), program());
    for cold in [false, true] {
        let mut session = if cold { test.session() } else { first_task(&test) };
        let task = test.tasks()[1];
        let mut poll = test.poll(if cold { 1 } else { task.from }, task);
        poll.queries = BTreeMap::from([("q1".to_string(), query("a")), ("q2".to_string(), query("b"))]);
        let end = session.task(&poll);
        assert_eq!(session.shown(), "{Init} {Fire 1} {Query q1, Query q2}");
        assert_eq!(end.commands(), "CompleteWorkflowExecution");
        let results = &end.completed().query_results;
        assert_eq!(results.keys().collect::<Vec<_>>(), ["q1", "q2"]);
        assert_eq!(results["q1"].result_type(), QueryResultType::Answered);
        assert_eq!(results["q1"].answer.as_ref().map(|p| p.payloads.clone()), Some(vec![json("\"a value\"")]));
        assert_eq!(results["q2"].answer.as_ref().map(|p| p.payloads.clone()), Some(vec![json("\"b value\"")]));
    }
}

/// A task with queries that brings no job: S W(2-4) TmrS(5) w(6-7)
#[test]
fn query_map_without_jobs() {
    let history = start().timer_started("1").w_open();
    let test = RunTest::new(&history, program());
    let mut session = first_task(&test);
    let task = test.tasks()[1];
    let mut poll = test.poll(task.from, task);
    poll.queries = BTreeMap::from([("q1".to_string(), query("a"))]);
    let end = session.task(&poll);
    assert_eq!(session.shown(), "{Init} {Query q1}");
    assert_eq!((end.commands().as_str(), end.completed().query_results.len()), ("", 1));
}

#[test]
fn query_expired() {
    let history = start().timer_started("1").timer_fired("1").w().timer_started("2");
    let test = RunTest::new(&history, Script::new([vec![timer()], vec![timer()]]));
    let mut session = first_task(&test);
    let next = test.tasks()[1];
    assert_eq!(session.task(&test.poll(next.from, next)).commands(), "StartTimer 2");
    // It asks about the state after event 3; the run is beyond that.
    session.task(&query_task(&test, 3, 0));
    let end = session.end();
    assert_eq!(end.query().completed_type(), QueryResultType::Failed);
    assert!(end.query().error_message.contains("Query expired"), "{}", end.query().error_message);
    assert!(session.shown().ends_with("{Fire 1}"), "the program is not asked: {}", session.shown());
}

#[test]
fn is_replaying_on_query_activations() {
    let test = RunTest::new(&one_timer(), program());
    let mut session = first_task(&test);
    session.task(&query_task(&test, 3, 0));
    let next = test.tasks()[1];
    session.task(&test.poll(next.from, next));
    let replaying: Vec<bool> = session.activations.iter().map(|a| a.is_replaying).collect();
    assert_eq!(replaying, [false, true, false]);
}

#[test]
fn several_queries() {
    let test = RunTest::new(&one_timer(), program());
    let mut session = first_task(&test);
    for _ in 0..3 {
        session.task(&query_task(&test, 3, 0));
        check_answer(&session);
    }
    assert_eq!(session.shown(), "{Init} {Query legacy_query} {Query legacy_query} {Query legacy_query}");
}

#[derive(Clone)]
struct Refuses(Script);

impl Lang for Refuses {
    fn activate(&mut self, activation: &Activation, calls: &mut Calls) -> Reply {
        self.0.activate(activation, calls)
    }

    fn query(&mut self, _: &QueryWorkflow) -> query_result::Result {
        query_result::Result::Failed(failure("Unknown query state").encode_to_vec())
    }
}

#[test]
fn query_that_fails() {
    let test = RunTest::new(&one_timer(), Refuses(program()));
    let mut session = first_task(&test);
    session.task(&query_task(&test, 3, 0));
    let answer = session.end().query();
    assert_eq!(answer.completed_type(), QueryResultType::Failed);
    assert_eq!(
        (answer.error_message.as_str(), answer.failure.clone()),
        ("Unknown query state", Some(failure("Unknown query state")))
    );
    assert!(!session.end().evict, "a query that fails does no harm to the run");

    let next = test.tasks()[1];
    let mut poll = test.poll(next.from, next);
    poll.queries = BTreeMap::from([("q1".to_string(), query("a"))]);
    let end = session.task(&poll);
    assert_eq!(end.commands(), "CompleteWorkflowExecution");
    let result = &end.completed().query_results["q1"];
    assert_eq!((result.result_type(), result.error_message.as_str()), (QueryResultType::Failed, "Unknown query state"));
}

/// Both kinds of query in one task, and a task with neither history nor a query.
#[test]
fn bad_query_tasks_are_refused() {
    let test = RunTest::new(&one_timer(), program());
    let mut session = first_task(&test);
    let mut poll = query_task(&test, 3, 0);
    poll.queries = BTreeMap::from([("q1".to_string(), query("a"))]);
    let end = session.task(&poll);
    assert_eq!(end.error.as_ref().map(|e| e.kind()), Some(ErrorKind::Fatal), "{:?}", end.error);

    let mut session = test.session();
    let mut poll = query_task(&test, 3, 0);
    poll.query = None;
    let end = session.task(&poll);
    assert!(end.error.is_some());
}
