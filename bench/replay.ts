// Replay speed of this runtime (Node or Deno): records four histories with the embedded engine, or
// reads them from a folder, and replays each several times through the task runner, in this thread
// and in a worker realm. JSON on standard output. `npm run bench -- replay` runs it in Node and
// Deno and its page in Chromium, over the same histories.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInlineRealm, createWorkerRealm, type Realm } from "../ts/realm/mod.ts";
import { count, options } from "./lib/measure.ts";
import * as programs from "./lib/programs.ts";
import { HISTORIES, recordHistories } from "./lib/recording.ts";
import { type History, measureReplays, overall } from "./lib/replaying.ts";

const HELP =
  `usage: node dist/bench/replay.js [options]        (or: npx deno run -A bench/replay.ts [options])

--repeats=N          replays of each history that count, after a first one (default 5)
--realms=A,B         inline, worker (default: both)
--histories=A,B      ${HISTORIES.join(", ")} (default: all)
--scale=X            length of the histories that are recorded: 1 is 1,000 steps (default 1)
--from=DIR           read the histories from DIR (NAME.bin) instead of recording them
--save=DIR           write the recorded histories to DIR and end`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, {
  repeats: "5",
  realms: "inline,worker",
  histories: HISTORIES.join(","),
  scale: "1",
  from: "",
  save: "",
});
const repeats = count("repeats", given.repeats);
const names = given.histories.split(",");
const histories: History[] = given.from !== ""
  ? names.map((name) => ({
    name,
    bytes: new Uint8Array(readFileSync(join(given.from, `${name}.bin`))),
  }))
  : await recordHistories(names, Number(given.scale));

if (given.save !== "") {
  mkdirSync(given.save, { recursive: true });
  for (const { name, bytes } of histories) writeFileSync(join(given.save, `${name}.bin`), bytes);
} else {
  const make: { [kind: string]: () => Promise<Realm> } = {
    inline: () => createInlineRealm({ workflows: programs }),
    worker: () => createWorkerRealm({ workflows: new URL("./lib/programs.ts", import.meta.url) }),
  };
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const realms: { [kind: string]: unknown } = {};
  for (const kind of given.realms.split(",")) {
    if (make[kind] === undefined) {
      throw new Error(`no realm named ${kind}; there are: ${Object.keys(make).join(", ")}`);
    }
    const realm = await make[kind]();
    const figures = await measureReplays(realm, histories, repeats, cpuMs);
    await realm.dispose();
    realms[kind] = {
      eventsPerSecond: overall(figures),
      eventsPerCpuSecond: overall(figures, "eventsPerCpuSecond"),
      histories: figures,
    };
  }
  const { deno, node } = process.versions;
  const runtime = deno !== undefined ? `deno ${deno}` : `node ${node}`;
  console.log(JSON.stringify({ bench: "replay", runtime, repeats, realms }, undefined, 1));
}
