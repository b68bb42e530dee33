// Text of a store, a history or a program that the command line prints: it forges no line, controls
// no terminal and runs in no spreadsheet.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { githubAnnotations } from "../../../ts/cli/commands/replay/reports/github.ts";
import { JUnit } from "../../../ts/cli/commands/replay/reports/junit.ts";
import { sarif } from "../../../ts/cli/commands/replay/reports/sarif.ts";
import type { ReplayLine } from "../../../ts/cli/commands/replay/line.ts";
import { Summary } from "../../../ts/cli/commands/replay/summary.ts";
import { replayLineText, summaryText } from "../../../ts/cli/commands/replay/text.ts";
import { reloadText } from "../../../ts/cli/commands/worker/texts.ts";
import type { WorkerCall } from "../../../ts/cli/commands/worker/options.ts";
import { Printer } from "../../../ts/cli/frame/printer.ts";
import type { Io } from "../../../ts/cli/io.ts";
import { showValue } from "../../../ts/cli/text/values.ts";
import { open, silentLogger } from "../../../ts/mod.ts";
import { signal, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { inFolder } from "../engine/support/stores.ts";
import { run } from "./support/run.ts";

const EVIL = "a\nFORGED\r\u001b[31m\u009b31m\u202eb";
const ESCAPED = "a\\nFORGED\\r\\u001b[31m\\u009b31m\\u202eb";
// deno-lint-ignore no-control-regex
const ACTIVE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Fails for text with active characters, or with a line that the data forged. */
function assertHarmless(text: string): void {
  assert.doesNotMatch(text, ACTIVE);
  assert.doesNotMatch(text, /^FORGED/m);
}

const printer = (out: string[], colors = false): Printer =>
  new Printer(
    { out: (text: string) => out.push(text), terminal: false, width: 100 } as unknown as Io,
    "text",
    colors,
  );

const line: ReplayLine = {
  file: `cluster:${EVIL}`,
  workflowType: EVIL,
  workflowId: EVIL,
  runId: "r",
  events: 1,
  activations: 1,
  verdict: "nondeterminism",
  warnings: [{ code: 1, message: EVIL, eventId: 2 }],
  error: {
    code: 1,
    message: EVIL,
    eventId: 3,
    expected: EVIL,
    actual: EVIL,
    location: "",
    sentence: EVIL,
  },
  ms: 1,
};

test("tables, fields and values escape what they are given, titles included", () => {
  const print = printer([]);
  const table = print.table([EVIL], [{ title: EVIL, cell: (row) => row }, {
    title: "n",
    cell: () => "1",
  }]);
  assert.equal(table, `${ESCAPED}  n\n${ESCAPED}  1\n`);
  assert.equal(
    print.fields([["Id", EVIL], ["Memo", [EVIL, "b"]], ["None", []], ["Nor", undefined]]),
    `Id    ${ESCAPED}\nMemo  ${ESCAPED}\n      b\n`,
  );
  assert.deepEqual(
    JSON.parse(showValue({ a: EVIL }, 2)),
    { a: EVIL },
    "the escapes are those of JSON",
  );
  assertHarmless(showValue({ a: EVIL }, 2));
});

test("results keep the colors of the command and escape everything else", () => {
  const out: string[] = [];
  const print = printer(out, true);
  print.result({}, () => `${print.paint("ok", "green")} \u001b]0;owned\u0007\u009b31m\u202e\n`);
  assert.deepEqual(out, ["\u001b[32mok\u001b[0m \\u001b]0;owned\\u0007\\u009b31m\\u202e\n"]);
  assert.equal(
    print.fields([["State", print.paint("active", "green")]]),
    "\u001b[1mState\u001b[0m  \u001b[32mactive\u001b[0m\n",
  );
});

test("replay: text, summary, annotations, JUnit and SARIF", () => {
  const out: string[] = [];
  const print = printer(out);
  const summary = new Summary("/w");
  for (let i = 0; i < 2; i++) summary.add(line);
  print.result({}, () => replayLineText(line, print) + summaryText(summary, 1, print));
  assertHarmless(out.join(""));
  assert.match(out.join(""), /^nondeterminism +cluster:a\\nFORGED/m);
  const annotations = githubAnnotations(summary, ["/w/w.ts"]);
  assertHarmless(annotations);
  assert.equal(annotations.trimEnd().split("\n").length, 1);
  const junit = new JUnit();
  junit.add(line, undefined);
  assertHarmless(junit.text(1).replaceAll("&#10;FORGED", ""));
  const texts = JSON.parse(sarif(summary, ["/w/w.ts"])).runs[0].results.map((
    each: { message: { text: string } },
  ) => each.message.text);
  for (const text of texts) assert.doesNotMatch(text, ACTIVE);
});

test("worker --watch: a refusal cannot forge an event of the worker", () => {
  const out: string[] = [];
  const print = printer(out);
  const call = { print, io: { cwd: "/w" } } as unknown as WorkerCall;
  print.result(
    {},
    () => reloadText({ event: "refused", message: EVIL } as Parameters<typeof reloadText>[0], call),
  );
  assertHarmless(out.join(""));
});

test("workflow and sql: a store with hostile ids, reasons and columns", () =>
  inFolder(async (folder) => {
    const store = join(folder, "s.sqlite");
    const waits = workflow("waits", async () => await waitForSignal(signal("go")));
    const app = await open({
      path: store,
      workflows: { waits },
      logger: silentLogger,
      serve: false,
    });
    try {
      await app.client.start(waits, { id: EVIL, args: [] });
      const sql = (statement: string, ...more: string[]) =>
        run(["sql", statement, "--store", store, ...more], { cwd: folder });
      const table = await sql(`SELECT id, 1 AS "x\nFORGED" FROM workflow`);
      assert.equal(table.code, 0, table.err);
      assertHarmless(table.out);
      const csv = await sql("SELECT id FROM workflow", "--csv");
      assert.equal(csv.out, `id\r\n${ESCAPED}\r\n`);
      assert.equal(
        (await sql("SELECT id FROM workflow", "--csv", "--csv-raw")).out,
        `id\r\n"${EVIL}"\r\n`,
      );
      const cells =
        `SELECT '=1+1' AS "=a", '+x' AS b, '-2+3' AS c, '@f' AS d, char(9) || '=1' AS e, char(13) || '=1' AS f,
        -5 AS g, '-5' AS h, '+1.5e3' AS i, -0.5 AS j, '-' AS k, char(0xff1d) || '1' AS l`;
      const formulas = (await sql(cells, "--csv")).out.split("\r\n");
      assert.equal(formulas[0], "'=a,b,c,d,e,f,g,h,i,j,k,l");
      assert.equal(formulas[1], "'=1+1,'+x,'-2+3,'@f,\\t=1,\\r=1,-5,-5,+1.5e3,-0.5,'-,'\uff1d1");
      assert.match((await sql(cells, "--csv", "--csv-raw")).out, /^=a,.*\r\n=1\+1,\+x,-2\+3,@f,/);
      const refused = await sql("SELECT 1", "--csv-raw");
      assert.deepEqual([refused.code, /--csv-raw needs --csv/.test(refused.err)], [2, true]);
    } finally {
      await app.close();
    }
    for (
      const args of [["list"], ["describe", "-w", EVIL], ["show", "-w", EVIL], [
        "show",
        "-w",
        EVIL,
        "--detailed",
      ]]
    ) {
      const shown = await run(["workflow", ...args, "--store", store], { cwd: folder });
      assert.equal(shown.code, 0, shown.err);
      assertHarmless(shown.out);
    }
  }));
