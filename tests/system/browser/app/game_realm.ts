// The realm's entry of an application whose workflows run reducers.
import { serveRealm } from "../../../../ts/realm/mod.ts";

serveRealm(() => import("../../../unit/app/game/workflows.ts"));
