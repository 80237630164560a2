/** Arguments of Node that the image has (Dockerfile): what the agent takes of memory depends on them. */
export const nodeArguments = ["--max-semi-space-size=4"] as const;
