import { expect } from "chai";
import type { RBDVolumeSource } from "../../../../src/api/types.gen.ts";
import type { VolumeError } from "../../../../src/errors.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { NBDServed, RBDDevice } from "../../../../src/host/ports/ceph.ts";
import type { TearDownData } from "../../../../src/plugins/api/teardown-data.ts";
import type { StageContext } from "../../../../src/plugins/api/volume-plugin.ts";
import { mappingOf, rbd } from "../../../../src/plugins/network/rbd.ts";
import { placeOf } from "../../../../src/plugins/network/rbd-nbd.ts";

const secretRef = { namespace: "s", name: "ceph" };
const image: RBDVolumeSource = { monitors: ["10.0.0.1"], image: "data", secretRef };
const identity = { device: "0:5", root: "/" };
const client = { pid: 7, startTime: 1 };
const key = "AQBgZ1xnAAAAABAAb1b1b1b1b1b1b1b1b1b1bQ==";
const content = [{ version: "1", data: new Map([["key", Buffer.from(key)]]) }];

/** Of what may come about while it is staged. */
type Meanwhile = (what: "probed" | "mounted" | "served") => void;

describe("what an rbd volume is mounted from", () => {
  let mapped: RBDDevice | undefined;
  let served: NBDServed;
  let numbers: { [path: string]: string };
  let done: string[];
  let recorded: (TearDownData | undefined)[];
  let undo: TearDownData | undefined;

  beforeEach(() => {
    mapped = { id: "0", path: "/dev/rbd0" };
    served = { device: "/dev/nbd0", client };
    numbers = { "/dev/rbd0": "252:0", "/dev/rbd1": "252:16", "/dev/nbd0": "43:0", "/dev/nbd1": "43:32" };
    done = [];
    recorded = [];
    undo = undefined;
  });

  function stage(source: RBDVolumeSource, meanwhile: Meanwhile = () => {}): Promise<string> {
    const mounter = {
      inspect: async ({ path }: { path: string }) => {
        const deviceNumber = numbers[path];
        return { kind: "blockDevice", canonicalPath: path, fsType: "devtmpfs", identity, deviceNumber };
      },
      makeTarget: async () => {},
      mountFilesystem: async (mount: { source: string }) => {
        done.push(`mount ${mount.source}`);
        meanwhile("mounted");
      },
      inspectTarget: async () => ({ mountID: 7, identity }),
      unmount: async (_target: unknown, mountID: number) => void done.push(`unmount ${mountID}`),
    };
    const devices = {
      probe: async ({ path }: { path: string }) => {
        meanwhile("probed");
        return { path, deviceNumber: numbers[path], signature: "ext4" };
      },
      mend: async () => {},
    };
    const nbd = {
      find: async () => served,
      deviceOf: async () => served.device,
      serve: async () => meanwhile("served"),
    };
    const context = {
      ...{
        rbd: { find: async () => mapped },
        nbd,
        mounter,
        devices,
        content,
        undo,
        hostRoot: "/",
        dataPath: "/data/k",
      },
      ...{ table: new MountTable([]), tableNow: async () => new MountTable([]), progress: () => {} },
      ...{ clients: { kill: async () => {} }, directories: { make: async () => {} } },
      ...{ stagingTarget: { prefix: "/s", path: "/s/v" }, recordFormatting: async () => {} },
      record: async (what: { undo?: TearDownData }) => void recorded.push(what.undo),
    } as unknown as StageContext;
    const spec = {
      key: "k",
      nodeName: "n",
      source: { rbd: source },
      volumeMode: "Filesystem",
      mountOptions: [],
    } as const;
    return rbd.stage(spec, context).then(
      () => "none",
      ({ reason, message }: VolumeError) => reason ?? message,
    );
  }

  for (const [how, source, first] of [
    ["the kernel maps", image, "/dev/rbd0"],
    ["rbd-nbd serves", { ...image, client: "NBD" } as const, "/dev/nbd0"],
  ] as const) {
    const changes: readonly [string, () => void][] = [
      [
        "has another device",
        () => {
          mapped = { id: "1", path: "/dev/rbd1" };
          served = { device: "/dev/nbd1", client };
        },
      ],
      [
        "has none any more",
        () => {
          mapped = undefined;
          served = {};
        },
      ],
      [
        "has one of another number",
        () => {
          numbers = { "/dev/rbd0": "252:16", "/dev/nbd0": "43:32" };
        },
      ],
    ];

    it(`is the image that ${how}`, async () => {
      expect(await stage(source)).to.equal("none");
      expect(done).to.deep.equal([`mount ${first}`]);
    });

    for (const [what, change] of changes) {
      it(`is not mounted if the image that ${how} ${what} by then`, async () => {
        expect(await stage(source, (when) => when === "probed" && change())).to.equal("DiskNotFound");
        expect(done).to.deep.equal([]);
      });

      it(`is unmounted again if the image that ${how} ${what} once it is mounted`, async () => {
        expect(await stage(source, (when) => when === "mounted" && change())).to.equal("DiskNotFound");
        expect(done).to.deep.equal([`mount ${first}`, "unmount 7"]);
      });
    }
  }

  it("is on record as unused by anybody until rbd-nbd has a device of it", async () => {
    const place = placeOf("rbd/data", "/data/k");
    const byNBD = { ...image, client: "NBD" } as const;
    const whole = served;
    const begins: Meanwhile = (when) => {
      if (when === "served") served = whole;
    };
    served = {};
    const failed = await stage(byNBD, (when) => {
      if (when === "served") throw new Error("the cluster is gone");
    });
    expect(failed).to.equal("the cluster is gone");
    expect(recorded).to.deep.equal([{ ...place, unused: "true" }]);
    [undo] = recorded;
    recorded = [];
    await stage(byNBD, begins);
    expect(recorded).to.deep.equal([{ ...place, unused: "true" }, place, undefined]);
    undo = place;
    recorded = [];
    served = { client };
    await stage(byNBD, begins);
    expect(recorded, "its process may have something to write").to.deep.equal([place, place, undefined]);
  });

  it("is found again by what is on record", async () => {
    undo = { ...mappingOf({ ...image, monitors: ["10.0.0.9"] }) };
    expect(await stage(image)).to.equal("none");
  });
});
