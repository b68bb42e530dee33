// Tokens of asynchronous operations, with which callers cancel them. The bytes are those of the
// official packages, because any worker may cancel an operation that another one started.

/** What backs an operation. */
export const TokenType = { WORKFLOW_RUN: 1, ACTIVITY: 2, UPDATE_WORKFLOW: 3 } as const;

/** Content of a token. */
export interface OperationToken {
  /** Version of the token's form; omitted for the first one. */
  readonly v?: number;
  /** What backs the operation. */
  readonly t: number;
  /** Namespace. */
  readonly ns: string;
  /** Id of the workflow. */
  readonly wid?: string;
  /** Id of the activity. */
  readonly aid?: string;
  /** Id of the run. */
  readonly rid?: string | undefined;
  /** Id of the update. */
  readonly uid?: string;
}

/** The order of fields determines the bytes. */
export function encodeToken(token: OperationToken): string {
  const bytes = new TextEncoder().encode(JSON.stringify(token));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the token of an operation backed by a workflow run. */
export function workflowRunToken(namespace: string, workflowId: string): string {
  return encodeToken({ t: TokenType.WORKFLOW_RUN, ns: namespace, wid: workflowId });
}

/** Returns the token of an operation backed by an update. */
export function updateToken(
  namespace: string,
  workflowId: string,
  runId: string,
  updateId: string,
): string {
  if (!namespace) throw new TypeError("invalid update workflow token: missing namespace");
  if (!workflowId) throw new TypeError("invalid update workflow token: missing workflow ID (wid)");
  if (!updateId) throw new TypeError("invalid update workflow token: missing update ID (uid)");
  return encodeToken({
    t: TokenType.UPDATE_WORKFLOW,
    ns: namespace,
    wid: workflowId,
    rid: runId || undefined,
    uid: updateId,
  });
}

function decoded(text: string): unknown {
  if (!text) throw new TypeError("invalid operation token: token is empty");
  let json: string;
  try {
    if (!/^[A-Za-z0-9_-]*$/.test(text)) {
      throw new TypeError("invalid base64URL encoded string: contains invalid characters");
    }
    const bytes = Uint8Array.from(
      atob(text.replaceAll("-", "+").replaceAll("_", "/")),
      (char) => char.charCodeAt(0),
    );
    json = new TextDecoder().decode(bytes);
  } catch (cause) {
    throw new TypeError("failed to decode token", { cause });
  }
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new TypeError("failed to unmarshal Operation token", { cause });
  }
}

/** Parses a token. Throws a TypeError that describes the problem. */
export function readToken(text: string): OperationToken {
  const token = decoded(text) as Partial<OperationToken> | null;
  if (typeof token !== "object" || token === null) {
    throw new TypeError(`invalid operation token: expected object, got ${typeof token}`);
  }
  const { v, t, ns } = token;
  if (v !== undefined && v !== 0) {
    throw new TypeError('invalid operation token: "v" field should not be present');
  }
  if (typeof t !== "number") {
    throw new TypeError(
      `invalid operation token: expected token type to be a number, got ${typeof t}`,
    );
  }
  if (!(Object.values(TokenType) as number[]).includes(t)) {
    throw new TypeError(`invalid operation token: unknown token type: ${t}`);
  }
  if (typeof ns !== "string") {
    throw new TypeError(
      `invalid operation token: expected namespace to be a string, got ${typeof ns}`,
    );
  }
  return token as OperationToken;
}

const isId = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Returns the workflow of a run token. Throws a TypeError for other tokens. */
export function readWorkflowRun({ t, wid }: OperationToken): { workflowId: string } {
  if (t !== TokenType.WORKFLOW_RUN) {
    throw new TypeError(`invalid workflow token type: ${t}, expected: ${TokenType.WORKFLOW_RUN}`);
  }
  if (!isId(wid)) throw new TypeError("invalid workflow run token: missing workflow ID (wid)");
  return { workflowId: wid };
}

/** Returns the update of an update token. Throws a TypeError for other tokens. */
export function readUpdateIds(
  { t, wid, rid, uid }: OperationToken,
): { workflowId: string; runId: string; updateId: string } {
  if (t !== TokenType.UPDATE_WORKFLOW) {
    throw new TypeError(
      `invalid update workflow token type: ${t}, expected: ${TokenType.UPDATE_WORKFLOW}`,
    );
  }
  if (!isId(wid)) throw new TypeError("invalid update workflow token: missing workflow ID (wid)");
  if (!isId(uid)) throw new TypeError("invalid update workflow token: missing update ID (uid)");
  return { workflowId: wid, runId: rid ?? "", updateId: uid };
}

/** Returns the activity of an activity token. Throws a TypeError for other tokens. */
export function readActivityIds(
  { t, aid, rid }: OperationToken,
): { activityId: string; runId: string } {
  if (t !== TokenType.ACTIVITY) {
    throw new TypeError(`invalid activity token type: ${t}, expected: ${TokenType.ACTIVITY}`);
  }
  if (!isId(aid)) {
    throw new TypeError("invalid activity token: missing or invalid activity ID (aid)");
  }
  if (!isId(rid)) {
    throw new TypeError("invalid activity token: missing or invalid activity run ID (rid)");
  }
  return { activityId: aid, runId: rid };
}
