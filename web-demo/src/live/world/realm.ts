// The worker in which the world's workflows run.
import { serveRealm } from "temporalex/realm";

serveRealm(() => import("../../../../examples/world/workflows.ts"));
