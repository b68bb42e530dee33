//! What must hold at the end of a random life: in each run, between runs, and of all that was acknowledged.
use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::boundary::EngineOptions;
use temporalex_core::engine::Engine;

use super::sim::Sim;
use crate::support::*;

impl Sim {
    /// Any record can be read back to the very same bytes.
    pub fn check_codec(&self) {
        for (id, s) in &self.t.store.runs {
            let record = self.t.store.record(id);
            let options = EngineOptions { in_flight_lost: false, seed: seed(78), ..self.t.options.clone() };
            let mut engine = Engine::new(options).unwrap();
            engine.load(record.clone(), self.t.now);
            let mut back = engine.record_of(&s.row.workflow_id, id).expect("a loaded run");
            // A new engine has seen no sticky worker: it gives the task to the normal queue, with no deadline.
            let row = back.row.as_mut().unwrap();
            if row.wake_at_ms != s.row.wake_at_ms {
                assert!(row.ready && (row.wake_at_ms == 0.0 || row.wake_at_ms > s.row.wake_at_ms), "wake of {id}");
                row.wake_at_ms = s.row.wake_at_ms;
            }
            same_record(id, &back, &record);
        }
    }

    /// Between runs: what one says of another is true of it, once.
    pub fn check_between_runs(&self) {
        let store = &self.t.store;
        // Attributes of all events, those included that wait behind a started task.
        let all = |s: &Stored| {
            let buffered = s.items.iter().filter(|((kind, _), _)| *kind == 4).map(|(_, bytes)| {
                let b = Buffered::decode(bytes.as_slice()).unwrap();
                (0, buffered_attrs(b.kind, &b.attrs))
            });
            let written = s.events().into_iter().map(|e| (e.event_id, e.attributes));
            written.chain(buffered).filter_map(|(id, a)| a.map(|a| (id, a))).collect::<Vec<_>>()
        };
        let mut received: BTreeMap<String, u32> = BTreeMap::new();
        for s in store.runs.values() {
            assert!(s.items.keys().all(|(kind, _)| *kind != 9), "every order is carried out in the end");
            for (_, a) in all(s) {
                if let A::WorkflowExecutionSignaledEventAttributes(x) = a {
                    *received.entry(x.signal_name).or_default() += 1;
                }
            }
        }
        let closed = |s: &Stored| s.row.close_time_ms > 0.0;
        for (run_id, s) in &store.runs {
            let events = all(s);
            let mut names = BTreeMap::new();
            let mut children: BTreeMap<i64, Option<String>> = BTreeMap::new();
            for (id, a) in &events {
                match a {
                    A::SignalExternalWorkflowExecutionInitiatedEventAttributes(x) => {
                        names.insert(*id, x.signal_name.clone());
                    }
                    A::ExternalWorkflowExecutionSignaledEventAttributes(x) => {
                        assert_eq!(received.get(&names[&x.initiated_event_id]), Some(&1), "signalled once");
                    }
                    A::SignalExternalWorkflowExecutionFailedEventAttributes(x) => {
                        assert_eq!(received.get(&names[&x.initiated_event_id]), None, "a signal that failed is nowhere");
                    }
                    A::StartChildWorkflowExecutionInitiatedEventAttributes(_) => {
                        children.insert(*id, None);
                    }
                    A::StartChildWorkflowExecutionFailedEventAttributes(x) => {
                        children.remove(&x.initiated_event_id);
                    }
                    A::ChildWorkflowExecutionStartedEventAttributes(x) => {
                        let child = x.workflow_execution.as_ref().unwrap().run_id.clone();
                        let of = store.runs[&child].events();
                        let A::WorkflowExecutionStartedEventAttributes(first) = attrs(&of[0]) else { panic!() };
                        assert_eq!(first.parent_workflow_execution, Some(exec(&s.row.workflow_id, run_id)));
                        assert_eq!(first.parent_initiated_event_id, x.initiated_event_id);
                        children.insert(x.initiated_event_id, Some(child));
                    }
                    a => {
                        if let Some((initiated, child)) = child_end(a) {
                            assert!(children.remove(&initiated).is_some(), "a child ends once");
                            assert!(closed(&store.runs[&child]), "a child whose end was reported is closed");
                        }
                    }
                }
            }
            // Children whose end was not reported are open, and known to the state of an open parent.
            if !closed(s) {
                let pending: BTreeSet<i64> =
                    s.items.keys().filter(|(kind, _)| *kind == 8).map(|(_, id)| id.parse().unwrap()).collect();
                assert_eq!(pending, children.keys().copied().collect(), "pending children of {run_id}");
                for child in children.values() {
                    let first = child.as_ref().expect("a child with no answer");
                    let open = store.runs.values().any(|c| c.row.first_run_id == *first && !closed(c));
                    assert!(open, "child {first} has ended and its parent does not know");
                }
            } else {
                assert!(s.items.keys().all(|(kind, _)| *kind != 8), "a closed run has no pending children");
            }
        }
        // Parents that closed have treated their children by the policy.
        for s in store.runs.values().filter(|s| !closed(s)) {
            let of = s.events();
            let A::WorkflowExecutionStartedEventAttributes(first) = attrs(&of[0]) else { panic!() };
            let Some(parent) = &first.parent_workflow_execution else { continue };
            let parent = &store.runs[&parent.run_id];
            if closed(parent) {
                let initiated = parent.events()[first.parent_initiated_event_id as usize - 1].clone();
                let A::StartChildWorkflowExecutionInitiatedEventAttributes(i) = attrs(&initiated) else { panic!() };
                assert_ne!(i.parent_close_policy, 1, "an open child whose parent has closed");
            }
        }
    }

    pub fn finish(&mut self) {
        self.flush();
        self.t.store.unreadable.clear();
        self.crash(false);
        self.flush();
        self.check_between_runs();
        self.flush();
        self.check_codec();
        self.t.check_histories();
        let mut signals: BTreeMap<String, u32> = BTreeMap::new();
        let mut markers: BTreeMap<String, u32> = BTreeMap::new();
        let mut results: BTreeMap<String, u32> = BTreeMap::new();
        let mut accepted: BTreeSet<(String, String)> = BTreeSet::new();
        for (run, s) in &self.t.store.runs {
            let mut again: BTreeSet<String> = BTreeSet::new();
            let buffered = s.items.iter().filter(|((kind, _), _)| *kind == 4).map(|(_, v)| v.clone());
            for bytes in buffered {
                // Signals that wait behind a started task are not in history yet.
                let text = String::from_utf8_lossy(&bytes).to_string();
                for name in self.acked_signals.iter().filter(|n| text.contains(n.as_str())) {
                    let exact = bytes
                        .windows(name.len() + 2)
                        .any(|w| w[0] == 10 && w[1] as usize == name.len() && &w[2..] == name.as_bytes());
                    if exact {
                        *signals.entry(name.clone()).or_default() += 1;
                    }
                }
                for result in self.acked_results.iter().filter(|n| text.contains(n.as_str())) {
                    *results.entry(result.clone()).or_default() += 1;
                }
            }
            for e in s.events() {
                match attrs(&e) {
                    A::WorkflowExecutionSignaledEventAttributes(x) => {
                        if x.signal_name.starts_with("again") {
                            assert!(again.insert(x.signal_name.clone()), "one request id, delivered twice to {run}");
                        }
                        *signals.entry(x.signal_name.clone()).or_default() += 1;
                    }
                    A::MarkerRecordedEventAttributes(x) => *markers.entry(x.marker_name.clone()).or_default() += 1,
                    A::ActivityTaskCompletedEventAttributes(x) => {
                        if let Some(p) = &x.result {
                            *results.entry(String::from_utf8_lossy(&p.payloads[0].data).into()).or_default() += 1;
                        }
                    }
                    A::WorkflowExecutionUpdateAcceptedEventAttributes(x) => {
                        accepted.insert((run.clone(), x.protocol_instance_id.clone()));
                    }
                    _ => {}
                }
            }
        }
        for name in &self.acked_signals {
            let n = signals.get(name).copied().unwrap_or(0);
            assert!(n >= 1, "acknowledged signal {name} is lost");
            assert!(n == 1 || name.starts_with("again"), "signal {name} is there {n} times");
        }
        for name in &self.dead_signals {
            assert!(!signals.contains_key(name) || self.acked_signals.contains(name), "signal {name} was never acknowledged");
        }
        for name in &self.acked_markers {
            assert_eq!(markers.get(name), Some(&1), "marker {name} of an acknowledged completion");
        }
        for name in &self.dead_markers {
            assert!(!markers.contains_key(name), "marker {name} of a completion that failed");
        }
        for (name, n) in &results {
            assert!(*n == 1, "result {name} is there {n} times");
            assert!(!self.dead_results.contains(name), "result {name} was refused");
        }
        for name in &self.acked_results {
            assert!(results.contains_key(name), "acknowledged result {name} is lost");
        }
        for pair in &self.accepted {
            assert!(accepted.contains(pair), "accepted update {pair:?} is lost");
        }
    }
}

/// A buffered event as the store has it.
#[derive(Clone, PartialEq, prost::Message)]
struct Buffered {
    #[prost(int32, tag = "2")]
    kind: i32,
    #[prost(bytes = "vec", tag = "3")]
    attrs: Vec<u8>,
}

fn buffered_attrs(kind: i32, bytes: &[u8]) -> Option<A> {
    macro_rules! read {
        ($($kind:ident => $attrs:ident),*) => {
            match E::try_from(kind).ok()? {
                $(E::$kind => Some(A::$attrs(Message::decode(bytes).unwrap())),)*
                _ => None,
            }
        };
    }
    read! {
        WorkflowExecutionSignaled => WorkflowExecutionSignaledEventAttributes,
        StartChildWorkflowExecutionFailed => StartChildWorkflowExecutionFailedEventAttributes,
        ChildWorkflowExecutionStarted => ChildWorkflowExecutionStartedEventAttributes,
        ChildWorkflowExecutionCompleted => ChildWorkflowExecutionCompletedEventAttributes,
        ChildWorkflowExecutionFailed => ChildWorkflowExecutionFailedEventAttributes,
        ChildWorkflowExecutionCanceled => ChildWorkflowExecutionCanceledEventAttributes,
        ChildWorkflowExecutionTimedOut => ChildWorkflowExecutionTimedOutEventAttributes,
        ChildWorkflowExecutionTerminated => ChildWorkflowExecutionTerminatedEventAttributes,
        ExternalWorkflowExecutionSignaled => ExternalWorkflowExecutionSignaledEventAttributes,
        SignalExternalWorkflowExecutionFailed => SignalExternalWorkflowExecutionFailedEventAttributes
    }
}

/// Of an event that ends a child: its Initiated event, and the run that ended.
fn child_end(a: &A) -> Option<(i64, String)> {
    let (initiated, execution) = match a {
        A::ChildWorkflowExecutionCompletedEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        A::ChildWorkflowExecutionFailedEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        A::ChildWorkflowExecutionCanceledEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        A::ChildWorkflowExecutionTimedOutEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        A::ChildWorkflowExecutionTerminatedEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        _ => return None,
    };
    Some((initiated, execution.as_ref().unwrap().run_id.clone()))
}
