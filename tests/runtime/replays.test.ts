// Cases that replay much: debug sessions, random programs, values that throw.
// takes: 15 s
import { register } from "./register.ts";

await register("replays");
