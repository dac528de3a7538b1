/** The protocol between the engine and the front, which can read files (cli/engine/configuration-files.ts). */

/** The path of a kubeconfig follows, percent-encoded. The answer is a WebhookConnection. */
export const KUBECONFIG_PATH = '/kubeconfig/'
/** The status for a configuration that came from flags: it has no file and never changes. */
export const NO_FILE = 404
