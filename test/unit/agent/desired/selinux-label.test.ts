import { expect } from "chai";
import { contextOption, fileLabel } from "../../../../src/agent/desired/selinux-label.ts";
import { isEnabled } from "../../../../src/host/linux/syscall/proc.ts";

describe("an SELinux label", () => {
  it("of files: user and level of the process, role and type of container files (behaviour 77)", () => {
    const all = { user: "staff_u", role: "unconfined_r", type: "spc_t", level: "s0:c123,c456" };
    expect(fileLabel(all)).to.equal("staff_u:object_r:container_file_t:s0:c123,c456");
    expect(fileLabel({ level: "s0" })).to.equal("system_u:object_r:container_file_t:s0");
  });

  it("is quoted as a mount option, because of the commas in it", () => {
    expect(contextOption("system_u:object_r:container_file_t:s0:c1,c2")).to.equal(
      'context="system_u:object_r:container_file_t:s0:c1,c2"',
    );
  });

  it("is for kernels that have SELinux on, and a policy", () => {
    const filesystems = "nodev\tsysfs\nnodev\tselinuxfs\n\text4\n";
    expect(isEnabled({ filesystems, label: "system_u:system_r:kubelet_t:s0\0" })).to.equal(true);
    expect(isEnabled({ filesystems, label: "kernel\0" })).to.equal(false);
    expect(isEnabled({ filesystems: "nodev\tsysfs\n\text4\n", label: "unconfined" })).to.equal(false);
    expect(isEnabled({ filesystems: "", label: "" })).to.equal(false);
  });
});
