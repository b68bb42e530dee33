// Test files that share a process. Before its first test a process with the package takes more CPU
// than most files need for their tests; and the engine compiles and optimizes the package once for
// all of them. A test leaves nothing behind in its process, or its file says at its head why it has
// a separate one: `// process: own (reason)`.
import { after, describe, test } from "node:test";
import { head } from "./file_heads.mjs";

/** Files of a process at most: they take some seconds together. */
const MOST_FILES = 10;

/** Whether a file shares its process with others: a short one that does not need its own. */
export const sharesProcess = (path) => !/^\/\/ (?:process: own\b|takes: \d+ s)/m.test(head(path));

/** Cuts a list into the fewest lists of at most `most` items, of about equal length. */
function parts(items, most) {
  const count = Math.ceil(items.length / most);
  return Array.from(
    { length: count },
    (_, i) =>
      items.slice(Math.round(i * items.length / count), Math.round((i + 1) * items.length / count)),
  );
}

/**
 * The lists of files that share a process, in the order in which they start. Files that state a
 * time or need a separate process come first.
 */
export function inProcesses(paths) {
  return [
    ...paths.filter((path) => !sharesProcess(path)).map((path) => [path]),
    ...parts(paths.filter(sharesProcess).toSorted(), MOST_FILES),
  ];
}

/**
 * Runs files in this process, one after the other. Each is a suite with the file's path as its
 * name, so its hooks apply to its tests only.
 */
export async function runTogether(files) {
  for (const { path, url } of files) {
    await new Promise((ended) => {
      describe(path, async () => {
        after(() => ended(undefined));
        try {
          await import(url);
        } catch (error) {
          test("the file loads", () => {
            throw error;
          });
        }
      });
    });
  }
}

/**
 * Assigns the events of a group's process to its files: `take(event, path)` gets them as if each
 * file had run alone, `took(path, ms)` the time of each.
 */
export class GroupEvents {
  #left;
  #current;

  constructor(files, { take, took }) {
    this.#left = new Set(files);
    this.#current = files[0];
    this.take = take;
    this.took = took;
  }

  event({ type, data }) {
    const { name, nesting } = data;
    if (nesting === 0 && this.#left.has(name)) {
      if (type === "test:dequeue") this.#current = name;
      if (type !== "test:pass" && type !== "test:fail") return;
      this.#left.delete(name);
      this.took(name, data.details.duration_ms);
      if (type === "test:pass") return;
    }
    if (nesting > 0) {
      this.take({ type, data: { ...data, nesting: nesting - 1 } }, this.#current);
      return;
    }
    // What the process failed of is the failure of the file that ran.
    if (type === "test:fail") this.#left.delete(this.#current);
    this.take(
      { type, data: name === undefined ? data : { ...data, name: this.#current } },
      this.#current,
    );
  }

  /** Files that have neither ended nor failed. */
  get left() {
    return [...this.#left];
  }
}
