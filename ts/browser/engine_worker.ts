// The engine worker's file, for pages that are served the package's modules as they are, and for bundlers that follow
// `new Worker(new URL(...))`.
import { serveEngine } from "./leadership.ts";

serveEngine();
