import { nextInt64 } from '../../go/int.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, notSupported, path, required } from '../../api/field.ts'
import type { CSIDriver, CSIDriverSpec, TokenRequest } from '../../api/storage/v1.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { immutable } from '../../validation/field-rules.ts'
import { sameValue } from '../../validation/same-value.ts'
import { csiDriverPrinter } from '../../codec/table/storage.ts'
import type { DefaultingContext } from '../../schema/default-rules.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { attachableRules } from '../core/volumes/volume-work.ts'
import type { StrategyContext } from '../strategy.ts'
import { schedulesHere } from '../unserved-work.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const spec = path('spec')
const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Persistent', 'Ephemeral']
const MIN_PERIOD = 10
const MIN_EXPIRATION = 600
const MAX_EXPIRATION = 2 ** 32
const TOKENS_IN_SECRETS =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'

const NOT_HEEDED = 'has no effect, as the scheduler of this server does not ask whether a node has the driver'

const SPEC_TYPE = 'io.k8s.api.storage.v1.CSIDriverSpec'

export const csiDrivers: BuiltInDefinition<CSIDriver> = {
  defaults: { v1: defaultRule<CSIDriver>(applyDefaults) },
  workloadWork: attachableRules,
  printer: csiDriverPrinter,
  allowUnconditionalUpdate: false,
  /** The generation starts at 0, and the first change makes it 1. */
  prepareForUpdate(driver, old) {
    if (!sameValue(SPEC_TYPE, driver.spec ?? {}, old.spec ?? {}))
      driver.metadata.generation = nextInt64(old.metadata.generation ?? 0)
  },
  validate: (driver, context) => specErrors(driver.spec ?? {}, context),
  validateUpdate: ({ spec: now = {} }, { spec: old = {} }, context) => [
    ...specErrors(now, context),
    ...immutable(spec.child('attachedRequired'), now.attachRequired, now.attachRequired === old.attachRequired),
    ...immutable(
      spec.child('volumeLifecycleModes'),
      now.volumeLifecycleModes,
      JSON.stringify(now.volumeLifecycleModes ?? []) === JSON.stringify(old.volumeLifecycleModes ?? []),
    ),
  ],
  warningsOnCreate: ({ spec: now = {} }, context) => [...tokenWarnings(now), ...unheeded(now, context)],
  warningsOnUpdate: ({ spec: now = {} }, { spec: old = {} }, context) => [
    ...(sameValue(SPEC_TYPE, { tokenRequests: now.tokenRequests }, { tokenRequests: old.tokenRequests })
      ? []
      : tokenWarnings(now)),
    ...(now.preventPodSchedulingIfMissing === old.preventPodSchedulingIfMissing ? [] : unheeded(now, context)),
  ],
}

function applyDefaults({ spec }: CSIDriver, { enabled }: DefaultingContext): void {
  if (enabled('VolumeLimitScaling')) spec!.preventPodSchedulingIfMissing ??= false
}

/** Where the scheduler of this server runs, tells of what it does not heed. */
const unheeded = ({ preventPodSchedulingIfMissing }: CSIDriverSpec, context: StrategyContext): string[] =>
  preventPodSchedulingIfMissing === true && schedulesHere(context)
    ? [`${spec.child('preventPodSchedulingIfMissing').toString()}: ${NOT_HEEDED}`]
    : []

const tokenWarnings = ({ tokenRequests = [], serviceAccountTokenInSecrets }: CSIDriverSpec): string[] =>
  tokenRequests.length > 0 && serviceAccountTokenInSecrets === undefined ? [TOKENS_IN_SECRETS] : []

function specErrors(now: CSIDriverSpec, { enabled }: StrategyContext): FieldError[] {
  const { fsGroupPolicy, tokenRequests = [], volumeLifecycleModes = [], serviceAccountTokenInSecrets: inSecrets } = now
  const period = now.nodeAllocatableUpdatePeriodSeconds
  const needed = (field: string, value: boolean | undefined) =>
    value === undefined ? [required(spec.child(field))] : []
  const inSecretsAt = spec.child('serviceAccountTokenInSecrets')
  return [
    ...needed('attachedRequired', now.attachRequired),
    ...needed('podInfoOnMount', now.podInfoOnMount),
    ...needed('storageCapacity', now.storageCapacity),
    ...(fsGroupPolicy !== undefined && !groupPolicies.includes(fsGroupPolicy)
      ? [notSupported(spec.child('fsGroupPolicy'), fsGroupPolicy, groupPolicies)]
      : []),
    ...tokenErrors(spec.child('tokenRequests'), tokenRequests),
    ...errorsOf(volumeLifecycleModes, (mode) =>
      lifecycleModes.includes(mode) ? [] : [notSupported(spec.child('volumeLifecycleModes'), mode, lifecycleModes)],
    ),
    ...(enabled('SELinuxMountReadWriteOncePod') ? needed('seLinuxMount', now.seLinuxMount) : []),
    ...(period !== undefined && period < MIN_PERIOD
      ? [
          invalidValue(
            spec.child('nodeAllocatableUpdatePeriodSeconds'),
            period,
            'must be greater than or equal to 10 seconds',
          ),
        ]
      : []),
    ...(inSecrets !== undefined && tokenRequests.length === 0
      ? [invalidValue(inSecretsAt, inSecrets, 'serviceAccountTokenInSecrets is set but no tokenRequests are specified')]
      : []),
    ...(enabled('VolumeLimitScaling')
      ? needed('preventPodSchedulingIfMissing', now.preventPodSchedulingIfMissing)
      : []),
  ]
}

function tokenErrors(at: FieldPath, requests: readonly TokenRequest[]): FieldError[] {
  const repeats = repeatsIn(requests.map(({ audience = '' }) => audience))
  return errorsOf(requests, ({ audience = '', expirationSeconds: seconds }, index) => {
    const here = at.index(index)
    if (repeats.has(index)) return [duplicate(here.child('audience'), audience)]
    const secondsAt = here.child('expirationSeconds')
    if (seconds === undefined) return []
    if (seconds < MIN_EXPIRATION)
      return [invalidValue(secondsAt, seconds, 'may not specify a duration less than 10 minutes')]
    return seconds > MAX_EXPIRATION
      ? [invalidValue(secondsAt, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []
  })
}
