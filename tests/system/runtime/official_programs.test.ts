// Cases of programs of `@temporalio/workflow` in realms: recorded histories, interceptors, sandbox,
// packages, the examples.
// promise: P3, P4, P8
// takes: 26 s
import { register } from "./register.ts";

await register("official_programs");
