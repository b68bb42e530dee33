// Messages to other workflows (docs/dev/semantics/scopes.md#messages-to-other-workflows), and what
// changes of a run in its middle: search attributes and memo.
import {
  type ApplicationFailure,
  carry,
  continueAsNew,
  defineSearchAttributeKey,
  externalWorkflow,
  on,
  parallel,
  receive,
  type Reducer,
  shield,
  signal,
  sleep,
  stop,
  timer,
  transact,
  upsertMemo,
  upsertSearchAttributes,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const note = { name: "note" } as Reducer<[text: string], void>;
const go = signal<[number, string]>("go");
const describeError = (e: unknown) => `${(e as Error).name}: ${(e as Error).message}`;
const customer = defineSearchAttributeKey("Customer", "KEYWORD");
const amount = defineSearchAttributeKey("Amount", "DOUBLE");

export const cases: Case[] = [
  {
    name: "signal and cancel resolve on delivery; signals carry the headers of the start",
    async run() {
      const w = workflow("W", async () => {
        const other = externalWorkflow("other", "run-7");
        await other.signal(go, 1, "x");
        await externalWorkflow("any").cancel("enough");
        return [other.workflowId, other.runId];
      });
      const d = await drive(w, {
        headers: { tenant: { metadata: {}, data: new Uint8Array([7]) } },
      });
      await d.task();
      deepEqual(d.commands(), ["SIGNAL_EXTERNAL_WORKFLOW 1"]);
      const sent = d.server.others.delivered();
      deepEqual([sent.workflowId, sent.runId, sent.childOnly, sent.text, sent.args], [
        "other",
        "run-7",
        false,
        "go",
        [1, "x"],
      ]);
      deepEqual([...sent.headers["tenant"]!.data], [7]);
      await d.task();
      deepEqual(d.commands(), ["CANCEL_EXTERNAL_WORKFLOW 1"]);
      const asked = d.server.others.delivered();
      deepEqual([asked.workflowId, asked.runId, asked.childOnly], ["any", "", false]);
      match(asked.text, /enough/);
      await d.task();
      deepEqual(await d.finish(), ["other", "run-7"]);
    },
  },
  {
    name: "a missing workflow: ApplicationFailure with the cause as its type",
    async run() {
      const w = workflow("W", async () => {
        const results = await parallel([
          () => externalWorkflow("a").signal("go"),
          () => externalWorkflow("b").cancel(),
        ]);
        return results.map((r) =>
          r.ok ? "" : `${describeError(r.error)} ${(r.error as ApplicationFailure).type}`
        );
      });
      const d = await drive(w);
      await d.task();
      d.server.others.notFound();
      d.server.others.notFound();
      await d.task();
      const [a, b] = await d.finish() as string[];
      match(
        a!,
        /^ApplicationFailure: Unable to signal external workflow because it was not found ExternalWorkflowExecutionNotFound$/,
      );
      match(
        b!,
        /^ApplicationFailure: Unable to cancel external workflow because not found ExternalWorkflowExecutionNotFound$/,
      );
    },
  },
  {
    name: "an uncaught failure to signal fails the workflow, not its task",
    async run() {
      const d = await drive(workflow("W", () => externalWorkflow("a").signal("go")));
      await d.task();
      d.server.others.notFound();
      await d.task();
      equal(d.server.closed?.kind, "failed");
      await d.checkReplay();
    },
  },
  {
    name: "a cancellation of the workflow ends the wait at once; messages in a shield are sent",
    async run() {
      const w = workflow("W", async () => {
        const seen: string[] = [];
        try {
          await externalWorkflow("other").signal("go");
        } catch (e) {
          seen.push(describeError(e));
        }
        seen.push(await externalWorkflow("other").signal("late").then(() => "sent", describeError));
        seen.push(
          await shield(() => externalWorkflow("other").cancel().then(() => "asked", describeError)),
        );
        return seen;
      });
      const d = await drive(w);
      await d.task();
      d.server.requestCancel("why");
      await d.task();
      deepEqual(d.commands(), ["CANCEL_SIGNAL_WORKFLOW", "CANCEL_EXTERNAL_WORKFLOW 1"]);
      d.server.others.delivered();
      d.server.others.delivered();
      await d.task();
      const cancelled = "CancelledFailure: Workflow cancelled: why";
      deepEqual(await d.finish(), [cancelled, cancelled, "asked"]);
    },
  },
  {
    name: "a cancellation cancels a signal that was not sent yet",
    async run() {
      const d = await drive(workflow("W", () => externalWorkflow("other").signal("go")));
      d.server.requestCancel();
      await d.task();
      equal(d.server.closed?.kind, "cancelled");
      deepEqual(d.server.others.messages, []);
      await d.checkReplay();
    },
  },
  {
    name:
      "messages that are not awaited are sent with the task, also with the last one, with a warning",
    async run() {
      const w = workflow("W", () => {
        externalWorkflow("a").signal("go");
        externalWorkflow("b").cancel();
        return Promise.resolve("ended");
      });
      const d = await drive(w);
      await d.task();
      deepEqual(d.server.others.messages.map(({ kind, workflowId }) => [kind, workflowId]), [[
        "signal",
        "a",
      ], ["cancel", "b"]]);
      equal(await d.finish(), "ended");
      deepEqual(d.logs.map(({ message }) => message), [
        'run of workflow "W" ended before its messages were delivered; await them',
      ]);
    },
  },
  {
    name: "timers that are pending at the end of their scope cause no warning; lost results do",
    async run() {
      const w = workflow("W", async () => {
        const [r] = await parallel([async () => {
          const deadline = timer("deadline", "1h");
          const bell = sleep("2h");
          return await Promise.race([
            deadline,
            bell,
            waitForSignal("go").then(() => "went"),
            waitForSignal("never"),
          ]);
        }]);
        return r.ok && r.value;
      });
      const d = await drive(w);
      await d.task();
      d.server.signal("go");
      await d.task();
      deepEqual(d.logs.map(({ message, fields }) => [message, fields["pending"]]), [
        [
          'branch 1 of parallel in run of workflow "W" ended with primitives still pending; they are canceled',
          [
            'waitForSignal "never"',
          ],
        ],
      ]);
      equal(await d.finish(), "went");
    },
  },
  {
    name: "a transact that is not awaited commits with its task without a warning",
    async run() {
      const w = workflow("W", {
        async run() {
          await receive(0, [on(signal("go"), (_, n) => (void transact(note, "handler"), stop(n)))]);
          await parallel([() => Promise.resolve(void transact(note, "branch"))]);
          void transact(note, "run");
        },
      });
      const d = await drive(w);
      d.server.signal("go");
      await d.task();
      deepEqual(d.commands().filter((command) => command.startsWith("TRANSACT")).length, 3);
      deepEqual(d.logs, []);
      await d.finish();
      const rounds = await drive(workflow("Rounds", {
        carry: () => 0,
        round: (n) => {
          void transact(note, `round ${n}`);
          return Promise.resolve(n < 2 ? carry(n + 1) : n);
        },
      }));
      await rounds.task();
      deepEqual(rounds.commands().filter((command) => command.startsWith("TRANSACT")).length, 3);
      deepEqual(rounds.logs, []);
      await rounds.finish();
    },
  },
  {
    name: "an invalid target throws without a command",
    async run() {
      const w = workflow("W", () => {
        const wrong: (() => unknown)[] = [
          () => externalWorkflow(""),
          () => externalWorkflow(5 as unknown as string),
          () => externalWorkflow("a").signal(undefined as unknown as string),
          () => externalWorkflow("a").signal("go", 1n),
        ];
        return Promise.resolve(wrong.map((call) => {
          try {
            call();
            return "nothing was thrown";
          } catch (e) {
            return (e as Error).name;
          }
        }));
      });
      const d = await drive(w);
      await d.task();
      deepEqual(d.commands(), ["COMPLETE_WORKFLOW"]);
      deepEqual(await d.finish(), ["TypeError", "TypeError", "TypeError", "PayloadConverterError"]);
    },
  },
  {
    name: "upsertSearchAttributes: typed and untyped, null removes; workflowInfo shows it at once",
    async run() {
      const w = workflow("W", async () => {
        const before = workflowInfo();
        upsertSearchAttributes([{ key: customer, value: "ada" }, { key: amount, value: 2.5 }]);
        upsertSearchAttributes([]);
        const info = workflowInfo();
        const seen = [info.typedSearchAttributes.get(customer), info.searchAttributes];
        upsertSearchAttributes({ Customer: null, Tags: ["a", "b"] });
        await sleep(1);
        return [before.searchAttributes, ...seen, workflowInfo().searchAttributes];
      });
      const d = await drive(w);
      await d.task();
      deepEqual(d.commands(), [
        "UPSERT_SEARCH_ATTRIBUTES",
        "UPSERT_SEARCH_ATTRIBUTES",
        "START_TIMER 1",
      ]);
      const events = d.server.events.map(({ attributes }) => attributes)
        .filter((attributes) =>
          attributes.case === "upsertWorkflowSearchAttributesEventAttributes"
        );
      const text = new TextDecoder();
      const shown = events.map((attributes) => {
        ok(attributes.case === "upsertWorkflowSearchAttributesEventAttributes");
        return Object.entries(attributes.value.searchAttributes!.indexedFields).map((
          [name, { metadata, data }],
        ) =>
          `${name} ${metadata["type"] === undefined ? "" : text.decode(metadata["type"])} ${
            text.decode(data)
          }`
        );
      });
      deepEqual(shown, [['Customer Keyword "ada"', "Amount Double 2.5"], [
        "Customer  null",
        'Tags KeywordList ["a","b"]',
      ]]);
      d.server.fireTimer("1");
      await d.task();
      deepEqual(await d.finish(), [{}, "ada", { Customer: "ada", Amount: 2.5 }, {
        Amount: 2.5,
        Tags: ["a", "b"],
      }]);
    },
  },
  {
    name:
      "upsertMemo merges into the start's memo; null removes; the next run gets the remaining keys",
    async run() {
      const w = workflow("W", async (again: boolean) => {
        const before = workflowInfo();
        upsertMemo({ b: { deep: 1 }, a: null, c: undefined, list: [] });
        await sleep(1);
        return again ? continueAsNew(false) : [before.memo, workflowInfo().memo];
      });
      for (const again of [false, true]) {
        const d = await drive(w, { args: [again], memo: { a: 1, z: 26, list: [1] } });
        await d.task();
        deepEqual(d.commands(), ["MODIFY_WORKFLOW_PROPERTIES", "START_TIMER 1"]);
        d.server.fireTimer("1");
        await d.task();
        if (!again) {
          deepEqual(await d.finish(), [{ a: 1, z: 26, list: [1] }, { z: 26, b: { deep: 1 } }]);
        } else {
          const { attributes } = d.server.events.at(-1)!;
          ok(attributes.case === "workflowExecutionContinuedAsNewEventAttributes");
          deepEqual(Object.keys(attributes.value.memo!.fields), ["z", "b"]);
          await d.checkReplay();
        }
      }
    },
  },
  {
    name: "invalid values of upserts throw with their name",
    async run() {
      const w = workflow("W", () => {
        const wrong: (() => unknown)[] = [
          () => upsertSearchAttributes([{ key: amount, value: "x" as unknown as number }]),
          () => upsertSearchAttributes([{ key: amount, value: 1 }, { key: amount, value: null }]),
          () => upsertSearchAttributes({ Customer: { a: 1 } as unknown as string }),
          () => upsertSearchAttributes(undefined as never),
          () => upsertMemo("x" as never),
          () => upsertMemo([1] as never),
          () => upsertSearchAttributes({ TemporalChangeVersion: ["mine"] }),
          () => externalWorkflow("w", 5 as never),
          () => externalWorkflow("w").cancel(5 as never),
          () => upsertMemo({ f: 1n }),
        ];
        return Promise.resolve(wrong.map((call) => {
          try {
            call();
            return "nothing was thrown";
          } catch (e) {
            return (e as Error).name;
          }
        }));
      });
      const d = await drive(w);
      await d.task();
      deepEqual(d.commands(), ["COMPLETE_WORKFLOW"]);
      deepEqual(await d.finish(), [...new Array(9).fill("TypeError"), "PayloadConverterError"]);
    },
  },
  {
    name: "workflowInfo has parent and root",
    async run() {
      const w = workflow("W", () => Promise.resolve([workflowInfo().parent, workflowInfo().root]));
      const alone = await drive(w);
      await alone.task();
      deepEqual(await alone.finish(), [undefined, undefined]);
      const child = await drive(w, {
        started: {
          parentWorkflowExecution: { workflowId: "p", runId: "pr" },
          rootWorkflowExecution: { workflowId: "r", runId: "rr" },
        },
      });
      await child.task();
      deepEqual(await child.finish(), [{ workflowId: "p", runId: "pr" }, {
        workflowId: "r",
        runId: "rr",
      }]);
    },
  },
];
