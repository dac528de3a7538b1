import { goQuote } from '../../go/quote.ts'
import type { KubeObject } from '../../api/object.ts'

/** Such names belong to configurations in files of the server. */
const STATIC = '.static.k8s.io'

export const staticNameWarnings = ({ metadata: { name = '' } }: KubeObject): string[] =>
  name.endsWith(STATIC)
    ? [
        `metadata.name: names ending with ${goQuote(STATIC)} are reserved for static manifest-based configurations and cannot be managed via the API`,
      ]
    : []
