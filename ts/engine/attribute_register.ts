// The register of search attributes: names with types, kept in the store. A store without a register
// takes every name; from the first registration on only registered names are taken.
import { clone } from "@bufbuild/protobuf";
import { EngineAttributeRegister, EngineAttributeType } from "../messages/generated/fields.ts";
import {
  type SearchAttributes,
  SearchAttributesSchema,
} from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { IndexedValueType } from "../messages/generated/temporal/api/enums/v1/common_pb.ts";
import { Message } from "../messages/wire.ts";
import { invalid } from "./host_bytes.ts";
import { SEARCHABLE } from "./server_description.ts";
import type { AttributeTypes, Store } from "./store.ts";

/** Names that servers define for every namespace. */
const PREDEFINED = ["BatcherNamespace", "BatcherUser", "BinaryChecksums", "BuildIds"];
const NAME = /^[A-Za-z][\w-]*$/;

const isReserved = (name: string): boolean =>
  Object.hasOwn(SEARCHABLE, name) || PREDEFINED.includes(name) || name.startsWith("Temporal");

/** Types of search attributes by name. */
export type SearchAttributeTypeName =
  | "Text"
  | "Keyword"
  | "Int"
  | "Double"
  | "Bool"
  | "Datetime"
  | "KeywordList";

/** Names of types as values have them in their metadata. */
const TYPE_NAMES: ReadonlyMap<number, SearchAttributeTypeName> = new Map([
  [IndexedValueType.TEXT, "Text"],
  [IndexedValueType.KEYWORD, "Keyword"],
  [IndexedValueType.INT, "Int"],
  [IndexedValueType.DOUBLE, "Double"],
  [IndexedValueType.BOOL, "Bool"],
  [IndexedValueType.DATETIME, "Datetime"],
  [IndexedValueType.KEYWORD_LIST, "KeywordList"],
]);

/** A name of a type as its number: "Keyword" or "INDEXED_VALUE_TYPE_KEYWORD"; undefined: no type. */
export function attributeTypeOf(name: string): number | undefined {
  const wanted = name.replace(/^INDEXED_VALUE_TYPE_/, "").replaceAll("_", "").toLowerCase();
  const found = Object.entries(IndexedValueType).find(([key, value]) =>
    value !== IndexedValueType.UNSPECIFIED && key.replaceAll("_", "").toLowerCase() === wanted
  );
  return found?.[1] as number | undefined;
}

/**
 * Returns search attributes in which each value without a type has the registered one, as servers
 * return them. Values of names that are not registered are unchanged.
 */
export function withRegisteredTypes(
  attributes: SearchAttributes,
  types: AttributeTypes = {},
): SearchAttributes {
  const typed = clone(SearchAttributesSchema, attributes);
  for (const [name, { metadata }] of Object.entries(typed.indexedFields)) {
    const type = Object.hasOwn(types, name) ? TYPE_NAMES.get(types[name]!) : undefined;
    if (type !== undefined && metadata["type"] === undefined) {
      metadata["type"] = new TextEncoder().encode(type);
    }
  }
  return typed;
}

/** The register as the core reads it. */
export function encodeRegister(types: AttributeTypes): Uint8Array {
  const register = new Message();
  for (const [name, type] of Object.entries(types)) {
    register.message(
      EngineAttributeRegister.attributes,
      (each) => each.text(EngineAttributeType.name, name).int(EngineAttributeType.type, type),
    );
  }
  return register.finish();
}

/**
 * Adds names to the register of a store and returns it. Names that are registered keep their type.
 * Throws a ServiceError for names of the system and unknown types.
 */
export function addAttributes(store: Store, added: AttributeTypes): AttributeTypes {
  if (Object.keys(added).length === 0) throw invalid("SearchAttributes are not set on request.");
  for (const [name, type] of Object.entries(added)) {
    if (isReserved(name)) throw invalid(`Search attribute ${name} is reserved by system.`);
    if (!NAME.test(name) || name.length > 255) {
      throw invalid(
        `invalid search attribute name "${name}": letters, digits, "_" and "-", at most 255, with a letter at the beginning`,
      );
    }
    if (type === 0 || !(Object.values(IndexedValueType) as number[]).includes(type)) {
      throw invalid(`Unknown search attribute type: ${type}.`);
    }
  }
  const known = store.attributeTypes();
  if (known !== undefined && Object.keys(added).every((name) => Object.hasOwn(known, name))) {
    return known;
  }
  const types = { ...added, ...known };
  store.setAttributeTypes(types);
  return types;
}

/**
 * Removes names from the register of a store and returns it; undefined if nothing changed. Values
 * of workflows stay. Throws a ServiceError for names of the system.
 */
export function removeAttributes(
  store: Store,
  names: readonly string[],
): AttributeTypes | undefined {
  if (names.length === 0) throw invalid("SearchAttributes are not set on request.");
  const reserved = names.find(isReserved);
  if (reserved !== undefined) {
    throw invalid(`Unable to remove non-custom search attributes: ${reserved}.`);
  }
  const known = store.attributeTypes();
  if (known === undefined || !names.some((name) => Object.hasOwn(known, name))) return undefined;
  const types = Object.fromEntries(Object.entries(known).filter(([name]) => !names.includes(name)));
  store.setAttributeTypes(types);
  return types;
}
