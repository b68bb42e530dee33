// The file that a worker realm starts from when the host posts the workflow sources to it.
import { serveRealm } from "./serve.ts";

serveRealm();
