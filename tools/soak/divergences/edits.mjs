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
 * All edits of a program that this knows.
 * @param {string} code JavaScript
 * @param {{ sleep: string, proxies: string[], inside?: (line: number) => boolean }} of how the program sleeps ("sleep", "wf.sleep"); names
 * of its proxies of activities; which lines may be edited
 * @returns {{ kind: string, expect: string[], names: string[], line: number, code: string }[]} `expect`: kinds of edit that name it rightly;
 * `names`: one of these the sentence or the edit must contain
 */
export function editsOf(code, { sleep, proxies, inside = () => true }) {
  const tree = Parser.parse(code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const nodes = [...nodesOf(tree)].filter(({ within }) => within.length > 0);
  const text = (node) => code.slice(node.start, node.end);
  const edits = [];
  const add = (kind, expect, names, node, start, end, by) => {
    const changed = code.slice(0, start) + by + code.slice(end);
    const { line } = node.loc.start;
    if (!inside(line)) return;
    try {
      Parser.parse(changed, { ecmaVersion: "latest", sourceType: "module" });
    } catch {
      return;
    }
    edits.push({ kind, expect, names, line, code: changed });
  };
  const proxied = (node) =>
    node.type === "CallExpression" && node.callee.type === "MemberExpression" &&
    proxies.includes(node.callee.object.name);
  const nameOf = (call) => proxied(call) ? call.callee.property.name : undefined;
  const isSleep = (call) => text(call.callee) === sleep;
  const about = (call) => {
    const own = nameOf(call);
    if (own !== undefined) return [own];
    if (isSleep(call)) return ["timer"];
    return [...text(call).matchAll(/[\w-]+/g)].map(([word]) => word).filter((word) =>
      word.length > 3
    );
  };
  const awaitedCall = proxies.length > 0 ? `${proxies[0]}.newStep("new")` : undefined;
  const lists = nodes.filter(({ node }) => node.type === "BlockStatement").map(({ node }) =>
    node.body
  );
  for (const body of lists) {
    body.forEach((statement, i) => {
      const value = awaited(statement);
      if (value === undefined) return;
      const call = value.argument;
      const { start, end } = statement;
      add(
        "insert timer",
        ["inserted", "endedLate"],
        ["timer"],
        statement,
        start,
        start,
        `await ${sleep}("7s"); `,
      );
      if (awaitedCall !== undefined) {
        add(
          "insert activity",
          ["inserted", "endedLate"],
          ["newStep"],
          statement,
          start,
          start,
          `await ${awaitedCall}; `,
        );
      }
      if (statement.type === "ExpressionStatement") {
        add("remove", ["removed", "endedEarly"], about(call), statement, start, end, ";");
      } else {
        add(
          "remove",
          ["removed", "endedEarly"],
          about(call),
          statement,
          value.start,
          value.end,
          "undefined",
        );
      }
      const name = nameOf(call);
      if (name !== undefined) {
        const { property } = call.callee;
        add(
          "rename",
          ["renamed"],
          [`${name}V2`],
          statement,
          property.start,
          property.end,
          `${name}V2`,
        );
        add(
          "activity to timer",
          ["changedKind"],
          ["timer"],
          statement,
          call.start,
          call.end,
          `${sleep}("7s")`,
        );
      } else if (isSleep(call) && awaitedCall !== undefined) {
        add(
          "timer to activity",
          ["changedKind"],
          ["newStep"],
          statement,
          call.start,
          call.end,
          awaitedCall,
        );
      }
      const next = body[i + 1];
      const other = next === undefined ? undefined : awaited(next);
      if (other !== undefined && text(other) !== text(value)) {
        const names = [...about(call), ...about(other.argument)];
        const swapped = text(other) + code.slice(value.end, other.start) + text(value);
        const target = statement.declarations?.[0].id;
        const free = target === undefined || !new RegExp(`\\b${text(target)}\\b`).test(text(other));
        if (free) add("swap", ["reordered"], names, statement, value.start, other.end, swapped);
      }
      add(
        "end early",
        ["endedEarly", "removed"],
        ["end", ...about(call)],
        statement,
        start,
        start,
        `if (1) return; `,
      );
    });
    for (const statement of body) {
      if (
        statement.type === "IfStatement" &&
        has(statement.consequent, ({ type }) => type === "AwaitExpression")
      ) {
        const { test } = statement;
        const steps = [...nodesOf(statement)].filter(({ node }) => node.type === "CallExpression")
          .flatMap(({ node }) => about(node));
        add(
          "other branch",
          ["inserted", "removed", "changedKind", "renamed", "endedEarly"],
          steps,
          test,
          test.start,
          test.end,
          `!(${text(test)})`,
        );
      }
    }
  }
  const awaits = new Set(
    nodes.filter(({ node }) => node.type === "AwaitExpression").map(({ within }) => within.at(-1)),
  );
  for (const one of nodes) ofCalls(code, one, { add, awaits, awaitedCall });
  return edits;
}

/** Edits of ends, patches, handlers, children and side effects. */
function ofCalls(code, { node, within }, { add, awaits, awaitedCall }) {
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
