import { expect } from "chai";
import { possibleUsers } from "../../../../../src/host/linux/device/device-users.ts";

describe("who may have a device that nobody is seen to have", () => {
  const place = "/sys/kernel/config/nvmet/subsystems/a/namespaces/1";

  it("is nobody, if all is seen", () => {
    expect(possibleUsers("/dev/sdb", [], {})).to.equal(undefined);
  });

  it("is who gets what the kernel serves of an unknown device, which leaves a mount", () => {
    expect(possibleUsers("/dev/sdb", [], { unknown: place })).to.deep.equal({
      text: `it is unknown whether the kernel serves /dev/sdb to others: what ${place} names is not found on the node. Remove that export, or name its device there by a path in /dev`,
      heldBy: [],
      allowsMount: true,
    });
  });

  it("is who gets what another mount namespace has by the path of an export, which leaves a mount", () => {
    const elsewhere = { place, user: { pid: 7, command: "qemu" } };
    expect(possibleUsers("/dev/sdb", [], { elsewhere, unknown: place })).to.deep.equal({
      text: `the kernel may serve /dev/sdb to others: the mount namespace of qemu (7) has it by the path that ${place} names. Remove that export, or end that container or service`,
      heldBy: [7],
      allowsMount: true,
    });
  });

  it("is first a process whose open files cannot be seen, whose end is waited for", () => {
    const users = possibleUsers("/dev/sdb", [{ pid: 7, command: "guard" }], { unknown: place });
    expect(users?.text).to.match(/^it is unknown whether \/dev\/sdb is open: .*guard.*\(7\)/);
    expect([users?.heldBy, users?.allowsMount]).to.deep.equal([[7], true]);
  });
});
