// The workflow types of marked.ts after a change that breaks every open run: the error quotes a
// value of the run.
import { workflow } from "temporalex/workflow";

const fail = (first: string): never => {
  throw new Error(`the new code rejects ${first}`);
};

export const marked = workflow("Marked", async (first: string) => fail(first));
export const child = workflow("MarkedChild", async (first: string) => fail(first));
