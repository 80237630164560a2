// What Argo CD makes of objects, by its engine and its Lua (hack/tools/gitops).
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { locateTool } from "../../../hack/lib/tools/locate.ts";

const run = promisify(execFile);

/** As hack/tools/gitops/main.go has it. */
interface Request {
  readonly kubeconfig?: string;
  readonly healthLua?: { readonly [groupAndKind: string]: string };
  readonly resources: readonly object[];
  readonly live?: readonly object[];
  readonly serverSideApply?: boolean;
  readonly application?: string;
}

interface Health {
  readonly status: string;
  readonly message?: string;
}

/** What the two think of an object. */
export interface Opinions {
  /** Of Argo CD; null: none. */
  readonly health: Health | null;
  /** Of kstatus, the library by which Flux waits. */
  readonly kstatus: string;
}

export interface Difference {
  readonly modified: boolean;
  readonly live: object;
  readonly predicted: object;
}

/** What a sync did with an object. */
export interface Synced {
  readonly kind: string;
  readonly name: string;
  readonly status: "Synced" | "SyncFailed" | "Pruned" | "PruneSkipped";
  readonly message: string;
}

export class Argo {
  readonly #program: string;

  private constructor(program: string) {
    this.#program = program;
  }

  /** Builds the program, if the cache has none: minutes. */
  static async locate(): Promise<Argo> {
    return new Argo(await locateTool("gitops", { env: process.env, report: (line) => console.log(`  ${line}`) }));
  }

  /** By Kustomization of Flux: which field its type does not have; empty: none. */
  decode(resources: readonly object[]): Promise<string[]> {
    return this.#ask("decode", { resources });
  }

  health(request: Pick<Request, "healthLua" | "resources">): Promise<Opinions[]> {
    return this.#ask("health", request);
  }

  /** By resource: whether Argo CD would call it OutOfSync. */
  diff(request: Request & Required<Pick<Request, "kubeconfig" | "live">>): Promise<Difference[]> {
    return this.#ask("diff", request);
  }

  /** An automated sync with pruning. It does not wait until what it prunes is gone. */
  sync(request: Request & Required<Pick<Request, "kubeconfig" | "application">>): Promise<Synced[]> {
    return this.#ask("sync", request);
  }

  async #ask<Answer>(what: string, request: Request): Promise<Answer> {
    const asking = run(this.#program, [what], { maxBuffer: 2 ** 28 });
    asking.child.stdin?.end(JSON.stringify(request));
    return JSON.parse((await asking).stdout) as Answer;
  }
}
