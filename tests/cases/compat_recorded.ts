// Programs of the official API, replayed in worker realms from histories that the official SDK
// recorded (tests/unit/compat): with scopes followed by rewritten code, which works in every
// runtime, and by AsyncLocalStorage where there is one.
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { hasAsyncStorage } from "../../ts/platform/async_context.ts";
import { fileSources } from "../../ts/platform/source_files.ts";
import { HistorySchema } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { openSession } from "../../ts/debug/mod.ts";
import type { WorkerRealm } from "../../ts/realm/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { createRealmFromTexts, type RealmHarness, withRealm } from "./realm_host.ts";
import { SharedRealm } from "./shared_realm.ts";

const PROGRAMS = [
  "callbacks",
  "cancelled",
  "determined",
  "interleaved",
  "iterated",
  "local",
  "messages",
  "nexus",
  "timeouts",
];

/** Set by the Chromium runner, which has no files. */
const browser = globalThis as unknown as { __caseSources?: { [path: string]: string } };

/** The text of a file of the repository; this module may lie in dist. */
async function readTextFile(path: string): Promise<string> {
  const given = browser.__caseSources?.[path];
  if (given !== undefined) return given;
  const files = fileSources();
  for (const root of ["../../", "../../../"]) {
    const text = files.read(new URL(root + path, import.meta.url).href);
    if (text !== undefined) return text;
  }
  throw new Error(`there is no ${path}`);
}

const SCOPES = hasAsyncStorage()
  ? ["rewritten", "asyncLocalStorage"] as const
  : ["rewritten"] as const;

/** Text and recording of a program. */
async function recorded(program: string): Promise<{ text: string; history: Uint8Array }> {
  const text = await readTextFile(`tests/unit/compat/programs/${program}.ts`);
  const json = JSON.parse(
    await readTextFile(`tests/unit/compat/histories/${program}.json`),
  ) as JsonValue;
  return {
    text,
    history: toBinary(HistorySchema, fromJson(HistorySchema, json, { ignoreUnknownFields: true })),
  };
}

/** The recording of Nexus operations for the changed version of that program. */
async function withNexus<T>(
  change: (text: string) => string,
  use: (realm: WorkerRealm, history: Uint8Array) => Promise<T>,
): Promise<T> {
  const { text, history } = await recorded("nexus");
  const changed = change(text);
  const sources = { "/app/nexus.ts": changed };
  return await withRealm("", ({ realm }) => use(realm, history), {
    workflows: "/app/nexus.ts",
    sources,
    scopes: "rewritten",
  });
}

/** A realm with all programs. */
async function withAll(scopes: (typeof SCOPES)[number]): Promise<RealmHarness> {
  const texts: { [path: string]: string } = {};
  for (const program of PROGRAMS) texts[`/app/${program}.ts`] = (await recorded(program)).text;
  return await createRealmFromTexts(texts, { scopes });
}

const replays: Case[] = SCOPES.flatMap((scopes) => {
  const all = new SharedRealm(() => withAll(scopes));
  return PROGRAMS.map((program) => {
    const use = all.user();
    return {
      name: `an official program replays what the official SDK recorded, ${scopes}: ${program}`,
      run: () =>
        use(async ({ realm }) => {
          const { history } = await recorded(program);
          const { verdict, error, events } = await realm.replay(program, history);
          equal(verdict, "ok", error?.message);
          equal(events > 50, true);
        }),
    };
  });
});

const nexus: Case[] = [
  {
    name: "a session shows Nexus operations with their events, and the pending wait",
    run: () =>
      withNexus((text) => text, async (realm, history) => {
        const session = await openSession(history, { realm });
        equal(session.problem, undefined, session.problem?.message);
        const shown = new Map<number, string>();
        const waits = new Set<string>();
        for (let at = 1; at <= session.length; at++) {
          const { commands, open } = session.viewAt(at);
          for (const { kind, eventId, summary } of commands) {
            if (!/Nexus/.test(kind) || eventId === undefined) continue;
            equal(shown.get(eventId) ?? summary, summary, `two commands became event ${eventId}`);
            shown.set(eventId, summary);
          }
          for (const { kind, label } of open) {
            if (/nexus/i.test(kind)) waits.add(`${kind} ${label}`);
          }
        }
        const summaries = [...shown.values()];
        equal(summaries[0], 'Nexus operation desk.say-again("a")');
        equal(
          summaries.filter((each) => /^asks Nexus operation \d+ to cancel$/.test(each)).length,
          3,
        );
        deepEqual([...waits].sort(), [
          'nexusOperation Nexus operation "runs" of service "desk"',
          ...["bad", "gives", "refuses", "runs", "say-again", "unheard-of"].map((name) =>
            `nexusStart Nexus operation "${name}" of service "desk"`
          ),
        ]);
      }),
  },
  {
    name: "divergences: a removed, an added and a changed Nexus operation",
    async run() {
      const sentence = (change: (text: string) => string) =>
        withNexus(change, async (realm, history) => {
          const { verdict, error } = await realm.replay("nexus", history);
          return `${verdict}: ${error?.sentence ?? ""}`;
        });
      const [first, last] = [
        '  await outcome(client.executeOperation("echo", "a"));\n',
        '  await cancels("ABANDON");\n',
      ];
      const more = '  await client.executeOperation("gives", "more").catch(() => {});\n';
      match(
        await sentence((text) => text.replace(last, "")),
        /^nondeterminism: In task \d+ your code completes the workflow where history has Nexus operation desk\.runs \(event \d+\): nexus\.ts:\d+\./,
      );
      match(
        await sentence((text) => text.replace("  return steps;", `${more}  return steps;`)),
        /^nondeterminism: In task \d+ your code calls Nexus operation desk\.gives where history has the end of the workflow/,
      );
      match(
        await sentence((text) => text.replace(first, `  await wf.sleep(1000);\n${first}`)),
        /^nondeterminism: In task 1 your code starts a timer of 1 s where history has Nexus operation desk\.say-again \(event 5\)/,
      );
      // Which one it is the replay does not compare, as the official one.
      equal(
        await sentence((text) => text.replace('named("refuses")', 'named("declines")')),
        "ok: ",
      );
    },
  },
];

export const cases: Case[] = [...replays, ...nexus];
