// Reports: what hostile histories leave of them, what redaction leaves of values, what is left out
// of long ones and said to be; their sheet.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openRun, redact } from "../../../ts/debug/mod.ts";
import { DARK, LIGHT } from "../../../ts/report/colors.ts";
import { excerptOf } from "../../../ts/report/code_excerpt.ts";
import { drawingOf } from "../../../ts/report/drawing.ts";
import { drawingFile } from "../../../ts/report/drawing_file.ts";
import { escaped, markup } from "../../../ts/report/html.ts";
import { reportText } from "../../../ts/report/report.ts";
import { reportedRun } from "../../../ts/report/reported_run.ts";
import { STYLE, STYLE_DIGEST } from "../../../ts/report/style.ts";
import type { ReportedRun } from "../../../ts/report/types.ts";
import { Room } from "../../../ts/report/values_of.ts";
import { createRealmFromText } from "../../cases/realm_host.ts";
import { plantedHistory } from "../debug/planted.ts";
import { EDITED, recorded } from "../debug/take_away_support.ts";
import { HOSTILE, hostileHistory, strangeIn } from "./hostile.ts";

const one = (run: ReportedRun): string => reportText({ runs: [run], madeMs: 0 });

test("values in templates are escaped, and invisible characters are written out", () => {
  assert.equal(
    markup`<p title="${`"><b>`}">${"<i>"}${markup`<u/>`}${[1, "&"]}${false}${undefined}</p>`.text,
    `<p title="&quot;&gt;&lt;b&gt;">&lt;i&gt;<u/>1&amp;</p>`,
  );
  assert.equal(escaped("a\r\nb\0\u202e\ud800'`"), "a\nb\\u0000\\u202e\ufffd&#39;&#96;");
});

test("markup in every text of every type of event stays text: names, ids, values, keys, failures, stack traces, code", async () => {
  const history = hostileHistory();
  const run = await reportedRun({
    ...{ source: HOSTILE, history, values: HOSTILE, notReplayed: HOSTILE },
  });
  assert.ok(run.model.lines.length > 50);
  const code = excerptOf(HOSTILE, `// ${HOSTILE}\nconst a = "${HOSTILE}";\n`.repeat(20), 7);
  const step = {
    kind: "activity",
    name: HOSTILE,
    text: HOSTILE,
    eventId: 3,
    site: HOSTILE,
  } as const;
  const difference = { field: HOSTILE, history: HOSTILE, code: HOSTILE, counts: false };
  const first = { history: step, code: step, same: false, differences: [difference] };
  const divergence = {
    ...{
      firstTask: 1,
      following: "steps" as const,
      startedEventId: 3,
      eventId: 3,
      location: HOSTILE,
      fiber: HOSTILE,
      sentence: HOSTILE,
      first,
      tasks: [],
      key: "",
    },
    edit: { kind: "unknown", text: `${HOSTILE} 2`, subject: HOSTILE, confidence: "guess" },
    repair: { patchId: HOSTILE, text: HOSTILE, code: HOSTILE, location: HOSTILE },
  } as const;
  const problem = {
    ...{
      message: HOSTILE,
      position: 3,
      eventId: 3,
      expected: HOSTILE,
      actual: HOSTILE,
      location: HOSTILE,
      isDivergence: true,
      divergence,
    },
    diffs: [],
  };
  const diverged = { ...run, verdict: "diverges", code, problem } as const;
  const line = {
    source: HOSTILE,
    verdict: "diverges",
    type: HOSTILE,
    id: HOSTILE,
    events: 3,
    text: HOSTILE,
    run: 0,
  } as const;
  const many = { verdicts: [["diverges", 1]] as const, lines: [line], leftOut: [HOSTILE] };
  for (const text of [one(run), one(diverged), reportText({ runs: [diverged], many, madeMs: 0 })]) {
    assert.deepEqual(strangeIn(text), []);
    assert.ok(text.includes("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert.equal(text.match(/<title>/g)!.length >= 1 && text.match(/<style>/g)!.length, 1);
  }
  assert.notDeepEqual(strangeIn(`<p>${HOSTILE}</p>`), [], "the reader sees what is strange");
  assert.notDeepEqual(strangeIn(`<a href="javascript:alert(1)">x</a>`), []);
});

test("the report of a redacted history contains no planted secret, neither as text nor in base64", async () => {
  const { bytes, secrets } = plantedHistory();
  const before = one(await reportedRun({ source: "a", history: bytes, values: "" }));
  const seen = secrets.filter((secret) => before.includes(secret));
  assert.ok(seen.length >= 100, `${seen.length} of ${secrets.length} were there`);
  const { history } = await redact(bytes);
  const after = one(await reportedRun({ source: "a", history: history!, values: "" }));
  assert.deepEqual(
    secrets.filter((secret) => after.includes(secret) || after.includes(btoa(secret))),
    [],
  );
  assert.doesNotMatch(after, /SECRET/);
});

test("a divergence shows a sentence, both sides and the lines of code; an open run shows why it waits", async () => {
  const { before, after } = EDITED[2]!;
  const history = await recorded(before, 2);
  const { realm, dispose } = await createRealmFromText(after);
  try {
    const excerpt = (location: string) =>
      excerptOf("src/main.ts", after, Number(/:(\d+):\d+\)?$/.exec(location)![1]));
    const run = await reportedRun({ source: "run.json", history, realm, values: "", excerpt });
    assert.equal(run.verdict, "diverges");
    const text = one(run);
    assert.deepEqual(strangeIn(text), []);
    assert.match(text, /your code calls activity pay where history has activity charge/);
    assert.match(text, /<th scope="row">activity type<\/th><td>pay<\/td><td>charge<\/td>/);
    assert.match(text, /class="l at red"><span class="n">\d+<\/span><code>[^\n]*acts\.pay\(/);
    assert.match(text, /history has activity charge here/);
  } finally {
    await dispose();
  }
  const old = await createRealmFromText(before);
  try {
    const run = old.start("Main", { args: ["ada"] });
    await run.task();
    const open = await reportedRun({
      source: "open.json",
      history: run.server.history(),
      realm: old.realm,
      values: "",
    });
    assert.equal(open.verdict, "replays");
    assert.match(
      one(open),
      /Signal <b>add<\/b> or signal <b>done<\/b> would wake it, and nothing else/,
    );
    const unknown = await reportedRun({
      source: "open.json",
      history: hostileHistory(),
      realm: old.realm,
      values: "",
    });
    assert.equal(unknown.verdict, "not replayed");
  } finally {
    await old.dispose();
  }
});

test("a long history states how many events are omitted, a long value how much is omitted", async () => {
  const { dispose, start } = await createRealmFromText(EDITED[0]!.before);
  try {
    const run = start("Main", { args: ["x".repeat(20_000)] });
    await run.task();
    for (let i = 0; i < 5200; i++) run.server.signal("add", `item ${i}`);
    const reported = await reportedRun({
      source: "long.json",
      history: run.server.history(),
      values: "",
    });
    const all = reported.model.lines.length;
    assert.ok(all > 5200);
    const text = one(reported);
    assert.deepEqual(strangeIn(text), []);
    assert.match(
      text,
      new RegExp(
        `first 2,500 and the last 2,500 of ${all.toLocaleString("en-US")} events; ${
          all - 5000
        } between them are left out`,
      ),
    );
    assert.equal(
      text.match(/events are left out here/g)!.length,
      2,
      "in the list of things and in that of events",
    );
    assert.match(text, /All 5,000 events that are listed/);
    assert.match(text, /<p class="soft">12,002 more characters<\/p>/);
    assert.ok(text.length < 6_000_000, `${text.length}`);
    const many = Array.from({ length: 30 }, () => reported);
    const lines = many.map((_, i) =>
      ({
        source: `${i}`,
        verdict: "diverges",
        type: "Main",
        id: "a",
        events: all,
        text: "",
        run: i,
      }) as const
    );
    const file = reportText({
      runs: many,
      many: { verdicts: [["diverges", 30]], lines, leftOut: [] },
      madeMs: 0,
    });
    assert.match(file, /first 100 and the last 100 of/);
    assert.equal(file.match(/<article id="run-\d+">/g)!.length, 30);
    assert.ok(file.length < 12_000_000, `${file.length}`);
  } finally {
    await dispose();
  }
});

test("the values of a report share a size limit, and omitted values are counted", () => {
  const room = new Room();
  const shown = Array.from({ length: 500 }, () => room.value("y".repeat(7_000)).text).join("");
  assert.ok(
    room.leftOut > 50 && shown.length < 3_100_000,
    `${room.leftOut} left out, ${shown.length}`,
  );
  assert.match(shown, /left out: the file has no room for more values/);
  assert.match(new Room().value({ n: 7n, bytes: new Uint8Array(3) }).text, /7n/);
});

test("the policy contains the digest of the style sheet, whose colors are those of the page", () => {
  assert.equal(STYLE_DIGEST, `sha256-${createHash("sha256").update(STYLE).digest("base64")}`);
  assert.doesNotMatch(STYLE, /<|url\(|@import/);
  const tokens = readFileSync("web-demo/src/style/tokens.css", "utf8");
  const [light, dark] = tokens.split(':root[data-theme="dark"]');
  for (const [colors, sheet] of [[LIGHT, light!], [DARK, dark!]] as const) {
    for (const [name, value] of Object.entries(colors)) {
      assert.ok(sheet.includes(`--${name}: ${value};`), `--${name}: ${value}`);
    }
  }
});

test("a standalone drawing equals the report's, with attributes instead of classes; hostile names stay text", async () => {
  const model = await openRun(hostileHistory());
  const inReport = drawingOf(model, { width: 1368, problem: 0 }).text;
  for (const isDark of [false, true]) {
    const text = drawingFile(model, { isDark, cuts: true });
    assert.doesNotMatch(text, / class=| style=|var\(|\$[a-z]/);
    assert.ok(text.includes((isDark ? DARK : LIGHT)["activity"]!));
    const shapes = (of: string) => of.match(/<(?:rect|path|circle)\b/g)!.length;
    // And its ground.
    assert.equal(shapes(text), shapes(inReport) + 1);
    assert.doesNotMatch(text, /<(?:script|img|style)/);
  }
});
