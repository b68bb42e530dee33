// The deploy gate beside the official replayer: `temporalex replay` and Worker.runReplayHistories go over the same histories of official
// programs, one after the other, in processes of their own. `npm run bench -- gate [--histories=1000] [--rounds=3] [--jobs=N]`.
//
// The programs and histories are those of tests/compat, and of the corpus that lies beside some checkouts; all were recorded by the official
// SDK. They are copied until there are as many as asked for. Ours are read as JSON files, as exports are;
// the official replayer gets them as protobuf, which is quicker to read and spares it its slow reader of JSON. It is given a bundle that
// was made before; its time begins when that is read. Ours loads the TypeScript modules.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../ts/api/generated/temporal/api/history/v1/message_pb.ts";
import { deployment, type Recorded } from "./gate/deployment.ts";
import { count, options, round, spread } from "./lib/measure.ts";

const HELP = `usage: node dist/bench/gate.js [options]

--histories=N   histories to replay (default 1000)
--rounds=N      rounds, each with both replayers (default 3)
--jobs=N        --jobs of temporalex replay; several, with commas, are measured apart (default: what it chooses, and 1)
--package=DIR   the published package, made by tools/pack.mjs (npm run bench makes it); without it the checkout is measured, whose many
                files take a second longer to load
--keep=DIR      leave programs and histories in DIR`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, { histories: "1000", rounds: "3", jobs: "default,1", keep: "", package: "" });
const wanted = count("histories", given.histories);
const rounds = count("rounds", given.rounds);

const folder = given.keep === "" ? mkdtempSync(join(tmpdir(), "bench-gate-")) : given.keep;
const program = (name: string) => fileURLToPath(new URL(`../../bench/gate/${name}`, import.meta.url));

/** What a replayer says of itself when it is done. */
interface Figures {
  readonly histories: number;
  readonly ok: number;
  /** Of the whole process, from its start. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** From the first history to the last verdict. */
  readonly replayCpuMs: number;
  readonly replayWallMs: number;
}

/** Runs a program to its end; its last line is its figures. */
function run(file: string, argv: readonly string[]): Promise<Figures> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--no-warnings", file, ...argv], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk) => text += chunk);
    child.on("error", reject);
    child.on("close", (code) => {
      const wallMs = performance.now() - started;
      if (code !== 0) return reject(new Error(`${file} ended with ${code}: ${text.slice(-2000)}`));
      resolve({ ...JSON.parse(text.trim().split("\n").at(-1)!), wallMs });
    });
  });
}

function write(histories: readonly Recorded[]): void {
  for (const kind of ["json", "bin"]) mkdirSync(join(folder, kind), { recursive: true });
  for (let i = 0; i < wanted; i++) {
    const { name, text } = histories[i % histories.length]!;
    const file = `${String(i).padStart(6, "0")}-${name}`;
    writeFileSync(join(folder, "json", `${file}.json`), text);
    const bytes = toBinary(HistorySchema, fromJson(HistorySchema, JSON.parse(text)));
    writeFileSync(join(folder, "bin", `${file}.bin`), bytes);
  }
}

try {
  const { module, histories } = deployment(folder);
  write(histories);
  const bundle = join(folder, "bundle.js");
  await run(program("official.mjs"), ["--bundle", module, bundle]);
  const ours = given.jobs.split(",");
  const results: { [name: string]: Figures[] } = { official: [] };
  for (let round = 0; round < rounds; round++) {
    results["official"]!.push(await run(program("official.mjs"), [bundle, join(folder, "bin")]));
    for (const jobs of ours) {
      const more = jobs === "default" ? [] : ["--jobs", jobs];
      const name = jobs === "default" ? "ours" : `ours, --jobs ${jobs}`;
      const figures = await run(fileURLToPath(new URL("./gate/ours.js", import.meta.url)), [
        given.package,
        module,
        join(folder, "json"),
        ...more,
      ]);
      (results[name] ??= []).push(figures);
    }
  }
  const fields = ["cpuMs", "wallMs", "replayCpuMs", "replayWallMs"] as const;
  const medians = (name: string) =>
    Object.fromEntries(fields.map((field) => [field, spread(results[name]!.map((r) => r[field])).median]));
  const official = medians("official");
  console.log(JSON.stringify(
    {
      bench: "gate",
      runtime: `node ${process.versions.node}`,
      cores: availableParallelism(),
      histories: wanted,
      kinds: histories.length,
      rounds,
      replayers: Object.fromEntries(
        Object.entries(results).map(([name, figures]) => {
          const own = medians(name);
          return [name, {
            ok: figures[0]!.ok,
            ...Object.fromEntries(fields.map((field) => [field, spread(figures.map((r) => r[field]))])),
            timesAsFast: Object.fromEntries(fields.map((field) => [field, round(official[field]! / own[field]!)])),
          }];
        }),
      ),
    },
    undefined,
    1,
  ));
} finally {
  if (given.keep === "") rmSync(folder, { recursive: true, force: true });
}
