/** The surface over fakes, and the requests that tests send. */
import { createApi } from "../../lib/api/api.ts";
import type { Health } from "../../lib/api/health.ts";
import { presets } from "../../lib/api/log-config.ts";
import type { AllowedOrigins } from "../../lib/api/origins.ts";
import type { Problem } from "../../lib/api/problem.ts";
import { RegionWork } from "../../lib/api/region-work.ts";
import { FakeLogs, here } from "./fake-log.ts";

export function apiUnderTest(
  health: Partial<Health> = {},
  allowedOrigins: AllowedOrigins = [],
  work = new RegionWork(),
) {
  const logs = new FakeLogs();
  const faults: unknown[] = [];
  const undeclared: string[] = [];
  const api = createApi({
    append: logs,
    read: logs,
    regions: logs,
    region: here,
    allowedOrigins,
    work,
    defaultConfig: { replication: presets.standard, digest: "crc32", segmentBytesMax: 1 << 20 },
    health: async () => ({
      status: "ok",
      survivableRegionLosses: 1,
      detail: "any one region may be lost",
      metadataMode: "strong",
      regions: [{ name: here, status: "up" }],
      metadataReplicas: [{ name: here, status: "up" }],
      ...health,
    }),
    onFault: (error) => faults.push(error),
    onUndeclared: ({ id }, code) => undeclared.push(`${id} ${code}`),
  });
  const send = async (method: string, path: string, init: RequestInit = {}, rawPath?: string) => {
    const answer = await api.request(path, { method, ...init }, rawPath === undefined ? {} : { rawPath });
    if (path !== "/v1/openapi.json") await checkNames(answer.clone());
    return answer;
  };
  const sendJson = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(method, path, {
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  return { logs, faults, undeclared, api, send, sendJson };
}

/** Members of every answer have names of one kind. */
async function checkNames(answer: Response): Promise<void> {
  if (!/[/+]json$/.test(answer.headers.get("content-type") ?? "")) return;
  // HEAD has the type of what it leaves out.
  const text = (await answer.text()) || "{}";
  JSON.parse(text, function (this: unknown, name: string, value: unknown) {
    const isListed = Array.isArray(this) || name === "";
    if (!isListed && !/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`${name} is not in snake_case`);
    return value;
  });
}

/** The answer as a problem document; its promises to every reader are checked on the way. */
export async function problemIn(response: Response): Promise<Problem> {
  const problem = (await response.json()) as Problem;
  const type = response.headers.get("content-type");
  if (type !== "application/problem+json")
    throw new Error(`content type ${type} of ${JSON.stringify(problem)}`);
  if (problem.status !== response.status) throw new Error(`status ${problem.status} in ${response.status}`);
  for (const member of ["type", "title", "detail", "instance", "code", "side_effects", "region"]) {
    if (typeof problem[member] !== "string") throw new Error(`no ${member} in ${JSON.stringify(problem)}`);
  }
  if (typeof problem.retryable !== "boolean") throw new Error(`no retryable in ${JSON.stringify(problem)}`);
  if (problem.instance !== `urn:uuid:${response.headers.get("request-id")}`)
    throw new Error("not this request");
  return problem;
}
