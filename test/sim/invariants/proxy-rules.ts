import { ownOf } from "../../../src/api-proxy/own.ts";
import type { ApiRequest } from "../../../src/kube/client/transport.ts";
import { asRequest } from "../../lib/api-proxy/as-request.ts";
import { judge } from "../../lib/api-proxy/requests.ts";
import type { Report } from "./violation.ts";

/** Intents that a story makes without a controller have short names: what follows the node's has no hash. */
const unhashed = /(?<=\/nodevolumeintents\/)([^/]+)(?<!-[0-9a-f]{10})(?=\/|$)/;

/** Whatever an agent asks in whatever world, a rule of the API proxy is for it. */
export function proxyRules(nodeName: string, report: Report): (request: ApiRequest) => void {
  const own = ownOf(nodeName);
  return (request) => {
    const path = request.path.replace(unhashed, "$1-0123456789");
    const judged = judge(asRequest({ ...request, path }), own);
    if (/^(form|rule|body): /.test(judged))
      report(`the API proxy refuses ${request.method} ${request.path}: ${judged}`);
  };
}
