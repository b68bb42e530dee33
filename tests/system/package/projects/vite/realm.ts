// Loads the workflows when the guard is in place.
import { serveRealm } from "temporalex/realm";

serveRealm(() => import("../app/workflows.ts"));
