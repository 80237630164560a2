// The lane's real node with a second driver, whose volumes are staged and whose failures can be ordered, and kubectl
// nvi as a reader has it.
import { join } from "node:path";
import type { JsonObject } from "../../../hack/lib/api-client.ts";
import type { KubeObject } from "../../../hack/lib/csi/accounts.ts";
import { loopXfs, loopXfsName, type RunningDriver } from "../../../hack/lib/csi/driver.ts";
import { layout } from "../../../hack/lib/pretend-node/node.ts";
import { testDeadline } from "../../../hack/lib/test-deadline.ts";
import type { Xfsprogs } from "../../../hack/lib/tools/xfsprogs.ts";
import { type Nvi, nviOf } from "../cli/nvi.ts";
import { needXfsprogs } from "../csi/csi-needs.ts";
import { type KubeletWorld, kubeletWorld } from "./kubelet-world.ts";
import { ofKubelet } from "./pods.ts";

export interface TruthWorld extends Omit<KubeletWorld, "claim"> {
  readonly nvi: Nvi;
  /** Of loopXfsName, which is its StorageClass's name, too. */
  readonly staging: RunningDriver;
  /** What kubelet has lost: it was killed between unpublish and unstage, and nobody has the volume any more. */
  readonly lost: ClaimOfTruth;
  /** Makes a claim and waits for its volume. */
  claim(name: string, storageClass: string): Promise<ClaimOfTruth>;
  /** Makes a pod of this name with kubelet's own volume of a claim. */
  start(pod: string, claim: string, more?: JsonObject): Promise<void>;
  /** Where kubelet has a claim's volume for a pod. */
  mountOf(pod: string, claim: ClaimOfTruth): string;
  /** Has pods deleted and, once all of them are gone, these objects. */
  leave(pods: readonly string[], ...objects: string[]): Promise<void>;
  /** Waits until all that was left is gone. */
  left(): Promise<void>;
  /** Of a pod whose kubelet will not say that it has ended. */
  forget(pod: string): Promise<void>;
  /** Waits until `kubectl nvi explain` says all of this. @returns what it says */
  explained(what: string, ms: number, ...words: readonly RegExp[]): Promise<string>;
}

interface ClaimOfTruth {
  readonly name: string;
  readonly volume: string;
  readonly handle: string;
}

/** The smallest file system of xfs; a file of that size takes next to no room. */
const size = "320Mi";

export const claimsPath = "/api/v1/namespaces/default/persistentvolumeclaims";
const podsPath = "/api/v1/namespaces/default/pods";
/** Milliseconds. */
export const patience = 60_000;

let shared: Promise<TruthWorld> | undefined;

/** For a before hook; skips by name what the machine cannot do. */
export async function truthWorld(context: Mocha.Context): Promise<TruthWorld> {
  const xfsprogs = await needXfsprogs(context);
  const kubelet = await kubeletWorld(context);
  shared ??= start(kubelet, xfsprogs);
  return shared;
}

async function start(kubelet: KubeletWorld, xfsprogs: Xfsprogs): Promise<TruthWorld> {
  const { world, node, pods } = kubelet;
  const nvi = await nviOf(world.cluster);
  await world.objects.csiDriver(loopXfsName);
  await world.objects.storageClass(loopXfsName, loopXfsName);
  const staging = await node.startDriver(loopXfs("id-of-node", { storage: world.storage, xfsprogs }));
  await world.startSidecar("csi-provisioner", staging);
  await world.startSidecar("csi-attacher", staging);
  const leftPods: string[] = [];
  const leftObjects: string[] = [];
  const truth: Omit<TruthWorld, "lost"> = {
    ...kubelet,
    nvi,
    staging,
    claim: async (name, storageClass) => claimOf(name, await kubelet.claim(name, { storageClass, size })),
    start: (pod, claim, more) => pods.create(pod, [ofKubelet("data", claim)], more),
    mountOf(pod, { volume }) {
      const uid = pods.get(pod)?.metadata.uid;
      return `${layout.kubeletDir}/pods/${uid}/volumes/kubernetes.io~csi/${volume}/mount`;
    },
    async leave(names, ...objects) {
      await pods.delete(...names);
      leftPods.push(...names);
      leftObjects.push(...objects);
    },
    async left() {
      // kubelet's next attempt at what was busy may be two minutes away.
      await pods.gone(3 * patience, ...leftPods.splice(0));
      for (const path of leftObjects.splice(0)) await world.objects.remove(path);
    },
    async forget(pod) {
      await world.cluster.admin.call("DELETE", `${podsPath}/${pod}?gracePeriodSeconds=0`);
      await pods.gone(patience, pod);
    },
    async explained(what, ms, ...words) {
      const deadline = performance.now() + testDeadline(ms);
      for (;;) {
        const said = await nvi("explain", what).catch(String);
        const unsaid = words.filter((word) => !word.test(said.replace(/\s+/g, " ")));
        if (unsaid.length === 0) return said;
        if (performance.now() > deadline)
          throw new Error(
            `explain ${what} has not said ${unsaid.join(", ")} after ${testDeadline(ms) / 1000} s:\n${said}`,
          );
      }
    },
  };
  // At once, as it is told only when it has lasted: other tests take that time.
  return { ...truth, lost: await loseStaged(truth) };
}

function claimOf(name: string, volume: KubeObject): ClaimOfTruth {
  const { csi } = volume["spec"] as { csi: { volumeHandle: string } };
  return { name, volume: volume.metadata.name, handle: csi.volumeHandle };
}

/**
 * Has a volume staged of which kubelet knows nothing: it dies between unpublish and unstage, and its pod's directory is
 * gone.
 */
async function loseStaged(world: Omit<TruthWorld, "lost">): Promise<ClaimOfTruth> {
  const { node, pods } = world;
  // Past the suite, at whose end it stays: it is for a test of another one.
  await world.world.objects.claim("lost", { storageClass: loopXfsName, size });
  const lost = claimOf("lost", await world.world.objects.bound("lost"));
  await world.start("loser", "lost");
  await pods.ready(patience, "loser");
  const path = world.mountOf("loser", lost);
  node.kubelet().kill("SIGSTOP");
  await node.host.run("umount", path);
  await node.host.run("rm", "-r", join(path, ".."));
  await world.forget("loser");
  await node.restartKubelet();
  return lost;
}
