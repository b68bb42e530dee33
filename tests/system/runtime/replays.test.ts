// Cases that replay much: debug sessions, random programs, values that throw.
// promise: P3, P9
// takes: 25 s
import { register } from "./register.ts";

await register("replays");
