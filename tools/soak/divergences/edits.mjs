// Changes of a workflow as its authors make them, at places that the parser found, each with what
// is true of it: its line and what it is. Lines stay where they are: an edit is made within one.
import { Parser } from "acorn";

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Yields all nodes of a syntax tree, with the functions around each. */
export function* nodesOf(node, within = []) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const one of node) yield* nodesOf(one, within);
    return;
  }
  if (typeof node.type !== "string") return;
  yield { node, within };
  const inner = FUNCTIONS.has(node.type) ? [...within, node] : within;
  for (const [key, value] of Object.entries(node)) if (key !== "type") yield* nodesOf(value, inner);
}

const has = (node, test) => [...nodesOf(node)].some(({ node }) => test(node));
const isCallOf = (names) => ({ type, callee }) =>
  type === "CallExpression" &&
  names.includes(callee.type === "MemberExpression" ? callee.property.name : callee.name);

const awaited = (statement) => {
  const value = statement.type === "ExpressionStatement"
    ? statement.expression
    : statement.type === "VariableDeclaration" && statement.declarations.length === 1
    ? statement.declarations[0].init
    : undefined;
  if (value?.type !== "AwaitExpression" || value.argument.type !== "CallExpression") {
    return undefined;
  }
  return has(value.argument, ({ type }) => FUNCTIONS.has(type)) ? undefined : value;
};

/**
 * Returns the edits of a program.
 * @param {string} code JavaScript
 * @param {{ sleep: string, proxies: string[], inside?: (line: number) => boolean }} of how the
 * program sleeps ("sleep", "wf.sleep"); names of its proxies of activities; which lines may be edited
 * @returns {{ kind: string, expect: string[], names: string[], line: number, code: string, moved?: string }[]}
 * `expect`: kinds of edit that name it correctly; `names`: the sentence or the edit must contain one
 * of these. `moved`: the activity that a swap moves to the front
 */
export function editsOf(code, { sleep, proxies, inside = () => true }) {
  const tree = Parser.parse(code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const nodes = [...nodesOf(tree)].filter(({ within }) => within.length > 0);
  const edits = [];
  const add = (kind, expect, names, node, start, end, by, more = {}) => {
    const changed = code.slice(0, start) + by + code.slice(end);
    const { line } = node.loc.start;
    if (!inside(line)) return;
    try {
      Parser.parse(changed, { ecmaVersion: "latest", sourceType: "module" });
    } catch {
      return;
    }
    edits.push({ kind, expect, names, line, code: changed, ...more });
  };
  const program = new ProgramText(code, sleep, proxies);
  for (const { node } of nodes) {
    if (node.type !== "BlockStatement") continue;
    node.body.forEach((statement, i) => editStep(program, statement, node.body[i + 1], add));
    for (const statement of node.body) editBranch(program, statement, add);
  }
  const awaits = new Set(
    nodes.filter(({ node }) => node.type === "AwaitExpression").map(({ within }) => within.at(-1)),
  );
  const { awaitedCall } = program;
  for (const one of nodes) editCall(code, one, { add, awaits, awaitedCall });
  return edits;
}

/** A program's text, and which of its calls are sleeps and activities. */
class ProgramText {
  constructor(code, sleep, proxies) {
    this.code = code;
    this.sleep = sleep;
    this.proxies = proxies;
    /** A call of an activity that the history does not contain; undefined without a proxy. */
    this.awaitedCall = proxies.length > 0 ? `${proxies[0]}.newStep("new")` : undefined;
  }

  text(node) {
    return this.code.slice(node.start, node.end);
  }

  isSleep(call) {
    return this.text(call.callee) === this.sleep;
  }

  /** Name of the activity that a call starts; undefined for other calls. */
  activityName({ type, callee }) {
    const proxied = type === "CallExpression" && callee.type === "MemberExpression" &&
      this.proxies.includes(callee.object.name);
    return proxied ? callee.property.name : undefined;
  }

  /** Words by which a report may name the call. */
  words(call) {
    const own = this.activityName(call);
    if (own !== undefined) return [own];
    if (this.isSleep(call)) return ["timer"];
    return [...this.text(call).matchAll(/[\w-]+/g)].map(([word]) => word)
      .filter((word) => word.length > 3);
  }
}

/** Edits of a statement that awaits one call; `next`: the statement after it. */
function editStep(program, statement, next, add) {
  const value = awaited(statement);
  if (value === undefined) return;
  const { sleep, awaitedCall } = program;
  const call = value.argument;
  const { start, end } = statement;
  const words = program.words(call);
  const inserted = ["inserted", "endedLate"];
  const removed = ["removed", "endedEarly"];
  const timer = `${sleep}("7s")`;
  add("insert timer", inserted, ["timer"], statement, start, start, `await ${timer}; `);
  if (awaitedCall !== undefined) {
    const by = `await ${awaitedCall}; `;
    add("insert activity", inserted, ["newStep"], statement, start, start, by);
  }
  if (statement.type === "ExpressionStatement") {
    add("remove", removed, words, statement, start, end, ";");
  } else add("remove", removed, words, statement, value.start, value.end, "undefined");
  replaceCall(program, statement, call, timer, add);
  swapSteps(program, statement, value, next, add);
  const early = ["endedEarly", "removed"];
  add("end early", early, ["end", ...words], statement, start, start, `if (1) return; `);
}

function replaceCall(program, statement, call, timer, add) {
  const { awaitedCall } = program;
  const changed = ["changedKind"];
  const name = program.activityName(call);
  if (name !== undefined) {
    const { start, end } = call.callee.property;
    const renamed = `${name}V2`;
    add("rename", ["renamed"], [renamed], statement, start, end, renamed);
    add("activity to timer", changed, ["timer"], statement, call.start, call.end, timer);
  } else if (program.isSleep(call) && awaitedCall !== undefined) {
    add("timer to activity", changed, ["newStep"], statement, call.start, call.end, awaitedCall);
  }
}

function swapSteps(program, statement, value, next, add) {
  const other = next === undefined ? undefined : awaited(next);
  if (other === undefined || program.text(other) === program.text(value)) return;
  const moved = program.activityName(other.argument);
  const names = [...program.words(value.argument), ...program.words(other.argument)];
  const between = program.code.slice(value.end, other.start);
  const swapped = program.text(other) + between + program.text(value);
  const target = statement.declarations?.[0].id;
  const free = target === undefined ||
    !new RegExp(`\\b${program.text(target)}\\b`).test(program.text(other));
  const start = value.start;
  if (free) add("swap", ["reordered"], names, statement, start, other.end, swapped, { moved });
}

/** Negates a test whose branch awaits. */
function editBranch(program, statement, add) {
  if (
    statement.type !== "IfStatement" ||
    !has(statement.consequent, ({ type }) => type === "AwaitExpression")
  ) return;
  const { test } = statement;
  const words = [...nodesOf(statement)].filter(({ node }) => node.type === "CallExpression")
    .flatMap(({ node }) => program.words(node));
  const expect = ["inserted", "removed", "changedKind", "renamed", "endedEarly"];
  add("other branch", expect, words, test, test.start, test.end, `!(${program.text(test)})`);
}

/** Edits of ends, patches, handlers, children and side effects. */
function editCall(code, { node, within }, { add, awaits, awaitedCall }) {
  const callee = node.type === "CallExpression"
    ? code.slice(node.callee.start, node.callee.end)
    : "";
  if (
    node.type === "ReturnStatement" && awaits.has(within.at(-1)) && node.argument !== null &&
    awaitedCall !== undefined
  ) {
    if (node.argument.type === "AwaitExpression") return;
    add(
      "end late",
      ["endedLate", "inserted"],
      ["newStep"],
      node,
      node.start,
      node.start,
      `await ${awaitedCall}; `,
    );
  }
  if (node.type !== "CallExpression") return;
  const [first] = node.arguments;
  if (isCallOf(["patched"])(node) && first?.type === "Literal") {
    add(
      "rename patch",
      ["patchRenamed"],
      [first.value],
      node,
      first.start,
      first.end,
      JSON.stringify(`${first.value}-2`),
    );
    add(
      "remove patch",
      ["patchRemoved", "patchRenamed"],
      [first.value],
      node,
      node.start,
      node.end,
      "false",
    );
  }
  if (isCallOf(["on", "setHandler"])(node) && first?.type === "Identifier" && within.length > 0) {
    const declared = new RegExp(
      `\\b${first.name}\\s*=\\s*(?:\\w+\\.)?(?:update|defineUpdate)[^"'\\n]*\\(["']([^"']+)["']`,
    )
      .exec(code);
    if (declared !== null) {
      const [, name] = declared;
      const make = /setHandler/.test(callee)
        ? callee.replace("setHandler", "defineUpdate")
        : "update";
      add(
        "rename handler",
        ["handlerMissing"],
        [name],
        node,
        first.start,
        first.end,
        `${make}("${name}-2")`,
      );
    }
  }
  if (
    isCallOf(["executeChild", "startChild"])(node) && first?.type === "Identifier" &&
    first.name === "pack"
  ) {
    add("rename child", ["renamed"], ["Wrap"], node, first.start, first.end, "wrap");
  }
  if (isCallOf(["sideEffect"])(node)) {
    add("remove side effect", ["removed"], ["side effect"], node, node.start, node.end, "4711");
  }
}
