import { systemNamespace } from "../../api/names.ts";
import { checkAgents } from "./check-agents.ts";
import {
  checkDriverName,
  checkFeatures,
  checkNamespace,
  checkPodDriver,
  checkRights,
  checkServer,
} from "./check-cluster.ts";
import { checkController, checkLeader } from "./check-controller.ts";
import { checkDefinitions } from "./check-definitions.ts";
import { checkNodes } from "./check-nodes.ts";
import { checkGates, checkPolicies } from "./check-policies.ts";
import { checkPrefixes } from "./check-prefixes.ts";
import { checkReports, checkVersions } from "./check-reports.ts";
import { checkSets } from "./check-sets.ts";
import type { InstalledFacts, PreFacts } from "./facts.ts";
import { versionOf } from "./requirements.ts";
import { type CheckResult, failed, named } from "./result.ts";

/** PURE. Whether it can be installed. @param version of this program */
export function checksBefore(facts: PreFacts, version: string): CheckResult[] {
  return [
    ...named("Kubernetes", checkServer(facts)),
    ...checkFeatures(facts),
    ...named("your rights", checkRights(facts.rights)),
    ...named("namespace", checkNamespace(facts, false)),
    ...named("CRDs", checkDefinitions({ definitions: facts.definitions, version, isInstalled: false })),
    ...named("CSI driver", checkDriverName(facts)),
    ...checkNodes(facts.nodes, versionOf(facts.server)),
  ];
}

/** PURE. Whether what is installed works. @param now milliseconds since the epoch @param version of this program */
export function checksAfter(facts: InstalledFacts, now: number, version: string): CheckResult[] {
  const server = named("Kubernetes", checkServer(facts));
  const isAbsent = facts.definitions.served.length === 0 && facts.definitions.others.length === 0;
  if (isAbsent && facts.namespace.denied === undefined && facts.namespace.items.length === 0) {
    const remedy = "kubectl nvi check --pre; then follow README.md";
    const absent = failed(`neither CRDs nor the namespace ${systemNamespace} are there`, remedy);
    return [...server, ...named("installation", absent)];
  }
  const { results: agents, running } = checkAgents(facts);
  const leader = checkLeader(facts, now);
  return [
    ...server,
    ...named("namespace", checkNamespace(facts, true)),
    ...named("CRDs", checkDefinitions({ definitions: facts.definitions, version, isInstalled: true })),
    ...named("admission policies", checkPolicies({ ...facts, version, running, isLed: leader.result === "Ok" })),
    ...named("scheduling gates", checkGates(facts)),
    ...named("controller", checkController(facts)),
    ...named("leader", leader),
    ...named("agents", ...agents),
    ...named("prefixes", ...checkPrefixes(facts)),
    ...named("reports", ...checkReports({ ...facts, running, now })),
    ...named("versions", checkVersions(facts, version)),
    ...named("CSI driver", checkPodDriver(facts, running)),
    ...named("sets", ...checkSets(facts)),
  ];
}
