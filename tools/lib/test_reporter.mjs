// A reporter for `node --test` that says what one needs to know of a run that cannot be looked at
// again: each failure by file and name with its whole error, at the moment at which it is known;
// what its file printed; and of a file that was ended, the tests that had begun and not ended. The
// last lines are the time of each file, the longest first, and the counts.
import { inspect } from "node:util";

/**
 * Characters of one error, and of what one file printed, at most: the begin and the end of it are
 * kept.
 */
const ERROR_CHARS = 8000;
const PRINTED_CHARS = 4000;

const cut = (text, most) =>
  text.length <= most
    ? text
    : `${text.slice(0, most / 2)}\n… (${text.length - most} characters left out)\n${
      text.slice(-most / 2)
    }`;
const indented = (text) => text.trimEnd().replace(/^(?=.)/gm, "    ");
/** Tests are written in TypeScript and run as what is made of it. */
const sourceOf = (file = "") => {
  const path = file.startsWith(`${process.cwd()}/`) ? file.slice(process.cwd().length + 1) : file;
  return path.startsWith("dist/") ? path.slice(5).replace(/\.js$/, ".ts") : path;
};

/** The error of a test, without the runner's own wrapping around it. */
function whole(error) {
  if (error?.failureType === "testAborted") return "timed out";
  const cause = error?.code === "ERR_TEST_FAILURE" && error.cause !== undefined
    ? error.cause
    : error;
  return cut(
    typeof cause === "string" ? cause : inspect(cause, { depth: 6, maxStringLength: 20_000 }),
    ERROR_CHARS,
  );
}

/** Takes the runner's events and gives lines; pure, for its test. */
export class Report {
  /** Per file: where its tests stand, what has begun, what it printed. */
  #files = new Map();
  #skipped = [];
  #counts = {};
  #times = [];
  #sharedCpu = 0;

  #file(path) {
    let file = this.#files.get(path);
    if (file === undefined) {
      this.#files.set(path, file = { path: [], begun: [], printed: "", told: false });
    }
    return file;
  }

  /**
   * Text to print for an event of a file, or nothing. (An event names the file that declares its
   * test: not always the one that runs.)
   */
  take({ type, data }, path = data.file) {
    const file = this.#file(path);
    switch (type) {
      case "test:stdout":
      case "test:stderr":
        file.printed = (file.printed + data.message).slice(-2 * PRINTED_CHARS);
        return "";
      case "test:dequeue":
        if (data.name !== path) file.begun.push(data.name);
        return "";
      case "test:complete": {
        const at = file.begun.lastIndexOf(data.name);
        if (at >= 0) file.begun.splice(at, 1);
        return "";
      }
      case "test:start":
        file.path.length = data.nesting;
        file.path[data.nesting] = data.name;
        return "";
      case "test:pass":
        if (data.skip !== undefined) {
          this.#skipped.push(
            `${data.name}${typeof data.skip === "string" ? ` (${data.skip})` : ""}`,
          );
        }
        return "";
      case "test:fail":
        return this.#failure(file, path, data);
      case "test:diagnostic": {
        const [, what, count] = /^(pass|fail|cancelled|skipped) (\d+)$/.exec(data.message) ?? [];
        if (what !== undefined) this.#counts[what] = (this.#counts[what] ?? 0) + Number(count);
        return "";
      }
      default:
        return "";
    }
  }

  #failure(file, path, { name, nesting, details, todo }) {
    if (todo !== undefined) return "";
    const error = details?.error;
    // Its subtests were reported before.
    if (error?.failureType === "subtestsFailed") return "";
    const names = name === path ? [] : [...file.path.slice(0, nesting), name];
    let text = `not ok - ${[sourceOf(path), ...names].join(" > ")}\n${indented(whole(error))}\n`;
    if (name === path && file.begun.length > 0) {
      text += `    begun and not ended: ${file.begun.splice(0).join("; ")}\n`;
    }
    if (file.printed !== "" && (!file.told || name === path)) {
      file.told = true;
      text += `    its file printed:\n${indented(indented(cut(file.printed, PRINTED_CHARS)))}\n`;
    }
    return text;
  }

  /** Tests that have begun and not ended, by file. */
  unfinished() {
    return [...this.#files].filter(([, { begun }]) => begun.length > 0)
      .map(([path, { begun }]) => `not ended - ${sourceOf(path)}: ${begun.join("; ")}\n`).join("");
  }

  /** A file that failed without an event of its process, which its counts do not have. */
  lost() {
    this.#counts.fail = (this.#counts.fail ?? 0) + 1;
  }

  /** `cpu` is in seconds; undefined where it is not known. */
  took(path, ms, cpu) {
    this.#times.push([sourceOf(path), ms / 1000, cpu]);
  }

  /** CPU time of a process that several files shared. */
  tookTogether(cpu = 0) {
    this.#sharedCpu += cpu;
  }

  /** Seconds of each file and of its process, the longest first. */
  times() {
    const sorted = this.#times.sort(([, a], [, b]) => b - a);
    const shared = this.#sharedCpu > 0
      ? `cpu: ${this.#sharedCpu.toFixed(1)} s in processes of several files\n`
      : "";
    return sorted.map(([path, seconds, cpu]) =>
      `time: ${seconds.toFixed(1)} s ${path}${
        cpu === undefined ? "" : ` (${cpu.toFixed(1)} s of CPU)`
      }\n`
    ).join("") + shared;
  }

  end() {
    const { pass = 0, fail = 0, cancelled = 0, skipped = 0 } = this.#counts;
    return `${this.#skipped.map((name) => `skipped: ${name}\n`).join("")}# pass ${pass}\n# fail ${
      fail + cancelled
    }\n# skipped ${skipped}\n`;
  }
}
