// The deploy gate compared with the official replayer: `temporalex replay` and
// Worker.runReplayHistories replay the same histories of official programs, one after the other, in
// separate processes. `npm run bench -- gate [--histories=1000] [--rounds=3] [--jobs=N]`.
//
// "programs": those of tests/unit/compat, and of the corpus next to some checkouts, with their
// histories; all were recorded by the official SDK. A number: histories of one program with about
// so many events. They are copied until there are as many as asked for. The official replayer gets
// them as protobuf, which is quicker to read than its JSON, and a bundle that was made before; ours
// gets JSON, as exports are, and then the same protobuf, and TypeScript modules.
//
// What a replayer's start costs is measured with a single short history; the rest is the replays'.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { deployment, type Recorded } from "./gate/deployment.ts";
import { lengths } from "./gate/lengths.ts";
import { count, options, round, spread } from "./lib/measure.ts";

const HELP = `usage: node dist/bench/gate.js [options]

--sets=A,B      what to replay, each apart: programs (many programs, short histories), or a number of events (one program)
                (default programs,10,100,1000,5000)
--histories=N   histories of a set (default 1000), of which a set by number has at most 100,000 events
--rounds=N      rounds, each with both replayers (default 3)
--forms=A,B     what ours reads: json, bin (default: both)
--jobs=N        --jobs of temporalex replay; several, with commas, are measured apart (default: what it chooses)
--package=DIR   the published package, made by tools/pack.mjs (npm run bench makes it); without it the checkout is measured, whose many
                files take a second longer to load
--keep=DIR      leave programs and histories in DIR`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, {
  sets: "programs,10,100,1000,5000",
  histories: "1000",
  rounds: "3",
  forms: "json,bin",
  jobs: "default",
  keep: "",
  package: "",
});
const wanted = count("histories", given.histories);
const rounds = count("rounds", given.rounds);

const folder = given.keep === "" ? mkdtempSync(join(tmpdir(), "bench-gate-")) : given.keep;
const program = (name: string) =>
  fileURLToPath(new URL(`../../bench/gate/${name}`, import.meta.url));

/** What a replayer says of itself when it is done. */
interface Figures {
  readonly histories: number;
  readonly ok: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Runs a program to its end; its last line is its figures. */
function run(file: string, argv: readonly string[]): Promise<Figures> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--no-warnings", file, ...argv], {
      stdio: ["ignore", "pipe", "inherit"],
    });
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

/** A deployment with histories, how many there are to be of them, and a short one. */
interface Set {
  readonly name: string;
  readonly module: string;
  readonly histories: readonly Recorded[];
  readonly copies: number;
  readonly short: Recorded;
}

/** Events that a set of long histories has together. */
const MAX_EVENTS = 100_000;

async function sets(): Promise<Set[]> {
  const names = given.sets.split(",");
  const numbers = names.filter((name) => name !== "programs").map((name) =>
    count("sets", name, 10)
  );
  const found: Set[] = [];
  if (names.includes("programs")) {
    const { module, histories } = deployment(join(folder, "of-programs"));
    const short = histories.reduce((a, b) => a.text.length < b.text.length ? a : b);
    found.push({ name: "programs", module, histories, copies: wanted, short });
  }
  if (numbers.length > 0) {
    const { module, histories } = await lengths(join(folder, "of-one-program"), [10, ...numbers]);
    const [short, ...asked] = histories as [Recorded, ...typeof histories];
    for (const [i, history] of asked.entries()) {
      const copies = Math.min(wanted, Math.ceil(MAX_EVENTS / history.events));
      found.push({ name: `${numbers[i]} events`, module, histories: [history], copies, short });
    }
  }
  return found;
}

/**
 * Writes histories for both replayers, as JSON and as protobuf; returns the numbers of events and
 * of bytes of JSON.
 */
function write(
  place: string,
  histories: readonly Recorded[],
  copies: number,
): { readonly events: number; readonly bytes: number } {
  for (const form of ["json", "bin"]) mkdirSync(join(place, form), { recursive: true });
  const read = histories.map(({ name, text }) => ({
    name,
    text,
    history: fromJson(HistorySchema, JSON.parse(text)),
  }));
  let [events, bytes] = [0, 0];
  for (let i = 0; i < copies; i++) {
    const { name, text, history } = read[i % read.length]!;
    const file = `${String(i).padStart(6, "0")}-${name}`;
    writeFileSync(join(place, "json", `${file}.json`), text);
    writeFileSync(join(place, "bin", `${file}.bin`), toBinary(HistorySchema, history));
    events += history.events.length;
    bytes += text.length;
  }
  return { events, bytes };
}

const OURS = fileURLToPath(new URL("./gate/ours.js", import.meta.url));
const FIELDS = ["cpuMs", "wallMs", "replayCpuMs", "replayWallMs"] as const;
type Measured = { readonly [field in typeof FIELDS[number]]: number } & { readonly ok: number };

/** A set by both replayers in turn. */
async function measure(set: Set) {
  const place = join(folder, set.name.replace(" ", "-"));
  const { events, bytes } = write(place, set.histories, set.copies);
  write(join(place, "short"), [set.short], 1);
  const bundle = join(place, "bundle.js");
  await run(program("official.mjs"), ["--bundle", set.module, bundle]);
  const replayers: { [name: string]: (histories: string) => Promise<Figures> } = {
    official: (histories) => run(program("official.mjs"), [bundle, join(histories, "bin")]),
  };
  for (const form of given.forms.split(",")) {
    for (const jobs of given.jobs.split(",")) {
      const more = jobs === "default" ? [] : ["--jobs", jobs];
      replayers[["ours", form, ...more].join(" ")] = (histories) =>
        run(OURS, [given.package, set.module, join(histories, form), ...more]);
    }
  }
  const results: { [name: string]: Measured[] } = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, replay] of Object.entries(replayers)) {
      const start = await replay(join(place, "short"));
      const { ok, cpuMs, wallMs } = await replay(place);
      const replays = { replayCpuMs: cpuMs - start.cpuMs, replayWallMs: wallMs - start.wallMs };
      (results[name] ??= []).push({ ok, cpuMs, wallMs, ...replays });
    }
  }
  const spreads = (name: string) =>
    FIELDS.map((field) => [field, spread(results[name]!.map((r) => r[field]))] as const);
  const official = spreads("official");
  const figures = Object.keys(replayers).map((name) => {
    const own = spreads(name);
    const timesAsFast = own.map((
      [field, { median }],
      i,
    ) => [field, round(official[i]![1].median / median)]);
    return [name, {
      ok: results[name]![0]!.ok,
      ...Object.fromEntries(own),
      timesAsFast: Object.fromEntries(timesAsFast),
    }];
  });
  return {
    ...{
      set: set.name,
      histories: set.copies,
      different: set.histories.length,
      events,
      jsonBytes: bytes,
    },
    replayers: Object.fromEntries(figures),
  };
}

try {
  const measured = [];
  for (const set of await sets()) {
    const figures = await measure(set);
    measured.push(figures);
    // A bench of a quarter of an hour says what it has when it is ended before.
    console.error(JSON.stringify(figures));
  }
  const runtime = `node ${process.versions.node}`;
  console.log(
    JSON.stringify(
      { bench: "gate", runtime, cores: availableParallelism(), rounds, sets: measured },
      undefined,
      1,
    ),
  );
} finally {
  if (given.keep === "") rmSync(folder, { recursive: true, force: true });
}
