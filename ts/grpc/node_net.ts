// Node's modules that connections are made of, asked for when they are first needed. Imported, they would take five milliseconds of every
// start before a worker's thread could begin, which takes longer than the connection.
import type * as Crypto from "node:crypto";
import type * as Net from "node:net";
import type * as Tls from "node:tls";
import { needBuiltin } from "../platform/builtin.ts";

export const nodeCrypto = () => needBuiltin<typeof Crypto>("node:crypto");
export const nodeNet = () => needBuiltin<typeof Net>("node:net");
export const nodeTlsModule = () => needBuiltin<typeof Tls>("node:tls");
