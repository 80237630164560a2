import { expect } from "chai";
import type { ChildRequest } from "../../../src/host/linux/child-request.ts";
import type { ChildRunner } from "../../../src/host/linux/child-runner.ts";
import { LinuxPrograms, type NodePlace } from "../../../src/host/linux/linux-programs.ts";
import type { Mounter, MountTableSource } from "../../../src/host/ports.ts";

describe("programs of the node", () => {
  async function outlives(node: NodePlace, heavy: boolean): Promise<unknown> {
    const asked: ChildRequest[] = [];
    const runner = {
      async run(request: ChildRequest) {
        asked.push(request);
        return { code: 0, stdout: "", stderr: "" };
      },
    } as unknown as ChildRunner;
    const operation = { deadlineMs: 1, formatDeadlineMs: 1, onChild: async () => {} };
    const unused = { table: {} as MountTableSource, mounter: {} as Mounter };
    const programs = new LinuxPrograms({ ...unused, runner, operation, node });
    await programs.run("/usr/sbin/cryptsetup", [], heavy ? { heavy } : {});
    const [request] = asked;
    return request?.kind === "exec" ? request.outlives : "not run";
  }

  it("leave the agent's container if they need much memory, whose end would be the agent's, and else stay", async () => {
    const inContainer = { hostRoot: "/host", nodeProcess: 1 };
    expect(await outlives(inContainer, true)).to.deep.equal({ hostRoot: "/host" });
    expect(await outlives(inContainer, false)).to.equal(undefined);
    expect(await outlives({ hostRoot: "/", nodeProcess: undefined }, true)).to.equal(undefined);
  });
});
