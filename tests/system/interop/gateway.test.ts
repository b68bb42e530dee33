// runtime: node
// A tab of a browser as client and worker of a real Temporal server, through `temporalex gateway`.
import { tabSuite } from "../../unit/gateway/support/in_tab.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

tabSuite("cluster", () => DevServer.start(), { missing: noServer, slow: false });
