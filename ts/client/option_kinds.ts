// Types of the client's options.
import * as kind from "../base/option_kinds.ts";
import type { PayloadLimits } from "../service/limits.ts";
import type { RetryOptions } from "../service/retry.ts";
import type { ClientOptions } from "./client.ts";

const RETRY: kind.Table<RetryOptions> = {
  ...{
    initialIntervalMs: kind.notNegative,
    maximumIntervalMs: kind.notNegative,
    backoffCoefficient: kind.atLeastOne,
  },
  ...{ jitter: kind.share, maximumAttempts: kind.countOrInfinity },
};
const LIMITS: kind.Table<PayloadLimits> = {
  warnBytes: kind.notNegativeOrInfinity,
  errorBytes: kind.notNegativeOrInfinity,
};

/** By option of `new Client`. */
export const CLIENT_OPTIONS: kind.Table<ClientOptions> = {
  ...{
    service: kind.service,
    namespace: kind.name,
    converter: kind.converter,
    identity: kind.text,
    taskQueue: kind.name,
  },
  ...{
    timeout: kind.duration,
    retry: RETRY,
    payloadLimits: LIMITS,
    interceptors: kind.list,
    metrics: kind.object,
  },
  ...{ logger: kind.logger, codec: kind.codec, encodeCommonAttributes: kind.flag },
};
