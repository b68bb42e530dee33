// Cases of the language and its rules, which run without a separate realm.
import { register } from "./register.ts";

await register("language");
