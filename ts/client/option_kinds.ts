// What the options of a client may be.
import * as kind from "../base/option_kinds.ts";
import type { ClientOptions } from "./client.ts";

/** Of each option of `new Client`. */
export const CLIENT_OPTIONS: kind.Table<ClientOptions> = {
  ...{ service: kind.service, namespace: kind.name, converter: kind.converter, identity: kind.text, taskQueue: kind.name },
  ...{ timeout: kind.duration, retry: kind.object, payloadLimits: kind.object, interceptors: kind.list, metrics: kind.object },
  ...{ logger: kind.logger, codec: kind.codec, encodeCommonAttributes: kind.flag },
};
