// A SARIF 2.1.0 report: a result for each line that diverges or fails, with the number of runs, for
// GitHub and other code viewers.
import { pathToFileURL } from "node:url";
import { isAbsolute } from "node:path";
import { VERSION } from "../../../../base/version.ts";
import { parsePlace, type Place, shortPath } from "../place.ts";
import type { ChangedGroup, Group, Summary } from "../summary.ts";
import { printable, printableLine } from "../../../frame/printable.ts";
import { historyLabel } from "../text.ts";

const RULES = [
  {
    id: "nondeterminism",
    shortDescription: { text: "The workflow code makes other commands than a history records" },
    help: {
      text:
        "Runs that are open would fail with this code. Put the change behind patched(), or into a new workflow type.",
    },
    defaultConfiguration: { level: "error" },
  },
  {
    id: "failed",
    shortDescription: { text: "The workflow code fails where the run of a history continued" },
    help: {
      text: "A workflow task of such a run would fail and be tried again until the code is fixed.",
    },
    defaultConfiguration: { level: "error" },
  },
] as const;

/** Only of replays with --values. */
const CHANGED_RULE = {
  id: "changedValue",
  shortDescription: { text: "The workflow code passes other values than a history records" },
  help: {
    text:
      "Runs that are open replay with this code, and continue with the recorded values; later runs use the new ones.",
  },
} as const;

/** Returns the document. */
export function sarif(summary: Summary, workflows: readonly string[]): string {
  const { groups, folder, verdicts, interrupted, values } = summary;
  const level = values === "error" ? "error" : "warning";
  const rules = values === undefined
    ? RULES
    : [...RULES, { ...CHANGED_RULE, defaultConfiguration: { level } }];
  const results = groups.filter(({ verdict }) => verdict !== "unreadable");
  const unreadable = groups.filter(({ verdict }) => verdict === "unreadable");
  return JSON.stringify(
    {
      $schema: "https://json.schemastore.org/sarif-2.1.0.json",
      version: "2.1.0",
      runs: [{
        tool: { driver: { name: "temporalex replay", semanticVersion: VERSION, rules } },
        columnKind: "utf16CodeUnits",
        originalUriBaseIds: { "%SRCROOT%": { uri: `${pathToFileURL(folder).href}/` } },
        invocations: [{
          executionSuccessful: !interrupted && verdicts.unreadable === 0,
          ...(unreadable.length > 0 &&
            { toolExecutionNotifications: unreadable.map((group) => notification(group)) }),
        }],
        results: [
          ...results.map((group) => result(group, shortPath(workflows[0]!, folder), folder)),
          ...summary.changedGroups.map((group) =>
            changedResult(group, shortPath(workflows[0]!, folder), level)
          ),
        ],
      }],
    },
    undefined,
    2,
  ) + "\n";
}

function result(group: Group, module: string, folder: string) {
  const { verdict, workflowType, place, code, message, sentence = message, stack, runs, example } =
    group;
  // An unknown line is left out: line 1 would be wrong.
  const { file, function: name } = place ?? { file: module, function: "" };
  const event = example.eventId > 0 ? `, event ${example.eventId}` : "";
  return {
    ruleId: verdict,
    ruleIndex: RULES.findIndex(({ id }) => id === verdict),
    level: "error",
    message: {
      text: printable(
        `${sentence}\n${sentence === message ? "" : `${message}\n`}${
          runs === 1 ? "1 run" : `${runs} runs`
        } of ${printableLine(`${workflowType}, for example ${historyLabel(example)}`)}${event}`,
      ),
    },
    locations: [location(place, file, name)],
    ...(stack !== undefined &&
      { stacks: [{ message: { text: printable(message) }, frames: frames(stack, folder) }] }),
    occurrenceCount: runs,
    // Independent of the line, which may move.
    partialFingerprints: {
      "temporalexReplay/v1": [verdict, workflowType, code, file, name].join("|"),
    },
    properties: {
      workflowType,
      workflowId: example.workflowId,
      runId: example.runId,
      eventId: example.eventId,
    },
  };
}

function changedResult(group: ChangedGroup, module: string, level: "warning" | "error") {
  const { workflowType, place, step, paths, sentence, runs, example } = group;
  const { file, function: name } = place ?? { file: module, function: "" };
  const { workflowId, runId, eventId } = example;
  const of = printableLine(`${workflowType}, for example ${historyLabel(example)}`);
  return {
    ruleId: CHANGED_RULE.id,
    ruleIndex: RULES.length,
    level,
    message: {
      text: printable(
        `${sentence}\n${
          runs === 1 ? "1 run" : `${runs} runs`
        } of ${of}, event ${eventId} (${step})`,
      ),
    },
    locations: [location(place, file, name)],
    occurrenceCount: runs,
    partialFingerprints: {
      "temporalexReplay/v1": [CHANGED_RULE.id, workflowType, step, paths.join(), file, name].join(
        "|",
      ),
    },
    properties: { workflowType, workflowId, runId, eventId, paths },
  };
}

function location(place: Place | undefined, file: string, name: string) {
  return {
    physicalLocation: {
      artifactLocation: artifact(file),
      ...(place !== undefined &&
        {
          region: {
            startLine: place.line,
            ...(place.column > 0 && { startColumn: place.column }),
          },
        }),
    },
    ...(name !== "" && { logicalLocations: [{ name, kind: "function" }] }),
  };
}

/** Leaves out frames without a file and line. */
const frames = (stack: string, folder: string) =>
  stack.split("\n").map((frame) => parsePlace(frame, folder)).filter((place) => place !== undefined)
    .map((place) => ({
      location: {
        physicalLocation: {
          artifactLocation: artifact(place.file),
          region: { startLine: place.line, ...(place.column > 0 && { startColumn: place.column }) },
        },
        ...(place.function !== "" &&
          { logicalLocations: [{ name: place.function, kind: "function" }] }),
      },
    }));

function notification({ message, example }: Group) {
  return {
    level: "error",
    message: { text: `${printableLine(historyLabel(example))}: ${printable(message)}` },
    locations: [{ physicalLocation: { artifactLocation: artifact(example.file) } }],
  };
}

/** Names files in the folder relative to it. */
function artifact(file: string) {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(file)) return { uri: file };
  if (isAbsolute(file)) return { uri: pathToFileURL(file).href };
  return { uri: file.split("/").map(encodeURIComponent).join("/"), uriBaseId: "%SRCROOT%" };
}
