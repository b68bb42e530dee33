// The steps that a plan can name. A step "bad" fails.
import { ApplicationFailure } from "temporalex/activity";

export function perform(step: string): Promise<string> {
  if (step !== "bad") return Promise.resolve(step.toUpperCase());
  throw new ApplicationFailure("bad step", { type: "BadStep", nonRetryable: true });
}
