// Programs of the official API, replayed in worker realms from histories that the official SDK recorded (tests/compat): with scopes followed
// by rewritten code, which works in every runtime, and by AsyncLocalStorage where there is one.
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { hasAsyncStorage } from "../../ts/platform/async_context.ts";
import { fileSources } from "../../ts/platform/source_files.ts";
import { HistorySchema } from "../../ts/api/generated/temporal/api/history/v1/message_pb.ts";
import { equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { withRealm } from "./realm_host.ts";

const PROGRAMS = ["callbacks", "cancelled", "determined", "interleaved", "iterated", "local", "messages", "nexus"];

/** Set by the Chromium runner, where there are no files. */
const browser = globalThis as unknown as { __caseSources?: { [path: string]: string } };

/** The text of a file of the repository; this module may lie in dist. */
async function textOf(path: string): Promise<string> {
  const given = browser.__caseSources?.[path];
  if (given !== undefined) return given;
  const files = fileSources();
  for (const root of ["../../", "../../../"]) {
    const text = files.read(new URL(root + path, import.meta.url).href);
    if (text !== undefined) return text;
  }
  throw new Error(`there is no ${path}`);
}

const SCOPES = hasAsyncStorage() ? ["rewritten", "asyncLocalStorage"] as const : ["rewritten"] as const;

export const cases: Case[] = PROGRAMS.flatMap((program) =>
  SCOPES.map((scopes) => ({
    name: `an official program replays what the official SDK recorded, ${scopes}: ${program}`,
    async run() {
      const text = await textOf(`tests/compat/programs/${program}.ts`);
      const json = JSON.parse(await textOf(`tests/compat/histories/${program}.json`)) as JsonValue;
      const history = toBinary(HistorySchema, fromJson(HistorySchema, json, { ignoreUnknownFields: true }));
      const sources = { [`/app/${program}.ts`]: text };
      await withRealm("", async ({ realm }) => {
        const { verdict, error, events } = await realm.replay(program, history);
        equal(verdict, "ok", error?.message);
        equal(events > 50, true);
      }, { workflows: `/app/${program}.ts`, sources, scopes });
    },
  }))
);
