/** The requests of a claim, each with its alternatives and their classes. */
import type { KubeObject } from '../../../api/object.ts'
import type {
  DeviceClass,
  DeviceRequest,
  DeviceTaint,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaim,
} from '../../../api/resource/v1.ts'
import type { Constraint } from './constraints.ts'
import { constraintOf } from './constraints.ts'
import { AllocationFailed } from './selectors.ts'

export type Claim = ResourceClaim & KubeObject
export type FindClass = (name: string) => DeviceClass | undefined

/** One way to satisfy a request: the request itself, or one of its firstAvailable alternatives. */
export interface Option {
  /** `REQUEST`, or `REQUEST/SUBREQUEST`. */
  readonly name: string
  /** The last part of `name`: messages about searches have it alone. */
  readonly ownName: string
  readonly wanted: ExactDeviceRequest
  readonly deviceClass: DeviceClass
  readonly isAll: boolean
  /** The number of devices, if the request is not for all. */
  readonly count: number
  readonly isAdmin: boolean
}

export interface Request {
  readonly name: string
  readonly isList: boolean
  readonly options: readonly Option[]
}

export interface Wish {
  readonly claim: Claim
  readonly requests: readonly Request[]
}

export const claimText = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

/** The alternatives with the request names that allocation results have. */
function alternatives({ name = '', exactly, firstAvailable = [] }: DeviceRequest): [string, ExactDeviceRequest][] {
  if (exactly !== undefined) return [[name, exactly]]
  return firstAvailable.map((sub) => [`${name}/${sub.name}`, sub])
}

/** Why a search for devices cannot succeed. */
export function claimProblem(claim: Claim, find: FindClass): string | undefined {
  for (const request of claim.spec?.devices?.requests ?? []) {
    const all = alternatives(request)
    if (all.length === 0) return `resource claim ${claimText(claim)}, request ${request.name}: unknown request type`
    for (const [name, { deviceClassName = '' }] of all)
      if (find(deviceClassName) === undefined) return `request ${name}: device class ${deviceClassName} does not exist`
  }
  return undefined
}

/** @throws AllocationFailed */
export const wishOf = (claim: Claim, find: FindClass): Wish => ({
  claim,
  requests: (claim.spec?.devices?.requests ?? []).map((request) => ({
    name: request.name ?? '',
    isList: request.exactly === undefined,
    options: alternatives(request).map(([name, wanted]) => optionOf(claim, name, wanted, find)),
  })),
})

function optionOf(claim: Claim, name: string, wanted: ExactDeviceRequest, find: FindClass): Option {
  const ownName = name.slice(name.indexOf('/') + 1)
  const where = `claim ${claimText(claim)}, request ${ownName}`
  const { deviceClassName = '', allocationMode = 'ExactCount', count = 1, adminAccess } = wanted
  const deviceClass = find(deviceClassName)
  if (deviceClass === undefined)
    throw new AllocationFailed(`${where}: could not retrieve device class ${deviceClassName}`)
  if (allocationMode !== 'ExactCount' && allocationMode !== 'All')
    throw new AllocationFailed(`${where}: unsupported count mode ${allocationMode}`)
  const isAll = allocationMode === 'All'
  return { name, ownName, wanted, deviceClass, isAll, count: Number(count), isAdmin: adminAccess === true }
}

/**
 * Constraints that keep the state of one search, so each search needs new ones.
 * @throws AllocationFailed
 */
export const constraintsOf = (claim: Claim): Constraint[] =>
  (claim.spec?.devices?.constraints ?? []).map((constraint, at) => {
    const known = constraintOf(constraint)
    if (known !== undefined) return known
    throw new AllocationFailed(
      `claim ${claimText(claim)}, constraint #${at}: empty constraint (unsupported constraint type?)`,
    )
  })

const REPELLING: ReadonlySet<string> = new Set(['NoSchedule', 'NoExecute'])

/** Whether a taint repels the request, because the request does not tolerate it. */
export const isRepelled = (taints: readonly DeviceTaint[] = [], { wanted: { tolerations = [] } }: Option): boolean =>
  taints.some(
    (taint) =>
      REPELLING.has(taint.effect ?? '') &&
      // few: validation allows 16 tolerations, and as many taints
      !tolerations.some((toleration) => toleratesDevice(toleration, taint)),
  )

export function toleratesDevice({ key, operator, value = '', effect }: DeviceToleration, taint: DeviceTaint): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  return operator === 'Exists' || ((operator ?? 'Equal') === 'Equal' && value === (taint.value ?? ''))
}
