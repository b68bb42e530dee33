// Lines and table of the text output.
import type { Color, Column, Printer } from "../../frame/printer.ts";
import { printableLine } from "../../frame/printable.ts";
import type { ReplayLine, Verdict } from "./line.ts";
import { placeText } from "./place.ts";
import type { ChangedGroup, Group, Summary } from "./summary.ts";

const COLORS: { readonly [verdict in Verdict]: Color } = {
  ok: "green",
  changed: "red",
  nondeterminism: "red",
  failed: "red",
  unreadable: "yellow",
};

/** Formats one history with its problem. */
export function replayLineText(line: ReplayLine, print: Printer): string {
  const { file, place, verdict, workflowType, events, activations, warnings, error, ms } = line;
  const facts = verdict === "unreadable"
    ? ""
    : `  ${workflowType}, ${events} events, ${activations} activations, ${ms} ms`;
  const details = [
    ...(error === undefined ? [] : [
      ...(error.sentence === undefined ? [] : [error.sentence]),
      ...repairText(error.repair),
      error.message,
      ...(error.expected === "" && error.actual === ""
        ? []
        : [`history: ${error.expected}`, `code:    ${error.actual}`]),
      ...placeLines(error),
    ]),
    ...(line.changedValues ?? []).flatMap((changed) => [
      print.paint(
        `changed value (event ${changed.eventId}, ${changed.step}): ${changed.sentence}`,
        "yellow",
      ),
      ...(changed.location === "" ? [] : [`at ${changed.location}`]),
    ]),
    ...warnings.map(({ message, eventId }) =>
      print.paint(`warning${eventId > 0 ? ` (event ${eventId})` : ""}: ${message}`, "yellow")
    ),
  ];
  const head = `${print.paint(verdict.padEnd(14), COLORS[verdict])}  ${
    printableLine(historyLabel({ file, place }) + facts)
  }`;
  // A line feed in a message continues the details; it cannot forge a line of another history.
  return [head, ...details.flatMap((detail) => detail.split("\n")).map((detail) => `    ${detail}`)]
    .join("\n") + "\n";
}

/** The frames of workflow code that threw; otherwise the line. */
export function placeLines({ location, stack = "" }: NonNullable<ReplayLine["error"]>): string[] {
  if (stack !== "") return stack.split("\n").map((frame) => `at ${frame}`);
  return location === "" ? [] : [`at ${location}`];
}

function repairText(repair: NonNullable<ReplayLine["error"]>["repair"]): string[] {
  if (repair === undefined) return [];
  if (repair.code === "") return [repair.text];
  const proof = repair.isReplayed === true
    ? []
    : ["This repair is a guess: the history has not been replayed with it."];
  return [repair.text, ...repair.code.split("\n").map((line) => `  ${line}`), ...proof];
}

/** File of the history, with the position in it. */
export const historyLabel = (
  { file, place }: { readonly file: string; readonly place?: string | undefined },
): string => place === undefined ? file : `${file} (${place})`;

/** Counts of verdicts: "1,200 histories: 1,197 ok, 3 nondeterminism". */
export function countsText({ histories, verdicts, gone }: Summary): string {
  const parts = Object.entries(verdicts).filter(([, n]) => n > 0).map(([verdict, n]) =>
    `${n} ${verdict}`
  );
  if (gone > 0) parts.push(`${gone} gone before they were read`);
  const all = histories === 1 ? "1 history" : `${histories} histories`;
  return parts.length === 0 ? all : `${all}: ${parts.join(", ")}`;
}

const COLUMNS: readonly Column<Group>[] = [
  { title: "Verdict", cell: ({ verdict }) => verdict, color: ({ verdict }) => COLORS[verdict] },
  { title: "Workflow", cell: ({ workflowType }) => workflowType === "" ? "-" : workflowType },
  { title: "Line", cell: ({ place }) => place === undefined ? "-" : placeText(place) },
  { title: "Runs", cell: ({ runs }) => String(runs), right: true },
  {
    title: "Example",
    cell: ({ example }) =>
      `${historyLabel(example)}${example.eventId > 0 ? `, event ${example.eventId}` : ""}`,
  },
];

/** What runs of a group have in common, and their ids. */
function sharedText({ sentence, runs, workflowIds }: Group): string {
  if (sentence === undefined || runs < 2) return "";
  const more = runs - workflowIds.length;
  const names = `${printableLine(workflowIds.join(", "))}${more > 0 ? ` and ${more} more` : ""}`;
  return `${printableLine(sentence)}\n    shared by ${runs} runs: ${names}\n`;
}

const CHANGED_COLUMNS: readonly Column<ChangedGroup>[] = [
  { title: "Changed values", cell: ({ paths }) => paths.join(", ") },
  { title: "Command", cell: ({ step }) => step },
  { title: "Workflow", cell: ({ workflowType }) => workflowType },
  { title: "Line", cell: ({ place }) => place === undefined ? "-" : placeText(place) },
  { title: "Runs", cell: ({ runs }) => String(runs), right: true },
  { title: "Example", cell: ({ example }) => `${historyLabel(example)}, event ${example.eventId}` },
];

/** Table of failures, followed by the counts. */
export function summaryText(summary: Summary, ms: number, print: Printer): string {
  const { warned, interrupted } = summary;
  // The line of a single history has been printed already.
  const groups = summary.histories === 1 ? [] : summary.groups;
  const table = groups.length === 0 ? "" : `\n${print.table(groups, COLUMNS)}\n`;
  const changed = summary.histories === 1 ? [] : summary.changedGroups;
  const values = changed.length === 0 ? "" : `\n${print.table(changed, CHANGED_COLUMNS)}\n`;
  const shared = groups.map(sharedText).join("");
  const { changedHistories } = summary;
  const notes = `${warned > 0 ? `, ${warned} with warnings` : ""}${
    changedHistories > 0 ? `, ${changedHistories} with changed values` : ""
  }${interrupted ? ", interrupted" : ""}`;
  return `${table}${values}${shared === "" ? "" : `${shared}\n`}${countsText(summary)}${notes} (${
    (ms / 1000).toFixed(1)
  } s)\n`;
}
