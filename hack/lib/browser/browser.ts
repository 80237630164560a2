import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Chromium } from "../tools/chromium.ts";
import { devTools } from "./devtools.ts";
import { createTab, type Tab } from "./tab.ts";

/** A Chromium without a window, in a profile of its own that goes with it. */
export interface Browser {
  open(url: string, view?: View): Promise<Tab>;
  close(): Promise<void>;
}

export interface View {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
}

const flags = [
  ...["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--mute-audio"],
  // It is shown nothing but our own page; and its sandbox is not for root.
  ...[
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
  ],
  ...[
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--no-proxy-server",
  ],
  "--force-color-profile=srgb",
];

export async function startBrowser({ program, env }: Chromium): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "nodevolume-chromium-"));
  const child = spawn(program, [...flags, `--user-data-dir=${profile}`, "about:blank"], {
    env: { ...process.env, ...env, HOME: profile },
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    detached: true, // a group of its own: it has children
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const tools = devTools(child.stdio[3] as Writable, child.stdio[4] as Readable);
  await tools.call("Browser.getVersion");
  return {
    async open(url, { width = 1280, height = 860, dark = false } = {}) {
      const { targetId } = await tools.call("Target.createTarget", { url: "about:blank" });
      const { sessionId } = await tools.call("Target.attachToTarget", { targetId, flatten: true });
      const tab = createTab(tools, String(sessionId));
      await tab.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
      const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }];
      await tab.call("Emulation.setEmulatedMedia", { features });
      await tab.start(url);
      return tab;
    },
    async close() {
      await tools.call("Browser.close").catch(() => undefined); // it may end before it has answered
      await gone;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
