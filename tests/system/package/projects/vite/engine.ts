import { serveEngine } from "temporalex/browser";

serveEngine();
