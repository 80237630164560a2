// The role `child` for tests that run from source: what src/main.ts does with it.
import { runChild } from "../../../src/host/linux/child-main.ts";

void runChild().then((code) => process.exit(code));
