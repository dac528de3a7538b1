/** Names of objects that a plug-in of kube-apiserver asks for by itself. Its client refuses those that fit no path. */
import { goQuote } from '../../go/quote.ts'
import { pathSegmentName } from '../../validation/names.ts'

/** The error of client-go about a name that it asks nobody for. */
export function problemOfLookedUpName(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty'
  const problems = pathSegmentName(name, false)
  return problems.length === 0 ? undefined : `invalid resource name ${goQuote(name)}: [${problems.join(' ')}]`
}
