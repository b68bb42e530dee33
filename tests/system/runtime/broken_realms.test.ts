// Cases of realms that spin, trap, run out of stack or end.
// takes: 18 s
import { register } from "./register.ts";

await register("broken_realms");
