import { workflow } from "../../../../ts/workflow/mod.ts";

export const quick = workflow("Quick", () => Promise.resolve("done"));
