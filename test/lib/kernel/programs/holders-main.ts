// Who holds a file system, as JSON, as far as this process may see it: node test/lib/kernel/programs/holders-main.ts
// IDENTITY
import { LinuxEvidence } from "../../../../src/host/linux/evidence/linux-evidence.ts";
import type { MountIdentity } from "../../../../src/host/mount-table/mount-table.ts";

const identity = JSON.parse(process.argv[2] ?? "") as MountIdentity;
process.stdout.write(JSON.stringify(await new LinuxEvidence("self").holders(identity)));
