import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemNamespace } from "../../../src/api/names.ts";
import { type ApiClient, createApiClient } from "../api-client.ts";
import type { Kubectl } from "../kubectl.ts";
import { StepError } from "../process.ts";
import { root } from "../root.ts";
import { requestToken } from "./identities.ts";

/** What a cluster needs before controller and agents: folders of config/, in the order of their needs. */
export const installed = ["crd", "rbac", "policy"] as const;

export interface InstallTarget {
  readonly kubectl: Kubectl;
  readonly admin: ApiClient;
  readonly server: string;
  readonly ca: string;
}

/** Applies CRDs, RBAC, policies and scheduling gates, and waits until each is in force. */
export async function installProject(target: InstallTarget): Promise<void> {
  const apply = (...what: string[]) => target.kubectl.run(["apply", "--server-side", "--force-conflicts", ...what]);
  for (const part of installed) {
    await apply("-k", join(root, "config", part));
    if (part === "crd") await untilServed(target.admin);
  }
  // Of a version of our own choice, which has what they need.
  await apply("-f", join(root, "config/components/scheduling-gates/scheduling-gates.yaml"));
  await untilEnforced(target);
}

/** Milliseconds for the API server to take in what was applied; seconds are usual. */
const patience = 120_000;

/** Waits until the API server serves our kinds. */
export async function untilServed(admin: ApiClient): Promise<void> {
  for (const plural of ["nodevolumesets", "nodevolumeintents", "nodevolumestates"]) {
    const path = `/apis/nodevolume.dev/v1alpha1/${plural}?limit=1`;
    await until(`${plural} to be served`, async () => (await admin.call("GET", path)).status === 200);
  }
}

/**
 * Policies come into force a moment after they were applied. Asked for by a dry run that one of them must refuse: an
 * agent whose token names no node. They are in force for a moment, too, after they were deleted.
 */
export async function untilEnforced(target: Omit<InstallTarget, "kubectl">, enforced = true): Promise<void> {
  const token = await requestToken(target.admin, "nodevolume-agent");
  const agent = createApiClient({ server: target.server, ca: target.ca, token });
  const path = `/apis/coordination.k8s.io/v1/namespaces/${systemNamespace}/leases?dryRun=All`;
  const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "policy-probe" } };
  try {
    await until(`the admission policies to be ${enforced ? "in force" : "gone"}`, async () => {
      const answer = await agent.call("POST", path, { body });
      const refused = answer.status === 403 && String(answer.body["message"]).includes("nodevolume-agents");
      return refused === enforced;
    });
  } finally {
    agent.close();
  }
}

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patience;
  while (!(await check())) {
    if (performance.now() > deadline) {
      throw new StepError(`waited ${patience / 1000} s for ${what}`, {
        details: [],
        remedy: "the log of the API server says more, if it is ours; otherwise try again",
      });
    }
    await sleep(50);
  }
}
