// Builds dist/why.html, "Why is it stuck?" as one file: node hack/why-page.ts. It is no part of the image.
import { readFileSync } from "node:fs";
import { buildWhyPage } from "./lib/why-page.ts";

const path = await buildWhyPage();
console.log(`${(readFileSync(path).length / 1024).toFixed(0).padStart(6)} KiB  ${path}`);
