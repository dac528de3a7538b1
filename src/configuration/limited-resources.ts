/** Configuration of ResourceQuota: what may be used only where a quota counts it. */
import * as z from 'zod/mini'
import { messageOf, path, required } from '../api/field.ts'
import { readVersioned } from './versioned.ts'

const configuration = z.strictObject({
  limitedResources: z._default(
    z.nullable(
      z.array(
        z.strictObject({
          apiGroup: z._default(z.string(), ''),
          resource: z._default(z.string(), ''),
          matchContains: z._default(z.array(z.string()), []),
          matchScopes: z._default(
            z.array(
              z.strictObject({
                scopeName: z.string(),
                operator: z._default(z.string(), ''),
                values: z._default(z.array(z.string()), []),
              }),
            ),
            [],
          ),
        }),
      ),
    ),
    [],
  ),
})

export type LimitedResource = NonNullable<z.infer<typeof configuration>['limitedResources']>[number]

const TYPES = [
  { group: 'apiserver.config.k8s.io', versions: ['v1'], kind: 'ResourceQuotaConfiguration' },
  { group: 'resourcequota.admission.k8s.io', versions: ['v1beta1', 'v1alpha1'], kind: 'Configuration' },
] as const

/** @throws Error */
export function readLimitedResources(raw: unknown): readonly LimitedResource[] {
  if (raw === undefined) return []
  const limited = readVersioned(configuration, raw, ...TYPES).limitedResources ?? []
  const errors = limited.flatMap(({ resource }, index) =>
    resource === '' ? [required(path('limitedResources').index(index).child('resource'))] : [],
  )
  if (errors.length > 0) throw new Error(messageOf(errors))
  return limited
}
