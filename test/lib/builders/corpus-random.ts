// Random specs of intents, near the border between what is accepted and what is not.
import fc from "fast-check";
import type { JsonObject } from "../../../hack/lib/api-client.ts";
import { contentMembers } from "./corpus-random-content.ts";

/** An entry of the second list once in a while, of the first one mostly. */
function mostly<T>(good: readonly T[], bad: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...bad) },
  );
}

const path = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.constantFrom("/mnt/a", "/mnt/a/b", "/mnt/b", "/mnt/...", "/é", "/mnt/.c", `/${"a".repeat(255)}`),
  },
  { weight: 8, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 4 }).map((name) => `/mnt/${name}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "/",
      "a",
      "/a/",
      "//a",
      "/a/../b",
      "/a\n",
      `/${"a".repeat(256)}`,
      `/${"é".repeat(64)}`,
    ),
  },
);

const key = mostly(["a", ".b", "c_d-E.f", "k".repeat(253)], ["", "..", "..a", "a/b", "k".repeat(254)]);
const item = fc.record(
  {
    key,
    path: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom("x", "x/y", "z", "z.a", ".h", "é", "a", "b", "c") },
      { weight: 1, arbitrary: fc.constantFrom("", "/x", "..a", "x/../y", "é".repeat(128)) },
    ),
    mode: mostly([0, 420, 511], [-1, 512]),
  },
  { requiredKeys: ["key", "path"] },
);
const items = fc.array(item, { maxLength: 3 });
const namespace = mostly(["web", "a", "a-1", "a".repeat(63)], ["", "Web", "a.b", "-a", "a".repeat(64)]);
const objectName = mostly(["site", "a.b", "a".repeat(253)], ["", "Site", "a..b", ".a", "a".repeat(254)]);
const size = mostly<string | number>(
  [65536, "64Ki", "1.5Gi", "1Pi", "1000000", "70000.5", "0.5M", 2 ** 50],
  [65535, "63Ki", "1025Ti", "1e9", "", "m", 2 ** 50 + 1, "1.0000000001Gi", "0.5K"],
);
const server = mostly(
  ["files", "a.b", "10.0.0.1", "[fd00::1]", "[::]", "1a"],
  ["", "10.0.0.256", "fd00::1", "[::ffff:1:2]", "a..b", "a:b", "[1:2]", "1.2", "[::1"],
);

const anything = { requiredKeys: [] };
const hostAndPort = fc
  .tuple(
    mostly(["h.example", "10.0.0.255", "[fd00::1]", "1.example"], ["10.0.0.300", "h.5", "h.0x7f", "[::::]", "1.2.3"]),
    mostly(["", ":1", ":65535"], [":65536", ":0", ":"]),
  )
  .map(([host, port]) => `${host}${port}`);

const members = {
  emptyDir: fc.record({ medium: mostly(["", "Memory", "Memory"], ["Disk"]), sizeLimit: size }, anything),
  hostPath: fc.record(
    { path, type: mostly(["", "Directory", "CharDevice", "BlockDevice"], ["Link"]) },
    { requiredKeys: ["path"] },
  ),
  local: fc.record({ path }),
  configMap: fc.record({ namespace, name: objectName, items }, { requiredKeys: ["namespace", "name"] }),
  secret: fc.record({ namespace, secretName: objectName, items }, { requiredKeys: ["namespace", "secretName"] }),
  git: fc.record(
    {
      repository: fc.oneof(
        mostly(["https://git.example/app.git", "http://10.0.0.1:80/a/b"], ["ssh://git.example/app.git", ""]),
        hostAndPort.map((host) => `https://${host}/app@1`),
      ),
      revision: mostly(["0123456789".repeat(4), "abcdef01".repeat(8)], ["main", "0123456789"]),
      directory: mostly(["site", "a/.b"], ["..", "/a"]),
    },
    { requiredKeys: ["repository", "revision"] },
  ),
  ...contentMembers(mostly, { namespace, objectName, items }),
  image: fc.record({
    reference: fc.oneof(
      mostly(
        [`registry.example/a/b:v1@sha256:${"0123456789abcdef".repeat(4)}`, `localhost:5000/a@sha256:${"0".repeat(64)}`],
        ["registry.example/a:v1", `busybox@sha256:${"0".repeat(64)}`],
      ),
      hostAndPort.map((host) => `${host}/a@sha256:${"0".repeat(64)}`),
    ),
  }),
  nfs: fc.record({ server, path, readOnly: fc.boolean() }, { requiredKeys: ["server", "path"] }),
};

const options = (...good: string[]) =>
  fc.array(
    mostly(good, ["hard,soft", "ro", "", "port=65536", "commit=5 exec", "context=a", "timeo=0", "hard", "discard"]),
    {
      maxLength: 3,
    },
  );
const extOptions = [
  "discard",
  "nodiscard",
  "commit=5",
  "errors=panic",
  "lazytime",
  "acl",
  "journal_checksum",
  "noquota",
];
const xfsOptions = ["inode64", "prjquota", "noquota", "logbufs=8", "allocsize=64k", "nolazytime", "discard"];

/** The fields of a volume, with a file system and options where they have a meaning, mostly. */
const volume = fc.oneof(
  ...Object.entries(members).map(([name, member]) => ({
    weight: 8,
    arbitrary: fc.record({ source: fc.record({ [name]: member as fc.Arbitrary<unknown> }) }) as fc.Arbitrary<object>,
  })),
  {
    weight: 10,
    arbitrary: fc.record(
      {
        source: fc.record({ local: members.local }),
        fsType: mostly(["ext4", "ext4", "ext3", "ext2"], ["ntfs", "xfs"]),
        mountOptions: options(...extOptions),
      },
      { requiredKeys: ["source", "fsType"] },
    ),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      source: fc.record({ local: members.local }),
      fsType: fc.constantFrom("xfs", "btrfs"),
      mountOptions: options(...xfsOptions),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      source: fc.record({ nfs: members.nfs }),
      mountOptions: options(
        "hard",
        "soft",
        "vers=3",
        "vers=4.2",
        "nolock",
        "proto=udp",
        "timeo=600",
        "port=65535",
        "ac",
        "noac",
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ source: fc.record({ local: members.local }), volumeMode: fc.constant("Block") }),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { source: fc.record(members, anything), fsType: fc.constant("ext4") },
      { requiredKeys: ["source"] },
    ),
  },
);

const mount = fc.record(
  {
    name: mostly(["a", "b.c", "x~y", "a".repeat(128)], ["", "A", "a/b", "-a"]),
    path,
    readOnly: mostly([false], [true]),
    requester: fc.record({ kind: fc.constant("NodeVolumeSet"), name: objectName, uid: mostly(["u"], [""]) }),
    mountOptions: fc.array(
      mostly(["nosuid", "suid", "nodev", "dev", "noexec", "noatime", "relatime"], ["ro", "noexec,suid", ""]),
      { maxLength: 1 },
    ),
  },
  { requiredKeys: ["name", "path", "requester"] },
);

/** The spec of an intent that is nearly one: each field is mostly, but not always, as it should be. */
export function randomIntent(): fc.Arbitrary<object> {
  const rest = fc.record(
    {
      nodeName: mostly(["corpus-1", "a.b"], ["", "A"]),
      nodeUID: mostly(["u"], [""]),
      volumeName: objectName,
      mode: mostly(["Manage"], ["manage", "Observe"]),
      volumeMode: mostly(["Filesystem"], ["Raw", "Block"]),
      mounts: fc.array(mount, { maxLength: 2 }),
      grant: fc.record({ id: mostly(["g"], [""]) }),
      unmountPolicy: fc.record({ timeoutSeconds: mostly([1, 3600], [0, 3601]) }, anything),
      deletionPolicy: mostly(["Unmount", "Unmount", "Retain"], ["Delete"]),
      adopt: mostly(["Never"], ["IfSame", "Always"]),
      nodeLossPolicy: mostly<object>(
        [{}, { type: "Never" }, { type: "AfterTimeout", timeoutSeconds: 60 }],
        [{ type: "AfterTimeout" }, { timeoutSeconds: 300 }, { type: "AfterTimeout", timeoutSeconds: 604_801 }],
      ),
    },
    { requiredKeys: ["nodeName", "nodeUID", "volumeName", "mode", "volumeMode", "mounts"] },
  );
  return fc.tuple(rest, volume).map(([fields, its]) => ({ ...fields, ...its }));
}

/** The spec of a set that would have such an intent: the same volume, mounts and policies, in a set's fields. */
export function setOf(intent: object): JsonObject {
  const { source, volumeMode, fsType, mountOptions, nodeName, nodeUID, volumeName, grant, mounts, ...policies } =
    intent as JsonObject & { readonly mounts: readonly JsonObject[] };
  const own = mounts.map(({ requester, ...mount }, i) => ({ ...mount, name: `m${i}` }));
  const volume = JSON.parse(JSON.stringify({ source, volumeMode, fsType, mountOptions })) as JsonObject;
  return { ...policies, volume, mounts: own };
}
