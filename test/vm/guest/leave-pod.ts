import { execFileSync } from "node:child_process";

// As systemd mounts it: nobody is moved out of a cgroup namespace from within.
before(() => {
  execFileSync("mount", ["-o", "remount,nsdelegate", "/sys/fs/cgroup"]);
});

await import("../../real/leave-pod.test.ts");
