import { version as apiVersion, group, podDriver, type Resource, resource, systemNamespace } from "../../api/names.ts";
import type { Raw } from "../../explain/facts.ts";
import { ApiError } from "../../kube/client/api-error.ts";
import { arrayIn, numberIn, recordIn, stringIn } from "../../kube/json.ts";
import type { Lease } from "../../kube/leases/lease.ts";
import { agentsPolicy, inspectPolicies, type PolicyFinding, policyBindings } from "../../kube/policies/policies.ts";
import { type Cluster, getIfAllowed, listIfAllowed, type Reading, review, whoAmI } from "../cluster.ts";
import { ask } from "../support-bundle/asking.ts";
import { daemonSets, deployments } from "../support-bundle/parts.ts";
import {
  type CommonFacts,
  type DefinitionFacts,
  daemonSetFacts,
  type InstalledFacts,
  type NamespaceFacts,
  namespaceFacts,
  nodeFacts,
  type PreFacts,
  podFacts,
  prefixVariable,
  type RightsFacts,
  setFacts,
  stateFacts,
} from "./facts.ts";
import { type FieldTree, fieldsOf } from "./fields.ts";
import { installedKinds } from "./installation.gen.ts";

const admission = { group: "admissionregistration.k8s.io", version: "v1" } as const;
const mutatingPolicies: Resource = {
  ...admission,
  plural: "mutatingadmissionpolicies",
  kind: "MutatingAdmissionPolicy",
};
const mutatingBindings: Resource = {
  ...admission,
  plural: "mutatingadmissionpolicybindings",
  kind: "MutatingAdmissionPolicyBinding",
};
const customResourceDefinitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
};

/** What an installation would meet. Rejects if the API server does not answer, or knows nobody of that name. */
export async function gatherBefore(cluster: Cluster): Promise<PreFacts> {
  const common = await gatherCommon(cluster);
  return { ...common, rights: await rightsOf(cluster) };
}

/** What is installed: by lists, which the roles nvi-viewer and nvi-support allow. Rejects as gatherBefore does. */
export async function gatherAfter(cluster: Cluster): Promise<InstalledFacts> {
  const common = await gatherCommon(cluster);
  const system = { namespace: systemNamespace };
  const ours = { ...system, labelSelector: "app.kubernetes.io/name=node-volume-operator" };
  const [policies, gates, pods, daemonSet, maps, replicas, leases, states, sets] = await Promise.all([
    policiesOf(cluster),
    gatesOf(cluster, common.servesGates),
    listIfAllowed(cluster, resource.pods, ours, podFacts),
    listIfAllowed(cluster, daemonSets, { ...system, fieldSelector: "metadata.name=nodevolume-agent" }, daemonSetFacts),
    listIfAllowed(cluster, resource.configMaps, system, settingsOf),
    listIfAllowed(
      cluster,
      deployments,
      { ...system, fieldSelector: "metadata.name=nodevolume-controller" },
      replicasOf,
    ),
    listIfAllowed<Lease>(cluster, resource.leases, system),
    listIfAllowed(cluster, resource.states, {}, stateFacts),
    listIfAllowed(cluster, resource.sets, {}, setFacts),
  ]);
  const named = daemonSet.items.flatMap(({ settings }) => settings);
  const used = maps.items.flatMap(({ name, prefixes: given }) => (named.includes(name) ? (given ?? []) : []));
  const prefixes = { ...maps, items: used };
  return { ...common, policies, gates, pods, daemonSet, prefixes, replicas, leases, states, sets };
}

async function gatherCommon(cluster: Cluster): Promise<CommonFacts> {
  // First, and alone: without an answer there is nothing to check.
  const server = stringIn(await ask(cluster.transport, "/version"), "gitVersion") ?? "";
  const [kinds, namespace, nodes, csiDriver, registered, definitions] = await Promise.all([
    kindsOf(cluster, `/apis/${admission.group}/${admission.version}`),
    namespaceOf(cluster),
    listIfAllowed(cluster, resource.nodes, {}, nodeFacts),
    getIfAllowed<Raw>(cluster, resource.csiDrivers, { name: podDriver }),
    registeredOn(cluster),
    definitionsOf(cluster),
  ]);
  return {
    server,
    servesGates: kinds.includes(mutatingPolicies.plural),
    servesPolicies: kinds.includes(resource.policies.plural),
    namespace,
    nodes,
    csiDriver,
    registered,
    definitions,
  };
}

async function namespaceOf(cluster: Cluster): Promise<Reading<NamespaceFacts>> {
  const { items, ...rest } = await getIfAllowed<Raw>(cluster, resource.namespaces, { name: systemNamespace });
  return { ...rest, items: items.map(namespaceFacts) };
}

function settingsOf(raw: Raw): { readonly name: string; readonly prefixes: string | undefined } {
  return { name: raw.metadata.name, prefixes: stringIn(recordIn(raw, "data"), prefixVariable) };
}

function replicasOf(raw: Raw): number {
  return numberIn(recordIn(raw, "spec"), "replicas") ?? 1;
}

async function registeredOn(cluster: Cluster): Promise<Reading<string>> {
  const namesOf = (raw: Raw) => {
    const drivers = arrayIn(recordIn(raw, "spec"), "drivers");
    return drivers.some((driver) => stringIn(driver, "name") === podDriver) ? [raw.metadata.name] : [];
  };
  const { items, ...rest } = await listIfAllowed(cluster, resource.csiNodes, {}, namesOf);
  return { ...rest, items: items.flat() };
}

/** The answer; undefined if there is nothing of that path, or it may not be read. */
async function askIfThere(cluster: Cluster, path: string): Promise<unknown> {
  try {
    return await ask(cluster.transport, path);
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return undefined;
    throw error;
  }
}

/** Plurals that are served of a group and version. */
async function kindsOf(cluster: Cluster, path: string): Promise<string[]> {
  const names = arrayIn(await askIfThere(cluster, path), "resources").map((each) => stringIn(each, "name") ?? "");
  return names.filter((name) => name !== "" && !name.includes("/"));
}

async function definitionsOf(cluster: Cluster): Promise<DefinitionFacts> {
  const ours: readonly string[] = [resource.sets, resource.intents, resource.states].map(({ plural }) => plural);
  const versions = arrayIn(await askIfThere(cluster, `/apis/${group}`), "versions").map(
    (each) => stringIn(each, "version") ?? "",
  );
  const kinds = await Promise.all(
    versions.map(async (version) => ({ version, plurals: await kindsOf(cluster, `/apis/${group}/${version}`) })),
  );
  const isOurs = (version: string, plural: string) => version === apiVersion && ours.includes(plural);
  const all = kinds.flatMap(({ version, plurals }) => plurals.map((plural) => ({ version, plural })));
  const read = await Promise.all(
    ours.map((plural) => getIfAllowed(cluster, customResourceDefinitions, { name: `${plural}.${group}` })),
  );
  const deleting = read
    .flatMap(({ items }) => items)
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  return {
    served: all.filter(({ version, plural }) => isOurs(version, plural)).map(({ plural }) => plural),
    others: all
      .filter(({ version, plural }) => !isOurs(version, plural))
      .map((each) => `${each.version}/${each.plural}`),
    deleting: deleting.map(({ metadata }) => metadata.name),
    fields: await servedFields(cluster),
  };
}

/**
 * By its OpenAPI document, which everybody may read: CRDs may be read by few. Of a version that is not served, or not
 * yet, kube-aggregator answers 404 without a body.
 */
async function servedFields({ transport }: Cluster): Promise<DefinitionFacts["fields"]> {
  const { body } = await transport.request({ method: "GET", path: `/openapi/v3/apis/${group}/${apiVersion}` });
  const schemas = Object.values(recordIn(recordIn(body, "components"), "schemas") ?? {});
  const named = schemas.flatMap((schema): [string, FieldTree][] => {
    const [of] = arrayIn(schema, "x-kubernetes-group-version-kind");
    return stringIn(of, "group") === group ? [[stringIn(of, "kind") ?? "", fieldsOf(schema)]] : [];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

async function policiesOf(cluster: Cluster): Promise<Reading<PolicyFinding>> {
  const { denied } = await getIfAllowed(cluster, resource.policies, { name: agentsPolicy });
  if (denied !== undefined) return { items: [], denied };
  return { items: (await inspectPolicies(cluster.client, policyBindings)).findings };
}

async function gatesOf(cluster: Cluster, isServed: boolean): Promise<Reading<Raw>> {
  if (!isServed) return { items: [] };
  const name = "nodevolume-gates";
  const [policy, binding] = await Promise.all([
    getIfAllowed<Raw>(cluster, mutatingPolicies, { name }),
    getIfAllowed<Raw>(cluster, mutatingBindings, { name }),
  ]);
  const denied = policy.denied ?? binding.denied;
  return { items: [...policy.items, ...binding.items], ...(denied !== undefined && { denied }) };
}

/** Asked of the API server, which knows every authorizer; kubectl auth can-i does the same. */
async function rightsOf(cluster: Cluster): Promise<RightsFacts> {
  const user = await whoAmI(cluster);
  if (await may(cluster, { verb: "*", group: "*", resource: "*" }))
    return { user, everything: true, refused: [], escalates: true };
  const asked = installedKinds.flatMap((kind) => ["create", "patch"].map((verb) => ({ verb, ...kind })));
  const answers = await Promise.all(
    asked.map(async (attributes) => ((await may(cluster, attributes)) ? [] : [attributes])),
  );
  const refused = answers.flat().map(({ verb, group: of, resource: plural, namespace }) => {
    const where = namespace === undefined ? "" : ` -n ${namespace}`;
    return `${verb} ${plural}${of === "" ? "" : `.${of}`}${where}`;
  });
  const roles = { group: "rbac.authorization.k8s.io", resource: "clusterroles" };
  const beyond = await Promise.all(["escalate", "bind"].map((verb) => may(cluster, { verb, ...roles })));
  return { user, everything: false, refused, escalates: beyond.every((allowed) => allowed) };
}

interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
}

async function may(cluster: Cluster, resourceAttributes: Attributes): Promise<boolean> {
  const answer = await review(cluster, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  });
  return recordIn(answer, "status")?.["allowed"] === true;
}
