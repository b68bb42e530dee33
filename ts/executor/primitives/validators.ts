// Runs the validator of an update: once, live, never on replay, so only its result may remain.
// - It gets read-only views. Writes, API calls, promises and unhandled rejections reject the
// update, even if caught: a caller must not be able to stop the workflow.
// - Its microtasks run to their end while the realm attributes them to the validator.
// - Code that needs the objects (#fields, structuredClone) gets them; they are compared afterwards,
// and the run is evicted and replayed with the known result, because changes of #fields are not
// detectable.
import { encodeFailure } from "../../converter/failure_converter.ts";
import { read } from "../../converter/thrown.ts";
import { hop } from "../../platform/hop.ts";
import { MisuseError } from "../program/errors.ts";
import { ValidatedApart, type Verdict } from "../program/program.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { current, inClosureWithMicrotasks } from "../program/current.ts";
import { lookAt } from "./state_changes.ts";
import { calls, view } from "./read_only_view.ts";

interface Attempt {
  /** The error, or what it did although it must not. */
  readonly thrown: { readonly error: unknown } | undefined;
  /** It had access to objects of the run. */
  readonly touched: boolean;
}

type Validate = (args: unknown[], state: unknown) => unknown;

export async function judge(
  run: RunState,
  update: { readonly name: string; readonly protocolInstanceId: string },
  validate: Validate,
  args: unknown[],
  state: unknown,
): Promise<Verdict> {
  const known = run.context.verdicts?.get(update.protocolInstanceId);
  if (known !== undefined) return known;
  try {
    let attempt = await withViews(run, update.name, validate, args, state);
    if (attempt.thrown !== undefined && wantsObjects(attempt.thrown.error)) {
      attempt = await withObjects(run, update.name, validate, args, state);
    }
    const verdict = {
      failure: attempt.thrown === undefined ? undefined : await encoded(run, attempt.thrown.error),
    };
    if (attempt.touched) throw new ValidatedApart(update.protocolInstanceId, verdict);
    return verdict;
  } finally {
    calls.report = undefined;
    current.closure = undefined;
    current.refusals = run.refusals = undefined;
  }
}

async function withViews(
  run: RunState,
  name: string,
  validate: Validate,
  args: unknown[],
  state: unknown,
): Promise<Attempt> {
  let changed: (() => string | undefined) | undefined;
  calls.report = () => void (changed ??= lookAt({ args, state }));
  const thrown = await attempt(run, name, () => validate(view(args, "args"), view(state, "state")));
  return { thrown: thrown ?? changedBy(changed), touched: changed !== undefined };
}

async function withObjects(
  run: RunState,
  name: string,
  validate: Validate,
  args: unknown[],
  state: unknown,
): Promise<Attempt> {
  const changed = lookAt({ args, state });
  const thrown = await attempt(run, name, () => validate(args, state));
  return { thrown: changedBy(changed) ?? thrown, touched: true };
}

async function attempt(
  run: RunState,
  name: string,
  call: () => unknown,
): Promise<Attempt["thrown"]> {
  let thrown: Attempt["thrown"];
  const refusals: Error[] = [];
  current.refusals = run.refusals = refusals;
  current.closure = "validator";
  try {
    const result = inClosureWithMicrotasks("validator", call);
    if (typeof (result as PromiseLike<unknown> | undefined)?.then === "function") {
      Promise.resolve(result).catch(() => {});
      thrown = {
        error: new MisuseError(
          `the validator of update "${name}" returned a promise; a validator must be synchronous`,
        ),
      };
    }
  } catch (error) {
    thrown = { error };
  }
  // Runs its microtasks; the second hop is for rejections, which Chromium reports one hop late.
  await hop();
  await hop();
  return refusals.length > 0 ? { error: refusals[0] } : thrown;
}

function changedBy(changed: (() => string | undefined) | undefined): Attempt["thrown"] {
  const path = changed?.();
  if (path === undefined) return undefined;
  return {
    error: new MisuseError(
      `${path} was changed: validators and queries must not change the state; return a new state from a handler`,
    ),
  };
}

/** Messages of errors for a proxy where the object itself is needed. */
const BRAND = new RegExp(
  [
    "private (?:member|field|method|static)|private \\w+ on non-instance", // V8, SpiderMonkey, compilers
    "(?:^| )[Rr]eceiver must be|Object must be an instance of class|incompatible receiver|called on incompatible",
    "object is not the right class|Illegal invocation|does not implement interface",
    'must be an instance of|Value of "this" must be|could not be cloned|can\'t be cloned|cannot be cloned',
  ].join("|"),
);

function wantsObjects(error: unknown): boolean {
  const message = read(error, "message");
  const name = read(error, "name");
  return (name === "TypeError" || name === "DataCloneError") && typeof message === "string" &&
    BRAND.test(message);
}

/** Getters and toJSON of an error are also the validator's code, and may leave microtasks. */
async function encoded(run: RunState, error: unknown): Promise<Uint8Array> {
  current.closure = "validator";
  const failure = inClosureWithMicrotasks(
    "validator",
    () => encodeFailure(error, run.context.converter),
  );
  await hop();
  return failure;
}
