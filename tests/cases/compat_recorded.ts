// Programs of the official API, replayed from histories that the official SDK recorded (tests/compat), with the rewriting loader: the
// context that works in every runtime. Node and Deno also replay them with AsyncLocalStorage (tests/compat/recorded.test.ts).
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { CompatProgram } from "../../ts/compat/program.ts";
import { loadCore } from "../../ts/core/mod.ts";
import { TaskRunner } from "../../ts/executor/tasks/task_runner.ts";
import { fileSources } from "../../ts/platform/source_files.ts";
import { HistorySchema } from "../../ts/api/generated/temporal/api/history/v1/message_pb.ts";
import { equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { rejectionHost } from "./rejection_host.ts";

const PROGRAMS = ["callbacks", "cancelled", "determined", "interleaved", "iterated", "local", "messages"];

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

export const cases: Case[] = PROGRAMS.map((program) => ({
  name: `an official program, rewritten, replays what the official SDK recorded: ${program}`,
  async run() {
    const text = await textOf(`tests/compat/programs/${program}.ts`);
    const compat = await CompatProgram.load({
      entry: `/${program}.ts`,
      source: { read: () => text, resolve: () => undefined },
    });
    const runner = new TaskRunner({
      core: await loadCore("worker"),
      programs: () => compat,
      runOptions: { namespace: "default", identity: "test" },
      cacheSize: 0,
      fetchHistory: () => Promise.reject(new Error("a recorded history has no further pages")),
      rejections: rejectionHost,
    });
    try {
      const json = JSON.parse(await textOf(`tests/compat/histories/${program}.json`)) as JsonValue;
      const history = toBinary(HistorySchema, fromJson(HistorySchema, json, { ignoreUnknownFields: true }));
      const { verdict, error, events } = await runner.replay(program, history);
      equal(verdict, "ok", error?.message);
      equal(events > 50, true);
    } finally {
      runner.dispose();
    }
  },
}));
