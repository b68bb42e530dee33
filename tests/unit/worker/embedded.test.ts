// Workers on the embedded engine.
// takes: 6 s
import { workerSuite } from "../../suites/worker_suite.ts";
import { onBothStores } from "../../support/services.ts";

workerSuite(onBothStores);
