// Parses visibility queries: the subset of Temporal's list filters for an index of runs and
// attributes.
//     query  := [or] [ORDER BY (StartTime | CloseTime) [ASC | DESC]]      of a count: [or] [GROUP BY ExecutionStatus]
//     or     := and {OR and}        and := term {AND term}        term := NOT term | "(" or ")" | field test
//     test   := (= | != | < | <= | > | >=) value | [NOT] IN "(" value {"," value} ")" | [NOT] BETWEEN value AND value
//             | [NOT] STARTS_WITH string | IS [NOT] NULL
// Default order as in servers (1.29, which reject ORDER BY): open runs, youngest first, then closed
// runs, last closed first. Other names are search attributes.
import { ServiceError } from "../../service/raw.ts";
import type { AttributeTypes, ListQuery, OrderField } from "../store.ts";
import { attributeCondition, isBool, type Written } from "./attribute_condition.ts";
import { type CompareOp, type Condition, type Field, negated, type Value } from "./condition.ts";
import { type Token, tokenize } from "./tokens.ts";
import { QueryError } from "./query_error.ts";
import {
  parseCountOf,
  parseLength,
  parseStatus,
  parseTime,
  STATUS_NAMES,
  type StatusNames,
} from "./values.ts";

const FIELDS: readonly Field[] = [
  "WorkflowType",
  "WorkflowId",
  "RunId",
  "TaskQueue",
  "ExecutionStatus",
  "StartTime",
  "CloseTime",
  "ExecutionTime",
  "ExecutionDuration",
  "HistoryLength",
  "HistorySizeBytes",
  "StateTransitionCount",
  "ParentWorkflowId",
  "RootWorkflowId",
];
/** What a query selects, and the names of its fields. */
export interface QueryFields {
  /** What is listed, in messages. */
  readonly what: "runs" | "activities" | "workers";
  readonly fields: { readonly [name: string]: Field };
  readonly statuses: StatusNames;
}

export const RUN_FIELDS: QueryFields = {
  what: "runs",
  fields: Object.fromEntries(FIELDS.map((name) => [name, name])),
  statuses: STATUS_NAMES,
};

/** Fields of Temporal's servers that do not exist here; as attributes they would match no run. */
const NOT_INDEXED = ["ParentRunId", "RootRunId"];
const STRING_FIELDS: readonly Field[] = [
  "WorkflowType",
  "WorkflowId",
  "RunId",
  "TaskQueue",
  "ParentWorkflowId",
  "RootWorkflowId",
];
const PREDEFINED =
  /^(?:Temporal|Batcher|BuildIds$|BinaryChecksums$|Workflow(?:EntityId|CorrelationId|Timers|Subscription)$)/;
const COMPARISONS = ["=", "!=", "<>", "<", "<=", ">", ">="];
const KEYWORDS = [
  "AND",
  "OR",
  "NOT",
  "IN",
  "BETWEEN",
  "STARTS_WITH",
  "IS",
  "NULL",
  "ORDER",
  "GROUP",
  "BY",
  "ASC",
  "DESC",
];
/** Limits that keep a hostile query from exhausting the stack or the database's parameters. */
const MAX_LENGTH = 16_384;
const MAX_DEPTH = 50;
const MAX_VALUES = 1000;

/**
 * Whether a word differs from a field's name only by case or one character: as an attribute it
 * would silently match no run.
 */
function isSlip(word: string, field: string): boolean {
  const [a, b] = [word.toLowerCase(), field.toLowerCase()];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (
    end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]
  ) end++;
  return Math.max(a.length, b.length) - start - end <= 1;
}

/** What a test applies to: parses its values, and rejects tests that it does not support. */
interface Subject<T> {
  value(): T;
  check(kind: "order" | "between" | "startsWith", at: Token): void;
}

class Parser {
  readonly #tokens: Token[];
  #next = 0;
  #depth = 0;
  #values = 0;

  readonly #attributes: AttributeTypes | undefined;

  readonly #fields: QueryFields;
  readonly #names: readonly string[];

  constructor(query: string, attributes: AttributeTypes | undefined, fields: QueryFields) {
    this.#tokens = tokenize(query);
    this.#attributes = attributes;
    this.#fields = fields;
    this.#names = Object.keys(fields.fields);
  }

  parse(): ListQuery {
    let where: Condition | undefined;
    if (!this.#atEnd() && !this.#atKeyword("ORDER") && !this.#atKeyword("GROUP")) {
      where = this.#or();
    }
    if (this.#atKeyword("GROUP")) {
      throw new QueryError(
        `${this.#fields.what} can be counted in groups, but not listed`,
        this.#peek(),
      );
    }
    const order = this.#order();
    if (!this.#atEnd()) {
      throw new QueryError("expected AND, OR, ORDER BY or the end of the query", this.#peek());
    }
    return where === undefined ? order : { where, ...order };
  }

  #order(): { orderBy: OrderField; descending: boolean } {
    let orderBy: OrderField = "CloseTime";
    let descending = true;
    if (this.#takeKeyword("ORDER")) {
      this.#expectKeyword("BY");
      const field = this.#take();
      if (field.kind !== "word" || (field.text !== "StartTime" && field.text !== "CloseTime")) {
        throw new QueryError(
          `${this.#fields.what} can be ordered by StartTime or CloseTime only`,
          field,
        );
      }
      orderBy = field.text;
      if (this.#takeKeyword("ASC")) descending = false;
      else this.#takeKeyword("DESC");
    }
    return { orderBy, descending };
  }

  parseCount(): CountQuery {
    let where: Condition | undefined;
    if (!this.#atEnd() && !this.#atKeyword("ORDER") && !this.#atKeyword("GROUP")) {
      where = this.#or();
    }
    if (this.#atKeyword("ORDER")) {
      throw new QueryError("ORDER BY is not supported in a count", this.#peek());
    }
    const grouped = this.#takeKeyword("GROUP");
    if (grouped) {
      this.#expectKeyword("BY");
      const field = this.#take();
      if (field.text !== "ExecutionStatus" || (field.kind !== "word" && field.kind !== "name")) {
        throw new QueryError(
          `${this.#fields.what} can be grouped by ExecutionStatus only`,
          field,
        );
      }
    }
    if (!this.#atEnd()) {
      throw new QueryError("expected AND, OR, GROUP BY or the end of the query", this.#peek());
    }
    return { where, byStatus: grouped };
  }

  #or(): Condition {
    if (++this.#depth > MAX_DEPTH) {
      throw new QueryError(`parentheses are nested deeper than ${MAX_DEPTH}`, this.#peek());
    }
    const parts = [this.#and()];
    while (this.#takeKeyword("OR")) parts.push(this.#and());
    this.#depth--;
    return parts.length === 1 ? parts[0]! : { kind: "or", parts };
  }

  #and(): Condition {
    const parts = [this.#term()];
    while (this.#takeKeyword("AND")) parts.push(this.#term());
    return parts.length === 1 ? parts[0]! : { kind: "and", parts };
  }

  #term(): Condition {
    if (this.#takeKeyword("NOT")) {
      if (++this.#depth > MAX_DEPTH) {
        throw new QueryError(
          `NOT and parentheses are nested deeper than ${MAX_DEPTH}`,
          this.#peek(),
        );
      }
      const inner = this.#term();
      this.#depth--;
      return negated(inner);
    }
    if (this.#takeSymbol("(")) {
      const inner = this.#or();
      if (!this.#takeSymbol(")")) throw new QueryError('expected ")"', this.#peek());
      return inner;
    }
    const token = this.#take();
    const quoted = token.kind === "name";
    if (!quoted && (token.kind !== "word" || KEYWORDS.includes(token.text.toUpperCase()))) {
      throw new QueryError(`expected a field (${this.#names.join(", ")})`, token);
    }
    if (this.#names.includes(token.text)) return this.#field(token.text);
    if (!this.#isKnown(token.text) && this.#fields.what === "workers") {
      const known = [...this.#names, ...Object.keys(this.#attributes ?? {})];
      throw new QueryError(
        `unknown field "${token.text}"; known fields: ${known.join(", ")}`,
        token,
      );
    }
    if (
      !quoted &&
      (NOT_INDEXED.includes(token.text) || this.#names.some((name) => isSlip(token.text, name)))
    ) {
      throw new QueryError(
        `unknown field "${token.text}"; known fields: ${
          this.#names.join(", ")
        }, and search attributes by name ` +
          "(quote a search attribute with the same name in backquotes)",
        token,
      );
    }
    if (!this.#isKnown(token.text)) {
      throw new QueryError(
        `search attribute "${token.text}" is not registered; register it with temporal operator search-attribute create`,
        token,
      );
    }
    return this.#attribute(token.text);
  }

  /** Without a register every name is known. Names of this package and of servers need no register. */
  #isKnown(name: string): boolean {
    const types = this.#attributes;
    return types === undefined || Object.hasOwn(types, name) || PREDEFINED.test(name);
  }

  #field(name: string): Condition {
    const field = this.#fields.fields[name]!;
    return {
      field,
      ...this.#test(name, {
        value: () => this.#value(name, field),
        check(kind, at) {
          if (field === "ExecutionStatus" && (kind === "order" || kind === "between")) {
            throw new QueryError("ExecutionStatus supports only =, != and IN", at);
          }
          if (kind === "startsWith" && !STRING_FIELDS.includes(field)) {
            throw new QueryError(
              `STARTS_WITH needs a string field, and ${name} is not a string`,
              at,
            );
          }
        },
      }),
    } as Condition;
  }

  #attribute(name: string): Condition {
    return attributeCondition(
      name,
      this.#test(name, { value: () => this.#literal(name), check() {} }),
    );
  }

  #test<T>(name: string, subject: Subject<T>): Written<T> {
    const op = this.#peek();
    if (op.kind === "symbol" && COMPARISONS.includes(op.text)) {
      this.#next++;
      const ordered = op.text !== "=" && op.text !== "!=" && op.text !== "<>";
      if (ordered) subject.check("order", op);
      return {
        kind: "compare",
        op: (op.text === "<>" ? "!=" : op.text) as CompareOp,
        value: subject.value(),
      };
    }
    if (this.#takeKeyword("IS")) {
      const not = this.#takeKeyword("NOT");
      this.#expectKeyword("NULL");
      return { kind: "null", negated: not };
    }
    const not = this.#takeKeyword("NOT");
    const word = this.#peek();
    if (this.#takeKeyword("IN")) {
      if (!this.#takeSymbol("(")) throw new QueryError('expected "(" after IN', this.#peek());
      const values = [subject.value()];
      while (this.#takeSymbol(",")) values.push(subject.value());
      if (!this.#takeSymbol(")")) {
        throw new QueryError('expected "," or ")" in the list of IN', this.#peek());
      }
      return { kind: "in", values, negated: not };
    }
    if (this.#takeKeyword("BETWEEN")) {
      subject.check("between", word);
      const low = subject.value();
      this.#expectKeyword("AND");
      return { kind: "between", low, high: subject.value(), negated: not };
    }
    if (this.#takeKeyword("STARTS_WITH")) {
      subject.check("startsWith", word);
      return { kind: "startsWith", prefix: subject.value(), negated: not };
    }
    throw new QueryError(
      `expected a comparison after ${name}: =, !=, <, <=, >, >=, IN, BETWEEN, STARTS_WITH or IS NULL`,
      word,
    );
  }

  /** A value of an attribute, whose type is unknown. */
  #literal(name: string): Token {
    const token = this.#take();
    if (++this.#values > MAX_VALUES) {
      throw new QueryError(`a query can have at most ${MAX_VALUES} values`, token);
    }
    if (token.kind === "text" || token.kind === "number" || isBool(token)) return token;
    throw new QueryError(
      `expected a value for ${name}: a quoted string, a number, true or false`,
      token,
    );
  }

  #value(name: string, field: Field): Value {
    const token = this.#take();
    if (++this.#values > MAX_VALUES) {
      throw new QueryError(`a query can have at most ${MAX_VALUES} values`, token);
    }
    if (token.kind !== "text" && token.kind !== "number") {
      throw new QueryError(`expected a value for ${name} (quote string values)`, token);
    }
    switch (field) {
      case "StartTime":
      case "CloseTime":
      case "ExecutionTime":
        return parseTime(token, field);
      case "ExecutionStatus":
        return parseStatus(token, this.#fields.statuses, name);
      case "ExecutionDuration":
        return parseLength(token, field);
      case "HistoryLength":
      case "HistorySizeBytes":
      case "StateTransitionCount":
        return parseCountOf(token, field);
    }
    if (token.kind !== "text") {
      throw new QueryError(`${name} is a string: put the value in quotes`, token);
    }
    return token.text;
  }

  #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== "end") this.#next++;
    return token;
  }

  #atEnd(): boolean {
    return this.#peek().kind === "end";
  }

  #atKeyword(keyword: string): boolean {
    const token = this.#peek();
    return token.kind === "word" && token.text.toUpperCase() === keyword;
  }

  #takeKeyword(keyword: string): boolean {
    const found = this.#atKeyword(keyword);
    if (found) this.#next++;
    return found;
  }

  #expectKeyword(keyword: string): void {
    if (!this.#takeKeyword(keyword)) throw new QueryError(`expected ${keyword}`, this.#peek());
  }

  #takeSymbol(symbol: string): boolean {
    const token = this.#peek();
    const found = token.kind === "symbol" && token.text === symbol;
    if (found) this.#next++;
    return found;
  }
}

/** A parsed count; `byStatus`: grouped by status. */
export interface CountQuery {
  readonly where: Condition | undefined;
  readonly byStatus: boolean;
}

/**
 * Parses a list filter. With registered `attributes`, other names are errors. Throws a ServiceError
 * INVALID_ARGUMENT with the position of the error.
 */
export function parseQuery(
  query: string,
  attributes?: AttributeTypes,
  fields: QueryFields = RUN_FIELDS,
): ListQuery {
  return reading(query, attributes, fields, (parser) => parser.parse());
}

/** Parses the filter of a count. Throws as `parseQuery`. */
export function parseCount(
  query: string,
  attributes?: AttributeTypes,
  fields: QueryFields = RUN_FIELDS,
): CountQuery {
  return reading(query, attributes, fields, (parser) => parser.parseCount());
}

function reading<T>(
  query: string,
  attributes: AttributeTypes | undefined,
  fields: QueryFields,
  read: (parser: Parser) => T,
): T {
  try {
    if (query.length > MAX_LENGTH) {
      throw new QueryError(`it is longer than ${MAX_LENGTH} characters`);
    }
    return read(new Parser(query, attributes, fields));
  } catch (e) {
    if (!(e instanceof QueryError)) throw e;
    throw new ServiceError(3, `invalid query: ${e.message}`, "InvalidArgument");
  }
}
