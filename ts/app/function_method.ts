// Functions of the application for clients in other processes, over the socket next to the store: one
// method in addition to WorkflowService.
import type { EmbeddedEngine } from "../engine/embedded_engine.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";
import { FUNCTION_METHOD, FUNCTION_PATH, FUNCTION_SERVICE } from "../service/functions.ts";

export function functionMethod(engine: EmbeddedEngine): ExtraMethod {
  return {
    service: FUNCTION_SERVICE,
    method: FUNCTION_METHOD,
    unary: (request) => engine.callOther(FUNCTION_PATH, request),
  };
}
