// Cases of workflow code that differs from a history: where it diverges, why, and what repairs an
// open run.
// promise: P3, P4
// takes: 15 s
import { register } from "./register.ts";

await register("divergences");
