// The official replayer as judge of the first divergent task: it replays each edit of the programs
// for Temporal; its error names an event of that task. It gives no verdict on an edit that it does
// not call a divergence, or whose error names no event.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../verdicts/official.mjs", import.meta.url));

/** How many edits are in one bundle: more of them make each replay slower. */
const GROUP = 40;

/** Whether `npm ci --prefix tests/system/interop --ignore-scripts` has been run. */
export const hasOfficial = () =>
  existsSync(
    new URL("../../../tests/system/interop/node_modules/@temporalio/worker", import.meta.url),
  );

/**
 * The task, from 1, whose commands an event is of; of another event the last one that had completed
 * before it.
 */
function taskOf(history, eventId) {
  const completed = history.events.filter(({ eventType }) =>
    /WORKFLOW_TASK_COMPLETED|WorkflowTaskCompleted/.test(eventType)
  )
    .map(({ eventId }) => Number(eventId));
  const event = history.events.find((one) => Number(one.eventId) === eventId);
  const of = Object.values(event ?? {}).find((one) =>
    one?.workflowTaskCompletedEventId !== undefined
  )
    ?.workflowTaskCompletedEventId;
  const at = of === undefined
    ? completed.filter((id) => id < eventId).length - 1
    : completed.indexOf(Number(of));
  return at + 1;
}

/**
 * Adds `official` to rows with a `json` (the history as an object), a `file` and a `workflowId`: {
 * verdict, message, eventId, task }.
 * @returns {Promise<void>}
 */
export async function judge(rows, work) {
  const groups = [];
  for (let i = 0; i < rows.length; i += GROUP) {
    const group = rows.slice(i, i + GROUP);
    const modules = join(work, `judged-${groups.length}.js`);
    const lines = group.map((row, n) =>
      `export { ${typeOf(row.json)} as w${i + n} } from "./${basename(row.file)}";`
    );
    writeFileSync(modules, `${lines.join("\n")}\n`);
    const histories = group.map(({ json, workflowId }, n) => {
      const copy = structuredClone(json);
      copy.events[0].workflowExecutionStartedEventAttributes.workflowType.name = `w${i + n}`;
      const file = join(work, `judged-w${i + n}.json`);
      writeFileSync(file, JSON.stringify(copy));
      return { id: `w${i + n}`, workflowId, file };
    });
    groups.push({ modules, histories });
  }
  const list = join(work, "judged.json");
  for (const group of groups) {
    writeFileSync(list, JSON.stringify([group]));
    const child = spawn(process.execPath, [PROGRAM, list], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith("{")) continue;
      const { id, verdict, message } = JSON.parse(line);
      if (id === undefined) continue;
      const row = rows[Number(id.slice(1))];
      const eventId = Number(/\bid: (\d+)/.exec(message)?.[1] ?? 0);
      row.official = {
        verdict,
        message,
        eventId,
        task: eventId === 0 ? 0 : taskOf(row.json, eventId),
      };
    }
  }
}

const typeOf = ({ events }) => events[0].workflowExecutionStartedEventAttributes.workflowType.name;

/**
 * Lines of figures, and those rows in which the judge names an earlier task than the explanation
 * does.
 */
export function judged(rows) {
  const seen = rows.filter(({ official }) => official !== undefined);
  const named = seen.filter(({ official }) =>
    official.verdict === "NONDETERMINISM" && official.task > 0
  );
  const same = named.filter(({ official, task }) => official.task === task);
  const earlier = named.filter(({ official, task }) => task < official.task);
  const later = named.filter(({ official, task }) => task > official.task);
  const right = (list, task) => list.filter((row) => task(row) === row.truth).length;
  return [
    ...later.map(({ program, kind, line, task, truth, official }) =>
      `the official replayer is earlier: ${program} ${kind}:${line}: task ${official.task}, said ${task}, truth ${truth}: ${official.message}`
    ),
    `official replayer: ${seen.length} of ${rows.length} judged, ${named.length} with an event; first task the same in ${same.length}, ` +
    `earlier here in ${earlier.length}, later in ${later.length}; true in ${
      right(named, ({ official }) => official.task)
    } there, ` +
    `${right(named, ({ task }) => task)} here`,
  ];
}
