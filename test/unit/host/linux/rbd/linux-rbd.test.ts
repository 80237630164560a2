import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { ChildRequest } from "../../../../../src/host/linux/child/child-protocol.ts";
import type { ChildOptions } from "../../../../../src/host/linux/child/child-runner.ts";
import { writeOf } from "../../../../../src/host/linux/child/expected-device.ts";
import { LinuxRBD } from "../../../../../src/host/linux/rbd/linux-rbd.ts";
import { addedText } from "../../../../../src/host/linux/rbd/rbd-text.ts";
import type { OperationContext } from "../../../../../src/host/ports/host-ports.ts";
import { serverOf } from "../../../../../src/host/ports/servers.ts";
import { mappingOf } from "../../../../../src/plugins/network/rbd.ts";
import { noPrograms } from "../../../../lib/fakes/no-programs.ts";

const secretRef = { namespace: "s", name: "ceph" };
const mapping = mappingOf({ monitors: ["10.0.0.1", "10.0.0.2"], image: "data", secretRef });
const other = mappingOf({ monitors: ["192.0.2.1"], image: "data", secretRef });

describe("images that the kernel maps", () => {
  let bus: string;
  const servers: (string | undefined)[] = [];
  /** What comes about before the child is told. */
  let meanwhile = () => {};
  beforeEach(() => {
    bus = mkdtempSync(join(tmpdir(), "rbd-"));
    servers.length = 0;
    meanwhile = () => {};
  });
  afterEach(() => rmSync(bus, { recursive: true }));

  const there = (id: string, text: string) => {
    mkdirSync(`${bus}/devices/${id}`, { recursive: true });
    writeFileSync(`${bus}/devices/${id}/config_info`, `${addedText(text, "KEY=")}\n`);
  };
  const runner = {
    async run(request: ChildRequest, _operation: OperationContext, { waitsFor }: ChildOptions = {}) {
      servers.push(waitsFor && serverOf(waitsFor));
      meanwhile();
      if (request.kind !== "rbd") throw new Error(`${request.kind} is not asked for`);
      writeOf(request.meant, request.file, request.text);
      return { code: 0, stdout: JSON.stringify({ ok: true }), stderr: "" };
    },
  };
  const rbd = () => new LinuxRBD(runner, noPrograms, {} as OperationContext, bus);
  const removed = () =>
    existsSync(`${bus}/remove_single_major`) ? readFileSync(`${bus}/remove_single_major`, "utf8") : undefined;

  it("wait for their own cluster, and no other's", async () => {
    await rbd().map(mapping, "KEY=");
    await rbd().map(other, "KEY=");
    await rbd().unmap(mapping, { id: "0", path: "/dev/rbd0" }, false);
    expect(servers).to.deep.equal(["rbd 10.0.0.1,10.0.0.2", "rbd 192.0.2.1", "rbd 10.0.0.1,10.0.0.2"]);
  });

  it("are given back by the number that they have", async () => {
    there("3", other.text);
    there("4", mapping.text);
    const device = await rbd().find(mapping);
    expect(device).to.deep.equal({ id: "4", path: "/dev/rbd4" });
    if (device !== undefined) await rbd().unmap(mapping, device, true);
    expect(removed()).to.equal("4 force");
  });

  it("are left alone when another has got their number by the time that the child is told", async () => {
    there("4", mapping.text);
    const device = await rbd().find(mapping);
    meanwhile = () => there("4", other.text);
    if (device !== undefined) await rbd().unmap(mapping, device, false);
    expect(removed()).to.equal(undefined);
    meanwhile = () => rmSync(`${bus}/devices/4`, { recursive: true });
    if (device !== undefined) await rbd().unmap(mapping, device, false);
    expect(removed(), "and when it is gone").to.equal(undefined);
  });
});
