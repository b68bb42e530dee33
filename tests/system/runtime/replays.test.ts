// Cases that replay much: debug sessions, random programs, values that throw.
// takes: 15 s
// promise: P3, P9
import { register } from "./register.ts";

await register("replays");
