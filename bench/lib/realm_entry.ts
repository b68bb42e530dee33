// The worker of the replay bench's realm in a browser.
import { serveRealm } from "../../ts/realm/serve.ts";

serveRealm(() => import("./programs.ts"));
