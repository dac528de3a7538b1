import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../../api/resource/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { forbiddenField, invalidValue, notSupported, path, required, tooLong, tooMany } from '../../api/field.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { validateConditions } from '../../validation/conditions.ts'
import { requiredText, validateLabelText } from '../../validation/field-rules.ts'
import { ipText, parseCidr } from '../../api/ip-addresses.ts'
import { subdomainName } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { FIELD_IS_IMMUTABLE, validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { validateNodeSelector } from '../../validation/pod/scheduling.ts'
import { sameValue } from '../../validation/same-value.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { resourceClaimPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { adminAccessErrors } from './admin-access.ts'
import { statusRightErrors } from './claim-status-rights.ts'
import { bindingConditionErrors } from './binding-conditions.ts'
import type { IsRequest } from './device-claim.ts'
import {
  configurationErrors,
  dataErrors,
  deviceClaimErrors,
  requestedAdminAccess,
  requestNames,
  requestReferenceErrors,
  requestReferencesErrors,
} from './device-claim.ts'
import { resourceClaimRules } from './claim-work.ts'
import { allocationRules } from './device-taint-work.ts'
import { selectorsOf, withSelectors } from './device-selectors.ts'
import { driverNameErrors, listErrors, MAX_ENTRIES, poolNameErrors, setErrors } from './names.ts'
import { uidErrors } from './uids.ts'
import { deviceClaimEvaluator } from '../quota/device-claims.ts'
import { conversion } from '../conversion.ts'
import { claimFromV1beta1, claimToV1beta1 } from './conversion.ts'

type Claim = ResourceClaim & KubeObject

const SPEC_TYPE = 'io.k8s.api.resource.v1.ResourceClaimSpec'
const ALLOCATION_TYPE = 'io.k8s.api.resource.v1.AllocationResult'
const MAX_CONSUMERS = 256
const MAX_CONDITIONS = 8
const MAX_ADDRESSES = 16
const MAX_INTERFACE_BYTES = 256
const MAX_HARDWARE_ADDRESS_BYTES = 128

export const resourceClaims: BuiltInDefinition<Claim> = {
  withoutTable: ['status'],
  printer: resourceClaimPrinter,
  conversions: { 'resource.k8s.io/v1beta1': conversion(claimFromV1beta1, claimToV1beta1) },
  quota: deviceClaimEvaluator,
  workloadWork: [...resourceClaimRules, ...allocationRules],
  resetFields: { status: withoutSpecAndMetadata },
  validate: async ({ spec: { devices = {} } = {} }, context) => [
    ...(await adminAccessErrors(requestedAdminAccess(devices), context)),
    ...(await withSelectors(selectorsOf(devices), context, (selectorsErrors) =>
      deviceClaimErrors(devices, path('spec', 'devices'), selectorsErrors),
    )),
  ],
  metadataOnUpdate: 'by strategy',
  validateUpdate: ({ metadata, spec = {} }, { metadata: before, spec: old = {} }) => [
    ...validateObjectMeta(metadata, true, subdomainName),
    ...validateKindMetaUpdate(metadata, before),
    ...(sameValue(SPEC_TYPE, spec, old)
      ? []
      : [invalidValue(path('spec'), internalJson(SPEC_TYPE, spec), FIELD_IS_IMMUTABLE)]),
  ],
  subresources: {
    status: {
      prepareForUpdate({ metadata, status }, old) {
        keepMetadata(metadata, old.metadata)
        if (status !== undefined) dropDeallocated(status, old.status)
      },
      metadataOnUpdate: 'by strategy',
      validateUpdate: async (claim, old, context) => [
        ...(await adminAccessErrors(grantedAdminAccess(claim.status, old.status), context)),
        ...(await statusRightErrors(claim.status, old.status, context)),
        ...validateKindMetaUpdate(claim.metadata, old.metadata),
        ...statusErrors(claim, old.status),
      ],
    },
  },
}

/** The first result of an allocation that grants admin access. Undefined if the stored allocation already grants it. */
function grantedAdminAccess(status: ResourceClaimStatus | undefined, old: ResourceClaimStatus | undefined) {
  const grant = (of: ResourceClaimStatus | undefined) =>
    of?.allocation?.devices?.results?.findIndex(({ adminAccess }) => adminAccess === true) ?? -1
  const index = grant(old) >= 0 ? -1 : grant(status)
  return index < 0 ? undefined : path('status', 'allocation', 'devices', 'results').index(index).child('adminAccess')
}

interface DeviceId {
  readonly driver?: string
  readonly pool?: string
  readonly device?: string
  readonly shareID?: string
}

/** kube-apiserver prints the field names of its internal type. */
const idOf = ({ driver = '', pool = '', device = '', shareID = '' }: DeviceId) => ({
  Driver: driver,
  Pool: pool,
  Device: device,
  ShareID: shareID,
})
const idText = (device: DeviceId): string => JSON.stringify(idOf(device))
const allocatedIds = (status: ResourceClaimStatus | undefined): ReadonlySet<string> =>
  new Set(status?.allocation?.devices?.results?.map(idText) ?? [])

/** Removes the statuses of devices that the claim no longer has. Drivers wrote them. */
function dropDeallocated(status: ResourceClaimStatus, old: ResourceClaimStatus | undefined): void {
  const before = allocatedIds(old)
  const now = allocatedIds(status)
  const kept = (status.devices ?? []).filter((device) => !before.has(idText(device)) || now.has(idText(device)))
  if (kept.length > 0) status.devices = kept
  else delete status.devices
}

function statusErrors({ metadata, spec, status = {} }: Claim, old: ResourceClaimStatus = {}): FieldError[] {
  const at = path('status')
  const { reservedFor = [], devices, allocation } = status
  const ids = allocatedIds(status)
  const reservedAt = at.child('reservedFor')
  const known = new Set(old.reservedFor?.map((consumer) => JSON.stringify(consumerKey(consumer))))
  const isAdded = (consumer: ResourceClaimConsumerReference) => !known.has(JSON.stringify(consumerKey(consumer)))
  return [
    ...setErrors(reservedFor, MAX_CONSUMERS, reservedAt, consumerErrors, ({ uid = '' }) => uid),
    ...setErrors(devices, Infinity, at.child('devices'), (device, here) => deviceErrors(device, here, ids), idOf),
    ...(reservedFor.length > 0 && allocation === undefined
      ? [forbiddenField(reservedAt, 'may not be specified when `allocated` is not set')]
      : metadata.deletionTimestamp !== undefined && reservedFor.some(isAdded)
        ? [
            forbiddenField(
              reservedAt,
              'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
            ),
          ]
        : []),
    ...(allocation === undefined
      ? []
      : old.allocation === undefined
        ? allocationErrors(allocation, at.child('allocation'), requestNames(spec?.devices ?? {}))
        : sameValue(ALLOCATION_TYPE, allocation, old.allocation)
          ? []
          : [invalidValue(at.child('allocation'), internalJson(ALLOCATION_TYPE, allocation), FIELD_IS_IMMUTABLE)]),
  ]
}

const consumerKey = ({ apiGroup = '', resource = '', name = '', uid = '' }: ResourceClaimConsumerReference) => [
  apiGroup,
  resource,
  name,
  uid,
]

const consumerErrors = ({ resource, name, uid }: ResourceClaimConsumerReference, at: FieldPath): FieldError[] => [
  ...requiredText(at.child('resource'), resource),
  ...requiredText(at.child('name'), name),
  ...requiredText(at.child('uid'), uid),
]

function deviceErrors(status: AllocatedDeviceStatus, at: FieldPath, allocated: ReadonlySet<string>): FieldError[] {
  const { driver = '', pool = '', device = '', shareID, conditions = [], data, networkData } = status
  const conditionsAt = at.child('conditions')
  return [
    ...driverNameErrors(driver, at.child('driver')),
    ...poolNameErrors(pool, at.child('pool')),
    ...validateLabelText(at.child('device'), device),
    ...(shareID === undefined ? [] : uidErrors(shareID, at.child('shareID'))),
    ...(allocated.has(idText(status))
      ? []
      : [invalidValue(at, idOf(status), 'must be an allocated device in the claim')]),
    ...(conditions.length > MAX_CONDITIONS ? [tooMany(conditionsAt, conditions.length, MAX_CONDITIONS)] : []),
    ...validateConditions(conditionsAt, conditions),
    ...(data === undefined || data === null ? [] : dataErrors(data as Json, at.child('data'))),
    ...(networkData === undefined ? [] : networkErrors(networkData, at.child('networkData'))),
  ]
}

const networkErrors = ({ interfaceName, hardwareAddress, ips }: NetworkDeviceData, at: FieldPath): FieldError[] => [
  ...lengthErrors(interfaceName, MAX_INTERFACE_BYTES, at.child('interfaceName')),
  ...lengthErrors(hardwareAddress, MAX_HARDWARE_ADDRESS_BYTES, at.child('hardwareAddress')),
  ...setErrors(ips, MAX_ADDRESSES, at.child('ips'), addressErrors, (address) => address),
]

const lengthErrors = (text = '', max: number, at: FieldPath): FieldError[] =>
  byteLength(text) > max ? [tooLong(at, max)] : []

/** Validates an address with a prefix length, in canonical form. */
function addressErrors(text: string, at: FieldPath): FieldError[] {
  const range = parseCidr(text)
  if (range === undefined)
    return [invalidValue(at, text, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')]
  const canonical = `${ipText(range.address)}/${range.length}`
  return text === canonical ? [] : [invalidValue(at, text, `must be in canonical form (${goQuote(canonical)})`)]
}

function allocationErrors(
  { devices = {}, nodeSelector }: AllocationResult,
  at: FieldPath,
  isRequest: IsRequest,
): FieldError[] {
  const devicesAt = at.child('devices')
  return [
    ...listErrors(devices.results, MAX_ENTRIES, devicesAt.child('results'), (result, here) =>
      resultErrors(result, here, isRequest),
    ),
    // a claim and its class can together have this number
    ...listErrors(devices.config, 2 * MAX_ENTRIES, devicesAt.child('config'), (config, here) =>
      allocatedConfigurationErrors(config, here, isRequest),
    ),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(at.child('nodeSelector'), nodeSelector)),
  ]
}

const resultErrors = (result: DeviceRequestAllocationResult, at: FieldPath, isRequest: IsRequest): FieldError[] => [
  ...requestReferenceErrors(result.request ?? '', at.child('request'), isRequest),
  ...driverNameErrors(result.driver ?? '', at.child('driver')),
  ...poolNameErrors(result.pool ?? '', at.child('pool')),
  ...validateLabelText(at.child('device'), result.device ?? ''),
  ...bindingConditionErrors(result, at),
  ...(result.shareID === undefined ? [] : uidErrors(result.shareID, at.child('shareID'))),
]

const SOURCES = ['FromClaim', 'FromClass']

const allocatedConfigurationErrors = (
  config: DeviceAllocationConfiguration,
  at: FieldPath,
  isRequest: IsRequest,
): FieldError[] => [
  ...(config.source
    ? SOURCES.includes(config.source)
      ? []
      : [notSupported(at.child('source'), config.source, SOURCES)]
    : [required(at.child('source'))]),
  ...requestReferencesErrors(config.requests, at.child('requests'), isRequest),
  ...configurationErrors(config, at),
]
