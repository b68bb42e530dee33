// Steps of a workflow task in one form for events and commands, so that both can be compared and
// described alike.
import type { Payload } from "../../converter/payload.ts";
import { procedureOf, shownActivity } from "../../converter/procedure_names.ts";
import { readPayload, toPlainData } from "../values.ts";
import type { Step, StepKind } from "./types.ts";

/** The fields that make up a step. */
export interface StepPlan {
  readonly kind: StepKind;
  readonly name: string;
  /** ID of an activity, timer, child, side effect or update. */
  readonly id: string;
  readonly duration?: string;
  readonly target?: string;
  readonly answer?: "accept" | "complete" | "reject";
  readonly deprecated?: boolean;
}

/** A step with the fields that are compared. */
export interface KnownStep extends Step {
  readonly plan: StepPlan;
}

export function makeStep(plan: StepPlan, eventId: number, site: string): KnownStep {
  return { kind: plan.kind, name: plan.name, text: formatStep(plan), eventId, site, plan };
}

/** Returns whether the replay accepts one for the other. */
export function isSameStep(a: KnownStep, b: KnownStep): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === "update") return a.plan.id === b.plan.id && a.plan.answer === b.plan.answer;
  if (a.kind === "sideEffect") return a.plan.id === b.plan.id;
  if (a.kind === "nexus") return true;
  // Generated child IDs differ as soon as the code draws one more random number.
  return a.name === b.name && (a.kind !== "child" || a.plan.id === b.plan.id);
}

/** Describes a step as a noun: `activity charge`. */
function formatStep({ kind, name, duration, target, answer }: StepPlan): string {
  switch (kind) {
    case "activity":
      return procedureOf(name) === undefined ? `activity ${name}` : shownActivity(name);
    case "localActivity":
      return `local activity ${name}`;
    case "timer":
      return duration === undefined ? "a timer" : `a timer of ${duration}`;
    case "child":
      return `child workflow ${name}`;
    case "nexus":
      return `Nexus operation ${name}`;
    case "signal":
      return `signal ${name}${
        target === undefined || target === "" ? "" : ` to workflow ${target}`
      }`;
    case "patch":
      return `patch "${name}"`;
    case "sideEffect":
      return "a side effect";
    case "transact":
      return `reducer ${name}`;
    case "update":
      return `the ${
        answer === "accept" ? "acceptance" : answer === "complete" ? "result" : "rejection"
      } of update ${name}`;
    case "cancel":
      return `the cancellation of ${target ?? name}`;
    case "searchAttributes":
      return "an upsert of search attributes";
    case "memo":
      return "an upsert of the memo";
    case "end":
      return ENDS[name]?.noun ?? "the end of the workflow";
    default:
      return `marker ${name}`;
  }
}

const ENDS: { readonly [name: string]: { readonly noun: string; readonly verb: string } } = {
  completed: { noun: "the end of the workflow", verb: "completes the workflow" },
  failed: { noun: "the failure of the workflow", verb: "fails the workflow" },
  cancelled: { noun: "the end of the workflow as canceled", verb: "ends the workflow as canceled" },
  continuedAsNew: { noun: "continue-as-new", verb: "continues as new" },
};

/** Describes a step as a verb: `calls activity charge`. */
export function describeAction({ kind, text, plan }: KnownStep): string {
  switch (kind) {
    case "activity":
    case "localActivity":
    case "nexus":
      return `calls ${text}`;
    case "timer":
    case "child":
      return `starts ${text}`;
    case "signal":
      return `sends ${text}`;
    case "patch":
      return `asks for ${text}`;
    case "sideEffect":
      return "runs a side effect";
    case "transact":
      return `runs ${text}`;
    case "update":
      return plan.answer === "accept"
        ? `accepts update ${plan.name}`
        : plan.answer === "complete"
        ? `completes update ${plan.name}`
        : `rejects update ${plan.name}`;
    case "cancel":
      return `cancels ${plan.target ?? plan.name}`;
    case "searchAttributes":
      return "changes search attributes";
    case "memo":
      return "changes the memo";
    case "end":
      return ENDS[plan.name]?.verb ?? "ends the workflow";
    default:
      return `records ${text}`;
  }
}

/** The content of a marker of the core. */
export interface MarkerData {
  readonly patchId: string;
  readonly deprecated: boolean;
  readonly sideEffectId: string;
  readonly reducer: string;
  readonly activityType: string;
  readonly seq: string;
}

/** Reads the details of a marker; missing texts are "". */
export function readMarkerData(
  { details }: { readonly details: { readonly [name: string]: { readonly payloads: Payload[] } } },
): MarkerData {
  const first = (name: string) => toPlainData(readPayload(details[name]?.payloads[0]));
  const fields = (value: unknown) =>
    (typeof value === "object" && value !== null ? value : {}) as {
      readonly [key: string]: unknown;
    };
  const text = (value: unknown) => value === undefined || value === null ? "" : String(value);
  const patch =
    Object.keys(details).map((name) => fields(first(name))).find((value) =>
      "id" in value && "deprecated" in value
    ) ??
      {};
  const local = fields(first("data"));
  return {
    patchId: text(patch["id"]),
    deprecated: patch["deprecated"] === true,
    sideEffectId: text(first("side-effect-id")),
    reducer: text(first("reducer")),
    activityType: text(local["activity_type"]),
    seq: text(local["seq"]),
  };
}
