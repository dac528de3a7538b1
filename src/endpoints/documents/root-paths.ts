/** `/` and `/index.html`: the list of all paths. */
import { append } from '../../base/append.ts'
import type { FeatureGates } from '../../api/feature-gates.ts'
import type { ServedResources } from '../../registry/served/resources.ts'
import { healthChecks } from '../health/health.ts'

/** A pair names the feature gate that the path needs. */
const fixed: readonly (string | readonly [path: string, gate: string])[] = [
  '/.well-known/openid-configuration',
  '/api',
  '/apis',
  '/apis/',
  ['/flagz', 'ComponentFlagz'],
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  ['/statusz', 'ComponentStatusz'],
  '/version',
]

/** Sorted. */
export function rootPaths(served: ServedResources, gates: FeatureGates): string[] {
  const paths = fixed.flatMap((one) => {
    const [path, gate] = typeof one === 'string' ? [one, undefined] : one
    return gate === undefined || gates.enabled(gate) ? [path] : []
  })
  for (const { group, versions } of served.groups) {
    if (group !== '') paths.push(`/apis/${group}`)
    for (const { version } of versions) paths.push(group === '' ? `/api/${version}` : `/apis/${group}/${version}`)
  }
  for (const [endpoint, checks] of Object.entries(healthChecks(gates)))
    append(paths, [`/${endpoint}`, ...checks.map((check) => `/${endpoint}/${check}`)])
  return paths.sort()
}
