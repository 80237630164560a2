import { expect } from "chai";
import { optionsJson, volumeNameOf } from "../../../../src/plugins/flex-volume/options.ts";

describe("options of a flexvolume", () => {
  it("are kubelet's, with a name of ours", () => {
    expect(JSON.parse(optionsJson({ driver: "v/d" }, "4f1c"))).to.deep.equal({
      "kubernetes.io/fsType": "",
      "kubernetes.io/readwrite": "rw",
      "kubernetes.io/pvOrVolumeName": "nodevolume-4f1c",
    });
  });

  it("have the source's over them, and the values of the Secret in base64", () => {
    const options = { pool: "p", "kubernetes.io/pvOrVolumeName": "pv-1", "kubernetes.io/mounterArgs.FsGroup": "2000" };
    const source = { driver: "v/d", fsType: "xfs", readOnly: true, options };
    expect(JSON.parse(optionsJson(source, "4f1c", new Map([["user", "é"]])))).to.deep.equal({
      "kubernetes.io/fsType": "xfs",
      "kubernetes.io/readwrite": "ro",
      "kubernetes.io/secret/user": "w6k=",
      ...options,
    });
  });

  it("name the volume as the driver is told of it when it is detached, too", () => {
    expect(volumeNameOf({ driver: "v/d" }, "4f1c")).to.equal("nodevolume-4f1c");
    expect(volumeNameOf({ driver: "v/d", options: { "kubernetes.io/pvOrVolumeName": "pv-1" } }, "k")).to.equal("pv-1");
  });
});
