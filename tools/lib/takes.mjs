// Writes measured times into the heads of test files (`// takes: 9 s`), so that long files are
// started first and `quick` leaves them out.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./steps.mjs";
import { SHORT_SECONDS, takes } from "./test_files.mjs";

/**
 * A figure is kept while the measured time is within this factor of it: the times of a busy machine
 * vary.
 */
const TOLERANCE = 1.5;

/**
 * Takes lines such as "9.4 s tests/unit/cli/replay.test.ts". Returns the number of files that were
 * changed.
 */
export function writeTakes(lines) {
  let changed = 0;
  for (const line of lines) {
    const [, seconds, file] =
      /^([\d.]+) s (tests\/\S+\.test\.ts)(?: \([\d.]+ s of CPU\))?$/.exec(line) ?? [];
    if (file === undefined) continue;
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    const next = withTakes(text, takes(file), Number(seconds));
    if (next === text) continue;
    writeFileSync(path, next);
    changed++;
  }
  return changed;
}

/** The text of a file with a new figure in its head. */
export function withTakes(text, stated, measured) {
  const isShort = measured < SHORT_SECONDS;
  if (
    stated === 0
      ? isShort
      : !isShort && measured < stated * TOLERANCE && measured > stated / TOLERANCE
  ) return text;
  const without = text.replace(/^\/\/ takes: \d+ s\n/m, "");
  if (isShort) return without;
  // After the comment at the head of the file, where there is one.
  const comment = /^(?:\/\/.*\n)*/.exec(without)?.[0] ?? "";
  return `${comment}// takes: ${Math.ceil(measured)} s\n${without.slice(comment.length)}`;
}
