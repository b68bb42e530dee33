// The worker that runs the world's workflows.
import { serveRealm } from "temporalex/realm";

serveRealm(() => import("../../../../examples/world/workflows.ts"));
