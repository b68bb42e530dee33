// What every store must do (tests/suites/store_suite.ts), on all that this runtime has: memory and
// SQLite on each driver. The browser's runs in tests/system/browser.
import { join } from "node:path";
import { test } from "node:test";
import { runCheck, runClosedCheck, storeChecks } from "../../suites/store_suite.ts";
import { inFolder, storeKinds } from "./support/stores.ts";

for (const kind of storeKinds) {
  for (const check of storeChecks) {
    test(`${kind.name}: ${check.name}`, { skip: kind.skip }, () =>
      // Memory is gone when it is closed.
      inFolder((folder) =>
        runCheck(check, () => kind.open(join(folder, "store.db")), kind.driver !== undefined)
      ));
  }

  test(
    `${kind.name}: a closed store rejects calls`,
    { skip: kind.skip },
    () => inFolder((folder) => runClosedCheck(() => kind.open(join(folder, "store.db")))),
  );
}
