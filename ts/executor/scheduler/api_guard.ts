// Entry check of every primitive: finds the calling fiber, and rejects calls from outside a turn (a
// host callback), from closures without API access (validators, queries, sideEffect, updateState),
// and from constructs that the nesting rules forbid. Misuse fails the task even if workflow code
// catches the error.
import type { CancelledFailure } from "../../converter/failures.ts";
import { callSite, callStack, userFrame } from "../program/call_site.ts";
import { MisuseError, NestingError, OutsideTurnError } from "../program/errors.ts";
import { type Closure, current, noteRefused } from "../program/current.ts";
import { currentFiber, type Fiber, type FiberKind } from "./fiber.ts";

const CLOSURES: { readonly [C in Closure]: readonly [where: string, why: string] } = {
  validator: ["a validator", "a validator can only read its arguments and the state"],
  query: ["a query handler", "a query can only read the published state and its arguments"],
  sideEffect: [
    "the function of sideEffect",
    "it must compute its value without the API; call the API before or after it",
  ],
  updateState: [
    "the function of updateState",
    "it runs between turns; call the API before or after it",
  ],
  until: ["until of a receive", "it can only read the state and workflowInfo()"],
  schema: ["a schema", "a schema can only read its value"],
  log: [
    "the fields of a log line",
    "log lines are skipped on replay, so getters and toJSON of their fields must be read-only",
  ],
};

/**
 * Returns the calling fiber. `allowed`: closures that may call it. `depth`: frames of this package
 * between the user's frame and this one; 1 for a primitive that workflow code calls directly.
 */
export function callingFiber(
  api: string,
  allowed?: Closure | readonly Closure[],
  depth = 1,
): Fiber {
  const { closure } = current;
  const fiber = currentFiber();
  if (
    closure !== undefined && closure !== allowed &&
    !(Array.isArray(allowed) && allowed.includes(closure))
  ) {
    const [where, why] = CLOSURES[closure];
    const error = new MisuseError(`${api} was called in ${where}: ${why}`);
    // A forbidden call fails a query, and rejects a validator's update; otherwise it fails the
    // task.
    if (noteRefused(error) === "fails the task") current.run?.fail?.(error);
    throw error;
  }
  if (fiber === undefined) {
    const at = userFrame(new Error().stack, depth + 1);
    throw new OutsideTurnError(
      `${api} was called${at === "" ? "" : ` at ${at}`} outside of a workflow turn: ` +
        `either this is not workflow code, or a host callback or promise resumed it; do this work in an activity`,
    );
  }
  fiber.lastCall = api;
  const { callSites } = fiber.run.context;
  if (callSites !== false) {
    fiber.lastSite = callSites === "stacks" ? callStack(callingFiber, depth) : callSite(depth + 1);
  }
  return fiber;
}

/**
 * For primitives that wait: they do not start in a canceled or ended scope. Returns the failure to
 * reject with, or the fiber.
 */
export function waitingFiber(api: string): Fiber | CancelledFailure {
  const fiber = callingFiber(api, undefined, 2);
  if (fiber.ended) return fiber.run.scopeEnded(fiber, api);
  const cancellation = fiber.run.cancellation;
  if (cancellation === undefined || fiber.shielded) return fiber;
  cancellation.told = true;
  return cancellation.failure();
}

const WHERE: { readonly [K in Exclude<FiberKind, "shield">]: string } = {
  run: "the run function",
  handler: "a message handler",
  async: "an async handler",
  branch: "a branch of parallel",
  arm: "an arm of select",
};

/** Fails the task if the calling construct is not one of `roles`. */
export function requireRole(
  fiber: Fiber,
  api: string,
  roles: readonly Exclude<FiberKind, "shield">[],
  instead: string,
): void {
  const role = fiber.role;
  if (roles.includes(role)) return;
  fiber.run.misuse(
    new NestingError(
      `${api} cannot be used in ${WHERE[role]} (${fiber.label}); it belongs in ${
        roles.map((r) => WHERE[r]).join(" or ")
      }. ${instead}`,
    ),
  );
}
