// What the benches have in common: a long history with its code, figures, and the conditions under
// which they were taken.
import { readFileSync } from "node:fs";
import { arch, cpus, loadavg } from "node:os";
import process from "node:process";

const read = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/**
 * JSON of a history of Tally with so many events: one signal per workflow task, four events each;
 * still open.
 */
export function tallyHistory(events) {
  const sample = JSON.parse(read("web-demo/samples/counter.json")).events;
  const of = (type) => sample.find(({ eventType }) => eventType.endsWith(type));
  const all = [sample[0]];
  const add = (event, change = () => {}) => {
    const copy = { ...structuredClone(event), eventId: String(all.length + 1) };
    change(Object.values(copy).find((value) => typeof value === "object" && value !== null));
    return all.push(copy);
  };
  while (all.length < events) {
    const scheduled = add(of("WORKFLOW_TASK_SCHEDULED"));
    const started = add(
      of("WORKFLOW_TASK_STARTED"),
      (fields) => (fields.scheduledEventId = String(scheduled)),
    );
    add(of("WORKFLOW_TASK_COMPLETED"), (fields) => {
      fields.scheduledEventId = String(scheduled);
      fields.startedEventId = String(started);
    });
    add(of("EXECUTION_SIGNALED"), (fields) => (fields.signalName = "increment"));
  }
  return JSON.stringify({ events: all }).replaceAll('"Counter"', '"Tally"');
}

/** The code of Tally: the counter by another name, so that the page has none of its own. */
export const tallyCode = () =>
  read("examples/counter/workflow.ts").replaceAll("Counter", "Tally").replaceAll(
    "counter",
    "tally",
  );

/** Milliseconds, sorted out. */
export function figures(taken) {
  const sorted = [...taken].sort((a, b) => a - b);
  const at = (share) =>
    Math.round(10 * sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]) / 10;
  return {
    count: sorted.length,
    least: at(0),
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    most: at(1),
  };
}

export const figuresText = ({ count, least, p50, p95, most }) =>
  `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, least ${least.toFixed(0)} ms, most ${
    most.toFixed(0)
  } ms (${count})`;

/** Of this machine, now. The load is of other work, too: figures of a busy machine are larger. */
export const conditions = (browser) => ({
  ...(browser === undefined ? {} : { chromium: browser.version() }),
  node: process.version,
  cpu: `${cpus()[0].model}, ${cpus().length} ${arch()} cores`,
  load: Number(loadavg()[0].toFixed(1)),
});

export const conditionsText = (is) =>
  Object.entries(is).map(([name, value]) => `${name} ${value}`).join(", ");

/**
 * Options of a bench by their defaults: `--events=5000`, `--json`. Ends the process for `--help`,
 * and for what is unknown.
 */
export function optionsOf(help, defaults) {
  const options = { ...defaults, json: false, "no-build": false };
  for (const arg of process.argv.slice(2)) {
    const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    const isFlag = typeof options[name] === "boolean";
    if (name === "help") {
      console.log(help);
      process.exit(0);
    }
    if (name === undefined || !Object.hasOwn(options, name) || isFlag !== (value === undefined)) {
      console.error(`unknown: ${arg}\n${help}`);
      process.exit(2);
    }
    options[name] = isFlag ? true : typeof options[name] === "number" ? Number(value) : value;
  }
  return options;
}

/**
 * For a page: from now on `globalThis.verdict(since)` returns the milliseconds since the epoch of the
 * first frame with a verdict that came after `since`. An observer notices the dot of a running replay
 * even if it is shown for less than a frame.
 */
export function watchVerdicts() {
  const seen = [];
  let waiting = [];
  let isWorking = false;
  const look = () => {
    const working = document.querySelector("#verdict .working") !== null;
    if (isWorking && !working) {
      requestAnimationFrame(() =>
        setTimeout(() => {
          const at = performance.timeOrigin + performance.now();
          seen.push(at);
          for (const { since, resolve } of waiting) if (at > since) resolve(at);
          waiting = waiting.filter(({ since }) => at <= since);
        })
      );
    }
    isWorking = working;
  };
  new MutationObserver(look).observe(document.querySelector("header.top"), {
    subtree: true,
    childList: true,
  });
  globalThis.verdicts = seen;
  globalThis.verdict = (since) =>
    new Promise((resolve) => {
      const known = seen.find((at) => at > since);
      if (known === undefined) waiting.push({ since, resolve });
      else resolve(known);
    });
}
