// Cases of workflow code that differs from a history: where it diverges, why, and what repairs an
// open run.
// takes: 25 s
// promise: P3, P4
import { register } from "./register.ts";

await register("divergences");
