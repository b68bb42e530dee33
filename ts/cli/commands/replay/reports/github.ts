// Annotations for GitHub Actions, `::error file=...,line=...::...`: one for each diverging line,
// because a step shows at most ten.
import { printable } from "../../../frame/printable.ts";
import { historyLabel } from "../text.ts";
import { type Place, shortPath } from "../place.ts";
import type { ChangedGroup, Group, Summary } from "../summary.ts";

/** Returns lines for the log of a step; "" if all is ok. */
export function githubAnnotations(summary: Summary, workflows: readonly string[]): string {
  return [
    ...summary.groups.map((group) => annotation(group, summary.folder, workflows)),
    ...summary.changedGroups.map((group) => changedAnnotation(group, summary, workflows)),
  ].join("");
}

function changedAnnotation(
  { workflowType, place, step, sentence, runs, example }: ChangedGroup,
  { folder, values }: Summary,
  workflows: readonly string[],
): string {
  const where = place === undefined ? { file: shortPath(workflows[0]!, folder) } : lineOf(place);
  const title = `changed values: ${workflowType}, ${runs === 1 ? "1 run" : `${runs} runs`}`;
  const at = `${historyLabel(example)}, event ${example.eventId} (${step})`;
  const level = values === "error" ? "error" : "warning";
  return `::${level} ${fieldList({ ...where, title })}::${
    data(`${sentence}\nfor example ${at}`)
  }\n`;
}

function annotation(group: Group, folder: string, workflows: readonly string[]): string {
  const { verdict, workflowType, place, message, sentence, runs, example } = group;
  const text = sentence === undefined ? message : `${sentence}\n${message}`;
  const title = `${verdict}: ${workflowType === "" ? example.file : workflowType}, ${
    runs === 1 ? "1 run" : `${runs} runs`
  }`;
  const where = place === undefined ? { file: fileOf(group, folder, workflows) } : lineOf(place);
  const fields = { ...where, title };
  const at = `${historyLabel(example)}${example.eventId > 0 ? `, event ${example.eventId}` : ""}`;
  return `::error ${fieldList(fields)}::${data(`${text}\nfor example ${at}`)}\n`;
}

const fieldList = (fields: object): string =>
  Object.entries(fields).map(([name, value]) => `${name}=${property(String(value))}`).join(",");

const lineOf = ({ file, line, column }: Place) => ({
  file,
  line,
  ...(column > 0 && { col: column }),
});

/** Replacement for an unknown line: the file if it cannot be read, else the first module. */
function fileOf({ verdict, example }: Group, folder: string, workflows: readonly string[]): string {
  return verdict === "unreadable" ? example.file : shortPath(workflows[0]!, folder);
}

/**
 * Escapes line feeds as the runner expects, and terminal controls, because steps print their log.
 */
const data = (text: string): string =>
  printable(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
