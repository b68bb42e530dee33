// The worker of workflow code of the shop and the debugger: the seven examples, behind the
// determinism guard.
import { serveRealm } from "temporalex/realm";

serveRealm(() => import("./workflows.ts"));
