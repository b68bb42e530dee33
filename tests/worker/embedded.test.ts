// Workers on the embedded engine.
import { workerSuite } from "../suites/worker_suite.ts";
import { onBothStores } from "../support/services.ts";

workerSuite(onBothStores);
