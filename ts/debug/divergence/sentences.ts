// Sentences that describe a divergence: the summary, and the likely edit.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { ReplayEvidence } from "../../executor/tasks/replay.ts";
import type { Pair, Place, Sides } from "./align.ts";
import { readInheritedValues } from "./differences.ts";
import { signalEdit, updateEdit } from "./handlers.ts";
import {
  abandonedEdit,
  type CancellationEdit,
  endFailureText,
  unsentEdit,
} from "./cancellations.ts";
import type { Found } from "./likely.ts";
import type { CaughtMistake } from "./path.ts";
import { type ShiftedStep, shiftedStep } from "./shifted.ts";
import { describeAction, isSameStep } from "./steps.ts";
import type { EditKind, LikelyEdit, Step } from "./types.ts";
import { findNewPatch, findNextSharedStep, shortPlace, type Where } from "./where.ts";

/** A likely edit. `at`: its source line, if that differs from the line of the difference. */
export interface NamedEdit {
  readonly edit: LikelyEdit;
  readonly at?: string;
  /** The changed step, if it is an earlier one than that of the first difference. */
  readonly shifted?: ShiftedStep;
  /** What the code does, if no command shows it. */
  readonly action?: string;
}

const edit = (
  kind: EditKind,
  text: string,
  subject: string,
  confidence: LikelyEdit["confidence"],
): NamedEdit => ({
  edit: { kind, text, subject, confidence },
});

/** Describes the likely change, from the first difference and the best candidate. */
export function nameEdit(
  place: Place,
  sides: Sides,
  events: readonly HistoryEvent[],
  evidence: ReplayEvidence,
  found: Found | undefined,
): NamedEdit {
  const { history: here, code } = place.pairs[place.at]!;
  return failingBranch(place, evidence) ?? failingHandler(place, evidence) ??
    ofPatch(place, sides, evidence) ??
    updateEdit(place, here, events, evidence) ??
    ofCancellation(unsentEdit(place, evidence) ?? abandonedEdit(here, code, evidence)) ??
    ofLocal(here, code) ??
    ofShifted(here, code, found) ??
    ofEndFailure(here, code, found) ??
    signalEdit(place, here, events, evidence, found?.confidence === "verified") ??
    ofShiftedStep(place, sides, events, found) ?? ofFound(place, found) ??
    ofSides(here, code);
}

/**
 * A mistake that the code caught: what it no longer does was not removed, even if a history without
 * it would replay.
 */
export function nameCaughtMistake(
  caught: CaughtMistake | undefined,
  found: Found | undefined,
): NamedEdit | undefined {
  if (caught === undefined) return undefined;
  const { error, site, isCaught } = caught;
  // Code catches other errors on purpose, for example those of JSON.parse.
  if (found?.confidence === "verified" && !/^(?:Type|Reference)Error:/.test(error)) {
    return undefined;
  }
  const text = `the code threw ${error}${isCaught ? ", and caught it" : ""}`;
  return { ...edit("failingCode", text, "", "likely"), ...(site !== "" && { at: site }) };
}

/**
 * A branch of `parallel` that failed in the task: what it no longer does was not removed, even if a
 * history without it would replay.
 */
function failingBranch(place: Place, { failedBranches }: ReplayEvidence): NamedEdit | undefined {
  const failed = failedBranches.findLast(({ startedEventId }) =>
    startedEventId === place.task.startedEventId
  );
  if (failed === undefined) return undefined;
  const text = `${failed.branch} failed in this task with ${failed.error}`;
  return {
    ...edit("failingCode", text, failed.branch, "likely"),
    ...(failed.site !== "" && { at: failed.site }),
  };
}

/**
 * A message handler that failed in the task: its update is rejected where history has something
 * else, or a step of its signal is missing. Handlers also fail on purpose, so another difference in
 * the task is not explained by it.
 */
function failingHandler(
  { task: { startedEventId }, at, pairs }: Place,
  { failedHandlers }: ReplayEvidence,
): NamedEdit | undefined {
  const { history: here, code } = pairs[at]!;
  const rejected = code?.kind === "update" && code.plan.answer === "reject" ? code.plan.id : "";
  const isMissing = here !== undefined &&
    !pairs.some(({ code }) => code !== undefined && isSameStep(here, code));
  const failed = failedHandlers.findLast((one) =>
    one.startedEventId === startedEventId &&
    (one.updateId === undefined ? isMissing : one.updateId === rejected)
  );
  if (failed === undefined) return undefined;
  const text = `${failed.handler} failed in this task with ${failed.error}`;
  return {
    ...edit("failingCode", text, failed.handler, "likely"),
    ...(failed.site !== "" && { at: failed.site }),
  };
}

function ofPatch(place: Place, sides: Sides, evidence: ReplayEvidence): NamedEdit | undefined {
  const { history: here } = place.pairs[place.at]!;
  if (here?.kind !== "patch") return undefined;
  const recorded = `patch "${here.name}"`;
  const missed = findNewPatch(place, sides, evidence);
  if (missed !== undefined) {
    const text = `${recorded} was renamed to "${missed.patchId}"`;
    return { ...edit("patchRenamed", text, here.name, "likely"), at: missed.site };
  }
  return edit(
    "patchRemoved",
    `${recorded} was removed, and runs that took it are open`,
    here.name,
    "likely",
  );
}

const ofCancellation = (found: CancellationEdit | undefined): NamedEdit | undefined =>
  found && {
    edit: found.edit,
    action: found.action,
    ...(found.at !== "" && { at: found.at }),
  };

/** The failure with which only one side ends explains the end. */
function ofEndFailure(
  here: Pair["history"],
  code: Pair["code"],
  found: Found | undefined,
): NamedEdit | undefined {
  if (found?.confidence === "verified") return undefined;
  const text = endFailureText(here, code);
  if (text === undefined) return undefined;
  return edit(here?.kind === "end" ? "unknown" : "endedEarly", text, code!.text, "likely");
}

/** An activity that became a local activity, or the reverse. */
function ofLocal(here: Pair["history"], code: Pair["code"]): NamedEdit | undefined {
  if (
    here === undefined || code === undefined || here.kind === code.kind || here.name === "" ||
    here.name !== code.name
  ) {
    return undefined;
  }
  return edit("changedKind", `${here.text} became ${code.text}`, code.text, "likely");
}

/**
 * The code draws more or fewer random numbers than before, so the generated child ID differs. A
 * history with the new ID would replay.
 */
function ofShifted(
  here: Pair["history"],
  code: Pair["code"],
  found: Found | undefined,
): NamedEdit | undefined {
  if (here?.kind !== "child" || code?.kind !== "child" || here.name !== code.name) return undefined;
  if (found !== undefined && found.candidate.kind !== "renamed") return undefined;
  const text =
    `the id of ${here.text} differs: the code uses more or fewer random numbers before it`;
  return edit("randomShifted", text, here.name, "likely");
}

/** One of several equal-looking steps: their durations and inputs show which one. */
function ofShiftedStep(
  place: Place,
  sides: Sides,
  events: readonly HistoryEvent[],
  found: Found | undefined,
): NamedEdit | undefined {
  const shifted = found &&
    shiftedStep(place, sides, found.candidate, readInheritedValues(events[0]));
  if (shifted === undefined) return undefined;
  const { history, code } = shifted;
  const named = found!.candidate.kind === "removed"
    ? edit("removed", `${history.text} was removed`, history.text, "likely")
    : edit("inserted", `${code.text} was added before ${history.text}`, code.text, "likely");
  return { ...named, at: code.site, shifted };
}

function ofFound(place: Place, found: Found | undefined): NamedEdit | undefined {
  if (found === undefined) return undefined;
  const { candidate: { kind, code, history }, confidence } = found;
  const { history: here, code: there } = place.pairs[place.at]!;
  // Any removed step before an end of the code gets it further, so only a verified candidate
  // counts.
  if (there?.kind === "end" && confidence !== "verified") return undefined;
  switch (kind) {
    case "inserted":
      if (here?.kind === "end") {
        return edit(
          "endedLate",
          `${code!.text} was added before ${here.text}`,
          code!.text,
          confidence,
        );
      }
      return edit(
        "inserted",
        `${code!.text} was added${here === undefined ? "" : ` before ${here.text}`}`,
        code!.text,
        confidence,
      );
    case "removed":
      return edit("removed", `${history!.text} was removed`, history!.text, confidence);
    case "renamed":
      return edit("renamed", `${history!.text} became ${code!.text}`, code!.text, confidence);
    case "reordered":
      if (code === undefined) {
        return edit("reordered", `${history!.text} now comes later`, history!.text, confidence);
      }
      return edit(
        "reordered",
        here === undefined
          ? `${code!.text} now comes earlier`
          : `${code!.text} was moved before ${here.text}`,
        code!.text,
        confidence,
      );
    case "changedKind":
      return edit(
        "changedKind",
        `${history!.text} was replaced by ${code!.text}`,
        code!.text,
        confidence,
      );
    default:
      return undefined;
  }
}

/** Both sides end the run in this task, in different ways. */
function ofEnds(here: { readonly name: string }, code: Step): NamedEdit {
  if (here.name === "continuedAsNew") {
    return edit("endedEarly", "the workflow no longer continues as new", code.text, "likely");
  }
  if (code.name === "continuedAsNew") {
    return edit("endedLate", "the workflow now continues as new", code.text, "likely");
  }
  return edit("unknown", "the workflow now ends differently", code.text, "likely");
}

function ofSides(here: Pair["history"], code: Pair["code"]): NamedEdit {
  if (code?.kind === "end" && here?.kind === "end") return ofEnds(here, code);
  if (code?.kind === "end" && here === undefined) {
    return edit(
      "endedEarly",
      "the workflow now ends before the next event in history",
      code.text,
      "likely",
    );
  }
  if (here?.kind === "end" && code === undefined) {
    return edit(
      "endedLate",
      `an await was added before ${here.text}, or now waits for something else`,
      here.text,
      "guess",
    );
  }
  if (code?.kind === "end" && here !== undefined) {
    return edit(
      "endedEarly",
      `the end of the workflow now comes before ${here.text}`,
      here.text,
      "likely",
    );
  }
  if (here?.kind === "end" && code !== undefined) {
    return edit("endedLate", `${code.text} was added before ${here.text}`, code.text, "likely");
  }
  if (here !== undefined && code !== undefined) {
    if (here.kind === code.kind) {
      return edit("renamed", `${here.text} became ${code.text}`, code.text, "guess");
    }
    return edit(
      "changedKind",
      `${code.text} was added before ${here.text}, or replaced it`,
      code.text,
      "guess",
    );
  }
  if (code !== undefined) return edit("inserted", `${code.text} was added`, code.text, "guess");
  if (here !== undefined) {
    return edit("removed", `${here.text} was removed, or no longer comes here`, here.text, "guess");
  }
  return edit("unknown", "cannot determine the change", "", "guess");
}

/** Returns the summary sentence. */
export function summarizeDivergence(
  divides: Place,
  { history: here, code }: Pair,
  where: Where,
  { edit: { kind, text, subject, confidence }, action }: NamedEdit,
): string {
  const { task } = divides;
  const place = shortPlace(where.location);
  const at = place === "" ? "" : where.how === "after" ? `, after ${place}` : `: ${place}`;
  const event = here === undefined ? "" : ` (event ${here.eventId})`;
  const inTask = `In task ${task.task} your code`;
  // That code failed is known, and not a guess.
  const end = `${capital(text)}${confidence === "verified" || kind === "failingCode" ? "." : "?"}`;
  if (action !== undefined) {
    return `${inTask} ${action}; history has ${here!.text}${event}${at}. ${end}`;
  }
  if (kind === "handlerMissing" && !(here?.kind === "update" && here.name === subject)) {
    const instead = code !== undefined ? describeAction(code) : `never reaches ${here!.text}`;
    const history = here === undefined
      ? ""
      : code === undefined
      ? `, which history recorded`
      : ` where history has ${here.text}`;
    return `${inTask} has no handler for ${subject}, and ${instead}${history}${event}${at}. ${end}`;
  }
  if (kind === "handlerMissing") {
    return `${inTask} has no handler for update ${here!.name}, which history accepted${event}${
      standing(where, place)
    }. ${end}`;
  }
  if (code === undefined && findNextSharedStep(divides) !== undefined) {
    return `${inTask} skips ${here!.text}, which history recorded${event}${at}. ${end}`;
  }
  if (code === undefined) {
    return `${inTask} never reaches ${here!.text}, which history recorded${event}${
      standing(where, place)
    }. ${end}`;
  }
  if (here === undefined) {
    return `${inTask} ${describeAction(code)}, which history did not record${at}. ${end}`;
  }
  if (code.kind === "end") {
    return `${inTask} ${describeAction(code)} where history has ${here.text}${event}${at}. ${end}`;
  }
  return `${inTask} ${describeAction(code)} where history has ${here.text}${event}${at}. ${end}`;
}

function standing({ how, wait, fiber, passed }: Where, place: string): string {
  if (place === "") return "";
  const who = fiber === "" || fiber === "run" ? "it" : `the ${fiber}`;
  if (how === "after") {
    const now = passed === undefined || wait === undefined
      ? ""
      : `; ${who} waits for ${wait.label} at ${shortPlace(wait.site)}`;
    return `, after ${place}${now}`;
  }
  if (how === "command" || how === "last") return `: ${place}`;
  return wait === undefined ? `: ${place}` : `: ${who} waits for ${wait.label} at ${place}`;
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
