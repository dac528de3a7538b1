import { builtInType } from './built-in.ts'
import type { Structural } from './structural.ts'

/** Types that objects of every kind have a part in, or that answers may be. */
const EVERYWHERE = ['ObjectMeta', 'ListMeta', 'Status', 'DeleteOptions']

/**
 * Reads the types that are needed whatever is asked for, so that the engine has compiled what expands types before the
 * first request: half of what the first Pod's types cost. At the edge an isolate evaluates its modules while the
 * connection is still being secured, when no request waits for it.
 */
export function warmUp(): void {
  for (const kind of EVERYWHERE) expand(builtInType(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`))
}

function expand(type: Structural): void {
  if (type.shape === 'list') expand(type.element)
  else if (type.shape === 'map') expand(type.value)
  else if (type.shape === 'struct') for (const field of type.fields) expand(type.field(field.name)!.type)
}
