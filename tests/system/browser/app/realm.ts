// The realm's entry of the test page, as an application writes it.
import { serveRealm } from "../../../../ts/realm/mod.ts";

serveRealm(() => import("../../../faults/crash/program.ts"));
