// The default entry file of worker realms, for workflow sources that the host posts.
import { serveRealm } from "./serve.ts";

serveRealm();
