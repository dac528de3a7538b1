import { nextInt64 } from '../../go/int.ts'
import { append } from '../../base/append.ts'
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from '../../api/discovery/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, notSupported, path, required, tooMany } from '../../api/field.ts'
import { repeatsIn } from '../../base/lookup.ts'
import {
  immutableNamed,
  problems,
  validateLabelText,
  validateQualifiedName,
  validateSubdomain,
} from '../../validation/field-rules.ts'
import { endpointIpErrors, familyOf, ipErrors, ipWarnings, legacyIpErrors } from '../../api/ip-addresses.ts'
import { dns1123Label, dns1123Subdomain, labelValueProblems } from '../../validation/names.ts'
import { validateLabels } from '../../validation/object-meta.ts'
import { sameTexts, sameValue } from '../../validation/same-value.ts'
import { ownValue } from '../../base/own.ts'
import { endpointSlicePrinter } from '../../codec/table/networking.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { Topic } from '../work/topic.ts'
import type { Change, Work } from '../work/work.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { kept } from '../../base/parts.ts'

const TYPE = 'io.k8s.api.discovery.v1.EndpointSlice'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const controllers = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']
const MAX_ENDPOINTS = 1000
const MAX_ADDRESSES = 100
const MAX_PORTS = 20000
const MAX_TOPOLOGY = 16
const MAX_HINTS = 8
const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const protocols = ['SCTP', 'TCP', 'UDP']
const endpointsAt = path('endpoints')
const HOST_LABEL = 'kubernetes.io/hostname'

export const endpointSlices: BuiltInDefinition<EndpointSlice> = {
  printer: endpointSlicePrinter,
  workloadWork: [sliceWork],
  serverObjects: ['default/kubernetes'],
  mendsServerObjects: true,
  hasGeneration: true,
  prepareForCreate(slice) {
    for (const endpoint of slice.endpoints ?? []) delete endpoint.deprecatedTopology
  },
  prepareForUpdate(slice, old) {
    // changed labels raise the generation, because they name the Service of the slice
    const hasSameEndpoints = sameEndpoints(slice, old)
    if (!hasSameEndpoints || !sameBesideEndpoints(slice, old))
      slice.metadata.generation = nextInt64(old.metadata.generation ?? 0)
    if (!hasSameEndpoints) dropTopology(slice, old)
  },
  validate: (slice) => sliceErrors(slice),
  metadataOnUpdate: 'as new',
  validateUpdate: (slice, old) => [
    ...sliceErrors(slice, old),
    ...immutableNamed(path('addressType'), slice.addressType ?? '', old.addressType ?? ''),
  ],
  warningsOnCreate: (slice) => [
    ...(slice.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...addressWarnings(slice),
  ],
  warningsOnUpdate: addressWarnings,
}

const sameBesideEndpoints = (a: EndpointSlice, b: EndpointSlice): boolean =>
  sameValue(TYPE, { ports: a.ports ?? [] }, { ports: b.ports ?? [] }) && sameTexts(a.metadata.labels, b.metadata.labels)

const sameEndpoints = (a: EndpointSlice, b: EndpointSlice): boolean =>
  sameValue(TYPE, { endpoints: a.endpoints ?? [] }, { endpoints: b.endpoints ?? [] })

/** v1 has no topology. If the stored slice names the same node in its topology, the node moves to nodeName. */
function dropTopology(slice: EndpointSlice, old: EndpointSlice): void {
  const known = new Set((old.endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology?.[HOST_LABEL]))
  for (const endpoint of slice.endpoints ?? []) {
    const host = endpoint.deprecatedTopology?.[HOST_LABEL]
    if (endpoint.nodeName === undefined && host && known.has(host) && dns1123Subdomain(host).length === 0)
      endpoint.nodeName = host
    delete endpoint.deprecatedTopology
  }
}

function sliceErrors(slice: EndpointSlice, old?: EndpointSlice): FieldError[] {
  // storage may keep absent lists as null
  const { addressType = '' } = slice
  const ports = slice.ports ?? []
  const endpoints = slice.endpoints ?? []
  const typeAt = path('addressType')
  return [
    ...(addressType === ''
      ? [required(typeAt)]
      : addressTypes.includes(addressType)
        ? []
        : [notSupported(typeAt, addressType, addressTypes)]),
    ...portsErrors(path('ports'), ports),
    // an update may keep any stored address
    ...(old !== undefined && sameEndpoints(slice, old) ? [] : endpointsErrors(endpoints, addressType)),
  ]
}

function portsErrors(at: FieldPath, ports: readonly EndpointPort[]): FieldError[] {
  if (ports.length > MAX_PORTS) return [tooMany(at, ports.length, MAX_PORTS)]
  const names = kept(ports, () => new Set<string>())
  return errorsOf(ports, ({ name = '', protocol, appProtocol }, index) => {
    const here = at.index(index)
    const errors = name === '' ? [] : validateLabelText(here.child('name'), name)
    if (names.has(name)) errors.push(duplicate(here.child('name'), name))
    names.add(name)
    if (protocol === undefined) errors.push(required(here.child('protocol')))
    else if (!protocols.includes(protocol)) errors.push(notSupported(here.child('protocol'), protocol, protocols))
    if (appProtocol !== undefined) append(errors, validateQualifiedName(here.child('appProtocol'), appProtocol))
    return errors
  })
}

function endpointsErrors(endpoints: readonly Endpoint[], type: string): FieldError[] {
  if (endpoints.length > MAX_ENDPOINTS) return [tooMany(endpointsAt, endpoints.length, MAX_ENDPOINTS)]
  return errorsOf(endpoints, (endpoint, index) => endpointErrors(endpointsAt.index(index), endpoint, type))
}

function endpointErrors(at: FieldPath, endpoint: Endpoint, type: string): FieldError[] {
  const { addresses = [], nodeName, deprecatedTopology = {}, hostname, hints } = endpoint
  const addressesAt = at.child('addresses')
  const topologyAt = at.child('deprecatedTopology')
  const topology = Object.keys(deprecatedTopology).length
  return [
    ...(addresses.length === 0 ? [required(addressesAt, 'must contain at least 1 address')] : []),
    ...(addresses.length > MAX_ADDRESSES ? [tooMany(addressesAt, addresses.length, MAX_ADDRESSES)] : []),
    ...errorsOf(addresses, (address, index) => addressErrors(addressesAt, index, address, type)),
    ...(nodeName === undefined ? [] : validateSubdomain(at.child('nodeName'), nodeName)),
    ...(topology > MAX_TOPOLOGY ? [tooMany(topologyAt, topology, MAX_TOPOLOGY)] : []),
    ...validateLabels(deprecatedTopology, topologyAt),
    ...(hostname === undefined ? [] : validateLabelText(at.child('hostname'), hostname)),
    ...(hints === undefined ? [] : hintsErrors(at.child('hints'), hints)),
  ]
}

function addressErrors(at: FieldPath, index: number, address: string, type: string): FieldError[] {
  const here = at.index(index)
  if (type === 'FQDN') return domainErrors(here, address)
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const errors = type === 'IPv4' ? legacyIpErrors(here, address) : ipErrors(here, address)
  if (errors.length > 0) return errors
  // kube-apiserver reports this error at the list
  const wrongFamily = familyOf(address) === type ? [] : [invalidValue(at, address, `must be an ${type} address`)]
  return [...wrongFamily, ...endpointIpErrors(address, here)]
}

/** A domain has at least two labels, and may end with a dot. */
function domainErrors(at: FieldPath, text: string): FieldError[] {
  if (text === '') return [required(at)]
  const name = text.endsWith('.') ? text.slice(0, -1) : text
  const whole = dns1123Subdomain(name)
  if (whole.length > 0) return [invalidValue(at, name, whole.join(','))]
  const labels = name.split('.')
  if (labels.length < 2)
    return [invalidValue(at, name, 'should be a domain with at least two segments separated by dots')]
  for (const label of labels) {
    const wrong = dns1123Label(label)
    if (wrong.length > 0) return [invalidValue(at, label, wrong.join(','))]
  }
  return []
}

function hintsErrors(at: FieldPath, { forZones = [], forNodes = [] }: EndpointHints): FieldError[] {
  const zonesAt = at.child('forZones')
  const nodesAt = at.child('forNodes')
  if (forZones.length > MAX_HINTS) return [tooMany(zonesAt, forZones.length, MAX_HINTS)]
  const zones = namesErrors(zonesAt, forZones, labelValueProblems)
  if (forNodes.length > MAX_HINTS) return [...zones, tooMany(nodesAt, forNodes.length, MAX_HINTS)]
  return [...zones, ...namesErrors(nodesAt, forNodes, dns1123Subdomain)]
}

function namesErrors(
  at: FieldPath,
  list: readonly { name?: string }[],
  rule: (name: string) => readonly string[],
): FieldError[] {
  const repeats = repeatsIn(list.map(({ name = '' }) => name))
  return errorsOf(list, ({ name = '' }, index) => {
    const here = at.index(index).child('name')
    return [...(repeats.has(index) ? [duplicate(here, name)] : []), ...problems(here, name, rule(name))]
  })
}

function addressWarnings({ metadata, endpoints }: EndpointSlice): string[] {
  if (controllers.includes(metadata.labels?.[MANAGED_BY] ?? '')) return []
  return (endpoints ?? []).flatMap(({ addresses = [] }, index) =>
    addresses.flatMap((address, place) =>
      ipWarnings(endpointsAt.index(index).child('addresses').index(place), address),
    ),
  )
}

/** After a client changes or deletes a slice, its controller corrects it. */
function sliceWork({ object, old }: Change): readonly Work[] {
  const { namespace = '', labels } = (old ?? object)?.metadata ?? {}
  const service = ownValue(labels, 'kubernetes.io/service-name')
  const topic = ownValue(slicers, ownValue(labels, MANAGED_BY) ?? '')
  if (old === undefined || service === undefined || topic === undefined) return []
  return [{ topic, payload: `${namespace}/${service}` }]
}

/** The controllers that manage slices, by the value of the managed-by label. */
const slicers: Readonly<Record<string, Topic>> = {
  'endpointslice-controller.k8s.io': 'endpoint-slice',
  'endpointslicemirroring-controller.k8s.io': 'endpoints-mirror',
}
