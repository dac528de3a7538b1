/** Fields about the program kube-scheduler and what it calls: a scheduler that is built in has no use for them. */
import * as z from 'zod/mini'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import { list, optional, orElse } from './optional.ts'

const extender = z.strictObject({
  urlPrefix: optional(z.string()),
  filterVerb: optional(z.string()),
  preemptVerb: optional(z.string()),
  prioritizeVerb: orElse(z.string(), ''),
  weight: orElse(z.int(), 0),
  bindVerb: orElse(z.string(), ''),
  enableHTTPS: optional(z.boolean()),
  tlsConfig: optional(z.looseObject({})),
  httpTimeout: optional(z.string()),
  nodeCacheCapable: optional(z.boolean()),
  managedResources: list(z.looseObject({})),
  ignorable: optional(z.boolean()),
})

const leaderElection = z.strictObject({
  leaderElect: orElse(z.boolean(), true),
  leaseDuration: optional(z.string()),
  renewDeadline: optional(z.string()),
  retryPeriod: optional(z.string()),
  resourceLock: optional(z.string()),
  resourceName: optional(z.string()),
  resourceNamespace: optional(z.string()),
})

const clientConnection = z.strictObject({
  kubeconfig: optional(z.string()),
  acceptContentTypes: optional(z.string()),
  contentType: optional(z.string()),
  qps: optional(z.number()),
  burst: optional(z.int32()),
})

export const externals = {
  parallelism: orElse(z.int32(), 16),
  leaderElection: optional(leaderElection),
  clientConnection: optional(clientConnection),
  enableProfiling: orElse(z.boolean(), false),
  enableContentionProfiling: orElse(z.boolean(), false),
  extenders: list(extender),
  delayCacheUntilActive: orElse(z.boolean(), false),
} as const

const schema = z.object(externals)
type Externals = z.infer<typeof schema>

export const parallelismErrors = ({ parallelism }: Externals): FieldError[] =>
  parallelism > 0
    ? []
    : [invalidValue(path('parallelism'), parallelism, 'should be an integer value greater than zero')]

export const extenderErrors = ({ extenders }: Externals): FieldError[] =>
  extenders.flatMap(({ prioritizeVerb, weight }, index) => {
    const at = path('extenders').index(index).child('weight')
    return prioritizeVerb !== '' && weight <= 0
      ? [invalidValue(at, weight, 'must have a positive weight applied to it')]
      : []
  })

/** @throws Error for what cannot be honoured */
export function checkExternals(given: Externals): void {
  const isConnected = Object.values(given.clientConnection ?? {}).some((value) => value !== undefined)
  const problems = [
    ...(given.extenders.length > 0 ? ['extenders: they are not built in'] : []),
    ...(isConnected ? ['clientConnection: the scheduler is part of the server and connects to none'] : []),
    ...(given.leaderElection?.leaderElect === true
      ? ['leaderElection: the scheduler holds no Lease, only leaderElect: false can be said']
      : []),
    ...(['enableProfiling', 'enableContentionProfiling', 'delayCacheUntilActive'] as const).flatMap((field) =>
      given[field] ? [`${field}: not built in`] : [],
    ),
  ]
  if (problems.length > 0) throw new Error(problems.join('; '))
}
