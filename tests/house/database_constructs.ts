// What the design document of workflows inside a database has, part by part: what it is here, and
// the test that proves it, or why it is not here. `database_constructs.test.ts` holds the tests to
// exist.

export interface Row {
  /** As the document names it. */
  readonly part: string;
  readonly here: string;
  /** [file, the test's name]: of what is here. */
  readonly tests?: readonly (readonly [file: string, name: string])[];
  /** Of what is not here. */
  readonly missing?: string;
}

const select = "tests/cases/select.ts";
const typed = "tests/cases/typed_names.ts";
const game = "tests/cases/game.ts";
const transact = "tests/unit/app/transact.test.ts";
const clock = "tests/unit/engine/clock.test.ts";
const manual = "tests/unit/testing/manual_timers.test.ts";
const carry = "tests/cases/carry.ts";
const procedures = "tests/cases/procedures.ts";
const clientProcedures = "tests/suites/client_procedures.ts";
const belonging = "tests/unit/client/belonging.test.ts";
const world: readonly [string, string] = [
  "tests/unit/app/world_kill9.test.ts",
  "a hundred entities end the day in the same state, however often the process is killed",
];
const broadcasts = "tests/suites/client_broadcasts.ts";
const unknown = "tests/unit/app/unknown_types.test.ts";
const views = "tests/unit/engine/sql_views.test.ts";
const shown = "tests/unit/engine/sql_shown.test.ts";

export const CONSTRUCTS: readonly Row[] = [
  {
    part: "timer!",
    here: "sleep, timer",
    tests: [[
      clock,
      "a workflow's timer fires at its moment and not a millisecond before, also after a restart",
    ], [
      clock,
      "a timer that became due while no engine ran fires at opening",
    ]],
  },
  {
    part: "signal!",
    here: "signals, on, waitForSignal",
    tests: [[
      typed,
      "typed signals are taken by select and receive, with tuple and struct payloads",
    ]],
  },
  {
    part: "select!",
    here: "select",
    tests: [[select, "P9: the earliest event wins however tasks are grouped"], [
      select,
      "of several ready arms at entry the first in source order wins",
    ], [select, "a losing signal is not consumed"]],
  },
  {
    part: "select! gives the value of its arm",
    here: "select",
    tests: [[
      select,
      "a body runs after the losers were canceled, may wait, and its value is the value",
    ]],
  },
  {
    part: "spawn!",
    here: "spawn, executeChild, startChild",
    tests: [[
      "tests/cases/children.ts",
      "executeChild starts a child, waits and returns the result; the options are in the command",
    ]],
  },
  {
    part: "procedure!",
    here: "procedure, procedures",
    tests: [[
      procedures,
      "a procedure is an activity on a separate queue; it wins and loses selects, and replays",
    ]],
  },
  {
    part: "reducer!",
    here: "transact",
    tests: [[
      transact,
      "reducers run in the order of their commands, once, and their results are in history",
    ], [
      transact,
      "an interrupted run continues after the next open, and replay runs no reducer",
    ]],
  },
  {
    part: "subscribe!",
    here: "subscribe, unsubscribe",
    tests: [[
      broadcasts,
      "unsubscribe, the end of a run and continue-as-new: the recipients afterwards",
    ]],
  },
  {
    part: "loop with break and continue",
    here: "loops of the language; carry for those without an end",
    tests: [[game, "buff: stacks refresh the timer, and it expires or is dispelled"], [
      carry,
      "carry: rounds continue in one run, and continue as new when the service suggests it, with arguments and state",
    ]],
  },
  {
    part: "for with spawn!",
    here: "loops of the language",
    tests: [[game, "for and spawn: children one after the other, their results added up"]],
  },
  {
    part: "if and else with timers",
    here: "conditions of the language",
    tests: [[game, "if and else: replay takes the recorded branch"]],
  },
  {
    part: "mutable variables persist",
    here: "all variables, typed or not: replay computes them again",
    tests: [[game, "counter: a loop of timers counts"], world],
  },
  {
    part: "what is inferred before the first await is lost",
    here: "nothing is lost: code is not cut into phases, so such a rule is not needed",
    tests: [[game, "counter: a loop of timers counts"]],
  },
];

export const EXAMPLES: readonly Row[] = [
  {
    part: "buff",
    here: "examples/game/buff.ts",
    tests: [[game, "buff: stacks refresh the timer, and it expires or is dispelled"]],
  },
  {
    part: "patrol",
    here: "examples/game/patrol.ts",
    tests: [[
      game,
      "patrol: walks, waits, is configured, fights, and continues as new automatically",
    ]],
  },
  {
    part: "combat",
    here: "examples/game/combat.ts",
    tests: [
      [
        "tests/unit/app/combat.test.ts",
        "combat: each step changes the tables, and the target dies or flees",
      ],
      [
        "tests/unit/app/combat.test.ts",
        "combat: after a restart in the middle, each step was applied once",
      ],
      [
        transact,
        "reducers run in the order of their commands, once, and their results are in history",
      ],
      world,
    ],
  },
  {
    part: "quest",
    here: "examples/game/quest.ts",
    tests: [[game, "quest: subscribes to its topics, and ends with the first broadcast"]],
  },
  {
    part: "dot",
    here: "examples/game/dot.ts",
    tests: [[game, "dot: ticks until its end, and a cancellation ends it in the middle"]],
  },
  {
    part: "counter",
    here: "examples/game/flow.ts: tickCounter",
    tests: [[game, "counter: a loop of timers counts"]],
  },
  {
    part: "task, for-spawn",
    here: "examples/game/flow.ts: taskList",
    tests: [[game, "for and spawn: children one after the other, their results added up"]],
  },
  {
    part: "condition",
    here: "examples/game/flow.ts: branching",
    tests: [[game, "if and else: replay takes the recorded branch"]],
  },
  {
    part: "compute_damage",
    here: "a procedure",
    tests: [[
      clientProcedures,
      "a procedure is asked for, listed with its arguments, and completed once",
    ]],
  },
];

export const TRAITS: readonly Row[] = [
  {
    part: "Timer::name",
    here: "timers(...).arrival",
    tests: [[typed, "signals and timers are keys in code and snake_case on the wire"]],
  },
  {
    part: "Timer::from_name",
    here: "parseTimer",
    tests: [[typed, "names from the wire are parsed back"]],
  },
  {
    part: "Signal::name",
    here: "signals({...}).threatDetected.name",
    tests: [[typed, "signals and timers are keys in code and snake_case on the wire"]],
  },
  {
    part: "Signal::from_name_and_payload",
    here: "parseSignal",
    tests: [[typed, "names from the wire are parsed back"]],
  },
  {
    part: "unit, tuple and struct variants",
    here: "payload(), payload<[number]>(), payload<[{ ... }]>()",
    tests: [[
      typed,
      "typed signals are taken by select and receive, with tuple and struct payloads",
    ]],
  },
  {
    part: "WorkflowHandler::start",
    here: "the first workflow task of a run",
    tests: [["tests/cases/basics.ts", "a timer, an activity, a result"]],
  },
  {
    part: "WorkflowHandler::handle",
    here: "a later workflow task: an activation for each event",
    tests: [["tests/cases/basics.ts", "a timer, an activity and a result without a cache"]],
  },
  {
    part: "WorkflowHandler::workflow_type",
    here: "the name of workflow(...)",
    tests: [["tests/cases/basics.ts", "a timer, an activity, a result"]],
  },
];

const commands: Row["tests"] = [["tests/cases/basics.ts", "a timer, an activity, a result"]];
export const RESULTS_AND_EVENTS: readonly Row[] = [
  {
    part: "WorkflowResult::Suspend",
    here: "a completed task: START_TIMER, or no command",
    tests: commands,
  },
  {
    part: "WorkflowResult::SpawnChild",
    here: "START_CHILD_WORKFLOW",
    tests: [[
      "tests/cases/children.ts",
      "executeChild starts a child, waits and returns the result; the options are in the command",
    ]],
  },
  {
    part: "WorkflowResult::CallProcedure",
    here: "SCHEDULE_ACTIVITY on the queue of procedures",
    tests: [[
      procedures,
      "a procedure is an activity on a separate queue; it wins and loses selects, and replays",
    ]],
  },
  { part: "WorkflowResult::Complete", here: "COMPLETE_WORKFLOW", tests: commands },
  {
    part: "WorkflowResult::Fail",
    here: "FAIL_WORKFLOW",
    tests: [["tests/cases/basics.ts", "an ApplicationFailure fails the workflow"]],
  },
  { part: "WorkflowEvent::Timer", here: "TimerFired", tests: commands },
  {
    part: "WorkflowEvent::Signal",
    here: "WorkflowExecutionSignaled",
    tests: [["tests/cases/basics.ts", "signals into a receive"]],
  },
  {
    part: "WorkflowEvent::ChildComplete",
    here: "ChildWorkflowExecutionCompleted",
    tests: [[
      "tests/cases/children.ts",
      "executeChild starts a child, waits and returns the result; the options are in the command",
    ]],
  },
  {
    part: "WorkflowEvent::ProcedureComplete",
    here: "ActivityTaskCompleted",
    tests: [[
      procedures,
      "a procedure is an activity on a separate queue; it wins and loses selects, and replays",
    ]],
  },
];

export const TABLES: readonly Row[] = [
  {
    part: "Workflow",
    here: "client.list, describe, the view workflow",
    tests: [[views, "views contain states, timers, procedures and subscriptions while they exist"]],
  },
  {
    part: "WorkflowTimer",
    here: "the view workflow_timer",
    tests: [[views, "views contain states, timers, procedures and subscriptions while they exist"]],
  },
  {
    part: "WorkflowSubscription",
    here: "the view workflow_subscription, the search attribute WorkflowSubscription",
    tests: [
      [views, "views contain states, timers, procedures and subscriptions while they exist"],
      [
        broadcasts,
        "unsubscribe, the end of a run and continue-as-new: the recipients afterwards",
      ],
    ],
  },
  {
    part: "PendingProcedure",
    here: "the view pending_procedure, handle.procedures, describe().pendingProcedures",
    tests: [
      [views, "views contain states, timers, procedures and subscriptions while they exist"],
      [
        clientProcedures,
        "a procedure is asked for, listed with its arguments, and completed once",
      ],
    ],
  },
  {
    part: "LastWorkflowId",
    here: "the handle that start returns, the view last_workflow_id",
    tests: [[views, "views contain states, timers, procedures and subscriptions while they exist"]],
  },
];

const FUNCTIONS: readonly (readonly [file: string, name: string])[] = [[
  "tests/unit/app/functions.test.ts",
  "a function runs in one transaction: rows and messages together; its result after the commit",
]];
const PART_OF: readonly (readonly [file: string, name: string])[] = [[
  "tests/unit/app/transactions.test.ts",
  "broadcasts, procedures and cancellations are part of the transaction",
]];

export const REDUCERS: readonly Row[] = [
  {
    part: "workflow_start",
    here: "client.start; inside a transaction workflows.start",
    tests: [...FUNCTIONS, [
      "tests/unit/engine/host.test.ts",
      "a workflow runs to its end with activities, timers, a signal and an update",
    ]],
  },
  {
    part: "workflow_start_test",
    here:
      'timers: "manual" of a start, an engine or a test environment; temporalex workflow start --timers manual',
    tests: [[manual, "timers fire by name on request in any order, and not when they are due"], [
      manual,
      "the timers of one workflow can be manual: the others fire when they are due",
    ], [
      manual,
      "an application with manual timers keeps them pending over a restart",
    ]],
  },
  {
    part: "workflow_signal",
    here: "handle.signal, temporalex workflow signal; inside a transaction workflows.signal",
    tests: [...FUNCTIONS, [
      "tests/unit/engine/host.test.ts",
      "a workflow runs to its end with activities, timers, a signal and an update",
    ]],
  },
  {
    part: "workflow_broadcast_signal",
    here:
      "client.broadcast; broadcast in workflow code; temporalex workflow broadcast; inside a transaction workflows.broadcast",
    tests: [...PART_OF, [
      broadcasts,
      "a broadcast reaches those with its filter and those without one; without a filter everyone of the signal",
    ], [
      broadcasts,
      "workflow code broadcasts, and gets the number of recipients",
    ], [
      "tests/unit/cli/workflow.test.ts",
      "broadcast: by filter, to all, as JSON, and invalid input",
    ], [
      "tests/unit/engine/broadcast.test.ts",
      "subscribers with a full inbox are reported, and the others receive the signal",
    ], [
      "tests/system/browser/broadcast.test.ts",
      "broadcasts from the leading tab and from a following tab reach the subscribers of both",
    ]],
  },
  {
    part: "workflow_procedure_complete",
    here:
      "client.completeProcedure, handle.completeProcedure; inside a transaction workflows.completeProcedure",
    tests: [...PART_OF, [
      clientProcedures,
      "a procedure is asked for, listed with its arguments, and completed once",
    ]],
  },
  {
    part: "workflow_cancel",
    here: "handle.cancel; inside a transaction workflows.cancel",
    tests: [...PART_OF, [
      "tests/suites/client_calls.ts",
      "results: continue-as-new, failure, cancellation, termination, timeout",
    ]],
  },
  {
    part: "workflow_timer_fire",
    here: "the engine's own, in the commit of the timer's event",
    tests: [[
      "tests/unit/engine/failing_commits.test.ts",
      "a timer whose commits fail fires when they succeed, and the engine does not spin meanwhile",
    ]],
  },
  {
    part: "debug_fire_timer",
    here:
      "fireTimer of an environment, an engine and an application; temporalex workflow fire-timer; a button in Runs and Live",
    tests: [
      [
        "tests/unit/cli/fire_timer.test.ts",
        "timers fire by name and in order in the process that has the store open; a missing timer is reported",
      ],
      [manual, "of several open timers with one name the oldest fires; ids are also names"],
      [
        manual,
        "firing a missing timer rejects with the reason and the open timers",
      ],
    ],
  },
  {
    part: "debug_send_signal",
    here: "handle.signal: it never asks for subscriptions",
    tests: [[manual, "timers fire by name on request in any order, and not when they are due"]],
  },
  {
    part: "install!",
    here: "open({ workflows, reducers, migrations })",
    tests: [[transact, "migrations run in order, and an applied migration must not change"]],
  },
  {
    part: "lazy registration",
    here:
      "modules are known from their loading on, at the opening and by worker.replaceWorkflows; runs without code wait",
    tests: [[
      unknown,
      "a run of an unknown type waits and is reported; it continues when the application is opened with its code",
    ], [
      unknown,
      "reloading a module resumes runs whose code is back; runs without code keep waiting",
    ]],
  },
];

export const STATES_AND_GROUPS: readonly Row[] = [
  {
    part: "CREATED, RUNNING, SUSPENDED",
    here: "status of the view workflow",
    tests: [[views, "views contain states, timers, procedures and subscriptions while they exist"]],
  },
  ...["COMPLETED", "FAILED", "CANCELLED"].map((part): Row => ({
    part,
    here: `the status of a closed run`,
    tests: [[
      "tests/suites/client_calls.ts",
      "results: continue-as-new, failure, cancellation, termination, timeout",
    ]],
  })),
  {
    part: "entity_id",
    here: "entityId of start, client.workflows({ entityId })",
    tests: [[
      belonging,
      "entity and correlation find workflows, over continue-as-new, and cancel reaches a whole group",
    ]],
  },
  {
    part: "correlation_id, cancel all of one spell",
    here: "correlationId of start, client.workflows({ correlationId }).cancel()",
    tests: [[
      belonging,
      "entity and correlation find workflows, over continue-as-new, and cancel reaches a whole group",
    ]],
  },
  {
    part: "SELECT * FROM workflow WHERE entity_id = 42",
    here: "verbatim",
    tests: [[views, "the statements of the document return what it states"]],
  },
  {
    part: "phase, state_data",
    here: "columns phase and state of the view workflow",
    tests: [[
      shown,
      "phase is the number of awaits that a run has passed, state is its last published value as JSON",
    ]],
  },
];

const story = "web-demo/e2e/database.spec.ts";
const raid: readonly [string, string] = [
  story,
  "a raid shows reducers, procedure, subscriptions, broadcast, named timers, children and state with name, line and value",
];
const watch: readonly [string, string] = [
  story,
  "a watch in rounds shows the values that it passes to the next round and to the next run",
];
const sessions = "tests/unit/debug/database.test.ts";
const commandsOfSessions: readonly [string, string] = [
  sessions,
  "commands show their request and the event that they became",
];

/** What the debugger shows by its name, with its line and its values. */
export const IN_THE_DEBUGGER: readonly Row[] = [
  {
    part: "transact, awaited, not awaited, required",
    here: "transact strike 7, 30 → ...",
    tests: [raid, commandsOfSessions],
  },
  {
    part: "a procedure",
    here: "procedure compute_damage 7, 12 → 30",
    tests: [raid, commandsOfSessions],
  },
  {
    part: "subscribe, unsubscribe",
    here: "subscribe enemy_killed:orc",
    tests: [raid, commandsOfSessions],
  },
  { part: "broadcast", here: 'broadcast stand_down:elf("ada")', tests: [raid, commandsOfSessions] },
  {
    part: "a timer by its name",
    here: "timer muster 1 min 30 s",
    tests: [raid, [sessions, "event lines show timers and reducers by name, also at their end"], [
      sessions,
      "a redacted history contains no summaries of timers, and replays",
    ]],
  },
  { part: "a signal by its typed name", here: "threat_detected", tests: [raid] },
  {
    part: "carry",
    here: "continues as new, at the line of its carry; the state of a round at the line before",
    tests: [watch],
  },
  { part: "spawn and children", here: "Scout, with arguments and result", tests: [raid] },
  {
    part: "phase and state",
    here: "the published state and the phase next to the code",
    tests: [raid, [sessions, "the phase counts the passed awaits, as in SQL"]],
  },
];
