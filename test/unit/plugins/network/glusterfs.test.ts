import { expect } from "chai";
import type { VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { glusterfs, glusterfsArgs } from "../../../../src/plugins/network/glusterfs.ts";

const place = { target: "/state/staging/k", pidFile: "/state/data/k/client.pid", log: "/state/data/k/client.log" };
const always = [
  ...["--fuse-mountopts=nosuid,nodev", "--process-name=fuse", "--log-level=ERROR"],
  ...["--log-file=/state/data/k/client.log", "--pid-file=/state/data/k/client.pid", "/state/staging/k"],
];

describe("glusterfsArgs", () => {
  const rows: [string, Parameters<typeof glusterfsArgs>[0], string[], string[]][] = [
    ["a volume", { servers: ["a"], path: "v" }, [], ["--volfile-server=a", "--volfile-id=/v"]],
    [
      "servers in their order, an IPv6 address without brackets",
      { servers: ["b", "[fd00::1]", "10.0.0.1"], path: "v" },
      [],
      ["--volfile-server=b", "--volfile-server=fd00::1", "--volfile-server=10.0.0.1", "--volfile-id=/v"],
    ],
    [
      "a directory, read-only, with options",
      { servers: ["a"], path: "v/d/e f", readOnly: true },
      ["acl", "entry-timeout=0"],
      [
        ...["--volfile-server=a", "--volfile-id=/v", "--subdir-mount=/d/e f"],
        ...["--read-only", "--acl", "--entry-timeout=0"],
      ],
    ],
  ];
  for (const [title, source, options, expected] of rows) {
    it(title, () => expect(glusterfsArgs(source, options, place)).to.deep.equal([...expected, ...always]));
  }
});

describe("a glusterfs volume", () => {
  it("is found in the mount table by its first server, whichever has answered", () => {
    const source = { glusterfs: { servers: ["[fd00::1]", "b"], path: "v/d", readOnly: true } };
    const spec: VolumeSpec = { key: "k", nodeName: "n", source, volumeMode: "Filesystem", mountOptions: ["acl"] };
    expect(glusterfs.layout(spec)).to.deep.equal({
      options: ["acl"],
      readOnly: true,
      devices: false,
      filesystem: { types: ["fuse.glusterfs"], source: "fd00::1:/v/d", own: false },
    });
  });
});
