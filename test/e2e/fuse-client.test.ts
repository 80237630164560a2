// A client of FUSE that was started in a container, when kubelet has ended that.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "chai";
import type { JsonObject } from "../../hack/lib/api-client.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { endSuite, type KubeletWorld, kubeletWorld } from "../lib/cluster/kubelet-world.ts";
import type { ClientFound } from "../lib/kernel/programs/client-of-agent-main.ts";

slowSuite("the client of a FUSE volume", () => {
  let world: KubeletWorld;
  /** Processes that nothing else ends if the test fails. */
  const left: number[] = [];

  before(async function () {
    world = await kubeletWorld(this);
  });
  after(async function () {
    for (const pid of left) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    await endSuite(this, world);
  });

  it("outlives the pod that has started it, serves on, and is found by the next one", async function () {
    this.timeout(120_000);
    const { pods, node } = world;
    const directory = `${world.world.directory}/fuse-client`;
    const programs = `${directory}-programs`;
    for (const path of [programs, `${directory}/mounted`]) mkdirSync(path, { recursive: true });
    writeFileSync(`${programs}/nodevolume-test-client`, client, { mode: 0o755 });
    const answerOf = async (pod: string): Promise<ClientFound> => {
      await pods.create(pod, [], asAgent(pod, directory, programs));
      await pods.ready(60_000, pod);
      const read = () => node.host.run("cat", `${directory}/answer-${pod}`).catch(() => "");
      await until(`${pod} to have a client`, 30_000, async () => (await read()) !== "");
      return JSON.parse(await read()) as ClientFound;
    };

    const first = await answerOf("agent-before");
    left.push(first.pid);
    expect(first).to.include({ found: false }).and.have.property("warnings").that.is.empty;
    const entries = () => node.host.run("ls", `${directory}/mounted`);
    const shown = await entries();
    expect(cgroupsOf(first.pid))
      .to.match(/\/nodevolume$/m)
      .and.not.match(/kubepods/);
    expect(cgroupsOf(first.other ?? 0)).to.match(/kubepods/);
    await pods.delete("agent-before");
    await pods.gone(60_000, "agent-before");
    expect(isAlive(first.other ?? 0), "what has not left").to.equal(false);
    expect(isAlive(first.pid), "the client").to.equal(true);
    expect(await entries()).to.equal(shown);

    expect(await answerOf("agent-after")).to.deep.equal({ pid: first.pid, found: true, warnings: [] });
    await pods.delete("agent-after");
    await pods.gone(60_000, "agent-after");
    expect(await entries()).to.equal(shown);
    await node.host.run("umount", `${directory}/mounted`);
    await until("the client to end with its mount", 20_000, () => !isAlive(first.pid));
  });
});

/**
 * Makes a daemon of itself, as clients do, that serves the file system of the tests: nodevolume-test-client MOUNT-POINT
 * PID-FILE
 */
const client = `#!/bin/sh
setsid ${process.execPath} ${root}/hack/lib/agent-on-kernel/fuse/server-main.ts "$1" "$2" </dev/null >"$2.log" 2>&1 &
echo $! >"$2"
until grep -q " $1 .* fuse.test " /proc/self/mountinfo; do kill -0 $! || exit 1; done
`;

/** A pod as the DaemonSet has it, with the node's programs for an image. */
function asAgent(name: string, directory: string, programs: string): JsonObject {
  const node = dirname(dirname(process.execPath));
  const places: readonly (readonly [path: string, at: string, propagation?: string])[] = [
    ["/", "/host", "HostToContainer"],
    [directory, directory, "Bidirectional"],
    [programs, "/sbin"],
    ...["/usr", "/lib", "/lib64", "/bin", "/etc", root, node].map((path) => [path, path] as const),
  ];
  const volumes = places.map(([path], index) => ({ name: `v${index}`, hostPath: { path, type: "Directory" } }));
  const volumeMounts = places.map(([, mountPath, mountPropagation], index) => ({
    name: `v${index}`,
    mountPath,
    ...(mountPropagation && { mountPropagation }),
  }));
  const container = {
    name: "agent",
    image: "nodevolume.test/pod-program:1",
    imagePullPolicy: "Never",
    command: [process.execPath, `${root}/test/lib/kernel/programs/client-of-agent-main.ts`, directory],
    env: [{ name: "HOSTNAME_OF_POD", value: name }],
    securityContext: { privileged: true },
    volumeMounts,
  };
  return { hostPID: true, containers: [container], volumes };
}

function cgroupsOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cgroup`, "utf8");
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\t[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
