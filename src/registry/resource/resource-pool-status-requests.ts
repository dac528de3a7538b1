/** kube-apiserver declares all rules of this kind in its type, except for those of conditions. */
import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type {
  PoolStatus,
  ResourcePoolStatusRequest,
  ResourcePoolStatusRequestSpec,
  ResourcePoolStatusRequestStatus,
} from '../../api/resource/v1alpha3.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, path, required, tooLong, tooMany } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { validateConditions } from '../../validation/conditions.ts'
import {
  longName,
  longNameCaseless,
  optionalFormat,
  poolNameFormat,
  requiredFormat,
} from '../../validation/declared-formats.ts'
import { byteLength } from '../../base/utf8.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { FIELD_IS_IMMUTABLE } from '../../validation/object-meta.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { sameValue } from '../../validation/same-value.ts'
import { writtenJson } from '../../validation/written-json.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { resourcePoolStatusRequestPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { unservedWork } from '../unserved-work.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const TYPE = 'io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequest'
const CONDITION_TYPE = 'io.k8s.apimachinery.pkg.apis.meta.v1.Condition'
const MAX_LIMIT = 1000
const MAX_POOLS = 1000
const MAX_CONDITIONS = 10
const MAX_ERROR_BYTES = 256

export const resourcePoolStatusRequests: BuiltInDefinition<ResourcePoolStatusRequest & KubeObject> = {
  withoutTable: ['status'],
  printer: resourcePoolStatusRequestPrinter,
  warningsOnCreate: unservedWork('resourcepoolstatusrequest-controller'),
  resetFields: { status: withoutSpecAndMetadata },
  allowUnconditionalUpdate: false,
  validate: ({ spec = {} }) => specErrors(spec, path('spec')),
  validateUpdate: ({ spec }, { spec: old }) =>
    sameValue(`${TYPE}Spec`, spec, old) ? [] : [invalidValue(path('spec'), null, FIELD_IS_IMMUTABLE)],
  subresources: {
    status: {
      prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata),
      validateUpdate: ({ status }, { status: old }) => statusErrors(status, old, path('status')),
    },
  },
}

const specErrors = ({ driver, poolName, limit }: ResourcePoolStatusRequestSpec, at: FieldPath): FieldError[] => [
  ...requiredFormat(at.child('driver'), driver, longNameCaseless),
  ...(poolName === undefined ? [] : poolNameFormat(at.child('poolName'), poolName)),
  ...atLeast(at.child('limit'), limit, 1),
  ...(limit !== undefined && limit > MAX_LIMIT
    ? [invalidValue(at.child('limit'), limit, `must be less than or equal to ${MAX_LIMIT}`)]
    : []),
]

const atLeast = (at: FieldPath, value: number | bigint | undefined, least: number): FieldError[] =>
  value === undefined || value >= least ? [] : [invalidValue(at, value, `must be greater than or equal to ${least}`)]

type Status = ResourcePoolStatusRequestStatus | undefined

/** A request is answered once: its status is immutable after that. */
function statusErrors(status: Status, old: Status, at: FieldPath): FieldError[] {
  if (old !== undefined) {
    if (status !== undefined && sameValue(`${TYPE}Status`, status, old)) return []
    return [invalidValue(at, status === undefined ? null : internalJson(`${TYPE}Status`, status), FIELD_IS_IMMUTABLE)]
  }
  if (status === undefined) return []
  // storage keeps absent pools as null
  const { poolCount, pools, conditions } = status
  const poolsAt = at.child('pools')
  return [
    ...validateConditions(at.child('conditions'), conditions ?? []),
    ...(poolCount === undefined ? [required(at.child('poolCount'))] : atLeast(at.child('poolCount'), poolCount, 0)),
    ...((pools ?? []).length > MAX_POOLS
      ? [tooMany(poolsAt, pools!.length, MAX_POOLS)]
      : errorsOf(pools ?? [], (pool, index) => poolErrors(pool, poolsAt.index(index)))),
    ...conditionListErrors(conditions ?? [], at.child('conditions')),
  ]
}

function poolErrors(pool: PoolStatus, at: FieldPath): FieldError[] {
  const { driver, poolName, generation, resourceSliceCount, nodeName, validationError } = pool
  const counts = ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'] as const
  return [
    ...requiredFormat(at.child('driver'), driver, longNameCaseless),
    ...(poolName ? poolNameFormat(at.child('poolName'), poolName) : [required(at.child('poolName'))]),
    ...(generation ? atLeast(at.child('generation'), generation, 0) : [required(at.child('generation'))]),
    ...atLeast(at.child('resourceSliceCount'), resourceSliceCount, 1),
    ...counts.flatMap((field) => atLeast(at.child(field), pool[field], 0)),
    ...optionalFormat(at.child('nodeName'), nodeName, longName),
    ...(validationError !== undefined && byteLength(validationError) > MAX_ERROR_BYTES
      ? [tooLong(at.child('validationError'), MAX_ERROR_BYTES)]
      : []),
  ]
}

type Conditions = NonNullable<ResourcePoolStatusRequestStatus['conditions']>

/** The rules of this list, besides those of every condition. */
function conditionListErrors(conditions: Conditions, at: FieldPath): FieldError[] {
  if (conditions.length > MAX_CONDITIONS) return [tooMany(at, conditions.length, MAX_CONDITIONS)]
  const repeats = repeatsIn(conditions.map(({ type = '' }) => type))
  return errorsOf(conditions, (condition, index) =>
    repeats.has(index) ? [duplicate(at.index(index), writtenJson(CONDITION_TYPE, condition))] : [],
  )
}
