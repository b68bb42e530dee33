// The family of a run that has no opened relative. Linked runs may still be loading.
import { type Family, familyOfOne } from "../store/family.ts";
import type { OpenRun } from "../store/state.ts";

const known = new WeakMap<OpenRun, Family>();

export function alone(run: OpenRun): Family {
  let family = known.get(run);
  if (family === undefined) known.set(run, family = familyOfOne(run));
  return family;
}
