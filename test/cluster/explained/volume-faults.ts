// Faults of one volume on one node: its source, its path, and who stands in its way.
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../hack/lib/until.ts";
import { type LoopDevice, loopDevice } from "../../lib/kernel/disks/loop-device.ts";
import { ContractRegistry } from "../../lib/servers/contract-registry.ts";
import { freePort } from "../../lib/servers/free-port.ts";
import { type Fault, memory, mountsAt, pathOf, type Staging } from "./fault.ts";

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

/** A disk that goes when the fault is taken back. */
function disk({ directory, undo }: Staging, name: string, megabytes: number): LoopDevice {
  const device = loopDevice(directory, name, megabytes);
  undo.defer(() => device[Symbol.dispose]());
  return device;
}

/** A volume that is mounted at /var/lib/nodevolume/mounts/NAME, as long as nothing happens to it. */
async function mounted({ world, apply }: Staging, name: string): Promise<string> {
  await apply(name, { volume: memory, mounts: mountsAt(pathOf(name)) });
  await world.objects.ready(name, 1);
  return pathOf(name);
}

const sources: readonly Fault[] = [
  {
    title: "The source does not exist",
    code: "SourceNotFound",
    names: ["/mnt/data/models", "node-1"],
    step: /kubectl debug node\/node-1 .* ls -l \/host\/mnt\/data\/models$/,
    stage: ({ apply }) =>
      apply("models", {
        volume: { source: { local: { path: "/mnt/data/models" } } },
        mounts: mountsAt(pathOf("models")),
      }),
  },
  {
    title: "The source has another type",
    code: "SourceWrongType",
    names: ["/mnt/data/weights", "node-1"],
    step: /kubectl debug node\/node-1 .* ls -ld \/host\/mnt\/data\/weights$/,
    async stage({ node, apply }) {
      await node.host.run("sh", "-ec", "mkdir -p /mnt/data && echo 1 >/mnt/data/weights");
      const source = { hostPath: { path: "/mnt/data/weights", type: "Directory" } };
      await apply("weights", { volume: { source }, mounts: mountsAt(pathOf("weights")) });
    },
  },
  {
    title: "The server of the source is unreachable",
    code: "ServerUnreachable",
    names: ["127.0.0.1", "node-1"],
    step: /getent hosts 127\.0\.0\.1; nc -vz 127\.0\.0\.1 \d+/,
    async stage({ apply }) {
      const reference = `127.0.0.1:${await freePort()}/team/model@${digest}`;
      await apply("vision", { volume: { source: { image: { reference } } }, mounts: mountsAt(pathOf("vision")) });
    },
  },
  {
    title: "The NFS server is unreachable",
    code: "ServerUnreachable",
    names: ["nfs.example.com:/export/home", "Name or service not known", "node-1"],
    step: /from node-1: getent hosts nfs\.example\.com; nc -vz nfs\.example\.com 2049\./,
    needs: ["mount.nfs"],
    stage: ({ apply }) =>
      apply("home", {
        volume: { source: { nfs: { server: "nfs.example.com", path: "/export/home" } } },
        mounts: mountsAt(pathOf("home")),
      }),
  },
  {
    title: "The registry lacks the image",
    code: "RevisionNotFound",
    names: ["127.0.0.1", "team/model", digest],
    step: /kubectl edit nvs speech\b/,
    async stage({ apply, undo }) {
      const registry = undo.adopt(new ContractRegistry(), async (one) => one[Symbol.dispose]());
      await registry.listen();
      const reference = `${registry.host}/team/model@${digest}`;
      await apply("speech", { volume: { source: { image: { reference } } }, mounts: mountsAt(pathOf("speech")) });
    },
  },
  {
    title: "The namespace does not let agents read its Secret",
    code: "SecretAccessDenied",
    names: ["payments", "node-1"],
    step: /kubectl -n payments apply -f role\.yaml$/,
    async stage({ apply }) {
      const source = { secret: { namespace: "payments", secretName: "tls" } };
      await apply("certificates", { volume: { source }, mounts: mountsAt(pathOf("certificates")) });
    },
  },
];

const disks: readonly Fault[] = [
  {
    title: "No disk has the label",
    code: "DiskNotFound",
    names: ["label: scratch", "its label is spare"],
    step: /On node-1: lsblk -o NAME,/,
    needs: ["loop-devices", "mkfs.ext4"],
    async stage(staging) {
      const { path } = disk(staging, "spare", 59);
      execFileSync("mkfs.ext4", ["-q", "-L", "spare", path]);
      const local = { disk: { transport: "loop", minSize: "59Mi", maxSize: "59Mi", label: "scratch" } };
      await staging.apply("scratch-disk", { volume: { source: { local } }, mounts: mountsAt(pathOf("scratch-disk")) });
    },
  },
  {
    title: "Two disks match",
    code: "DiskAmbiguous",
    names: ["2 disks of the node", "61Mi", "serial", "node-1"],
    step: /kubectl edit nvs cache-disk\. On node-1: lsblk -o NAME,/,
    needs: ["loop-devices"],
    async stage(staging) {
      for (const name of ["first", "second"]) disk(staging, name, 61);
      const local = { disk: { transport: "loop", minSize: "61Mi", maxSize: "61Mi" } };
      const mounts = mountsAt(pathOf("cache-disk"));
      await staging.apply("cache-disk", { volume: { source: { local }, fsType: "ext4" }, mounts });
    },
  },
  {
    title: "The disk that is to be formatted has data",
    code: "DeviceNotEmpty",
    names: ["/dev/loop", "it is not formatted"],
    step: /on node-1: lsblk -f \/dev\/loop\d+$/i,
    needs: ["loop-devices"],
    async stage(staging) {
      const { path } = disk(staging, "used", 63);
      writeFileSync(path, "data ".repeat(20_000), { flag: "r+" });
      const mounts = mountsAt(pathOf("database"));
      await staging.apply("database", { volume: { source: { local: { path } }, fsType: "ext4" }, mounts });
    },
  },
];

const paths: readonly Fault[] = [
  {
    title: "Something else is mounted at the path",
    code: "ForeignMount",
    names: ["/var/lib/nodevolume/mounts/reports", "tmpfs", "node-1"],
    step: /on node-1 \(umount \/var\/lib\/nodevolume\/mounts\/reports\)/,
    async stage({ node, apply, undo }) {
      await node.host.run("mkdir", "-p", pathOf("reports"));
      await node.host.run("mount", "-t", "tmpfs", "other", pathOf("reports"));
      undo.defer(() => node.host.run("umount", pathOf("reports")).then(() => undefined));
      await apply("reports", { volume: memory, mounts: mountsAt(pathOf("reports")) });
    },
  },
  {
    title: "Somebody has mounted over the volume",
    code: "ForeignMountOnTarget",
    names: ["/var/lib/nodevolume/mounts/results", "node-1"],
    step: /on node-1: umount \/var\/lib\/nodevolume\/mounts\/results$/,
    async stage(staging) {
      const { host } = staging.node;
      const path = await mounted(staging, "results");
      await host.run("mount", "-t", "tmpfs", "other", path);
      staging.undo.defer(() => host.run("umount", path).then(() => undefined));
    },
  },
  {
    title: "Somebody unmounts the volume again and again",
    code: "DriftRepeats",
    names: ["3 times within an hour", "/var/lib/nodevolume/mounts/churn", "node-1"],
    step: /grep -rsl \/var\/lib\/nodevolume\/mounts\/churn \/etc\. Times: kubectl nvi history node-1\/churn$/,
    async stage(staging) {
      const { world, node } = staging;
      const path = await mounted(staging, "churn");
      const intent = world.objects.intentOn("churn", node.name)?.metadata.name;
      const ofIt = ["--field-selector", `reason=Drifted,involvedObject.name=${intent}`];
      const counts = () =>
        world.cluster.adminKubectl.run(["get", "events", ...ofIt, "-o", "jsonpath={.items[*].count}"]);
      for (const times of ["1", "2", "3"]) {
        await node.host.run("umount", path);
        await until(`the Event of drift ${times}`, 30_000, async () => (await counts()).trim() === times);
        await until(`repair ${times}`, 30_000, async () => (await node.mountsAt(path)).length === 1);
      }
    },
  },
  {
    title: "A file is at the path",
    code: "TargetNotDirectory",
    names: ["/var/lib/nodevolume/mounts/taken", "node-1"],
    step: /On node-1: mv \/var\/lib\/nodevolume\/mounts\/taken \/var\/lib\/nodevolume\/mounts\/taken\.old$/,
    async stage({ node, apply, undo }) {
      await node.host.run("sh", "-c", `echo 1 >${pathOf("taken")}`);
      undo.defer(() => node.host.run("rm", "-f", pathOf("taken")).then(() => undefined));
      await apply("taken", { volume: memory, mounts: mountsAt(pathOf("taken")) });
    },
  },
  {
    title: "Repair is suspended, and somebody has unmounted the volume",
    code: "Suspended",
    names: ["/var/lib/nodevolume/mounts/metrics", "Drifted", "node-1"],
    step: /kubectl patch nvs metrics --type merge -p '\{"spec":\{"suspend":false\}\}'/,
    async stage(staging) {
      const { world, node, apply } = staging;
      const path = await mounted(staging, "metrics");
      await apply("metrics", { volume: memory, suspend: true, mounts: mountsAt(path) });
      await world.objects.until("the suspension to be taken in", 10_000, () => {
        const intent = world.objects.intentOn("metrics", node.name);
        return intent?.spec.suspend === true && intent.status?.observedGeneration === intent.metadata.generation;
      });
      await node.host.run("umount", path);
    },
  },
  {
    title: "The set only observes",
    code: "WouldChange",
    names: ["/var/lib/nodevolume/mounts/archive", "only observed", "node-1"],
    step: /set mode: Manage on the set archive\. .* kubectl nvi plan node-1$/,
    stage: ({ apply }) => apply("archive", { mode: "Observe", volume: memory, mounts: mountsAt(pathOf("archive")) }),
  },
];

/** A process on node-1, which ends when the fault is taken back. */
function startOn(staging: Staging, program: string, ...args: string[]) {
  const logFile = join(staging.directory, "process.log");
  const running = staging.node.host.startOn(program, [program, ...args], logFile, process.env);
  staging.undo.defer(async () => {
    running.kill("SIGKILL");
    await running.ended;
  });
  return running;
}

const removal: readonly Fault[] = [
  {
    title: "A process keeps a volume that is to be removed",
    code: "TargetBusy",
    names: ["/var/lib/nodevolume/mounts/scratch", "(sleep)", "working directory"],
    step: /On node-1: kill \d+/,
    async stage(staging) {
      const path = await mounted(staging, "scratch");
      const sleeper = startOn(staging, "sh", "-c", `cd ${path} && exec sleep 3600`);
      await until("the process to be there", 10_000, () => readlinkSync(`/proc/${sleeper.pid}/cwd`) === path);
      await staging.world.cluster.kubectl.run(["delete", "nvs", "scratch", "--wait=false"]);
    },
  },
  {
    title: "A container still has a volume that is to be removed",
    code: "StillReferenced",
    names: ["/var/lib/nodevolume/mounts/shared", "(sleep)"],
    step: /On node-1: kill (\d+), .* nsenter -t \1 -m findmnt$/,
    async stage(staging) {
      await mounted(staging, "shared");
      // As a container has it without mountPropagation: what the host unmounts stays mounted there.
      const args = ["--mount", "--propagation", "private", "sleep", "3600"];
      const container = startOn(staging, "unshare", ...args);
      const program = () => readFileSync(`/proc/${container.pid}/comm`, "utf8").trim();
      await until("the program of the container", 10_000, () => program() === "sleep");
      await staging.world.cluster.kubectl.run(["delete", "nvs", "shared", "--wait=false"]);
    },
  },
];

export const volumeFaults: readonly Fault[] = [...sources, ...disks, ...paths, ...removal];
