import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect } from "chai";
import { commandNodesOf, controllersOf, genericNodesOf } from "../../../../../src/host/linux/evidence/generic-nodes.ts";

const scsi = "devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0";
const controller = "devices/pci0000:00/nvme/nvme0";
const subsystem = "devices/virtual/nvme-subsystem/nvme-subsys1";

/** A tree that is made, not sysfs: places as Linux 6.1 has them. */
const tree: { readonly [file: string]: string } = {
  [`${scsi}/scsi_generic/sg0/dev`]: "21:0",
  [`${scsi}/bsg/0:0:0:0/dev`]: "247:3",
  [`${scsi}/block/sda/dev`]: "8:0",
  [`${scsi}/block/sda/sda1/partition`]: "1",
  [`${controller}/dev`]: "245:0", // of its controller, by which others are reached, too
  [`${controller}/nvme0n1/dev`]: "259:0",
  [`${controller}/ng0n1/dev`]: "244:0",
  [`${controller}/ng0n2/dev`]: "244:1",
  [`${subsystem}/nvme1n1/dev`]: "259:5",
  [`${subsystem}/ng1n1/dev`]: "244:7",
  "devices/pci0000:01/nvme/nvme3/dev": "245:3",
  "devices/virtual/nvme-fabrics/ctl/nvme4/dev": "245:4",
  "devices/virtual/block/loop1/dev": "7:1",
};

describe("nodes by which a program sends commands to a disk", () => {
  let sys: string;

  before(() => {
    sys = realpathSync(mkdtempSync(`${tmpdir()}/nvo-generic-`));
    mkdirSync(`${sys}/dev/block`, { recursive: true });
    for (const [file, text] of Object.entries(tree)) {
      mkdirSync(dirname(`${sys}/${file}`), { recursive: true });
      writeFileSync(`${sys}/${file}`, `${text}\n`);
    }
    symlinkSync(`${sys}/${scsi}`, `${sys}/${scsi}/block/sda/device`);
    symlinkSync(`${sys}/devices/pci0000:01/nvme/nvme3`, `${sys}/${subsystem}/nvme3`);
    symlinkSync(`${sys}/devices/virtual/nvme-fabrics/ctl/nvme4`, `${sys}/${subsystem}/nvme4`);
  });
  after(() => rmSync(sys, { recursive: true }));

  for (const [what, place, nodes, controllers] of [
    ["of a SCSI disk", `${scsi}/block/sda`, ["21:0", "247:3"], []],
    ["of a partition: none", `${scsi}/block/sda/sda1`, [], []],
    ["of an NVMe namespace", `${controller}/nvme0n1`, ["244:0"], ["245:0"]],
    ["of an NVMe namespace with several paths", `${subsystem}/nvme1n1`, ["244:7"], ["245:3", "245:4"]],
    ["of a loop device: none", "devices/virtual/block/loop1", [], []],
  ] as const) {
    it(`${what}, and its controllers`, () => {
      symlinkSync(`${sys}/${place}`, `${sys}/dev/block/8:0`);
      try {
        expect(genericNodesOf(sys, "8:0")).to.deep.equal(nodes);
        expect([...controllersOf(sys, "8:0")].sort()).to.deep.equal(controllers);
        expect([...commandNodesOf(sys, "8:0")].sort()).to.deep.equal([...nodes, ...controllers].sort());
      } finally {
        rmSync(`${sys}/dev/block/8:0`);
      }
    });
  }

  it("of a disk that has gone: none", () => {
    expect(genericNodesOf(sys, "8:16")).to.deep.equal([]);
    expect(controllersOf(sys, "8:16")).to.deep.equal([]);
  });
});
