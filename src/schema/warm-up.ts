import { builtInType } from './built-in.ts'
import type { Structural } from './structural.ts'

/** Types that objects of every kind contain, and types of answers. */
const EVERYWHERE = ['ObjectMeta', 'ListMeta', 'Status', 'DeleteOptions']

/**
 * Expands the types that every request needs, so that V8 has compiled the code that expands types before the first
 * request comes. That is half of what the first Pod's types cost. Cloudflare evaluates the modules of a new isolate
 * during the TLS handshake, when no request waits yet.
 */
export function warmUp(): void {
  for (const kind of EVERYWHERE) expand(builtInType(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`))
}

function expand(type: Structural): void {
  if (type.shape === 'list') expand(type.element)
  else if (type.shape === 'map') expand(type.value)
  else if (type.shape === 'struct') for (const field of type.fields) expand(type.field(field.name)!.type)
}
