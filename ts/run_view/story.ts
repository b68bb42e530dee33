// What happened in a run, in at most five sentences: its steps, how it ended, what it waits for,
// what took the time, what failed.
import type { Finding, ItemKind, RunItem, RunModel } from "../debug/run/types.ts";
import { count, lasting } from "./time.ts";
import { bareName, endedBadly } from "./words.ts";

const MOST_SENTENCES = 5;
/** The longest step is reported if it takes this fraction of the run. */
const LONG_PART = 0.1;

type Nouns = readonly (readonly [readonly ItemKind[], one: string, many: string])[];
const NOUNS: Nouns = [
  [["activity"], "activity", "activities"],
  [["localActivity"], "local activity", "local activities"],
  [["timer"], "timer", "timers"],
  [["child"], "child workflow", "child workflows"],
  [["nexus"], "Nexus operation", "Nexus operations"],
  [["signal"], "signal", "signals"],
  [["update"], "update", "updates"],
];

/** Returns the sentences in order. Names and numbers are between two stars, as in findings. */
export function tellStory(model: RunModel): readonly Finding[] {
  const story: Finding[] = [];
  let sentences = 0;
  // Room for failures first, then for what took long.
  const urgent = model.findings.filter((finding) => isUrgent(model, finding));
  const others = model.findings.filter((finding) => !urgent.includes(finding));
  for (const finding of [summarizeRun(model), ...urgent, ...others, ...listRetried(model)]) {
    const more = countSentences(finding.text);
    if (story.length >= 2 && sentences + more > MOST_SENTENCES) continue;
    story.push(finding);
    sentences += more;
  }
  const longest = findLongest(model);
  const isNamed = longest !== undefined &&
    story.some(({ text }) => text.includes(`**${bareName(longest)}**`));
  if (longest !== undefined && !isNamed && sentences < MOST_SENTENCES) {
    const text = `The longest step is ${nounOf(longest.kind)} **${bareName(longest)}** with **${
      lasting(longest.endMs! - longest.startMs!)
    }**.`;
    story.push({ kind: longest.kind, text, eventId: longest.from });
  }
  return story;
}

/** The end of the run, what it waits for, and what failed. */
function isUrgent(model: RunModel, { kind, eventId }: Finding): boolean {
  const item = model.itemOf(eventId);
  return kind === "run" || (item !== undefined && (endedBadly(item) || item.status === "open"));
}

const countSentences = (text: string): number => text.split(/[.!?] (?=[A-Z*])/).length;

const nounOf = (kind: ItemKind): string =>
  NOUNS.find(([kinds]) => kinds.includes(kind))?.[1] ?? "step";

/** "**Trip** failed after **2 h**: 3 activities and 1 timer." */
function summarizeRun({ facts, items }: RunModel): Finding {
  const parts = NOUNS.flatMap(([kinds, one, many]) => {
    const number = items.filter(({ kind }) => kinds.includes(kind)).length;
    return number === 0 ? [] : [`${count(number)} ${number === 1 ? one : many}`];
  });
  const last = parts.pop();
  const steps = last === undefined
    ? "no activity, timer, child or message"
    : parts.length === 0
    ? last
    : `${parts.join(", ")} and ${last}`;
  const { startMs, endMs, type, status } = facts;
  const isTimed = startMs !== undefined && endMs !== undefined && endMs >= startMs;
  const verb = status === "Completed"
    ? "completed"
    : status === "ContinuedAsNew"
    ? "continued as new"
    : status === "Running"
    ? "is open"
    : "ended";
  const time = !isTimed
    ? ""
    : status === "Running"
    ? `, with **${lasting(endMs - startMs)}** recorded`
    : ` after **${lasting(endMs - startMs)}**`;
  const text = `**${type}** ${verb}${time}: ${steps}.`;
  return { kind: "run", text, eventId: 0 };
}

/** Activities that failed, were retried and completed. History does not have their failures. */
function listRetried({ items }: RunModel): Finding[] {
  const retried = items.filter(({ kind, status, attempt }) =>
    (kind === "activity" || kind === "localActivity") && status === "completed" && attempt > 1
  );
  const most = retried.toSorted((a, b) => b.attempt - a.attempt)[0];
  if (most === undefined) return [];
  const others = retried.length - 1;
  const text = `Activity **${most.name}** completed at attempt **${most.attempt}**${
    others === 0 ? "" : `; ${count(others)} more ${others === 1 ? "was" : "were"} retried`
  }.`;
  return [{ kind: most.kind, text, eventId: most.closedBy ?? most.to }];
}

const HAVE_LENGTH: ReadonlySet<ItemKind> = new Set([
  "activity",
  "localActivity",
  "timer",
  "child",
  "nexus",
]);

function findLongest({ items, facts: { startMs, endMs } }: RunModel): RunItem | undefined {
  if (startMs === undefined || endMs === undefined) return undefined;
  let longest: RunItem | undefined;
  let longestMs = Math.max(1, (endMs - startMs) * LONG_PART);
  for (const item of items) {
    if (!HAVE_LENGTH.has(item.kind) || item.startMs === undefined || item.endMs === undefined) {
      continue;
    }
    if (item.endMs - item.startMs < longestMs) continue;
    [longest, longestMs] = [item, item.endMs - item.startMs];
  }
  return longest;
}
