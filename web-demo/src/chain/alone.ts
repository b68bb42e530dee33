// A run of which no relative is open, as a family of one: the others that it names may be on their way.
import { type Family, familyOfOne } from "../app/family.ts";
import type { OpenRun } from "../app/state.ts";

const known = new WeakMap<OpenRun, Family>();

export function alone(run: OpenRun): Family {
  let family = known.get(run);
  if (family === undefined) known.set(run, family = familyOfOne(run));
  return family;
}
