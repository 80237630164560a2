import { layout } from "../machine.ts";
import { type Scenario, source, target } from "./scenario.ts";

/** People do what kubelet and a driver would: as for the agent, others' mounts. */
const podUID = "9b1c0ad4-1111-4222-8333-444455556666";
const podMount = `${layout.podsDir}/${podUID}/volumes/kubernetes.io~csi/pv-1/mount`;

/** mode: Observe touches nothing. */
export const observe: readonly Scenario[] = [
  {
    name: "observed, then managed",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("seen"));
      const volume = world.cluster.createIntent("seen", {
        source: { hostPath: { path: source("seen") } },
        mounts: [target("seen")],
        mode: "Observe",
      });
      await world.settle();
      await world.until("it to say what it would do", () => world.cluster.reason(volume) === "WouldChange");
      await world.until("nothing to be mounted", () => world.mountsOn(target("seen")) === 0, 0);
      world.cluster.change(volume, { mode: "Manage" });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "observed and deleted",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("seen"));
      people.makeDirectory(target("seen"));
      people.bind(source("seen"), target("seen"));
      const volume = world.cluster.createIntent("seen", {
        source: { hostPath: { path: source("seen") } },
        mounts: [target("seen")],
        mode: "Observe",
      });
      await world.settle();
      await world.until("it to be as wanted", () => world.cluster.reason(volume) === "Observing");
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("their mount to be there", () => world.mountsOn(target("seen")) === 1, 0);
    },
  },
  {
    name: "a volume that kubelet manages, unmounted by somebody",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("kubelets", {
        source: { persistentVolumeClaim: { namespace: "team", claimName: "data" } },
        mounts: [],
        mode: "Observe",
        observed: { plugin: "kubernetes.io/csi", volumeName: "pv-1", driver: "d.example", volumeHandle: "vol-1" },
        pods: [{ uid: podUID, namespace: "team", name: "web-0", volume: "data", readOnly: false }],
      });
      const says = (reason: string) =>
        world.until(`it to say ${reason}`, () => world.cluster.reason(volume) === reason);
      await says("DriverNotRegistered");
      people.makeDirectory(podMount);
      people.mountTmpfs(podMount);
      await says("Observing");
      people.unmount(podMount);
      await says("Drifted");
      people.mountTmpfs(podMount);
      await says("Observing");
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("kubelet's mount to be there", () => world.mountsOn(podMount) === 1, 0);
    },
  },
];
