// What a debug session reports of calls that the guard virtualizes or blocks: the line, the
// returned value, and that replays return it.
import { openSession, type SessionCode } from "../../ts/debug/mod.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmHarness, withRealm } from "./realm_host.ts";

const TEXT = `${API}
const later = async () => [await sleep(20), Math.random()];
export const draws = workflow("Draws", async () => {
  const began = Date.now();
  const id = crypto.randomUUID();
  let sum = 0;
  for (let i = 0; i < 3; i++) {
    sum += Math.random();
  }
  await sleep(1000);
  const ended = new Date();
  await parallel([later, async () => {
    await sleep(20);
    log.info("next to it");
  }]);
  return [began, id, sum, ended.getTime()];
});`;
const findLine = (part: string): number => TEXT.slice(0, TEXT.indexOf(part)).split("\n").length;

async function ran(
  h: RealmHarness,
  type: string,
): Promise<{ readonly bytes: Uint8Array; readonly result: unknown }> {
  const run = h.start(type);
  const result = await run.auto();
  equal(run.failure, "");
  return { bytes: run.server.history(), result };
}

const GUARDED = ["clock", "random", "refused"];
const guarded = (code: SessionCode, position: number) =>
  code.crossings(position).filter(({ kind }) => GUARDED.includes(kind)).map((
    { kind, name, place, value },
  ) => ({
    ...{ kind, name, line: place.line, value: value.value },
  }));

export const cases: Case[] = [
  {
    name:
      "lines of a session: calls that the guard virtualized are at their lines, with the returned values",
    run: () =>
      withRealm(TEXT, async (h) => {
        const { bytes, result } = await ran(h, "Draws");
        const session = await openSession(bytes, { realm: h.realm });
        equal(session.problem, undefined);
        const seen = guarded(session.code!, session.length);
        deepEqual(
          seen.map(({ kind, name, line }) => [kind, name, line]).sort(([, , a], [, , b]) =>
            Number(a) - Number(b)
          ),
          [
            // After an await in the middle of the statement, while another branch has run in
            // between.
            ["random", "Math.random()", findLine("const later")],
            ["clock", "Date.now()", findLine("const began")],
            ["random", "crypto.randomUUID()", findLine("const id")],
            ["random", "Math.random()", findLine("sum +=")],
            ["clock", "Date.now()", findLine("const ended")],
          ],
        );
        const [began, id, , ended] = result as unknown[];
        const given = (part: string) => seen.find(({ line }) => line === findLine(part))!.value;
        deepEqual([given("const began"), given("const id"), given("const ended")], [
          began,
          id,
          ended,
        ]);
        match(String(id), /^[\da-f]{8}-[\da-f]{4}-4/);
        // Exact at a position: what comes later is not there yet.
        const [first] = session.tasks;
        ok(
          !guarded(session.code!, first!.eventId).some(({ line }) =>
            line === findLine("const ended")
          ),
          "not yet",
        );
        // The same at each replay.
        const again = await openSession(bytes, { realm: h.realm });
        deepEqual(guarded(again.code!, again.length), seen);
      }, { lines: true }),
  },
  {
    name: "lines of a session: a call that the guard refuses is at its line, with the advice",
    run: async () => {
      let bytes: Uint8Array | undefined;
      await withRealm(TEXT, async (h) => void ({ bytes } = await ran(h, "Draws")));
      const refusing = TEXT.replace("new Date()", 'fetch("https://example.com")');
      await withRealm(refusing, async (h) => {
        const session = await openSession(bytes!, { realm: h.realm });
        match(session.problem?.message ?? "", /fetch/);
        const [refused] = guarded(session.code!, session.length).filter(({ kind }) =>
          kind === "refused"
        );
        deepEqual([refused!.name, refused!.line], ["fetch()", findLine("const ended")]);
        match(String(refused!.value), /activity/);
      }, { lines: true });
    },
  },
  {
    name: "lines of a session: calls in a program for Temporal are at their lines, too",
    run: () =>
      withRealm("", async (h) => {
        const { bytes } = await ran(h, "Draw");
        const session = await openSession(bytes, { realm: h.realm });
        deepEqual(
          guarded(session.code!, session.length).map(({ kind, name, line }) => [kind, name, line]),
          [
            ["random", "Math.random()", 3],
            ["clock", "Date.now()", 5],
          ],
        );
      }, {
        lines: true,
        workflows: "/app/main.ts",
        sources: {
          "/app/main.ts": `import { sleep } from "@temporalio/workflow";
export async function Draw() {
  const drawn = Math.random();
  await sleep(10);
  return [drawn, Date.now()];
}`,
        },
      }),
  },
];
