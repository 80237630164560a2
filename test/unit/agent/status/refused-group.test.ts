import { expect } from "chai";
import type { Published } from "../../../../src/agent/model/volume-record.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import { transitions } from "../../../../src/agent/status/transitions.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  planWorld,
  prefix,
  record,
  stageRecord,
  targetRecord,
  volume,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const identity = { device: "0:50", root: "/", source: "tmpfs" };
const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const, supportsFSGroup: true } };
const intent = wanted({ source, grant, mounts: [{ path: `${prefix}/a`, fsGroup: 2000 }] });
const refusedGroup = { failed: 9, entries: 10, example: "/: EPERM" };

function world(more: Partial<Published>) {
  const csi = { ...source.csi, directory: "/csi/k", needsUnstage: false, block: false, shown: [], calls: {} };
  const published = { path: "/csi/k/mounts/a", readOnly: false, identity, fsGroup: 2000, ...more };
  const known = record({
    type: "csi",
    stage: stageRecord({ kind: "csi", path: "/csi/k/staging", options: [], identity, csi }),
    targets: [targetRecord({ identity, published })],
  });
  const points = ["/csi/k/staging", published.path, `${prefix}/a`];
  const mounts = points.map((point, n) => entry({ id: n === 2 ? 20 : 10 + n, point }));
  return planWorld({ intents: [intent], records: [known], mounts });
}

const refused = world({ refusedGroup });

describe("files that could not be given to the group of a mount", () => {
  it("are a word in the status of a mount that is there, and ready", () => {
    const found = refused.volumes.get(volume) ?? expect.fail("not planned");
    const { mounts = [], conditions } = statusOf(intent, found, { agent: { bootID: "b", epoch: 1 }, now: 0 });
    expect(mounts[0]).to.include({ state: "Mounted", reason: "VolumePermissionChangeRefused" });
    expect(mounts[0]?.message).to.equal(
      `9 of 10 files of ${prefix}/a could not be given to group 2000, such as /: EPERM`,
    );
    expect(conditions?.find(({ type }) => type === "Ready")?.status).to.equal("True");
  });

  it("are told once, and again when others refuse, but not by each agent that starts", () => {
    const told = (before: ReturnType<typeof world> | undefined, after = refused) => {
      const changed = new Map([[volume, before?.volumes.get(volume)]]);
      return transitions(true, { ...after, changed }).map(({ type, reason }) => `${type} ${reason}`);
    };
    expect(told(world({}))).to.deep.equal(["Warning VolumePermissionChangeRefused"]);
    expect(told(refused)).to.deep.equal([]);
    expect(told(undefined)).to.deep.equal([]);
    expect(told(refused, world({ refusedGroup: { ...refusedGroup, failed: 8 } }))).to.have.length(1);
    expect(told(refused, world({}))).to.deep.equal([]);
  });
});
