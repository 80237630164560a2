import { wrongFields } from "../../api/driver-object.ts";
import { podDriver, systemNamespace } from "../../api/names.ts";
import { listed } from "../../api/values/listed.ts";
import { nextStep } from "../../explain/next-steps.ts";
import { recordIn } from "../../kube/json.ts";
import type { CommonFacts, RightsFacts } from "./facts.ts";
import { someOf } from "./groups.ts";
import { isBefore, requirements, versionOf, versionText } from "./requirements.ts";
import { type CheckResult, type Found, failed, limited, named, ok, unknown } from "./result.ts";

/** PURE. */
export function checkServer({ server }: Pick<CommonFacts, "server">): Found {
  const version = versionOf(server);
  const least = versionText(requirements.kubernetes);
  if (version !== undefined && !isBefore(version, requirements.kubernetes)) return ok(server);
  if (version === undefined)
    return limited(`${server || "unknown"}: no version`, `Make sure that it is ${least} or later`);
  return failed(`${server} is older than ${least}`, `Upgrade the control plane to Kubernetes ${least} or later`);
}

/** PURE. What the API server lacks that config/default and its components need. */
export function checkFeatures(facts: Pick<CommonFacts, "server" | "servesGates" | "servesPolicies">): CheckResult[] {
  const policies = facts.servesPolicies
    ? ok("ValidatingAdmissionPolicy is served")
    : failed(
        "ValidatingAdmissionPolicy is not served",
        "Serve admissionregistration.k8s.io/v1 (--runtime-config of kube-apiserver)",
      );
  const gates = facts.servesGates
    ? ok("MutatingAdmissionPolicy is served")
    : limited(
        "MutatingAdmissionPolicy is not served: pods are scheduled before their volumes are known",
        "Leave the component scheduling-gates out: it needs Kubernetes 1.36 (docs/readiness.md)",
      );
  const results = [...named("admission policies", policies), ...named("scheduling gates", gates)];
  const version = versionOf(facts.server);
  if (version === undefined || !isBefore(version, requirements.wholeKubernetes)) return results;
  const whole = versionText(requirements.wholeKubernetes);
  const reads = limited(
    `not before ${whole}: agents read Secrets of pods, and fields of their Node, only by a role`,
    "If sets need these, add config/components/node-fields and object-access (docs/settings.md)",
  );
  return [...results, ...named("object access", reads)];
}

/** PURE. Whether the person may apply config/default. */
export function checkRights({ user, everything, refused, escalates }: RightsFacts): Found {
  if (everything) return ok(`${user} may do everything`);
  const [first] = refused;
  if (first !== undefined) {
    const rights = refused.length === 1 ? "a right" : `${refused.length} rights`;
    const words = `${user} lacks ${rights} that the installation needs: ${listed(refused, 2)}`;
    return failed(words, `Install as somebody who has them: kubectl auth can-i ${first} --as USER`);
  }
  if (escalates) return ok(`${user} may create everything that config/default has`);
  return limited(
    `${user} may create roles only with rights of their own`,
    "If kubectl apply reports `attempting to grant RBAC permissions`, install as somebody with cluster-admin",
  );
}

const privileged = "pod-security.kubernetes.io/enforce=privileged";

/** PURE. Whether agents, which are privileged, may run in the namespace. @param isInstalled whether it must be there */
export function checkNamespace({ namespace }: Pick<CommonFacts, "namespace">, isInstalled: boolean): Found {
  if (namespace.denied !== undefined) return unknown(namespace.denied);
  const [found] = namespace.items;
  if (found === undefined) {
    if (!isInstalled) return ok(`${systemNamespace} is not there yet: the installation creates it`);
    return failed(`there is no ${systemNamespace}`, "kubectl apply --server-side -k ./config/my-cluster");
  }
  if (found.deleting) {
    const remedy = `Wait until it is gone. See what holds it: kubectl get namespace ${systemNamespace} -o yaml`;
    return failed(`${systemNamespace} is being deleted`, remedy);
  }
  if (found.enforce === "privileged") return ok(`${systemNamespace} allows privileged pods`);
  const remedy = `kubectl label namespace ${systemNamespace} --overwrite ${privileged}`;
  if (found.enforce !== undefined)
    return failed(`${systemNamespace} enforces Pod Security ${found.enforce}: no agent can be created`, remedy);
  if (!isInstalled) return ok(`${systemNamespace} is there: the installation labels it ${privileged}`);
  return limited(`${systemNamespace} has no label of Pod Security: the cluster's default decides`, remedy);
}

/** PURE. Whether something else has the name of our CSI driver. */
export function checkDriverName({ csiDriver, registered }: Pick<CommonFacts, "csiDriver" | "registered">): Found {
  if (csiDriver.denied !== undefined) return unknown(csiDriver.denied);
  const [object] = csiDriver.items;
  if (object === undefined) {
    if (registered.items.length === 0) return ok(`nothing else is named ${podDriver}`);
    const nodes = someOf(registered.items);
    const remedy = "On these nodes, remove the driver's socket from kubelet's directory plugins_registry";
    return limited(`${podDriver} is registered on ${nodes}, without an object of that name`, remedy);
  }
  const wrong = wrongFields({ spec: recordIn(object, "spec") });
  if (wrong.length > 0)
    return failed(
      `there is a CSIDriver ${podDriver} that is not as this installation needs it: ${wrong.join(", ")}`,
      `If no pod uses it: kubectl delete csidriver ${podDriver}`,
    );
  return ok(`${podDriver} is there from an earlier installation`);
}

/** PURE. Whether kubelet calls our agents for pods. @param running nodes with a ready agent, if that is known */
export function checkPodDriver(
  { csiDriver, registered }: Pick<CommonFacts, "csiDriver" | "registered">,
  running: ReadonlySet<string> | undefined,
): Found {
  if (csiDriver.denied !== undefined) return unknown(csiDriver.denied);
  const [object] = csiDriver.items;
  if (object === undefined)
    return limited(
      `there is no CSIDriver ${podDriver}: pods get no volumes (as with observe-only)`,
      "To serve pods: kubectl apply --server-side -k ./config/my-cluster",
    );
  const wrong = wrongFields({ spec: recordIn(object, "spec") });
  if (wrong.length > 0) return failed(`${podDriver} is changed: ${wrong.join(", ")}`, nextStep("CSIDriverWrong") ?? "");
  if (registered.denied !== undefined) return unknown(registered.denied);
  if (running === undefined || running.size === 0)
    return ok(`${podDriver} is registered on ${registered.items.length} nodes`);
  const known = new Set(registered.items);
  const without = [...running].filter((node) => !known.has(node));
  if (without.length === 0) return ok(`${podDriver} is registered on each node with an agent`);
  return failed(
    `kubelet has not registered ${podDriver} on ${someOf(without)}`,
    "Give the agents kubelet's --root-dir: add config/components/kubelet-dir (docs/settings.md#components)",
  );
}
