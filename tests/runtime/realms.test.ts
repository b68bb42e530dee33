// Cases of workflow code in realms: loader, guard, isolation, the examples.
// takes: 25 s
// promise: P3, P4, P8
import { register } from "./register.ts";

await register("realms");
