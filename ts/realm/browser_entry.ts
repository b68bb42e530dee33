// The worker entry for bundlers: a page that posts workflow sources to its realms bundles this file
// and passes its URL or a Worker made from it. An application that bundles its workflows writes its
// own entry with `serveRealm`.
import { serveRealm } from "./serve.ts";

serveRealm();
