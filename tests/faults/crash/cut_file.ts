// A separate process that cuts a file of an open store once in each round: `cut_file FOLDER`. It
// reads `round` (JSON, replaced as a whole) and `acks` (a counter) in the folder, and writes the
// counter as it was right after the cut into `cut`.
import {
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";

/**
 * What is cut in a round: `file` to `part` of its size, or to `bytes`, once `acks` commits are
 * acknowledged and `spins` loops have run.
 */
export interface CutRound {
  readonly round: number;
  readonly file: string;
  readonly part: number;
  readonly bytes: number;
  readonly acks: number;
  readonly spins: number;
}

const PAUSE_MS = 0.2;

if (
  process.argv[2] !== undefined &&
  import.meta.url.includes(process.argv[1]?.split(/[\\/]/).pop() ?? " ")
) {
  cutFiles(process.argv[2]);
}

function cutFiles(folder: string): never {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const counter = new Float64Array(1);
  const acks = openSync(join(folder, "acks"), "r");
  const read = () => (readSync(acks, new Uint8Array(counter.buffer), 0, 8, 0), counter[0]!);
  console.log("ready");
  for (let done = 0;;) {
    const round = existsSync(join(folder, "round"))
      ? JSON.parse(readFileSync(join(folder, "round"), "utf8")) as CutRound
      : undefined;
    if (round?.round === -1) process.exit(0);
    if (round === undefined || round.round <= done) {
      Atomics.wait(pause, 0, 0, PAUSE_MS);
      continue;
    }
    done = round.round;
    while (read() < round.acks);
    for (let i = 0; i < round.spins; i++) Math.random();
    truncateSync(
      round.file,
      round.bytes >= 0 ? round.bytes : Math.floor(statSync(round.file).size * round.part),
    );
    writeFileSync(join(folder, "cut.new"), JSON.stringify({ round: done, acks: read() }));
    renameSync(join(folder, "cut.new"), join(folder, "cut"));
  }
}
