// The method by which clients call functions of the application: a QueryWorkflowRequest with the
// name and arguments, and a WorkflowQueryResult with the result or failure.

export const FUNCTION_SERVICE = "temporalex.functions.v1.FunctionService";
export const FUNCTION_METHOD = "Call";
/** Path for `RawService.callOther`. */
export const FUNCTION_PATH = `/${FUNCTION_SERVICE}/${FUNCTION_METHOD}`;
