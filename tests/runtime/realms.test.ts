// Cases of workflow code in realms: loader, guard, isolation, the examples.
// takes: 15 s
import { register } from "./register.ts";

await register("realms");
