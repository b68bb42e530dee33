// Names of worker deployments and build ids, with the checks of Temporal's servers.
import { invalid } from "../host_bytes.ts";

/** Bytes: servers build workflow ids of both, with a limit of 1000 bytes. */
const MAX_NAME_BYTES = 480;
const utf8 = new TextEncoder();

/** Throws a ServiceError for a name that a server rejects. */
export function checkDeploymentName(
  field: "WorkerDeploymentName" | "BuildID",
  value: string,
): void {
  if (value === "") throw invalid(`${field} cannot be empty`);
  if (utf8.encode(value).length > MAX_NAME_BYTES) {
    throw invalid(`size of ${field} larger than the maximum allowed`);
  }
  if (field === "WorkerDeploymentName") {
    const delimiter = [".", ":"].find((each) => value.includes(each));
    if (delimiter !== undefined) {
      throw invalid(`worker deployment name cannot contain '${delimiter}'`);
    }
  }
  if (value.startsWith("__")) throw invalid(`${field} cannot start with '__'`);
}

/** Reads "deployment.build-id" or "deployment:build-id", as deprecated fields have it. */
export function readOldVersion(
  version: string,
  prefix?: string,
): { readonly deploymentName: string; readonly buildId: string } {
  const at = version.search(/[.:]/);
  const wrong = (why: string) =>
    invalid(
      prefix === undefined
        ? `invalid version string "${version}", expected format is "<deployment_name>.<build_id>"`
        : `${prefix}${why}`,
    );
  if (at < 0) throw wrong(`expected delimiter ':' or '.' not found in version string ${version}`);
  if (at === 0) throw wrong(`deployment name is empty in version string ${version}`);
  if (at === version.length - 1) throw wrong(`build id is empty in version string ${version}`);
  return { deploymentName: version.slice(0, at), buildId: version.slice(at + 1) };
}
