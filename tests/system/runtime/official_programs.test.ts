// Cases of programs of `@temporalio/workflow` in realms: recorded histories, interceptors, sandbox,
// packages, the examples.
// takes: 40 s
// promise: P3, P4, P8
import { register } from "./register.ts";

await register("official_programs");
