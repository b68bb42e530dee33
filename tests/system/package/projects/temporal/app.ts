import { ApplicationFailure } from "@temporalio/common";
import { encode } from "@temporalio/common/lib/encoding";
import * as workflow from "@temporalio/workflow";
import { loadClientConnectConfig } from "@temporalio/envconfig";

async function run(): Promise<void> {
  const { connectionOptions } = loadClientConnectConfig({
    disableFile: true,
    overrideEnvVars: { TEMPORAL_ADDRESS: "host:1" },
  });
  const failure = workflow.ApplicationFailure.create({ message: "no" });
  const late = await import("@temporalio/common");
  console.log(JSON.stringify({
    same: failure instanceof ApplicationFailure && late.ApplicationFailure === ApplicationFailure,
    bytes: encode("ab").length,
    address: connectionOptions.address,
  }));
}

void run();
