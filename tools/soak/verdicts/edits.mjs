// Changes to a program as its authors make them: a statement removed, doubled, moved; a call, a
// constant or a name changed. The text is edited at places that the parser found, so that
// everything else stays as it was.
import { Parser } from "acorn";
import { transform } from "sucrase";

/** TypeScript to JavaScript, lines kept. */
export const strip = (text) =>
  transform(text, {
    transforms: ["typescript"],
    disableESTransforms: true,
    keepUnusedImports: false,
  }).code;

function* nodesOf(node, inside = false) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const one of node) yield* nodesOf(one, inside);
    return;
  }
  if (typeof node.type !== "string") return;
  if (inside) yield node;
  const functions = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"];
  const within = inside || functions.includes(node.type);
  for (const [key, value] of Object.entries(node)) {
    if (key !== "type") yield* nodesOf(value, within);
  }
}

/** Statements that can be removed without leaving a name undeclared for other code. */
const movable = (node) =>
  [
    "ExpressionStatement",
    "IfStatement",
    "ForStatement",
    "ForOfStatement",
    "TryStatement",
    "WhileStatement",
    "ReturnStatement",
  ]
    .includes(
      node.type,
    );

const REPLACED_CALLS = {
  sleep: (text) => `Promise.resolve(${text})`,
  patched: () => "true",
  condition: (text) => `sleepInstead(${text})`,
};

/**
 * One change, or undefined when this kind finds no place in the program.
 * @param {string} code JavaScript
 * @param {import("./random.mjs").Random} random
 * @returns {{ kind: string, line: number, code: string } | undefined}
 */
export function edited(code, random) {
  const tree = Parser.parse(code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const nodes = [...nodesOf(tree)];
  const blocks = nodes.filter((node) => node.type === "BlockStatement");
  const statements = blocks.flatMap((block) =>
    block.body.map((node, i) => ({ node, next: block.body[i + 1] }))
  );
  const single = statements.filter(({ node }) => movable(node));
  const text = (node) => code.slice(node.start, node.end);
  const splice = (node, by) => code.slice(0, node.start) + by + code.slice(node.end);
  const calls = nodes.filter((node) =>
    node.type === "CallExpression" && node.callee.type === "Identifier"
  );
  const literals = nodes.filter((node) =>
    node.type === "Literal" && ["string", "number", "boolean"].includes(typeof node.value)
  );
  const awaits = nodes.filter((node) => node.type === "AwaitExpression");
  const kinds = {
    remove() {
      const { node } = random.of(single);
      return { node, code: splice(node, ";") };
    },
    double() {
      const { node } = random.of(single.filter(({ node }) => node.type !== "ReturnStatement"));
      return { node, code: splice(node, `${text(node)} ${text(node)}`) };
    },
    swap() {
      const { node, next } = random.of(
        single.filter(({ next }) => next !== undefined && movable(next)),
      );
      return {
        node,
        code: code.slice(0, node.start) + text(next) + code.slice(node.end, next.start) +
          text(node) + code.slice(next.end),
      };
    },
    constant() {
      const node = random.of(literals);
      const value = typeof node.value === "string"
        ? `${node.value}X`
        : typeof node.value === "number"
        ? node.value + 1
        : !node.value;
      return { node, code: splice(node, JSON.stringify(value)) };
    },
    call() {
      const node = random.of(
        calls.filter((node) => Object.hasOwn(REPLACED_CALLS, node.callee.name)),
      );
      const by = REPLACED_CALLS[node.callee.name](node.arguments.map(text).join(", "));
      return {
        node,
        code: splice(node, by.replace(/^sleepInstead\(.*\)$/s, "Promise.resolve(true)")),
      };
    },
    unawaited() {
      const node = random.of(awaits);
      return { node, code: splice(node, text(node.argument)) };
    },
    inserted() {
      const { node } = random.of(single);
      return {
        node,
        code: code.slice(0, node.start) + `await new Promise((done) => setTimeout(done, 7)); ` +
          code.slice(node.start),
      };
    },
    name() {
      const names = [...new Set(calls.map((node) => node.callee.name))];
      const node = random.of(calls);
      const other = random.of(names.filter((name) => name !== node.callee.name));
      return { node: node.callee, code: splice(node.callee, other) };
    },
    arguments() {
      const node = random.of(calls.filter((node) => node.arguments.length > 1));
      const [first, second] = node.arguments;
      return {
        node,
        code: code.slice(0, first.start) + text(second) + code.slice(first.end, second.start) +
          text(first) +
          code.slice(second.end),
      };
    },
  };
  const kind = random.of(Object.keys(kinds));
  let change;
  try {
    change = kinds[kind]();
    // An await where none may stand, a name twice: not what an author would deploy.
    Parser.parse(change.code, { ecmaVersion: "latest", sourceType: "module" });
  } catch {
    return undefined;
  }
  return change.code === code
    ? undefined
    : { kind, line: change.node.loc.start.line, code: change.code };
}
