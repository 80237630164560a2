// Where the values go that are not switches of components.
import { Block, Each, isList, isMap, Scalar, type Tree, type TreeMap, When } from "./tree.ts";

type Step = string | number;

/**
 * PURE. The tree with another node at a place. A step into a list is the name of its item.
 * @throws Error if there is no such place
 */
function put(tree: Tree | undefined, [step, ...rest]: readonly Step[], node: (was: Tree | undefined) => Tree): Tree {
  if (step === undefined) return node(tree);
  if (tree !== undefined && isList(tree)) {
    const at = tree.findIndex((item) => isMap(item) && item["name"] === step);
    if (at === -1) throw new Error(`no item of a list is called ${step}`);
    return tree.with(at, put(tree[at], rest, node));
  }
  if (tree === undefined || !isMap(tree)) throw new Error(`there is no ${step}`);
  return { ...tree, [step]: put(tree[step], rest, node) };
}

const pod = ["spec", "template", "spec"] as const;

interface Place {
  readonly at: readonly Step[];
  readonly node: (was: Tree | undefined) => Tree;
}

const values = (at: readonly Step[], value: string): Place => ({
  at,
  node: () => new Block(`toYaml .Values.${value}`),
});
const pipeline = (at: readonly Step[], made: string): Place => ({ at, node: () => new Scalar(made) });

/** @param role whose image the container has */
const imageOf = (container: readonly Step[], role: string) =>
  pipeline([...container, "image"], `include "nodevolume.image" .Values.${role}.image | quote`);

function ofContainer(name: string): Place[] {
  const container = [...pod, "containers", name];
  const settings: Place = {
    at: [...container, "envFrom"],
    node: (was) => {
      const [first] = was !== undefined && isList(was) ? was : [];
      const named = put(first, ["configMapRef", "name"], () => new Scalar('include "nodevolume.settingsName" .'));
      return [named];
    },
  };
  return [
    imageOf(container, name),
    settings,
    values([...container, "resources"], `${name}.resources`),
    values([...pod, "tolerations"], `${name}.tolerations`),
    {
      at: [...pod, "imagePullSecrets"],
      node: () => new When(".Values.imagePullSecrets", new Block("toYaml .Values.imagePullSecrets")),
    },
  ];
}

/** What stands before the agent. */
function ofApiProxy(): Place[] {
  const container = [...pod, "initContainers", "api-proxy"];
  const level = [...container, "env", "NODEVOLUME_LOG_LEVEL", "valueFrom", "configMapKeyRef", "name"];
  return [imageOf(container, "controller"), pipeline(level, 'include "nodevolume.settingsName" .')];
}

/** Paths of kubelet's. */
function ofKubelet(): Place[] {
  const container = [...pod, "containers", "agent"];
  const beneath = (name: string, path: string): Place[] => {
    const made = `printf "%s/${path}" .Values.kubeletDir | quote`;
    return [
      pipeline([...container, "volumeMounts", name, "mountPath"], made),
      pipeline([...pod, "volumes", name, "hostPath", "path"], made),
    ];
  };
  return [
    ...beneath("csi", "plugins/nodevolume.dev"),
    ...beneath("csi-registration", "plugins_registry"),
    ...beneath("pods", "pods"),
  ];
}

/** One volume for each prefix that needs it, as config/components/prefix-mnt has it. */
function ofPrefixes(): Place[] {
  const list = 'include "nodevolume.prefixes" . | fromJsonArray';
  const behind = (at: readonly Step[], lines: readonly string[]): Place => ({
    at,
    node: (was) => [...(was as readonly Tree[]), new Each(list, lines)],
  });
  return [
    behind(
      [...pod, "containers", "agent", "volumeMounts"],
      ["mountPath: {{ $item | quote }}", "mountPropagation: Bidirectional", "name: prefix-{{ $i }}"],
    ),
    behind(
      [...pod, "volumes"],
      ["hostPath:", "  path: {{ $item | quote }}", "  type: DirectoryOrCreate", "name: prefix-{{ $i }}"],
    ),
  ];
}

/** By kind and name of the object. The prefixes come last, as then an item of the list has no name any more. */
const places: { readonly [object: string]: readonly Place[] } = {
  "ConfigMap nodevolume-settings": [
    pipeline(["metadata", "name"], 'include "nodevolume.settingsName" .'),
    { at: ["data"], node: () => new Block('include "nodevolume.settings" . | fromJson | toYaml') },
  ],
  "Deployment nodevolume-controller": [
    ...ofContainer("controller"),
    pipeline(["spec", "replicas"], ".Values.controller.replicas"),
  ],
  "DaemonSet nodevolume-agent": [
    ...ofContainer("agent"),
    ...ofApiProxy(),
    pipeline(["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"], ".Values.agent.maxUnavailable"),
    ...ofKubelet(),
    ...ofPrefixes(),
  ],
  "CSIDriver csi.nodevolume.dev": [
    {
      at: ["spec", "tokenRequests"],
      node: () => new When(".Values.tokenRequests", new Block("toYaml .Values.tokenRequests")),
    },
  ],
};

/** PURE. An object with values in place of what the manifests have there. @param title its kind and name */
export function withValues(title: string, tree: TreeMap): TreeMap {
  return (places[title] ?? []).reduce<TreeMap>((now, { at, node }) => put(now, at, node) as TreeMap, tree);
}
