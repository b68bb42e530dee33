// Cases of the language and its rules: what needs no realm of its own.
import { register } from "./register.ts";

await register("language");
