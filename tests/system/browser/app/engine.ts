// The engine worker's entry of the test page, as an application writes it.
import { serveEngine } from "../../../../ts/browser/mod.ts";

serveEngine();
