// Another process cuts the log, or the file, of a store in the middle of its commits. What may be
// acknowledged afterwards is the one commit that was judged before the cut; then the store refuses,
// and what is left is sound and a prefix of what was acknowledged.
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { DriverName } from "../../../ts/engine/sqlite/driver.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { StoreCorruptError } from "../../../ts/engine/store_errors.ts";
import { kill, nextLine, startModule } from "../../unit/engine/support/child.ts";
import { batch, row, write } from "../../unit/engine/support/records.ts";
import type { CutRound } from "./cut_file.ts";

const cutter = new URL(
  import.meta.url.endsWith(".js") ? "./cut_file.js" : "./cut_file.ts",
  import.meta.url,
);

export interface CutOptions {
  readonly folder: string;
  readonly driver: DriverName;
  readonly rounds: number;
  readonly what: "log" | "file";
  readonly random: () => number;
  onRound?(figures: CutFigures & { readonly round: number }): void;
}

export interface CutFigures {
  /** Rounds in which the store noticed. */
  noticed: number;
  /** Rounds in which nothing was lost and the store continued. */
  harmless: number;
  /** Most commits that were acknowledged after a cut. */
  late: number;
  readonly problems: string[];
}

/** Commits after the cut that a store may make before the round ends. */
const MOST_AFTER = 60;
const MOST_COMMITS = 4_000;
/** A commit of a few pages, and one of many. */
const SHORT = [batch(1, 2)];
const LONG = [batch(1, 3_000)];

export async function cutLoop(options: CutOptions): Promise<CutFigures> {
  const { folder, rounds } = options;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "acks"), new Uint8Array(8));
  const figures: CutFigures = { noticed: 0, harmless: 0, late: 0, problems: [] };
  const child = startModule(cutter, [folder]);
  try {
    await nextLine(child);
    for (let round = 1; round <= rounds; round++) {
      cutOnce(options, round, figures);
      options.onRound?.({ round, ...figures });
    }
  } finally {
    await kill(child);
  }
  return figures;
}

function cutOnce(
  { folder, driver, what, random }: CutOptions,
  round: number,
  figures: CutFigures,
): void {
  const path = join(folder, `store${round}.db`);
  const store = SqliteStore.open(path, { driver, synchronous: random() < 0.5 ? "FULL" : "NORMAL" });
  const plan: CutRound = {
    round,
    file: what === "log" ? `${path}-wal` : path,
    part: random(),
    bytes: [0, what === "log" ? 32 : 8192, -1][Math.floor(random() * 3)]!,
    acks: 1 + Math.floor(random() * 40),
    spins: Math.floor(random() * 50_000),
  };
  const append = random() < 0.5 ? SHORT : LONG;
  const historyLength = append[0]!.lastEventId;
  const say = (text: string) =>
    figures.problems.push(`round ${round} (${driver}, ${JSON.stringify(plan)}): ${text}`);
  const counter = new Float64Array(1);
  const acks = openSync(join(folder, "acks"), "r+");
  const acknowledge = (
    n: number,
  ) => (counter[0] = n, writeSync(acks, new Uint8Array(counter.buffer), 0, 8, 0));
  acknowledge(0);
  writeFileSync(join(folder, "round.new"), JSON.stringify(plan));
  renameSync(join(folder, "round.new"), join(folder, "round"));
  const cut = () => {
    const found = existsSync(join(folder, "cut"))
      ? JSON.parse(readFileSync(join(folder, "cut"), "utf8"))
      : undefined;
    return found?.round === round ? found.acks as number : undefined;
  };
  let acked = 0;
  let error: unknown;
  try {
    for (
      let after = 0;
      after < MOST_AFTER && acked < MOST_COMMITS;
      cut() !== undefined && after++
    ) {
      store.commit([
        write(row(`w${acked}`, `r${acked}`, { historyLength }), { create: true, append }),
      ]);
      acknowledge(++acked);
    }
  } catch (e) {
    error = e;
  }
  while (cut() === undefined);
  closeSync(acks);
  const late = acked - cut()!;
  try {
    store.close();
  } catch (e) {
    error ??= e;
  }
  if (error !== undefined && !(error instanceof StoreCorruptError)) say(`failed with ${error}`);
  if (error === undefined) figures.harmless++;
  else {
    figures.noticed++;
    figures.late = Math.max(figures.late, late);
    if (late > 1) say(`${late} commits were acknowledged after the cut`);
  }
  if (what === "log" || error === undefined) {
    judge(path, driver, error === undefined ? acked : 0, acked, say);
  }
  for (const name of readdirSync(folder)) {
    if (name.startsWith(`store${round}.db`)) rmSync(join(folder, name), { force: true });
  }
}

/**
 * What is left opens, is sound, and holds the first commits without a gap: at least `least`, at
 * most one more than were acknowledged.
 */
function judge(
  from: string,
  driver: DriverName,
  least: number,
  acked: number,
  say: (text: string) => void,
): void {
  // The files as the next process finds them: libsql keeps a closed file open until its statements
  // are collected.
  const path = `${from}.left`;
  for (const end of ["", "-wal"]) {
    if (existsSync(`${from}${end}`)) copyFileSync(`${from}${end}`, `${path}${end}`);
  }
  try {
    const left = SqliteStore.open(path, { driver });
    try {
      const damage = left.check();
      if (damage.length > 0) say(`what is left is damaged: ${damage.join("; ")}`);
      const count = left.count();
      if (count < least || count > acked + 1) say(`${count} of ${acked} commits are left`);
      for (let i = 0; i < count; i++) {
        if (left.load(`w${i}`) === undefined) say(`commit ${i} of ${count} is missing`);
      }
    } finally {
      left.close();
    }
  } catch (e) {
    say(`what is left cannot be opened: ${e}`);
  }
}
