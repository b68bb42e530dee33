// File of the engine worker, for pages that load the package's modules unbundled and for bundlers
// that follow `new Worker(new URL(...))`.
import { serveEngine } from "./leadership.ts";

serveEngine();
