import { createClaimReservation } from "../../../../src/controller/claims/claim-reservation.ts";
import { projectClaim } from "../../../../src/controller/model/storage-objects.ts";
import type { WaitReason } from "../../../../src/controller/model/wait-reason.ts";
import { ApiError } from "../../../../src/kube/client/api-error.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

/** A claim that is held, or is not. */
export function claim(held: boolean) {
  const labels = held ? { "nodevolume.dev/held": "" } : {};
  const found = projectClaim({ metadata: { name: "data", namespace: "apps", uid: "u", resourceVersion: "1", labels } });
  if (found === undefined) throw new Error("no claim");
  return { claims: [found], persistentVolumes: [] };
}

/** A reservation, and a client that knows pods and refuses one more as the policy does. */
export function world() {
  const { clock, random, log, advance } = virtualSystem();
  let refusal = "nodevolume.dev/held nodevolume.dev/reserved";
  let policies = { uid: "p", generation: 1 };
  let attached: WaitReason | undefined;
  const pods: object[] = [];
  let trials = 0;
  const patches: unknown[] = [];
  const client = {
    get: () => Promise.resolve({ metadata: policies }),
    list: () => Promise.resolve({ items: pods, resourceVersion: "1" }),
    create() {
      trials += 1;
      return Promise.reject(new ApiError(403, "Forbidden", refusal));
    },
    mergePatch(_: unknown, __: unknown, patch: unknown) {
      patches.push(patch);
      return Promise.resolve({});
    },
  } as unknown as KubeClient;
  let reservedAt: number | undefined;
  const reservedSince = () => reservedAt;
  const reservation = createClaimReservation({
    client,
    clock,
    random,
    log,
    reservedSince,
    upsertClaim() {},
    upsertPersistentVolume() {},
  });
  const others = () => Promise.resolve(attached);
  /** @param ours whether somebody of ours uses the volume */
  const take = (labelled: boolean, ours = false, begins = true) =>
    reservation.reserve(claim(labelled), { held: ours, begins }, others);
  const pod = { metadata: { name: "p" }, spec: { volumes: [{ persistentVolumeClaim: { claimName: "data" } }] } };
  const reserve = () => {
    reservedAt = clock.monotonic();
  };
  const say = (words: string) => {
    refusal = words;
  };
  const attachElsewhere = (waitReason: WaitReason | undefined) => {
    attached = waitReason;
  };
  const installAnew = () => {
    policies = { uid: "p", generation: policies.generation + 1 };
  };
  return {
    reservation,
    take,
    reserve,
    say,
    attachElsewhere,
    installAnew,
    pods,
    patches,
    pod,
    advance,
    trials: () => trials,
  };
}
