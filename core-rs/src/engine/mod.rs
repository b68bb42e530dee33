//! The server's side: the embedded engine's state machine. Requests, ticks and loads go in; writes, replies and loads come out of
//! [`Engine::flush`]. Pure and synchronous: time is an argument, randomness comes from the seed, storage is the host's.
//!
//! # What the host does
//! 1. Feed any number of `request`, `tick`, `cancel_request`, `expire_request`.
//! 2. `flush()`. If it has `loads`, answer each with `load(record)` (`found: false` where the store has nothing; the next time of a
//!    cron schedule where `cron` asks for it) and flush again; a flush with loads holds nothing else. If it has `transacts`, open the transaction of the commit, run the reducers of each task
//!    under a savepoint and pass their results to `transacted(outcome)`: if it returns false, roll back their writes. Nothing else
//!    may enter in between. Then flush again.
//! 3. Commit `writes` in one transaction, in that of the reducers if there were any. On success call `committed()`, then act on `replies`. On failure call `aborted()`: the
//!    runs of the batch are forgotten, its replies are never sent (the host gives those callers an error), and the next flush asks
//!    to load what must continue. A flush with nothing to write is committed all the same.
//!    After the commit make `nexus_calls` too, and enter what each came to.
//! 4. Splices name stored events; a range may begin and end inside a stored batch (pages), so the host cuts at event borders.
//! 5. Sleep until `next_wake_ms` or the store's own earliest `wake_at_ms`, whichever is earlier; then `tick(now)`.
//!
//! # Transactions of the host
//! Between two batches the host may open the transaction of the next commit and run code of the application in it. Messages of that
//! code are tried at once (`begin_trial`, `try_request`), and enter (`request`, `entered`) when the code has ended (`trial.rs`).
//!
//! # Runs that are not in memory
//! The store keeps for each run `row.ready` and `row.wake_at_ms`. At start the host loads every open row that is ready or due. Later,
//! on waking: `tick`, flush and commit, then `load` every open row whose `wake_at_ms` has passed (a row in memory is never among
//! them, because its commit moved the moment), `tick` again, flush and commit. Idle runs beyond `max_cached_runs` are forgotten
//! after a commit; requests and due moments bring them back in the same way.
//!
//! # Promises
//! Nothing is observable before its commit. Within a run time never moves back, and no deadline is early. A task token is good for
//! one hand-out. Bytes from outside never panic and never enter a history undecodable.
//!
//! # Its files, from the ground up; none imports one that imports it
//! - values: `time`, `rng`, `limits`, `rpc` (errors), `codec` and `message` (protobuf by field names), `messages`, `tokens`, `payloads`,
//!   `search_attributes`, `retry` (policies), `links`
//! - state: `state`, `rates`, `throttle`, `backlog`, `queues`, `cron`, `event`, `context` (clock, randomness, outputs), `persist` (to and from the store)
//! - history: `history`, `task_events`, `buffer`, `task_history` (what goes with a task), `history_readers`
//! - steps on one run: `routing` (with `fingerprint`), `versioning`, `workflow_task`, `activity`, `eager`, `timers`, `nexus`, `callbacks`, `children`, `externals`, `orders`, `queries`, `updates`, `new_run`,
//!   `reset` (with `reset_points`), `start`, `attach`, `close`, `deadlines`, `task_response`; `commands` (one file per kind of command)
//! - all runs: `machine` (the engine's parts), `cron_times`, `runs`, `steps`, `parking`, `forgetting`, `carry_out` (orders), `trial` (transactions),
//!   `dispatch` (tasks to polls), `batches`, `waits`; `requests` (one file per method), `loading`
//! - `api`: what the host calls
mod activity;
mod api;
mod attach;
mod backlog;
mod batches;
mod buffer;
mod callbacks;
mod carry_out;
mod children;
mod close;
mod codec;
mod commands;
mod context;
mod cron;
mod cron_times;
mod deadlines;
mod dispatch;
mod eager;
mod event;
mod externals;
mod fingerprint;
mod forgetting;
mod history;
mod history_readers;
mod limits;
mod links;
mod loading;
mod machine;
mod message;
mod messages;
mod new_run;
mod nexus;
mod orders;
mod parking;
mod payloads;
mod persist;
mod queries;
mod queues;
mod rates;
mod requests;
mod reset;
mod reset_points;
mod reset_reapply;
mod retry;
mod rng;
mod routing;
mod rpc;
mod runs;
mod search_attributes;
mod start;
mod state;
mod steps;
mod task_events;
mod task_history;
mod task_response;
mod throttle;
mod time;
mod timers;
mod tokens;
mod trial;
mod updates;
mod versioning;
mod waits;
mod workflow_task;

pub use machine::Engine;
