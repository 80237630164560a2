import type { RealNode } from "./real-node.ts";

export type NodeOptions = NonNullable<ConstructorParameters<typeof RealNode>[0]>;
