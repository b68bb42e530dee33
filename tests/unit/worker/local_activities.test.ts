// Local activities on the embedded engine.
// takes: 30 s
import { localActivitiesSuite } from "../../suites/local_activities_suite.ts";
import { onBothStores } from "../../support/services.ts";

localActivitiesSuite(onBothStores);
