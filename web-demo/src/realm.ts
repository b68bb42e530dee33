// The worker in which workflow code runs, for the shop and the debugger: the seven examples, behind the determinism guard.
import { serveRealm } from "temporalex/realm";

serveRealm(() => import("./workflows.ts"));
