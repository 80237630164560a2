// What the agent of node-1 may have asked for it, written a second time and by other means than src/api-proxy: whole
// lines, by expression.

const name = "[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?";
const namespace = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
const own = "node-1\\.[a-z0-9][a-z0-9-]{0,39}-[0-9a-f]{10}";
const ours = "/apis/nodevolume\\.dev/v1alpha1";
const leases = "/apis/coordination\\.k8s\\.io/v1/namespaces/nodevolume-system/leases";
const bundles = "/apis/certificates\\.k8s\\.io/v1beta1/clustertrustbundles";
const admission = "/apis/admissionregistration\\.k8s\\.io/v1/validatingadmissionpolic(ies|ybindings)";
const ourPolicy = "nodevolume-(agents|intents)";
const written = " fieldManager=nodevolume-agent fieldValidation=Strict";
const text = "[^&#]{1,8192}";

/** A list or a watch, parameters sorted and decoded, with a blank before each. */
function collection(path: string, field: string, label = ""): string[] {
  const watch = `GET ${path} allowWatchBookmarks=true fieldSelector=${field}${label}`;
  return [
    `GET ${path}( continue=[A-Za-z0-9_=-]+)? fieldSelector=${field}${label} limit=500`,
    `${watch} resourceVersion=[1-9]\\d{0,19} timeoutSeconds=[3-5]\\d\\d watch=true`,
    `${watch} resourceVersionMatch=NotOlderThan sendInitialEvents=true timeoutSeconds=[3-5]\\d\\d watch=true`,
  ];
}

const asAgent = [
  ...collection(`${ours}/nodevolumeintents`, "spec\\.nodeName=node-1"),
  ...collection(`${ours}/nodevolumestates`, "metadata\\.name=node-1"),
  `GET ${ours}/nodevolumeintents/${own}`,
  `GET ${leases}/node-1`,
  `GET /api/v1/namespaces/${namespace}/configmaps/${name}`,
  ...collection(`/api/v1/namespaces/${namespace}/(configmaps|secrets)`, `metadata\\.name=${name}`),
  ...collection(bundles, "metadata\\.name=[a-z0-9]([a-z0-9.:-]{0,251}[a-z0-9])?"),
  ...collection(bundles, "spec\\.signerName=[a-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._/-]+", `( labelSelector=${text})?`),
  `GET ${admission}/${ourPolicy}`,
  ...collection(admission, `metadata\\.name=${ourPolicy}`),
  "GET /apis/storage\\.k8s\\.io/v1/csidrivers/csi\\.nodevolume\\.dev",
];

const asEither = [
  `GET /api/v1/namespaces/${namespace}/secrets/${name}`,
  "GET /api/v1/nodes/node-1",
  ...collection("/api/v1/nodes", "metadata\\.name=node-1"),
  "GET /api/v1/pods( continue=[A-Za-z0-9_=-]+)? fieldSelector=spec\\.nodeName=node-1 limit=500",
  "GET /apis/coordination\\.k8s\\.io/v1/namespaces/kube-node-lease/leases/node-1",
];

type Body = { readonly [key: string]: unknown };
const at = (value: unknown, ...keys: string[]): unknown =>
  keys.reduce<unknown>((inner, key) => (inner as Body | null | undefined)?.[key], value);
const keysOf = (value: unknown) =>
  Object.keys(value as object)
    .sort()
    .join();

const writes: readonly [line: string, isIts: (body: Body) => boolean][] = [
  [
    `PATCH ${ours}/nodevolumeintents/${own}/status${written}`,
    (body) => isStatus(body) && !("attach" in (body["status"] as Body)) && !("agentState" in (body["status"] as Body)),
  ],
  [`PATCH ${ours}/nodevolumestates/node-1/status${written}`, isStatus],
  [
    `POST ${leases}${written}`,
    (body) => at(body, "metadata", "name") === "node-1" && at(body, "spec", "holderIdentity") === "node-1",
  ],
  [
    `PUT ${leases}/node-1${written}`,
    (body) => at(body, "metadata", "name") === "node-1" && at(body, "spec", "holderIdentity") === "node-1",
  ],
  [`POST ${leases} dryRun=All${written}`, (body) => at(body, "metadata", "name") === "policy-probe.nodevolume.dev"],
  [`POST /api/v1/namespaces/default/events${written}`, isEvent],
  [
    `PATCH /api/v1/namespaces/default/events/${name}${written}`,
    (body) => !("source" in body) && keysOf(body["metadata"]) === "",
  ],
  [`POST /api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, isToken],
];

function isStatus(body: Body): boolean {
  return keysOf(body) === "metadata,status" && keysOf(body["metadata"]) === "resourceVersion,uid";
}

function isEvent(body: Body): boolean {
  return (
    at(body, "source", "host") === "node-1" &&
    at(body, "source", "component") === "nodevolume-agent" &&
    at(body, "metadata", "namespace") === "default" &&
    String(at(body, "involvedObject", "apiVersion")).startsWith("nodevolume.dev/")
  );
}

function isToken(body: Body): boolean {
  const seconds = at(body, "spec", "expirationSeconds");
  const bound = `${at(body, "spec", "boundObjectRef", "kind")}/${at(body, "spec", "boundObjectRef", "name")}`;
  return bound === "Node/node-1" && typeof seconds === "number" && seconds >= 1 && seconds <= 86_400;
}

const matches = (line: string, of: readonly string[]) => of.some((one) => new RegExp(`^${one}$`).test(line));

/** Whether something that is asked of the API server is what the agent of node-1 may have asked. */
export function isInModel(asked: {
  readonly method: string;
  readonly path: string;
  readonly asUser: string | undefined;
  readonly body: string | undefined;
}): boolean {
  const { method, path, asUser, body } = asked;
  const [before = "", search = ""] = path.split("?");
  if (/[^A-Za-z0-9./-]|\.\.|\/\/|\/$/.test(before)) return false;
  const parameters = search === "" ? [] : search.split("&").map((one) => decodeURIComponent(one.replaceAll("+", " ")));
  if (new Set(parameters.map((one) => one.split("=")[0])).size !== parameters.length) return false;
  const line = [`${method} ${before}`, ...parameters.sort()].join(" ");
  if (body !== undefined) {
    const parsed = JSON.parse(body) as Body;
    return asUser === undefined && writes.some(([one, isIts]) => matches(line, [one]) && isIts(parsed));
  }
  if (asUser !== undefined) return asUser === "system:node:node-1" && matches(line, asEither);
  return matches(line, [...asAgent, ...asEither]);
}
