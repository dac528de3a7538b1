/**
 * Who may change which part of a ResourceClaim's status: a scheduler the allocation and the consumers, and
 * a driver what it says about its own devices. The right to the whole status is not enough.
 */
import type { AllocatedDeviceStatus, ResourceClaimStatus } from '../../api/resource/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, path } from '../../api/field.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import { sortedTexts } from '../../base/name-order.ts'
import { NODE_NAME, parseServiceAccountUser } from '../../authentication/service-account-name.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import type { AuthorizationAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import { forbiddenBy } from '../../authorization/forbidden.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { dns1123Subdomain } from '../../validation/names.ts'
import { sameValue } from '../../validation/same-value.ts'
import type { StrategyContext } from '../strategy.ts'
import { MAX_ENTRIES } from './names.ts'

const STATUS_TYPE = 'io.k8s.api.resource.v1.ResourceClaimStatus'
const DEVICE_TYPE = 'io.k8s.api.resource.v1.AllocatedDeviceStatus'
/** A change of more drivers is invalid: an allocation has at most so many devices, and the one before as many. */
const MAX_DRIVERS = 2 * MAX_ENTRIES

/** The server's own writes have no verb, and need no rights. */
export async function statusRightErrors(
  status: ResourceClaimStatus = {},
  old: ResourceClaimStatus = {},
  context: StrategyContext,
): Promise<FieldError[]> {
  const { verb, enabled } = context
  if (verb === undefined || !enabled('DRAResourceClaimGranularStatusAuthorization')) return []
  return [
    ...(await bindingErrors(status, old, verb, context)),
    ...(enabled('DRAResourceClaimDeviceStatus') && status.allocation !== undefined
      ? await deviceErrors(status, old, verb, context)
      : []),
  ]
}

async function bindingErrors(
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
  verb: string,
  context: StrategyContext,
): Promise<FieldError[]> {
  const bound = ({ allocation, reservedFor }: ResourceClaimStatus) => ({ allocation, reservedFor })
  if (sameValue(STATUS_TYPE, bound(status), bound(old))) return []
  const refusal = await refusalOf([asked(context, verb, { subresource: 'binding' })], context)
  if (refusal === undefined) return []
  const what = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding"`
  return [forbiddenField(path('status', 'allocation'), `${what}, verb="${verb}" permission: ${refusal}`)]
}

async function deviceErrors(
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
  verb: string,
  context: StrategyContext,
): Promise<FieldError[]> {
  const isOfNode = isOnNode(context.user, nodeOf(status))
  const verbs = [...(isOfNode ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`]
  const errors: FieldError[] = []
  for (const driver of changedDrivers(status, old).slice(0, MAX_DRIVERS)) {
    const place = { subresource: 'driver', namespace: context.namespace, name: driver }
    const questions = verbs.map((one) => asked(context, one, place))
    const refusal = await refusalOf(questions, context)
    if (refusal === undefined) continue
    const what = `changing status.devices requires resource="resourceclaims/driver"`
    errors.push(
      forbiddenField(path('status', 'devices'), `${what}, verb="[${verbs.join(' ')}]" permission: ${refusal}`),
    )
  }
  return errors
}

const asked = (
  { user, apiVersion }: StrategyContext,
  verb: string,
  place: Partial<AuthorizationAttributes>,
): AuthorizationAttributes => {
  const { group: apiGroup, version } = parseApiVersion(apiVersion)!
  return resourceAttributes(user, verb, { apiGroup, apiVersion: version, resource: 'resourceclaims', ...place })
}

/** The message of the first refusal; undefined where one of the questions is allowed. */
async function refusalOf(
  questions: readonly AuthorizationAttributes[],
  context: StrategyContext,
): Promise<string | undefined> {
  let first: string | undefined
  for (const question of questions) {
    const { allowed, reason, error } = await verdictOn(context, question)
    if (allowed) return undefined
    first ??= forbiddenBy(question, error === undefined ? reason : 'an authorizer could not be asked').message
  }
  return first
}

/** The drivers whose devices' statuses are new, others, or gone; sorted. */
function changedDrivers({ devices = [] }: ResourceClaimStatus, { devices: before = [] }: ResourceClaimStatus) {
  const gone = new Map(before.map((device) => [keyOf(device), device]))
  const drivers = new Set<string>()
  for (const device of devices) {
    const key = keyOf(device)
    const known = gone.get(key)
    gone.delete(key)
    if (known === undefined || !sameValue(DEVICE_TYPE, known, device)) drivers.add(device.driver ?? '')
  }
  for (const { driver = '' } of gone.values()) drivers.add(driver)
  return sortedTexts([...drivers])
}

const keyOf = ({ driver = '', pool = '', device = '', shareID = '' }: AllocatedDeviceStatus): string =>
  JSON.stringify([driver, pool, device, shareID])

/** The one node on which the allocated devices are; '' where there is no such node. */
function nodeOf({ allocation }: ResourceClaimStatus): string {
  const [term, ...more] = allocation?.nodeSelector?.nodeSelectorTerms ?? []
  const [field, ...others] = term?.matchFields ?? []
  if (more.length > 0 || others.length > 0 || (term?.matchExpressions ?? []).length > 0) return ''
  const { key, operator, values = [] } = field ?? {}
  return key === 'metadata.name' && operator === 'In' && values.length === 1 ? values[0]! : ''
}

/** Whether the user is a ServiceAccount whose token is of a pod on the node. */
function isOnNode({ name, extra }: UserInfo, node: string): boolean {
  const [own = '', ...more] = extra[NODE_NAME] ?? []
  if (node === '' || own !== node || more.length > 0) return false
  return parseServiceAccountUser(name) !== undefined && dns1123Subdomain(own).length === 0
}
