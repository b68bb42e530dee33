// The entry of the realm's worker: what a bundled application gives instead of the package's own
// file.
import { serveRealm } from "temporalex/realm";
import * as workflows from "../app/workflows.ts";

serveRealm(workflows);
