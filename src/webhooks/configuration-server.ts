/**
 * The protocol between the engine and the process in front of it, which has a file system (cli/configuration-files.ts).
 */

/** Behind it: the path of a kubeconfig, escaped. The answer is a WebhookConnection. */
export const KUBECONFIG_PATH = '/kubeconfig/'
/** The status that says that flags were the configuration, which do not change. */
export const NO_FILE = 404
