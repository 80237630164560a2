import type { ApiClient } from "../../../hack/lib/api-client.ts";
import type { PodMountStatus } from "../../../src/api/types.gen.ts";
import { listedPod, podState } from "../builders/cli-objects.ts";
import { expectStatus, patch, paths } from "../cluster/policy-world.ts";
import { ago, condition, type Fields, posting } from "./cli-post.ts";

const nfs = { nfs: { server: "nas.example", path: "/datasets" } };
const memory = { emptyDir: { medium: "Memory" } };

/** What was asked of the nodes, and what their agents said. */
export async function fillIntents(
  admin: ApiClient,
  nodeUIDs: ReadonlyMap<string, string>,
  pods: ReadonlyMap<string, string>,
): Promise<void> {
  const post = posting(admin);
  const intent = async (name: string, spec: Fields, status: Fields) => {
    const [node = "", rest = ""] = name.split(".");
    const volume = rest.replace(/-\w+$/, "");
    const requester = { kind: "NodeVolumeSet", name: volume, uid: "u" };
    const labels = {
      "nodevolume.dev/node": node,
      "nodevolume.dev/set": volume,
      [`set.nodevolume.dev/${volume}`]: "",
      "nodevolume.dev/type": Object.keys((spec["source"] ?? nfs) as object)[0],
    };
    const body = {
      metadata: { name, labels, finalizers: ["nodevolume.dev/in-use"] },
      spec: {
        nodeName: node,
        nodeUID: nodeUIDs.get(node),
        volumeName: volume,
        mode: "Manage",
        volumeMode: "Filesystem",
        source: nfs,
        ...(spec["mode"] === "Observe"
          ? {}
          : { grant: { id: `11111111-2222-3333-4444-${name.length}00000000000`.slice(0, 36) } }),
        mounts: [{ name: "host", requester, path: `/var/lib/nodevolume/mounts/${volume}`, readOnly: false }],
        ...spec,
      },
    };
    const { uid } = await post(paths.intents, body);
    const full = { observedUID: uid, observedGeneration: 1, agent: { bootID: "b", epoch: 3 }, ...status };
    expectStatus(200, await patch(admin, `${paths.intents}/${name}/status`, { status: full }));
  };
  const target = (volume: string, state: string, more: Fields = {}) => [
    { name: "host", path: `/var/lib/nodevolume/mounts/${volume}`, state, ...more },
  ];
  const entry = (name: string) => [listedPod(name, pods.get(name))];
  const bound = (name: string, state: PodMountStatus["state"]) => [podState(name, state, pods.get(name))];
  const isReady = [condition("Ready", "True", "Mounted")];
  const life = [
    { time: ago(3600), state: "Staging" },
    { time: ago(3598), state: "Mounting" },
    { time: ago(3597), state: "Mounted", reason: "Mounted" },
  ];
  await intent(
    "worker-1.datasets-4f1c0a9be2",
    { pods: entry("web-0") },
    {
      state: "Mounted",
      inUse: true,
      desiredMounts: 1,
      readyMounts: 1,
      mounts: target("datasets", "Mounted"),
      pods: bound("web-0", "Mounted"),
      conditions: isReady,
      history: life,
    },
  );
  const waiting = {
    reason: "ServerUnreachable",
    message: "nas.example does not answer on port 2049",
    since: ago(90),
    attempts: 6,
    nextRetryTime: ago(-50),
  };
  await intent(
    "worker-2.datasets-91d27f30c4",
    { pods: entry("web-1") },
    {
      state: "Waiting",
      inUse: false,
      desiredMounts: 1,
      readyMounts: 0,
      mounts: target("datasets", "Absent"),
      pods: bound("web-1", "Pending"),
      waiting,
      conditions: [condition("Ready", "False", "ServerUnreachable", "nas.example does not answer on port 2049")],
    },
  );
  await intent(
    "worker-3.datasets-77aa51e0d3",
    {},
    {
      state: "Mounted",
      inUse: true,
      desiredMounts: 1,
      readyMounts: 1,
      mounts: target("datasets", "Mounted"),
      agentState: { state: "Lost", since: ago(1300) },
      conditions: [condition("Ready", "Unknown", "AgentLost", "the agent of worker-3 is silent")],
    },
  );
  await intent(
    "worker-1.scratch-9a8fb0fbcd",
    { source: memory },
    {
      state: "Mounted",
      inUse: true,
      desiredMounts: 1,
      readyMounts: 1,
      mounts: target("scratch", "Mounted"),
      conditions: isReady,
    },
  );
  const plan = ["stage nas.example:/datasets", "publish /var/lib/nodevolume/mounts/archive"];
  await intent(
    "worker-2.archive-2c44e8a1b7",
    { mode: "Observe" },
    {
      state: "Observed",
      inUse: false,
      desiredMounts: 1,
      readyMounts: 0,
      mounts: target("archive", "Absent"),
      plan,
      conditions: [condition("Ready", "False", "WouldChange", "2 steps would be taken")],
    },
  );
  const busy = {
    reason: "TargetBusy",
    message: "/var/lib/nodevolume/mounts/cache is used by postgres (pid 4711)",
    since: ago(60),
    attempts: 4,
    nextRetryTime: ago(-20),
  };
  await intent(
    "worker-2.cache-5d0e1f2a3b",
    {},
    {
      state: "Unmounting",
      inUse: true,
      mounts: target("cache", "Mounted", { reason: "TargetBusy" }),
      waiting: busy,
      conditions: [condition("Ready", "False", "TargetBusy", busy.message)],
    },
  );
  await intent(
    "worker-3.cache-8e9f0a1b2c",
    {},
    {
      state: "Mounted",
      inUse: true,
      mounts: target("cache", "Mounted"),
      agentState: { state: "Lost", since: ago(1300) },
      conditions: [condition("Ready", "Unknown", "AgentLost", "the agent of worker-3 is silent")],
    },
  );
  for (const name of ["worker-2.cache-5d0e1f2a3b", "worker-3.cache-8e9f0a1b2c"])
    await admin.call("DELETE", `${paths.intents}/${name}`);

  const orphan = {
    path: "/var/lib/nodevolume/mounts/models",
    kind: "Mount",
    volume: "worker-1.models-0c1d2e3f4a",
    source: "nfs4 (nas.example:/models)",
    since: ago(7200),
    reason: "UnexplainedRemoval",
    message:
      "by the journal mounted for the intent worker-1.models-0c1d2e3f4a (uid 7c1e), which vanished without being deleted",
    remedy: "apply its set again; or umount /var/lib/nodevolume/mounts/models",
  };
  const agent = { version: "0.1.0", bootID: "b", epoch: 3 };
  const drained = (status: string, message: string) => [
    condition("Drained", status, status === "True" ? "Released" : "Progressing", message),
  ];
  await post(
    paths.states,
    { metadata: { name: "worker-1" } },
    {
      agent,
      synced: true,
      volumes: 2,
      orphaned: 1,
      orphans: [orphan],
      conditions: drained("False", "2 volumes are in use"),
    },
  );
  await post(
    paths.states,
    { metadata: { name: "worker-4" } },
    { agent, synced: true, volumes: 0, orphaned: 0, conditions: drained("True", "nothing is in use") },
  );
}
