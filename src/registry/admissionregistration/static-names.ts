import { goQuote } from '../../go/quote.ts'
import type { KubeObject } from '../../api/object.ts'

/** The server reserves names with this suffix for configurations in files. */
const STATIC = '.static.k8s.io'

export const staticNameWarnings = ({ metadata: { name = '' } }: KubeObject): string[] =>
  name.endsWith(STATIC)
    ? [
        `metadata.name: names ending with ${goQuote(STATIC)} are reserved for static manifest-based configurations and cannot be managed via the API`,
      ]
    : []
