import { command, type Group } from "../../frame/command.ts";
import {
  broadcastOptions,
  countOptions,
  describeOptions,
  end,
  failedExits,
  fireTimerOptions,
  listOptions,
  metadata,
  procedureComplete,
  procedureFail,
  procedureList,
  queryOptions,
  release,
  remove,
  reset,
  result,
  showOptions,
  signalOptions,
  stack,
  start,
  updateOptions,
  updateResult,
  updateStart,
  updateWithStartOptions,
} from "./options.ts";

export const workflow: Group = {
  summary: "start workflows, talk to them, look at them",
  description:
    `Commands for workflows in a store file of this machine (--store; default ./temporalex.sqlite) or on a Temporal cluster (--address).
While a process has the store open, its commands reach it through a socket next to the file; without such a process the store is opened briefly. Queries and updates need a process with a worker.`,
  commands: {
    start: command({
      summary: "start a workflow",
      description:
        "Starts a workflow and returns when the start is recorded. Any worker of its task queue runs it, now or later.",
      options: start,
      examples: [
        { line: `temporalex workflow start --type Cart --workflow-id cart-42 --input '"ada"'` },
        {
          line:
            'temporalex workflow start --type Report -i 2026 -i \'{"format": "pdf"}\' --store shop.sqlite',
          what: "two arguments",
        },
        {
          line: "temporalex workflow start --type Cart --task-queue shop --address localhost:7233",
          what: "on a Temporal cluster",
        },
      ],
      run: async (call) => (await import("./start.ts")).startCommand(call),
    }),
    execute: command({
      summary: "start a workflow and wait for its result",
      description: "Like start, followed by result. Ctrl-C stops waiting; the workflow continues.",
      options: start,
      exits: failedExits,
      examples: [{
        line: `temporalex workflow execute --type Cart --workflow-id cart-42 --input '"ada"'`,
      }],
      run: async (call) => (await import("./start.ts")).executeCommand(call),
    }),
    signal: command({
      summary: "send a signal",
      description:
        "Sends a signal to a workflow, or to all open workflows that a query selects. Returns when it is recorded.",
      options: signalOptions,
      examples: [
        { line: "temporalex workflow signal -w cart-42 --name checkout" },
        {
          line:
            `temporalex workflow signal --query 'WorkflowType = "Cart"' --yes --name remind -i '{"days": 3}'`,
        },
      ],
      run: async (call) => (await import("./messages.ts")).signalCommand(call),
    }),
    broadcast: command({
      summary: "send a signal to all workflows that have subscribed to it",
      description:
        "Sends a signal to all open workflows that have subscribed to it: with --filter to those with the same filter and those without one. Shows how many were reached; where some did not take it, exit status 1 and who they are.",
      options: broadcastOptions,
      notes:
        "A store reaches exactly those that had subscribed, in one transaction. On a cluster they are listed by the search attribute WorkflowSubscription, some time after they subscribed, and signalled one by one.",
      examples: [
        {
          line:
            `temporalex workflow broadcast --signal enemy_killed --filter '"orc"' --input '"orc"'`,
        },
        { line: "temporalex workflow broadcast --signal item_collected --filter 8 -i 8 --json" },
      ],
      run: async (call) => (await import("./broadcast.ts")).broadcastCommand(call),
    }),
    update: {
      summary: "send an update and print its result",
      fallback: "execute",
      commands: {
        execute: command({
          summary: "send an update and wait for its result",
          description:
            "Sends an update and waits for its result. With the id of an update that was already sent, it waits for that one.",
          options: updateOptions,
          examples: [
            { line: `temporalex workflow update -w cart-42 --name add_item --input '"BOOK-1"'` },
            {
              line:
                `temporalex workflow update execute -w cart-42 --name add_item -i '"BOOK-1"' --update-id add-1`,
            },
          ],
          run: async (call) => (await import("./messages.ts")).updateCommand(call),
        }),
        start: command({
          summary: "send an update and wait until it is accepted",
          options: updateStart,
          examples: [{
            line:
              `temporalex workflow update start -w cart-42 --name add_item -i '"BOOK-1"' --update-id add-1`,
          }],
          run: async (call) => (await import("./messages.ts")).updateStartCommand(call),
        }),
        result: command({
          summary: "wait for the result of an update that was already sent",
          options: updateResult,
          examples: [{ line: "temporalex workflow update result -w cart-42 --update-id add-1" }],
          run: async (call) => (await import("./messages.ts")).updateResultCommand(call),
        }),
      },
    },
    "fire-timer": command({
      summary: "fire a timer by hand",
      description:
        'Fires a timer now, of a workflow that was started with timers that fire by hand (workflow start --timers manual), or of an engine where all do: one that was opened with timers: "manual", or temporalex dev --timers manual. For all other workflows it is refused, and by every cluster.',
      options: fireTimerOptions,
      examples: [
        { line: "temporalex workflow start --type buff -w buff-1 --timers manual" },
        { line: "temporalex workflow fire-timer -w buff-1 --name expire" },
        {
          line: "temporalex workflow fire-timer -w buff-1 --name expire --address localhost:7233",
          what: "temporalex dev --timers manual",
        },
      ],
      run: async (call) => (await import("./fire_timer.ts")).fireTimerCommand(call),
    }),
    procedure: {
      summary: "show and answer the procedures that a workflow waits for",
      fallback: "list",
      commands: {
        list: command({
          summary: "show the procedures that a workflow waits for, with their arguments",
          options: procedureList,
          examples: [{ line: "temporalex workflow procedure list -w fight-1" }],
          run: async (call) => (await import("./procedures.ts")).procedureListCommand(call),
        }),
        complete: command({
          summary: "give a procedure its result",
          description:
            "Gives a procedure its result, which is --input; without one the workflow gets undefined.",
          options: procedureComplete,
          examples: [
            {
              line: "temporalex workflow procedure complete -w fight-1 --name compute_damage -i 12",
            },
            {
              line:
                `temporalex workflow procedure complete -w fight-1 --procedure-id 3 -i '{"approved": true}'`,
            },
          ],
          run: async (call) => (await import("./procedures.ts")).procedureCompleteCommand(call),
        }),
        fail: command({
          summary: "fail a procedure",
          description:
            "Fails a procedure: the workflow's code gets an ActivityFailure with the reason as its cause.",
          options: procedureFail,
          examples: [{
            line:
              'temporalex workflow procedure fail -w fight-1 --name compute_damage --reason "no such weapon"',
          }],
          run: async (call) => (await import("./procedures.ts")).procedureFailCommand(call),
        }),
      },
    },
    query: command({
      summary: "ask a workflow for a value",
      description:
        "Asks a workflow for a value that it publishes or computes; it is not changed by that. Works on closed workflows, too, while a worker runs.",
      options: queryOptions,
      examples: [{ line: "temporalex workflow query -w cart-42 --name status" }],
      run: async (call) => (await import("./messages.ts")).queryCommand(call),
    }),
    stack: command({
      summary: "show where a workflow's code waits",
      description:
        "Shows every place where the code of a workflow waits: for what, and on which lines. A worker finds it out by replaying the run, so nothing is recorded ahead; it works on closed workflows, too, where it shows how they were left.",
      options: stack,
      examples: [{ line: "temporalex workflow stack -w cart-42" }],
      run: async (call) => (await import("./built_in.ts")).stackCommand(call),
    }),
    metadata: command({
      summary: "show what can be sent to a workflow",
      description:
        "Shows a workflow's type, its signals, updates and queries with descriptions, and its current details (setCurrentDetails). Needs a worker, also for closed workflows.",
      options: metadata,
      examples: [{ line: "temporalex workflow metadata -w cart-42" }],
      run: async (call) => (await import("./built_in.ts")).metadataCommand(call),
    }),
    cancel: command({
      summary: "ask a workflow to stop",
      description:
        "Asks a workflow to stop; it may clean up first. To end one that does not listen: terminate.",
      options: end,
      examples: [
        { line: 'temporalex workflow cancel -w cart-42 --reason "the shop is closed"' },
        { line: `temporalex workflow cancel --query 'WorkflowType = "Cart"' --yes` },
      ],
      run: async (call) => (await import("./cancel_terminate_delete.ts")).cancelCommand(call),
    }),
    terminate: command({
      summary: "end a workflow at once",
      description:
        "Ends a workflow at once; its code does not learn of it. To let it clean up: cancel.",
      options: end,
      examples: [{ line: 'temporalex workflow terminate -w cart-42 --reason "stuck"' }],
      run: async (call) => (await import("./cancel_terminate_delete.ts")).terminateCommand(call),
    }),
    release: command({
      summary: "release a held workflow",
      description:
        "A workflow whose code ends the process, as V8 does when it is asked for more memory than there can be, is held after the second time: its tasks wait, and describe says so. This lets them be run again, by a process that has the store open now or by the next one.",
      options: release,
      notes:
        "Correct the code first: what ends the process again is held again. Workflows of a cluster are never held.",
      examples: [{ line: "temporalex workflow release -w cart-42 --store shop.sqlite" }],
      run: async (call) => (await import("./release.ts")).releaseCommand(call),
    }),
    "update-with-start": command({
      summary: "send an update to a workflow, which is started where it is not running",
      description:
        "Starts a workflow, or takes the one that is running under the id, and sends it an update, in one step: both happen, or neither.",
      options: updateWithStartOptions,
      examples: [{
        line:
          `temporalex workflow update-with-start --type Cart -w cart-42 -i '"ada"' --update-name add_item --update-input '"BOOK-1"' --address localhost:7233`,
      }],
      run: async (call) => (await import("./start.ts")).updateWithStartCommand(call),
    }),
    reset: command({
      summary: "reset a workflow to an earlier event, in a new run",
      description:
        "Makes a new run of a workflow's history up to a point: --event-id, --type or --build-id. What was done after it is done again where the code does it again; signals, updates and cancel requests come again, unless they are excluded. An open run is terminated. Needs a cluster.",
      options: reset,
      examples: [
        {
          line:
            'temporalex workflow reset -w cart-42 --type LastWorkflowTask --reason "fixed" --address localhost:7233',
        },
        {
          line:
            'temporalex workflow reset -w cart-42 --event-id 12 --reapply-exclude Signal --reason "fixed" --address localhost:7233',
        },
      ],
      run: async (call) => (await import("./cancel_terminate_delete.ts")).resetCommand(call),
    }),
    delete: command({
      summary: "remove a workflow with its history",
      description:
        "Deletes a run and its history; an open run is terminated first. A cluster deletes it some time after the call.",
      options: remove,
      examples: [
        { line: "temporalex workflow delete -w cart-42" },
        { line: `temporalex workflow delete --query 'WorkflowType = "Test"' --yes` },
      ],
      run: async (call) => (await import("./cancel_terminate_delete.ts")).deleteCommand(call),
    }),
    describe: command({
      summary: "show what a workflow is, its pending activities, and why its task fails",
      options: describeOptions,
      examples: [{ line: "temporalex workflow describe -w cart-42" }, {
        line: "temporalex workflow describe -w cart-42 --json | jq .status",
      }],
      run: async (call) => (await import("./describe_list.ts")).describeCommand(call),
    }),
    list: command({
      summary: "show workflows",
      description: "Shows workflows, the latest first; with --query those that match.",
      options: listOptions,
      notes:
        "Fields of a query: WorkflowId, RunId, WorkflowType, TaskQueue, ExecutionStatus, StartTime, CloseTime, ExecutionTime. Operators: =, !=, <, <=, >, >=, IN, BETWEEN, STARTS_WITH, IS NULL, AND, OR, NOT; ORDER BY StartTime or CloseTime.",
      examples: [
        { line: "temporalex workflow list --limit 20" },
        {
          line:
            `temporalex workflow list --query 'ExecutionStatus = "Failed" AND StartTime > "2026-01-01T00:00:00Z"'`,
        },
        { line: "temporalex workflow list -o jsonl | jq -r .workflowId" },
      ],
      run: async (call) => (await import("./describe_list.ts")).listCommand(call),
    }),
    count: command({
      summary: "count workflows, also in groups",
      options: countOptions,
      examples: [
        { line: `temporalex workflow count --query 'ExecutionStatus = "Running"'` },
        { line: `temporalex workflow count --query 'GROUP BY ExecutionStatus'` },
      ],
      run: async (call) => (await import("./describe_list.ts")).countCommand(call),
    }),
    show: command({
      summary: "show a workflow's history",
      description:
        "Shows the events of a workflow. With --json it writes the history in Temporal's own form: Temporal's UI, the replayers of all SDKs and temporalex replay load it.",
      options: showOptions,
      examples: [
        { line: "temporalex workflow show -w cart-42" },
        { line: "temporalex workflow show -w cart-42 --follow" },
        {
          line: "temporalex workflow show -w cart-42 --json > cart-42.json",
          what: "exports the history",
        },
      ],
      run: async (call) => (await import("./show.ts")).showCommand(call),
    }),
    result: command({
      summary: "wait for a workflow's result",
      description:
        "Waits until a workflow ends and prints its result. Ctrl-C stops waiting; the workflow continues.",
      options: result,
      exits: failedExits,
      examples: [{ line: "temporalex workflow result -w cart-42" }, {
        line: "temporalex workflow result -w cart-42 --timeout 30s --json",
      }],
      run: async (call) => (await import("./start.ts")).resultCommand(call),
    }),
  },
};
