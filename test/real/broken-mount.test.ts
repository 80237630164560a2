import { mkdirSync, statSync } from "node:fs";
import { constants } from "node:os";
import { expect } from "chai";
import { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import { LinuxServers } from "../../src/host/linux/mount/linux-servers.ts";
import { errnoOf } from "../../src/host/linux/syscall/errno.ts";
import { realSystem } from "../../src/system.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

/** What kubelet takes for a mount that is broken (mount_helper_unix.go: IsCorruptedMnt). */
const broken = ["ENOTCONN", "ESTALE", "EIO", "EACCES", "EHOSTDOWN", "EWOULDBLOCK", "ENODEV"] as const;

/** As strerror(3) has it. */
const said: { readonly [code in (typeof broken)[number]]: string } = {
  ENOTCONN: "Transport endpoint is not connected",
  ESTALE: "Stale file handle",
  EIO: "Input/output error",
  EACCES: "Permission denied",
  EHOSTDOWN: "Host is down",
  EWOULDBLOCK: "Resource temporarily unavailable",
  ENODEV: "No such device",
};

describe("a mount whose file system answers with an error (behaviour 120)", function () {
  this.timeout(30_000); // EAGAIN may mean a walk that was disturbed: it is begun again, a thousand times
  let node: RealNode;
  let server: FuseServer;
  const servers = new LinuxServers(realSystem(silent).timers);

  afterEach(async () => {
    await server[Symbol.asyncDispose]();
  });
  withNode(["fuse"], async (made) => {
    node = made;
    mkdirSync(node.target("fuse"));
    server = await FuseServer.start(node.target("fuse"));
  });

  const volume = (name: string, more: object = {}) =>
    intent({
      name: `node.${name}`,
      source: { hostPath: { path: `${server.point}/data` } },
      mounts: [{ path: node.target(name) }],
      ...more,
    });
  const numberOf = (code: string) => ({ ...constants.errno, EHOSTDOWN: 112 })[code] ?? 0; // Node does not know that one
  const codeAt = (path: string): string | undefined => {
    try {
      statSync(path);
      return undefined;
    } catch (error) {
      return errnoOf(error);
    }
  };

  for (const code of broken) {
    const test: typeof slow = code === "ENOTCONN" || code === "EWOULDBLOCK" ? it : slow;
    test(`${code}: stays while it is wanted, its server is said to be at fault, and it goes without being asked`, async () => {
      node.want(volume("a"));
      await node.converge();
      const mounted = node.mountAt(node.target("a"))?.id;
      await server.fail(numberOf(code));
      expect(codeAt(node.target("a")), "what it answers").to.equal(code === "EWOULDBLOCK" ? "EAGAIN" : code);

      // 1. The mount table says what is mounted, whatever the file system says: nothing is unmounted, nothing is
      //    covered.
      node.done.length = 0;
      const plan = await node.volume(asVolumeName("node.a"));
      expect([summaryOf(plan).ready, plan.actualState.inUse, plan.actualState.targets[0]?.truth]).to.deep.equal([
        "True",
        true,
        "mounted",
      ]);
      expect([node.done, node.mountAt(node.target("a"))?.id]).to.deep.equal([[], mounted]);

      // 2. Who asks servers hears it, which is what people are told (drift Stale of what is mounted from a server).
      const mount = { fsType: "fuse.test", source: "test-server", point: server.point };
      expect(await servers.ask(mount, 5_000)).to.deep.equal({ answers: false, said: said[code] });

      // 3. What is not mounted yet is not mounted, and says why; in time, as it works again when the file system does.
      node.want(volume("a"), volume("b"));
      const other = await node.volume(asVolumeName("node.b"));
      const unreachable = ["ENOTCONN", "ESTALE", "EIO", "EHOSTDOWN"].includes(code);
      expect(other.failure?.errorClass).to.equal("transient");
      expect(`${other.failure?.reason}: ${other.failure?.message}`).to.match(
        unreachable ? new RegExp(`^ServerUnreachable: .*${code}`) : new RegExp(`^SetUpFailed: .*(${code}|EAGAIN)`),
      );

      // 4. Ours are unmounted by their ids: nobody asks the file system first.
      node.want(volume("a", { deleting: true, generation: 2 }), volume("b", { deleting: true, generation: 2 }));
      expect((await node.volume(asVolumeName("node.a"))).phase).to.equal("released");
      expect(node.mountAt(node.target("a"))).to.equal(undefined);
      const target = { prefix: `${node.path}/mnt`, path: server.point };
      const operation = { deadlineMs: 10_000, formatDeadlineMs: 10_000, onChild: async () => {} };
      const { mounter } = node.host.effects(operation);
      const itself = node.mountAt(server.point);
      expect(await mounter.inspectTarget(target)).to.deep.equal({ kind: "directory", mountID: itself?.id });
      await mounter.unmount(target, itself?.id ?? 0, "Normal");
      expect(node.mountAt(server.point)).to.equal(undefined);
    });
  }
});
