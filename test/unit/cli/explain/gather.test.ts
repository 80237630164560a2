import { expect } from "chai";
import { resource } from "../../../../src/api/names.ts";
import type { Cluster } from "../../../../src/cli/cluster.ts";
import { gatherDrift, gatherGranted, gathering } from "../../../../src/cli/explain/gather.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import { systemTimers } from "../../../../src/system.ts";
import { intent, listedPod, now, pod, volume } from "../../../lib/builders/cli-objects.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";

describe("gatherGranted", () => {
  it("reads the PersistentVolumes that the pod's volumes were granted, once, and no others", async () => {
    const api = createFakeApiServer(systemTimers);
    const granted = (name: string, uid: string, persistentVolume?: string) =>
      intent(name, {
        pods: [listedPod("web", uid)],
        grant: { id: "g", ...(persistentVolume && { persistentVolume: { name: persistentVolume, uid: "u" } }) },
      });
    for (const one of [granted("n.a", "uid-web", "pv-a"), granted("n.b", "uid-web"), granted("n.c", "other", "pv-c")])
      api.apply("nodevolumeintents", one as never);
    for (const name of ["pv-a", "pv-c"]) api.apply("persistentvolumes", volume(name, "pg") as never);
    const cluster = { client: createKubeClient({ transport: api, fieldManager: "" }) } as unknown as Cluster;
    const from = gathering(cluster, now);
    await from.list("intents", resource.intents);
    const read: string[] = [];
    api.fault = ({ path }) => {
      read.push(path);
      return undefined;
    };
    await gatherGranted(from, pod("web", {}));
    await gatherGranted(from, pod("web", {}));
    expect(read).to.deep.equal(["/api/v1/persistentvolumes/pv-a"]);
    expect(from.facts().persistentVolumes.map(({ metadata }) => metadata.name)).to.deep.equal(["pv-a"]);
  });
});

describe("gatherDrift", () => {
  it("asks for no Events of intents that may not be read, as it would be told twice", async () => {
    const api = createFakeApiServer(systemTimers);
    const cluster = { client: createKubeClient({ transport: api, fieldManager: "" }) } as unknown as Cluster;
    const read = (denied: boolean) => {
      const paths: string[] = [];
      api.fault = ({ path }) => {
        paths.push(path);
        return denied && path.includes("nodevolumeintents") ? { status: 403 } : undefined;
      };
      return paths;
    };
    for (const denied of [false, true]) {
      const paths = read(denied);
      const from = gathering(cluster, now);
      await from.list("intents", resource.intents);
      await gatherDrift(from);
      expect(paths.filter((path) => path.includes("/events"))).to.have.length(denied ? 0 : 1);
    }
  });
});
