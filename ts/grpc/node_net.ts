// Node's modules for connections, loaded on first use. Imported, they would delay the start of a
// worker's thread by 5 ms.
import type * as Crypto from "node:crypto";
import type * as Net from "node:net";
import type * as Tls from "node:tls";
import { needBuiltin } from "../platform/builtin.ts";

export const nodeCrypto = () => needBuiltin<typeof Crypto>("node:crypto");
export const nodeNet = () => needBuiltin<typeof Net>("node:net");
export const nodeTlsModule = () => needBuiltin<typeof Tls>("node:tls");
