import { until } from "../until.ts";
import type { DevTools } from "./devtools.ts";

/** What the accessibility tree says of one thing on the page. */
interface Accessible {
  readonly role: string;
  readonly name: string;
  /** "live=polite", "pressed=false", … */
  readonly properties: { readonly [name: string]: unknown };
}

/** One page in the browser. */
export interface Tab {
  /** Loads the page, and resolves when it has been. */
  start(url: string): Promise<void>;
  call(method: string, params?: object): Promise<{ readonly [key: string]: unknown }>;
  /** The value of an expression in the page; of a promise what it resolves to. */
  value<T>(expression: string): Promise<T>;
  /** Waits until an expression in the page is true; rejects after some seconds, with what the page shows. */
  until(expression: string, seconds?: number): Promise<void>;
  /** As if it was pressed: "Enter", "ArrowDown", "/", … */
  press(key: string): Promise<void>;
  type(text: string): Promise<void>;
  /** On the middle of the first element that a selector finds. */
  click(selector: string): Promise<void>;
  accessible(): Promise<readonly Accessible[]>;
  /** A PNG of what is seen. */
  picture(): Promise<Buffer>;
  /** What the page has complained of since it was opened: errors of scripts, and what its policy has blocked. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

const codes: { readonly [key: string]: { code: string; windowsVirtualKeyCode: number; text?: string } } = {
  Enter: { code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  Escape: { code: "Escape", windowsVirtualKeyCode: 27 },
  Tab: { code: "Tab", windowsVirtualKeyCode: 9 },
  ArrowDown: { code: "ArrowDown", windowsVirtualKeyCode: 40 },
  ArrowUp: { code: "ArrowUp", windowsVirtualKeyCode: 38 },
  Home: { code: "Home", windowsVirtualKeyCode: 36 },
  End: { code: "End", windowsVirtualKeyCode: 35 },
  PageDown: { code: "PageDown", windowsVirtualKeyCode: 34 },
  "/": { code: "Slash", windowsVirtualKeyCode: 191, text: "/" },
};

export function createTab(tools: DevTools, sessionId: string): Tab {
  const complaints: string[] = [];
  const call = (method: string, params?: object) => tools.call(method, params, sessionId);
  tools.onEvent((method, params, from) => {
    if (from !== sessionId) return;
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(params["exceptionDetails"]));
    if (method === "Log.entryAdded") complaints.push(String((params["entry"] as { text: string; url?: string }).text));
  });

  async function value<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await call("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  }

  return {
    call,
    value,
    complaints,
    async start(url) {
      for (const domain of ["Page", "Runtime", "Log", "Accessibility"]) await call(`${domain}.enable`);
      await call("Page.navigate", { url });
      const loaded = "document.readyState === 'complete' && location.href !== 'about:blank'";
      await until("the page to load", 20_000, () => value<boolean>(loaded));
    },
    async until(expression, seconds = 10) {
      await until(expression, seconds * 1_000, () => value<boolean>(`Boolean(${expression})`)).catch(
        async (error: Error) => {
          const text = await value<string>("document.body.innerText.slice(0, 1500)");
          throw new Error(`${error.message}\n${complaints.join("\n")}\n${text}`);
        },
      );
    },
    async press(key) {
      const code = codes[key] ?? { code: key, windowsVirtualKeyCode: 0 };
      await call("Input.dispatchKeyEvent", { type: "keyDown", key, ...code });
      await call("Input.dispatchKeyEvent", { type: "keyUp", key, ...code, text: undefined });
    },
    async type(text) {
      await call("Input.insertText", { text });
    },
    async click(selector) {
      const { x, y } = await value<{ x: number; y: number }>(`(() => {
        const found = document.querySelector(${JSON.stringify(selector)});
        found.scrollIntoView({ block: "nearest" });
        const { left, top, width, height } = found.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      })()`);
      for (const type of ["mousePressed", "mouseReleased"])
        await call("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    },
    async accessible() {
      const { nodes } = (await call("Accessibility.getFullAXTree")) as unknown as { nodes: readonly AXNode[] };
      return nodes
        .filter(({ ignored }) => !ignored)
        .map(({ role, name, properties = [] }) => ({
          role: role?.value ?? "",
          name: (name?.value ?? "").replace(/\s+/g, " ").trim(),
          properties: Object.fromEntries(properties.map(({ name: key, value: { value: is } }) => [key, is])),
        }));
    },
    async picture() {
      const { data } = await call("Page.captureScreenshot", { format: "png" });
      return Buffer.from(String(data), "base64");
    },
    async close() {
      await call("Page.close");
    },
  };
}

interface AXNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value: unknown } }[];
}
