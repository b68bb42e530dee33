// Workers on the embedded engine.
// takes: 12 s
import { workerSuite } from "../../suites/worker_suite.ts";
import { onBothStores } from "../../support/services.ts";

workerSuite(onBothStores);
