// Cases of workflow code in realms: loader, guard, isolation, lines.
// takes: 22 s
// promise: P3, P4, P8
import { register } from "./register.ts";

await register("realms");
