// The comparison's runtime in a page.
import { answer } from "./lab.ts";

(globalThis as { __answer?: typeof answer }).__answer = answer;
