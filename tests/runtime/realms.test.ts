// Cases of workflow code in realms: loader, guard, isolation, the examples.
// takes: 25 s
import { register } from "./register.ts";

await register("realms");
