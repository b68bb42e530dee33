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
  summary: "start, message and inspect workflows",
  description:
    `Manages workflows in a local store file (--store; default ./temporalex.sqlite) or on a Temporal cluster (--address).
If another process has the store open, the command connects to that process through a socket next to the file. Otherwise the command opens the store itself. Queries and updates need a running worker.`,
  commands: {
    start: command({
      summary: "start a workflow",
      description:
        "Starts a workflow and returns when the start is recorded. A worker of its task queue runs the workflow.",
      options: start,
      examples: [
        { line: `temporalex workflow start --type Cart --workflow-id cart-42 --input '"ada"'` },
        {
          line:
            'temporalex workflow start --type Report -i 2026 -i \'{"format": "pdf"}\' --store shop.sqlite',
          what: "pass two arguments",
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
      description:
        "Starts a workflow, waits until it closes and prints its result. Ctrl-C stops the wait; the workflow continues. With --cron, waits for the end of the chain of runs, which may never come.",
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
        "Sends a signal to one workflow, or to all open workflows that match a query. Returns when the signal is recorded.",
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
      summary: "send a signal to all subscribed workflows",
      description:
        "Sends a signal to all open workflows that have subscribed to it. With --filter, only to workflows that subscribed with the same filter or without one. Prints the number of workflows reached. If some could not be signaled, lists them and exits with 1.",
      options: broadcastOptions,
      notes:
        "In a store, the broadcast is one transaction and reaches exactly the workflows that are subscribed. On a cluster, workflows are found by the search attribute WorkflowSubscription and signaled one by one; a workflow that subscribed a moment ago may be missed.",
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
            "Sends an update and waits for its result. With the ID of an update that was already sent, waits for the result of that update.",
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
          description:
            "Sends an update, waits until the workflow accepts it, and prints its ID. Get the result with workflow update result.",
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
      summary: "fire a manual timer",
      description:
        'Fires a timer of a workflow that has manual timers: the workflow was started with --timers manual, or its engine was opened with timers: "manual" (temporalex dev --timers manual). Other workflows and Temporal clusters reject the command.',
      options: fireTimerOptions,
      examples: [
        { line: "temporalex workflow start --type buff -w buff-1 --timers manual" },
        { line: "temporalex workflow fire-timer -w buff-1 --name expire" },
        {
          line: "temporalex workflow fire-timer -w buff-1 --name expire --address localhost:7233",
          what: "on a server that was started with temporalex dev --timers manual",
        },
      ],
      run: async (call) => (await import("./fire_timer.ts")).fireTimerCommand(call),
    }),
    procedure: {
      summary: "list, complete or fail pending procedures",
      fallback: "list",
      commands: {
        list: command({
          summary: "list pending procedures with their arguments",
          options: procedureList,
          examples: [{ line: "temporalex workflow procedure list -w fight-1" }],
          run: async (call) => (await import("./procedures.ts")).procedureListCommand(call),
        }),
        complete: command({
          summary: "complete a procedure with a result",
          description:
            "Completes a procedure. The result is --input; without it the workflow receives undefined.",
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
            "Fails a procedure. The workflow's code receives an ActivityFailure whose cause has the reason.",
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
      summary: "query a workflow",
      description:
        "Reads a value that a workflow publishes or computes, without changing the workflow. Needs a running worker, also for closed workflows.",
      options: queryOptions,
      examples: [{ line: "temporalex workflow query -w cart-42 --name status" }],
      run: async (call) => (await import("./messages.ts")).queryCommand(call),
    }),
    stack: command({
      summary: "show where a workflow's code is waiting",
      description:
        "Shows each place where the code of a workflow is waiting: what it waits for, and the source line. A worker replays the run to find the places. For closed workflows, shows the places at the end of the run.",
      options: stack,
      examples: [{ line: "temporalex workflow stack -w cart-42" }],
      run: async (call) => (await import("./built_in.ts")).stackCommand(call),
    }),
    metadata: command({
      summary: "show the signals, updates and queries of a workflow",
      description:
        "Shows a workflow's type, its signals, updates and queries with descriptions, and its current details (setCurrentDetails). Needs a running worker, also for closed workflows.",
      options: metadata,
      examples: [{ line: "temporalex workflow metadata -w cart-42" }],
      run: async (call) => (await import("./built_in.ts")).metadataCommand(call),
    }),
    cancel: command({
      summary: "request cancellation of a workflow",
      description:
        "Requests cancellation. The workflow can clean up first. Use terminate for a workflow that ignores the request.",
      options: end,
      examples: [
        { line: 'temporalex workflow cancel -w cart-42 --reason "the shop is closed"' },
        { line: `temporalex workflow cancel --query 'WorkflowType = "Cart"' --yes` },
      ],
      run: async (call) => (await import("./cancel_terminate_delete.ts")).cancelCommand(call),
    }),
    terminate: command({
      summary: "terminate a workflow immediately",
      description:
        "Ends a workflow immediately. Its code is not notified and cannot clean up; use cancel for that.",
      options: end,
      examples: [{ line: 'temporalex workflow terminate -w cart-42 --reason "stuck"' }],
      run: async (call) => (await import("./cancel_terminate_delete.ts")).terminateCommand(call),
    }),
    release: command({
      summary: "release a quarantined workflow",
      description:
        "A workflow whose code has crashed the process twice (for example by running out of memory) is quarantined: its tasks are not run, and describe shows it. This command lets a worker run them again.",
      options: release,
      notes:
        "Fix the code first: a workflow that crashes the process again is quarantined again. Workflows on a cluster are never quarantined.",
      examples: [{ line: "temporalex workflow release -w cart-42 --store shop.sqlite" }],
      run: async (call) => (await import("./release.ts")).releaseCommand(call),
    }),
    "update-with-start": command({
      summary: "send an update, and start the workflow if needed",
      description:
        "Starts a workflow, or uses the running one with this ID, and sends an update. The step is atomic: both happen or neither.",
      options: updateWithStartOptions,
      examples: [{
        line:
          `temporalex workflow update-with-start --type Cart -w cart-42 -i '"ada"' --update-name add_item --update-input '"BOOK-1"' --address localhost:7233`,
      }],
      run: async (call) => (await import("./start.ts")).updateWithStartCommand(call),
    }),
    reset: command({
      summary: "reset a workflow to an earlier event",
      description:
        "Creates a new run from a workflow's history up to a point: --event-id, --type or --build-id. An open run is terminated first. The new run executes the code after that point again. Signals, updates and cancel requests after the point are reapplied unless they are excluded.",
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
      summary: "delete a workflow and its history",
      description:
        "Deletes a run and its history. An open run is terminated first. A cluster deletes the run some time after the call.",
      options: remove,
      examples: [
        { line: "temporalex workflow delete -w cart-42" },
        { line: `temporalex workflow delete --query 'WorkflowType = "Test"' --yes` },
      ],
      run: async (call) => (await import("./cancel_terminate_delete.ts")).deleteCommand(call),
    }),
    describe: command({
      summary: "show status, pending activities and the last task failure",
      description:
        "Shows one run: status, times, pending activities with their failures, and the failure of the last workflow task with its line. Shows a closed run, too.",
      options: describeOptions,
      examples: [{ line: "temporalex workflow describe -w cart-42" }, {
        line: "temporalex workflow describe -w cart-42 --json | jq .status",
      }],
      run: async (call) => (await import("./describe_list.ts")).describeCommand(call),
    }),
    list: command({
      summary: "list workflows",
      description: "Lists workflows, latest first. With --query, only those that match.",
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
      summary: "count workflows, optionally by group",
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
        "Shows the events of a workflow. --json writes the history in Temporal's JSON format, which Temporal's UI, the replayers of all SDKs and temporalex replay can load.",
      options: showOptions,
      examples: [
        { line: "temporalex workflow show -w cart-42" },
        { line: "temporalex workflow show -w cart-42 --follow" },
        {
          line: "temporalex workflow show -w cart-42 --json > cart-42.json",
          what: "export the history",
        },
      ],
      run: async (call) => (await import("./show.ts")).showCommand(call),
    }),
    result: command({
      summary: "wait for a workflow's result",
      description:
        "Waits until a workflow closes and prints its result. Ctrl-C stops the wait; the workflow continues.",
      options: result,
      exits: failedExits,
      examples: [{ line: "temporalex workflow result -w cart-42" }, {
        line: "temporalex workflow result -w cart-42 --timeout 30s --json",
      }],
      run: async (call) => (await import("./start.ts")).resultCommand(call),
    }),
  },
};
